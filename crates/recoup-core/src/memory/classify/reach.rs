//! Scope of a statement: projects and files.

use super::features::TokenizedPrompt;

/// True if the user says that it holds everywhere.
pub(super) fn is_universal(read: &TokenizedPrompt) -> bool {
    read.tokens.iter().flatten().any(|token| token.is("UNIVERSAL"))
}

/// Words before the files to which a statement is limited.
const INSIDE: &[&str] = &[
    "in", "inside", "under", "within", "for", "unter", "dans", "sous", "en", "em", "nella", "nei",
    "sotto",
];

/// Verbs that say where something is put: the path behind them is a place and not a limit.
const PLACES: &[&str] = &[
    "put", "place", "go", "goes", "live", "lives", "belong", "belongs", "keep", "store", "stay",
    "move", "add", "save", "write", "located", "found", "is", "are", "create",
];

/// Glob of the files to which a statement is limited: "in src/legacy/ never use …".
pub(super) fn path_glob(statement: &str) -> Option<String> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let at = words.iter().position(|word| INSIDE.contains(&word.to_lowercase().as_str()))?;
    let named = words.get(at + 1)?.trim_matches(['`', ',', ':', ';', '.']);
    let edge = at == 0 || at + 2 == words.len();
    let is_place = words[..at].iter().any(|word| PLACES.contains(&word.to_lowercase().as_str()));
    if !edge || is_place || named.contains("://") || named.starts_with(['/', '~', '@']) {
        return None;
    }
    let plain = named.trim_start_matches("./");
    let safe = !plain.is_empty()
        && plain.chars().all(|c| c.is_alphanumeric() || "_-./*".contains(c))
        && !plain.contains("..");
    if !safe {
        return None;
    }
    if let Some(ending) = plain.strip_prefix("*.") {
        return Some(format!("**/*.{ending}"));
    }
    if plain.contains('*') {
        return Some(plain.to_owned());
    }
    let folder = plain.strip_suffix('/')?;
    Some(format!("{folder}/**"))
}
