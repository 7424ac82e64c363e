//! Conflicts: two statements conflict if they are about the same, neither holds elsewhere, and their
//! values or their polarity differ. What a statement names as ended ends an older one that asks for
//! it. Two that are about different things must both stay; to miss a conflict is the smaller fault.

use std::collections::BTreeSet;

use crate::memory::db::facets::facet::{Facet, FacetClause, FacetPolarity, FacetValue, ValueKind};

/// Least share of the words of one statement that the other must have.
const LEAST_SHARE: f32 = 0.5;
/// Most words of an ended clause in which one old value is enough.
const MOST_ENDED: usize = 3;

impl Facet {
    /// True if `older` no longer holds after this.
    pub(crate) fn ends(&self, older: &Self) -> bool {
        // A change in one area leaves the general rule, and a general one leaves a path's.
        let is_wider = self.areas.len() < older.areas.len();
        if !self.areas.iter().all(|it| older.areas.contains(it))
            || (is_wider && older.has_path_area)
        {
            return false;
        }
        self.names_as_ended(older)
            || (!self.is_kept
                && !self.is_about_another(older)
                && (self.opposes(older, is_wider)
                    || older
                        .clauses
                        .iter()
                        .any(|theirs| self.gives_other_value(older, theirs, is_wider))))
    }

    /// True if this says that what `older` asks for has ended.
    fn names_as_ended(&self, older: &Self) -> bool {
        let is_old_value = |word: &&String| older.values().any(|it| is_same_word(&it.text, word));
        let is_ended = self.ended.iter().any(|ended| {
            let named = share(ended, |word| older.has_word(word));
            named >= LEAST_SHARE
                || (ended.len() <= MOST_ENDED && ended.iter().any(|word| is_old_value(&word)))
        });
        // "Money is integer cents from here on, no floats."
        let is_denied = |clause: &FacetClause| {
            let words: Vec<&String> = clause.words().collect();
            clause.polarity == FacetPolarity::RuledOut
                && !words.is_empty()
                && words.iter().all(|word| older.has_word(word))
                && !older.rules_out()
        };
        is_ended || (self.is_changed && self.clauses.iter().any(is_denied))
    }

    /// True if both name a thing of one kind, but not the same: "fare service", "seat service".
    fn is_about_another(&self, older: &Self) -> bool {
        let modified = |facet: &Self| -> Vec<(String, String)> {
            facet.clauses.iter().flat_map(|clause| clause.modified.clone()).collect()
        };
        let (mine, theirs) = (modified(self), modified(older));
        let differ = |mine: &str, theirs: &str| !older.has_word(mine) && !self.has_word(theirs);
        let are_two = |(a, b): &(String, String), (c, d): &(String, String)| {
            is_same_word(b, d) && differ(a, c)
        };
        let are_apart = |of: fn(&FacetClause) -> &Vec<String>| {
            let all = |facet: &Self| -> Vec<String> {
                facet.clauses.iter().flat_map(|clause| of(clause).clone()).collect()
            };
            let (mine, theirs) = (all(self), all(older));
            !mine.is_empty() && !theirs.is_empty() && !mine.iter().any(|it| older.has_word(it))
        };
        are_apart(|clause| &clause.conditions)
            || (!self.says_change() && !self.rules_out() && are_apart(|clause| &clause.places))
            || mine.iter().any(|mine| theirs.iter().any(|theirs| are_two(mine, theirs)))
    }

    /// True if this allows what `older` rules out, or rules out what it asks for.
    fn opposes(&self, older: &Self, is_wider: bool) -> bool {
        let covers = |share: f32| share >= LEAST_SHARE && (share > LEAST_SHARE || !is_wider);
        let differs = |mine: FacetPolarity, theirs: FacetPolarity| match mine {
            FacetPolarity::Released => theirs == FacetPolarity::RuledOut,
            FacetPolarity::RuledOut => theirs == FacetPolarity::Wanted,
            FacetPolarity::Wanted => theirs == FacetPolarity::RuledOut && self.is_changed,
        };
        older.clauses.iter().any(|theirs| {
            let words: Vec<&String> = theirs.words().chain(&older.areas).collect();
            self.clauses.iter().any(|mine| {
                let own: Vec<&String> = mine.words().chain(&self.areas).collect();
                // Without words of change it must speak of nothing else.
                let least = if self.says_change() { LEAST_SHARE } else { 1.0 };
                differs(mine.polarity, theirs.polarity)
                    && !own.is_empty()
                    && share(&own, |word| words.iter().any(|it| is_same_word(it, word))) >= least
                    && covers(share(&words, |word| self.has_word(word)))
            })
        })
    }

    /// True if this gives another value to the same subject, or another of the same family.
    fn gives_other_value(&self, older: &Self, theirs: &FacetClause, is_wider: bool) -> bool {
        let subject: Vec<&String> = theirs.subject.iter().chain(&older.areas).collect();
        let shared = subject.iter().filter(|word| self.has_word(word)).count();
        let covered = share(&subject, |word| self.has_word(word));
        let is_same =
            |a: &FacetValue, b: &FacetValue| a.kind == b.kind && is_same_word(&a.text, &b.text);
        let is_old = |mine: &FacetValue| older.values().any(|it| is_same(it, mine));
        let is_new = |mine: &&FacetValue| {
            !is_old(mine) && theirs.values.iter().any(|it| it.kind == mine.kind)
        };
        let new: Vec<&FacetValue> = self.values().filter(is_new).collect();
        // "80 is too tight, let's say 110": the old value beside another of its kind.
        let names_old = |mine: &&FacetValue| {
            self.values().any(|it| it.kind == mine.kind && is_old(it) && it.text.len() > 1)
        };
        if new.iter().any(|mine| mine.kind != ValueKind::Named && names_old(mine)) && !is_wider {
            return shared > 0 || self.is_changed || older.words().count() == theirs.values.len();
        }
        let is_family = |mine: &&FacetValue| matches!(mine.kind, ValueKind::Family(_));
        if self.says_change() {
            let is_bare = self.clauses.iter().any(|clause| {
                clause.subject.is_empty()
                    && clause.values.iter().any(|it| is_family(&it) && is_new(&it))
            });
            return (!new.is_empty() && covered >= LEAST_SHARE && !(is_wider && shared < 2))
                || (new.iter().any(is_family) && is_bare && !is_wider)
                || (shared >= 2 && shared == subject.len() && !is_wider)
                || (covered >= LEAST_SHARE && !is_wider && self.replaces_names(older));
        }
        // Without words of change the clause with the value must be about the same.
        let is_own = |clause: &FacetClause| {
            let own: Vec<&String> = clause.subject.iter().chain(&self.areas).collect();
            let same = share(&own, |word| older.has_word(word));
            let is_given = |it: &FacetValue| {
                it.is_given && theirs.values.iter().any(|old| old.kind == it.kind && old.is_given)
            };
            let is_same_subject = |it: &FacetValue| match it.kind {
                ValueKind::Family(_) => same >= LEAST_SHARE,
                ValueKind::Named => false,
                ValueKind::Number | ValueKind::Path => is_given(it) && same >= 1.0,
            };
            clause.values.iter().any(|it| is_new(&it) && is_same_subject(it))
        };
        !is_wider && covered >= LEAST_SHARE && self.clauses.iter().any(is_own)
    }

    /// True if the words in the place of values in `older` are gone, and others are there.
    fn replaces_names(&self, older: &Self) -> bool {
        let is_named = |value: &&FacetValue| value.kind == ValueKind::Named;
        let mut names = older.values().filter(is_named).peekable();
        let is_other_kind = |value: &FacetValue| {
            value.kind != ValueKind::Named && older.values().all(|it| it.kind != value.kind)
        };
        names.peek().is_some()
            && names.all(|value| !self.has_word(&value.text))
            && !self.values().any(is_other_kind)
            && self.words().any(|word| !older.has_word(word))
    }

    /// True if both give the same values.
    pub(crate) fn has_same_values(&self, other: &Self) -> bool {
        let known = |facet: &Self| -> BTreeSet<(ValueKind, String)> {
            let values = facet.values().filter(|value| value.kind != ValueKind::Named);
            values.map(|value| (value.kind, value.text.clone())).collect()
        };
        known(self) == known(other)
    }

    /// True if both have the same words in the place of a value.
    pub(crate) fn has_same_names(&self, other: &Self) -> bool {
        let named = |facet: &Self| -> BTreeSet<String> {
            let values = facet.values().filter(|value| value.kind == ValueKind::Named);
            values.map(|value| value.text.clone()).collect()
        };
        named(self) == named(other)
    }

    fn has_word(&self, word: &str) -> bool {
        self.words().any(|it| is_same_word(it, word))
    }
}

/// Share of those words that `is_shared`.
#[expect(clippy::cast_precision_loss, reason = "a statement has few words")]
fn share<W: AsRef<str>>(words: &[W], is_shared: impl Fn(&str) -> bool) -> f32 {
    let shared = words.iter().filter(|word| is_shared(word.as_ref())).count();
    shared as f32 / words.len().max(1) as f32
}

/// True if two words are forms of one: equal, a part of a compound, or one begins with the other and
/// is not much longer. Cyrillic words may differ in their endings.
pub(crate) fn is_same_word(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    if short.ends_with('/') && long.starts_with(short) {
        return true;
    }
    if short.len() > 3 && long.split(['-', '.']).any(|part| part == short) {
        return true;
    }
    // `service1` and `service16` are two.
    if long.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let (count, longest) = (short.chars().count(), long.chars().count());
    let common = short.chars().zip(long.chars()).take_while(|(a, b)| a == b).count();
    match short.chars().next() {
        Some('\u{ac00}'..='\u{d7a3}') => common == count && common >= 2,
        Some('\u{400}'..='\u{4ff}') => common >= 3 && common + 2 >= longest,
        _ => common == count && common >= 5 && common * 5 >= longest * 3,
    }
}
