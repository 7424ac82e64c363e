//! Changes of the team's rules, as text and as JSON.

use recoup_core::memory::NoteKind;
use recoup_core::memory::team::{RuleDiff, TeamRule};
use serde::Serialize;

use super::ui;

/// A rule in the `--json` output.
#[derive(Debug, Serialize)]
pub(super) struct TeamRuleReport {
    kind: NoteKind,
    text: String,
    paths: Option<String>,
    topic: Option<String>,
}

/// Differences between two versions of the team's rules.
#[derive(Debug, Default, Serialize)]
pub(super) struct TeamChangesReport {
    added: Vec<TeamRuleReport>,
    gone: Vec<TeamRuleReport>,
    changed: Vec<ChangedRuleReport>,
    unchanged: usize,
}

#[derive(Debug, Serialize)]
struct ChangedRuleReport {
    from: TeamRuleReport,
    to: TeamRuleReport,
}

impl TeamRuleReport {
    fn of(rule: &TeamRule) -> Self {
        let TeamRule { kind, text, paths, topic } = rule.clone();
        Self { kind, text, paths, topic }
    }
}

impl TeamChangesReport {
    pub(super) fn of(diff: &RuleDiff) -> Self {
        let all = |rules: &[TeamRule]| rules.iter().map(TeamRuleReport::of).collect();
        let change = |(from, to): &(TeamRule, TeamRule)| ChangedRuleReport {
            from: TeamRuleReport::of(from),
            to: TeamRuleReport::of(to),
        };
        Self {
            added: all(&diff.added),
            gone: all(&diff.gone),
            changed: diff.changed.iter().map(change).collect(),
            unchanged: diff.unchanged,
        }
    }
}

/// Prints one line for each rule that is different.
pub(super) fn print_diff(diff: &RuleDiff) {
    for rule in &diff.added {
        ui::say(format_args!("  + {}", rule_line(rule)));
    }
    for (from, to) in &diff.changed {
        ui::say(format_args!("  - {}", rule_line(from)));
        ui::say(format_args!("  + {}", rule_line(to)));
    }
    for rule in &diff.gone {
        ui::say(format_args!("  - {}", rule_line(rule)));
    }
    match diff.unchanged {
        0 => {}
        1 => ui::say("  1 rule stays as it is"),
        many => ui::say(format_args!("  {many} rules stay as they are")),
    }
}

/// One-line description of a rule.
fn rule_line(rule: &TeamRule) -> String {
    let TeamRule { kind, text, paths, topic } = rule;
    let paths = paths.as_ref().map_or_else(String::new, |glob| format!(" [only for {glob}]"));
    let topic = topic.as_ref().map_or_else(String::new, |topic| format!(" [topic: {topic}]"));
    format!("{kind}: {text}{paths}{topic}")
}
