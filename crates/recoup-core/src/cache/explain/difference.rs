//! Differences between two requests, part by part, from the stored previews.

use std::collections::BTreeMap;

use crate::base::digest::Sha256Digest;
use crate::key::{KeyPart, Kind, NOT_SET, PartKind, RuleFingerprint, SET, parse_rules};
use crate::secrets::REDACTED;

/// A part that differs between two requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartDifference {
    /// Name of the part.
    pub part: String,
    /// The difference.
    pub how: PartChange,
}

/// How a part differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartChange {
    /// Different text.
    Text(TextDifference),
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
    pub added: Vec<RuleFingerprint>,
    /// Rules that only the entry has.
    pub gone: Vec<RuleFingerprint>,
    /// Rules that both have, in different words.
    pub reworded: Vec<RuleFingerprint>,
    /// True if not all rules are recorded one by one, so that others may differ too.
    pub more: bool,
    /// The side that has rules, if the other has none.
    pub only: Option<ComparedSide>,
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedSide {
    /// The request.
    Question,
    /// The stored entry.
    Entry,
}

/// How one text differs from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextDifference {
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
pub(super) fn compare_parts(
    kind: Kind,
    stored: &[KeyPart],
    asked: &[KeyPart],
) -> Vec<PartDifference> {
    let by_name = |parts: &[KeyPart]| -> BTreeMap<String, KeyPart> {
        parts.iter().map(|part| (part.name.clone(), part.clone())).collect()
    };
    let was = by_name(stored);
    let mut differences: Vec<PartDifference> = asked
        .iter()
        .filter_map(|now| {
            let how = match was.get(&now.name) {
                None if kind.part_kind(&now.name) == PartKind::Rules => compare_rules(
                    "",
                    now.preview.as_deref().unwrap_or_default(),
                    Some(ComparedSide::Question),
                ),
                None => PartChange::Added { now: part_preview(kind, now) },
                Some(was) if was.digest == now.digest => return None,
                Some(was) => compare_values(kind.part_kind(&now.name), was, now),
            };
            Some(PartDifference { part: now.name.clone(), how })
        })
        .collect();
    let asked_for = by_name(asked);
    let gone = stored.iter().filter(|part| !asked_for.contains_key(&part.name));
    differences.extend(gone.map(|part| {
        let how = match kind.part_kind(&part.name) {
            PartKind::Rules => compare_rules(
                part.preview.as_deref().unwrap_or_default(),
                "",
                Some(ComparedSide::Entry),
            ),
            _ => PartChange::Gone { was: part_preview(kind, part) },
        };
        PartDifference { part: part.name.clone(), how }
    }));
    differences
}

/// The difference if all stored parts are equal although the keys differ.
pub(super) fn hidden_value_difference(kind: Kind, asked: &[KeyPart]) -> Option<PartDifference> {
    let is_switch = |part: &&KeyPart| kind.part_kind(&part.name) == PartKind::Switch;
    let of: Vec<String> = asked.iter().filter(is_switch).map(|part| part.name.clone()).collect();
    (!of.is_empty())
        .then(|| PartDifference { part: "env".to_owned(), how: PartChange::Value { of } })
}

fn part_preview(kind: Kind, part: &KeyPart) -> Option<String> {
    match kind.part_kind(&part.name) {
        PartKind::Switch => Some(if is_switch_on(part) { SET } else { NOT_SET }.to_owned()),
        _ => part.preview.clone(),
    }
}

fn is_switch_on(part: &KeyPart) -> bool {
    part.digest == Sha256Digest::of(SET.as_bytes())
}

fn compare_values(nature: PartKind, was: &KeyPart, now: &KeyPart) -> PartChange {
    let (Some(before), Some(after)) = (&was.preview, &now.preview) else {
        return match nature {
            PartKind::Switch => PartChange::Switched { on: is_switch_on(now) },
            _ => PartChange::Hidden,
        };
    };
    match nature {
        PartKind::Switch => PartChange::Switched { on: is_switch_on(now) },
        PartKind::Hidden => PartChange::Hidden,
        PartKind::Rules => compare_rules(before, after, None),
        PartKind::File if before == after => PartChange::Replaced { path: after.clone() },
        PartKind::List(separator) if was.is_fully_shown() && now.is_fully_shown() => {
            compare_lists(separator, before, after)
        }
        // The redacted text may be what differs.
        _ if before == after && before.contains(REDACTED) => PartChange::Hidden,
        PartKind::File | PartKind::List(_) | PartKind::Text => {
            PartChange::Text(compare_words(before, after))
        }
    }
}

/// Rules are matched by hash, so that equal words are the same rule wherever they were recorded.
/// The same id with another hash is a reworded rule.
fn compare_rules(before: &str, after: &str, only: Option<ComparedSide>) -> PartChange {
    let ((before, all_before), (after, all_after)) = (parse_rules(before), parse_rules(after));
    let missing = |these: &[RuleFingerprint],
                   those: &[RuleFingerprint],
                   those_are_all: bool|
     -> Vec<RuleFingerprint> {
        let is_there = |rule: &&RuleFingerprint| those.iter().any(|other| other.hash == rule.hash);
        // If not all rules of a side are recorded, none can be known to be missing from it.
        these.iter().filter(|rule| those_are_all && !is_there(rule)).cloned().collect()
    };
    let (added, mut gone) =
        (missing(&after, &before, all_before), missing(&before, &after, all_after));
    let (reworded, added): (Vec<RuleFingerprint>, Vec<RuleFingerprint>) =
        added.into_iter().partition(|rule| gone.iter().any(|other| other.id == rule.id));
    gone.retain(|rule| !reworded.iter().any(|other| other.id == rule.id));
    PartChange::Rules(RuleChanges { added, gone, reworded, more: !(all_before && all_after), only })
}

fn compare_lists(separator: char, before: &str, after: &str) -> PartChange {
    let of = |text: &str| -> Vec<String> { text.split(separator).map(str::to_owned).collect() };
    let (before, after) = (of(before), of(after));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|item| !those.contains(item)).cloned().collect()
    };
    PartChange::Items { added: only(&after, &before), gone: only(&before, &after) }
}

/// Compares two texts without their common beginning and end.
pub(super) fn compare_words(before: &str, after: &str) -> TextDifference {
    if before == after {
        return TextDifference::Beyond { chars: after.chars().count().saturating_sub(1) };
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
        return TextDifference::Other { now: after.to_owned(), was: before.to_owned() };
    }
    let place = match (common, behind) {
        (_, 0) => WordPlace::Last,
        (0, _) => WordPlace::First,
        (at, _) => WordPlace::Nth(at + 1),
    };
    TextDifference::Words { place, now: new.join(" "), was: old.join(" ") }
}
