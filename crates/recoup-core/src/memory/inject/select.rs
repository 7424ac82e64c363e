//! Just-in-time selection of the few rules that concern a prompt or a tool call; mostly there are
//! none.

use super::block::{InjectionContext, RulesBlock};
use super::importance::by_importance;
use crate::base::glob::{self, SlashMatching};
use crate::memory::Note;

/// Least score of a rule that concerns the matter.
pub const THRESHOLD: f64 = 0.5;

/// Most rules at once; more would be noise.
const MOST: usize = 3;

/// Least share of the best score: weaker rules are beside the point.
const OF_BEST: f64 = 0.6;

const SOME: &str = "Recorded statements of the user that concern this. Where you apply one, \
cite it: (applied from memory: <rule>)\n";

/// A note that search found, and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleCandidate {
    /// The note.
    pub note: Note,
    /// Score, from 0 to 1.
    pub score: f64,
}

/// The prompt or the call for which rules are selected.
#[derive(Debug, Clone, Copy, Default)]
pub struct TouchedFiles<'a> {
    /// Files that a call touches, from the project's root; empty if that is not known.
    pub touches: &'a [&'a str],
}

/// Makes a block of at most three of `candidates`, the best first. None if nothing fits well, or
/// this context has it already.
pub fn select_concerning(
    candidates: &[RuleCandidate],
    moment: TouchedFiles<'_>,
    context: &InjectionContext<'_>,
    stale: impl Fn(&Note) -> Option<String>,
) -> Option<RulesBlock> {
    let fits = |it: &&RuleCandidate| {
        it.score >= THRESHOLD && context.accepts(&it.note) && moment.concern(&it.note)
    };
    let mut fitting: Vec<&RuleCandidate> = candidates.iter().filter(fits).collect();
    fitting
        .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| by_importance(&a.note, &b.note)));
    let best = fitting.first()?.score;
    fitting.retain(|it| it.score >= best * OF_BEST);
    fitting.truncate(MOST);
    // Rules of one trust stand together, under one title.
    let mut rules: Vec<&Note> = fitting.iter().map(|it| &it.note).collect();
    rules.sort_by_key(|note| std::cmp::Reverse(note.trust()));
    RulesBlock::in_order(&rules, context.budget, SOME, stale)
}

impl TouchedFiles<'_> {
    /// True if a note applies to all files, or to one that the call touches.
    pub(in crate::memory) fn concern(&self, note: &Note) -> bool {
        let Some(glob) = note.paths.as_deref() else { return true };
        if self.touches.is_empty() {
            return true;
        }
        let Ok(glob) = glob::compile_glob(glob, SlashMatching::Separates) else { return false };
        self.touches.iter().any(|path| glob.is_match(path))
    }
}
