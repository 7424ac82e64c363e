//! Paths and places in the words of a rule: files, folders, kinds of files, tests.

use crate::memory::checks::path::{CheckPlace, PathPattern};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::file_kinds::{ending_of_kind, endings_of, is_file_ending};
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::ClauseEnd;

/// Words that are no name of a file or folder.
const NO_NAMES: WordClasses = WordClasses::STOP
    .or(WordClasses::ALL)
    .or(WordClasses::QUANTIFIER)
    .or(WordClasses::DETERMINER)
    .or(WordClasses::FILE)
    .or(WordClasses::FOLDER)
    .or(WordClasses::PREPOSITION)
    .or(WordClasses::INSIDE)
    .or(WordClasses::WITHIN)
    .or(WordClasses::PROJECT);

/// Returns the paths and kinds of files that terms name.
pub(super) fn read_paths(terms: &[RuleTerm<'_>]) -> Vec<PathPattern> {
    let named: Vec<PathPattern> = (0..terms.len()).filter_map(|at| named_path(terms, at)).collect();
    if !named.is_empty() {
        return named;
    }
    // "Don't touch the migrations": the one word that may be a name.
    let mut names = terms.iter().filter(|it| is_name(it));
    match (names.next(), names.next()) {
        (Some(name), None) => folder_named(name.text).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn is_name(term: &RuleTerm<'_>) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    term.text.chars().all(is_plain)
        && term.text.len() > 1
        && !term.is(NO_NAMES)
        && !term.means("new existing old file folder directory generated")
}

/// A folder by its name alone, wherever it is.
fn folder_named(name: &str) -> Option<PathPattern> {
    PathPattern::new(&if name.contains('.') { name.to_owned() } else { format!("**/{name}") })
}

/// Path that a term names, or kind of files: `*.md`, ".js files", "markdown files".
fn named_path(terms: &[RuleTerm<'_>], at: usize) -> Option<PathPattern> {
    let term = &terms[at];
    let next = terms.get(at + 1).filter(|_| term.ends == ClauseEnd::Nothing);
    let before = at.checked_sub(1).map(|at| &terms[at]);
    let is_file = |it: Option<&RuleTerm<'_>>| {
        it.is_some_and(|it| it.is(WordClasses::FILE) || it.means("document file"))
    };
    let is_folder = |it: Option<&RuleTerm<'_>>| it.is_some_and(|it| it.is(WordClasses::FOLDER));
    if (is_folder(next) || is_folder(before)) && is_name(term) && term.path().is_none() {
        return folder_named(term.text);
    }
    let ending = term.text.strip_prefix('.').filter(|it| *it != "env" && is_file_ending(it));
    // `.docx` is a kind of files where others are no names of them.
    let ending = ending.or_else(|| term.text.strip_prefix('.').filter(|_| is_file(next)));
    if let Some(ending) = ending {
        return PathPattern::new(&format!("*.{ending}"));
    }
    if (is_file(next) || is_file(before))
        && let Some(ending) = ending_of_kind(&term.folded)
    {
        return PathPattern::new(&format!("*.{ending}"));
    }
    // "Markdown-Dateien"
    if let Some((kind, word)) = term.folded.split_once('-')
        && lexicon::is_in(word, WordClasses::FILE)
        && let Some(ending) = ending_of_kind(kind)
    {
        return PathPattern::new(&format!("*.{ending}"));
    }
    match &*term.folded {
        "lockfile" | "lockfiles" => {
            return PathPattern::new(
                "{package-lock.json,pnpm-lock.yaml,bun.lockb,npm-shrinkwrap.json,go.sum,*.lock}",
            );
        }
        "notebook" | "notebooks" => return PathPattern::new("*.ipynb"),
        "dockerfile" | "dockerfiles" => return PathPattern::new("Dockerfile*"),
        _ => {}
    }
    if matches!(term.text, "README" | "LICENSE" | "CHANGELOG" | "CODEOWNERS") {
        return PathPattern::new(&format!("{}*", term.text));
    }
    // A name with an ending is a file, whatever the ending.
    let is_dotted = |it: &str| {
        it.rsplit_once('.').is_some_and(|(name, ending)| {
            name.len() > 1
                && (1..=12).contains(&ending.len())
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
                && it.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        })
    };
    if is_dotted(term.text) {
        return PathPattern::new(term.text);
    }
    if term.is_code && !term.text.contains(' ') {
        return term.path().or_else(|| folder_named(term.text));
    }
    term.path()
}

/// Reads a place: languages, tests, files and folders. `None` if there is none.
pub(super) fn read_place(terms: &[RuleTerm<'_>]) -> Option<CheckPlace> {
    let mut place = CheckPlace::default();
    let mut others = Vec::new();
    for term in terms {
        let kinds: Vec<&str> = term.folded.split('/').filter_map(endings_of).collect();
        if kinds.len() == term.folded.split('/').count() {
            place.endings.extend(kinds.iter().flat_map(|it| it.split(' ')).map(str::to_owned));
        } else if let Some(ending) = term
            .text
            .strip_prefix("*.")
            .or(term.text.strip_prefix('.'))
            .filter(|it| is_file_ending(it))
        {
            place.endings.push(ending.to_owned());
        } else if term.folded == "compose" {
            place.paths.extend(PathPattern::new("*compose*.y*ml"));
        } else if !term.is_code && term.path().is_none() && term.means("test spec tests specs") {
            place.tests = true;
        } else {
            others.push(term.clone());
        }
    }
    let found = place != CheckPlace::default();
    let is_path = |it: &RuleTerm<'_>| it.path().is_some() || it.is_code;
    if !found || others.iter().any(is_path) {
        place.paths.extend(read_paths(&others));
    }
    (place != CheckPlace::default()).then_some(place)
}
