//! Records outcomes of tool calls: in the hook that reports them, or in the worker that reads them
//! in a transcript. The second one finds them recorded.

use recoup_core::Result;
use recoup_core::memory::learn::command::Kind;
use recoup_core::memory::learn::failure::{error_line, failure};
use recoup_core::memory::learn::{Learned, Ran};
use recoup_core::memory::transcript::{Action, Call, Ended, Outcome};
use recoup_core::memory::{About, Happened, Turn};
use recoup_core::secrets::RedactedCommand;

use super::place::Place;

/// Records the outcome of a call, and learns from it.
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
        // Interrupted: the end is unknown. Failed without a failure: the exit code is an answer,
        // such as "nothing found" or a closed pipe.
        (Ended::Interrupted, ..) | (Ended::Failed { .. }, None, _) => Ok(None),
        (Ended::Refused, ..) => {
            let output = call.command().map(|command| command.hide_in(&outcome.output));
            let why = error_line(output.as_deref().unwrap_or(&outcome.output));
            turn.happened(Happened::Refused, of(why.as_deref())).map(|_| None)
        }
        // Refusing a command or a server's tool shows a preference; refusing one edit or plan does
        // not.
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

/// Records the files that a call changed.
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

/// Files that a call names.
pub(super) fn files(call: &Call) -> Vec<&str> {
    match &call.action {
        Action::Edit(paths) => paths.iter().map(String::as_str).collect(),
        Action::Write(path) | Action::Read(path) => vec![path],
        _ => Vec::new(),
    }
}
