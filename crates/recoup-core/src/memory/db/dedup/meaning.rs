//! Normal form of a statement: equal for two that say the same in other words, and never equal for
//! two that differ in a number, a path, a name or an identifier.
//!
//! A statement is split into phrases: what is to be done, and when, where and with what. The order
//! of words within a phrase stays ("the client calls the server"); phrases are sorted if that can't
//! change what belongs to what:
//!
//! ```text
//! Always run `make lint` before you push.      run `make` `lint` | before push
//! before pushing, run `make lint`              run `make` `lint` | before push
//! ```

use std::borrow::Cow;

use crate::memory::lang::forms::WordStemmer;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::tokenizer::WordSort;

/// A word of a statement.
struct MeaningWord {
    text: String,
    /// True for a number, a path, an option, an identifier or a name, which is compared as written.
    is_name: bool,
    /// True if punctuation behind it ends its phrase.
    is_last: bool,
}

/// Returns the normal form of a statement; none if its words say too little to be compared.
pub(crate) fn normal_form(statement: &str) -> Option<String> {
    let phrases = phrases(&words(statement));
    let content: usize = phrases.iter().map(|phrase| phrase.words.len()).sum();
    if content == 0 {
        return None;
    }
    let mut written: Vec<String> = phrases.iter().map(MeaningPhrase::written).collect();
    // They may be sorted if all but one say how, or if there are two of which one is negated.
    let says_how = |it: &&MeaningPhrase| {
        it.head.as_deref().is_some_and(|it| is_in(WordClasses::PREPOSITION, it))
    };
    let done = phrases.len() - phrases.iter().filter(says_how).count();
    let denied = phrases.iter().filter(|phrase| phrase.is_denied).count();
    let plain = phrases.iter().all(|phrase| phrase.head.is_none());
    if done <= 1 || (phrases.len() == 2 && denied == 1 && plain) {
        written.sort();
    }
    Some(written.join("\n"))
}

/// A phrase of a statement, and the word that introduces it.
#[derive(Default, PartialEq, Eq)]
struct MeaningPhrase {
    head: Option<String>,
    is_denied: bool,
    words: Vec<String>,
}

impl MeaningPhrase {
    fn written(&self) -> String {
        let denied = if self.is_denied { "NOT " } else { "" };
        format!("{denied}{}:{}", self.head.as_deref().unwrap_or_default(), self.words.join(" "))
    }
}

/// Splits words into phrases. A head or a negation without words behind it still means something.
fn phrases(words: &[MeaningWord]) -> Vec<MeaningPhrase> {
    let (mut all, mut open) = (Vec::new(), MeaningPhrase::default());
    let mut end = |open: &mut MeaningPhrase| {
        let ended = std::mem::take(open);
        if ended != MeaningPhrase::default() {
            all.push(ended);
        }
    };
    let stemmer = WordStemmer::default();
    for MeaningWord { text, is_name, is_last } in words {
        if is_negation(text) {
            // Each negation stays where it is: "don't … without …" is no double one.
            end(&mut open);
            open.is_denied = true;
        } else if is_in(WordClasses::PREPOSITION.or(WordClasses::JOINT), text) {
            end(&mut open);
            open.head = Some(text.clone());
        } else if !is_in(WordClasses::FILLER, text) {
            let stem = stemmer.stem(text, WordSort::Plain).filter(|_| !is_name);
            open.words.push(stem.map_or_else(|| text.clone(), Cow::into_owned));
        }
        if *is_last {
            end(&mut open);
        }
    }
    end(&mut open);
    all
}

fn words(statement: &str) -> Vec<MeaningWord> {
    let text = statement.replace(['\u{2019}', '\u{2018}'], "'");
    let mut words: Vec<MeaningWord> = Vec::new();
    let (mut is_code, mut is_first) = (false, true);
    for raw in text.split_whitespace() {
        let quoted = is_code || raw.contains('`');
        is_code ^= raw.matches('`').count() % 2 == 1;
        let bare = raw.trim_matches(|c: char| ",;:!?()[]\"'`".contains(c));
        let bare = bare.trim_end_matches('.').trim_matches('`');
        let is_last = !is_code && raw.ends_with([',', ';', ':', '.', '!', '?', ')']);
        if bare.is_empty() {
            words.iter_mut().last().into_iter().for_each(|word| word.is_last |= is_last);
            continue;
        }
        let is_exact = quoted
            || bare.chars().any(|c| !c.is_alphabetic() && c != '\'')
            || bare.chars().skip(1).any(char::is_uppercase);
        let text = if is_exact { format!("`{bare}`") } else { bare.to_lowercase() };
        let is_name = is_exact || (!is_first && bare.starts_with(char::is_uppercase));
        words.push(MeaningWord { text, is_name, is_last });
        is_first = raw.ends_with(['.', '!', '?', ':']);
    }
    unify(&mut words);
    words
}

/// Replaces words and phrases by those of equal meaning that stand for them.
fn unify(words: &mut Vec<MeaningWord>) {
    let phrases = lexicon::SAME_PHRASES.split('\n').filter_map(|line| line.split_once('='));
    for (same, written) in phrases.flat_map(|(same, all)| all.split('|').map(move |it| (same, it)))
    {
        let length = written.split(' ').count();
        let is_written =
            |some: &[MeaningWord]| some.iter().map(|it| &*it.text).eq(written.split(' '));
        while let Some(at) = words.windows(length).position(is_written) {
            let is_last = words[at + length - 1].is_last;
            let same = MeaningWord { text: same.to_owned(), is_name: false, is_last };
            words.splice(at..at + length, [same]);
        }
    }
    for word in words.iter_mut().filter(|it| !it.is_name) {
        let mut groups = lexicon::SAME_WORDS.split('\n').filter_map(|line| line.split_once(' '));
        let same = groups.find(|(_, others)| others.split(' ').any(|it| it == word.text));
        if let Some((same, _)) = same {
            same.clone_into(&mut word.text);
        }
    }
}

/// True for a negation; "without" begins a phrase instead.
fn is_negation(word: &str) -> bool {
    is_in(WordClasses::NEGATION, word) && !is_in(WordClasses::PREPOSITION, word)
}

fn is_in(classes: WordClasses, word: &str) -> bool {
    lexicon::is_in(word, classes)
}
