//! Tool calls: before one the few rules that concern it, after it what came of it.

use recoup_core::Result;
use recoup_core::base::text::shortened;
use recoup_core::memory::inject::{self, Budget, Candidate, Moment, StaleCheck};
use recoup_core::memory::learn::command::Kind;
use recoup_core::memory::learn::failure::{error_line, failure};
use recoup_core::memory::learn::{Learned, Ran};
use recoup_core::memory::transcript::{Action, Call, Ended, Outcome};
use recoup_core::memory::{Happened, Of, Turn};

use super::{Here, notice, prompt};
use crate::hooks::event::What;
use crate::hooks::reply::Reply;

/// As much of a call as is looked at for what it is about.
const LOOKED_AT: usize = 2_000;

/// What is about to be called is compared with the rules.
pub(super) fn calling(here: &Here<'_>, call: &Call) -> Reply {
    let mut reply = Reply::default();
    tell_what_concerns(here, call, &mut reply);
    reply
}

/// Rules that really concern a call, if this context does not have them.
fn tell_what_concerns(here: &Here<'_>, call: &Call, reply: &mut Reply) {
    let touched: Vec<String> = files(call).iter().map(|path| here.from_root(path)).collect();
    let touched: Vec<&str> = touched.iter().map(String::as_str).collect();
    let found = candidates(here, call, &touched);
    if found.is_empty() {
        return;
    }
    let known = here.read("what was given", here.memory.given(&here.occasion.context));
    let stale = StaleCheck::new(here.project.root());
    let context = here.context_of(&known, Budget::default());
    let moment = Moment { touches: &touched };
    let block = inject::concerning(&found, moment, &context, |note| stale.missing(&note.text));
    let Some(block) = block else { return };
    // Of two calls at the same time one is told.
    if here.take_in(|turn| turn.give(&block)).done().is_some_and(|new| new > 0) {
        reply.tell(block.text());
    }
}

fn candidates(here: &Here<'_>, call: &Call, touched: &[&str]) -> Vec<Candidate> {
    let mut found = here.read("rules for files", here.memory.for_files(touched, here.scope()));
    let about = match &call.action {
        Action::Shell(line) => shortened(line, LOOKED_AT).into_owned(),
        Action::Edit(_) | Action::Write(_) => touched.join(" "),
        // A tool of a server says by its name what it does.
        Action::Other if call.tool.starts_with("mcp__") => call.tool.replace("__", " "),
        Action::Read(_) | Action::Agent | Action::Wait | Action::Other => return found,
    };
    for candidate in prompt::fitting(here, &about) {
        if found.iter().all(|other| other.note.id != candidate.note.id) {
            found.push(candidate);
        }
    }
    found
}

fn files(call: &Call) -> Vec<&str> {
    match &call.action {
        Action::Edit(paths) => paths.iter().map(String::as_str).collect(),
        Action::Write(path) | Action::Read(path) => vec![path],
        _ => Vec::new(),
    }
}

/// What came of a call. Where a client lets nothing be said before one, rules that concern
/// it come with its result.
pub(super) fn called(here: &Here<'_>, call: &Call, outcome: &Outcome) -> Reply {
    let mut reply = Reply::default();
    let learned = here.take_in(|turn| learn(here, turn, call, outcome)).done().flatten();
    if let Some(line) = learned.as_ref().and_then(notice::learned) {
        reply.notice(&line);
    }
    if here.event.client == recoup_core::memory::hooked::Client::Pi {
        tell_what_concerns(here, call, &mut reply);
    }
    reply
}

/// How it ended is not known; that files were changed is.
pub(super) fn called_somehow(here: &Here<'_>, call: &Call) -> Reply {
    if call.edits() {
        here.take_in(|turn| edited(here, turn, call));
    }
    Reply::default()
}

/// Calls that were turned down.
pub(super) fn batch(here: &Here<'_>, calls: &[(Call, Outcome)]) -> Reply {
    debug_assert!(matches!(here.event.what, What::Batch(_)), "only batches come here");
    if !calls.is_empty() {
        here.take_in(|turn| {
            calls.iter().try_for_each(|(call, outcome)| learn(here, turn, call, outcome).map(drop))
        });
    }
    Reply::default()
}

/// Writes down what came of a call.
pub(super) fn learn(
    here: &Here<'_>,
    turn: &Turn<'_>,
    call: &Call,
    outcome: &Outcome,
) -> Result<Option<Learned>> {
    let kind = call.command().and_then(Kind::of).map(|kind| kind.to_string());
    let subject = kind.as_deref().unwrap_or(&call.tool);
    let ran = kind.as_deref().zip(call.command());
    let ran = ran.map(|(kind, command)| Ran { kind, command, call: &call.id });
    let of = |detail| Of { detail, ..Of::call(subject, &call.id) };
    let failed = failure(call, outcome);
    match (outcome.ended, failed, ran) {
        (Ended::Interrupted, ..) => Ok(None),
        (Ended::Refused, ..) => {
            let why = error_line(&outcome.output);
            turn.happened(Happened::Refused, of(why.as_deref())).map(|_| None)
        }
        (Ended::Denied, _, ran) => {
            let command = call.command().unwrap_or_default();
            turn.denied(&ran.unwrap_or(Ran { kind: subject, command, call: &call.id }))
        }
        (_, Some(failure), Some(ran)) => turn.failed(&ran, Some(&failure.error)),
        (_, Some(failure), None) => {
            turn.happened(Happened::Failed, of(Some(&failure.error))).map(|_| None)
        }
        // An exit code that is an answer: nothing was found, nobody reads any more.
        (Ended::Failed { .. }, None, _) => Ok(None),
        (Ended::Succeeded, None, Some(ran)) => turn.succeeded(&ran),
        (Ended::Succeeded, None, None) => {
            edited(here, turn, call)?;
            turn.happened(Happened::Succeeded, of(None)).map(|_| None)
        }
    }
}

/// The files that a call has changed.
fn edited(here: &Here<'_>, turn: &Turn<'_>, call: &Call) -> Result<()> {
    if !call.edits() {
        return Ok(());
    }
    for (number, path) in files(call).into_iter().enumerate() {
        let (path, id) = (here.from_root(path), format!("{}#{number}", call.id));
        turn.happened(Happened::Edited, Of::call(&path, &id))?;
    }
    Ok(())
}
