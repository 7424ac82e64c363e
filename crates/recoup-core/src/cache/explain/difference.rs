//! How two questions differ, part by part, from what is kept of them.

use std::collections::BTreeMap;

use crate::base::digest::Digest;
use crate::key::{Kind, NOT_SET, Nature, Part, Rule, SET, rules_in};
use crate::secrets::REDACTED;

/// A part that is not the same in two questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub part: String,
    /// How it differs.
    pub how: How,
}

/// How a part differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// It is other text.
    Text(Wording),
    /// These items are new, and these are gone.
    Items {
        /// What only the question has.
        added: Vec<String>,
        /// What only the entry has.
        gone: Vec<String>,
    },
    /// The agent is told other rules: these are new, and these are gone.
    Rules(RuleChanges),
    /// A variable that is set now, and was not; or the other way round.
    Switched {
        /// Whether it is set now.
        on: bool,
    },
    /// The path leads to another file.
    Replaced {
        /// Where it is.
        path: String,
    },
    /// The question has it, and the entry does not.
    Added {
        /// What it is, where that may be shown.
        now: Option<String>,
    },
    /// The entry has it, and the question does not.
    Gone {
        /// What it was, where that may be shown.
        was: Option<String>,
    },
    /// It is not the same; more is not kept.
    Hidden,
    /// Everything that is kept is the same, so it is the value of one of these, which
    /// is not.
    Value {
        /// The names of the variables.
        of: Vec<String>,
    },
}

/// Which rules are other ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChanges {
    /// What only the question has.
    pub added: Vec<Rule>,
    /// What only the entry has.
    pub gone: Vec<Rule>,
    /// What both have, in other words.
    pub reworded: Vec<Rule>,
    /// Whether there are more than are known one by one, so that others may differ too.
    pub more: bool,
    /// Where only one of the two is told any rules: which one.
    pub only: Option<Side>,
}

/// One of two that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What was asked for.
    Question,
    /// What is kept.
    Entry,
}

/// How one text differs from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wording {
    /// In one word, or a few that belong together.
    Words {
        /// Where they are.
        place: WordPlace,
        /// What stands there now; empty if nothing does.
        now: String,
        /// What stood there.
        was: String,
    },
    /// All over.
    Other {
        /// What it is now, as far as that is kept.
        now: String,
        /// What it was.
        was: String,
    },
    /// Only behind what is kept of it.
    Beyond {
        /// How many characters are the same.
        chars: usize,
    },
}

/// Where in a text something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPlace {
    /// At its beginning.
    First,
    /// At its end.
    Last,
    /// From this word on, counted from one.
    Nth(usize),
}

/// The parts of `asked` that are not those of `stored`.
pub(super) fn between(kind: Kind, stored: &[Part], asked: &[Part]) -> Vec<Difference> {
    let by_name = |parts: &[Part]| -> BTreeMap<String, Part> {
        parts.iter().map(|part| (part.name.clone(), part.clone())).collect()
    };
    let was = by_name(stored);
    let mut differences: Vec<Difference> = asked
        .iter()
        .filter_map(|now| {
            let how = match was.get(&now.name) {
                None if kind.nature(&now.name) == Nature::Rules => {
                    rules("", now.preview.as_deref().unwrap_or_default(), Some(Side::Question))
                }
                None => How::Added { now: shown(kind, now) },
                Some(was) if was.digest == now.digest => return None,
                Some(was) => compare(kind.nature(&now.name), was, now),
            };
            Some(Difference { part: now.name.clone(), how })
        })
        .collect();
    let asked_for = by_name(asked);
    let gone = stored.iter().filter(|part| !asked_for.contains_key(&part.name));
    differences.extend(gone.map(|part| {
        let how = match kind.nature(&part.name) {
            Nature::Rules => {
                rules(part.preview.as_deref().unwrap_or_default(), "", Some(Side::Entry))
            }
            _ => How::Gone { was: shown(kind, part) },
        };
        Difference { part: part.name.clone(), how }
    }));
    differences
}

/// The same where nothing that is kept differs, although the keys do.
pub(super) fn unseen(kind: Kind, asked: &[Part]) -> Option<Difference> {
    let is_switch = |part: &&Part| kind.nature(&part.name) == Nature::Switch;
    let of: Vec<String> = asked.iter().filter(is_switch).map(|part| part.name.clone()).collect();
    (!of.is_empty()).then(|| Difference { part: "env".to_owned(), how: How::Value { of } })
}

fn shown(kind: Kind, part: &Part) -> Option<String> {
    match kind.nature(&part.name) {
        Nature::Switch => Some(if is_on(part) { SET } else { NOT_SET }.to_owned()),
        _ => part.preview.clone(),
    }
}

fn is_on(part: &Part) -> bool {
    part.digest == Digest::of(SET.as_bytes())
}

fn compare(nature: Nature, was: &Part, now: &Part) -> How {
    let (Some(before), Some(after)) = (&was.preview, &now.preview) else {
        return match nature {
            Nature::Switch => How::Switched { on: is_on(now) },
            _ => How::Hidden,
        };
    };
    match nature {
        Nature::Switch => How::Switched { on: is_on(now) },
        Nature::Hidden => How::Hidden,
        Nature::Rules => rules(before, after, None),
        Nature::File if before == after => How::Replaced { path: after.clone() },
        Nature::List(separator) if was.is_whole() && now.is_whole() => {
            items(separator, before, after)
        }
        // What was taken out may be what differs.
        _ if before == after && before.contains(REDACTED) => How::Hidden,
        Nature::File | Nature::List(_) | Nature::Text => How::Text(wording(before, after)),
    }
}

/// Rules are told apart by their hashes, so that the same words are the same rule
/// whoever recorded them; the same id with another hash has other words.
fn rules(before: &str, after: &str, only: Option<Side>) -> How {
    let ((before, all_before), (after, all_after)) = (rules_in(before), rules_in(after));
    let missing = |these: &[Rule], those: &[Rule], those_are_all: bool| -> Vec<Rule> {
        let is_there = |rule: &&Rule| those.iter().any(|other| other.hash == rule.hash);
        // One that may only not be known is not known to be missing.
        these.iter().filter(|rule| those_are_all && !is_there(rule)).cloned().collect()
    };
    let (added, mut gone) =
        (missing(&after, &before, all_before), missing(&before, &after, all_after));
    let (reworded, added): (Vec<Rule>, Vec<Rule>) =
        added.into_iter().partition(|rule| gone.iter().any(|other| other.id == rule.id));
    gone.retain(|rule| !reworded.iter().any(|other| other.id == rule.id));
    How::Rules(RuleChanges { added, gone, reworded, more: !(all_before && all_after), only })
}

fn items(separator: char, before: &str, after: &str) -> How {
    let of = |text: &str| -> Vec<String> { text.split(separator).map(str::to_owned).collect() };
    let (before, after) = (of(before), of(after));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|item| !those.contains(item)).cloned().collect()
    };
    How::Items { added: only(&after, &before), gone: only(&before, &after) }
}

/// What two texts have in common at both ends is left out.
pub(super) fn wording(before: &str, after: &str) -> Wording {
    if before == after {
        return Wording::Beyond { chars: after.chars().count().saturating_sub(1) };
    }
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let (was, now) = (words(before), words(after));
    let common = was.iter().zip(&now).take_while(|(was, now)| was == now).count();
    let most = was.len().min(now.len()) - common;
    let ends = was.iter().rev().zip(now.iter().rev()).take(most);
    let behind = ends.take_while(|(was, now)| was == now).count();
    let (old, new) = (&was[common..was.len() - behind], &now[common..now.len() - behind]);
    // Where most of it is other words, the words in common are chance.
    if common + behind < old.len().max(new.len()) {
        return Wording::Other { now: after.to_owned(), was: before.to_owned() };
    }
    let place = match (common, behind) {
        (_, 0) => WordPlace::Last,
        (0, _) => WordPlace::First,
        (at, _) => WordPlace::Nth(at + 1),
    };
    Wording::Words { place, now: new.join(" "), was: old.join(" ") }
}
