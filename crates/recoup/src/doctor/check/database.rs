//! Findings that memory and cache share: both are one SQLite file.

use std::path::{Path, PathBuf};

use recoup_core::store::sqlite::{DatabaseInspection, DatabaseSoundness, list_set_aside};
use recoup_core::{Error, ErrorKind};
use rustix::fs::{Access, access};

use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, RepairAction};
use crate::human;

/// A database under check.
pub(super) struct DatabaseCheck<'a> {
    pub(super) check: &'static str,
    pub(super) path: &'a Path,
    /// Remedy for a damaged database.
    pub(super) if_damaged: &'static str,
    /// Repair of a damaged database.
    pub(super) fix: RepairAction,
}

impl DatabaseCheck<'_> {
    /// Reports a database that cannot be opened.
    pub(super) fn unusable_finding(&self, error: &Error, context: &DoctorContext) -> DoctorFinding {
        let what = format!("{}: {error}", context.display_path(self.path));
        match error.kind() {
            ErrorKind::Corrupt => self.damaged_finding(what),
            ErrorKind::TooNew => DoctorFinding::fail(self.check, "too-new", what)
                .remedy("upgrade this recoup: a newer one has been at work here"),
            ErrorKind::Full => DoctorFinding::fail(self.check, "no-room", what)
                .remedy("make room on the disk: not even reading works without a little"),
            ErrorKind::Locked => DoctorFinding::warn(self.check, "locked", what)
                .remedy("another process keeps it for itself: look for one that hangs"),
            _ => DoctorFinding::fail(self.check, "unusable", what)
                .remedy("move it away, or see who may read it (`ls -l`)"),
        }
    }

    /// Reports a readable database: damaged, read-only or sound. `holds` describes its content.
    pub(super) fn usable_finding(
        &self,
        seen: &DatabaseInspection,
        holds: &str,
        context: &DoctorContext,
    ) -> DoctorFinding {
        let DatabaseInspection { version, newest, bytes, soundness } = seen;
        let shown = context.display_path(self.path);
        let found = match soundness {
            DatabaseSoundness::Damaged(why) => {
                let what = format!("{shown} is damaged: {why}");
                self.damaged_finding(what)
            }
            _ if !self.is_writable() => {
                let what = format!("{shown} can be read and not written: nothing new is kept");
                DoctorFinding::fail(self.check, "read-only", what)
                    .remedy("see who owns it and its directory (`ls -ld`), and whether the disk is read-only")
            }
            _ => {
                let checked = if *soundness == DatabaseSoundness::Sound {
                    "sound"
                } else {
                    "too large to be looked at as a whole"
                };
                let size = human::size(*bytes);
                let next = if version < newest {
                    ", brought to this version when next written"
                } else {
                    ""
                };
                DoctorFinding::ok(self.check, format!("{shown}: {holds}, {size}, {checked}{next}"))
            }
        };
        found.fact("schema", version.unsigned_abs()).fact("bytes", *bytes)
    }

    fn damaged_finding(&self, what: String) -> DoctorFinding {
        DoctorFinding::fail(self.check, "damaged", what)
            .remedy(self.if_damaged)
            .fix(self.fix.clone())
    }

    fn is_writable(&self) -> bool {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        [self.path, dir].iter().all(|path| access(*path, Access::WRITE_OK).is_ok())
    }

    /// Reports a missing database, which is fine if it can be created.
    pub(super) fn missing_finding(&self, context: &DoctorContext) -> DoctorFinding {
        let shown = context.display_path(self.path);
        let there = self.path.ancestors().skip(1).find(|path| path.exists());
        match there {
            Some(dir) if access(dir, Access::WRITE_OK).is_err() => {
                let what = format!(
                    "{shown} is not there, and {} can't be written",
                    context.display_path(dir)
                );
                DoctorFinding::fail(self.check, "read-only", what)
                    .remedy("let this user write there, or set RECOUP_HOME to another directory")
            }
            _ => DoctorFinding::ok(self.check, format!("{shown}: nothing is kept yet")),
        }
    }

    /// Reports copies that were set aside because of damage.
    pub(super) fn set_aside_finding(&self, context: &DoctorContext) -> Option<DoctorFinding> {
        let aside: Vec<PathBuf> = list_set_aside(self.path);
        let last = aside.last()?;
        let times =
            if aside.len() == 1 { "once".to_owned() } else { format!("{} times", aside.len()) };
        let what = format!(
            "it was damaged {times}, and set aside; the last is in {}",
            context.display_path(last)
        );
        Some(
            DoctorFinding::warn(self.check, "set-aside", what)
                .remedy(
                    "look at the disk's health; remove what was set aside when you miss nothing",
                )
                .fact("set_aside", aside.len()),
        )
    }
}
