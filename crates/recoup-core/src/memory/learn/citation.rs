//! Rules that the agent says it has applied: `(applied from memory: <rule>)`.

use crate::memory::lang::escape::one_line;

const OPENING: &str = "(applied from memory:";

/// Maximum bytes of a citation; a longer one was never closed.
const LONGEST: usize = 1_000;

/// Minimum characters of a shortened citation: fewer do not identify a rule.
const ENOUGH: usize = 16;

/// Returns the rules that an answer cites, each once, in order of appearance. Citations inside code
/// are ignored.
pub fn citations(answer: &str) -> Vec<String> {
    let text = without_code(answer);
    let lower = text.to_ascii_lowercase();
    let (mut found, mut from): (Vec<String>, usize) = (Vec::new(), 0);
    while let Some(gap) = lower[from..].find(OPENING) {
        let start = from + gap + OPENING.len();
        from = start;
        let Some(len) = find_closing_parenthesis(&text[start..]) else { continue };
        let rule = text[start..start + len].split_whitespace().collect::<Vec<_>>().join(" ");
        from = start + len;
        if !rule.is_empty() && !found.contains(&rule) {
            found.push(rule);
        }
    }
    found
}

/// Returns the position of the parenthesis that closes one opened before `text`.
fn find_closing_parenthesis(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take_while(|(at, _)| *at < LONGEST) {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            // A blank line ends an unclosed citation.
            '\n' if text[at + 1..].trim_start_matches([' ', '\t']).starts_with('\n') => {
                return None;
            }
            _ => {}
        }
    }
    None
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

/// Removes code blocks, and inline code that holds a whole citation. Line breaks stay.
fn without_code(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                // Without citations in backticks; code inside a citation stays.
                let mut rest = line;
                while let Some(at) = rest.find('`') {
                    let (before, from) = rest.split_at(at);
                    let Some(len) = from[1..].find('`') else { break };
                    let (code, behind) = from.split_at(len + 2);
                    kept.push_str(before);
                    if !code.to_ascii_lowercase().contains(OPENING) {
                        kept.push_str(code);
                    }
                    rest = behind;
                }
                kept.push_str(rest);
            }
            _ => {}
        }
    }
    kept
}
