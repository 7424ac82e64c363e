//! Selection of rules: their order by importance, and the few that concern a prompt or a tool call, by
//! its files or by the actions that it names. Mostly there are none.

use std::cmp::{Ordering, Reverse};

use crate::base::glob::{self, SlashMatching};
use crate::memory::lang::forms::split_words;
use crate::memory::model::note::{Note, NoteKind, NoteScope};
use crate::memory::recall::inject::block::{InjectionContext, RulesBlock};

/// Least score of a rule that concerns the matter.
const THRESHOLD: f64 = 0.5;

/// Most rules at once; more would be noise.
const MOST: usize = 3;

/// Least share of the best score: weaker rules are beside the point.
const OF_BEST: f64 = 0.6;

/// Evidence beyond 2⁴ makes no difference.
const MOST_EVIDENCE: u32 = 4;

const SOME: &str = "Recorded statements of the user that concern this. Where you apply one, \
cite it: (applied from memory: <rule>)\n";

/// A note that search found, and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredNote {
    /// The note.
    pub note: Note,
    /// Score, from 0 to 1.
    pub score: f64,
}

/// Makes a block of at most three of `candidates`, the best first, for a prompt or a call. None if
/// nothing fits well, or this context has it already. `touched` are the files that a call touches,
/// from the project's root; empty if that is not known.
pub fn select_concerning(
    candidates: &[ScoredNote],
    touched: &[&str],
    context: &InjectionContext<'_>,
    stale: impl Fn(&Note) -> Option<String>,
) -> Option<RulesBlock> {
    let fits = |it: &&ScoredNote| {
        it.score >= THRESHOLD && context.accepts(&it.note) && concerns_files(&it.note, touched)
    };
    let mut fitting: Vec<&ScoredNote> = candidates.iter().filter(fits).collect();
    fitting
        .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| by_importance(&a.note, &b.note)));
    let best = fitting.first()?.score;
    fitting.retain(|it| it.score >= best * OF_BEST);
    fitting.truncate(MOST);
    // Rules of one trust stand together, under one title.
    let mut rules: Vec<&Note> = fitting.iter().map(|it| &it.note).collect();
    rules.sort_by_key(|note| Reverse(note.trust()));
    RulesBlock::in_order(&rules, context.budget, SOME, stale)
}

/// True if a note applies to all files, or to one of those that a call touches.
pub(crate) fn concerns_files(note: &Note, touched: &[&str]) -> bool {
    let Some(glob) = note.paths.as_deref().filter(|_| !touched.is_empty()) else { return true };
    let Ok(glob) = glob::compile_glob(glob, SlashMatching::Separates) else { return false };
    touched.iter().any(|path| glob.is_match(path))
}

/// Compares by importance, the most important first: trust, notes that are used at all,
/// corrections, the project before everywhere, evidence, what was said later.
///
/// Evidence counts in powers of two, and of the times the first one: otherwise a rule would move
/// whenever it is confirmed or cited, and the text for agents would change although no rule has.
pub fn by_importance(a: &Note, b: &Note) -> Ordering {
    let rank = |note: &Note| {
        (
            Reverse(note.trust()),
            note.idle,
            note.kind != NoteKind::Correction,
            note.scope == NoteScope::Universal,
            Reverse(note.evidence.max(1).ilog2().min(MOST_EVIDENCE)),
            Reverse(note.created),
        )
    };
    rank(a).cmp(&rank(b)).then_with(|| (&a.text, &a.paths, &a.id).cmp(&(&b.text, &b.paths, &b.id)))
}

/// Actions on what others see. Names of lesser ones occur in too many rules.
const ACTIONS: [&str; 9] =
    ["push", "commit", "merge", "rebase", "release", "publish", "deploy", "migrate", "rollback"];

/// Words behind an action that do not change its meaning.
const WITH: [&str; 6] = ["message", "messages", "directly", "straight", "force", "branches"];

/// Returns the actions in a name: of a sub-command, or of a server's tool.
pub fn named_actions(name: &str) -> Vec<&'static str> {
    let lower = name.to_lowercase();
    let parts: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    ACTIONS.into_iter().filter(|action| parts.contains(action)).collect()
}

/// True if a rule is about the action. "Push notifications" and "release notes" are things: the
/// action must be followed by a small word, or by nothing.
pub(crate) fn is_about_action(rule: &str, action: &str) -> bool {
    let stem_of_action = split_words(action).into_iter().next().and_then(|word| word.stem);
    let said = split_words(rule);
    let ends = |at: usize| {
        said.get(at + 1).is_none_or(|next| next.is_small || WITH.contains(&next.exact.as_str()))
    };
    said.iter().enumerate().any(|(at, word)| {
        (word.exact == action || (word.stem.is_some() && word.stem == stem_of_action)) && ends(at)
    })
}
