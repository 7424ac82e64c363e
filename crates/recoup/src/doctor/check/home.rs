//! Checks our own directory: who may use it, the room on its disk, and the ledger.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use recoup_core::base::clock::{Clock as _, Deadline, SystemClock};
use recoup_core::ledger::{LedgerCondition, inspect};
use rustix::fs::{Access, access, statvfs};

use super::SHORT;
use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, RepairAction};
use crate::human;
use crate::install::purge::is_our_name;
use crate::mcp::TOKEN_FILE;

/// Upper limit of files to look at: in a larger tree, the first ones show the problem.
const MOST: usize = 50_000;
/// Deeper than any of our trees.
const DEPTH: usize = 8;

/// Checks who may read and write our files.
pub(super) fn check_permissions(context: &DoctorContext) -> Vec<DoctorFinding> {
    let home = &context.home;
    let shown = context.display_path(home);
    vec![match fs::metadata(home) {
        Ok(found) if found.is_dir() => {
            let mut walk = PermissionWalk::new(MOST, Deadline::after(SHORT / 2));
            walk.look_at(home, DEPTH);
            return walk.findings(home, context);
        }
        Ok(_) => {
            let what = format!("{shown} is not a directory: nothing can be stored");
            DoctorFinding::fail("no-directory", what)
                .remedy("move it away, or set RECOUP_HOME to another directory")
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && !home.is_symlink() => {
            let what = "does not exist yet: recoup creates it when it first stores something";
            DoctorFinding::ok(format!("{shown} {what}")).fact("home", false)
        }
        Err(error) => DoctorFinding::fail("unreadable", format!("{shown}: {error}"))
            .remedy("grant this user access, or set RECOUP_HOME to another directory"),
    }]
}

/// Reports a token that others may read: the server does not start with it.
fn open_token_finding(token: PathBuf, context: &DoctorContext) -> DoctorFinding {
    let shown = context.display_path(&token);
    let what =
        format!("other users can read the MCP server's token, {shown}: the server does not start");
    DoctorFinding::fail("open-token", what)
        .remedy(format!(
            "`recoup doctor --fix` (or `chmod 600 {shown}`) makes it private; if somebody may have \
             read it, delete it: the next server creates a new one"
        ))
        .fix(RepairAction::MakePrivate(vec![token]))
}

/// Walk through our directory that collects paths open to others, foreign, or closed to us.
struct PermissionWalk {
    user: u32,
    until: Deadline,
    seen: usize,
    /// Upper limit for `seen`.
    most: usize,
    /// True if the limit or the deadline ended the walk.
    cut: bool,
    open: Vec<PathBuf>,
    /// The home, if others can write to it.
    writable: Option<PathBuf>,
    foreign: Vec<PathBuf>,
    closed: Vec<PathBuf>,
}

impl PermissionWalk {
    fn new(most: usize, until: Deadline) -> Self {
        let user = rustix::process::geteuid().as_raw();
        let (open, foreign, closed) = (Vec::new(), Vec::new(), Vec::new());
        Self { user, until, seen: 0, most, cut: false, open, writable: None, foreign, closed }
    }

    fn look_at(&mut self, path: &Path, depth: usize) {
        self.cut |= self.seen == self.most || self.until.has_passed();
        if self.cut {
            return;
        }
        self.seen += 1;
        // A home that is a link is followed; other links are not ours.
        let found = if depth == DEPTH { fs::metadata(path) } else { fs::symlink_metadata(path) };
        let Ok(found) = found else { return };
        if found.is_symlink() {
            return;
        }
        // The home may be shared with other programs; its mode is up to its creator.
        let is_home = depth == DEPTH;
        if found.uid() != self.user {
            self.foreign.push(path.to_owned());
        } else if is_home && found.mode() & 0o022 != 0 {
            self.writable = Some(path.to_owned());
        } else if !is_home && found.mode() & 0o077 != 0 {
            self.open.push(path.to_owned());
        }
        if !found.is_dir() || depth == 0 {
            return;
        }
        let needed = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
        if access(path, needed).is_err() {
            self.closed.push(path.to_owned());
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            // The home may contain other programs' files.
            let is_ours = || entry.file_name().to_str().is_some_and(is_our_name);
            if !is_home || is_ours() {
                self.look_at(&entry.path(), depth - 1);
            }
        }
    }

    fn findings(mut self, home: &Path, context: &DoctorContext) -> Vec<DoctorFinding> {
        let (shown, mut found) = (context.display_path(home), Vec::new());
        let token = home.join(TOKEN_FILE);
        if self.open.contains(&token) {
            self.open.retain(|path| *path != token);
            found.push(open_token_finding(token, context));
        }
        let example = |paths: &[PathBuf]| match paths {
            [only] => context.display_path(only),
            [first, rest @ ..] => {
                format!("{} and {} more", context.display_path(first), rest.len())
            }
            [] => String::new(),
        };
        if !self.foreign.is_empty() {
            let what = format!("another user owns {}", example(&self.foreign));
            found.push(
                DoctorFinding::fail("foreign", what)
                    .remedy(format!("take ownership: sudo chown -R \"$(id -u)\" {shown}"))
                    .fact("foreign", self.foreign.len()),
            );
        }
        if self.writable.is_some() {
            let what = format!("other users can write to {shown}: recoup stores nothing there");
            found.push(
                DoctorFinding::fail("writable", what).remedy(format!("run: chmod go-w {shown}")),
            );
        }
        if !self.closed.is_empty() {
            let what = format!("this user cannot read and write {}", example(&self.closed));
            let remedy = "`recoup doctor --fix` grants this user access, if they own it and the disk \
                          is writable";
            let found_closed = DoctorFinding::fail("closed", what).remedy(remedy);
            found.push(
                found_closed
                    .fact("closed", self.closed.len())
                    .fix(RepairAction::MakePrivate(self.closed)),
            );
        }
        if !self.open.is_empty() {
            let what = format!("other users can read {}", example(&self.open));
            found.push(
                DoctorFinding::warn("open", what)
                    .remedy("`recoup doctor --fix` makes it private")
                    .fact("open", self.open.len())
                    .fix(RepairAction::MakePrivate(self.open)),
            );
        }
        if found.is_empty() && self.cut {
            let what = format!(
                "the first {} files of {shown} are private to this user; the rest was not checked",
                self.seen
            );
            found.push(DoctorFinding::skipped("unfinished", what).fact("files", self.seen));
        } else if found.is_empty() {
            let is_shared = fs::metadata(home).is_ok_and(|home| home.mode() & 0o077 != 0);
            let what = if is_shared {
                format!("recoup's files in {shown} are private to this user")
            } else {
                format!("{shown} is private to this user")
            };
            found.push(DoctorFinding::ok(what).fact("files", self.seen));
        }
        found
    }
}

/// In milliseconds: an older batch was left behind, or its store cannot be reached.
const LONG: u64 = 24 * 60 * 60 * 1000;

/// Checks the ledger.
pub(super) fn check_ledger(context: &DoctorContext) -> Vec<DoctorFinding> {
    let dir = context.home.join("ledger");
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return vec![DoctorFinding::ok("empty: nothing recorded yet")];
        }
        Err(error) => {
            let what = format!("{}: {error}", context.display_path(&dir));
            return vec![
                DoctorFinding::fail("unusable", what)
                    .remedy("grant this user read and write access"),
            ];
        }
    };
    let ledgers: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let (mut all, mut faults) = (LedgerCondition::default(), Vec::new());
    for ledger in ledgers {
        match inspect(&ledger) {
            Ok(found) => {
                all.waiting += found.waiting;
                all.unreadable += found.unreadable;
                all.batches += found.batches;
                all.bytes += found.bytes;
                all.is_full |= found.is_full;
                all.oldest = [all.oldest, found.oldest].into_iter().flatten().min();
            }
            Err(error) => {
                faults.push(DoctorFinding::fail("unusable", error.to_string()).remedy(
                    "grant this user read and write access; move away anything that is not a \
                     ledger file",
                ));
            }
        }
    }
    [ledger_finding(&all)].into_iter().chain(faults).collect()
}

fn ledger_finding(all: &LedgerCondition) -> DoctorFinding {
    let LedgerCondition { waiting, unreadable, batches, oldest, is_full, bytes } = all;
    let age = oldest.map_or(0, |then| SystemClock.now().millis_since(then));
    let found = if *is_full {
        let what =
            format!("the ledger is full: no more events are recorded ({})", human::size(*bytes));
        DoctorFinding::warn("full", what)
            .remedy("`recoup stats` processes it, if the store is writable")
    } else if *batches > 0 && age > LONG {
        let what = format!(
            "{batches} batches have been waiting to be counted for {}",
            human::long_duration(age)
        );
        DoctorFinding::warn("left-behind", what)
            .remedy("`recoup stats` processes them, if their store is reachable")
    } else if *unreadable > 0 {
        let what = format!("{unreadable} of {} lines can't be read", waiting + unreadable);
        DoctorFinding::warn("unreadable", what)
            .remedy("they are skipped: cut off by a full disk, or written by another program")
    } else {
        let noun = if *waiting == 1 { "event waits" } else { "events wait" };
        let size = human::size(*bytes);
        DoctorFinding::ok(format!(
            "{} {noun} to be counted, {size} in total",
            human::count(*waiting)
        ))
    };
    found
        .fact("waiting", *waiting)
        .fact("unreadable", *unreadable)
        .fact("batches", *batches)
        .fact("bytes", *bytes)
}

/// Below the first limit, writes fail soon; below the second, they fail now.
const LITTLE: u64 = 500 << 20;
const NOTHING: u64 = 20 << 20;

/// Checks the free space on the disk of our directory.
pub(super) fn check_disk(context: &DoctorContext) -> Vec<DoctorFinding> {
    let there = context.home.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let Ok(disk) = statvfs(there) else {
        let what = format!("can't determine the free space at {}", context.display_path(there));
        return vec![DoctorFinding::skipped("unknown", what)];
    };
    // Pseudo file systems such as /proc have no size.
    if disk.f_blocks == 0 {
        let what =
            format!("{} is not on a disk: no free space to report", context.display_path(there));
        return vec![DoctorFinding::skipped("unknown", what)];
    }
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    // A file system without a limit on files reports zero.
    let no_files = disk.f_files > 0 && disk.f_favail == 0;
    let what = format!("{} free at {}", human::size(free), context.display_path(there));
    let remedy = "free some disk space: without it nothing is stored, and hooks learn nothing";
    let found = if no_files {
        let what = format!(
            "no more files can be created at {}: it is out of inodes",
            context.display_path(there)
        );
        DoctorFinding::fail("no-files", what).remedy(remedy)
    } else if free < NOTHING {
        DoctorFinding::fail("full", what).remedy(remedy)
    } else if free < LITTLE {
        DoctorFinding::warn("nearly-full", what).remedy(remedy)
    } else {
        DoctorFinding::ok(what)
    };
    vec![found.fact("free_mib", free >> 20)]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use recoup_core::base::fsx;

    use super::*;

    #[test]
    fn what_was_not_looked_at_is_not_vouched_for() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["config.toml", "mcp-token", "trust.json"] {
            fsx::create_private(&dir.path().join(name)).unwrap();
        }
        let walked = |most, time| {
            let mut walk = PermissionWalk::new(most, Deadline::after(time));
            walk.look_at(dir.path(), DEPTH);
            (walk.seen, walk.cut)
        };
        assert_eq!(walked(4, Duration::from_mins(1)), (4, false));
        assert_eq!(walked(3, Duration::from_mins(1)), (3, true));
        assert_eq!(walked(4, Duration::ZERO), (0, true));
    }
}
