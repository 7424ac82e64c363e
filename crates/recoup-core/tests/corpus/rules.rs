//! Marked rules and patterns of them: `xtask/corpora/checks/training`, whose README describes the marks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use recoup_core::memory::checks::role_input::{RuleInput, WordTable, words_of};
use recoup_core::memory::checks::roles::ROLES;

use super::prompts::numbers::NumberSource;

/// Probability that a mark gets the words of another mark of its kind.
const SWAPPED: f32 = 0.6;
/// Probability that something else is said before or after a rule.
const JOINED: f32 = 0.3;
/// Least number of rules in which a word stands that the networks know by itself.
const LEAST_RULES: usize = 2;
/// Roles whose words are no names.
const WORDED: &str = "if purpose in except existing create install";

/// A rule whose words are marked with their roles.
#[derive(Debug, Clone)]
pub(crate) struct MarkedRule {
    pub(crate) text: String,
    /// Words and the number of their role.
    pub(crate) marks: Vec<(Range<usize>, usize)>,
}

/// A rule as the networks take it, and the role of each term.
pub(crate) struct RuleLesson {
    pub(crate) input: RuleInput,
    pub(crate) roles: Vec<usize>,
}

/// Names of the files of marked rules. Those of `working` are the rules of `working.jsonl`, in the
/// same order.
pub(crate) const FILES: [&str; 11] = ["a", "b", "c", "f", "g", "j", "k", "d", "e", "h", "working"];

fn read(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/checks/training");
    std::fs::read_to_string(folder.join(name).with_extension("txt")).expect("a file of rules")
}

/// Marked rules of a file.
pub(crate) fn load(name: &str) -> Vec<MarkedRule> {
    let text = read(name);
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines.map(|line| parse(line).unwrap_or_else(|| panic!("not a marked rule: {line}"))).collect()
}

/// Returns the words that the networks know by themselves: those around the names of the rules.
pub(crate) fn word_table(rules: &[MarkedRule]) -> Vec<u8> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for rule in rules {
        for (span, words) in words_of(&rule.text) {
            let role = rule.role_at(&span).unwrap_or(0);
            if role == 0 || WORDED.split(' ').any(|it| it == ROLES[role].0) {
                for word in words {
                    *counts.entry(word).or_default() += 1;
                }
            }
        }
    }
    let known = counts.iter().filter(|it| *it.1 >= LEAST_RULES);
    WordTable::compile(known.map(|it| it.0.as_str()))
}

/// Patterns of rules: `{a|b}` is one of both, and a name in capitals is a word of its list.
pub(crate) struct RulePatterns {
    lists: Vec<(String, Vec<String>)>,
    patterns: Vec<String>,
}

impl RulePatterns {
    pub(crate) fn load() -> Self {
        let (mut lists, mut patterns) = (Vec::new(), Vec::new());
        for line in read("patterns").lines().filter(|it| !it.is_empty() && !it.starts_with("# ")) {
            match line.split_once(" = ") {
                Some((name, values)) if name.chars().all(|c| c.is_ascii_uppercase()) => {
                    lists.push((name.to_owned(), values.split('|').map(str::to_owned).collect()));
                }
                _ => patterns.push(line.to_owned()),
            }
        }
        // `CODED` is not `CODE` and a letter.
        lists.sort_by_key(|it: &(String, _)| std::cmp::Reverse(it.0.len()));
        Self { lists, patterns }
    }

    pub(crate) fn count(&self) -> usize {
        self.patterns.len()
    }

    /// Returns a rule of a pattern.
    pub(crate) fn expand(&self, at: usize, numbers: &mut NumberSource) -> MarkedRule {
        let mut line = self.patterns[at].clone();
        while let Some((close, open)) =
            line.find('}').and_then(|close| Some((close, line[..close].rfind('{')?)))
        {
            let choices: Vec<&str> = line[open + 1..close].split('|').collect();
            let choice = (*numbers.pick(&choices[..])).to_owned();
            line.replace_range(open..=close, &choice);
        }
        let (mut text, mut rest) = (String::new(), &line[..]);
        while let Some(first) = rest.chars().next() {
            let list = self.lists.iter().find(|it| rest.starts_with(&it.0));
            if let Some((name, values)) = list {
                text += &numbers.pick(&values[..])[..];
                rest = &rest[name.len()..];
            } else {
                text.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        while text.contains("  ") {
            text = text.replace("  ", " ");
        }
        parse(text.trim()).unwrap_or_else(|| panic!("not a marked rule: {text}"))
    }
}

fn parse(line: &str) -> Option<MarkedRule> {
    let mut rule = MarkedRule { text: String::new(), marks: Vec::new() };
    let mut rest = line;
    while let Some((before, marked)) = rest.split_once('⟦') {
        let (inside, behind) = marked.split_once('⟧')?;
        let (name, words) = inside.split_once(' ')?;
        let number = ROLES.iter().position(|it| it.0 == name)?;
        rule.text.push_str(before);
        let from = rule.text.len();
        rule.text.push_str(words);
        rule.marks.push((from..rule.text.len(), number));
        rest = behind;
    }
    rule.text.push_str(rest);
    Some(rule)
}

impl MarkedRule {
    /// Role of the words at a place.
    fn role_at(&self, span: &Range<usize>) -> Option<usize> {
        let touches = |it: &&(Range<usize>, usize)| span.start < it.0.end && span.end > it.0.start;
        self.marks.iter().find(touches).map(|it| it.1)
    }

    /// Joins another rule or text.
    fn join(&self, between: &str, other: &Self) -> Self {
        let text = [&self.text, between, &other.text].concat();
        let start = self.text.len() + between.len();
        let moved = other.marks.iter().map(|(it, role)| (it.start + start..it.end + start, *role));
        Self { text, marks: self.marks.iter().cloned().chain(moved).collect() }
    }

    /// Returns the reason that is given behind the last mark.
    fn reason(&self) -> Option<Self> {
        const BEGINNINGS: [&str; 8] =
            [" because", " since", ", it ", ", that ", ", we ", " – ", " (", ", they"];
        let rest = &self.text[self.marks.last()?.0.end..];
        let at = BEGINNINGS.iter().filter_map(|it| rest.find(it)).min()?;
        Some(Self { text: rest[at..].to_owned(), marks: Vec::new() })
    }

    fn is_question(&self) -> bool {
        self.text.ends_with(['?', '？'])
    }
}

impl RuleLesson {
    pub(crate) fn of(rule: &MarkedRule, words: WordTable<'_>) -> Self {
        let input = RuleInput::of(&rule.text, words);
        let roles = input.terms.iter().map(|it| rule.role_at(&it.span).unwrap_or(0)).collect();
        Self { input, roles }
    }
}

/// Makes variants of rules: names in the place of other names, something said before or after them,
/// small letters, no full stop.
pub(crate) struct RuleMixer<'a> {
    rules: &'a [MarkedRule],
    /// Words of marks by the kind of thing that they name.
    words: BTreeMap<(usize, char), Vec<&'a str>>,
}

impl<'a> RuleMixer<'a> {
    pub(crate) fn new(rules: &'a [MarkedRule]) -> Self {
        let mut words: BTreeMap<(usize, char), Vec<&str>> = BTreeMap::new();
        for rule in rules {
            for (span, role) in &rule.marks {
                let text = &rule.text[span.clone()];
                if let Some(kind) = kind_of(*role, text) {
                    words.entry(kind).or_default().push(text);
                }
            }
        }
        Self { rules, words }
    }

    /// Returns a variant of the rule at `at`.
    pub(crate) fn vary(&self, at: usize, numbers: &mut NumberSource) -> MarkedRule {
        let rule = self.swap_names(at, numbers);
        self.join_neighbour(rule, at, numbers)
    }

    /// Says something before or after a rule: another text, or the reason of another rule. Rules that
    /// stand near each other are of one language.
    pub(crate) fn join_neighbour(
        &self,
        rule: MarkedRule,
        at: usize,
        numbers: &mut NumberSource,
    ) -> MarkedRule {
        if !numbers.chance(JOINED) {
            return rule;
        }
        let near = at.saturating_sub(8)..(at + 9).min(self.rules.len());
        let near: Vec<usize> = near.collect();
        let other = self.swap_names(*numbers.pick(&near[..]), numbers);
        if other.is_question() || rule.is_question() {
            return rule;
        }
        let is_ended = |it: &MarkedRule| it.text.ends_with(['.', '!', '。', '!', ')']);
        let between = |it: &MarkedRule| if is_ended(it) { " " } else { ". " };
        if other.marks.is_empty() || numbers.chance(0.25) {
            let (first, second) =
                if numbers.chance(0.5) { (&rule, &other) } else { (&other, &rule) };
            return first.join(between(first), second);
        }
        match other.reason().filter(|_| !is_ended(&rule)) {
            Some(reason) => rule.join("", &reason),
            None => rule,
        }
    }

    fn swap_names(&self, at: usize, numbers: &mut NumberSource) -> MarkedRule {
        let rule = &self.rules[at];
        let mut varied = MarkedRule { text: String::new(), marks: Vec::new() };
        let mut from = 0;
        for (span, role) in &rule.marks {
            varied.text.push_str(&rule.text[from..span.start]);
            let mut words = &rule.text[span.clone()];
            if let Some(kind) = kind_of(*role, words).filter(|_| numbers.chance(SWAPPED)) {
                words = *numbers.pick(&self.words[&kind][..]);
            }
            let start = varied.text.len();
            varied.text.push_str(words);
            varied.marks.push((start..varied.text.len(), *role));
            from = span.end;
        }
        varied.text.push_str(&rule.text[from..]);
        if numbers.chance(0.1) {
            let small = varied.text.to_ascii_lowercase();
            varied.text = small;
        }
        let ends_marked = varied.marks.last().is_some_and(|it| it.0.end == varied.text.len());
        if numbers.chance(0.1) && !ends_marked {
            let length = varied.text.trim_end_matches(['.', '!', '。']).len();
            varied.text.truncate(length);
        }
        varied
    }
}

/// Kind of what the words of a mark name: only those of one kind take each other's place.
fn kind_of(role: usize, words: &str) -> Option<(usize, char)> {
    let form = match words {
        it if it.starts_with('`') => '`',
        it if !it.is_ascii() => return None,
        it if it.starts_with('-') => '-',
        it if it.contains(' ') => return None,
        it if it.contains('/') => '/',
        it if it.contains(['.', '*']) => '.',
        it if it.chars().all(|c| c.is_ascii_lowercase()) => 'a',
        _ => return None,
    };
    // The words of such roles are no names.
    let has_names = !matches!(ROLES[role].0, "if" | "purpose" | "in" | "except");
    // Roles whose words look the same share them.
    let shared = match ROLES[role].0 {
        "want" | "sole" | "of" => "run",
        "existing" | "create" | "delete" | "read" | "commit" | "only" => "change",
        "need" => "flag",
        "import" => "install",
        name => name,
    };
    has_names.then_some((ROLES.iter().position(|it| it.0 == shared)?, form))
}
