//! `recoup memory review`: candidates, one by one, for the user to decide about.

use clap::Args;
use recoup_core::memory::{Memory, Note, NoteScope};
use recoup_core::{Error, Result};

use super::NoteReport;
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Decide about candidates one by one, the latest first.
///
/// A candidate is something that may be a rule: it was not clear whether you meant it to last. One
/// key decides: k keeps it as a rule, d drops it, e changes its text and keeps it, s skips it, q
/// ends the review.
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// Only list the candidates, as a JSON array
    #[arg(long)]
    json: bool,
}

/// Decision about a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum ReviewDecision {
    Keep,
    Drop,
    Edit,
    Skip,
    Quit,
}

impl ReviewDecision {
    /// Asks until a key decides.
    pub(in crate::cli) fn ask() -> Self {
        loop {
            match ui::ask_key("keep, drop, edit, skip, quit? [k/d/e/s/q]").map(Self::of_key) {
                None => return Self::Quit,
                Some(Some(decision)) => return decision,
                Some(None) => {}
            }
        }
    }

    /// Decision of a key; none if the key means nothing here.
    fn of_key(key: char) -> Option<Self> {
        match key.to_ascii_lowercase() {
            'k' | 'y' => Some(Self::Keep),
            'd' | 'n' => Some(Self::Drop),
            'e' => Some(Self::Edit),
            's' | ' ' | '\n' | '\r' => Some(Self::Skip),
            'q' | '\u{1b}' | '\u{3}' | '\u{4}' => Some(Self::Quit),
            _ => None,
        }
    }
}

impl ReviewArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let candidates = app.memory().candidates(&app.note_scope(false))?;
        if self.json {
            let reports: Vec<NoteReport> = candidates.iter().map(NoteReport::new).collect();
            ui::json(&reports)?;
            return Ok(CommandAnswer::Yes);
        }
        if candidates.is_empty() {
            ui::say("No possible rules wait here");
            return Ok(CommandAnswer::Yes);
        }
        if !ui::can_ask() {
            return Err(Error::usage(
                "review needs a terminal; use --json to list the candidates, and \
                 `recoup memory promote ID` or `recoup memory retire ID` to decide",
            )
            .into());
        }
        let memory = app.memory_for_writing()?;
        let count = candidates.len();
        for (at, note) in candidates.iter().enumerate() {
            show_candidate(note, at + 1, count);
            let decision = ReviewDecision::ask();
            if decision == ReviewDecision::Quit {
                break;
            }
            decide(&memory, note, decision)?;
        }
        app.refresh_mirrors(&[app.note_scope(false), app.note_scope(true)]);
        Ok(CommandAnswer::Yes)
    }
}

fn show_candidate(note: &Note, number: usize, count: usize) {
    let reach = if note.scope == NoteScope::Universal { ", in all projects" } else { "" };
    ui::say(format_args!("{number}/{count}  {} ({}{reach}, {})", note.text, note.kind, note.id));
    if let Some(quote) = note.quote.as_ref().filter(|quote| **quote != note.text) {
        ui::say(format_args!("      you said: {quote}"));
    }
}

/// Carries out a decision. A candidate that has changed meanwhile is left alone.
fn decide(memory: &Memory, note: &Note, decision: ReviewDecision) -> Result<()> {
    let keep = || -> Result<()> {
        let (note, instead_of) = memory.agree(&memory.suggestion(&note.id)?)?;
        ui::say(format_args!("Kept: {}", note.text));
        for old in instead_of {
            ui::say(format_args!("Instead of: {} ({})", old.text, old.id));
        }
        Ok(())
    };
    match decision {
        ReviewDecision::Keep => keep(),
        ReviewDecision::Drop => {
            let note = memory.retire(&note.id)?;
            ui::say(format_args!("Dropped: {}", note.text));
            Ok(())
        }
        ReviewDecision::Edit => {
            let text = ui::ask_text("new text:");
            if text.is_empty() {
                return Ok(());
            }
            memory.edit(&note.id, &text)?;
            keep()
        }
        ReviewDecision::Skip | ReviewDecision::Quit => Ok(()),
    }
}
