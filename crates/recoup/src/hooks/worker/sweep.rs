//! Reads the new part of a transcript: records what hooks have missed, saves the agent's task list
//! as a checkpoint, and asks a model for lessons at the end of a session.

use std::borrow::Cow;
use std::path::Path;

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::memory::capture::transcript::{
    CallStatus, EntryKind, ToolAction, ToolCall, TranscriptEntry, tool_steps,
};
use recoup_core::memory::judge::{FEWEST_TURNS, MOST_TURNS, SessionTail, TurnSpeaker};
use recoup_core::memory::learn::LearnedNote;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::learn::plan::TaskList;
use recoup_core::memory::learn::trouble::{AgentTrouble, find_troubles};
use recoup_core::memory::{
    EventDetails, EventOrigin, EventTransaction, MemoryEventKind, NoteScope, RecordOutcome,
    Statement,
};

use super::MemoryWorker;
use super::statements;
use crate::hooks::notice;
use crate::hooks::outcome::{self, ProjectPaths};
use crate::jobs::SweepReason;
use crate::transcripts::excerpt::{TranscriptExcerpt, TranscriptFile, TranscriptMark};

/// Entries read at most at once.
const MAX_ENTRIES: usize = 400;

/// Why a transcript is read, and whether a person typed its prompts.
#[derive(Debug, Clone, Copy)]
pub(super) struct SweepOptions {
    pub(super) why: SweepReason,
    pub(super) by_person: bool,
}

/// New part of a transcript, read once for all its users.
struct TranscriptUpdate {
    /// Entries that may be used, oldest first.
    entries: Vec<TranscriptEntry>,
    /// Number of entries, from the first, that were read before.
    known: usize,
    /// Path of the transcript, as its key in memory.
    name: String,
    /// Mark of the previous read.
    before: Option<String>,
    /// Mark of this read.
    mark: String,
    /// True if it was read from the start, not from the previous mark.
    afresh: bool,
}

impl TranscriptUpdate {
    /// Entries that were not read before.
    fn new_entries(&self) -> &[TranscriptEntry] {
        &self.entries[self.known..]
    }
}

impl MemoryWorker<'_> {
    /// Records the new part of a transcript.
    pub(super) fn sweep(
        &self,
        occasion: &EventOrigin,
        place: ProjectPaths<'_>,
        path: &Path,
        reason: SweepOptions,
    ) -> Result<()> {
        let Some(transcript) = TranscriptFile::open(path, occasion.client)? else { return Ok(()) };
        let news = self.read_update(&occasion.scope, &transcript, path)?;
        // A sub-agent's tasks and prompts come from its parent agent.
        let is_own = reason.why != SweepReason::SubAgent;
        self.memory.transact(occasion, |transaction| {
            let learned = record_missed_events(transaction, &news, place)?;
            for line in learned.iter().filter_map(notice::learned) {
                transaction.add_notice(&line)?;
            }
            if is_own {
                statements::record_missed_prompts(transaction, news.new_entries(), reason.by_person)
            } else {
                Ok(())
            }
        })?;
        if is_own {
            self.preserve_doubtful(occasion, &transcript, &news, reason)?;
            self.save_progress(&occasion.scope, &news)?;
        }
        // Also while memory is paused: that part must not be read later.
        self.memory.store_transcript_position(&news.name, &news.mark)?;
        match reason.why {
            SweepReason::SubAgent => Ok(()),
            SweepReason::Compaction => self.count_unseen_entries(&news).map(drop),
            SweepReason::Stop | SweepReason::End => self.extract(occasion, &news),
        }
    }

    fn read_update(
        &self,
        scope: &NoteScope,
        transcript: &TranscriptFile,
        path: &Path,
    ) -> Result<TranscriptUpdate> {
        let name = path.display().to_string();
        let before = self.memory.transcript_position(&name)?;
        let mut excerpt = match before.as_deref().and_then(|mark| mark.parse().ok()) {
            Some(mark) => transcript.entries_since_with_context(&mark, MAX_ENTRIES)?,
            None => TranscriptExcerpt { anew: true, ..transcript.last(MAX_ENTRIES)? },
        };
        let new = self.without_paused_entries(scope, excerpt.entries.split_off(excerpt.known))?;
        let mut entries = self.without_paused_entries(scope, excerpt.entries)?;
        let known = entries.len();
        entries.extend(new);
        let (mark, afresh) = (excerpt.mark.to_string(), excerpt.anew);
        Ok(TranscriptUpdate { entries, known, name, before, mark, afresh })
    }

    /// Before a compaction, keeps doubtful statements since the last one as candidates. At other
    /// times only moves the mark from which there may be any, so that nothing is read twice.
    fn preserve_doubtful(
        &self,
        occasion: &EventOrigin,
        transcript: &TranscriptFile,
        news: &TranscriptUpdate,
        reason: SweepOptions,
    ) -> Result<()> {
        let name = format!("{} before compaction", news.name);
        let from = self.memory.transcript_position(&name)?;
        let is_up_to_date = news.afresh || from == news.before;
        if reason.why != SweepReason::Compaction {
            let is_clear =
                is_up_to_date && !statements::has_doubtful_statements(news.new_entries());
            return if is_clear {
                self.memory.store_transcript_position(&name, &news.mark)
            } else {
                Ok(())
            };
        }
        let earlier = match from.and_then(|mark| mark.parse::<TranscriptMark>().ok()) {
            _ if is_up_to_date => None,
            Some(mark) => Some(transcript.entries_since(&mark, MAX_ENTRIES)?),
            None => Some(transcript.last(MAX_ENTRIES)?),
        };
        let earlier = earlier
            .map(|it| self.without_paused_entries(&occasion.scope, it.entries))
            .transpose()?;
        let entries = earlier.as_deref().unwrap_or(news.new_entries());
        self.memory.transact(occasion, |transaction| {
            statements::preserve_doubtful(transaction, entries, reason.by_person)
        })?;
        self.memory.store_transcript_position(&name, &news.mark)
    }

    /// Updates the checkpoint. The task list is stored beside the transcript's mark, so that new
    /// entries only change it.
    fn save_progress(&self, scope: &NoteScope, news: &TranscriptUpdate) -> Result<()> {
        if self.memory.pause_reason(scope)?.is_some() {
            return Ok(());
        }
        let name = format!("{} plan", news.name);
        let known = if news.afresh { None } else { self.memory.transcript_position(&name)? };
        let mut tasks: TaskList =
            known.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
        if !tasks.apply_entries(&news.entries, news.known) {
            return Ok(());
        }
        let progress = tasks.to_checkpoint();
        if progress.remaining.is_empty() {
            self.memory.drop_checkpoint(scope)?;
        } else {
            self.memory.save_checkpoint(scope, &progress)?;
        }
        let tasks = serde_json::to_string(&tasks).expect("text always serializes");
        self.memory.store_transcript_position(&name, &tasks)
    }

    /// Asks a model for lessons, if enough entries are new since the last time.
    fn extract(&self, occasion: &EventOrigin, news: &TranscriptUpdate) -> Result<()> {
        let Some(judge) = self.judge else { return Ok(()) };
        let unseen = self.count_unseen_entries(news)?;
        if unseen < FEWEST_TURNS {
            return Ok(());
        }
        self.memory.store_transcript_position(&unseen_counter_name(news), "0")?;
        if self.memory.pause_reason(&occasion.scope)?.is_some() {
            return Ok(());
        }
        let from = news.entries.len().saturating_sub(unseen.min(MOST_TURNS));
        let said: Vec<(TurnSpeaker, String)> =
            news.entries[from..].iter().filter_map(judge_turn).collect();
        let turns = said.iter().map(|(speaker, text)| (*speaker, text.as_str()));
        let Some(tail) = SessionTail::new(turns, self.hidden) else { return Ok(()) };
        let learnings = judge.learn(&tail)?;
        // Candidates, like everything that was only inferred.
        let recorded = self.memory.transact(occasion, |transaction| {
            for it in &learnings {
                let scope = transaction.scope_for(false);
                let statement = Statement::new(it.kind, it.text.clone(), it.source, scope);
                if let Some(RecordOutcome::Stored { note, .. }) =
                    transaction.try_record(&statement)?
                {
                    transaction.add_notice(&notice::candidate(&note))?;
                }
            }
            Ok(())
        });
        recorded.map(drop)
    }

    /// Updates and returns the number of entries that the model has not seen; 0 without a model.
    fn count_unseen_entries(&self, news: &TranscriptUpdate) -> Result<usize> {
        let (Some(_), name) = (self.judge, unseen_counter_name(news)) else { return Ok(0) };
        let earlier = if news.afresh { None } else { self.memory.transcript_position(&name)? };
        let earlier = earlier.and_then(|unseen| unseen.parse().ok()).unwrap_or(0_usize);
        let unseen = earlier.saturating_add(news.new_entries().len());
        self.memory.store_transcript_position(&name, &unseen.to_string())?;
        Ok(unseen)
    }

    /// Drops entries from times when memory was paused, and redacts credentials. An entry without a
    /// time has that of the entry before it.
    fn without_paused_entries(
        &self,
        scope: &NoteScope,
        entries: Vec<TranscriptEntry>,
    ) -> Result<Vec<TranscriptEntry>> {
        let (mut heard, mut silent) = (Vec::with_capacity(entries.len()), false);
        let redact = |text: &mut String| {
            if let Cow::Owned(clean) = self.hidden.redact(text) {
                *text = clean;
            }
        };
        for mut entry in entries {
            if let Some(at) = entry.at {
                silent = self.memory.was_paused(scope, at)?;
            }
            if silent {
                continue;
            }
            match &mut entry.what {
                EntryKind::Prompt(text) => {
                    *text = text.clone().reduced_by(|it| self.hidden.redact(it));
                }
                EntryKind::Words(text) | EntryKind::SubAgent(text) => redact(text),
                EntryKind::Outcome(outcome) => redact(&mut outcome.output),
                EntryKind::Call(ToolCall { action: ToolAction::Shell(line), .. }) => {
                    *line = line.without_values(self.hidden);
                }
                EntryKind::Call(ToolCall { action: ToolAction::Plan(plan), .. }) => {
                    plan.texts_mut().into_iter().for_each(redact);
                }
                _ => {}
            }
            heard.push(entry);
        }
        Ok(heard)
    }
}

/// Records outcomes, citations and troubles that hooks may have missed. What a hook has recorded is
/// recognised by its call id, and counts once.
fn record_missed_events(
    transaction: &EventTransaction<'_>,
    news: &TranscriptUpdate,
    place: ProjectPaths<'_>,
) -> Result<Vec<LearnedNote>> {
    let mut learned = Vec::new();
    let TranscriptUpdate { entries, known, .. } = news;
    let known = *known;
    for step in tool_steps(entries).into_iter().filter(|step| step.until >= known) {
        if let Some(outcome) = step.outcome {
            let then = entries[step.until].at.map_or(*transaction, |at| transaction.at_time(at));
            learned.extend(outcome::record_outcome(&then, step.call, outcome, place)?);
        }
    }
    for entry in news.new_entries() {
        if let EntryKind::Words(words) = &entry.what {
            transaction.record_citations(words, &citations(words))?;
        }
    }
    for trouble in find_troubles(entries).into_iter().filter(|it| it.last >= known) {
        let AgentTrouble { sort, subject, error, .. } = trouble;
        let print = Sha256Digest::of(format!("{sort:?}\n{subject}\n{error:?}").as_bytes());
        let call = format!("{} {}", transaction.session(), &print.to_hex()[..16]);
        let detail = error.as_deref();
        let of = EventDetails { subject: Some(&subject), detail, call: Some(&call) };
        transaction.record_event(MemoryEventKind::Trouble, of)?;
    }
    Ok(learned)
}

fn unseen_counter_name(news: &TranscriptUpdate) -> String {
    format!("{} for a model", news.name)
}

/// Converts an entry into a turn for the model.
fn judge_turn(entry: &TranscriptEntry) -> Option<(TurnSpeaker, String)> {
    match &entry.what {
        EntryKind::Prompt(text) => Some((TurnSpeaker::User, text.as_str().to_owned())),
        EntryKind::Words(text) => Some((TurnSpeaker::Agent, text.clone())),
        EntryKind::Call(call) => Some((TurnSpeaker::Agent, format!("$ {}", call.command()?))),
        EntryKind::Outcome(outcome) => {
            let how = match outcome.ended {
                CallStatus::Succeeded => "worked",
                CallStatus::Failed { .. } => "failed",
                CallStatus::Refused => "was refused",
                CallStatus::Denied => "was denied by the user",
                CallStatus::Interrupted => "was stopped by the user",
            };
            Some((TurnSpeaker::Tool, format!("({how}) {}", outcome.output)))
        }
        _ => None,
    }
}
