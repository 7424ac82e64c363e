//! Records statements that the hook could not write, and asks a model about sentences. Its verdict
//! "no statement" is final.

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::{JudgeCandidate, JudgeVerdict, JudgedStatement, MOST_CANDIDATES};
use recoup_core::memory::{
    EventDetails, EventOrigin, EventTransaction, MemoryEventKind, NoteId, RecordOutcome,
};

use super::MemoryWorker;
use crate::hooks::notice;
use crate::hooks::user_statement::{self, UserStatement};
use crate::jobs::JudgeQuestion;

impl MemoryWorker<'_> {
    /// Records statements with the time when they were made, unless memory was paused then.
    pub(super) fn remember_statements(
        &self,
        occasion: &EventOrigin,
        at: Timestamp,
        of: EventDetails<'_>,
        said: &[UserStatement],
    ) -> Result<()> {
        if self.memory.was_paused(&occasion.scope, at)? {
            return Ok(());
        }
        let done = self.memory.transact(occasion, |turn| {
            let then = turn.at_time(at);
            if then.record_event(MemoryEventKind::Prompted, of)? {
                for recorded in user_statement::record_statements(&then, said)? {
                    queue_notice(turn, notice::superseded_others(&recorded))?;
                }
            }
            Ok(())
        });
        done.map(drop)
    }

    /// Asks the model about sentences. A verdict concerns its own sentence only.
    pub(super) fn ask_judge(&self, occasion: &EventOrigin, asked: &[JudgeQuestion]) -> Result<()> {
        let Some(judge) = self.judge else { return Ok(()) };
        if self.memory.pause_reason(&occasion.scope)?.is_some() {
            return Ok(());
        }
        let shown = |asked: &JudgeQuestion| JudgeCandidate::new(asked.words(), self.hidden);
        let (asked, candidates): (Vec<&JudgeQuestion>, Vec<JudgeCandidate>) =
            asked.iter().filter_map(|it| Some((it, shown(it)?))).take(MOST_CANDIDATES).unzip();
        if candidates.is_empty() {
            return Ok(());
        }
        let verdicts = judge.classify(&candidates)?;
        self.memory
            .transact(occasion, |turn| {
                let mut decided = asked.iter().zip(&verdicts);
                decided.try_for_each(|(asked, verdict)| apply_verdict(turn, asked, verdict))
            })
            .map(drop)
    }
}

/// Applies a verdict. Without a clear one, the decision of the classifier stands.
fn apply_verdict(
    turn: &EventTransaction<'_>,
    asked: &JudgeQuestion,
    verdict: &JudgeVerdict,
) -> Result<()> {
    match (verdict, asked) {
        (JudgeVerdict::Nothing, JudgeQuestion::Kept { note, .. }) => {
            retire_note(turn, &NoteId::parse(note)?)
        }
        (JudgeVerdict::Keep(finding), JudgeQuestion::Doubtful(said)) => {
            remember_finding(turn, finding, said)
        }
        (JudgeVerdict::Nothing, JudgeQuestion::Doubtful(_))
        | (JudgeVerdict::Keep(_), JudgeQuestion::Kept { .. })
        | (JudgeVerdict::Undecided(_), _) => Ok(()),
    }
}

/// Retires a note that the model did not recognise as a statement; the user can restore it.
fn retire_note(turn: &EventTransaction<'_>, id: &NoteId) -> Result<()> {
    queue_notice(turn, turn.retract_note(id)?.as_ref().map(notice::taken_back))
}

/// Records a doubtful sentence that the model recognised, in the model's wording.
fn remember_finding(
    turn: &EventTransaction<'_>,
    finding: &JudgedStatement,
    said: &UserStatement,
) -> Result<()> {
    let text = finding.statement.clone();
    // The model is asked for lasting statements only.
    let said =
        UserStatement { kind: finding.kind, text, topic: None, lasting: true, ..said.clone() };
    let statement = said.to_statement(turn);
    match turn.try_record(&statement)? {
        Some(recorded @ RecordOutcome::Stored { .. }) => {
            queue_notice(turn, notice::remembered(&recorded))
        }
        Some(RecordOutcome::Confirmed { .. }) | None => Ok(()),
    }
}

fn queue_notice(turn: &EventTransaction<'_>, line: Option<String>) -> Result<()> {
    line.map_or(Ok(()), |line| turn.add_notice(&line))
}
