//! Families of values, of which a project has one, as a rule: package managers, quotes, databases.
//! They are the lines of `families.txt`.

use std::sync::LazyLock;

use crate::memory::lang::is_one_of;

/// Alternatives of which one is chosen.
#[derive(Debug)]
pub(crate) struct ValueFamily {
    pub(crate) name: &'static str,
    /// Values to choose from.
    values: Vec<&'static str>,
    /// Words that belong to the topic and add nothing to it.
    own: &'static str,
    /// True if ruling out one value chooses the other.
    pub(crate) is_either_or: bool,
}

impl ValueFamily {
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().copied()
    }

    pub(crate) fn has_value(&self, word: &str) -> bool {
        self.values.contains(&word)
    }

    /// True if a word adds nothing to the topic. Numbers belong to indentation: two spaces, four
    /// spaces.
    pub(crate) fn is_topic_word(&self, word: &str) -> bool {
        let number = word.bytes().all(|b| b.is_ascii_digit())
            || matches!(word, "two" | "three" | "four" | "eight");
        is_one_of(word, self.own) || (self.name == "indentation" && number)
    }
}

/// All families.
pub(crate) static FAMILIES: LazyLock<Vec<ValueFamily>> = LazyLock::new(|| {
    let lines = include_str!("families.txt").lines().filter(|line| !line.starts_with('#'));
    let families = lines.filter_map(|line| {
        let (name, words) = line.split_once(": ")?;
        let (values, own) = words.split_once(" | ").unwrap_or((words, ""));
        let is_either_or = name.ends_with('!');
        let (name, values) = (name.trim_end_matches('!'), values.split(' ').collect());
        Some(ValueFamily { name, values, own, is_either_or })
    });
    families.collect()
});
