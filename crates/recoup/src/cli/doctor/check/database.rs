//! Findings that memory and cache share: both are one SQLite file.

use std::path::{Path, PathBuf};

use recoup_core::store::sqlite::{Inspected, Soundness, set_asides};
use recoup_core::{Error, ErrorKind};
use rustix::fs::{Access, access};

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::{Finding, Fix};
use crate::cli::human;

/// A database under check.
pub(super) struct Database<'a> {
    pub(super) check: &'static str,
    pub(super) path: &'a Path,
    /// Remedy for a damaged database.
    pub(super) if_damaged: &'static str,
    /// Repair of a damaged database.
    pub(super) fix: Fix,
}

impl Database<'_> {
    /// Reports a database that cannot be opened.
    pub(super) fn unusable(&self, error: &Error, around: &Around) -> Finding {
        let what = format!("{}: {error}", around.shown(self.path));
        match error.kind() {
            ErrorKind::Corrupt => self.damaged(what),
            ErrorKind::TooNew => Finding::fail(self.check, "too-new", what)
                .remedy("upgrade this recoup: a newer one has been at work here"),
            ErrorKind::Full => Finding::fail(self.check, "no-room", what)
                .remedy("make room on the disk: not even reading works without a little"),
            ErrorKind::Locked => Finding::warn(self.check, "locked", what)
                .remedy("another process keeps it for itself: look for one that hangs"),
            _ => Finding::fail(self.check, "unusable", what)
                .remedy("move it away, or see who may read it (`ls -l`)"),
        }
    }

    /// Reports a readable database: damaged, read-only or sound. `holds` describes its content.
    pub(super) fn usable(&self, seen: &Inspected, holds: &str, around: &Around) -> Finding {
        let Inspected { version, newest, bytes, soundness } = seen;
        let shown = around.shown(self.path);
        let found = match soundness {
            Soundness::Damaged(why) => {
                let what = format!("{shown} is damaged: {why}");
                self.damaged(what)
            }
            _ if !self.is_writable() => {
                let what = format!("{shown} can be read and not written: nothing new is kept");
                Finding::fail(self.check, "read-only", what)
                    .remedy("see who owns it and its directory (`ls -ld`), and whether the disk is read-only")
            }
            _ => {
                let checked = if *soundness == Soundness::Sound {
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
                Finding::ok(self.check, format!("{shown}: {holds}, {size}, {checked}{next}"))
            }
        };
        found.fact("schema", version.unsigned_abs()).fact("bytes", *bytes)
    }

    fn damaged(&self, what: String) -> Finding {
        Finding::fail(self.check, "damaged", what).remedy(self.if_damaged).fix(self.fix.clone())
    }

    fn is_writable(&self) -> bool {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        [self.path, dir].iter().all(|path| access(*path, Access::WRITE_OK).is_ok())
    }

    /// Reports a missing database, which is fine if it can be created.
    pub(super) fn not_there(&self, around: &Around) -> Finding {
        let shown = around.shown(self.path);
        let there = self.path.ancestors().skip(1).find(|path| path.exists());
        match there {
            Some(dir) if access(dir, Access::WRITE_OK).is_err() => {
                let what =
                    format!("{shown} is not there, and {} can't be written", around.shown(dir));
                Finding::fail(self.check, "read-only", what)
                    .remedy("let this user write there, or set RECOUP_HOME to another directory")
            }
            _ => Finding::ok(self.check, format!("{shown}: nothing is kept yet")),
        }
    }

    /// Reports copies that were set aside because of damage.
    pub(super) fn set_asides(&self, around: &Around) -> Option<Finding> {
        let aside: Vec<PathBuf> = set_asides(self.path);
        let last = aside.last()?;
        let times =
            if aside.len() == 1 { "once".to_owned() } else { format!("{} times", aside.len()) };
        let what =
            format!("it was damaged {times}, and set aside; the last is in {}", around.shown(last));
        Some(
            Finding::warn(self.check, "set-aside", what)
                .remedy(
                    "look at the disk's health; remove what was set aside when you miss nothing",
                )
                .fact("set_aside", aside.len()),
        )
    }
}
