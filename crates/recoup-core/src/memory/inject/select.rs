//! Just in time: the few rules that really concern a prompt or a tool call. Mostly
//! there are none, and then nothing is said.

use super::block::{Block, Context};
use super::importance::by_importance;
use crate::base::glob::{self, Slash};
use crate::memory::Note;

/// Below this a rule does not concern the matter.
pub const THRESHOLD: f64 = 0.5;

/// More than these would be noise.
const MOST: usize = 3;

/// What is this much weaker than the best is beside the point.
const OF_BEST: f64 = 0.6;

const SOME: &str = "Recorded statements of the user that concern this. Where you apply one, \
cite it: (applied from memory: <rule>)\n";

/// A note that search found, and how well it fits: from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The note.
    pub note: Note,
    /// How well it fits.
    pub score: f64,
}

/// What is going on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment<'a> {
    /// The files that a call touches, from the project's root; none where that is not known.
    pub touches: &'a [&'a str],
}

/// At most three of `candidates`, the best first, in a block of their own. None where
/// nothing fits well, or this context has it already.
pub fn concerning(
    candidates: &[Candidate],
    moment: Moment<'_>,
    context: &Context<'_>,
    stale: impl Fn(&Note) -> Option<String>,
) -> Option<Block> {
    let fits = |it: &&Candidate| {
        it.score >= THRESHOLD && context.takes(&it.note) && moment.is_for(&it.note)
    };
    let mut fitting: Vec<&Candidate> = candidates.iter().filter(fits).collect();
    fitting
        .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| by_importance(&a.note, &b.note)));
    let best = fitting.first()?.score;
    fitting.retain(|it| it.score >= best * OF_BEST);
    fitting.truncate(MOST);
    // One title for each sort of trust, so those of one sort stand together.
    let mut rules: Vec<&Note> = fitting.iter().map(|it| &it.note).collect();
    rules.sort_by_key(|note| std::cmp::Reverse(note.trust()));
    Block::in_order(&rules, context.budget, SOME, stale)
}

impl Moment<'_> {
    /// A rule for some files concerns a call that touches one of them.
    pub(in crate::memory) fn is_for(&self, note: &Note) -> bool {
        let Some(glob) = note.paths.as_deref() else { return true };
        if self.touches.is_empty() {
            return true;
        }
        let Ok(glob) = glob::compile(glob, Slash::Separates) else { return false };
        self.touches.iter().any(|path| glob.is_match(path))
    }
}
