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

mod facts;
mod families;
mod words;

use families::{FAMILIES, Family};
use words::{Polarity, Word};

/// Maximum bytes of a topic; longer statements are prose.
const LONGEST: usize = 160;

/// Returns the topic of a statement, or `None` if its words do not tell.
pub fn topic(statement: &str) -> Option<String> {
    of(&words::of(statement))
}

fn of(words: &[Word]) -> Option<String> {
    let found = facts::topic(words)
        .or_else(|| of_family(words))
        .or_else(|| of_choice(words))
        .or_else(|| of_words(words))?;
    (found.len() <= LONGEST).then_some(found)
}

/// True if `newer` replaces `older`: both are on one topic, or one asks for exactly what the other
/// rules out. "Never use yarn" does not contradict "use pnpm", so the two share no topic, but it
/// ends "use yarn".
pub fn overturns(newer: &str, older: &str) -> bool {
    let (new, old) = (words::of(newer), words::of(older));
    let same_topic = of(&new).is_some_and(|it| Some(it) == of(&old));
    let same_words = of_words(&new).is_some_and(|it| Some(it) == of_words(&old));
    same_topic || same_words
}

/// Returns the index keys of a statement. If one of two statements [`overturns`] the other, they
/// share one of these, whichever is newer.
pub(in crate::memory) fn subjects(statement: &str) -> [Option<String>; 2] {
    let words = words::of(statement);
    let derived = of(&words).map(|topic| format!("derived {topic}"));
    [derived, of_words(&words).map(|said| format!("words {said}"))]
}

/// Returns every topic that a statement with these words may have, whatever it asks for or rules
/// out: a statement that it overturns has one of these. Other facts have only their own topic.
pub fn around(statement: &str) -> Vec<String> {
    let words = words::of(statement);
    let (family, _) = family(&words).unzip();
    let mut topics: Vec<String> = of(&words).into_iter().collect();
    topics.extend(of_words(&words));
    topics.extend(facts::way(&words));
    topics.extend(family.map(|family| in_family(family, &words)));
    let said: Vec<&str> = meant(&words).collect();
    topics.extend(said.windows(2).map(|pair| choice([pair[0], pair[1]], &words)));
    topics.sort_unstable();
    topics.dedup();
    topics
}

/// Returns the topic by words alone, whether asked for or ruled out: two statements that share it
/// are the same, or opposites.
pub(in crate::memory) fn by_words(statement: &str) -> Option<String> {
    of_words(&words::of(statement))
}

/// True if one of two statements asks for a thing that the other rules out.
pub(in crate::memory) fn is_opposed(one: &str, other: &str) -> bool {
    let (one, other) = (words::of(one), words::of(other));
    let opposes = |a: &Word, b: &Word| {
        a.has_meaning && a.text == b.text && a.text != "use" && a.polarity != b.polarity
    };
    one.iter().any(|a| other.iter().any(|b| opposes(a, b)))
}

/// True if both statements name a value of one family, such as two package managers.
pub(in crate::memory) fn shares_family(one: &str, other: &str) -> bool {
    let (one, other) = (words::of(one), words::of(other));
    let names = |words: &[Word], family: &Family| words.iter().any(|it| family.has(&it.text));
    FAMILIES.iter().any(|family| names(&one, family) && names(&other, family))
}

/// Words that only say that something is done, or that somebody is asked.
const DOING: &str = " run execute call invoke command branch directly asking ask permission approval \
yourself manually anymore ";

/// True if a rule is against a command: it rules out what the command does, or asks for another
/// value of the same family.
pub(in crate::memory) fn forbids(rule: &str, command: &str) -> bool {
    let (rule, done) = (words::of(rule), words::of_command(command));
    let does = |word: &&Word| done.contains(&word.text);
    let says = |word: &&Word| {
        let text = word.text.as_str();
        word.has_meaning && text != "use" && !DOING.split_whitespace().any(|it| it == text)
    };
    let mut ruled_out =
        rule.iter().filter(|it| it.polarity == Polarity::RuledOut).filter(says).peekable();
    if ruled_out.peek().is_some() && ruled_out.all(|word| does(&word)) {
        return true;
    }
    family(&rule).is_some_and(|(family, named)| {
        let mut asked = named.iter().filter(|it| it.polarity == Polarity::Asked).peekable();
        asked.peek().is_some() && !asked.any(does) && done.iter().any(|word| family.has(word))
    })
}

/// Returns the topic of a choice within a family.
fn of_family(words: &[Word]) -> Option<String> {
    let (family, named) = family(words)?;
    // Among many values, ruling out one chooses none.
    let chooses = named.iter().any(|word| word.polarity == Polarity::Asked);
    if !chooses && !family.is_either_or {
        return None;
    }
    // "Use A rather than B", where B is of no family: that is a choice of its own.
    if words.iter().any(|it| it.is_compared) && named.len() == 1 && !family.is_either_or {
        return None;
    }
    Some(in_family(family, words))
}

/// Returns the one family that all named values are of, and these values.
fn family(words: &[Word]) -> Option<(&'static Family, Vec<&Word>)> {
    let is_value = |word: &&Word| FAMILIES.iter().any(|it| it.has(&word.text));
    let named: Vec<&Word> = words.iter().filter(is_value).collect();
    let all_of = |family: &&Family| named.iter().all(|word| family.has(&word.text));
    let mut families = FAMILIES.iter().filter(all_of);
    let (family, None) = (families.next().filter(|_| !named.is_empty())?, families.next()) else {
        return None;
    };
    Some((family, named))
}

fn in_family(family: &Family, words: &[Word]) -> String {
    let beyond = rest(words, |word| family.has(word) || family.owns(word));
    with_rest(family.name, &beyond)
}

/// Returns the topic of "use A, not B", which does not depend on the one that is chosen.
fn of_choice(words: &[Word]) -> Option<String> {
    let at = words.iter().position(|word| word.is_compared)?;
    let meaning = |word: &&Word| word.has_meaning;
    let chosen = words[..at].iter().rev().find(meaning)?;
    let other = words[at..].iter().find(meaning)?;
    Some(choice([&chosen.text, &other.text], words))
}

fn choice(mut both: [&str; 2], words: &[Word]) -> String {
    both.sort_unstable();
    let beyond = rest(words, |word| both.contains(&word));
    with_rest(&format!("choice:{}|{}", both[0], both[1]), &beyond)
}

/// Returns the topic of all meaningful words in order, whether asked for or ruled out.
fn of_words(words: &[Word]) -> Option<String> {
    let said: Vec<&str> = meant(words).collect();
    let few = !said.is_empty() && said.len() <= 8;
    few.then(|| format!("say:{}", said.join(" ")))
}

/// Returns the meaningful words. "Use" is understood: `no default exports`.
fn meant(words: &[Word]) -> impl Iterator<Item = &str> {
    let meaning = words.iter().filter(|word| word.has_meaning && word.text != "use");
    meaning.map(|word| word.text.as_str())
}

/// Returns the words beyond a topic's own, sorted.
fn rest(words: &[Word], is_own: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut beyond: Vec<&str> = meant(words).filter(|word| !is_own(word)).collect();
    beyond.sort_unstable();
    beyond.dedup();
    beyond
}

fn with_rest(name: &str, beyond: &[&str]) -> String {
    if beyond.is_empty() { name.to_owned() } else { format!("{name}:{}", beyond.join(" ")) }
}
