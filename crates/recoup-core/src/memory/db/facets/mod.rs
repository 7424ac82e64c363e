//! Topic of a statement, from its words alone. Of two statements on one topic the newer counts, so
//! two that are about different things must never share one; to miss that two belong together is
//! the smaller fault.
//!
//! ```text
//! package-manager            use pnpm · we use yarn here · use npm, not pnpm
//! indentation:go             use tabs in Go
//! port:staging               staging runs on port 8443
//! place:test                 put tests in `__tests__/`
//! way:deploy                 deploy with `make ship`
//! choice:const|let           use const, not let
//! say:use var                use var · don't ever use var
//! ```
//!
//! Words beyond a topic's own are part of the topic: "in Go", "for the web package". So a rule for
//! one thing leaves another's alone.

mod conflict;
mod facet;
mod facts;
mod terms;
mod words;

use crate::memory::lang::families::{FAMILIES, ValueFamily};
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::{ClauseEnd, Token, tokenize_text};
use words::{TopicWord, WordPolarity};

pub(crate) use conflict::is_same_word;
pub(crate) use facet::{Facet, WordBeginnings};

/// Maximum bytes of a topic; longer statements are prose.
const LONGEST: usize = 160;

/// Returns the topic of a statement, or `None` if its words do not tell.
pub fn derive_topic(statement: &str) -> Option<String> {
    topic_from_words(&words::statement_words(statement))
}

fn topic_from_words(words: &[TopicWord]) -> Option<String> {
    // A choice within a family.
    let family = || {
        let (family, named) = named_family(words)?;
        // Among many values, ruling out one chooses none.
        let chooses = named.iter().any(|word| word.polarity == WordPolarity::Asked);
        // "Use A rather than B", where B is of no family: that is a choice of its own.
        let is_own_choice = words.iter().any(|it| it.is_compared) && named.len() == 1;
        (family.is_either_or || (chooses && !is_own_choice))
            .then(|| format_family_topic(family, words))
    };
    // "Use A, not B" does not depend on the one that is chosen.
    let choice = || {
        let at = words.iter().position(|word| word.is_compared)?;
        let chosen = words[..at].iter().rev().find(|word| word.has_meaning)?;
        let other = words[at..].iter().find(|word| word.has_meaning)?;
        Some(format_choice_topic([&chosen.text, &other.text], words))
    };
    let found =
        facts::fact_topic(words).or_else(family).or_else(choice).or_else(|| word_topic(words))?;
    (found.len() <= LONGEST).then_some(found)
}

/// True if `newer` replaces `older`: both are on one topic, or one asks for exactly what the other
/// rules out. "Never use yarn" does not contradict "use pnpm", so the two share no topic, but it
/// ends "use yarn".
pub fn overturns(newer: &str, older: &str) -> bool {
    let (new, old) = (words::statement_words(newer), words::statement_words(older));
    let same_topic = topic_from_words(&new).is_some_and(|it| Some(it) == topic_from_words(&old));
    let same_words = word_topic(&new).is_some_and(|it| Some(it) == word_topic(&old));
    same_topic || same_words || Facet::of(newer).ends(&Facet::of(older))
}

/// True if two statements on one topic say the same: neither opposes the other, and both give the
/// same values.
pub(crate) fn restates(one: &str, other: &str) -> bool {
    !is_opposed(one, other) && Facet::of(one).has_same_values(&Facet::of(other))
}

/// Returns the topic by words alone, whether asked for or ruled out: two statements that share it
/// are the same, or opposites.
pub(crate) fn topic_by_words(statement: &str) -> Option<String> {
    word_topic(&words::statement_words(statement))
}

/// True if one of two statements asks for a thing that the other rules out.
pub(crate) fn is_opposed(one: &str, other: &str) -> bool {
    let (one, other) = (words::statement_words(one), words::statement_words(other));
    let opposes = |a: &TopicWord, b: &TopicWord| {
        a.has_meaning && a.text == b.text && a.text != "use" && a.polarity != b.polarity
    };
    one.iter().any(|a| other.iter().any(|b| opposes(a, b)))
}

/// True if both statements name a value of one family, such as two package managers.
pub(crate) fn shares_family(one: &str, other: &str) -> bool {
    let (one, other) = (words::statement_words(one), words::statement_words(other));
    let names = |words: &[TopicWord], family: &ValueFamily| {
        words.iter().any(|it| family.has_value(&it.text))
    };
    FAMILIES.iter().any(|family| names(&one, family) && names(&other, family))
}

/// Words that tell what a text is about, without words of change.
pub(crate) fn telling_words(text: &str) -> Vec<String> {
    Facet::of(text).words().cloned().collect()
}

/// Telling words of each thing that a text names: "two approvals, and the ticket number".
pub(crate) fn named_things(text: &str) -> Vec<Vec<String>> {
    let tokens = tokenize_text(text);
    let is_end =
        |token: &Token<'_>| token.ends >= ClauseEnd::Clause || token.is(WordClasses::LIST_JOINT);
    let parts = tokens.split_inclusive(is_end).filter_map(|part| {
        let span = part.first()?.start..part.last()?.span().end;
        Some(telling_words(&text[span]))
    });
    parts.filter(|words| !words.is_empty()).collect()
}

/// Words of a text, folded, with other names of one thing unified.
pub(crate) fn unified_words(text: &str) -> Vec<String> {
    let tokens = tokenize_text(text);
    let terms = terms::split_terms(text, &tokens);
    let unify = |term: &terms::Term<'_>| terms::unify(lexicon::SAME_THINGS, &term.folded);
    terms
        .iter()
        .map(|term| unify(term).map_or_else(|| term.folded.clone(), str::to_owned))
        .collect()
}

/// Words that only say that something is done, or that somebody is asked.
const DOING: &str = " run execute call invoke command branch directly asking ask permission approval \
yourself manually anymore ";

/// True if a rule is against a command: it rules out what the command does, or asks for another
/// value of the same family.
pub(crate) fn forbids(rule: &str, command: &str) -> bool {
    let (rule, done) = (words::statement_words(rule), words::command_words(command));
    let does = |word: &&TopicWord| done.contains(&word.text);
    let says = |word: &&TopicWord| {
        let text = word.text.as_str();
        word.has_meaning && text != "use" && !DOING.split_whitespace().any(|it| it == text)
    };
    let mut ruled_out =
        rule.iter().filter(|it| it.polarity == WordPolarity::RuledOut).filter(says).peekable();
    if ruled_out.peek().is_some() && ruled_out.all(|word| does(&word)) {
        return true;
    }
    named_family(&rule).is_some_and(|(family, named)| {
        let mut asked = named.iter().filter(|it| it.polarity == WordPolarity::Asked).peekable();
        asked.peek().is_some() && !asked.any(does) && done.iter().any(|word| family.has_value(word))
    })
}

/// Returns the one family that all named values are of, and these values.
fn named_family(words: &[TopicWord]) -> Option<(&'static ValueFamily, Vec<&TopicWord>)> {
    let is_value = |word: &&TopicWord| FAMILIES.iter().any(|it| it.has_value(&word.text));
    let named: Vec<&TopicWord> = words.iter().filter(is_value).collect();
    let all_of = |family: &&ValueFamily| named.iter().all(|word| family.has_value(&word.text));
    let mut families = FAMILIES.iter().filter(all_of);
    let (family, None) = (families.next().filter(|_| !named.is_empty())?, families.next()) else {
        return None;
    };
    Some((family, named))
}

fn format_family_topic(family: &ValueFamily, words: &[TopicWord]) -> String {
    let beyond =
        remaining_words(words, |word| family.has_value(word) || family.is_topic_word(word));
    qualified_topic(family.name, &beyond)
}

fn format_choice_topic(mut both: [&str; 2], words: &[TopicWord]) -> String {
    both.sort_unstable();
    let beyond = remaining_words(words, |word| both.contains(&word));
    qualified_topic(&format!("choice:{}|{}", both[0], both[1]), &beyond)
}

/// Returns the topic of all meaningful words in order, whether asked for or ruled out.
fn word_topic(words: &[TopicWord]) -> Option<String> {
    let said: Vec<&str> = meaningful_words(words).collect();
    let few = !said.is_empty() && said.len() <= 8;
    few.then(|| format!("say:{}", said.join(" ")))
}

/// Returns the meaningful words. "Use" is understood: `no default exports`.
fn meaningful_words(words: &[TopicWord]) -> impl Iterator<Item = &str> {
    let meaning = words.iter().filter(|word| word.has_meaning && word.text != "use");
    meaning.map(|word| word.text.as_str())
}

/// Returns the words beyond a topic's own, sorted.
fn remaining_words(words: &[TopicWord], is_own: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut beyond: Vec<&str> = meaningful_words(words).filter(|word| !is_own(word)).collect();
    beyond.sort_unstable();
    beyond.dedup();
    beyond
}

fn qualified_topic(name: &str, beyond: &[&str]) -> String {
    if beyond.is_empty() { name.to_owned() } else { format!("{name}:{}", beyond.join(" ")) }
}
