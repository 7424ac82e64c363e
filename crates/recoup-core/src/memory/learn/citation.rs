//! Rules that the agent says it has applied: `(applied from memory: <rule>)`.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::memory::lang::escape::one_line;

const OPENING: &str = "(applied from memory:";

/// A citation up to the parenthesis that closes it; others may be in it, in pairs.
const CITATION: &str = r"(?i)\(applied from memory:((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)";

/// Code blocks, closed or not, and code within a line.
const CODE: &str = r"(?ms)^\s*```.*?(?:^\s*```[^\n]*|\z)|^\s*~~~.*?(?:^\s*~~~[^\n]*|\z)|`[^`\n]*`";

/// End of a paragraph, and of a citation that was not closed.
const BLANK_LINE: &str = r"\n[ \t]*\n";

/// Maximum bytes of a citation; a longer one was never closed.
const LONGEST: usize = 1_000;

/// Minimum characters of a shortened citation: fewer do not identify a rule.
const ENOUGH: usize = 16;

/// Returns the rules that an answer cites, each once, in order of appearance. Citations inside code
/// are ignored; code inside a citation is not.
pub fn citations(answer: &str) -> Vec<String> {
    static PATTERNS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [CITATION, CODE, BLANK_LINE].map(|it| Regex::new(it).expect("the pattern is valid"))
    });
    let has_citation = |text: &str| text.to_ascii_lowercase().contains(OPENING);
    if !has_citation(answer) {
        return Vec::new();
    }
    let [citation, code, blank_line] = &*PATTERNS;
    let text = code.replace_all(answer, |found: &Captures<'_>| {
        let is_block = ["```", "~~~"].iter().any(|it| found[0].trim_start().starts_with(it));
        if is_block || has_citation(&found[0]) { String::new() } else { found[0].to_owned() }
    });
    let mut rules = Vec::new();
    for found in blank_line.split(&text).flat_map(|it| citation.captures_iter(it)) {
        let rule = found[1].split_whitespace().collect::<Vec<_>>().join(" ");
        if found[1].len() <= LONGEST && !rule.is_empty() && !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// True if `cited` quotes `rule`: its words, a beginning that ends with an ellipsis, or one of
/// several rules separated by semicolons.
pub fn is_cited(cited: &str, rule: &str) -> bool {
    let rule = normalise_rule(&one_line(rule));
    let is_rule = |cited: &str| {
        let cut =
            cited.trim_end().strip_suffix('…').or_else(|| cited.trim_end().strip_suffix("..."));
        match cut.map(normalise_rule) {
            Some(start) => start.chars().count() >= ENOUGH && rule.starts_with(&start),
            None => normalise_rule(cited) == rule,
        }
    };
    !rule.is_empty() && (is_rule(cited) || cited.split("; ").any(is_rule))
}

/// Normalises a rule for comparison: lower case, without emphasis, surrounding quotes and final
/// full stop.
pub fn normalise_rule(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace(['`', '*', '’'], "'").to_lowercase();
    let text: String = text.chars().filter(|c| *c != '\'').collect();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let edge =
        |c: char| c.is_whitespace() || matches!(c, '"' | '“' | '”' | '.' | ',' | ';' | '!' | '_');
    words.trim_matches(edge).to_owned()
}
