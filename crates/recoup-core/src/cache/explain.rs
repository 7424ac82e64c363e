//! Explanation of a hit or miss: everything that is wrong with the entry; if there is none, its
//! history and how the nearest entry differs, part by part, from the stored previews.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use super::lookup::{LookupRequest, MissReason, PeekOutcome};
use super::sources::{self, SourceChange};
use super::{Cache, CacheMode, permit};
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::base::text::shorten_text;
use crate::entry::{BodyDamage, EntryEvent, EntryHead, Header};
use crate::error::Error;
use crate::key::{EntryId, KeyPart, Kind, NOT_SET, PartKind, RuleFingerprint, SET, parse_rules};
use crate::secrets::REDACTED;
use crate::store::SimilarityProbe;

/// How many candidates for the nearest entry are compared.
const CANDIDATES: usize = 64;

/// Maximum length of a quoted value.
const MAX_QUOTED_CHARS: usize = 60;

/// Why a look-up ends as it does.
#[derive(Debug)]
pub struct LookupExplanation {
    /// The requested entry.
    pub id: EntryId,
    /// Kind of the entry.
    pub kind: Kind,
    /// How the look-up would end now.
    pub verdict: LookupVerdict,
    /// All reasons against a hit, not only the first.
    pub causes: Vec<MissCause>,
    /// Earlier events of this entry, latest first.
    pub past: Vec<EntryEvent>,
    /// The most similar entry, if the requested one does not exist.
    pub nearest: Option<NearestEntry>,
}

/// How a look-up would end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupVerdict {
    /// Served.
    Hit {
        /// Age of the entry, in milliseconds.
        age: u64,
        /// How long it stays fresh, in milliseconds; `None` for ever.
        left: Option<u64>,
    },
    /// Served and refreshed.
    Stale {
        /// How long ago it stopped being fresh, in milliseconds.
        since: u64,
    },
    /// Not served.
    Miss,
}

/// A reason against a hit.
#[derive(Debug)]
pub enum MissCause {
    /// The cache is switched off.
    Disabled,
    /// The caller asked for a fresh result.
    Asked,
    /// There is no such entry.
    Absent,
    /// The entry under this key answers another question.
    AnotherQuestion(Vec<PartDifference>),
    /// A source has changed.
    Source {
        /// The source and its change.
        change: SourceChange,
        /// When the file last changed, if it exists.
        at: Option<Timestamp>,
    },
    /// The entry is a failure that is older than the caller accepts, or the caller accepts none.
    Failure,
    /// The entry has stdout and stderr in one stream, and the caller needs them apart.
    StreamsMerged,
    /// The entry was made in the future.
    FromTheFuture,
    /// The sources of the work cannot be watched, so that its result would not be stored.
    Unwatchable(Error),
    /// The TTL has passed.
    Expired {
        /// How long ago, in milliseconds.
        since: u64,
        /// The smaller of the entry's and the request's TTL, in milliseconds.
        ttl: u64,
    },
    /// The work began longer ago than the caller accepts.
    TooOld {
        /// Time since the work began, in milliseconds.
        age: u64,
        /// The accepted time, in milliseconds.
        limit: u64,
    },
    /// The stored bytes are damaged.
    Damaged(BodyDamage),
    /// The store could not answer.
    Unavailable(Error),
}

/// The entry most similar to the requested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestEntry {
    /// Identity of the entry.
    pub id: EntryId,
    /// Creation time.
    pub created: Timestamp,
    /// Differences from the request.
    pub differences: Vec<PartDifference>,
}

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

/// The difference in words; empty for rules, which are named one by one.
impl fmt::Display for PartChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shell quotes around the words are not part of the difference.
        let quoted = |text: &str| quote(text.trim_matches('\''));
        match self {
            Self::Text(difference) => difference.fmt(f),
            Self::Items { added, gone } => {
                let added = added.iter().map(|item| format!("+{item}"));
                let items: Vec<String> =
                    added.chain(gone.iter().map(|item| format!("-{item}"))).collect();
                f.write_str(&items.join(" "))
            }
            Self::Rules(_) => Ok(()),
            Self::Switched { on: true } => f.write_str("set, was unset"),
            Self::Switched { on: false } => f.write_str("unset, was set"),
            Self::Replaced { path } => write!(f, "{path} now resolves to another file"),
            Self::Added { now: Some(now) } => {
                write!(f, "now {}, was not given before", quoted(now))
            }
            Self::Added { now: None } => f.write_str("now given, was not given before"),
            Self::Gone { was: Some(was) } => write!(f, "no longer given, was {}", quoted(was)),
            Self::Gone { was: None } => f.write_str("no longer given"),
            Self::Hidden => f.write_str("different content"),
            Self::Value { of } => {
                let names: Vec<&str> =
                    of.iter().map(|name| name.strip_prefix("env ").unwrap_or(name)).collect();
                write!(f, "different value of {}", names.join(" or "))
            }
        }
    }
}

impl fmt::Display for TextDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| quote(text.trim_matches('\''));
        let (place, now, was) = match self {
            Self::Words { place, now, was } => (*place, now, was),
            Self::Other { now, was } => {
                return write!(f, "now {}, was {}", quoted(now), quoted(was));
            }
            Self::Beyond { chars } => {
                return write!(f, "differs after the first {chars} characters");
            }
        };
        let count = |text: &str| text.split_whitespace().count();
        let place = match (place, count(now).max(count(was))) {
            (WordPlace::First, 1) => "the first word".to_owned(),
            (WordPlace::First, many) => format!("the first {many} words"),
            (WordPlace::Last, 1) => "the last word".to_owned(),
            (WordPlace::Last, many) => format!("the last {many} words"),
            (WordPlace::Nth(at), 1) => format!("word {at}"),
            (WordPlace::Nth(at), many) => format!("words {at} to {}", at + many - 1),
        };
        match (now.is_empty(), was.is_empty()) {
            (true, _) => write!(f, "differs in {place}: {} is gone", quoted(was)),
            (_, true) => write!(f, "differs in {place}: {} is new", quoted(now)),
            _ => write!(f, "differs in {place}: {}, was {}", quoted(now), quoted(was)),
        }
    }
}

/// The beginning of a text in quotation marks.
pub fn quote(text: &str) -> String {
    format!("\u{201c}{}\u{201d}", shorten_text(text, MAX_QUOTED_CHARS))
}

impl Cache {
    /// Explains how this look-up would end. Leaves no trace in the ledger.
    pub fn explain(&self, request: &LookupRequest<'_>) -> LookupExplanation {
        // The request is shown redacted, as it would be stored.
        let withheld = request.withheld.cloned().unwrap_or_default();
        let parts = permit::redact_parts(request.kind, request.parts.to_vec(), &withheld);
        let request = &LookupRequest { parts: &parts, ..request.clone() };
        let (verdict, mut causes) = self.explain_verdict(request);
        if verdict == LookupVerdict::Miss
            && let Err(error) = self.watch(request.view, request.sources)
        {
            causes.push(MissCause::Unwatchable(error));
        }
        let absent = matches!(causes[..], [MissCause::Absent | MissCause::AnotherQuestion(_), ..]);
        LookupExplanation {
            id: request.id.clone(),
            kind: request.kind,
            verdict,
            nearest: if absent { self.find_nearest(request) } else { None },
            causes,
            // Best effort: an unreadable history is empty.
            past: self.history(request.id).unwrap_or_default(),
        }
    }

    fn explain_verdict(&self, request: &LookupRequest<'_>) -> (LookupVerdict, Vec<MissCause>) {
        let miss = |cause| (LookupVerdict::Miss, vec![cause]);
        if !self.enabled() {
            return miss(MissCause::Disabled);
        }
        if let CacheMode::Refresh | CacheMode::Bypass = request.mode {
            return miss(MissCause::Asked);
        }
        let record = match self.find_record(request.id) {
            Ok(record) => record,
            Err(MissReason::Corrupt(damage)) => return miss(MissCause::Damaged(damage)),
            Err(MissReason::Unavailable(error)) => return miss(MissCause::Unavailable(error)),
            Err(_) => return miss(MissCause::Absent),
        };
        let header = &record.head.header;
        let causes = self.collect_causes(header, request);
        if !causes.is_empty() {
            return (LookupVerdict::Miss, causes);
        }
        let age = self.clock().now().millis_since(header.created);
        let ttl = request.ttl_for(header);
        match self.check_record(Arc::clone(&record), request, None) {
            PeekOutcome::Hit(_) => {
                let left = ttl.map(|ttl| ttl.saturating_sub(age));
                (LookupVerdict::Hit { age, left }, causes)
            }
            PeekOutcome::Stale(_) => {
                (LookupVerdict::Stale { since: age.saturating_sub(ttl.unwrap_or(age)) }, causes)
            }
            PeekOutcome::Miss(MissReason::Corrupt(damage)) => miss(MissCause::Damaged(damage)),
            PeekOutcome::Miss(_) => (LookupVerdict::Miss, causes),
        }
    }

    /// All reasons against a hit, in the order in which a look-up checks them.
    fn collect_causes(&self, header: &Header, request: &LookupRequest<'_>) -> Vec<MissCause> {
        match self.mismatch(header, request) {
            None => {}
            Some(MissReason::Failure) => return vec![MissCause::Failure],
            Some(MissReason::StreamsMerged) => return vec![MissCause::StreamsMerged],
            Some(_) => {
                let differences = compare_parts(request.kind, &header.parts, request.parts);
                return vec![MissCause::AnotherQuestion(differences)];
            }
        }
        let freshness = self.inner.options.freshness;
        let mut causes: Vec<MissCause> =
            sources::changed_sources(&header.sources, request.view, self, freshness)
                .map(|change| {
                    let found = fs::metadata(request.view.root.join(&change.path)).ok();
                    let at = found.map(|found| {
                        let content = (found.mtime(), found.mtime_nsec());
                        let (seconds, nanos) = content.max((found.ctime(), found.ctime_nsec()));
                        let millis = seconds.saturating_mul(1_000);
                        Timestamp::from_millis(millis.saturating_add(nanos / 1_000_000))
                    });
                    MissCause::Source { at, change }
                })
                .collect();
        let now = self.clock().now();
        let age = now.millis_since(header.created);
        if self.is_from_the_future(header) {
            causes.push(MissCause::FromTheFuture);
        }
        if let Some(ttl) = request.ttl_for(header)
            && age >= ttl.saturating_add(header.grace)
        {
            causes.push(MissCause::Expired { since: age - ttl, ttl });
        }
        let work_age = now.millis_since(header.work_began());
        if let Some(limit) = request.max_age.filter(|limit| work_age > *limit) {
            causes.push(MissCause::TooOld { age: work_age, limit });
        }
        causes
    }

    /// The nearest entry; `None` if the request has no parts or no entry is similar. A store error
    /// counts as none, because it has been reported before.
    fn find_nearest(&self, request: &LookupRequest<'_>) -> Option<NearestEntry> {
        let LookupRequest { kind, id, parts, .. } = *request;
        if parts.is_empty() {
            return None;
        }
        // More equal parts first, then more common words in the others, then the younger entry.
        let similarity = |head: &EntryHead| {
            let stored = &head.header.parts;
            let equal = count_equal_parts(parts, stored);
            let unequal = stored.len().saturating_sub(equal);
            (equal, Reverse(unequal), shared_words(parts, stored), head.header.created)
        };
        let probe = SimilarityProbe { scope: &id.scope, kind, parts, most: CANDIDATES };
        let found = self.store().nearest(&probe).ok()?;
        let others = found.into_iter().filter(|(other, _)| other != id);
        let (id, head) = others.max_by_key(|(_, head)| similarity(head))?;
        let stored = &head.header.parts;
        // Less than half of the parts is chance.
        if 2 * count_equal_parts(parts, stored) < parts.len().max(stored.len()) {
            return None;
        }
        let mut differences = compare_parts(kind, stored, parts);
        if differences.is_empty() {
            let is_switch = |part: &&KeyPart| kind.part_kind(&part.name) == PartKind::Switch;
            let switches = parts.iter().filter(is_switch);
            let of: Vec<String> = switches.map(|part| part.name.clone()).collect();
            let how = PartChange::Value { of: of.clone() };
            let hidden = PartDifference { part: "env".to_owned(), how };
            differences.extend((!of.is_empty()).then_some(hidden));
        }
        Some(NearestEntry { id, created: head.header.created, differences })
    }
}

/// The parts that differ between `stored` and `asked`.
pub fn compare_parts(kind: Kind, stored: &[KeyPart], asked: &[KeyPart]) -> Vec<PartDifference> {
    let changed = asked.iter().filter_map(|now| {
        let how = match stored.iter().rfind(|was| was.name == now.name) {
            None if kind.part_kind(&now.name) == PartKind::Rules => {
                let rules = now.preview.as_deref().unwrap_or_default();
                compare_rules("", rules, Some(ComparedSide::Question))
            }
            None => PartChange::Added { now: part_preview(kind, now) },
            Some(was) if was.digest == now.digest => return None,
            Some(was) => compare_values(kind.part_kind(&now.name), was, now),
        };
        Some(PartDifference { part: now.name.clone(), how })
    });
    let is_gone = |was: &&KeyPart| asked.iter().all(|now| now.name != was.name);
    let gone = stored.iter().filter(is_gone).map(|was| {
        let how = match kind.part_kind(&was.name) {
            PartKind::Rules => {
                let rules = was.preview.as_deref().unwrap_or_default();
                compare_rules(rules, "", Some(ComparedSide::Entry))
            }
            _ => PartChange::Gone { was: part_preview(kind, was) },
        };
        PartDifference { part: was.name.clone(), how }
    });
    changed.chain(gone).collect()
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

fn compare_values(kind: PartKind, was: &KeyPart, now: &KeyPart) -> PartChange {
    match (kind, &was.preview, &now.preview) {
        (PartKind::Switch, ..) => PartChange::Switched { on: is_switch_on(now) },
        (PartKind::Hidden, ..) | (_, None, _) | (_, _, None) => PartChange::Hidden,
        (PartKind::Rules, Some(before), Some(after)) => compare_rules(before, after, None),
        (PartKind::File, Some(before), Some(after)) if before == after => {
            PartChange::Replaced { path: after.clone() }
        }
        (PartKind::List(separator), Some(before), Some(after))
            if was.is_fully_shown() && now.is_fully_shown() =>
        {
            let only = |these: &str, those: &str| -> Vec<String> {
                let is_new = |item: &&str| those.split(separator).all(|other| other != *item);
                these.split(separator).filter(is_new).map(str::to_owned).collect()
            };
            PartChange::Items { added: only(after, before), gone: only(before, after) }
        }
        // The redacted text may be what differs.
        (_, Some(before), Some(after)) if before == after && before.contains(REDACTED) => {
            PartChange::Hidden
        }
        (PartKind::File | PartKind::List(_) | PartKind::Text, Some(before), Some(after)) => {
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

/// Compares two texts without their common beginning and end.
fn compare_words(before: &str, after: &str) -> TextDifference {
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

fn count_equal_parts(asked: &[KeyPart], stored: &[KeyPart]) -> usize {
    let same = |a: &KeyPart, b: &KeyPart| a.name == b.name && a.digest == b.digest;
    asked.iter().filter(|part| stored.iter().any(|other| same(part, other))).count()
}

/// Sum over the parts of the share of common words, in thousandths, so that long texts do not win
/// by length.
pub fn shared_words(asked: &[KeyPart], stored: &[KeyPart]) -> usize {
    let pairs = asked.iter().filter_map(|part| {
        let other = stored.iter().find(|other| other.name == part.name)?;
        Some((part.preview.as_deref()?, other.preview.as_deref()?))
    });
    let words = |text: &'_ str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric());
        parts.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let shares = pairs.map(|(a, b)| {
        let (a, b) = (words(a), words(b));
        a.intersection(&b).count() * 1_000 / a.union(&b).count().max(1)
    });
    shares.sum()
}
