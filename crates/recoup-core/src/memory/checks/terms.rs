//! Terms of a rule: its words, with code, options, paths and names in one piece each.
//!
//! ```text
//! never `git add .`, use -p    never | git add . ,| use | -p
//! dist/ 以下を編集しない          dist/ | 以下 | を | 編集 | しない
//! ```

use std::ops::Range;

use super::path::PathPattern;
use crate::memory::lang::dictionary;
use crate::memory::lang::families::{FAMILIES, ValueFamily};
use crate::memory::lang::file_kinds::{endings_of, is_file_ending};
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::{ClauseEnd, Token, has_no_spaces, negates, tokenize_text};
use crate::memory::shell::is_known_program;

/// A word, a name, an option, a path or a piece of code.
#[derive(Debug, Clone)]
pub(super) struct RuleTerm<'t> {
    /// As written; code without its backticks.
    pub(super) text: &'t str,
    /// Lower case, without accents; the text itself for names and code.
    pub(super) folded: String,
    /// Its place in the rule.
    pub(super) span: Range<usize>,
    pub(super) classes: WordClasses,
    /// English words for it, by the dictionary.
    pub(super) english: Vec<&'static str>,
    pub(super) is_code: bool,
    /// True if it negates or rules out what is behind it.
    pub(super) negates: bool,
    pub(super) ends: ClauseEnd,
}

impl RuleTerm<'_> {
    pub(super) fn is(&self, classes: WordClasses) -> bool {
        self.classes.has(classes)
    }

    /// True if it means one of these English words, in whatever language.
    pub(super) fn means(&self, english: &str) -> bool {
        english.split(' ').any(|it| self.folded == it || self.english.contains(&it))
    }

    /// True for `--flag` and `-f`.
    pub(super) fn is_flag(&self) -> bool {
        let name = self.text.trim_start_matches('-');
        name.len() < self.text.len()
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !self.text.contains(' ')
    }

    /// True for a word that no list of words has: perhaps a name.
    pub(super) fn is_unknown(&self) -> bool {
        self.classes == WordClasses::NONE && self.english.is_empty()
    }

    /// True for "and", "or", and the like.
    pub(super) fn is_joint(&self) -> bool {
        !self.is_code && is_one_of(&self.folded, "and or nor plus und oder et ou y o e ni")
    }

    /// True for the name of a program or a package of a family of alternatives.
    pub(super) fn is_tool(&self) -> bool {
        tool_family(&self.folded).is_some()
    }

    /// Path or glob that it is, if it looks like one.
    pub(super) fn path(&self) -> Option<PathPattern> {
        let text = self.text.strip_prefix('@').unwrap_or(self.text);
        let is_name = |c: char| c.is_alphanumeric() || "-_./*~@+[]{},".contains(c);
        let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let ending = last.rsplit_once('.').map(|(_, ending)| ending);
        let is_dotted =
            text.starts_with('.') && text.len() > 2 && text[1..].starts_with(char::is_alphabetic);
        let parts_are_words = || {
            let mut parts = text.split('/').filter(|it| !it.is_empty());
            text.split('/').count() == 2
                && !text.ends_with('/')
                && parts.all(|it| is_known_program(it) || endings_of(it).is_some())
        };
        let looks = text.contains('*')
            || (text.contains('/') && !parts_are_words())
            || is_dotted
            || ending.is_some_and(is_file_ending)
            || (text.starts_with(|c: char| c.is_ascii_uppercase()) && text.ends_with("file"));
        let is_plain = text.chars().all(is_name) && text.contains(char::is_alphabetic);
        (looks && is_plain && !text.starts_with('-')).then(|| PathPattern::new(text)).flatten()
    }
}

/// Families whose values are programs or packages.
const TOOLS: &str = "package-manager python-packages test-framework-js test-framework-python browser-tests \
    formatter-js linter-js formatter-python linter-python containers monorepo build-tool bundler css state dates orm";

/// Returns the family of a program or package of which a project uses one.
pub(super) fn tool_family(name: &str) -> Option<&'static ValueFamily> {
    FAMILIES.iter().find(|it| is_one_of(it.name, TOOLS) && it.has_value(name))
}

/// Signs that belong to the name behind them, and to the name before them.
const OPENING: &str = "-./@#$:~!_*<\\";
const CLOSING: &str = "-./@#$:~!_*<>()=\\{}+";

/// Splits a rule into terms.
pub(super) fn split_terms(rule: &str) -> Vec<RuleTerm<'_>> {
    let tokens = tokenize_text(rule);
    let codes = code_spans(rule);
    let mut terms: Vec<RuleTerm<'_>> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    for (start, end) in codes.iter().copied().chain([(rule.len(), rule.len())]) {
        while at < tokens.len() && tokens[at].start < start {
            let from = at;
            at += 1;
            while at < tokens.len() && tokens[at].start < start && is_joined(&tokens, at) {
                at += 1;
            }
            terms.push(plain_term(rule, &tokens, from, at));
        }
        if start == rule.len() {
            break;
        }
        let mut ends = ClauseEnd::Nothing;
        while at < tokens.len() && tokens[at].start < end {
            ends = tokens[at].ends;
            at += 1;
        }
        let behind = rule.get(end + 1..).and_then(|it| it.chars().next());
        let is_end = |c: char| matches!(c, ',' | '，' | '、' | '.' | ';' | '。' | ')');
        if ends == ClauseEnd::Nothing && behind.is_some_and(is_end) {
            ends = ClauseEnd::Clause;
        }
        let text = rule[start + 1..end].trim();
        terms.push(RuleTerm {
            text,
            folded: text.to_owned(),
            span: start..(end + 1).min(rule.len()),
            classes: WordClasses::NONE,
            english: Vec::new(),
            is_code: true,
            negates: false,
            ends,
        });
    }
    // A sign in a name ends nothing: "no !important", "print() in".
    for at in 1..terms.len() {
        let [last, next] = [&terms[at - 1], &terms[at]].map(|it| it.span.clone());
        let gap = rule.get(last.end..next.start).unwrap_or_default();
        if gap.chars().all(|c| matches!(c, ' ' | '\t' | '`' | '"' | '\'')) {
            terms[at - 1].ends = ClauseEnd::Nothing;
        }
    }
    terms
}

/// True if a token goes on with the name before it, or with a word without spaces that is in no list.
fn is_joined(tokens: &[Token<'_>], at: usize) -> bool {
    let (last, token) = (&tokens[at - 1], &tokens[at]);
    let is_foreign = |it: &Token<'_>| it.text.starts_with(has_no_spaces);
    let is_free = |it: &Token<'_>| it.classes == WordClasses::NONE;
    let is_name = !is_foreign(token) && !is_foreign(last);
    let is_run = is_foreign(token) && is_foreign(last) && is_free(token) && is_free(last);
    token.is_glued && last.ends == ClauseEnd::Nothing && (is_name || is_run)
}

fn plain_term<'t>(rule: &'t str, tokens: &[Token<'t>], from: usize, to: usize) -> RuleTerm<'t> {
    let (first, last) = (&tokens[from], &tokens[to - 1]);
    let (mut start, mut end) = (first.start, last.span().end);
    if !first.text.starts_with(has_no_spaces) {
        let before = rule[..start].trim_end_matches(|c| OPENING.contains(c));
        let is_name = |c: char| c.is_alphanumeric() && !has_no_spaces(c);
        let is_own = !before.ends_with(is_name);
        start = if is_own { before.len() } else { start };
        let behind = rule[end..].trim_start_matches(|c| CLOSING.contains(c));
        end = rule.len() - behind.len();
        end = start + rule[start..end].trim_end_matches(['.', ':', '!', '-']).len();
        if rule[start..end].ends_with(')') && !rule[start..end].contains('(') {
            end = start + rule[start..end].trim_end_matches(')').len();
        }
    }
    end = end.max(last.span().end);
    // `SELECT *`
    let is_capital = rule[start..end].chars().all(|c| c.is_ascii_uppercase());
    let is_apart =
        |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || "./*".contains(c));
    if is_capital && rule[end..].strip_prefix(" *").is_some_and(is_apart) {
        end += 2;
    }
    let text = &rule[start..end];
    let is_word = to == from + 1 && text == first.text;
    let folded = if is_word { first.folded.clone() } else { text.to_lowercase() };
    let classes = if is_word { first.classes } else { lexicon::classes_of(&folded) };
    let english = if text.starts_with(has_no_spaces) {
        let words = dictionary::words_in_run(text);
        words.into_iter().filter_map(dictionary::english_word).collect()
    } else {
        // "Commit-Nachrichten"
        let is_compound = !folded.starts_with('-') && !is_known_program(&folded);
        let parts = folded.split('-').filter(|it| is_compound && *it != folded);
        parts.chain([folded.as_str()]).filter_map(dictionary::english_word).collect()
    };
    // "Over" and "stop" rule out only in some places.
    let negates = is_word && first.folded != "over" && negates(tokens, from);
    let span = start..start + text.len();
    RuleTerm { text, folded, span, classes, english, is_code: false, negates, ends: last.ends }
}

/// Place of a comment of one or two words in plain text: `# noqa`, `# type: ignore`.
fn comment_span(rule: &str, at: usize) -> Option<(usize, usize)> {
    let rest = rule[at..].strip_prefix(" # ")?;
    let word = |text: &str| {
        text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len())
    };
    let mut end = word(rest);
    if let Some(more) = rest[end..].strip_prefix(": ") {
        end += 2 + word(more);
    }
    (end > 0).then(|| (at, at + 3 + end))
}

/// Places of the marks around pieces of code.
fn code_spans(rule: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut marks = rule.match_indices(['`', '"', '\'']);
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    while let Some((start, mark)) = marks.next() {
        // An apostrophe stands in a word.
        let opens = is_apart(rule[..start].chars().next_back());
        if mark == "'" && !opens {
            continue;
        }
        let closes = |at: usize| mark != "'" || is_apart(rule[at + 1..].chars().next());
        let rest = marks.clone().find(|(at, it)| *it == mark && closes(*at));
        let Some((end, _)) = rest else { continue };
        marks.by_ref().find(|(at, _)| *at == end);
        if !rule[start + 1..end].trim().is_empty() {
            spans.push((start, end));
        }
    }
    // A comment needs no marks; what stands around it serves as such.
    let comments = rule.match_indices(" # ").filter_map(|(at, _)| comment_span(rule, at));
    let is_apart =
        |it: &(usize, usize)| spans.iter().all(|(start, end)| it.1 <= *start || it.0 >= *end);
    let comments: Vec<(usize, usize)> = comments.filter(is_apart).collect();
    spans.extend(comments);
    spans.sort_unstable();
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_options_and_code_are_one_term() {
        for (rule, expected) in [
            ("never `git add .`, use -p", "never|git add .,|use|-p"),
            ("hands off infra/prod, except a.b/", "hands|off|infra/prod,|except|a.b/"),
            ("no --no-verify.", "no|--no-verify,"),
            ("no print() in *.py files!", "no|print()|in|*.py|files,"),
            ("never commit .env", "never|commit|.env"),
            ("no :latest tags (a, b)", "no|:latest|tags,|a,|b,"),
            ("dist/ 以下は編集しない", "dist/|以下|は|編集|しない"),
            ("don't touch packages/*", "don't|touch|packages/*"),
        ] {
            let shown = |term: &RuleTerm<'_>| {
                format!("{}{}", term.text, if term.ends > ClauseEnd::Nothing { "," } else { "" })
            };
            let found: Vec<String> = split_terms(rule).iter().map(shown).collect();
            assert_eq!(found.join("|"), expected, "{rule}");
        }
    }
}
