//! Kinds of commands: program and sub-command, without the details of one run. `npm test` and `npm
//! install` differ; `cargo test -p x` and `cd crates && cargo test 2>&1 | tail` are one kind.

mod decide;
mod exit_code;
mod program;
mod script;
mod shell;
mod subcommands;
mod wrappers;

use std::fmt;

pub use exit_code::hides_exit_code;

use crate::base::text::shorten_text;
use crate::secrets;

/// Maximum characters of each part of a kind.
const MOST: usize = 80;

/// Program and sub-command of a shell line. The text (`npm test`, `docker compose up`, `make lint`,
/// `python manage.py migrate`) is stored, so it must stay the same in all versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandKind {
    program: String,
    sub: Option<String>,
}

impl CommandKind {
    /// Returns the kind of the deciding command of a shell line, or `None` if nothing is run.
    pub fn of(line: &str) -> Option<Self> {
        decide::deciding_command(line).map(|words| program::kind_of_words(&words))
    }

    fn new(program: &str, sub: Option<String>) -> Self {
        let clean = |text: &str| shorten_text(&secrets::redact(text), MOST).into_owned();
        Self { program: clean(program), sub: sub.map(|sub| clean(&sub)) }
    }

    /// Returns the plain name of the program.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Returns the sub-command, script or target.
    pub fn sub(&self) -> Option<&str> {
        self.sub.as_deref()
    }

    /// True if the command only displays existing text: its output is not its own.
    pub fn only_displays(&self) -> bool {
        decide::is_filter(&self.program)
            || decide::is_incidental_program(&self.program)
            || matches!(
                (self.program.as_str(), self.sub()),
                ("git", Some("log" | "show" | "diff" | "status" | "blame" | "grep" | "stash show"))
                    | ("gh", Some("run view" | "pr view" | "pr checks" | "issue view"))
                    | ("docker", Some("logs" | "compose logs"))
                    | ("kubectl", Some("logs" | "describe"))
                    | ("find" | "rg" | "ag" | "ack" | "fd" | "tree" | "curl" | "journalctl", _)
            )
    }

    /// True if the command only inspects or queries: a failure is an answer.
    pub fn only_inspects(&self) -> bool {
        self.only_displays() || self.exits_one_for_no() || decide::is_probe_program(&self.program)
    }

    /// True if exit code 1 is this program's way to say "no": nothing found, not equal.
    pub fn exits_one_for_no(&self) -> bool {
        matches!(
            self.program.as_str(),
            "grep"
                | "egrep"
                | "fgrep"
                | "rg"
                | "ag"
                | "ack"
                | "diff"
                | "cmp"
                | "test"
                | "["
                | "[["
                | "which"
                | "command"
                | "type"
                | "pgrep"
                | "pidof"
                | "expr"
                | "false"
        ) || (self.program == "git" && matches!(self.sub(), Some("grep" | "diff" | "check-ignore")))
    }
}

/// Returns the words of each command of a line, without quotes and redirections.
pub(super) fn split_commands(line: &str) -> Vec<Vec<String>> {
    shell::split_pipelines(line).into_iter().flat_map(|pipeline| pipeline.stages).collect()
}

/// Writes the stored text form.
impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        match &self.sub {
            Some(sub) => write!(f, " {sub}"),
            None => Ok(()),
        }
    }
}
