//! Recognition of a successful command as the fix of a failed one, and whether it is worth teaching.
//! Errors of the work itself (failing tests, code that does not compile, nothing to commit) tell the
//! next agent nothing, and commands that succeed by bypassing a safeguard are never taught.

use crate::memory::lang::is_one_of;
use crate::memory::learn::lessons::wording::quote_code;
use crate::memory::learn::patterns::PatternSection;
use crate::memory::shell::{CommandKind, command_words};

static TALKS: PatternSection = PatternSection::new("(talks)");
/// Options that name a location, with or without its value.
pub(super) static PLACES: PatternSection = PatternSection::new("(places)");
/// Names of source files.
pub(super) static CODE_FILE: PatternSection = PatternSection::new("(code file)");
static OF_THE_WORK: PatternSection = PatternSection::new("of the work");
static NOT_THERE: PatternSection = PatternSection::new("not there");
static WEAKENS: PatternSection = PatternSection::new("weakens a safeguard");
static OPENS_TO_ALL: PatternSection = PatternSection::new("(opens to all)");
static DESTROYS: PatternSection = PatternSection::new("destroys");

const WORKS: &str = " works";

/// Returns the command that did what `failed` did not, without what came after it. `None` if it is
/// the same command, or about something else.
pub(super) fn alternative_command(failed: &str, kind: &str, worked: &str) -> Option<String> {
    let worked = cut_after_kind(worked, kind);
    let differs = effective_words(failed) != effective_words(&worked);
    // It must have all arguments of the failed one, flags aside: a fix for something else is none.
    let named = |command: &str| -> Vec<String> {
        let words = command_words(command).into_iter().flatten();
        words.filter(|word| !word.starts_with('-')).collect()
    };
    let arguments = named(&worked);
    let has_all = || named(failed).iter().all(|word| arguments.contains(word));
    (differs && has_all()).then_some(worked)
}

/// Formats a fix as it is stored and shown in a lesson.
pub(super) fn format_fix(command: &str) -> String {
    format!("{}{WORKS}", quote_code(command))
}

/// Returns the command of a stored fix, or `None` if the fix is not a command.
pub(super) fn fix_command(fix: &str) -> Option<&str> {
    fix.strip_suffix(WORKS)?.strip_prefix('`')?.strip_suffix('`')
}

/// True if the same command was run again.
pub(super) fn is_same_command(failed: &str, kind: &str, worked: &str) -> bool {
    effective_words(failed) == effective_words(&cut_after_kind(worked, kind))
}

/// True if a fix is worth teaching: the failure was not part of the work or a mere query, and no
/// safeguard is bypassed.
pub(super) fn is_worth_teaching(error: &str, failed: &str, worked: &str) -> bool {
    let known = command_words(failed).concat().join(" ");
    let known: Vec<&str> = known.split_whitespace().collect();
    !CommandKind::of(worked).is_some_and(|kind| kind.only_inspects())
        && !is_work_error(error, worked)
        && !bypasses_safeguard(worked, &known, DEEPEST)
}

/// Tools of clients that change nothing, or whose changes are known as edits.
const TOOLS: &str = " read grep glob list edit write multiedit apply_patch update_plan ";

/// True if a successful command may be the reason that something else works now. Tools are no
/// commands: their names have a capital or a server's prefix.
pub(super) fn may_change_state(subject: &str) -> bool {
    let is_command = subject.starts_with(|c: char| !c.is_uppercase())
        && !subject.starts_with("mcp__")
        && !is_one_of(subject, TOOLS);
    is_command && !CommandKind::of(subject).is_some_and(|kind| kind.only_inspects())
}

/// Cuts a line behind its last command of `kind`: later commands do not explain the success.
fn cut_after_kind(line: &str, kind: &str) -> String {
    let parts: Vec<&str> = line.split(" && ").collect();
    let is_it = |part: &&str| CommandKind::of(part).is_some_and(|it| it.to_string() == kind);
    match parts.iter().rposition(is_it) {
        Some(last) => parts[..=last].join(" && "),
        None => line.to_owned(),
    }
}

/// Returns the words of a line, without options that only change its output.
fn effective_words(line: &str) -> Vec<Vec<String>> {
    let mut said = command_words(line);
    for words in &mut said {
        words.retain(|word| !TALKS.fits(word));
    }
    said
}

/// True if an error comes from the work, and not from how the command was called.
fn is_work_error(error: &str, fix: &str) -> bool {
    let lower = error.trim().to_lowercase();
    // `src/main.rs:3:5`, `a.ts(3,5):`.
    let names_line = |word: &str| {
        word.match_indices([':', '(']).any(|(at, _)| {
            CODE_FILE.fits(&word[..at]) && word[at + 1..].starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let changes_location = || {
        command_words(fix).iter().any(|words| {
            words.first().is_some_and(|first| first == "cd" || first == "pushd")
                || words.iter().any(|word| PLACES.fits(word))
        })
    };
    OF_THE_WORK.fits(&lower)
        || lower.split_whitespace().any(names_line)
        || (NOT_THERE.fits(&lower) && !changes_location())
}

/// Programs whose `-f` forces.
const FORCED_BY_F: &str = "git rm mv cp ln npm pnpm yarn";

/// Maximum nesting of `sh -c 'sh -c …'`.
const DEEPEST: u8 = 3;

/// True if a command bypasses a safeguard, or does harm that the words of the failed one (`known`)
/// did not.
fn bypasses_safeguard(line: &str, known: &[&str], depth: u8) -> bool {
    let script = |word: &String| {
        depth > 0 && word.contains(' ') && bypasses_safeguard(word, known, depth - 1)
    };
    // Words that are not known destroy something, or are a `-f` that takes no file.
    let is_file = |word: &String| !word.starts_with('-') && !known.contains(&&**word);
    let adds_harm = |words: &Vec<String>| {
        words.iter().enumerate().filter(|(_, it)| !known.contains(&&***it)).any(|(at, word)| {
            let name = word.split('=').next().unwrap_or(word).to_lowercase();
            let is_setting = !word.starts_with('-') && word.contains('=');
            (!is_setting && DESTROYS.fits(&name))
                || (has_short_flag(word, 'f') && !words.get(at + 1).is_some_and(is_file))
        })
    };
    let harms = |words: &Vec<String>| is_unsafe_command(words) || adds_harm(words);
    command_words(line).iter().any(|words| harms(words) || words.iter().any(script))
}

fn is_unsafe_command(words: &[String]) -> bool {
    let program = words.iter().find(|word| !word.contains('=')).map_or("", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let short = |flag: char| words.iter().any(|word| has_short_flag(word, flag));
    let weakens = |word: &String| {
        let lower = word.to_lowercase();
        WEAKENS.fits(&lower) && !lower.starts_with("force_color=")
    };
    words.iter().any(weakens)
        || (is_one_of(program, FORCED_BY_F) && short('f'))
        || (program == "rm" && (short('r') || short('R') || has("--recursive")))
        || (program == "chmod" && words.iter().any(|it| OPENS_TO_ALL.fits(it)))
        || (program == "git" && ((has("commit") && short('n')) || (has("branch") && short('D'))))
        || (program == "git" && has("push") && words.iter().any(|it| it.starts_with(['+', ':'])))
        || (matches!(program, "curl" | "wget") && short('k'))
        || matches!(program, "true" | ":")
        || (program == "set" && has("+e"))
}

/// True for short options that include `flag`, as in `-f` and `-rf`.
fn has_short_flag(word: &str, flag: char) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        letters.chars().all(|c| c.is_ascii_alphabetic())
            && letters.len() <= 4
            && letters.contains(flag)
    })
}
