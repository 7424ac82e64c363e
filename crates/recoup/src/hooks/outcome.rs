//! What came of a call, written down: by the hook that was told of it, or by the worker
//! that reads of it later. Whoever is second finds it known.

use recoup_core::Result;
use recoup_core::memory::learn::command::Kind;
use recoup_core::memory::learn::failure::{error_line, failure};
use recoup_core::memory::learn::{Learned, Ran};
use recoup_core::memory::transcript::{Action, Call, Ended, Outcome};
use recoup_core::memory::{About, Happened, Turn};
use recoup_core::secrets::RedactedCommand;

use super::place::Place;

/// Writes down what came of a call.
pub(super) fn learn(
    turn: &Turn<'_>,
    call: &Call,
    outcome: &Outcome,
    place: Place<'_>,
) -> Result<Option<Learned>> {
    let kind = call.command().and_then(|line| Kind::of(line)).map(|kind| kind.to_string());
    let subject = kind.as_deref().unwrap_or(&call.tool);
    let ran = kind.as_deref().zip(call.command());
    let ran = ran.map(|(kind, command)| Ran { kind, command: command.clone(), call: &call.id });
    let of = |detail| About { detail, ..About::call(subject, &call.id) };
    let failed = failure(call, outcome);
    match (outcome.ended, failed, ran) {
        // Nobody knows how it would have ended; or its exit code is an answer: nothing was
        // found, nobody reads any more.
        (Ended::Interrupted, ..) | (Ended::Failed { .. }, None, _) => Ok(None),
        (Ended::Refused, ..) => {
            let output = call.command().map(|command| command.hide_in(&outcome.output));
            let why = error_line(output.as_deref().unwrap_or(&outcome.output));
            turn.happened(Happened::Refused, of(why.as_deref())).map(|_| None)
        }
        // Which command, or which server's tool, is a matter of preference; that this edit or
        // this plan was not wanted is not.
        (Ended::Denied, _, Some(ran)) => turn.denied(&ran),
        (Ended::Denied, _, None) if call.tool.starts_with("mcp__") => {
            turn.denied(&Ran { kind: subject, command: RedactedCommand::default(), call: &call.id })
        }
        (Ended::Denied, ..) => turn.happened(Happened::Denied, of(None)).map(|_| None),
        (_, Some(failure), Some(ran)) => turn.failed(&ran, failure.exit, Some(&failure.error)),
        (_, Some(failure), None) => {
            turn.happened(Happened::Failed, of(Some(&failure.error))).map(|_| None)
        }
        (Ended::Succeeded, None, Some(ran)) => turn.succeeded(&ran),
        (Ended::Succeeded, None, None) => {
            edited(turn, call, place)?;
            turn.happened(Happened::Succeeded, of(None)).map(|_| None)
        }
    }
}

/// The files that a call has changed.
pub(super) fn edited(turn: &Turn<'_>, call: &Call, place: Place<'_>) -> Result<()> {
    if !call.edits() {
        return Ok(());
    }
    for (number, path) in files(call).into_iter().enumerate() {
        let (path, id) = (place.name_of(path), format!("{}#{number}", call.id));
        turn.happened(Happened::Edited, About::call(&path, &id))?;
    }
    Ok(())
}

/// The files that a call is about.
pub(super) fn files(call: &Call) -> Vec<&str> {
    match &call.action {
        Action::Edit(paths) => paths.iter().map(String::as_str).collect(),
        Action::Write(path) | Action::Read(path) => vec![path],
        _ => Vec::new(),
    }
}
