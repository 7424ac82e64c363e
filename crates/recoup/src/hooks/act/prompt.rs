//! The user typed something: what is worth keeping is kept, that something is still not
//! right is noted, and what is remembered about the matter is added.

use std::collections::HashSet;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::text::shortened;
use recoup_core::memory::classify::{self, Reading, Saying};
use recoup_core::memory::inject::{self, Block, Budget, Candidate, Moment, StaleCheck};
use recoup_core::memory::private::spoken_openly;
use recoup_core::memory::{Happened, NoteId, Of, Recorded, Turn};
use recoup_core::{Result, secrets};

use super::{Here, Taken, notice};
use crate::hooks::event::Prompt;
use crate::hooks::headless::nobody_is_there;
use crate::hooks::reply::Reply;
use crate::hooks::said::{self, Said};
use crate::hooks::wire;
use crate::hooks::worker::job::What;

/// As much of a prompt as a model is asked about.
const LONGEST_ASKED: usize = 4_000;

/// What came of a prompt.
#[derive(Default)]
struct Came {
    /// What was done in the background, for the person.
    told: Vec<String>,
    recorded: Vec<Recorded>,
    block: Option<Block>,
}

pub(super) fn prompted(here: &Here<'_>, prompt: &Prompt) -> Reply {
    let text = spoken_openly(&prompt.text);
    let reading = classify::classify(&text);
    let said = sayings(here, &reading);
    let found = fitting(here, &text);
    // Known by what it is, which must not be readable.
    let session = &here.occasion.session;
    let once = prompt
        .turn
        .as_ref()
        .map(|turn| wire::print(&format!("{session}\n{turn}\n{}", prompt.text)));
    let taken = here.take_in(|turn| {
        let of = Of { call: once.as_deref(), ..Of::default() };
        if !turn.happened(Happened::Prompted, of)? {
            return Ok(Came::default());
        }
        if reading.re_ask {
            turn.reasked(&text)?;
        }
        let recorded = said::record(turn, &said)?;
        if !here.event.heard {
            tell_later(here, turn, &recorded)?;
            return Ok(Came { recorded, ..Came::default() });
        }
        let block = still_fitting(here, turn, &found, &recorded)?;
        let told = if here.has_reader() { turn.told()? } else { Vec::new() };
        Ok(Came { told, recorded, block })
    });
    let mut reply = Reply::default();
    match taken {
        Taken::Done(Came { told, recorded, block }) => {
            ask_model(here, &text, &reading, &recorded);
            for line in &told {
                reply.notice(line);
            }
            recorded.iter().filter_map(notice::remembered).for_each(|line| reply.notice(&line));
            if let Some(block) = block {
                reply.tell(block.text());
            }
        }
        Taken::Failed if !said.is_empty() => {
            let text = said[0].text.clone();
            let kept = keep_for_later(here, once, said);
            reply.notice(&if kept { notice::later(&text) } else { notice::not_remembered(&text) });
        }
        Taken::Failed | Taken::Silent => {}
    }
    reply
}

/// Memory can't be written at the moment: the worker does that as soon as it can be. False
/// where even that can't be noted down.
fn keep_for_later(here: &Here<'_>, once: Option<String>, said: Vec<Said>) -> bool {
    // Whether it is silent now may be known all the same.
    let silent = here.memory.silence(here.scope()).is_ok_and(|silence| silence.is_some());
    !silent && here.later(What::Remember { at: SystemClock.now(), once, said })
}

/// What was kept is told at the next event whose answer a person sees.
fn tell_later(here: &Here<'_>, turn: &Turn<'_>, recorded: &[Recorded]) -> Result<()> {
    if !here.has_person() {
        return Ok(());
    }
    recorded.iter().filter_map(notice::remembered).try_for_each(|line| turn.tell(&line))
}

/// Where the user has agreed to that, a model is asked about what may be a statement. Its
/// "none" is final.
fn ask_model(here: &Here<'_>, text: &str, reading: &Reading, recorded: &[Recorded]) {
    let may_be_one = !recorded.is_empty() || !reading.doubtful.is_empty();
    if !may_be_one || !(here.around.asks_model)() {
        return;
    }
    let stored = recorded.iter().filter(|it| matches!(it, Recorded::Stored { .. }));
    here.later(What::Judge {
        prompt: shortened(&secrets::redact(text), LONGEST_ASKED).into_owned(),
        kept: stored.map(|it| it.note().id.to_string()).collect(),
        tentative: is_tentative(here),
    });
}

fn is_tentative(here: &Here<'_>) -> bool {
    nobody_is_there(here.event, &here.around.entry) && !(here.around.keeps_headless)()
}

/// What was said, as it would be kept. Where nobody was there to say it, it only waits.
fn sayings(here: &Here<'_>, reading: &Reading) -> Vec<Said> {
    if reading.sayings.is_empty() {
        return Vec::new();
    }
    let tentative = is_tentative(here);
    let said = |saying: &Saying| Said {
        kind: saying.kind,
        text: saying.text.clone(),
        quote: Some(saying.quote.clone()),
        universal: saying.universal,
        paths: saying.paths.clone(),
        topic: saying.topic.clone(),
        tentative,
    };
    reading.sayings.iter().map(said).collect()
}

/// Notes about the same thing as a text, with what they need no lock for.
pub(super) fn fitting(here: &Here<'_>, text: &str) -> Vec<Candidate> {
    here.read("what fits", here.memory.fitting(text, here.scope()))
}

/// What concerns a prompt and this context does not have, as it is now: what gave way to
/// the prompt itself is out.
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

/// At most three of what was found, in a block.
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
