//! Differences between two requests, part by part, from the stored previews.

use std::collections::BTreeMap;

use crate::base::digest::Digest;
use crate::key::{Kind, NOT_SET, Nature, Part, Rule, SET, rules_in};
use crate::secrets::REDACTED;

/// A part that differs between two requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Name of the part.
    pub part: String,
    /// The difference.
    pub how: How,
}

/// How a part differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// Different text.
    Text(Wording),
    /// Items of a list were added or removed.
    Items {
        /// Items that only the request has.
        added: Vec<String>,
        /// Items that only the entry has.
        gone: Vec<String>,
    },
    /// The agent gets other rules.
    Rules(RuleChanges),
    /// A variable was set or unset.
    Switched {
        /// True if the variable is set now.
        on: bool,
    },
    /// The path leads to another file.
    Replaced {
        /// The path.
        path: String,
    },
    /// Only the request has the part.
    Added {
        /// The value, if it may be shown.
        now: Option<String>,
    },
    /// Only the entry has the part.
    Gone {
        /// The value, if it may be shown.
        was: Option<String>,
    },
    /// Different, but no preview is stored.
    Hidden,
    /// All stored parts are equal, so the value of one of these variables differs, which is not
    /// stored.
    Value {
        /// The names of the variables.
        of: Vec<String>,
    },
}

/// Differences between two sets of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChanges {
    /// Rules that only the request has.
    pub added: Vec<Rule>,
    /// Rules that only the entry has.
    pub gone: Vec<Rule>,
    /// Rules that both have, in different words.
    pub reworded: Vec<Rule>,
    /// True if not all rules are recorded one by one, so that others may differ too.
    pub more: bool,
    /// The side that has rules, if the other has none.
    pub only: Option<Side>,
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The request.
    Question,
    /// The stored entry.
    Entry,
}

/// How one text differs from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wording {
    /// One word differs, or a few consecutive ones.
    Words {
        /// Position of the words.
        place: WordPlace,
        /// The words of the request; may be empty.
        now: String,
        /// The words of the entry.
        was: String,
    },
    /// Most of the text differs.
    Other {
        /// The text of the request, as far as it is stored.
        now: String,
        /// The text of the entry.
        was: String,
    },
    /// Equal as far as the text is stored.
    Beyond {
        /// Number of equal characters.
        chars: usize,
    },
}

/// Position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPlace {
    /// At its beginning.
    First,
    /// At its end.
    Last,
    /// From this word on, counted from one.
    Nth(usize),
}

/// The parts that differ between `stored` and `asked`.
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

/// The difference if all stored parts are equal although the keys differ.
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
        // The redacted text may be what differs.
        _ if before == after && before.contains(REDACTED) => How::Hidden,
        Nature::File | Nature::List(_) | Nature::Text => How::Text(wording(before, after)),
    }
}

/// Rules are matched by hash, so that equal words are the same rule wherever they were recorded.
/// The same id with another hash is a reworded rule.
fn rules(before: &str, after: &str, only: Option<Side>) -> How {
    let ((before, all_before), (after, all_after)) = (rules_in(before), rules_in(after));
    let missing = |these: &[Rule], those: &[Rule], those_are_all: bool| -> Vec<Rule> {
        let is_there = |rule: &&Rule| those.iter().any(|other| other.hash == rule.hash);
        // If not all rules of a side are recorded, none can be known to be missing from it.
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

/// Compares two texts without their common beginning and end.
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
    // If most words differ, the common ones are chance.
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
