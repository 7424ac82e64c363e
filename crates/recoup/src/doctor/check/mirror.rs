//! Checks the mirror: rules and skills in files that Claude Code reads.

use std::path::PathBuf;

use crate::app::remove_all_mirrors;
use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::mirror::LeftReason;

const CHECK: &str = "synced";

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    // A dry run of the removal lists what is there.
    let report = remove_all_mirrors(&context.home, &context.cwd, true);
    let changed = report.left.iter().filter(|left| left.why != LeftReason::NotOurs).map(|left| {
        let what = format!("{} was changed since it was written", context.display_path(&left.path));
        DoctorFinding::warn(CHECK, "changed", what)
            .remedy("it is left as it is: delete it, and `recoup memory sync` writes it anew")
    });
    let faults = report.faults.iter().map(|fault| {
        DoctorFinding::warn(
            CHECK,
            "out-of-step",
            format!("{}: {}", context.display_path(&fault.dir), fault.why),
        )
        .remedy("mend that, then say `recoup memory sync`")
    });
    let missed = missing_files_finding(&report.missed, context);
    let files = report.count();
    let is_off = context.settings().is_some_and(|settings| !settings.users_mirror.is_any());
    let all = match (files, is_off) {
        (0, true) => DoctorFinding::skipped(CHECK, "off", "rules sync and skills are off"),
        (n, true) => {
            let what = format!("rules sync and skills are off, but {n} of their files are there");
            DoctorFinding::warn(CHECK, "off", what).remedy("`recoup memory sync` takes them out")
        }
        (0, _) => DoctorFinding::ok(CHECK, "nothing is synced yet"),
        (1, _) => DoctorFinding::ok(CHECK, "1 file for Claude Code"),
        (n, _) => DoctorFinding::ok(CHECK, format!("{n} files for Claude Code")),
    };
    let missed = missed.filter(|_| !is_off);
    [all.fact("files", files)].into_iter().chain(changed).chain(missed).chain(faults).collect()
}

/// Reports deleted files. That may be intended, but the next sync writes them again.
fn missing_files_finding(files: &[PathBuf], context: &DoctorContext) -> Option<DoctorFinding> {
    let first = context.display_path(files.first()?);
    let what = match files.len() - 1 {
        0 => format!("{first} is gone"),
        more => format!("{first} and {more} more are gone"),
    };
    let finding = DoctorFinding::warn(CHECK, "missing", what)
        .remedy("`recoup memory sync` in that project writes it again, as the next session does; what should stay away, retire or forget")
        .fact("files", files.len());
    Some(finding)
}
