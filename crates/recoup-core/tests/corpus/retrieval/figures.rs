//! How well an engine does on the queries: recall, reciprocal rank, silence.

use super::engines::{Engine, Ours};
use super::{Note, Question};

/// Sums over some queries.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    pub(crate) queries: u32,
    /// How often an answer was first, among five, among ten.
    pub(crate) within: [u32; 3],
    reciprocal: f64,
}

impl Figures {
    /// Takes in one query, whose first answer has this rank.
    pub(crate) fn add(&mut self, rank: Option<u32>) {
        self.queries += 1;
        for (count, most) in self.within.iter_mut().zip([1, 5, 10]) {
            *count += u32::from(rank.is_some_and(|rank| rank <= most));
        }
        self.reciprocal += rank.map_or(0.0, |rank| 1.0 / f64::from(rank));
    }

    /// The share of queries with an answer among the first 1, 5 and 10.
    pub(crate) fn recall(&self) -> [f64; 3] {
        self.within.map(|count| share(count, self.queries))
    }

    /// The mean reciprocal rank.
    pub(crate) fn mrr(&self) -> f64 {
        self.reciprocal / f64::from(self.queries.max(1))
    }
}

pub(crate) fn share(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole.max(1))
}

/// The rank of the first note that answers, from 1.
pub(crate) fn rank(engine: &impl Engine, notes: &[Note], question: &Question) -> Option<u32> {
    let best = engine.best(&question.text);
    let answers = |row: &usize| question.answers.contains(&notes[*row].id);
    best.iter().position(answers).and_then(|place| u32::try_from(place + 1).ok())
}

/// What is given unasked: nothing where nothing fits, and how often what does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unasked {
    pub(crate) strangers: u32,
    /// Queries without an answer for which nothing was given.
    pub(crate) silent: u32,
    pub(crate) prompts: u32,
    /// Prompts that were given an answer.
    pub(crate) served: u32,
    /// Notes that prompts were given, and those among them that answer.
    pub(crate) given: u32,
    pub(crate) right: u32,
}

impl Unasked {
    pub(crate) fn add(&mut self, ours: &Ours, notes: &[Note], question: &Question) {
        let given = ours.fitting(&question.text);
        if question.answers.is_empty() {
            self.strangers += 1;
            self.silent += u32::from(given.is_empty());
        } else if question.sort == "prompt" {
            let right = given.iter().filter(|row| question.answers.contains(&notes[**row].id));
            let right = u32::try_from(right.count()).unwrap_or(u32::MAX);
            self.prompts += 1;
            self.served += u32::from(right > 0);
            self.given += u32::try_from(given.len()).unwrap_or(u32::MAX);
            self.right += right;
        }
    }
}
