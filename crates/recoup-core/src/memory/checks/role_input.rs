//! Input of the networks that read roles: what is known of a rule's term without its context, and where
//! it stands. A name counts by its kind alone: what a rule says of `npm` it would say of any program.

use std::ops::Range;

use super::terms::{RuleTerm, split_terms};
use crate::memory::checks::roles::INPUTS_AT;
use crate::memory::lang::file_kinds::endings_of;
use crate::memory::lang::layers::{TokenVector, WIDTH};
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::ClauseEnd;
use crate::memory::lang::word_hash;
use crate::memory::lang::word_vectors::{DIMENSIONS, TextVector};
use crate::memory::shell::is_known_program;

/// Number of classes of words.
const CLASSES: usize = 128;
/// Number of [`form_features`].
const FORMS: usize = 44;
const MEANING_AT: usize = CLASSES + FORMS;
/// Number of inputs beside the words.
pub const INPUTS: usize = MEANING_AT + DIMENSIONS;

/// Words that the networks know by themselves, as sorted hashes.
#[derive(Debug, Clone, Copy)]
pub struct WordTable<'a> {
    hashes: &'a [u8],
}

impl<'a> WordTable<'a> {
    /// Reads a table from its bytes.
    pub const fn new(hashes: &'a [u8]) -> Self {
        Self { hashes }
    }

    /// Writes the table of some words.
    pub fn compile<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<u8> {
        let mut hashes: Vec<u32> = words.into_iter().map(hash_of).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    pub(super) const fn hashes(self) -> &'a [u8] {
        self.hashes
    }

    pub(super) const fn count(self) -> usize {
        self.hashes.len() / 4
    }

    fn find(self, word: &str) -> Option<usize> {
        let (hashes, _) = self.hashes.as_chunks::<4>();
        hashes.binary_search_by_key(&hash_of(word), |it| u32::from_le_bytes(*it)).ok()
    }
}

fn hash_of(word: &str) -> u32 {
    word.bytes().fold(word_hash::EMPTY, word_hash::extend)
}

/// Parts of a term's input that training leaves out at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermPart {
    /// The word itself, and its translations.
    Word,
    /// Its vector of meaning.
    Meaning,
}

/// Input of a term.
#[derive(Debug, Clone)]
pub struct TermInput {
    /// Its place in the rule.
    pub span: Range<usize>,
    features: Vec<u8>,
    words: Vec<usize>,
    meaning: Option<TextVector>,
}

/// A rule as the networks take it.
#[derive(Debug, Clone)]
pub struct RuleInput {
    /// Its terms.
    pub terms: Vec<TermInput>,
}

impl RuleInput {
    /// Reads a rule.
    pub fn of(rule: &str, words: WordTable<'_>) -> Self {
        Self::of_terms(&split_terms(rule), words)
    }

    pub(super) fn of_terms(terms: &[RuleTerm<'_>], words: WordTable<'_>) -> Self {
        let input = |at: usize| {
            let term = &terms[at];
            let forms = form_features(terms, at).into_iter().zip(0..);
            let forms = forms.filter_map(|(has, number)| has.then_some(128 + number));
            let known = own_words(term).into_iter().filter_map(|it| words.find(it));
            TermInput {
                span: term.span.clone(),
                features: term.classes.numbers().chain(forms).collect(),
                words: known.collect(),
                meaning: if is_name(term) { None } else { TextVector::of(&term.folded) },
            }
        };
        Self { terms: (0..terms.len()).map(input).collect() }
    }

    /// Vector of a term that a network begins with.
    pub fn embed(
        &self,
        at: usize,
        parameters: &[f32],
        is_left_out: impl Fn(TermPart) -> bool,
    ) -> TokenVector {
        let mut vector = [0.0; WIDTH];
        for (row, weight) in self.weighed_rows(at, is_left_out) {
            let values = &parameters[row..row + WIDTH];
            vector.iter_mut().zip(values).for_each(|(sum, it)| *sum += weight * it);
        }
        vector
    }

    /// Rows of parameters that make a term's vector, with their weights.
    pub fn weighed_rows(
        &self,
        at: usize,
        is_left_out: impl Fn(TermPart) -> bool,
    ) -> impl Iterator<Item = (usize, f32)> {
        let term = &self.terms[at];
        let features = term.features.iter().map(|it| (usize::from(*it), 1.0));
        let words: &[usize] = if is_left_out(TermPart::Word) { &[] } else { &term.words };
        let words = words.iter().map(|it| (INPUTS + it, 1.0));
        let meaning = term.meaning.as_ref().filter(|_| !is_left_out(TermPart::Meaning));
        let meaning = meaning.into_iter().flat_map(|it| it.numbers().iter().copied().enumerate());
        let meaning = meaning.map(|(number, weight)| (MEANING_AT + number, weight));
        let rows = features.chain(words).chain(meaning);
        rows.map(|(row, weight)| (INPUTS_AT + row * WIDTH, weight))
    }
}

/// Returns the words of a rule's terms that are no names, with the places of the terms: what a table
/// of words can be made of.
pub fn words_of(rule: &str) -> Vec<(Range<usize>, Vec<String>)> {
    let owned = |it: &RuleTerm<'_>| own_words(it).into_iter().map(str::to_owned).collect();
    split_terms(rule).iter().map(|it| (it.span.clone(), owned(it))).collect()
}

/// The word that a term is, and its translations; none of a name.
fn own_words<'a>(term: &'a RuleTerm<'_>) -> Vec<&'a str> {
    if is_name(term) {
        return Vec::new();
    }
    let mut words = vec![term.folded.as_str()];
    for word in &term.english {
        if !words.contains(word) {
            words.push(word);
        }
    }
    words
}

/// True for what has a name of its own, and counts by its kind.
fn is_name(term: &RuleTerm<'_>) -> bool {
    let is_program = || is_known_program(&term.folded) && term.is_unknown();
    term.is_code || term.is_flag() || term.path().is_some() || has_signs(term) || is_program()
}

/// True for a text with the signs of code.
fn has_signs(term: &RuleTerm<'_>) -> bool {
    term.text.is_ascii() && term.text.contains(['(', '_', '@', '=', ':', '#', '!', '$'])
}

/// Features of a term's form and place.
fn form_features(terms: &[RuleTerm<'_>], at: usize) -> [bool; FORMS] {
    let term = &terms[at];
    let text = term.text;
    let is_ascii = text.is_ascii();
    let begins = |sign: &[char]| text.starts_with(sign);
    let is_program = is_known_program(&term.folded);
    let is_path = term.path().is_some();
    let first_word = text.split(' ').next().unwrap_or_default();
    let (clause, sentence) =
        (range_around(terms, at, ClauseEnd::Clause), range_around(terms, at, ClauseEnd::Sentence));
    let negates = |it: &RuleTerm<'_>| it.negates;
    let before = terms[clause.start..at].iter().rev().position(negates);
    let is_behind = |far: usize| before == Some(far);
    let ends_before = at.checked_sub(1).map(|at| terms[at].ends);
    let names =
        terms[clause.clone()].iter().filter(|it| is_name(it) || is_known_program(&it.folded));
    [
        term.is_code,
        term.is_flag(),
        is_path,
        is_program,
        term.is_tool(),
        endings_of(&term.folded).is_some(),
        term.negates,
        term.ends == ClauseEnd::Clause,
        term.ends == ClauseEnd::Sentence,
        term.is_unknown() && is_ascii,
        term.is_code && is_known_program(first_word),
        has_signs(term),
        begins(&['.', '*']),
        text.starts_with(|c: char| c.is_ascii_uppercase()),
        at == 0,
        at + 1 == terms.len(),
        before.is_some(),
        is_behind(0),
        is_behind(1),
        is_behind(2),
        before.is_some_and(|far| far > 2),
        terms[at + 1..clause.end].iter().any(negates),
        terms[sentence.start..clause.start].iter().any(negates),
        terms[clause.end..sentence.end].iter().any(negates),
        at == clause.start,
        at + 1 == clause.end,
        terms.last().is_some_and(|it| it.ends != ClauseEnd::Nothing),
        text.contains('/'),
        text.trim_end_matches('.').contains('.'),
        text.contains('*'),
        text.contains(' '),
        text.starts_with("mcp"),
        text.chars().skip(1).any(char::is_uppercase),
        term.is_joint(),
        term.is_code && text.split(' ').any(|it| it.starts_with('-')),
        term.is_code && begins(&['-']),
        term.is_code && text.contains(['(', ')', ';', '=', '{', '<']),
        term.is_code && begins(&['@', '#', '/']),
        !is_ascii,
        terms.len() <= 4,
        !(is_program || term.is_code || term.is_flag() || is_path)
            && term.english.is_empty()
            && term.classes == WordClasses::NONE,
        ends_before == Some(ClauseEnd::Clause),
        ends_before == Some(ClauseEnd::Sentence),
        names.count() > 1,
    ]
}

/// Range of the terms around one up to such ends.
fn range_around(terms: &[RuleTerm<'_>], at: usize, end: ClauseEnd) -> Range<usize> {
    let ends = |it: &RuleTerm<'_>| it.ends >= end;
    let from = terms[..at].iter().rposition(ends).map_or(0, |it| it + 1);
    let to = terms[at..].iter().position(ends).map_or(terms.len(), |it| at + it + 1);
    from..to
}
