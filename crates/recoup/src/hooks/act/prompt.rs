//! Handles a prompt: records its statements, notes a repeated request, and delivers notes about the
//! matter.

use std::collections::HashSet;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::memory::classify::{self, Reading, Saying};
use recoup_core::memory::inject::{self, Block, Budget, Candidate, Moment, StaleCheck};
use recoup_core::memory::private::{spoken_openly, without_private};
use recoup_core::memory::retract::{Retraction, retraction};
use recoup_core::memory::{About, Happened, Note, NoteId, Recorded, Turn};
use recoup_core::{Error, Result, secrets};

use super::{Here, Taken};
use crate::hooks::event::Prompt;
use crate::hooks::notice;
use crate::hooks::reply::Reply;
use crate::hooks::said::{self, Said};
use crate::hooks::wire;
use crate::hooks::worker::job::{Asked, JobKind};

/// A prompt as classified, before memory is read.
struct Heard {
    /// Text without its private parts.
    text: String,
    reading: Reading,
    said: Vec<Said>,
    /// Request to retract what was just remembered.
    retraction: Option<Retraction>,
    /// Digest of the prompt and its turn, so that it counts once.
    once: Option<String>,
    /// Digest of the prompt's words, to recognise it in the transcript.
    print: String,
    /// True if a person said it.
    has_person: bool,
}

/// Result of recording a prompt.
#[derive(Default)]
struct Came {
    /// Queued notices of the worker, for the person.
    told: Vec<String>,
    recorded: Vec<Recorded>,
    /// Notes that the user has retracted.
    retracted: Vec<Note>,
    /// True if a statement was refused because of a secret.
    has_secret: bool,
    block: Option<Block>,
}

pub(super) fn prompted(here: &Here<'_>, prompt: &Prompt) -> Reply {
    let heard = hear(here, prompt);
    let found = fitting(here, &heard.text);
    match here.take_in(|turn| take_in(here, turn, &heard, &found)) {
        Taken::Done(Some(came)) => {
            // The user is told that it will be remembered, but waiting for the disk would take
            // long.
            if !came.recorded.is_empty() {
                here.later(JobKind::Sync);
            }
            ask_model(here, &heard.reading, &came.recorded);
            came.reply()
        }
        Taken::Failed(error) => keep_for_later(here, heard, &error),
        Taken::Done(None) | Taken::Silent => Reply::default(),
    }
}

fn hear(here: &Here<'_>, prompt: &Prompt) -> Heard {
    let text = spoken_openly(&prompt.text).into_owned();
    // A script can't retract what a person said.
    let retraction = retraction(&without_private(&prompt.text)).filter(|_| !is_tentative(here));
    let reading = match retraction {
        Some(_) => Reading::default(),
        None => classify::classify(&text),
    };
    let said = sayings(here, &reading.sayings);
    // Recognised by a digest, which is not readable.
    let session = &here.occasion.session;
    let print = |turn| wire::print(&format!("{session}\n{turn}\n{}", prompt.text));
    let once = prompt.turn.as_ref().map(print);
    let print = said::print(&text);
    Heard { text, reading, said, retraction, once, print, has_person: here.has_person() }
}

/// Records a prompt; none if another event has reported it.
fn take_in(
    here: &Here<'_>,
    turn: &Turn<'_>,
    heard: &Heard,
    found: &[Candidate],
) -> Result<Option<Came>> {
    let of = About { call: heard.once.as_deref(), subject: Some(&heard.print), detail: None };
    if !turn.happened(Happened::Prompted, of)? {
        return Ok(None);
    }
    if heard.reading.re_ask {
        turn.reasked(&heard.text)?;
    }
    let recorded = said::record(turn, &heard.said)?;
    let retracted = heard.retraction.map_or(Ok(Vec::new()), |how| turn.retract(how))?;
    let has_secret = heard.has_person && heard.reading.withheld;
    let mut came = Came { recorded, retracted, has_secret, ..Came::default() };
    if here.event.heard {
        came.block = still_fitting(here, turn, found, &came.recorded)?;
        came.told = if heard.has_person { turn.told()? } else { Vec::new() };
    } else if heard.has_person {
        came.lines().iter().try_for_each(|line| turn.tell(line))?;
    }
    Ok(Some(came))
}

impl Came {
    /// Returns the notices for the person.
    fn lines(&self) -> Vec<String> {
        let secret = self.has_secret.then(|| notice::SECRET.to_owned());
        let retracted = self.retracted.iter().map(notice::retracted);
        let recorded = self.recorded.iter().filter_map(notice::remembered);
        retracted.chain(recorded).chain(secret).collect()
    }

    fn reply(&self) -> Reply {
        let mut reply = Reply::default();
        self.told.iter().chain(&self.lines()).for_each(|line| reply.notice(line));
        if let Some(block) = &self.block {
            reply.tell(block.text());
        }
        reply
    }
}

/// Memory can't be written now: leaves the statements to the worker. The user is told, also if that
/// fails.
fn keep_for_later(here: &Here<'_>, heard: Heard, why: &Error) -> Reply {
    let mut reply = Reply::default();
    let Heard { said, once, print, retraction, .. } = heard;
    if retraction.is_some() {
        reply.notice(&notice::not_retracted(why));
    }
    if said.is_empty() {
        return reply;
    }
    // A candidate is not worth a notice.
    let text = said.iter().find(|said| said.lasting).map(|said| said.text.clone());
    // Reading whether memory is paused may work all the same.
    if here.memory.silence(here.scope()).is_ok_and(|silence| silence.is_some()) {
        return reply;
    }
    let what = JobKind::Remember { at: SystemClock.now(), once, print: Some(print), said };
    let kept = what.waits(why) && here.later(what);
    if let Some(text) = text {
        let line =
            if kept { notice::later(&text, why) } else { notice::not_remembered(&text, why) };
        reply.notice(&line);
    }
    reply
}

/// Queues each possible statement for the model, if the user has agreed to that. Its verdict "no
/// statement" is final.
fn ask_model(here: &Here<'_>, reading: &Reading, recorded: &[Recorded]) {
    let kept = recorded.iter().filter_map(|it| match it {
        Recorded::Stored { note, .. } => Some(Asked::kept(note)),
        Recorded::Confirmed { .. } => None,
    });
    let doubtful = sayings(here, &reading.doubtful).into_iter().map(without_secrets);
    let asked: Vec<Asked> = kept.chain(doubtful.map(Asked::Doubtful)).collect();
    if !asked.is_empty() && (here.around.asks_model)() {
        here.later(JobKind::Judge { asked });
    }
}

fn without_secrets(said: Said) -> Said {
    let clean = |text: String| secrets::redact(&text).into_owned();
    Said { text: clean(said.text), quote: said.quote.map(clean), ..said }
}

pub(super) fn is_tentative(here: &Here<'_>) -> bool {
    !here.has_person() && !(here.around.keeps_headless)()
}

/// Converts sayings to statements; tentative ones if no person is present.
fn sayings(here: &Here<'_>, found: &[Saying]) -> Vec<Said> {
    if found.is_empty() {
        return Vec::new();
    }
    let tentative = is_tentative(here);
    found.iter().map(|saying| Said::new(saying, tentative)).collect()
}

/// Finds notes about the matter of a text, without a lock.
pub(super) fn fitting(here: &Here<'_>, text: &str) -> Vec<Candidate> {
    here.read("what fits", here.memory.fitting(text, here.scope()))
}

/// Delivers the notes about a prompt that this context does not have, without those that the prompt
/// superseded.
fn still_fitting(
    here: &Here<'_>,
    turn: &Turn<'_>,
    found: &[Candidate],
    recorded: &[Recorded],
) -> Result<Option<Block>> {
    if found.is_empty() {
        return Ok(None);
    }
    let mut known = turn.given()?;
    known.extend(recorded.iter().flat_map(Recorded::instead_of).map(|note| note.id.clone()));
    let block = concerning(here, found, &known, Budget::default());
    if let Some(block) = &block {
        turn.give(block)?;
    }
    Ok(block)
}

/// Makes a block of at most three candidates.
pub(super) fn concerning(
    here: &Here<'_>,
    found: &[Candidate],
    known: &HashSet<NoteId>,
    budget: Budget,
) -> Option<Block> {
    let stale = StaleCheck::new(here.project.root());
    let context = here.context_of(known, budget);
    inject::concerning(found, Moment::default(), &context, |note| stale.of(note))
}
