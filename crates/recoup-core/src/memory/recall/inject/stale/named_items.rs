//! Names in a statement: paths, scripts, and commands that are run by name.

use crate::memory::lang::fold::is_apostrophe;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};

/// Something that a project may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NamedItem {
    /// A path with a slash in it, and whether it is marked as one: by being code, or by a slash at
    /// its end. `client/server` may be two words.
    Path(String, bool),
    /// A script by its file's name alone.
    Script(String),
    /// A glob.
    Glob(String),
    /// A command that is run by name.
    Recipe(RecipeRunner, String),
}

/// Program that runs commands by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecipeRunner {
    /// `npm run` and its like.
    Package,
    /// `make`.
    Make,
    /// `just`.
    Just,
}

impl NamedItem {
    /// Text for a person.
    pub(super) fn as_written(&self) -> String {
        match self {
            Self::Path(text, _) | Self::Script(text) | Self::Glob(text) => text.clone(),
            Self::Recipe(RecipeRunner::Package, name) => format!("the script {name}"),
            Self::Recipe(RecipeRunner::Make, name) => format!("make {name}"),
            Self::Recipe(RecipeRunner::Just, name) => format!("just {name}"),
        }
    }
}

/// Words of statements about something that is not there yet, or must not be.
const NOT_YET: WordClasses = WordClasses::ABSENT.or(WordClasses::NEGATION);

/// Directories that are generated or private to one person, which come and go.
const MADE: &str = "dist build out target node_modules vendor coverage tmp temp logs log cache .cache .venv venv \
.next .git __pycache__ bin obj";

/// Extensions that only files have.
const FILES: &str = " rs py ts tsx js jsx mjs cjs go rb java kt kts swift c h cc cpp hpp cs php sh \
bash zsh fish ps1 sql json jsonc yaml yml toml ini cfg conf md mdx txt html css scss less xml csv lock \
proto graphql tf gradle properties vue svelte ex exs erl hs scala clj lua pl r jl dart ipynb env ";

/// Extensions of scripts.
const SCRIPTS: &str = " sh bash zsh py rb pl ps1 js mjs ts php lua fish ";

/// Words behind `make` and `just` that name no recipe.
const SMALL: &str = "a an the it this that sure use of in on for to and or your my our its is as with \
from before after when if then instead not only just make here files targets target";

/// Words before a script that is run.
const RUN: &str =
    "run running execute bash sh zsh python python3 node ruby perl source php deno bun tsx";

/// Names in a statement, in their order. Paths are left out if it is about something that shall be.
pub(super) fn find_named_items(statement: &str) -> Vec<NamedItem> {
    let words: Vec<StatementWord<'_>> = words(statement);
    let mut named: Vec<NamedItem> =
        (0..words.len()).filter_map(|at| recipe_at(&words, at)).collect();
    let is_about_later = || {
        words.iter().enumerate().any(|(at, word)| {
            let plain = word.text.replace(is_apostrophe, "").to_ascii_lowercase();
            lexicon::is_in(&plain, NOT_YET) && !(plain == "make" && recipe_at(&words, at).is_some())
        })
    };
    let mut paths = (0..words.len()).filter_map(|at| path_at(&words, at)).peekable();
    // Most statements have no path: the check is needed only for those that do.
    if paths.peek().is_some() && !is_about_later() {
        named.extend(paths);
    }
    named
}

/// A word; whether it stands in a span of code, and whether it begins one.
struct StatementWord<'a> {
    text: &'a str,
    code: bool,
    first: bool,
}

fn words(statement: &str) -> Vec<StatementWord<'_>> {
    let mut words = Vec::new();
    for (number, span) in statement.split('`').enumerate() {
        let code = number % 2 == 1;
        for (at, word) in span.split_whitespace().enumerate() {
            let text = word.trim_matches([
                '"', '\'', '(', ')', ',', ';', ':', '!', '?', '\u{201c}', '\u{201d}',
            ]);
            let text = text.strip_suffix('.').unwrap_or(text);
            if !text.is_empty() {
                words.push(StatementWord { text, code, first: code && at == 0 });
            }
        }
    }
    words
}

/// Recipe that is run at a word. `make` and `just` are English words: they count at the start of
/// code, or behind "run" and the like.
fn recipe_at(words: &[StatementWord<'_>], at: usize) -> Option<NamedItem> {
    let word = words[at].text;
    let next = |by: usize| words.get(at + by).map(|word| word.text);
    let is_name = |name: &&str| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:".contains(&b))
    };
    let said = || {
        words[at].first
            || (at > 0
                && matches!(
                    words[at - 1].text.to_ascii_lowercase().as_str(),
                    "run" | "running" | "with" | "via" | "using" | "execute" | "use"
                ))
    };
    match word {
        "npm" | "pnpm" | "yarn" | "bun" if next(1) == Some("run") => {
            let name = next(2).filter(is_name)?;
            Some(NamedItem::Recipe(RecipeRunner::Package, name.to_owned()))
        }
        "make" | "just" if said() => {
            let name = next(1)
                .filter(is_name)
                .filter(|name| !is_one_of(&name.to_ascii_lowercase(), SMALL))?;
            let runner = if word == "make" { RecipeRunner::Make } else { RecipeRunner::Just };
            Some(NamedItem::Recipe(runner, name.to_owned()))
        }
        _ => None,
    }
}

fn path_at(words: &[StatementWord<'_>], at: usize) -> Option<NamedItem> {
    let text = words[at].text;
    // A path has a slash, and a script an ending.
    if !text.bytes().any(|byte| byte == b'/' || byte == b'.') {
        return None;
    }
    let strange = ['@', '$', '<', '>', '=', '\\', '|', '~', '"', '\'', '#', '%', '&', '+'];
    if text.starts_with('-')
        || text.contains("://")
        || text.contains(strange)
        || text.contains("...")
    {
        return None;
    }
    let bare_path = text.trim_end_matches('/');
    let inside = bare_path.strip_prefix("./").unwrap_or(bare_path);
    let first = inside.split('/').next().unwrap_or_default();
    // `example.com/docs` is no path.
    let is_host = inside.contains('/') && !first.starts_with('.') && first.contains('.');
    if is_one_of(first, MADE) || is_host || text.contains(':') {
        return None;
    }
    if text.contains(['*', '?', '[', '{']) {
        return (inside.contains('/') && text.ends_with(|c: char| c.is_alphanumeric() || c == '*'))
            .then(|| NamedItem::Glob(inside.to_owned()));
    }
    if bare_path.contains('/') {
        let marked = words[at].code || text.ends_with('/');
        return Some(NamedItem::Path(bare_path.to_owned(), marked));
    }
    let run = at > 0 && is_one_of(&words[at - 1].text.to_ascii_lowercase(), RUN);
    (run && ends_with_one_of(bare_path, SCRIPTS)).then(|| NamedItem::Script(bare_path.to_owned()))
}

/// True if its last part has an extension that only files have.
pub(super) fn has_extension(path: &str) -> bool {
    ends_with_one_of(path, FILES)
}

fn ends_with_one_of(path: &str, endings: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && is_one_of(ending, endings))
}

/// Resolves `.` and `..`; none if the path leads out.
pub(super) fn resolve_dots(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
