//! Marked rules: `xtask/corpora/checks/training`, whose README describes the marks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use recoup_core::memory::checks::roles::{ROLES, RuleTokens};

use super::prompts::numbers::NumberSource;

/// Probability that a mark gets the words of another mark of its kind.
const SWAPPED: f32 = 0.3;

/// A rule whose words are marked with their roles.
#[derive(Debug, Clone)]
pub(crate) struct MarkedRule {
    pub(crate) text: String,
    /// Words and the number of their role.
    pub(crate) marks: Vec<(Range<usize>, usize)>,
}

/// A rule as the networks take it, and the role of each token.
pub(crate) struct RuleLesson {
    pub(crate) tokens: RuleTokens,
    pub(crate) roles: Vec<usize>,
}

/// All marked rules, file by file in the order of their names.
pub(crate) fn load() -> Vec<MarkedRule> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/checks/training");
    let entries = std::fs::read_dir(&folder).expect("a folder of marked rules");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "txt"));
    files.sort();
    let texts: Vec<String> =
        files.iter().map(|it| std::fs::read_to_string(it).expect("a file of rules")).collect();
    let lines = texts.iter().flat_map(|it| it.lines()).filter(|it| !it.trim().is_empty());
    lines.map(|line| parse(line).unwrap_or_else(|| panic!("not a marked rule: {line}"))).collect()
}

fn parse(line: &str) -> Option<MarkedRule> {
    let mut rule = MarkedRule { text: String::new(), marks: Vec::new() };
    let mut rest = line;
    while let Some((before, marked)) = rest.split_once('⟦') {
        let (inside, behind) = marked.split_once('⟧')?;
        let (name, words) = inside.split_once(' ')?;
        let role = ROLES.iter().position(|it| it.0 == name)?;
        rule.text.push_str(before);
        let from = rule.text.len();
        rule.text.push_str(words);
        rule.marks.push((from..rule.text.len(), role));
        rest = behind;
    }
    rule.text.push_str(rest);
    Some(rule)
}

impl RuleLesson {
    pub(crate) fn of(rule: &MarkedRule) -> Option<Self> {
        let tokens = RuleTokens::of(&rule.text)?;
        let role = |span: &Range<usize>| {
            let touches =
                |it: &&(Range<usize>, usize)| span.start < it.0.end && span.end > it.0.start;
            rule.marks.iter().find(touches).map_or(0, |it| it.1)
        };
        let roles = tokens.tokens.tokens.iter().map(|it| role(&it.span)).collect();
        Some(Self { tokens, roles })
    }
}

/// Makes variants of rules: names in the place of other names, small letters, no full stop.
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
