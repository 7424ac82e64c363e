//! Changes of the team's rules, as text and as JSON.

use recoup_core::memory::NoteKind;
use recoup_core::memory::team::{Diff, Rule};
use serde::Serialize;

use super::ui;

/// A rule in the `--json` output.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    kind: NoteKind,
    text: String,
    paths: Option<String>,
    topic: Option<String>,
}

/// Differences between two versions of the team's rules.
#[derive(Debug, Default, Serialize)]
pub(super) struct Changes {
    added: Vec<Told>,
    gone: Vec<Told>,
    changed: Vec<FromTo>,
    unchanged: usize,
}

#[derive(Debug, Serialize)]
struct FromTo {
    from: Told,
    to: Told,
}

impl Told {
    fn of(rule: &Rule) -> Self {
        let Rule { kind, text, paths, topic } = rule.clone();
        Self { kind, text, paths, topic }
    }
}

impl Changes {
    pub(super) fn of(diff: &Diff) -> Self {
        let all = |rules: &[Rule]| rules.iter().map(Told::of).collect();
        let change = |(from, to): &(Rule, Rule)| FromTo { from: Told::of(from), to: Told::of(to) };
        Self {
            added: all(&diff.added),
            gone: all(&diff.gone),
            changed: diff.changed.iter().map(change).collect(),
            unchanged: diff.unchanged,
        }
    }
}

/// Prints one line for each rule that is different.
pub(super) fn tell(diff: &Diff) {
    for rule in &diff.added {
        ui::say(format_args!("  + {}", line(rule)));
    }
    for (from, to) in &diff.changed {
        ui::say(format_args!("  - {}", line(from)));
        ui::say(format_args!("  + {}", line(to)));
    }
    for rule in &diff.gone {
        ui::say(format_args!("  - {}", line(rule)));
    }
    match diff.unchanged {
        0 => {}
        1 => ui::say("  1 rule stays as it is"),
        many => ui::say(format_args!("  {many} rules stay as they are")),
    }
}

/// One-line description of a rule.
fn line(rule: &Rule) -> String {
    let Rule { kind, text, paths, topic } = rule;
    let paths = paths.as_ref().map_or_else(String::new, |glob| format!(" [only for {glob}]"));
    let topic = topic.as_ref().map_or_else(String::new, |topic| format!(" [topic: {topic}]"));
    format!("{kind}: {text}{paths}{topic}")
}
