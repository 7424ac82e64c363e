//! Records outcomes of tool calls: in the hook that reports them, or in the worker that reads them
//! in a transcript. The second one finds them recorded.

use std::path::Path;

use recoup_core::Result;
use recoup_core::memory::capture::transcript::{CallOutcome, CallStatus, ToolAction, ToolCall};
use recoup_core::memory::learn::failure::{detect_failure, error_line};
use recoup_core::memory::learn::{CompletedCommand, LearnedNote};
use recoup_core::memory::shell::CommandKind;
use recoup_core::memory::{EventDetails, EventTransaction, MemoryEventKind};
use recoup_core::secrets::RedactedCommand;

/// Directories that relate a client's paths to its project, so that files have the same names
/// whichever client reports them.
#[derive(Debug, Clone, Copy)]
pub struct ProjectPaths<'a> {
    /// The project's root.
    pub root: &'a Path,
    /// Base of relative paths.
    pub cwd: &'a Path,
}

impl ProjectPaths<'_> {
    /// Path relative to the project's root; absolute if it is outside.
    pub(super) fn project_path(&self, path: &str) -> String {
        let whole = self.cwd.join(path);
        let inside = |path: &Path| {
            path.strip_prefix(self.root).ok().map(|it| it.to_string_lossy().into_owned())
        };
        inside(&whole)
            .or_else(|| inside(&whole.canonicalize().ok()?))
            .unwrap_or_else(|| whole.to_string_lossy().into_owned())
    }
}

/// Records the outcome of a call, and learns from it.
pub(super) fn record_outcome(
    transaction: &EventTransaction<'_>,
    call: &ToolCall,
    outcome: &CallOutcome,
    place: ProjectPaths<'_>,
) -> Result<Option<LearnedNote>> {
    let kind = call.command().and_then(|line| CommandKind::of(line)).map(|kind| kind.to_string());
    let subject = kind.as_deref().unwrap_or(&call.tool);
    let ran = kind.as_deref().zip(call.command());
    let ran = ran.map(|(kind, command)| CompletedCommand {
        kind,
        command: command.clone(),
        call: &call.id,
    });
    let of = |detail| EventDetails { detail, ..EventDetails::call(subject, &call.id) };
    let failed = detect_failure(call, outcome);
    match (outcome.ended, failed, ran) {
        // Interrupted: the end is unknown. Failed without a failure: the exit code is an answer,
        // such as "nothing found" or a closed pipe.
        (CallStatus::Interrupted, ..) | (CallStatus::Failed { .. }, None, _) => Ok(None),
        (CallStatus::Refused, ..) => {
            let output = call.command().map(|command| command.hide_values_in(&outcome.output));
            let why = error_line(output.as_deref().unwrap_or(&outcome.output));
            transaction.record_event(MemoryEventKind::Refused, of(why.as_deref())).map(|_| None)
        }
        // Refusing a command or a server's tool shows a preference; refusing one edit or plan does
        // not.
        (CallStatus::Denied, _, Some(ran)) => transaction.record_denial(&ran),
        (CallStatus::Denied, _, None) if call.tool.starts_with("mcp__") => transaction
            .record_denial(&CompletedCommand {
                kind: subject,
                command: RedactedCommand::default(),
                call: &call.id,
            }),
        (CallStatus::Denied, ..) => {
            transaction.record_event(MemoryEventKind::Denied, of(None)).map(|_| None)
        }
        (_, Some(failure), Some(ran)) => {
            transaction.record_failure(&ran, failure.exit, Some(&failure.error))
        }
        (_, Some(failure), None) => transaction
            .record_event(MemoryEventKind::Failed, of(Some(&failure.error)))
            .map(|_| None),
        (CallStatus::Succeeded, None, Some(ran)) => transaction.record_success(&ran),
        (CallStatus::Succeeded, None, None) => {
            record_edits(transaction, call, place)?;
            transaction.record_event(MemoryEventKind::Succeeded, of(None)).map(|_| None)
        }
    }
}

/// Records the files that a call changed.
pub(super) fn record_edits(
    transaction: &EventTransaction<'_>,
    call: &ToolCall,
    place: ProjectPaths<'_>,
) -> Result<()> {
    if !call.edits() {
        return Ok(());
    }
    for (number, path) in call_files(call).into_iter().enumerate() {
        let (path, id) = (place.project_path(path), format!("{}#{number}", call.id));
        transaction.record_event(MemoryEventKind::Edited, EventDetails::call(&path, &id))?;
    }
    Ok(())
}

/// Files that a call names.
pub(super) fn call_files(call: &ToolCall) -> Vec<&str> {
    match &call.action {
        ToolAction::Edit(paths) => paths.iter().map(String::as_str).collect(),
        ToolAction::Write(path) | ToolAction::Read(path) => vec![path],
        _ => Vec::new(),
    }
}
