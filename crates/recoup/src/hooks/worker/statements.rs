//! Records statements that no hook could write or has reported, and asks a model about sentences.
//! Its verdict "no statement" is final.

use recoup_core::Result;
use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::read_prompt;
use recoup_core::memory::capture::transcript::{EntryKind, TranscriptEntry};
use recoup_core::memory::guard::private_text::PublicText;
use recoup_core::memory::judge::{JudgeCandidate, JudgeVerdict, MOST_CANDIDATES};
use recoup_core::memory::{
    EventDetails, EventOrigin, EventTransaction, NoteId, NoteScope, RecordOutcome, Statement,
};

use super::MemoryWorker;
use crate::hooks::notice;
use crate::hooks::user_statement;
use crate::jobs::JudgeQuestion;

/// Older prompts are not something that a hook has just missed.
const RECENT_MS: i64 = 24 * 60 * 60 * 1000;

impl MemoryWorker<'_> {
    /// Records statements with the time when they were made, unless memory was paused then.
    pub(super) fn remember_statements(
        &self,
        occasion: &EventOrigin,
        at: Timestamp,
        of: EventDetails<'_>,
        said: &[Statement],
    ) -> Result<()> {
        if self.memory.was_paused(&occasion.scope, at)? {
            return Ok(());
        }
        let done = self.memory.transact(occasion, |transaction| {
            let recorded = user_statement::record_prompt(&transaction.at_time(at), of, None, said)?;
            let mut recorded = recorded.iter().flatten();
            recorded.try_for_each(|it| queue_notice(transaction, notice::superseded_others(it)))
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
            .transact(occasion, |transaction| {
                let mut decided = asked.iter().zip(&verdicts);
                decided.try_for_each(|(asked, verdict)| apply_verdict(transaction, asked, verdict))
            })
            .map(drop)
    }
}

/// Applies a verdict. Without a clear one, the decision of the classifier stands.
fn apply_verdict(
    transaction: &EventTransaction<'_>,
    asked: &JudgeQuestion,
    verdict: &JudgeVerdict,
) -> Result<()> {
    match (verdict, asked) {
        // The user can restore a note that the model did not recognise as a statement.
        (JudgeVerdict::Nothing, JudgeQuestion::Kept { note, .. }) => {
            let retired = transaction.retract_note(&NoteId::parse(note)?)?;
            queue_notice(transaction, retired.as_ref().map(notice::taken_back))
        }
        // A doubtful sentence that the model recognised is recorded in the model's wording. The
        // model is asked for lasting statements only.
        (JudgeVerdict::Keep(finding), JudgeQuestion::Doubtful(said)) => {
            let (kind, text) = (finding.kind, finding.statement.clone());
            transaction.drop_candidate(said)?;
            let said = Statement { kind, text, lasting: true, ..said.clone() };
            match transaction.try_record(&said)? {
                Some(recorded @ RecordOutcome::Stored { .. }) => {
                    queue_notice(transaction, notice::remembered(&recorded))
                }
                Some(RecordOutcome::Confirmed { .. }) | None => Ok(()),
            }
        }
        (JudgeVerdict::Nothing, JudgeQuestion::Doubtful(said)) => transaction.drop_candidate(said),
        (JudgeVerdict::Keep(_), JudgeQuestion::Kept { .. }) | (JudgeVerdict::Undecided(_), _) => {
            Ok(())
        }
    }
}

/// Records prompts that no hook has reported, and queues their notices. Not every version of a
/// client fires a hook for what is typed while the agent works, and a hook may fail; the transcript
/// has it all the same.
pub(super) fn record_missed_prompts(
    transaction: &EventTransaction<'_>,
    entries: &[TranscriptEntry],
    by_person: bool,
) -> Result<()> {
    // Pi reports every input; a user's message in its transcript may be an extension's.
    if transaction.client() == HookClient::Pi {
        return Ok(());
    }
    let oldest = SystemClock.now().as_millis() - RECENT_MS;
    for (prompt, at) in prompts(entries) {
        let reading = read_prompt(prompt, &transaction.scope_for(false));
        let is_news = reading.sure().next().is_some() || reading.re_ask;
        let is_recent = at.is_none_or(|at| at.as_millis() > oldest);
        let print = user_statement::prompt_digest(prompt.as_str());
        if !is_news || !is_recent || transaction.is_known_prompt(&print, at)? {
            continue;
        }
        let tentative = |it: &Statement| Statement { tentative: !by_person, ..it.clone() };
        let said: Vec<Statement> = reading.sure().map(tentative).collect();
        let then = at.map_or(*transaction, |at| transaction.at_time(at));
        let of = EventDetails { subject: Some(&print), ..EventDetails::default() };
        let re_ask = reading.re_ask.then_some(prompt.as_str());
        let recorded = user_statement::record_prompt(&then, of, re_ask, &said)?;
        for recorded in recorded.iter().flatten() {
            queue_notice(transaction, notice::remembered(recorded))?;
        }
    }
    Ok(())
}

/// True if there are doubtful statements to preserve.
pub(super) fn has_doubtful_statements(entries: &[TranscriptEntry]) -> bool {
    let scope = NoteScope::Universal;
    prompts(entries).any(|(prompt, _)| read_prompt(prompt, &scope).doubtful().next().is_some())
}

/// Keeps doubtful statements, which a compaction would lose, as candidates.
pub(super) fn preserve_doubtful(
    transaction: &EventTransaction<'_>,
    entries: &[TranscriptEntry],
    by_person: bool,
) -> Result<()> {
    let mut preserved = Vec::new();
    for (prompt, _) in prompts(entries) {
        for doubtful in read_prompt(prompt, &transaction.scope_for(false)).doubtful() {
            let statement = Statement { tentative: !by_person, ..doubtful.clone() };
            if let Some(RecordOutcome::Stored { note, .. }) = transaction.try_record(&statement)? {
                preserved.push(note);
            }
        }
    }
    queue_notice(transaction, notice::preserved(&preserved))
}

/// Prompts of the main conversation, with their times.
fn prompts(entries: &[TranscriptEntry]) -> impl Iterator<Item = (&PublicText, Option<Timestamp>)> {
    entries.iter().filter(|entry| entry.agent.is_none()).filter_map(|entry| match &entry.what {
        EntryKind::Prompt(prompt) => Some((prompt, entry.at)),
        _ => None,
    })
}

fn queue_notice(transaction: &EventTransaction<'_>, line: Option<String>) -> Result<()> {
    line.map_or(Ok(()), |line| transaction.add_notice(&line))
}
