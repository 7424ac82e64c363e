//! Approaches that an agent gave up: "that didn't work, let me try".

use super::{AgentTrouble, ToolAttempt, TroubleKind};
use crate::memory::transcript::{EntryKind, TranscriptEntry};

/// Phrases that reject what was tried.
const NO_GOOD: &[&str] = &[
    "didn't work",
    "did not work",
    "doesn't work",
    "does not work",
    "isn't working",
    "not working",
    "that failed",
    "this failed",
    "approach failed",
    "attempt failed",
    "still failing",
    "still fails",
    "no luck",
    "wrong approach",
    "i was wrong",
    "that broke",
    "that's not right",
    "that's not it",
    "that wasn't it",
    "won't work",
    "dead end",
    "same error",
    "made it worse",
];

/// Phrases that announce another attempt.
const ANOTHER_WAY: &[&str] = &[
    "let me try",
    "let's try",
    "i'll try",
    "i will try",
    "trying",
    "try a different",
    "try another",
    "different approach",
    "another approach",
    "different way",
    "another way",
    "let me revert",
    "i'll revert",
    "revert that",
    "roll that back",
    "let me undo",
    "let me rethink",
    "step back",
    "let me instead",
    "instead, let me",
    "instead, i'll",
    "start over",
];

/// Phrases that do both at once.
const BOTH: &[&str] = &[
    "let me try a different",
    "let me try another",
    "i'll try a different",
    "i'll try another",
    "let's try a different",
    "let's try another",
    "let me take a different approach",
    "i'll take a different approach",
];

/// Phrases that make a sentence hypothetical, or about another time.
const SUPPOSED: &[&str] = &[
    "if ",
    "in case",
    "whether ",
    "when ",
    "unless ",
    "so that",
    "before the fix",
    "used to",
    "would ",
    "might ",
];

/// Finds the agent's words that give up what it did in this turn.
pub(super) fn find_backtracks(
    entries: &[TranscriptEntry],
    tried: &[ToolAttempt<'_>],
) -> Vec<AgentTrouble> {
    let mut found = Vec::new();
    let mut turn = 0;
    for (at, entry) in entries.iter().enumerate() {
        match &entry.what {
            EntryKind::Prompt(_) => turn = at,
            EntryKind::Words(text) if gives_up(text) => {
                let before = |it: &&ToolAttempt<'_>| it.step.at >= turn && it.step.until < at;
                let mine = |it: &&ToolAttempt<'_>| it.step.agent == entry.agent.as_deref();
                let Some(last) = tried.iter().rev().filter(before).find(mine) else { continue };
                let mut trouble = last.to_trouble(TroubleKind::Backtracked, last.step.at);
                trouble.entries.end = at + 1;
                found.push(trouble);
            }
            _ => {}
        }
    }
    found
}

fn gives_up(text: &str) -> bool {
    let spoken = without_code(&text.to_lowercase().replace('’', "'"));
    let sentences: Vec<&str> =
        spoken.split(['.', '!', '?', '\n', ';', '—']).map(str::trim).collect();
    let sentences: Vec<&str> = sentences.into_iter().filter(|it| !it.is_empty()).collect();
    sentences.iter().enumerate().any(|(at, sentence)| {
        let meant = !SUPPOSED.iter().any(|words| sentence.contains(words));
        let next = sentences.get(at + 1).copied().unwrap_or("");
        let no_good = first_match(sentence, NO_GOOD).is_some_and(|bad| {
            first_match(&sentence[bad..], ANOTHER_WAY).is_some()
                || first_match(next, ANOTHER_WAY).is_some()
        });
        meant && (no_good || first_match(sentence, BOTH).is_some())
    })
}

fn first_match(text: &str, words: &[&str]) -> Option<usize> {
    words.iter().filter_map(|words| text.find(words)).min()
}

fn without_code(text: &str) -> String {
    text.split("```").step_by(2).collect::<Vec<_>>().join("\n")
}
