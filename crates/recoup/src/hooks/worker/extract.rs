//! Asks a model for lessons at the end of a session.

use recoup_core::Result;
use recoup_core::memory::judge::{FEWEST_TURNS, Learning, MOST_TURNS, Speaker, Tail};
use recoup_core::memory::transcript::{Ended, Entry, EntryKind, Outcome};
use recoup_core::memory::{Occasion, Recorded, Statement, Turn};

use super::Worker;
use super::sweep::News;
use crate::hooks::notice;

impl Worker<'_> {
    /// Asks a model for lessons, if enough entries are new since the last time.
    pub(super) fn extract(&self, occasion: &Occasion, news: &News) -> Result<()> {
        let Some(judge) = self.judge else { return Ok(()) };
        let unseen = self.extract_later(news)?;
        if unseen < FEWEST_TURNS {
            return Ok(());
        }
        self.memory.sweep(&unseen_of(news), "0")?;
        if self.memory.silence(&occasion.scope)?.is_some() {
            return Ok(());
        }
        let from = news.entries.len().saturating_sub(unseen.min(MOST_TURNS));
        let said: Vec<(Speaker, String)> = news.entries[from..].iter().filter_map(said).collect();
        let turns = said.iter().map(|(speaker, text)| (*speaker, text.as_str()));
        let Some(tail) = Tail::new(turns, self.hidden) else { return Ok(()) };
        let learnings = judge.learn(&tail)?;
        self.memory
            .turn(occasion, |turn| learnings.iter().try_for_each(|it| keep(turn, it)))
            .map(drop)
    }

    /// Updates and returns the number of entries that the model has not seen; 0 without a model.
    pub(super) fn extract_later(&self, news: &News) -> Result<usize> {
        let (Some(_), name) = (self.judge, unseen_of(news)) else { return Ok(0) };
        let earlier = if news.afresh { None } else { self.memory.swept(&name)? };
        let earlier = earlier.and_then(|unseen| unseen.parse().ok()).unwrap_or(0_usize);
        let unseen = earlier.saturating_add(news.latest().len());
        self.memory.sweep(&name, &unseen.to_string())?;
        Ok(unseen)
    }
}

fn unseen_of(news: &News) -> String {
    format!("{} for a model", news.name)
}

/// Records a model's lesson as a candidate, like everything that was only inferred.
fn keep(turn: &Turn<'_>, learning: &Learning) -> Result<()> {
    let scope = turn.scope_for(false);
    let statement = Statement::new(learning.kind, learning.text.clone(), learning.source, scope);
    match turn.try_record(&statement)? {
        Some(Recorded::Stored { note, .. }) => turn.tell(&notice::candidate(&note)),
        Some(Recorded::Confirmed { .. }) | None => Ok(()),
    }
}

/// Converts an entry into a turn for the model.
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
