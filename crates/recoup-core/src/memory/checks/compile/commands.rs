//! Commands in the words of a rule, and other commands for the same.

use super::git_words::phrase_lines;
use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::command::CommandPattern;
use crate::memory::checks::path::CheckPlace;
use crate::memory::checks::terms::{RuleTerm, tool_family};
use crate::memory::lang::file_kinds::endings_of;
use crate::memory::lang::is_one_of;
use crate::memory::lang::token::ClauseEnd;
use crate::memory::shell::{is_known_program, programs_for_purpose, split_commands};

/// Programs that run a project's own scripts.
const SCRIPT_RUNNERS: &str = "npm pnpm yarn bun";
/// Nouns behind a command that are no part of it.
const NOUNS: &str = "command commands call calls invocation invocations itself cli tool";

/// True for the name of a program or a package of a family of alternatives.
pub(super) fn is_program(name: &str) -> bool {
    is_known_program(name) || tool_family(name).is_some()
}

/// Returns the commands that terms name, each as its words; there is at least one.
pub(super) fn command_lines(terms: &[RuleTerm<'_>]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for piece in split_pieces(terms) {
        match piece {
            [term] if term.is_code => lines.extend(code_words(term.text)),
            piece => match phrase_lines(piece) {
                Some(found) => lines.extend(found),
                None => lines.extend(plain_lines(piece)),
            },
        }
    }
    lines
}

/// Splits terms where another thing begins: at code, commas and "or".
pub(super) fn split_pieces<'a, 't>(terms: &'a [RuleTerm<'t>]) -> Vec<&'a [RuleTerm<'t>]> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in 0..=terms.len() {
        let is_joint = terms.get(at).is_none_or(RuleTerm::is_joint);
        let is_next = at > from
            && terms.get(at).is_some_and(|term| {
                term.is_code || terms[at - 1].is_code || terms[at - 1].ends != ClauseEnd::Nothing
            });
        if is_joint || is_next {
            pieces.extend((at > from).then(|| &terms[from..at]));
            from = if is_joint { at + 1 } else { at };
        }
    }
    pieces
}

/// Words of a command in code; none of what is more than a command.
fn code_words(text: &str) -> Option<Vec<String>> {
    let commands = split_commands(text);
    let [command] = &commands[..] else { return None };
    let is_rest = |it: &&String| !matches!(&***it, "..." | "…" | "*" | "[...]");
    let words: Vec<String> = command.words.iter().filter(is_rest).cloned().collect();
    (!words.is_empty()).then_some(words)
}

/// Words of commands that are written as plain text: "npm install", "wget/curl".
fn plain_lines(piece: &[RuleTerm<'_>]) -> Vec<Vec<String>> {
    if let [term] = piece
        && term.text.contains('/')
        && term.text.split('/').all(|it| is_program(&it.to_lowercase()))
    {
        return term.text.split('/').map(|it| vec![it.to_lowercase()]).collect();
    }
    let names = piece.iter().filter(|it| it.text.is_ascii() && !is_one_of(&it.folded, NOUNS));
    let mut words: Vec<String> = names.map(|it| it.text.to_owned()).collect();
    let Some(first) = words.first_mut() else { return Vec::new() };
    if is_program(&first.to_lowercase()) {
        *first = first.to_lowercase();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if first.chars().all(is_name) { vec![words] } else { Vec::new() }
}

/// Forbids a command.
pub(super) fn run_act(words: &[String]) -> Option<ForbiddenAct> {
    CommandPattern::of_words(words).map(ForbiddenAct::Run)
}

/// Forbids the other values of a program's family: "pnpm only".
pub(super) fn other_values(name: &str) -> Vec<ForbiddenAct> {
    let values = tool_family(name).into_iter().flat_map(|it| it.values());
    values.filter(|it| *it != name).filter_map(|it| run_act(&[it.to_owned()])).collect()
}

/// Forbids other commands that serve a purpose, in the languages of the wanted command, of the place or
/// of the words.
pub(super) fn alternatives(
    terms: &[RuleTerm<'_>],
    place: &CheckPlace,
    wanted: &[String],
) -> Vec<ForbiddenAct> {
    let meant = |english: &str| terms.iter().any(|it| !it.is_code && it.means(english));
    let starts = |stem: &str| terms.iter().any(|it| it.folded.starts_with(stem));
    let purposes = ["test", "format", "lint", "build"].into_iter();
    let purposes: Vec<&str> = purposes.filter(|it| meant(it) || starts(it)).collect();
    let language = terms.iter().find_map(|it| endings_of(&it.folded));
    let language = language.or(place.endings.first().map(String::as_str)).unwrap_or_default();
    let named = match language.split(' ').next().unwrap_or_default() {
        "py" => "python",
        "ts" | "js" | "tsx" | "jsx" => "javascript",
        "rs" => "rust",
        other => other,
    };
    let is_own = |list: &str| list.split(' ').any(|it| it.split('/').next() == Some(&wanted[0]));
    let lists: Vec<(&str, &str)> = purposes.into_iter().flat_map(programs_for_purpose).collect();
    let own: Vec<&str> = lists.iter().filter(|it| is_own(it.1)).map(|it| it.0).collect();
    // `npm test` may run the very program that is wanted.
    let is_script = |it: &[String]| it.len() > 1 && is_one_of(&it[0], SCRIPT_RUNNERS);
    let is_tool = !own.is_empty() && !is_one_of(&wanted[0], SCRIPT_RUNNERS);
    let is_meant =
        |of: &str| (named.is_empty() || of == named) && (own.is_empty() || own.contains(&of));
    let commands = lists.into_iter().filter(|it| is_meant(it.0)).flat_map(|it| it.1.split(' '));
    let words = commands.map(|it| it.split('/').map(str::to_owned).collect::<Vec<_>>());
    // What the wanted command is a case of, or what is a case of it, is not another one.
    let others = words.filter(|it| {
        let is_same = wanted.starts_with(it) || it.starts_with(wanted);
        !(is_same || (is_tool && is_script(it)))
    });
    let mut acts: Vec<ForbiddenAct> = others.filter_map(|it| run_act(&it)).collect();
    acts.sort_by_key(ToString::to_string);
    acts
}
