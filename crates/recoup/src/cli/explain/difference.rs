//! Describes how a request differs from a stored entry.

use recoup_core::base::text::shorten_text;
use recoup_core::cache::{
    ComparedSide, PartChange, PartDifference, RuleChanges, TextDifference, WordPlace,
};
use recoup_core::key::RuleFingerprint;

use super::{ExplainFinding, RuleNames};

/// Maximum length of a quoted value.
const MAX_QUOTED_CHARS: usize = 60;

/// Codes of findings about one rule.
pub(super) const RULE_CODES: [&str; 3] = ["rule_new", "rule_reworded", "rule_gone"];

/// Findings about a part that differs; for rules one each.
pub(super) fn describe_difference(
    difference: &PartDifference,
    names: RuleNames<'_>,
) -> Vec<ExplainFinding> {
    match &difference.how {
        PartChange::Rules(changes) => describe_rules(&difference.part, changes, names),
        how => vec![describe_change(&difference.part, how)],
    }
}

fn describe_change(part: &str, how: &PartChange) -> ExplainFinding {
    // Shell quotes around the words are not part of the difference.
    let quoted = |text: &str| quoted(text.trim_matches('\''));
    let both = |now: &str, was: &str| (Some(now.to_owned()), Some(was.to_owned()));
    let (code, (now, was), what) = match how {
        PartChange::Text(TextDifference::Words { place, now, was }) => {
            ("words", both(now, was), describe_words(*place, now, was, &quoted))
        }
        PartChange::Text(TextDifference::Other { now, was }) => {
            ("text", both(now, was), format!("now {}, was {}", quoted(now), quoted(was)))
        }
        PartChange::Text(TextDifference::Beyond { chars }) => {
            ("text", (None, None), format!("differs after the first {chars} characters"))
        }
        PartChange::Items { added, gone } => {
            let signed = |sign: char, items: &[String]| -> Vec<String> {
                items.iter().map(|item| format!("{sign}{item}")).collect()
            };
            let items = [signed('+', added), signed('-', gone)].concat();
            ("items", both(&added.join(" "), &gone.join(" ")), items.join(" "))
        }
        PartChange::Switched { on: true } => {
            ("set", both("set", "unset"), "set, was unset".to_owned())
        }
        PartChange::Switched { on: false } => {
            ("unset", both("unset", "set"), "unset, was set".to_owned())
        }
        PartChange::Replaced { path } => {
            ("replaced", both(path, path), format!("{path} leads to another file"))
        }
        PartChange::Added { now: Some(now) } => {
            ("added", (Some(now.clone()), None), format!("now {}, was not given", quoted(now)))
        }
        PartChange::Added { now: None } => ("added", (None, None), "given, was not".to_owned()),
        PartChange::Gone { was: Some(was) } => {
            ("gone", (None, Some(was.clone())), format!("not given, was {}", quoted(was)))
        }
        PartChange::Gone { was: None } => ("gone", (None, None), "not given, was".to_owned()),
        PartChange::Hidden | PartChange::Rules(_) => {
            ("content", (None, None), "other content".to_owned())
        }
        PartChange::Value { of } => {
            let names: Vec<&str> =
                of.iter().map(|name| name.strip_prefix("env ").unwrap_or(name)).collect();
            ("value", (None, None), format!("another value of {}", names.join(" or ")))
        }
    };
    ExplainFinding { now, was, ..part_finding(part, code, &what) }
}

fn part_finding(part: &str, code: &'static str, what: &str) -> ExplainFinding {
    ExplainFinding {
        part: Some(part.to_owned()),
        ..ExplainFinding::new(code, format!("{part}: {what}"))
    }
}

fn quoted(text: &str) -> String {
    format!("\u{201c}{}\u{201d}", shorten_text(text, MAX_QUOTED_CHARS))
}

/// Findings about the rules as a whole, then about each one that is known.
fn describe_rules(part: &str, changes: &RuleChanges, names: RuleNames<'_>) -> Vec<ExplainFinding> {
    let RuleChanges { added, gone, reworded, more, only } = changes;
    let none_differs = added.is_empty() && gone.is_empty() && reworded.is_empty();
    let of_all = match only {
        Some(ComparedSide::Question) => {
            Some(("added", "our hooks tell them to the agent, and did not"))
        }
        Some(ComparedSide::Entry) => {
            Some(("gone", "our hooks do not tell them to the agent, and did"))
        }
        None if *more => Some(("rules", "there are too many to tell which are other ones")),
        None if none_differs => Some(("weight", "the same ones, and others of them come first")),
        None => None,
    };
    let mut all: Vec<ExplainFinding> =
        of_all.iter().map(|(code, what)| part_finding(part, code, what)).collect();
    let [new, other_words, no_longer] = RULE_CODES;
    let shown =
        |rule: &RuleFingerprint| names(&rule.id).map_or_else(|| rule.id.clone(), |it| quoted(&it));
    let mut tell = |rules: &[RuleFingerprint], code: &'static str, what: &str| {
        all.extend(rules.iter().map(|rule| ExplainFinding {
            rule: Some(rule.id.clone()),
            // The previous text is not known any more.
            now: if code == no_longer { None } else { names(&rule.id) },
            was: if code == no_longer { names(&rule.id) } else { None },
            ..part_finding(part, code, &format!("{} {what}", shown(rule)))
        }));
    };
    tell(added, new, "is new");
    tell(reworded, other_words, "had other words");
    tell(gone, no_longer, "is gone");
    all
}

fn describe_words(
    place: WordPlace,
    now: &str,
    was: &str,
    quoted: &dyn Fn(&str) -> String,
) -> String {
    let count = |text: &str| text.split_whitespace().count();
    let many = count(now).max(count(was));
    let place = match (place, many) {
        (WordPlace::First, 1) => "the first word".to_owned(),
        (WordPlace::First, many) => format!("the first {many} words"),
        (WordPlace::Last, 1) => "the last word".to_owned(),
        (WordPlace::Last, many) => format!("the last {many} words"),
        (WordPlace::Nth(at), 1) => format!("word {at}"),
        (WordPlace::Nth(at), many) => format!("words {at} to {}", at + many - 1),
    };
    match (now.is_empty(), was.is_empty()) {
        (true, _) => format!("differs in {place}: {} is gone", quoted(was)),
        (_, true) => format!("differs in {place}: {} is new", quoted(now)),
        _ => format!("differs in {place}: {}, was {}", quoted(now), quoted(was)),
    }
}
