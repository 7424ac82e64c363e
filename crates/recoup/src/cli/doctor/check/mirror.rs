//! Checks the mirror: rules and skills in files that Claude Code reads.

use std::path::PathBuf;

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;
use crate::cli::mirror::withdraw;
use crate::mirror::Why;

const CHECK: &str = "synced";

pub(super) fn find(around: &Around) -> Vec<Finding> {
    // A dry run of the removal lists what is there.
    let report = withdraw(&around.home, &around.cwd, true);
    let changed = report.left.iter().filter(|left| left.why != Why::NotOurs).map(|left| {
        let what = format!("{} was changed since it was written", around.shown(&left.path));
        Finding::warn(CHECK, "changed", what)
            .remedy("it is left as it is: delete it, and `recoup memory sync` writes it anew")
    });
    let faults = report.faults.iter().map(|fault| {
        Finding::warn(CHECK, "out-of-step", format!("{}: {}", around.shown(&fault.dir), fault.why))
            .remedy("mend that, then say `recoup memory sync`")
    });
    let missed = missed(&report.missed, around);
    let files = report.count();
    let is_off = around.settings().is_some_and(|settings| !settings.users_mirror.is_any());
    let all = match (files, is_off) {
        (0, true) => Finding::skipped(CHECK, "off", "rules sync and skills are off"),
        (n, true) => {
            let what = format!("rules sync and skills are off, but {n} of their files are there");
            Finding::warn(CHECK, "off", what).remedy("`recoup memory sync` takes them out")
        }
        (0, _) => Finding::ok(CHECK, "nothing is synced yet"),
        (1, _) => Finding::ok(CHECK, "1 file for Claude Code"),
        (n, _) => Finding::ok(CHECK, format!("{n} files for Claude Code")),
    };
    let missed = missed.filter(|_| !is_off);
    [all.fact("files", files)].into_iter().chain(changed).chain(missed).chain(faults).collect()
}

/// Reports deleted files. That may be intended, but the next sync writes them again.
fn missed(files: &[PathBuf], around: &Around) -> Option<Finding> {
    let first = around.shown(files.first()?);
    let what = match files.len() - 1 {
        0 => format!("{first} is gone"),
        more => format!("{first} and {more} more are gone"),
    };
    let finding = Finding::warn(CHECK, "missing", what)
        .remedy("`recoup memory sync` in that project writes it again, as the next session does; what should stay away, retire or forget")
        .fact("files", files.len());
    Some(finding)
}
