//! What can be told from entries alone.

mod citation;
mod command;
mod error_line;
mod failure;
mod passwords;
mod trouble;

use recoup_core::memory::transcript::{Action, Call, Ended, Entry, EntryKind, Outcome};

/// A conversation that is put together step by step.
#[derive(Default)]
struct Talk {
    entries: Vec<Entry>,
}

impl Talk {
    fn push(mut self, what: EntryKind) -> Self {
        self.entries.push(Entry { at: None, agent: None, what });
        self
    }

    fn user(self, text: &str) -> Self {
        self.push(EntryKind::prompt(text).unwrap())
    }

    fn agent(self, text: &str) -> Self {
        self.push(EntryKind::words(text).unwrap())
    }

    fn step(self, tool: &str, action: Action, input: &str, ended: Ended, output: &str) -> Self {
        let id = format!("call-{}", self.entries.len());
        let call = Call::new(&id, tool, action, input.as_bytes());
        self.push(EntryKind::Call(call)).push(EntryKind::Outcome(Outcome::new(&id, ended, output)))
    }

    fn run(self, line: &str, ended: Ended, output: &str) -> Self {
        self.step("Bash", Action::shell(line), line, ended, output)
    }

    fn ok(self, line: &str, output: &str) -> Self {
        self.run(line, Ended::Succeeded, output)
    }

    fn fails(self, line: &str, output: &str) -> Self {
        self.run(line, Ended::Failed { exit: Some(1) }, output)
    }

    fn edit(self, path: &str) -> Self {
        let input = format!("{path} {}", self.entries.len());
        self.step("Edit", Action::Edit(vec![path.to_owned()]), &input, Ended::Succeeded, "done")
    }
}

fn shell(line: &str) -> Call {
    Call::new("call", "Bash", Action::shell(line), line.as_bytes())
}
