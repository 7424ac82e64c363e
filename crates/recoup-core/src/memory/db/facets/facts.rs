//! Topics of facts and locations: a subject and its attribute, without the value.

use crate::memory::db::facets::words::{TopicWord, WordPolarity};
use crate::memory::db::facets::{qualified_topic, remaining_words};
use crate::memory::lang::is_one_of;

/// Attributes of which a thing has one.
const ATTRIBUTES: &str = "base-url url endpoint host hostname domain timeout region bucket namespace \
cluster registry default-branch version email channel deadline";

/// Languages and runtimes that have versions.
const VERSIONED: &str = "python node go java ruby rust php dotnet kotlin swift deno react vue angular \
django rails postgres typescript";

/// Words around a fact that do not name its subject.
const AROUND: &str = "run listen listens live lives use server service app application environment env called \
named set exposed bound number expose serve served moved";

/// Verbs that put a thing somewhere.
const PUT: &str = "put place keep store save live lives go goes belong belongs stay sit";

const PLACES: &str = "in into under inside at to next beside below";

pub(super) fn fact_topic(words: &[TopicWord]) -> Option<String> {
    let is_asked = |word: &TopicWord| word.polarity == WordPolarity::Asked;
    // "Staging runs on port 8443."
    let number = single_word(words, TopicWord::is_number);
    let port = number.filter(|_| words.iter().any(|word| word.text == "port"));
    port.map(|number| topic_with_subject("port", words, &number.text))
        // To rule out one way chooses none.
        .or_else(|| method_topic(words).filter(|_| words.iter().all(is_asked)))
        .or_else(|| attribute_topic(words))
        .or_else(|| location_topic(words))
        .or_else(|| version_or_line_length_topic(words))
        .or_else(|| branch_name_topic(words))
}

/// Activities that a project does in one way.
const DONE: &str = "deploy release publish ship migration migrate";
/// Tools that they are done with.
const TOOLS: &str = "make npm pnpm yarn bun just task cargo docker docker-compose kubectl helm terraform gradle mvn fly rake";

/// "Deploy with `make ship`", "run migrations with just migrate".
fn method_topic(words: &[TopicWord]) -> Option<String> {
    let with = words.iter().position(|word| is_one_of(&word.text, "with using via"))?;
    let (front, behind) = words.split_at(with);
    behind.get(1).filter(|it| is_one_of(&it.text, TOOLS))?;
    front.iter().find(|it| is_one_of(&it.text, DONE))?;
    // Arguments belong to the value; time, place and purpose belong to the topic.
    let ends = |word: &&TopicWord| {
        !word.has_meaning || is_one_of(&word.text, "before after when during per")
    };
    let arguments = 1 + behind[2..].iter().take_while(|it| !ends(it)).count();
    let mut beyond = remaining_words(front, |word| word == "run");
    beyond.extend(remaining_words(&behind[1 + arguments..], |_| false));
    Some(qualified_topic("way", &beyond))
}

fn single_word(words: &[TopicWord], is_it: impl Fn(&TopicWord) -> bool) -> Option<&TopicWord> {
    let mut found = words.iter().filter(|word| is_it(word));
    found.next().filter(|_| found.next().is_none())
}

/// Returns the topic of a fact: its name, and the words that are not its own as the subject.
/// Without any, a general word is the subject ("the server runs on …"), or the project is.
fn topic_with_subject(name: &str, words: &[TopicWord], value: &str) -> String {
    let own = |word: &str| word == name || word == value || is_one_of(word, AROUND);
    let mut beyond = remaining_words(words, own);
    if beyond.is_empty() {
        let general =
            words.iter().find(|word| is_one_of(&word.text, "server service app application"));
        beyond.extend(general.map(|word| word.text.as_str()));
    }
    qualified_topic(name, &beyond)
}

/// "The base URL of the API is https://…": one attribute, and a value behind `is`.
fn attribute_topic(words: &[TopicWord]) -> Option<String> {
    let name = single_word(words, |word| is_one_of(&word.text, ATTRIBUTES))?;
    let is = words
        .iter()
        .position(|word| matches!(word.text.as_str(), "is" | "are" | "use" | "=" | "called"))?;
    let behind = words.get(is + 1..)?;
    // A location is no value.
    if behind.first().is_some_and(|word| is_one_of(&word.text, "in at by from on behind")) {
        return None;
    }
    let mut values = behind.iter().filter(|word| {
        word.has_meaning && word.text != name.text && !is_one_of(&word.text, AROUND)
    });
    let value = values.next()?;
    // More than one value: it says something else.
    let subject_first = words[..is].iter().any(|word| word.text == name.text);
    (values.next().is_none() && subject_first)
        .then(|| topic_with_subject(&name.text, words, &value.text))
}

/// "Put tests in `__tests__/`", "tests go under tests/".
fn location_topic(words: &[TopicWord]) -> Option<String> {
    let verb = words.iter().position(|word| is_one_of(&word.text, PUT))?;
    let found = words[verb..].iter().position(|word| is_one_of(&word.text, PLACES))?;
    let at = verb + found;
    let (front, behind) = words.split_at(at);
    let object = remaining_words(front, |word| is_one_of(word, PUT));
    // Things are also kept or stored in a form, a language or a unit.
    let needs_path = is_one_of(&words[verb].text, "keep store save stay sit");
    // The location itself is a path, the end of the statement, or beside something.
    let first = behind.iter().position(|word| word.has_meaning && !is_one_of(&word.text, PLACES));
    let beyond = if let Some(first) = first {
        let is_room = |word: &str| is_one_of(word, "folder directory");
        let beyond = remaining_words(&behind[first + 1..], is_room);
        let is_path = behind[first].text.contains(['/', '.', '_']);
        (is_path || (beyond.is_empty() && !needs_path)).then_some(beyond)?
    } else {
        is_one_of(&behind.first()?.text, "next beside").then(Vec::new)?
    };
    if object.is_empty() {
        return None;
    }
    Some(qualified_topic(&format!("place:{}", object.join(" ")), &beyond))
}

/// "Use Python 3.12", "keep the line length at 100", "wrap lines at 80".
fn version_or_line_length_topic(words: &[TopicWord]) -> Option<String> {
    let number = single_word(words, TopicWord::is_number)?;
    let at = words.iter().position(|word| std::ptr::eq(word, number))?;
    let name = words[..at].iter().rev().find(|word| word.has_meaning && word.text != "version");
    if let Some(name) = name.filter(|name| is_one_of(&name.text, VERSIONED)) {
        let own = |word: &str| {
            word == name.text || word == number.text || is_one_of(word, "version or newer later")
        };
        return Some(qualified_topic(
            &format!("version:{}", name.text),
            &remaining_words(words, own),
        ));
    }
    words.iter().any(|word| word.text == "line-length").then_some(())?;
    let own = |word: &str| {
        word == number.text
            || is_one_of(
                word,
                "line-length max maximum limit keep wrap column character char set under most break",
            )
    };
    Some(qualified_topic("line-length", &remaining_words(words, own)))
}

/// "Name branches feature/…": the branches belong to the topic, their names do not.
fn branch_name_topic(words: &[TopicWord]) -> Option<String> {
    let branch =
        words.iter().position(|word| matches!(word.text.as_str(), "branch" | "branche"))?;
    let verb = words.iter().position(|word| is_one_of(&word.text, "name naming prefix"))?;
    (verb.abs_diff(branch) <= 2).then_some(())?;
    let before = branch.checked_sub(1).map(|at| words[at].text.as_str());
    let which = before.filter(|word| is_one_of(word, "release feature hotfix bugfix experimental"));
    Some(qualified_topic("branch-names", &which.into_iter().collect::<Vec<_>>()))
}
