//! What was made of memories for Claude Code to read: rules in its own memory, and skills.

use crate::cli::doctor::Around;
use crate::cli::doctor::finding::Finding;
use crate::mirror::withdraw;

const CHECK: &str = "synced";

pub(super) fn find(around: &Around) -> Vec<Finding> {
    // What could be taken out is what is there; nothing is.
    let report = match withdraw(&around.home, true) {
        Ok(report) => report,
        Err(error) => {
            return vec![
                Finding::fail(CHECK, "unusable", error.to_string())
                    .remedy("`recoup memory sync` makes the list of synced files anew"),
            ];
        }
    };
    let changed = report.left.iter().map(|path| {
        let what = format!("{} was changed since it was written", around.shown(path));
        Finding::warn(CHECK, "changed", what)
            .remedy("it is left as it is: delete it, and `recoup memory sync` writes it anew")
    });
    let faults = report.faults.iter().map(|fault| {
        Finding::warn(CHECK, "out-of-step", format!("{}: {}", around.shown(&fault.dir), fault.why))
            .remedy("mend that, then say `recoup memory sync`")
    });
    let files = report.changes.len();
    let all = match (files, around.settings().map(|settings| settings.mirror)) {
        (0, Some(wants)) if !wants.rules && wants.skills.is_none() => {
            Finding::skipped(CHECK, "off", "rules sync and skills are off")
        }
        (0, _) => Finding::ok(CHECK, "nothing is synced yet"),
        (1, _) => Finding::ok(CHECK, "1 file for Claude Code"),
        (n, _) => Finding::ok(CHECK, format!("{n} files for Claude Code")),
    };
    [all.fact("files", files)].into_iter().chain(changed).chain(faults).collect()
}
