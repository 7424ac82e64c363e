//! Reading on in a transcript: what hooks have missed is taken in, and a session's end is
//! looked at as a whole.

use std::borrow::Cow;
use std::path::Path;

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::memory::classify::classify;
use recoup_core::memory::judge::{FEWEST_TURNS, Learning, MOST_TURNS, Speaker, Tail};
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::learn::trouble::{Sort, troubles};
use recoup_core::memory::learn::{Learned, plan};
use recoup_core::memory::transcript::{Action, Call, Ended, Entry, EntryKind, Outcome, steps};
use recoup_core::memory::{
    About, Happened, NoteScope, Occasion, Recorded, Source, Statement, Turn,
};

use super::Worker;
use super::job::Why;
use crate::hooks::mark::Mark;
use crate::hooks::notice;
use crate::hooks::outcome;
use crate::hooks::place::Place;
use crate::hooks::transcript::{Excerpt, Transcript};

/// So many entries are looked at, at once.
const MOST: usize = 400;

impl Worker<'_> {
    /// Takes in what is new in a transcript.
    pub(super) fn sweep(
        &self,
        occasion: &Occasion,
        place: Place<'_>,
        path: &Path,
        why: Why,
    ) -> Result<()> {
        let Some(transcript) = Transcript::open(path, occasion.client)? else { return Ok(()) };
        let name = path.display().to_string();
        let mut excerpt = match self.mark(&name)? {
            Some(mark) => transcript.onward(&mark, MOST)?,
            None => transcript.last(MOST)?,
        };
        let new = self.audible(&occasion.scope, excerpt.entries.split_off(excerpt.known))?;
        let mut entries = self.audible(&occasion.scope, excerpt.entries)?;
        let known = entries.len();
        entries.extend(new);
        self.memory.turn(occasion, |turn| {
            for line in take_in(turn, &entries, known, place)?.iter().filter_map(notice::learned) {
                turn.tell(&line)?;
            }
            Ok(())
        })?;
        // Also where nothing is kept at the moment: nobody catches up on that later.
        self.memory.sweep(&name, &excerpt.mark.to_string())?;
        match why {
            // What a sub-agent has to do, and what it was told, is another's business.
            Why::SubAgent => Ok(()),
            Why::Compaction => {
                self.preserve(occasion, &transcript, &format!("{name} before compaction"))
            }
            Why::Stop | Why::End => {
                self.save_progress(occasion, &transcript)?;
                self.extract(occasion, &transcript, &format!("{name} for a model"))
            }
        }
    }

    /// What would be lost with the context: statements that nobody was sure about, since
    /// the last compaction, wait for evidence.
    fn preserve(&self, occasion: &Occasion, transcript: &Transcript, name: &str) -> Result<()> {
        let excerpt = self.new_in(transcript, name)?;
        let entries = self.audible(&occasion.scope, excerpt.entries)?;
        self.memory.turn(occasion, |turn| preserve(turn, &entries))?;
        self.memory.sweep(name, &excerpt.mark.to_string())
    }

    fn new_in(&self, transcript: &Transcript, name: &str) -> Result<Excerpt> {
        match self.mark(name)? {
            Some(mark) => transcript.since(&mark, MOST),
            None => transcript.last(MOST),
        }
    }

    fn mark(&self, name: &str) -> Result<Option<Mark>> {
        Ok(self.memory.swept(name)?.and_then(|mark| mark.parse().ok()))
    }

    /// Without what happened while nothing was to be kept, and without what the
    /// environment keeps under a credential's name. What has no time of its own happened
    /// when the entry before it did.
    fn audible(&self, scope: &NoteScope, entries: Vec<Entry>) -> Result<Vec<Entry>> {
        let (mut heard, mut silent) = (Vec::with_capacity(entries.len()), false);
        for entry in entries {
            if let Some(at) = entry.at {
                silent = self.memory.was_silent(scope, at)?;
            }
            if !silent {
                heard.push(self.without_credentials(entry));
            }
        }
        Ok(heard)
    }

    fn without_credentials(&self, mut entry: Entry) -> Entry {
        let text = match &mut entry.what {
            EntryKind::Prompt(text) | EntryKind::Words(text) | EntryKind::SubAgent(text) => text,
            EntryKind::Outcome(outcome) => &mut outcome.output,
            EntryKind::Call(Call { action: Action::Shell(line), .. }) => line,
            EntryKind::Call(Call { action: Action::Plan(plan), .. }) => {
                for task in plan.texts_mut() {
                    *task = self.hidden.redact(task).into_owned();
                }
                return entry;
            }
            _ => return entry,
        };
        if let Cow::Owned(clean) = self.hidden.redact(text) {
            *text = clean;
        }
        entry
    }

    /// Where work stands, if the agent has a list of what is to be done.
    fn save_progress(&self, occasion: &Occasion, transcript: &Transcript) -> Result<()> {
        let entries = self.audible(&occasion.scope, transcript.last(MOST)?.entries)?;
        match plan::progress(&entries) {
            None => Ok(()),
            Some(done) if done.remaining.is_empty() => {
                self.memory.drop_checkpoint(&occasion.scope).map(drop)
            }
            Some(progress) => self.memory.save_checkpoint(&occasion.scope, &progress).map(drop),
        }
    }

    /// Asks a model what the end of a session has taught, when enough is new since it was
    /// asked last.
    fn extract(&self, occasion: &Occasion, transcript: &Transcript, name: &str) -> Result<()> {
        let Some(judge) = self.judge else { return Ok(()) };
        let excerpt = self.new_in(transcript, name)?;
        let entries = self.audible(&occasion.scope, excerpt.entries)?;
        if entries.len() < FEWEST_TURNS {
            return Ok(());
        }
        self.memory.sweep(name, &excerpt.mark.to_string())?;
        if self.memory.silence(&occasion.scope)?.is_some() {
            return Ok(());
        }
        let last = &entries[entries.len().saturating_sub(MOST_TURNS)..];
        let said: Vec<(Speaker, String)> = last.iter().filter_map(said).collect();
        let turns = said.iter().map(|(speaker, text)| (*speaker, text.as_str()));
        let Some(tail) = Tail::new(turns, self.hidden) else { return Ok(()) };
        let learnings = judge.learn(&tail)?;
        self.memory
            .turn(occasion, |turn| learnings.iter().try_for_each(|it| keep(turn, it)))
            .map(drop)
    }
}

/// Everything that hooks may have missed, and that did not end among the first `known`
/// entries. What hooks told us is known by the name of its call, and counts once.
fn take_in(
    turn: &Turn<'_>,
    entries: &[Entry],
    known: usize,
    place: Place<'_>,
) -> Result<Vec<Learned>> {
    let mut learned = Vec::new();
    for step in steps(entries).into_iter().filter(|step| step.until >= known) {
        if let Some(outcome) = step.outcome {
            let then = entries[step.until].at.map_or(*turn, |at| turn.at(at));
            learned.extend(outcome::learn(&then, step.call, outcome, place)?);
        }
    }
    for entry in &entries[known..] {
        if let EntryKind::Words(words) = &entry.what {
            turn.cited(words, &citations(words))?;
        }
    }
    for trouble in troubles(entries).into_iter().filter(|it| it.entries.end > known) {
        if matches!(trouble.sort, Sort::Stuck | Sort::Backtracked | Sort::Repeated) {
            let subject = trouble.kind.map_or(trouble.call, |kind| kind.to_string());
            let print = Digest::of(
                format!("{:?}\n{subject}\n{:?}", trouble.sort, trouble.error).as_bytes(),
            );
            let call = format!("{} {}", turn.session(), &print.to_hex()[..16]);
            let detail = trouble.error.as_deref();
            let of = About { subject: Some(&subject), detail, call: Some(&call) };
            turn.happened(Happened::Trouble, of)?;
        }
    }
    Ok(learned)
}

/// Statements that nobody was sure about wait for evidence.
fn preserve(turn: &Turn<'_>, entries: &[Entry]) -> Result<()> {
    let mut preserved = 0;
    for entry in entries.iter().filter(|entry| entry.agent.is_none()) {
        let EntryKind::Prompt(prompt) = &entry.what else { continue };
        for saying in classify(prompt).doubtful {
            let scope = turn.scope_for(saying.universal);
            let statement = Statement {
                quote: Some(saying.quote),
                topic: saying.topic,
                paths: saying.paths,
                tentative: true,
                ..Statement::new(saying.kind, saying.text, Source::User, scope)
            };
            if let Some(Recorded::Stored { .. }) = turn.try_record(&statement)? {
                preserved += 1;
            }
        }
    }
    notice::preserved(preserved).map_or(Ok(()), |line| turn.tell(&line))
}

/// What a model learned is a candidate, like all that was only inferred.
fn keep(turn: &Turn<'_>, learning: &Learning) -> Result<()> {
    let scope = turn.scope_for(false);
    let statement = Statement::new(learning.kind, learning.text.clone(), learning.source, scope);
    match turn.try_record(&statement)? {
        Some(Recorded::Stored { note, .. }) => turn.tell(&notice::candidate(&note)),
        Some(Recorded::Confirmed { .. }) | None => Ok(()),
    }
}

/// One entry as a model is told it.
fn said(entry: &Entry) -> Option<(Speaker, String)> {
    match &entry.what {
        EntryKind::Prompt(text) => Some((Speaker::User, text.clone())),
        EntryKind::Words(text) => Some((Speaker::Agent, text.clone())),
        EntryKind::Call(call) => Some((Speaker::Agent, format!("$ {}", call.command()?))),
        EntryKind::Outcome(outcome) => Some((Speaker::Tool, ended(outcome))),
        _ => None,
    }
}

fn ended(outcome: &Outcome) -> String {
    let how = match outcome.ended {
        Ended::Succeeded => "worked",
        Ended::Failed { .. } => "failed",
        Ended::Refused => "was refused",
        Ended::Denied => "was denied by the user",
        Ended::Interrupted => "was stopped by the user",
    };
    format!("({how}) {}", outcome.output)
}
