//! Words of a statement: in lower case and singular, with synonyms unified, each asked for or ruled
//! out.

use crate::memory::db::facets::terms::unify;
use crate::memory::lang::families::FAMILIES;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon;

/// A word of a statement.
#[derive(Debug)]
pub(super) struct TopicWord {
    pub(super) text: String,
    pub(super) polarity: WordPolarity,
    /// The first behind "instead of", "rather than", or a "not" in the middle.
    pub(super) is_compared: bool,
    /// True if it tells what the statement is about.
    pub(super) has_meaning: bool,
}

/// Attitude of a statement to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordPolarity {
    Asked,
    RuledOut,
}

/// Words that do not change the topic.
const SMALL: &str = " a an the we i you they our your my us it its this that these those here there \
please always ever should must will shall can to of in on at by for with from as and or be is are was am do does \
have has want wants wanted like now only just all every everywhere everything project repo repository \
codebase code file files also so then prefer preferred again actually really let's lets ok okay yes than \
when if rather instead going forward onwards dont doesnt not never no avoid stop without over me s t ";

/// Words that rule out those behind them.
const NEGATIONS: &str = " not never no dont avoid stop without nicht nie ";

/// Splits a statement into words.
pub(super) fn statement_words(statement: &str) -> Vec<TopicWord> {
    let text = statement.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'");
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (same, written) in lexicon::TOPIC_PHRASES.lines().filter_map(|it| it.split_once('=')) {
        for written in written.split('|') {
            text = replace_words(text, written, same);
        }
    }
    let mut words: Vec<TopicWord> = Vec::new();
    let (mut ruled_out, mut compared) = (false, false);
    for raw in text.split(' ') {
        let word = raw.trim_matches(|c: char| !(c.is_alphanumeric() || "_./@#$-".contains(c)));
        let word = word.trim_end_matches('.').trim_matches('`');
        if word.is_empty() {
            continue;
        }
        let comparing = word == "insteadof"
            || ((word == "not" || word == "over")
                && words.iter().any(|it| it.has_meaning && it.text != "use")
                && is_comparison(&words));
        if comparing {
            (ruled_out, compared) = (true, true);
        } else if is_one_of(word, NEGATIONS) {
            ruled_out = true;
        } else {
            let begins_anew = matches!(word, "use" | "prefer" | "but" | "switch")
                && !words
                    .last()
                    .is_some_and(|it| is_one_of(&it.text, NEGATIONS) || it.text == "ever");
            if begins_anew {
                ruled_out = false;
            }
        }
        let text = if comparing { "not".to_owned() } else { normalise_word(word) };
        let polarity = if ruled_out { WordPolarity::RuledOut } else { WordPolarity::Asked };
        let ends_phrase = raw.ends_with([',', ';', '.', '!', ':', '\u{2014}']);
        let has_meaning = !is_one_of(&text, SMALL);
        let is_compared = compared && has_meaning;
        compared &= !has_meaning;
        words.push(TopicWord { text, polarity, is_compared, has_meaning });
        if ends_phrase {
            ruled_out = false;
        }
    }
    words
}

/// Splits a command line into words as a statement would have them, the program first.
pub(super) fn command_words(line: &str) -> Vec<String> {
    let parts = line.split(|c: char| !(c.is_alphanumeric() || "_./@".contains(c)));
    let parts = parts.map(|part| part.trim_matches('.').to_lowercase());
    parts.filter(|part| !part.is_empty()).map(|part| normalise_word(&part)).collect()
}

/// Replaces whole words only: there is a "do not" in "do nothing".
fn replace_words(text: String, written: &str, same: &str) -> String {
    if !text.contains(written) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(written) {
        let (before, behind) = (&rest[..at], &rest[at + written.len()..]);
        let parted = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let is_whole = parted(before.chars().next_back()) && parted(behind.chars().next());
        out.push_str(before);
        out.push_str(if is_whole { same } else { written });
        rest = behind;
    }
    out + rest
}

/// True for "prefer A over B" and "use A, not B"; "A is not B" compares nothing.
fn is_comparison(words: &[TopicWord]) -> bool {
    let verb =
        words.iter().any(|it| matches!(it.text.as_str(), "use" | "prefer" | "write" | "choose"));
    let denies =
        words.last().is_some_and(|it| matches!(it.text.as_str(), "is" | "are" | "do" | "be"));
    verb && !denies
}

fn normalise_word(word: &str) -> String {
    if let Some(same) = unify(lexicon::TOPIC_WORDS, word) {
        return same.to_owned();
    }
    let kept = FAMILIES.iter().any(|family| family.has_value(word))
        || word == "kubernetes"
        || word.contains(['/', '.', '_', '-'])
        || ["ss", "us", "is", "js"].iter().any(|end| word.ends_with(end));
    match word.strip_suffix('s') {
        Some(one) if !kept && one.len() >= 3 && !is_one_of(word, SMALL) => one.to_owned(),
        _ => word.to_owned(),
    }
}

impl TopicWord {
    /// True for a number, also with a `v` in front and dots in it.
    pub(super) fn is_number(&self) -> bool {
        let digits = self.text.trim_start_matches('v').trim_end_matches('+').trim_end_matches(".x");
        let spelt = " one two three four six eight ";
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
            || is_one_of(&self.text, spelt)
    }
}
