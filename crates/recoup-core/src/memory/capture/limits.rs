//! Limits of a statement: all of the user's projects, some files of one, or an end in time. Each is
//! read from the words of its sentence; the tagger's opinion decides where the words allow both.
//! The words are classes of the lexicon.

use std::ops::Range;

use crate::memory::lang::file_kinds::{DATA_ENDINGS, KINDS};
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::phrase::PhraseList;
use crate::memory::lang::token::{ClauseEnd, Token, has_no_spaces, split_at};

/// True if words say that they hold in all of the user's projects.
pub(super) fn is_universal(tokens: &[Token<'_>]) -> bool {
    let is_part = |at: usize| {
        let next = tokens.get(at + 1).filter(|_| tokens[at].ends == ClauseEnd::Nothing);
        let place = WordClasses::INSIDE.or(WordClasses::DETERMINER);
        next.is_some_and(|next| next.is(place) && !next.is(WordClasses::MINE))
    };
    find_phrases(&lexicon::UNIVERSAL, tokens).next().is_some()
        || (0..tokens.len())
            .filter(|at| tokens[*at].is(WordClasses::PROJECT))
            .any(|at| names_all_projects(tokens, at, is_part(at)))
}

/// True if a clause says that, and nothing else: "in all my projects".
pub(super) fn is_universal_only(clause: &[Token<'_>]) -> bool {
    let parts = WordClasses::INSIDE
        .or(WordClasses::QUANTIFIER)
        .or(WordClasses::MINE)
        .or(WordClasses::DETERMINER)
        .or(WordClasses::PROJECT);
    let is_phrase = || find_phrases(&lexicon::UNIVERSAL, clause).any(|it| it == (0..clause.len()));
    is_universal(clause) && (clause.iter().all(|it| it.is(parts)) || is_phrase())
}

/// True if the noun at `at` means all of the user's projects: "in each of my other _repos_".
/// `is_part` says that words behind it limit it: "all projects in this monorepo".
fn names_all_projects(tokens: &[Token<'_>], at: usize, is_part: bool) -> bool {
    const MOST_ADJECTIVES: usize = 2;
    let small = WordClasses::QUANTIFIER.or(WordClasses::MINE).or(WordClasses::DETERMINER);
    let is_open = |it: &usize| tokens[*it].ends == ClauseEnd::Nothing;
    let mut start = at;
    // "all my _python_ projects": adjectives only behind a word for "my".
    let adjectives = (at.saturating_sub(MOST_ADJECTIVES)..at).rev().take_while(is_open);
    if let Some(mine) = adjectives.take(MOST_ADJECTIVES).find(|it| tokens[*it].is(small)) {
        if mine + 1 < at && !tokens[mine].is(WordClasses::MINE) {
            return false;
        }
        start = mine;
    }
    while start > 0 && is_open(&(start - 1)) && tokens[start - 1].is(small) {
        start -= 1;
    }
    let words = &tokens[start..at];
    let before = start.checked_sub(1).filter(is_open).map(|it| &tokens[it]);
    let is_inside = before.is_some_and(|it| it.is(WordClasses::INSIDE))
        || words.iter().chain([&tokens[at]]).any(|it| it.is(WordClasses::INSIDE))
        || tokens.get(at + 1).is_some_and(|it| it.is(WordClasses::INSIDE_LAST));
    let is_mine = words.iter().chain([&tokens[at]]).any(|it| it.is(WordClasses::MINE))
        || (is_open(&at) && tokens.get(at + 1).is_some_and(|it| it.is(WordClasses::MINE)))
        || (is_part && tokens.get(at + 2).is_some_and(|it| it.is(WordClasses::MINE)));
    let negated = start.checked_sub(if is_inside { 2 } else { 1 });
    words.iter().any(|it| it.is(WordClasses::QUANTIFIER))
        && !negated.is_some_and(|it| is_open(&it) && tokens[it].is(WordClasses::NEGATION))
        && if is_mine {
            is_inside || before.is_none_or(|it| it.is(WordClasses::JOINT))
        } else {
            is_inside && !is_part
        }
}

/// Ordinary names of folders: a path with one of them needs no other sign that it is one.
const FOLDERS: &str = "src lib libs app apps packages pkg crates cmd internal docs test tests e2e scripts \
    tools services components modules legacy vendor gen migrations config infra";

/// Kinds of files that need no word for "file" behind them.
const WHOLE_KINDS: [(&str, &str); 3] = [
    ("notebooks notebook", "**/*.ipynb"),
    ("makefiles makefile", "**/Makefile"),
    ("dockerfiles dockerfile", "**/Dockerfile*"),
];

/// Kind of name that a sentence may be limited to, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FileName {
    /// A pattern, an ending, or a kind of files.
    Pattern,
    /// A folder: it ends in a slash or has an ordinary name.
    Folder,
    /// One file.
    Single,
    /// Possible folder: `moduli/fatture`, `try/catch`.
    MaybeFolder,
    /// A language: "in scss".
    Language,
}

/// Glob of the files to which a sentence is limited. `is_limited` is the tagger's opinion.
pub(super) fn path_glob(sentence: &str, tokens: &[Token<'_>], is_limited: bool) -> Option<String> {
    let mut named = paths_in(sentence, tokens);
    named.extend(kinds_in(tokens));
    let accepted = named.into_iter().filter(|(span, name, _)| {
        let start = tokens.partition_point(|it| it.start < span.start);
        let end = tokens.partition_point(|it| it.start < span.end);
        let is_last = tokens[end - 1].ends >= ClauseEnd::Clause;
        let after = split_at(&tokens[end..], ClauseEnd::Clause).next().filter(|_| !is_last);
        is_limit(&tokens[..start], after.unwrap_or_default(), *name, is_limited)
    });
    accepted.min_by_key(|it| it.1.max(FileName::Single)).map(|it| it.2)
}

/// True if a name among these words limits their sentence and is no place, example or other name.
fn is_limit(before: &[Token<'_>], after: &[Token<'_>], name: FileName, is_limited: bool) -> bool {
    let small = WordClasses::QUANTIFIER.or(WordClasses::DETERMINER).or(WordClasses::ONLY);
    let lead = WordClasses::LEAD.or(WordClasses::POLITE);
    let openers =
        WordClasses::INSIDE.or(WordClasses::FOLDER).or(WordClasses::FILE).or(small).or(lead);
    let is = |token: Option<&Token<'_>>, classes| token.is_some_and(|it| it.is(classes));
    let clause = before.rsplit(|it| it.ends >= ClauseEnd::Clause).next().unwrap_or_default();
    let opening = clause.iter().rev().take_while(|it| it.is(openers)).count();
    let (head, opening) = clause.split_at(clause.len() - opening);
    let is_inside = opening.iter().any(|it| it.is(WordClasses::INSIDE.or(WordClasses::FOLDER)))
        || is(after.first(), WordClasses::INSIDE_LAST.or(WordClasses::FOLDER));
    let is_first = head.is_empty();
    let is_put = before.iter().any(|it| it.is(WordClasses::PUT))
        || is(head.last(), WordClasses::LOCATED)
        // Verbs stand behind the place in some languages.
        || (!is_limited && is(after.first(), WordClasses::PUT))
        || (!is_limited && !is_first && after.iter().any(|it| it.is(WordClasses::PUT)));
    let is_example = before.iter().rev().take(2).any(|it| it.is(WordClasses::EXAMPLE));
    let is_other =
        is(before.last(), WordClasses::OTHER_NAME) || is(after.first(), WordClasses::OTHER_NAME);
    if is_put || is_example || is_other {
        return false;
    }
    // "no unwrap in src", "anything in src", "every file in src"
    let rules = WordClasses::NEGATION.or(WordClasses::QUANTIFIER).or(WordClasses::ONLY);
    let is_rule = is_first || clause.iter().any(|it| it.is(rules));
    match name {
        FileName::Pattern => is_limited || is_first || (is_inside && is_rule),
        FileName::Folder => is_limited || (is_inside && is_rule) || before.is_empty(),
        FileName::Single => is_first && is_inside,
        FileName::MaybeFolder => is_limited && is_inside,
        FileName::Language => is_limited && is_first && is_inside,
    }
}

/// Paths and patterns of a sentence, with their place and their globs.
fn paths_in(sentence: &str, tokens: &[Token<'_>]) -> Vec<(Range<usize>, FileName, String)> {
    let is_apart = |c: char| {
        c.is_whitespace()
            || has_no_spaces(c)
            || "`\"'“”„«»()[],;，、。：；（）「」".contains(c)
            || ('가'..='힣').contains(&c)
    };
    let mut found = Vec::new();
    let mut start = 0;
    for run in sentence.split_inclusive(is_apart) {
        let from = start;
        start += run.len();
        let run = run.trim_end_matches(|c| is_apart(c) || ".:!?".contains(c));
        let bold = run.strip_prefix("**").and_then(|it| it.strip_suffix("**"));
        let path = bold.unwrap_or(run);
        let path = path.strip_prefix("./").unwrap_or(path);
        let is_near_file = || {
            let at = tokens.partition_point(|it| it.start < from);
            let near = &tokens[at.saturating_sub(3)..tokens.len().min(at + 3)];
            near.iter().any(|it| it.is(WordClasses::FILE))
        };
        // Code of several words is a command.
        let is_command = || {
            sentence[..from].matches('`').count() % 2 == 1
                && sentence[from..]
                    .split('`')
                    .next()
                    .is_some_and(|it| it.contains(' ') || !sentence[..from].ends_with('`'))
        };
        if let Some((name, glob)) = glob_of(path, is_near_file).filter(|_| !is_command()) {
            found.push((from..from + run.len(), name, glob));
        }
    }
    found
}

/// Glob of a path, pattern or ending. It stays inside the project.
fn glob_of(path: &str, is_near_file: impl Fn() -> bool) -> Option<(FileName, String)> {
    let is_safe = path.chars().all(|c| c.is_alphanumeric() || "_-./*".contains(c))
        && path.contains(char::is_alphabetic)
        && !path.starts_with('/')
        && !path.contains("..")
        && !path.contains("//");
    if !is_safe {
        return None;
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let ending = last.rsplit_once('.').map(|it| it.1).filter(|it| {
        (1..=8).contains(&it.len()) && it.starts_with(char::is_alphabetic) && *it != "env"
    });
    let pattern = |glob: String| Some((FileName::Pattern, glob));
    // `release/*` may also be branches.
    if let Some(folder) = path.strip_suffix("/*").filter(|it| !it.contains('*')) {
        return Some((FileName::MaybeFolder, format!("{folder}/*")));
    }
    if path.contains('*') {
        return match path.strip_prefix('*') {
            _ if !path.contains(['.', '/']) => None,
            Some(rest) if rest.starts_with(['.', '_', '-']) => pattern(format!("**/*{rest}")),
            _ => pattern(path.to_owned()),
        };
    }
    if path == last {
        let ending = ending?;
        if path.starts_with(['.', '_', '-']) {
            return is_near_file().then(|| pattern(format!("**/*{path}"))).flatten();
        }
        let is_kind = KINDS.split('|').chain([DATA_ENDINGS]).any(|it| is_one_of(ending, it));
        // `node.js`, `vue.js` are no files.
        let is_file = is_kind && (ending != "js" || path.matches('.').count() > 1);
        return (is_file || is_near_file()).then(|| (FileName::Single, format!("**/{path}")));
    }
    if ending.is_some() && !last.starts_with('.') {
        return Some((FileName::Single, path.to_owned()));
    }
    let folder = path.trim_end_matches('/');
    let is_sure = folder.len() < path.len() || folder.split('/').any(|it| is_one_of(it, FOLDERS));
    let name = if is_sure { FileName::Folder } else { FileName::MaybeFolder };
    Some((name, format!("{folder}/**")))
}

/// Kinds of files and ordinary folders of a sentence: "go files", "in scss", "the docs folder".
fn kinds_in(tokens: &[Token<'_>]) -> Vec<(Range<usize>, FileName, String)> {
    let is_file = |at: usize| tokens.get(at).is_some_and(|it| it.is(WordClasses::FILE));
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_open = token.ends == ClauseEnd::Nothing;
        let is_folder = is_open && tokens.get(at + 1).is_some_and(|it| it.is(WordClasses::FOLDER));
        if is_folder && is_one_of(&token.folded, FOLDERS) && !token.is_glued {
            found.push((token.span(), FileName::Folder, format!("{}/**", token.text)));
        } else if let Some((_, glob)) = WHOLE_KINDS.iter().find(|it| is_one_of(&token.folded, it.0))
        {
            found.push((token.span(), FileName::Single, (*glob).to_owned()));
        } else if let Some(names) = KINDS.split('|').find(|it| is_one_of(&token.folded, it)) {
            let glob = format!("**/*.{}", names.split(' ').next().unwrap_or_default());
            let is_long = token.folded.len() > 1 && !token.is(WordClasses::PUT);
            // "go files", "fichiers python", "archivos de python"
            let is_linked = at > 0 && tokens[at - 1].is(WordClasses::DETERMINER);
            let file = at.checked_sub(if is_linked { 2 } else { 1 });
            let is_behind = file.is_some_and(|it| {
                is_file(it) && tokens[it..at].iter().all(|it| it.ends == ClauseEnd::Nothing)
            });
            if is_open && is_file(at + 1) {
                found.push((token.start..tokens[at + 1].span().end, FileName::Pattern, glob));
            } else if is_long && is_behind {
                found.push((token.span(), FileName::Pattern, glob));
            } else if is_long && !token.is_glued {
                found.push((token.span(), FileName::Language, glob));
            }
        }
    }
    found
}

/// Most words of an end that the tagger does not see.
const MOST_END_WORDS: usize = 12;

/// Words of a sentence that say when it ends. `has_end` is the tagger's opinion.
pub(super) fn ending(sentence: &str, tokens: &[Token<'_>], has_end: bool) -> Option<String> {
    let range = whole_end(tokens, has_end)
        .or_else(|| end_behind(tokens, has_end))
        .or_else(|| end_before(tokens, has_end))?;
    let words = &tokens[range];
    let text = &sentence[words.first()?.start..words.last()?.span().end];
    let is_cut = text.matches('`').count() % 2 == 1;
    Some(format!("{text}{}", if is_cut { "`" } else { "" }))
}

/// Ends that are a phrase: "for this branch". They stand at an edge of their clause.
fn whole_end(tokens: &[Token<'_>], has_end: bool) -> Option<Range<usize>> {
    let is_edge = |range: &Range<usize>| {
        let begins = range.start == 0 || tokens[range.start - 1].ends >= ClauseEnd::Clause;
        let ends = range.end == tokens.len() || tokens[range.end - 1].ends >= ClauseEnd::Clause;
        let shown = WordClasses::SHOW.or(WordClasses::WAITING);
        begins || (ends && !tokens[..range.start].iter().any(|it| it.is(shown)))
    };
    // "not only for this branch", "from this week"
    let is_other = |range: &Range<usize>| {
        let before = tokens[..range.start].last().filter(|it| it.ends == ClauseEnd::Nothing);
        let others = WordClasses::NEGATION.or(WordClasses::ONLY).or(WordClasses::PLACE);
        before.is_some_and(|it| it.is(others) && !it.is_glued)
    };
    find_phrases(&lexicon::MEANWHILE, tokens)
        .find(|range| !is_other(range) && (has_end || is_edge(range)))
}

/// Ends that begin with their word: "until #482 is fixed", up to the end of their clause.
fn end_behind(tokens: &[Token<'_>], has_end: bool) -> Option<Range<usize>> {
    find_phrases(&lexicon::UNTIL, tokens).find_map(|phrase| {
        let clause = split_at(&tokens[phrase.start..], ClauseEnd::Clause).next()?;
        let mut end = phrase.start + clause.len();
        let before = &tokens[..phrase.start];
        let has = |classes| before.iter().any(|it| it.is(classes));
        // "no merges before the audit is over", but "run the tests before you commit"
        let is_order = tokens[phrase.start].is(WordClasses::BEFORE)
            && !(has_end && has(WordClasses::NEGATION));
        if clause.len() == 1 || is_order || is_waiting(before) {
            return None;
        }
        let is_milestone = |at: &usize| tokens[*at].is(WordClasses::MILESTONE);
        if end == tokens.len() && phrase.start == 0 {
            // No comma: "till the release no new dependencies".
            let main = WordClasses::NEGATION.or(WordClasses::MAIN_START);
            let mut behind = phrase.end.max(2)..end;
            let cut = behind.clone().find(|at| tokens[*at].is(main) && !is_milestone(at));
            end = cut.or_else(|| behind.rfind(|at| is_milestone(&(at - 1)))).unwrap_or(end);
        }
        // A sentence about a thing tells until when the thing lasts: "the button is disabled until".
        let is_about = !has(WordClasses::NEGATION)
            && (before.iter().skip(1).any(|it| it.is(WordClasses::LOCATED))
                || before.first().is_some_and(|it| it.is(WordClasses::DETERMINER)));
        let is_sure = || (phrase.start + 1..end).any(|at| is_milestone(&at));
        let is_long = clause.len() > MOST_END_WORDS || end - phrase.start == tokens.len();
        (has_end || (is_sure() && !is_about && !is_long)).then_some(phrase.start..end)
    })
}

/// Ends that end with their word: "リリースまで", from the beginning of their clause.
fn end_before(tokens: &[Token<'_>], has_end: bool) -> Option<Range<usize>> {
    let is_last = |it: &Token<'_>| it.is(WordClasses::UNTIL_LAST) || it.folded.contains("까지");
    let at = tokens.iter().position(is_last)?;
    let start = tokens[..at].iter().rposition(|it| it.ends >= ClauseEnd::Clause);
    let start = start.map_or(0, |it| it + 1);
    let words = &tokens[start..=at];
    let is_sure = words.iter().any(|it| it.is(WordClasses::MILESTONE))
        && tokens[at..].iter().any(|it| it.is(WordClasses::NEGATION));
    ((has_end || is_sure) && !is_waiting(tokens)).then_some(start..at + 1)
}

/// True if words before an end wait for it, or repeat something up to it.
fn is_waiting(before: &[Token<'_>]) -> bool {
    let sentence = split_at(before, ClauseEnd::Sentence).last().unwrap_or_default();
    sentence.iter().any(|it| it.is(WordClasses::WAITING))
}

/// Places of the phrases of a list.
fn find_phrases<'a>(
    list: &'a PhraseList,
    tokens: &'a [Token<'_>],
) -> impl Iterator<Item = Range<usize>> + 'a {
    let words: Vec<&str> = tokens.iter().map(|token| token.folded.as_str()).collect();
    // A part of a name begins no phrase: `read-only this month`.
    let begins = |at: &usize| !tokens[*at].is_glued || !tokens[*at].text.is_ascii();
    (0..words.len())
        .filter(begins)
        .filter_map(move |at| Some(at..at + list.matched_start(&words[at..])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::lang::token::tokenize_text;

    #[test]
    fn all_projects_of_the_user_are_universal() {
        for (sentence, expected) in [
            ("in each of my other repos sign the commits", true),
            ("all my python projects use uv", true),
            ("egal in welchem Repo, antworte auf Deutsch", true),
            ("in jedem meiner Projekte bitte pnpm", true),
            ("どのプロジェクトでも日本語で", true),
            ("내 모든 프로젝트에서 존댓말로 답해 줘", true),
            ("all projects in this monorepo share one tsconfig", false),
            ("in all projects of the solution enable nullable", false),
            ("every customer project in the tool has a number", false),
            ("the dashboard shows all my projects", false),
            ("only here, not in all my projects", false),
            ("errors are handled the same way everywhere in the shop", false),
        ] {
            assert_eq!(is_universal(&tokenize_text(sentence)), expected, "{sentence}");
        }
    }

    #[test]
    fn files_limit_a_sentence_and_places_do_not() {
        for (sentence, is_limited, expected) in [
            ("in src/api we return problem+json", false, "src/api/**"),
            ("test files (*.test.ts) may use any", false, "**/*.test.ts"),
            ("notebooks/*.ipynb: clear the outputs", false, "notebooks/*.ipynb"),
            ("in den cs dateien bitte keine regions", false, "**/*.cs"),
            ("src/apiではanyを使わない", false, "src/api/**"),
            ("nella cartella moduli/fatture niente float", true, "moduli/fatture/**"),
            ("in config/prod.toml never put a password", true, "config/prod.toml"),
            ("in scss no nesting", true, "**/*.scss"),
            ("in scss no nesting", false, ""),
            ("new components go into src/ui", true, ""),
            ("put helpers somewhere, e.g. lib/util/dates.ts", true, ""),
            ("die Migrationen liegen in db/migrations", true, ""),
            ("run `cargo test -p tools/bench` first", true, ""),
            ("never rebase the feature/login branch", true, ""),
            ("in /etc/hosts, ~/notes and src/../x nothing", true, ""),
            ("the docs are at https://acme.dev/src/api/", true, ""),
        ] {
            let found =
                path_glob(sentence, &tokenize_text(sentence), is_limited).unwrap_or_default();
            assert_eq!(found, expected, "{sentence}");
        }
    }

    #[test]
    fn an_end_is_told_from_waiting() {
        for (sentence, has_end, expected) in [
            ("dont touch it until #482 is fixed, please", false, "until #482 is fixed"),
            ("till the 3.0 release no new dependencies", false, "till the 3.0 release"),
            ("just for today commit to main", false, "just for today"),
            ("solange Sanne weg ist, kein apply", true, "solange Sanne weg ist"),
            ("リリースまではpushしないで", false, "リリースまで"),
            ("금요일까지 배포하지 마", false, "금요일까지"),
            ("keep the branch `a` as long as `b` exists", true, "as long as `b` exists"),
            ("a seat is held until the payment comes in", false, ""),
            ("the button is disabled until the form is ready", false, ""),
            ("retry until it is fixed", true, ""),
            ("warte, bis der Spinner weg ist", true, ""),
            ("run the tests before you commit", true, ""),
            ("this is not only for this branch", true, ""),
        ] {
            let found = ending(sentence, &tokenize_text(sentence), has_end).unwrap_or_default();
            assert_eq!(found, expected, "{sentence}");
        }
    }
}
