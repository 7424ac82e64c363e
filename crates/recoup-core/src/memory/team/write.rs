//! Rendering of rule files: equal rules give equal bytes.

use std::fmt::Write as _;

use super::markdown::escape_markdown;
use super::{TeamRule, TeamRules};
use crate::memory::NoteKind;
use crate::memory::statement::normalize_for_comparison;

/// First line of a file.
pub(super) const TITLE: &str = "# Team rules";

/// Remarks for people, if a file has none.
const REMARKS: &str = "\
> Rules for the coding agents that work on this project. `recoup memory export --team` adds to them,
> and `recoup trust` accepts them: before that, and after a change, they mean nothing to an agent.";

/// Returns the name of a kind's section.
pub(super) fn section_name(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Correction => "Corrections",
        NoteKind::Preference => "Preferences",
        NoteKind::ProjectKnowledge => "Project knowledge",
        NoteKind::Devops => "Devops",
        NoteKind::Failure => "Failures and fixes",
    }
}

/// Renders these rules as a file.
pub fn render_rules(team: &TeamRules) -> String {
    let mut text = format!("{TITLE}\n\n");
    if team.remarks.is_empty() {
        text.push_str(REMARKS);
        text.push('\n');
    }
    for remark in &team.remarks {
        text.push_str(remark);
        text.push('\n');
    }
    let mut rules: Vec<&TeamRule> = team.rules.iter().collect();
    rules.sort_by_cached_key(|rule| {
        (rule.kind, normalize_for_comparison(&rule.text), rule.text.clone(), rule.paths.clone())
    });
    let mut within = None;
    for rule in rules {
        if within != Some(rule.kind) {
            within = Some(rule.kind);
            let _ = write!(text, "\n## {}\n\n", section_name(rule.kind));
        }
        push_rule(&mut text, rule);
    }
    text
}

fn push_rule(text: &mut String, rule: &TeamRule) {
    let _ = writeln!(text, "- {}", escape_markdown(&rule.text));
    if let Some(paths) = &rule.paths {
        let _ = writeln!(text, "  - paths: `{paths}`");
    }
    if let Some(topic) = &rule.topic {
        let _ = writeln!(text, "  - topic: {}", escape_markdown(topic));
    }
}
