//! Records prompts that no hook has reported. Not every version of a client fires a hook for what
//! is typed while the agent works, and a hook may fail; the transcript has it all the same.

use recoup_core::Result;
use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::memory::classify::{Reading, classify};
use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Entry, EntryKind};
use recoup_core::memory::{About, Happened, Recorded, Turn};

use crate::hooks::notice;
use crate::hooks::said::{self, Said};

/// Older prompts are not something that a hook has just missed.
const RECENT_MS: i64 = 24 * 60 * 60 * 1000;

/// Records prompts that no hook has reported, and queues their notices.
pub(super) fn take_in(turn: &Turn<'_>, entries: &[Entry], by_person: bool) -> Result<()> {
    // Pi reports every input; a user's message in its transcript may be an extension's.
    if turn.client() == Client::Pi {
        return Ok(());
    }
    for (prompt, at) in prompts(entries) {
        let reading = classify(prompt);
        let is_news = !reading.sayings.is_empty() || reading.re_ask;
        if is_news && at.is_none_or(is_recent) && !turn.was_prompted(&said::print(prompt), at)? {
            let then = at.map_or(*turn, |at| turn.at(at));
            for recorded in hear(&then, prompt, &reading, !by_person)? {
                notice::remembered(&recorded).map_or(Ok(()), |line| turn.tell(&line))?;
            }
        }
    }
    Ok(())
}

/// Records a prompt as its hook would have.
fn hear(
    then: &Turn<'_>,
    prompt: &str,
    reading: &Reading,
    tentative: bool,
) -> Result<Vec<Recorded>> {
    let print = said::print(prompt);
    then.happened(Happened::Prompted, About { subject: Some(&print), ..About::default() })?;
    if reading.re_ask {
        then.reasked(prompt)?;
    }
    let said: Vec<Said> = reading.sayings.iter().map(|it| Said::new(it, tentative)).collect();
    said::record(then, &said)
}

/// True if there are doubtful statements to preserve.
pub(super) fn is_in_doubt(entries: &[Entry]) -> bool {
    prompts(entries).any(|(prompt, _)| !classify(prompt).doubtful.is_empty())
}

/// Keeps doubtful statements, which a compaction would lose, as candidates.
pub(super) fn preserve(turn: &Turn<'_>, entries: &[Entry], by_person: bool) -> Result<()> {
    let mut preserved = Vec::new();
    for (prompt, _) in prompts(entries) {
        for saying in &classify(prompt).doubtful {
            let said = Said { lasting: false, ..Said::new(saying, !by_person) };
            let statement = said.statement(turn);
            if let Some(Recorded::Stored { note, .. }) = turn.try_record(&statement)? {
                preserved.push(note);
            }
        }
    }
    notice::preserved(&preserved).map_or(Ok(()), |line| turn.tell(&line))
}

/// Prompts of the main conversation, with their times.
fn prompts(entries: &[Entry]) -> impl Iterator<Item = (&str, Option<Timestamp>)> {
    entries.iter().filter(|entry| entry.agent.is_none()).filter_map(|entry| match &entry.what {
        EntryKind::Prompt(prompt) => Some((prompt.as_str(), entry.at)),
        _ => None,
    })
}

fn is_recent(at: Timestamp) -> bool {
    at.as_millis() > SystemClock.now().as_millis() - RECENT_MS
}
