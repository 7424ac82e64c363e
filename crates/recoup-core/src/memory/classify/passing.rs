//! Temporary or hypothetical statements: "use tabs in this file only", "pretend that we use yarn".
//! They read like rules and are none.

/// Beginnings of sentences about something that is not so.
#[rustfmt::skip]
const SUPPOSED: &[&str] = &[
    "pretend", "suppose", "imagine", "let's say", "lets say", "let's pretend", "act as if",
    "assume for a moment", "assume for now", "what if", "say we", "stell dir vor", "tu so, als",
    "tu mal so", "angenommen", "nehmen wir an", "fais comme si", "imagine que", "imagina que",
    "supongamos", "finge que", "finja que", "suponha", "fai finta", "supponiamo", "immagina",
];

/// Words behind "this" for one place, or one time.
#[rustfmt::skip]
const ONE: &[&str] = &[
    "file", "function", "method", "class", "component", "test", "module", "commit", "pr",
    "branch", "page", "script", "case", "time", "one", "task", "line", "change", "query", "call",
    "command", "snippet", "example", "block", "folder", "view", "screen", "ticket", "once",
];

/// Limits to one place or time in other languages.
#[rustfmt::skip]
const ONLY_HERE: &[&str] = &[
    "nur in dieser datei", "nur dieses mal", "nur diesmal", "nur für diesen", "nur für diese ",
    "nur in diesem", "seulement dans ce", "uniquement dans ce", "juste cette fois",
    "seulement pour ce", "solo en este", "solo por esta vez", "sólo en este", "solo para este",
    "só neste", "só nesta", "só desta vez", "somente neste", "solo in questo", "solo in questa",
    "solo per questa volta", "solo per questo",
];

/// True if a sentence holds only here and now.
pub(super) fn is_temporary(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let start = ["ok ", "ok, ", "now ", "please ", "just ", "so ", "and "]
        .iter()
        .find_map(|lead| start.strip_prefix(lead))
        .unwrap_or(start);
    let begins = |words: &&str| {
        let rest = start.strip_prefix(*words);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    SUPPOSED.iter().any(begins)
        || ONLY_HERE.iter().any(|words| lower.contains(words))
        || is_for_one(&lower)
}

/// True for "in this file only", "only for this function", "just this once".
fn is_for_one(lower: &str) -> bool {
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    let limits = |word: &&str| matches!(*word, "only" | "just");
    words.iter().enumerate().any(|(at, word)| {
        if *word != "this" {
            return false;
        }
        let one = |skipped: usize| words.get(at + 1 + skipped).is_some_and(|it| ONE.contains(it));
        let Some(skipped) = (0..2).find(|skipped| one(*skipped)) else { return false };
        // "only in this file", "just for this one test": two words before it at most.
        words[at.saturating_sub(2)..at].iter().any(limits)
            || words.get(at + 2 + skipped).is_some_and(limits)
    })
}
