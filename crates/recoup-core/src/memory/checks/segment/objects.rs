//! Objects of a rule, by their form: commands, texts, hosts, places.

use super::RuleObject;
use super::words::KEYWORDS;
use crate::memory::checks::path::{CheckPlace, PathPattern};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::families::FAMILIES;
use crate::memory::lang::file_kinds::{endings_of, is_file_ending};
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::ClauseEnd;
use crate::memory::shell::{is_known_program, split_commands};

/// True for "to git", "into git".
pub(super) fn is_into_git(term: &RuleTerm<'_>, next: &RuleTerm<'_>) -> bool {
    next.folded == "git" && matches!(&*term.folded, "to" | "in" | "into")
}

/// Reads a place behind a preposition; also returns the number of its terms.
pub(in crate::memory::checks) fn read_place(terms: &[RuleTerm<'_>]) -> Option<(CheckPlace, usize)> {
    let mut place = CheckPlace::default();
    let mut count = 0;
    for (at, term) in terms.iter().enumerate() {
        let next = terms.get(at + 1).filter(|_| term.ends == ClauseEnd::Nothing);
        let kinds: Vec<&str> = term.folded.split('/').filter_map(endings_of).collect();
        let is_kind = kinds.len() == term.folded.split('/').count();
        if is_kind {
            place.endings.extend(kinds.iter().flat_map(|it| it.split(' ')).map(str::to_owned));
        } else if term.folded == "compose" {
            place.paths.extend(PathPattern::new("*compose*.y*ml"));
        } else if matches!(&*term.folded, "dockerfile" | "dockerfiles") {
            place.paths.extend(PathPattern::new("Dockerfile*"));
        } else if let Some(ending) =
            term.text.strip_prefix('.').filter(|it| is_kind_of_file(term) && is_file_ending(it))
        {
            place.endings.push(ending.to_owned());
        } else if let Some(path) = term.path() {
            place.paths.push(path);
        } else if term.means("test") && !term.is_code {
            place.tests = true;
        } else if next.is_some_and(|it| it.is(WordClasses::FOLDER)) || term.text == "src" {
            place.paths.extend(PathPattern::new(term.text));
        } else if !term.is_small() {
            break;
        }
        count = at + 1;
        if term.ends != ClauseEnd::Nothing {
            break;
        }
    }
    (place != CheckPlace::default()).then_some((place, count))
}

/// Reads what a command must not be run against: "the prod context", a host.
pub(super) fn read_argument(terms: &[RuleTerm<'_>]) -> Option<(String, usize)> {
    const KINDS: &str = "context cluster namespace database server host environment profile workspace project account";
    let at = terms.iter().position(|it| !it.is(WordClasses::DETERMINER.or(WordClasses::STOP)))?;
    let is_kind =
        terms.get(at + 1).is_some_and(|it| is_one_of(&it.folded, KINDS) || it.means(KINDS));
    let host = host_name(&terms[at]);
    let is_name = is_kind && !terms[at].is_joint();
    (is_name || host.is_some())
        .then(|| (terms[at].text.to_owned(), at + if is_name { 2 } else { 1 }))
}

/// True for a pattern or ending of files, which names files whatever is said of it: `*.spec.ts`.
pub(super) fn is_kind_of_file(term: &RuleTerm<'_>) -> bool {
    term.text.starts_with("*.")
        || term.text.strip_prefix('.').is_some_and(|it| it != "env" && is_file_ending(it))
}

/// Returns the object that a piece of code names.
pub(super) fn code_object(term: &RuleTerm<'_>, wants_path: bool) -> RuleObject {
    let text = term.text;
    if wants_path && let Some(path) = term.path() {
        return RuleObject::Path(path);
    }
    let commands = split_commands(text);
    let words = match &commands[..] {
        [command] => command.words.clone(),
        _ => Vec::new(),
    };
    match words.first().map(String::as_str) {
        Some(first) if first.starts_with('-') && first.len() > 1 => RuleObject::Flags(words),
        Some(first) if is_command_name(first) => RuleObject::Command(words, true),
        Some(first) if words.len() == 1 && is_tool(first) => RuleObject::Command(words, false),
        // A plain word in code is a package rather than every name that is written so.
        _ if is_package_name(text) && !is_one_of(text, KEYWORDS) => {
            RuleObject::Name(text.to_owned())
        }
        _ => RuleObject::Text(text.to_owned()),
    }
}

/// Families whose values are programs or packages.
const TOOLS: &str = "package-manager python-packages test-framework-js test-framework-python browser-tests \
    formatter-js linter-js formatter-python linter-python containers monorepo build-tool bundler css state dates orm";

/// True for the name of a program of the table or of a family.
pub(in crate::memory::checks) fn is_program_name(name: &str) -> bool {
    is_known_program(name) || is_tool(name)
}

/// True for a program or a package of a family of alternatives.
pub(in crate::memory::checks) fn is_tool(name: &str) -> bool {
    FAMILIES.iter().any(|it| is_one_of(it.name, TOOLS) && it.has_value(name))
}

/// True for programs, without words of the shell's own language.
pub(super) fn is_command_name(name: &str) -> bool {
    let is_keyword = is_one_of(
        name,
        "export import from function return case type any test true false set select if for while do in until let var null",
    );
    is_known_program(name) && !is_keyword
}

/// Host that a term names: `db.prod.internal`.
pub(super) fn host_name(term: &RuleTerm<'_>) -> Option<String> {
    let (_, last) = term.text.rsplit_once('.')?;
    let is_host = term.text.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
        && last.len() >= 2
        && last.chars().all(|c| c.is_ascii_lowercase())
        && !is_file_ending(last)
        && !term.text.starts_with('.');
    is_host.then(|| term.text.to_owned())
}

/// Name from code that cannot be an ordinary word: `console.log`, `print()`, `!important`, `TODO`.
pub(super) fn text_name(term: &RuleTerm<'_>) -> Option<String> {
    let text = term.text;
    let has_sign = text.contains(['.', '(', '_', '@', '='])
        || text.starts_with([':', '!', '$'])
        || text.contains("::")
        || text.ends_with("://");
    let is_marker = matches!(text, "TODO" | "FIXME" | "XXX" | "HACK");
    // `useEffect`, `innerHTML`
    let mut letters = text.chars();
    let is_camel = letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
        && text.contains(|c: char| c.is_ascii_uppercase())
        && !matches!(text, "macOS" | "iOS" | "jQuery" | "eBay" | "iPhone");
    let is_ending =
        text.starts_with('.') || text.rsplit_once('.').is_some_and(|it| is_file_ending(it.1));
    let is_code = text.is_ascii() && has_sign && text.contains(|c: char| c.is_ascii_alphabetic());
    let is_path = text.contains('/') && !text.ends_with("://");
    (is_marker || is_camel || (is_code && !is_ending && !is_path)).then(|| text.to_owned())
}

/// True for a word that may be the name of a package.
pub(super) fn is_package_name(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_@/".contains(c);
    let is_scoped = text.starts_with('@') == text.contains('/');
    text.len() >= 2
        && is_scoped
        && text.chars().all(is_name)
        && text.contains(|c: char| c.is_ascii_alphabetic())
}
