//! One thing that somebody said or did.

use super::bounds::{bounded, named};
use crate::base::clock::Timestamp;
use crate::base::digest::Digest;
use crate::memory::private::spoken_openly;
use crate::secrets::RedactedCommand;

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, where the client says so.
    pub at: Option<Timestamp>,
    /// The sub-agent that it happened in; none for the conversation itself.
    pub agent: Option<String>,
    /// What it was.
    pub what: EntryKind,
}

/// What was said or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A person said it. Nothing that a machine wrote is ever one of these.
    Prompt(String),
    /// The agent said it.
    Words(String),
    /// The agent called a tool.
    Call(Call),
    /// What came of a call.
    Outcome(Outcome),
    /// Something that ran in the background has ended, or changed.
    Notification(Notification),
    /// What was before this, the agent knows only as a summary.
    Compaction,
    /// A sub-agent was given this to do, by the agent.
    SubAgent(String),
    /// A person stopped the agent.
    Interruption,
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What its outcome refers to.
    pub id: String,
    /// The tool's name, as the client has it.
    pub tool: String,
    /// What it does.
    pub action: Action,
    /// Two calls of a tool with the same input have the same print.
    pub print: u64,
}

/// What a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs this line in a shell.
    Shell(RedactedCommand),
    /// Changes these files.
    Edit(Vec<String>),
    /// Makes this file, or replaces it.
    Write(String),
    /// Reads this file.
    Read(String),
    /// Starts a sub-agent.
    Agent,
    /// Looks how far something in the background has come.
    Wait,
    /// Says what is to be done.
    Plan(Plan),
    /// Anything else; the tool's name says what.
    Other,
}

/// A change to the list of what is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// All of it, and whether each is done.
    Whole(Vec<(String, bool)>),
    /// One more; the outcome of the call says its number.
    Add(String),
    /// The one of that number is done, or not done after all, or no longer wanted.
    Mark {
        /// Its number.
        id: String,
        /// Whether it is done; none where it is no longer wanted.
        done: Option<bool>,
    },
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The call that it belongs to.
    pub call: String,
    /// How it ended.
    pub ended: Ended,
    /// What it wrote: the beginning and the end, if that is long.
    pub output: String,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As it should, for all the client knows.
    Succeeded,
    /// With an error.
    Failed {
        /// What the command exited with, where there was one and the client says so.
        exit: Option<i32>,
    },
    /// Before it began: there is no such tool, or its input could not be meant.
    Refused,
    /// Before it began: a person said no.
    Denied,
    /// A person stopped it.
    Interrupted,
}

/// News of something in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The task that it is about.
    pub id: String,
    /// As the client puts it: `completed`, `failed`, `killed`.
    pub status: String,
    /// What is said about it.
    pub summary: String,
}

impl EntryKind {
    /// What a person said openly; nothing if nothing remains.
    pub fn prompt(text: &str) -> Option<Self> {
        let text = spoken_openly(text);
        said(&text).map(Self::Prompt)
    }

    /// What the agent said; nothing if it was nothing.
    pub fn words(text: &str) -> Option<Self> {
        said(text).map(Self::Words)
    }

    /// What a sub-agent was told.
    pub fn sub_agent(task: &str) -> Option<Self> {
        said(task).map(Self::SubAgent)
    }
}

fn said(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| bounded(text).into_owned())
}

impl Call {
    /// A call of `tool` with that `input`, however the client writes it down.
    pub fn new(id: &str, tool: &str, action: Action, input: &[u8]) -> Self {
        let digest = Digest::of(input);
        let (first, _) = digest.as_bytes().split_at(8);
        let print = first.iter().fold(0, |print, byte| print << 8 | u64::from(*byte));
        Self { id: named(id), tool: named(tool), action: action.bounded(), print }
    }

    /// The line that it runs in a shell.
    pub fn command(&self) -> Option<&RedactedCommand> {
        match &self.action {
            Action::Shell(line) => Some(line),
            _ => None,
        }
    }

    /// Whether it changes files, as far as the tool itself says.
    pub fn edits(&self) -> bool {
        matches!(self.action, Action::Edit(_) | Action::Write(_))
    }
}

/// So many tasks of a plan are known.
const MOST_TASKS: usize = 50;
/// So many files of one change are named.
const MOST_FILES: usize = 20;

impl Action {
    /// Runs `line` in a shell. What is kept of it holds no credential.
    pub fn shell(line: impl Into<RedactedCommand>) -> Self {
        Self::Shell(line.into())
    }

    fn bounded(self) -> Self {
        match self {
            Self::Shell(line) => Self::Shell(line.cut(|line| bounded(line))),
            Self::Edit(paths) => {
                Self::Edit(paths.iter().take(MOST_FILES).map(|path| named(path)).collect())
            }
            Self::Write(path) => Self::Write(named(&path)),
            Self::Read(path) => Self::Read(named(&path)),
            Self::Plan(plan) => Self::Plan(plan.bounded()),
            other => other,
        }
    }
}

impl Plan {
    /// What is to be done, in its words.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Whole(tasks) => tasks.iter_mut().map(|(task, _)| task).collect(),
            Self::Add(task) => vec![task],
            Self::Mark { .. } => Vec::new(),
        }
    }

    fn bounded(self) -> Self {
        match self {
            Self::Whole(tasks) => {
                let tasks = tasks.iter().take(MOST_TASKS).map(|(task, done)| (named(task), *done));
                Self::Whole(tasks.collect())
            }
            Self::Add(task) => Self::Add(named(&task)),
            Self::Mark { id, done } => Self::Mark { id: named(&id), done },
        }
    }
}

impl Outcome {
    /// What came of `call`.
    pub fn new(call: &str, ended: Ended, output: &str) -> Self {
        Self { call: named(call), ended, output: bounded(output.trim()).into_owned() }
    }
}

impl Notification {
    /// News of `id`.
    pub fn new(id: &str, status: &str, summary: &str) -> Self {
        Self { id: named(id), status: named(status), summary: bounded(summary).into_owned() }
    }
}
