//! Facets: what a statement is about, the values it gives, whether it asks or rules out, and where
//! alone it holds. `conflict.rs` compares two of them.
//!
//! ```text
//! tickets are rendered with puppeteer             subject: ticket render   value: puppeteer
//! scrap puppeteer, ticket pdfs come out of typst  ended: puppeteer         subject: ticket pdf
//! the fare service is on 9310 now                 changed, subject: fare service, value: 9310
//! no unwrap in the collector                      ruled out, subject: unwrap, area: collector
//! ```
//!
//! Words of change never count as subject.

use std::collections::HashSet;
use std::ops::Range;

use crate::memory::db::facets::terms::{Term, is_hangul, split_terms, unify};
use crate::memory::lang::dictionary;
use crate::memory::lang::families::{FAMILIES, ValueFamily};
use crate::memory::lang::fold::{fold_char, is_apostrophe};
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::phrase::PhraseList;
use crate::memory::lang::token::{ClauseEnd, tokenize_text};
use crate::memory::lang::tokenizer::is_unspaced;

/// Words that end the place of a rule.
const PLACE_END: WordClasses = WordClasses::VALUE_BEFORE.or(WordClasses::SUBORDINATE);

/// A statement, taken apart for the comparison with another.
#[derive(Debug, Default)]
pub(crate) struct Facet {
    pub(super) clauses: Vec<FacetClause>,
    /// Words of what is named as ended, by clause.
    pub(super) ended: Vec<Vec<String>>,
    /// True if something is said to be different now.
    pub(super) is_changed: bool,
    /// True if it says that something stays, or holds besides.
    pub(super) is_kept: bool,
    /// Places in which alone it holds: environments, languages, paths.
    pub(super) areas: Vec<String>,
    pub(super) has_path_area: bool,
}

/// A clause without what it says has ended.
#[derive(Debug, Default)]
pub(super) struct FacetClause {
    pub(super) polarity: FacetPolarity,
    /// Words that tell what it is about.
    pub(super) subject: Vec<String>,
    pub(super) values: Vec<FacetValue>,
    /// Words behind "before", "when" or the like.
    pub(super) conditions: Vec<String>,
    /// Words of the subject behind "in", "for" or the like.
    pub(super) places: Vec<String>,
    /// Words that stand side by side: "fare service".
    pub(super) modified: Vec<(String, String)>,
}

/// Attitude of a statement to what it is about.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum FacetPolarity {
    #[default]
    Wanted,
    RuledOut,
    /// Not asked for any more, or not ruled out any more.
    Released,
}

/// A value, with its kind: values of one kind exclude each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FacetValue {
    pub(super) kind: ValueKind,
    pub(super) text: String,
    /// True if a word such as "is" stands before it. Another number may be part of a name: "step 3".
    pub(super) is_given: bool,
}

/// Kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueKind {
    Family(&'static str),
    Number,
    Path,
    /// A word in the place of a value, such as a tool's name.
    Named,
}

impl Facet {
    /// Takes a statement apart.
    pub(crate) fn of(statement: &str) -> Self {
        let tokens = tokenize_text(statement);
        let terms = split_terms(statement, &tokens);
        let clauses = terms.split_inclusive(|term| term.ends >= ClauseEnd::Clause);
        let readings: Vec<ClauseReading> = clauses.map(ClauseReading::of).collect();
        // A reason may name another area: "on Windows 5000 is taken, it is 5080 now".
        let says_change = readings.iter().any(ClauseReading::says_change);
        let mut facet = Self::default();
        for reading in readings {
            if reading.says_change() || !says_change {
                facet.areas.extend(reading.areas);
                facet.has_path_area |= reading.has_path_area;
                facet.is_kept |= reading.is_kept;
            }
            facet.is_changed |= reading.is_changed;
            facet.ended.extend(reading.ended.filter(|words| !words.is_empty()));
            facet.clauses.push(reading.clause);
        }
        facet
    }

    /// True if it has words of change.
    pub(crate) fn says_change(&self) -> bool {
        self.is_changed || !self.ended.is_empty()
    }

    /// All words that tell what it is about.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        let own = self.clauses.iter().flat_map(FacetClause::words);
        own.chain(self.ended.iter().flatten()).chain(&self.areas)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &FacetValue> {
        self.clauses.iter().flat_map(|clause| &clause.values)
    }

    pub(super) fn rules_out(&self) -> bool {
        self.clauses.iter().any(|clause| clause.polarity == FacetPolarity::RuledOut)
    }
}

/// Most characters of a word's beginning: forms of one word share that many.
const MOST_SHARED: usize = 5;

/// Beginnings of the words of statements that another may end: a cheap test before they are taken
/// apart. It misses none, but lets some pass that have nothing in common.
#[derive(Debug)]
pub(crate) struct WordBeginnings(HashSet<String>);

impl WordBeginnings {
    /// Beginnings for a statement: of its words, their other names, and the other values of their
    /// families.
    pub(crate) fn of(facet: &Facet) -> Self {
        let mut beginnings = HashSet::new();
        for word in facet.words() {
            let families = FAMILIES.iter().filter(|it| it.has_value(word));
            for value in families.flat_map(ValueFamily::values).chain([word.as_str()]) {
                let line =
                    lexicon::SAME_THINGS.lines().find(|it| it.split(' ').next() == Some(value));
                for name in line.unwrap_or(value).split(' ') {
                    let mut add = |name: &str| {
                        let parts = name.split(|c: char| !c.is_alphanumeric());
                        beginnings.extend(parts.filter_map(beginning_of));
                    };
                    add(name);
                    dictionary::translations(name).for_each(add);
                }
            }
        }
        Self(beginnings)
    }

    /// True if a text has a word with one of these beginnings.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let mut folded = String::with_capacity(text.len());
        for c in text.chars().filter(|c| !is_apostrophe(*c)) {
            fold_char(c, |c| folded.push(c));
        }
        let mut is_inside = false;
        folded.char_indices().any(|(start, c)| {
            let is_start = c.is_alphanumeric() && !is_inside;
            is_inside = c.is_alphanumeric() && !is_unspaced(c);
            let ends = folded[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
            is_start && ends.take(MOST_SHARED).any(|end| self.0.contains(&folded[start..end]))
        })
    }
}

/// Beginning of a word that all of its forms have: "nam" for "name" and "naming".
fn beginning_of(word: &str) -> Option<String> {
    let most = match word.chars().next()? {
        c if is_unspaced(c) || is_hangul(c) => 2,
        '\u{400}'..='\u{4ff}' => 3,
        _ => MOST_SHARED,
    };
    let mut beginning: String = word.chars().take(most).collect();
    if beginning.len() > 2 && beginning.ends_with(['e', 'i', 'y']) {
        beginning.pop();
    }
    Some(beginning)
}

/// A clause, and what it says about the whole statement.
struct ClauseReading {
    clause: FacetClause,
    /// Words of what has ended, if it says that something has.
    ended: Option<Vec<String>>,
    is_changed: bool,
    is_kept: bool,
    areas: Vec<String>,
    has_path_area: bool,
}

impl ClauseReading {
    fn of(terms: &[Term<'_>]) -> Self {
        let words: Vec<&str> = terms.iter().map(|term| term.folded.as_str()).collect();
        let find = |list: &PhraseList| {
            (0..words.len()).find_map(|at| Some(at..at + list.matched_start(&words[at..])?))
        };
        let is_main = |cue: &Range<usize>| {
            !terms[..cue.start].iter().any(|term| term.is(WordClasses::SUBORDINATE))
        };
        let (changed, permitted) = (find(&lexicon::CHANGED), find(&lexicon::PERMITTED));
        let behind = find(&lexicon::ENDED_BEHIND).filter(is_main);
        let before = find(&lexicon::ENDED_BEFORE).filter(is_main);
        let around = find(&lexicon::ENDED_AROUND).filter(is_main);
        let ended = moved_from(terms)
            .or_else(|| match &behind {
                Some(cue) if cue.end < terms.len() => Some(cue.end..terms.len()),
                cue => cue.as_ref().map(|cue| 0..cue.start),
            })
            .or_else(|| before.as_ref().map(|cue| 0..cue.start))
            .or_else(|| around.as_ref().map(|_| 0..terms.len()));
        // "Run all tests before you stop" rules nothing out.
        let main = terms.iter().enumerate();
        let mut main = main.take_while(|(at, it)| *at == 0 || !it.is(WordClasses::SUBORDINATE));
        let is_denied = ended.is_none() && main.any(|(_, term)| term.negates);
        let polarity = match &permitted {
            _ if is_denied => FacetPolarity::RuledOut,
            Some(_) => FacetPolarity::Released,
            None => FacetPolarity::Wanted,
        };
        let mut reading = Self {
            clause: FacetClause { polarity, ..FacetClause::default() },
            ended: ended.is_some().then(Vec::new),
            is_changed: changed.is_some(),
            is_kept: find(&lexicon::KEPT).is_some(),
            areas: Vec::new(),
            has_path_area: false,
        };
        let cues: Vec<Range<usize>> =
            [changed, permitted, behind, before, around].into_iter().flatten().collect();
        reading.add_terms(terms, &cues, &ended.unwrap_or(0..0));
        reading.clause.tidy();
        reading
    }

    fn says_change(&self) -> bool {
        self.is_changed || self.ended.is_some()
    }

    /// Sorts the terms into subject, values, areas and what has ended.
    fn add_terms(&mut self, terms: &[Term<'_>], cues: &[Range<usize>], ended: &Range<usize>) {
        // "Use npm in legacy/" and "no mocks in e2e/" have an area, "tests go in spec/" has a value.
        let is_rule = |term: &Term<'_>| term.negates || term.is(WordClasses::VALUE_BEFORE);
        let has_area =
            terms.iter().any(is_rule) && !terms.iter().any(|term| term.is(WordClasses::PUT));
        let (mut is_value, mut is_condition, mut is_place) = (false, false, false);
        let (mut is_start, mut last) = (true, None);
        let mut terms_left = terms.iter().enumerate();
        while let Some((at, term)) = terms_left.next() {
            let is_behind = |classes| at > 0 && terms[at - 1].is(classes);
            if term.is(WordClasses::REASON) && at > 0 {
                break;
            }
            if term.is(WordClasses::VALUE_BEFORE) {
                self.clause.move_names_to_subject();
                is_value = true;
            } else if term.is(WordClasses::SUBJECT_BEFORE) {
                is_value &= is_behind(WordClasses::VALUE_BEFORE.or(WordClasses::PUT));
            }
            is_place = term.is(WordClasses::WITHIN) || (is_place && !term.is(PLACE_END));
            is_condition |= at > 0 && term.is(WordClasses::SUBORDINATE);
            if cues.iter().any(|cue| cue.contains(&at)) || term.is_light() {
                last = None;
                continue;
            }
            let is_ended = ended.contains(&at);
            let may_be_area = is_place || (std::mem::take(&mut is_start) && !is_ended);
            let is_within = is_behind(WordClasses::WITHIN) && (at == 1 || has_area) && !is_ended;
            if let Some(area) = term.area(may_be_area, is_within) {
                self.has_path_area |= term.is_path();
                self.areas.push(area);
                last = None;
                continue;
            }
            let pair = terms.get(at + 1).and_then(|next| term.unified_pair(next));
            if pair.is_some() {
                terms_left.next();
            }
            for word in pair.map_or_else(|| term.unified_words(), |one| vec![one.to_owned()]) {
                if is_ended {
                    self.ended.get_or_insert_default().push(word.clone());
                } else if is_condition {
                    self.clause.conditions.push(word.clone());
                } else {
                    if is_place && !is_value && term.value_kind(&word).is_none() {
                        self.clause.places.push(word.clone());
                    }
                    self.clause.add_word(term, &word, is_value, last.take());
                }
                last = Some(word);
            }
        }
    }
}

impl FacetClause {
    fn add_word(&mut self, term: &Term<'_>, word: &str, is_value: bool, before: Option<String>) {
        let kind = term.value_kind(word).or_else(|| is_value.then_some(ValueKind::Named));
        let is_thing = !matches!(kind, Some(ValueKind::Number | ValueKind::Path));
        let is_name = |before: &String| !before.starts_with(|c: char| c.is_ascii_digit());
        let is_pair = is_thing && !word.starts_with(is_unspaced);
        if let Some(before) = before.filter(is_name).filter(|_| is_pair) {
            self.modified.push((before, word.to_owned()));
        }
        match kind {
            Some(kind) => {
                self.values.push(FacetValue { kind, text: word.to_owned(), is_given: is_value });
            }
            None => self.subject.push(word.to_owned()),
        }
    }

    /// Names are values only where a subject stands beside them, and no other value.
    fn tidy(&mut self) {
        if self.subject.is_empty() || self.values.iter().any(|it| it.kind != ValueKind::Named) {
            self.move_names_to_subject();
        }
    }

    fn move_names_to_subject(&mut self) {
        let names = self.values.extract_if(.., |value| value.kind == ValueKind::Named);
        self.subject.extend(names.map(|value| value.text));
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        let values = self.values.iter().map(|value| &value.text);
        self.subject.iter().chain(values).chain(&self.conditions)
    }
}

impl Term<'_> {
    /// Area that it names: "in Go", "staging runs on …". A path is one behind "in", unless something
    /// is put there.
    fn area(&self, may_be: bool, is_within: bool) -> Option<String> {
        let area = unify(lexicon::AREAS, &self.folded).filter(|_| may_be).map(str::to_owned);
        area.or_else(|| {
            let is_relative = self.is_path() && !self.text.starts_with('/');
            (is_relative && is_within).then(|| self.folded.clone())
        })
    }

    fn value_kind(&self, word: &str) -> Option<ValueKind> {
        let has_value = |word: &str| FAMILIES.iter().find(|family| family.has_value(word));
        if let Some(family) = has_value(word).or_else(|| has_value(&self.folded)) {
            return Some(ValueKind::Family(family.name));
        }
        if self.is_path() {
            return Some(ValueKind::Path);
        }
        let digits = self.folded.trim_start_matches('v');
        if digits.starts_with(|c: char| c.is_ascii_digit())
            || word.bytes().all(|b| b.is_ascii_digit())
        {
            return Some(ValueKind::Number);
        }
        self.is_identifier().then_some(ValueKind::Path)
    }
}

/// Range of the words between "from" and "to" in a move.
fn moved_from(terms: &[Term<'_>]) -> Option<Range<usize>> {
    let from = terms.iter().position(|term| term.is(WordClasses::ORIGIN))?;
    let to = from + terms[from..].iter().position(|term| term.is(WordClasses::TARGET))?;
    terms.iter().any(|term| term.is(WordClasses::MOVED)).then_some(from + 1..to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_statement_may_end_begins_like_it() {
        for (newer, older, expected) in [
            ("we moved from mocha to vitest", "use Mocha for the api tests", true),
            ("we switched to vitest", "we use jest", true),
            ("the gateway is on 7100 now", "Gateways listen on 7000", true),
            ("stop naming things after birds", "Name each service after a bird", true),
            ("no more docstrings", "every function has a doc comment", true),
            ("デプロイはもうjenkinsを使わない", "we deploy with jenkins", true),
            ("wir deployen nicht mehr freitags", "deploys happen on fridays", true),
            ("the gateway is on 7100 now", "the mailer sends plain text", false),
        ] {
            let beginnings = WordBeginnings::of(&Facet::of(newer));
            assert_eq!(beginnings.are_in(older), expected, "{newer}: {older}");
        }
    }
}
