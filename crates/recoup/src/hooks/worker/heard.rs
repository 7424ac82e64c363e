//! Records statements that the hook could not write, and asks a model about sentences. Its verdict
//! "no statement" is final.

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::{Candidate, Finding, MOST_CANDIDATES, Verdict};
use recoup_core::memory::{About, Happened, NoteId, Occasion, Recorded, Turn};

use super::Worker;
use super::job::Asked;
use crate::hooks::notice;
use crate::hooks::said::{self, Said};

impl Worker<'_> {
    /// Records statements with the time when they were made, unless memory was paused then.
    pub(super) fn remember(
        &self,
        occasion: &Occasion,
        at: Timestamp,
        of: About<'_>,
        said: &[Said],
    ) -> Result<()> {
        if self.memory.was_silent(&occasion.scope, at)? {
            return Ok(());
        }
        let done = self.memory.turn(occasion, |turn| {
            let then = turn.at(at);
            if then.happened(Happened::Prompted, of)? {
                for recorded in said::record(&then, said)? {
                    tell(turn, notice::changed(&recorded))?;
                }
            }
            Ok(())
        });
        done.map(drop)
    }

    /// Asks the model about sentences. A verdict concerns its own sentence only.
    pub(super) fn hear(&self, occasion: &Occasion, asked: &[Asked]) -> Result<()> {
        let Some(judge) = self.judge else { return Ok(()) };
        if self.memory.silence(&occasion.scope)?.is_some() {
            return Ok(());
        }
        let shown = |asked: &Asked| Candidate::new(asked.words(), self.hidden);
        let (asked, candidates): (Vec<&Asked>, Vec<Candidate>) =
            asked.iter().filter_map(|it| Some((it, shown(it)?))).take(MOST_CANDIDATES).unzip();
        if candidates.is_empty() {
            return Ok(());
        }
        let verdicts = judge.classify(&candidates)?;
        self.memory
            .turn(occasion, |turn| {
                let mut decided = asked.iter().zip(&verdicts);
                decided.try_for_each(|(asked, verdict)| heed(turn, asked, verdict))
            })
            .map(drop)
    }
}

/// Applies a verdict. Without a clear one, the decision of the classifier stands.
fn heed(turn: &Turn<'_>, asked: &Asked, verdict: &Verdict) -> Result<()> {
    match (verdict, asked) {
        (Verdict::Nothing, Asked::Kept { note, .. }) => take_back(turn, &NoteId::parse(note)?),
        (Verdict::Keep(finding), Asked::Doubtful(said)) => remember(turn, finding, said),
        (Verdict::Nothing, Asked::Doubtful(_))
        | (Verdict::Keep(_), Asked::Kept { .. })
        | (Verdict::Undecided(_), _) => Ok(()),
    }
}

/// Retires a note that the model did not recognise as a statement; the user can restore it.
fn take_back(turn: &Turn<'_>, id: &NoteId) -> Result<()> {
    tell(turn, turn.take_back(id)?.as_ref().map(notice::taken_back))
}

/// Records a doubtful sentence that the model recognised, in the model's wording.
fn remember(turn: &Turn<'_>, finding: &Finding, said: &Said) -> Result<()> {
    let text = finding.statement.clone();
    // The model is asked for lasting statements only.
    let said = Said { kind: finding.kind, text, topic: None, lasting: true, ..said.clone() };
    let statement = said.statement(turn);
    match turn.try_record(&statement)? {
        Some(recorded @ Recorded::Stored { .. }) => tell(turn, notice::remembered(&recorded)),
        Some(Recorded::Confirmed { .. }) | None => Ok(()),
    }
}

fn tell(turn: &Turn<'_>, line: Option<String>) -> Result<()> {
    line.map_or(Ok(()), |line| turn.tell(&line))
}
