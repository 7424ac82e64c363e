//! What can be told from entries alone.

mod citation;
mod command;
mod error_line;
mod failure;
mod passwords;
mod trouble;

use recoup_core::memory::capture::transcript::{
    CallOutcome, CallStatus, EntryKind, ToolAction, ToolCall, TranscriptEntry,
};

/// A conversation that is put together step by step.
#[derive(Default)]
struct Talk {
    entries: Vec<TranscriptEntry>,
}

impl Talk {
    fn push(mut self, what: EntryKind) -> Self {
        self.entries.push(TranscriptEntry { at: None, agent: None, what });
        self
    }

    fn user(self, text: &str) -> Self {
        self.push(EntryKind::prompt(text).unwrap())
    }

    fn agent(self, text: &str) -> Self {
        self.push(EntryKind::words(text).unwrap())
    }

    fn step(
        self,
        tool: &str,
        action: ToolAction,
        input: &str,
        ended: CallStatus,
        output: &str,
    ) -> Self {
        let id = format!("call-{}", self.entries.len());
        let call = ToolCall::new(&id, tool, action, input.as_bytes());
        self.push(EntryKind::Call(call))
            .push(EntryKind::Outcome(CallOutcome::new(&id, ended, output)))
    }

    fn run(self, line: &str, ended: CallStatus, output: &str) -> Self {
        self.step("Bash", ToolAction::shell(line), line, ended, output)
    }

    fn ok(self, line: &str, output: &str) -> Self {
        self.run(line, CallStatus::Succeeded, output)
    }

    fn fails(self, line: &str, output: &str) -> Self {
        self.run(line, CallStatus::Failed { exit: Some(1) }, output)
    }

    fn edit(self, path: &str) -> Self {
        let input = format!("{path} {}", self.entries.len());
        self.step(
            "Edit",
            ToolAction::Edit(vec![path.to_owned()]),
            &input,
            CallStatus::Succeeded,
            "done",
        )
    }
}

fn shell(line: &str) -> ToolCall {
    ToolCall::new("call", "Bash", ToolAction::shell(line), line.as_bytes())
}
