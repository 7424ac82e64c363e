//! Records prompts that no hook has reported. Not every version of a client fires a hook for what
//! is typed while the agent works, and a hook may fail; the transcript has it all the same.

use recoup_core::Result;
use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::memory::classify::{PromptClassification, classify};
use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::transcript::{EntryKind, TranscriptEntry};
use recoup_core::memory::{EventDetails, EventTransaction, MemoryEventKind, RecordOutcome};

use crate::hooks::notice;
use crate::hooks::user_statement::{self, UserStatement};

/// Older prompts are not something that a hook has just missed.
const RECENT_MS: i64 = 24 * 60 * 60 * 1000;

/// Records prompts that no hook has reported, and queues their notices.
pub(super) fn record_missed_prompts(
    turn: &EventTransaction<'_>,
    entries: &[TranscriptEntry],
    by_person: bool,
) -> Result<()> {
    // Pi reports every input; a user's message in its transcript may be an extension's.
    if turn.client() == HookClient::Pi {
        return Ok(());
    }
    for (prompt, at) in prompts(entries) {
        let reading = classify(prompt);
        let is_news = !reading.sayings.is_empty() || reading.re_ask;
        if is_news
            && at.is_none_or(is_recent)
            && !turn.is_known_prompt(&user_statement::prompt_digest(prompt), at)?
        {
            let then = at.map_or(*turn, |at| turn.at_time(at));
            for recorded in record_prompt(&then, prompt, &reading, !by_person)? {
                notice::remembered(&recorded).map_or(Ok(()), |line| turn.add_notice(&line))?;
            }
        }
    }
    Ok(())
}

/// Records a prompt as its hook would have.
fn record_prompt(
    then: &EventTransaction<'_>,
    prompt: &str,
    reading: &PromptClassification,
    tentative: bool,
) -> Result<Vec<RecordOutcome>> {
    let print = user_statement::prompt_digest(prompt);
    then.record_event(
        MemoryEventKind::Prompted,
        EventDetails { subject: Some(&print), ..EventDetails::default() },
    )?;
    if reading.re_ask {
        then.record_reask(prompt)?;
    }
    let said: Vec<UserStatement> =
        reading.sayings.iter().map(|it| UserStatement::new(it, tentative)).collect();
    user_statement::record_statements(then, &said)
}

/// True if there are doubtful statements to preserve.
pub(super) fn has_doubtful_statements(entries: &[TranscriptEntry]) -> bool {
    prompts(entries).any(|(prompt, _)| !classify(prompt).doubtful.is_empty())
}

/// Keeps doubtful statements, which a compaction would lose, as candidates.
pub(super) fn preserve_doubtful(
    turn: &EventTransaction<'_>,
    entries: &[TranscriptEntry],
    by_person: bool,
) -> Result<()> {
    let mut preserved = Vec::new();
    for (prompt, _) in prompts(entries) {
        for saying in &classify(prompt).doubtful {
            let said = UserStatement { lasting: false, ..UserStatement::new(saying, !by_person) };
            let statement = said.to_statement(turn);
            if let Some(RecordOutcome::Stored { note, .. }) = turn.try_record(&statement)? {
                preserved.push(note);
            }
        }
    }
    notice::preserved(&preserved).map_or(Ok(()), |line| turn.add_notice(&line))
}

/// Prompts of the main conversation, with their times.
fn prompts(entries: &[TranscriptEntry]) -> impl Iterator<Item = (&str, Option<Timestamp>)> {
    entries.iter().filter(|entry| entry.agent.is_none()).filter_map(|entry| match &entry.what {
        EntryKind::Prompt(prompt) => Some((prompt.as_str(), entry.at)),
        _ => None,
    })
}

fn is_recent(at: Timestamp) -> bool {
    at.as_millis() > SystemClock.now().as_millis() - RECENT_MS
}
