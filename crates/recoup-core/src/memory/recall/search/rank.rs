//! Score of a note for a query: BM25 with exact words above stems above synonyms above beginnings,
//! and a bonus for words that stand together as in the query.

use std::collections::HashMap;

use crate::memory::db::index::WHOLES;
use crate::memory::lang::forms::{HEAD, STEM};
use crate::memory::recall::search::terms::QueryTerms;

type FormMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Worth of a form, relative to the word itself.
pub(super) const STEM_WORTH: f32 = 0.9;
pub(super) const SYNONYM_WORTH: f32 = 0.6;
pub(super) const HEAD_WORTH: f32 = 0.5;
/// BM25: how fast more of one word stops to count, how much length does, and the usual number of
/// content words in a note.
const K1: f32 = 0.6;
const B: f32 = 0.4;
const USUAL_LENGTH: f32 = 12.0;
/// Bonus for neighbours and for identifiers, in weights of their words.
const NEAR: f32 = 0.5;
const JOINED: f32 = 0.8;
/// Bonus of a stop word for the one beside it.
const BESIDE: f32 = 0.1;
/// Bonus for a note that has the query word for word, as a share of the best score.
const VERBATIM: f32 = 0.25;
/// Distance between whole identifiers: near nothing.
const APART: u16 = 10;
/// Maximum number of positions of a word that are stored.
const PLACES: usize = 4;

/// A query, prepared to score notes.
#[derive(Debug)]
pub(super) struct NoteRanker<'a> {
    terms: &'a QueryTerms,
    weights: &'a TermWeights,
    forms: FormMap<&'a str, FormMeaning>,
    /// Indices of words of which only the beginning must match.
    open: Vec<usize>,
    /// Weight of all words, and the score of a note that is the query.
    total: f32,
    best: f32,
}

/// Weights of words and of compounds, 0 to 1.
#[derive(Debug)]
pub(super) struct TermWeights {
    pub(super) words: Vec<f32>,
    pub(super) joins: Vec<f32>,
    /// Forms of words that are related to each word: in another language, or spelt alike.
    pub(super) related: Vec<Vec<String>>,
}

/// Query words and compound that a form stands for.
#[derive(Debug, Default)]
struct FormMeaning {
    /// Words that it is a form of, with its worth.
    words: Vec<(usize, f32)>,
    /// Compound that it is, if any.
    join: Option<usize>,
}

/// Score of one note.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct NoteScore {
    pub(super) score: f32,
    pub(super) fit: f32,
    /// Words of the query that it has, one bit each.
    pub(super) words: u64,
}

/// Matches of one query word in a note.
#[derive(Debug, Clone, Default)]
struct TermMatches {
    worth: f32,
    times: f32,
    places: [u16; PLACES],
    known: usize,
    /// Last position; the first is 1.
    last: u16,
}

/// Matches of a query in a note.
struct NoteMatches {
    found: Vec<TermMatches>,
    /// Weight of compounds that were found as one identifier.
    joined: f32,
    /// Number of content words in the note.
    length: u16,
}

impl<'a> NoteRanker<'a> {
    pub(super) fn new(terms: &'a QueryTerms, weights: &'a TermWeights) -> Self {
        let mut forms: FormMap<&str, FormMeaning> = FormMap::default();
        for (n, term) in terms.words.iter().enumerate() {
            let mut add =
                |form: &'a str, worth| forms.entry(form).or_default().words.push((n, worth));
            add(&term.exact, 1.0);
            term.stem.iter().for_each(|stem| add(stem, STEM_WORTH));
            term.synonyms.iter().for_each(|other| add(other, SYNONYM_WORTH));
            term.head.iter().for_each(|head| add(head, HEAD_WORTH));
            weights.related[n].iter().for_each(|other| add(other, SYNONYM_WORTH));
        }
        for (n, join) in terms.joins.iter().enumerate() {
            for form in join.synonyms.iter().copied().chain([&*join.exact]) {
                forms.entry(form).or_default().join = Some(n);
            }
        }
        let words = terms.words.iter().enumerate();
        let open = words.filter(|(_, term)| term.open).map(|(n, _)| n).collect();
        let total: f32 = weights.words.iter().sum();
        let mut ranker = Self { terms, weights, forms, open, total, best: 0.0 };
        let pairs: f32 = ranker.pairs().map(|(a, b)| ranker.pair_weight(a, b)).sum();
        ranker.best = total * (K1 + 1.0) / (1.0 + K1 * (1.0 - B)) + NEAR * pairs;
        ranker
    }

    /// Scores the stored forms of a note.
    pub(super) fn score_note(&self, stored: &str) -> NoteScore {
        let reading = self.match_note(stored);
        // Words that follow each other in the query are close in the note.
        let near = |(a, b): (usize, usize)| {
            let closeness = reading.found[a].closeness(&reading.found[b]);
            // A stop word counts only where it stands as in the query.
            let stop = self.is_stop(a) || self.is_stop(b);
            let closeness = if stop && closeness < 1.0 { 0.0 } else { closeness };
            closeness * self.pair_weight(a, b)
        };
        let near: f32 = self.pairs().map(near).sum();
        let joined = reading.joined.min(1.0);
        let norm = K1 * (1.0 - B + B * f32::from(reading.length) / USUAL_LENGTH);
        let found = reading.found.iter().zip(&self.weights.words);
        let bm25: f32 = found
            .map(|(one, weight)| weight * one.worth * one.times * (K1 + 1.0) / (one.times + norm))
            .sum();
        let raw = bm25 + NEAR * near + JOINED * joined;
        let share = if self.best > 0.0 { (raw / self.best).min(1.0) } else { 0.0 };
        // All words follow each other as they were typed.
        let is_verbatim = reading.found.iter().all(|one| one.worth >= 1.0)
            && reading.found.windows(2).all(|pair| pair[0].closeness(&pair[1]) >= 1.0);
        let verbatim = if is_verbatim { VERBATIM } else { 0.0 };
        let score = (share + verbatim) / (1.0 + VERBATIM);
        let found = reading.found.iter().enumerate().filter(|(_, one)| one.worth > 0.0);
        let words = found.fold(0, |words, (n, _)| words | 1 << n);
        NoteScore { score, fit: self.fit(&reading, joined), words }
    }

    /// Returns the weight of some words of the query, as a share of all.
    pub(super) fn share_of(&self, words: u64) -> f32 {
        let weights = self.weights.words.iter().enumerate();
        let found: f32 = weights.filter(|(n, _)| words & (1 << n) != 0).map(|(_, it)| it).sum();
        if self.total > 0.0 { found / self.total } else { 0.0 }
    }

    fn match_note(&self, stored: &str) -> NoteMatches {
        let found = vec![TermMatches::default(); self.terms.words.len()];
        let mut reading = NoteMatches { found, joined: 0.0, length: 0 };
        let (mut at, mut wholes, mut length) = (0_u16, false, 0_usize);
        for form in stored.split_ascii_whitespace() {
            match form {
                WHOLES => wholes = true,
                _ if form.starts_with(HEAD) => {}
                _ if form.starts_with(STEM) => length += usize::from(!wholes),
                _ if wholes => at = at.saturating_add(APART),
                _ => {
                    at = at.saturating_add(1);
                    let telling = !form.bytes().all(|byte| byte.is_ascii_alphabetic());
                    length += usize::from(telling);
                }
            }
            self.record_form(form, at, &mut reading);
        }
        reading.length = u16::try_from(length).unwrap_or(u16::MAX);
        reading
    }

    /// Records the query words that a form at a position matches.
    fn record_form(&self, form: &str, at: u16, reading: &mut NoteMatches) {
        if let Some(asked) = self.forms.get(form) {
            if let Some(join) = asked.join {
                reading.joined += self.weights.joins[join];
                // The note has the words of a compound as one identifier.
                let places = &self.terms.joins[join].places;
                for (term, one) in self.terms.words.iter().zip(&mut reading.found) {
                    if places.contains(&term.at) && one.worth == 0.0 {
                        one.add_match(STEM_WORTH, at);
                    }
                }
            }
            for &(n, worth) in &asked.words {
                let one = &mut reading.found[n];
                // Other forms of a word that was counted already are skipped.
                if one.last != at {
                    one.add_match(worth, at);
                }
            }
        }
        for &n in &self.open {
            if form.starts_with(&*self.terms.words[n].exact) {
                reading.found[n].add_match(1.0, at);
            }
        }
    }

    /// Returns pairs of words that follow each other, with and without the stop words between them.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let count = self.terms.words.len();
        let beside = (1..count).map(|b| (b - 1, b));
        let mut last = None;
        let telling = (0..count).filter(|n| !self.is_stop(*n));
        let telling = telling.filter_map(move |n| last.replace(n).map(|last| (last, n)));
        telling.chain(beside.filter(|(a, b)| self.is_stop(*a) != self.is_stop(*b)))
    }

    fn pair_weight(&self, a: usize, b: usize) -> f32 {
        let weight = |n: usize| if self.is_stop(n) { BESIDE } else { self.weights.words[n] };
        weight(a).min(weight(b))
    }

    fn is_stop(&self, n: usize) -> bool {
        self.terms.words[n].stop
    }

    /// Returns the confidence that a note is about the subject of the query. The evidence is the
    /// weight of shared words; a thing with the same name, an identifier and a query that is
    /// covered add to it, other content of the note subtracts from it. One shared word among
    /// several is never enough.
    fn fit(&self, reading: &NoteMatches, joined: f32) -> f32 {
        let found = reading.found.iter().zip(&self.terms.words);
        let shared = found.filter(|(one, term)| one.worth > 0.0 && !term.stop).count();
        let asked = self.terms.words.iter().filter(|term| !term.stop).count();
        if self.total <= 0.0 || shared == 0 {
            return 0.0;
        }
        let words = reading.found.iter().zip(&self.weights.words);
        let covered: f32 = words.map(|(one, weight)| one.worth * weight).sum();
        let beside = (f32::from(reading.length) - 6.0).clamp(0.0, 20.0);
        // A thing that both call by the same two words, as in "payments client", is at least as
        // rare as the rarer word, however many clients there are.
        let can_be_name = |n: usize| self.terms.words[n].can_be_name();
        let same = |&(a, b): &(usize, usize)| {
            can_be_name(a) && can_be_name(b) && reading.found[a].closeness(&reading.found[b]) >= 1.0
        };
        let weight = |(a, b): (usize, usize)| self.weights.words[a].max(self.weights.words[b]);
        let named = self.pairs().filter(same).map(weight).fold(0.0, f32::max);
        let evidence =
            covered + 0.8 * named + 0.3 * joined + 0.5 * covered / self.total - 0.03 * beside;
        let fit = evidence.max(0.0) / (evidence.max(0.0) + ENOUGH);
        let alone = shared == 1 && joined == 0.0 && asked > 1;
        if alone { fit.min(0.49) } else { fit }
    }
}

/// Evidence that is as much for as against.
const ENOUGH: f32 = 1.2;

impl TermMatches {
    fn add_match(&mut self, worth: f32, at: u16) {
        self.worth = self.worth.max(worth);
        self.times += if worth > HEAD_WORTH { 1.0 } else { HEAD_WORTH };
        self.last = at;
        if self.known < PLACES {
            self.places[self.known] = at;
            self.known += 1;
        }
    }

    fn places(&self) -> &[u16] {
        &self.places[..self.known]
    }

    /// Returns how close this word comes before another, or nearly so after it.
    fn closeness(&self, next: &Self) -> f32 {
        let apart = |a: u16, b: u16| if b > a { b - a } else { a - b + 1 };
        let all =
            self.places().iter().flat_map(|a| next.places().iter().map(move |b| apart(*a, *b)));
        match all.min() {
            Some(0 | 1) => 1.0,
            Some(2) => 0.6,
            Some(3 | 4) => 0.3,
            _ => 0.0,
        }
    }
}
