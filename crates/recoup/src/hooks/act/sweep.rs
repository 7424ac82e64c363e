//! What only the transcript tells: that the user did not allow a call; and how commands
//! ended, where the client's events do not say. Read from the end, what is new since the
//! last time, and no more than a hook has the time for.

use recoup_core::Result;
use recoup_core::memory::Turn;
use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Ended, Entry, Step, steps};

use super::Here;
use super::tool::learn;
use crate::hooks::mark::Mark;
use crate::hooks::transcript::{self, Excerpt, Transcript};

/// So much of a transcript is looked at, and so many entries of it.
const MOST_READ: u64 = 512 << 10;
const MOST_ENTRIES: usize = 400;

/// What is new in a transcript.
pub(super) struct Sweep {
    entries: Vec<Entry>,
    mark: String,
}

impl Sweep {
    /// Looks at what is new; none where there is nothing, or it can't be read.
    pub(super) fn look(here: &Here<'_>) -> Option<Self> {
        let client = match here.event.client {
            Client::ClaudeCode => transcript::Client::ClaudeCode,
            Client::Codex => transcript::Client::Codex,
            // Its events tell everything.
            Client::Pi => return None,
        };
        let path = here.event.transcript.as_deref()?;
        let transcript = here.read("opening the transcript", Transcript::open(path, client))?;
        let transcript = transcript.reading_at_most(MOST_READ);
        let known = here.read("how far it was read", here.memory.mark(&here.occasion.session));
        let before = known.as_deref();
        let read = match before.and_then(|mark| mark.parse::<Mark>().ok()) {
            Some(mark) => transcript.since(&mark, MOST_ENTRIES),
            None => transcript.last(MOST_ENTRIES),
        };
        let read = here.read("reading the transcript", read.map(Some));
        let Excerpt { entries, mark, .. } = read?;
        let mark = mark.to_string();
        (before != Some(mark.as_str())).then_some(Self { entries, mark })
    }

    /// Writes down what it tells. What is known by now is not told twice.
    pub(super) fn take_in(&self, here: &Here<'_>, turn: &Turn<'_>) -> Result<()> {
        let told = |step: &Step<'_>| match here.event.client {
            Client::ClaudeCode => step.outcome.is_some_and(|it| it.ended == Ended::Denied),
            Client::Codex | Client::Pi => step.outcome.is_some(),
        };
        for step in steps(&self.entries).iter().filter(|step| told(step)) {
            let Some(outcome) = step.outcome else { continue };
            let at = self.entries.get(step.until).and_then(|entry| entry.at);
            let then = at.map_or(*turn, |at| turn.at(at));
            learn(here, &then, step.call, outcome)?;
        }
        turn.read_up_to(&self.mark)
    }
}
