//! Transcripts of conversations, independent of the client.
//!
//! A [`TranscriptEntry`] is one thing that somebody said or did. Readers in the program make
//! entries of the clients' own formats. Of a long text the beginning and the end are kept: errors
//! stand near one of them, and fifty entries stay small whatever the tools wrote.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::memory::guard::private_text::PublicText;
use crate::secrets::RedactedCommand;

/// Transcript entry: one thing that was said or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptEntry {
    /// Time, if the client records it.
    pub at: Option<Timestamp>,
    /// Sub-agent that it happened in; `None` for the conversation itself.
    pub agent: Option<String>,
    /// Content of the entry.
    pub what: EntryKind,
}

/// Content of a transcript entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// Words of a person. Nothing that a machine wrote is ever one of these.
    Prompt(PublicText),
    /// Words of the agent.
    Words(String),
    /// A tool call.
    Call(ToolCall),
    /// Outcome of a tool call.
    Outcome(CallOutcome),
    /// News of a background task.
    Notification(TaskNotification),
    /// Compaction: the agent knows what came before only as a summary.
    Compaction,
    /// Task that the agent gave to a sub-agent.
    SubAgent(String),
    /// Interruption of the agent by a person.
    Interruption,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Id that its outcome refers to.
    pub id: String,
    /// Name of the tool, as the client has it.
    pub tool: String,
    /// Action of the call.
    pub action: ToolAction,
    /// Fingerprint of the input: equal for equal calls of a tool.
    pub print: u64,
}

/// Action of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAction {
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
    /// Polls a background task.
    Wait,
    /// Changes the task list.
    Plan(PlanChange),
    /// Anything else; see the tool's name.
    Other,
}

/// A change to the task list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChange {
    /// The whole list, with true for tasks that are done.
    Whole(Vec<(String, bool)>),
    /// One more task; the outcome of the call has its number.
    Add(String),
    /// The task of that number is done, not done after all, or removed.
    Mark {
        /// Number of the task.
        id: String,
        /// True if it is done; `None` if it is removed.
        done: Option<bool>,
    },
}

/// Outcome of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOutcome {
    /// Id of the call.
    pub call: String,
    /// Status in which it ended.
    pub ended: CallStatus,
    /// Output; only the beginning and the end, if it is long.
    pub output: String,
}

/// Status in which a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// Success, as far as the client knows.
    Succeeded,
    /// An error.
    Failed {
        /// Exit code of the command, if there was one and the client records it.
        exit: Option<i32>,
    },
    /// Refused before it began: there is no such tool, or its input was invalid.
    Refused,
    /// Denied by a person before it began.
    Denied,
    /// Stopped by a person.
    Interrupted,
}

/// News of a background task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNotification {
    /// Id of the task.
    pub id: String,
    /// Status as the client puts it: `completed`, `failed`, `killed`.
    pub status: String,
    /// Summary of the news.
    pub summary: String,
}

impl EntryKind {
    /// Creates a prompt, without its private parts; `None` if nothing remains.
    pub fn prompt(text: &str) -> Option<Self> {
        let public = PublicText::new(text.trim()).reduced_by(bound_text);
        (!public.as_str().trim().is_empty()).then_some(Self::Prompt(public))
    }

    /// Creates an entry of the agent's words; `None` if there are none.
    pub fn words(text: &str) -> Option<Self> {
        non_empty_text(text).map(Self::Words)
    }

    /// Creates an entry of a sub-agent's task; `None` if it is empty.
    pub fn sub_agent(task: &str) -> Option<Self> {
        non_empty_text(task).map(Self::SubAgent)
    }
}

fn non_empty_text(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| bound_text(text).into_owned())
}

impl ToolCall {
    /// Creates a call of `tool` with that `input`, as the client encodes it.
    pub fn new(id: &str, tool: &str, action: ToolAction, input: &[u8]) -> Self {
        let digest = Sha256Digest::of(input);
        let (first, _) = digest.as_bytes().split_at(8);
        let print = first.iter().fold(0, |print, byte| print << 8 | u64::from(*byte));
        Self { id: bound_name(id), tool: bound_name(tool), action: action.bounded(), print }
    }

    /// Returns the line that it runs in a shell, if it does.
    pub fn command(&self) -> Option<&RedactedCommand> {
        match &self.action {
            ToolAction::Shell(line) => Some(line),
            _ => None,
        }
    }

    /// True if the tool itself changes files.
    pub fn edits(&self) -> bool {
        matches!(self.action, ToolAction::Edit(_) | ToolAction::Write(_))
    }
}

/// Maximum number of tasks of a plan.
const MOST_TASKS: usize = 50;
/// Maximum number of files of one change.
const MOST_FILES: usize = 20;

impl ToolAction {
    /// Creates the action of running `line` in a shell, without credentials.
    pub fn shell(line: impl Into<RedactedCommand>) -> Self {
        Self::Shell(line.into())
    }

    fn bounded(self) -> Self {
        match self {
            Self::Shell(line) => Self::Shell(line.shortened_by(|line| bound_text(line))),
            Self::Edit(paths) => {
                Self::Edit(paths.iter().take(MOST_FILES).map(|path| bound_name(path)).collect())
            }
            Self::Write(path) => Self::Write(bound_name(&path)),
            Self::Read(path) => Self::Read(bound_name(&path)),
            Self::Plan(plan) => Self::Plan(plan.bounded()),
            other => other,
        }
    }
}

impl PlanChange {
    /// Returns the texts of the tasks.
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
                let tasks =
                    tasks.iter().take(MOST_TASKS).map(|(task, done)| (bound_name(task), *done));
                Self::Whole(tasks.collect())
            }
            Self::Add(task) => Self::Add(bound_name(&task)),
            Self::Mark { id, done } => Self::Mark { id: bound_name(&id), done },
        }
    }
}

impl CallOutcome {
    /// Creates the outcome of `call`.
    pub fn new(call: &str, ended: CallStatus, output: &str) -> Self {
        Self { call: bound_name(call), ended, output: bound_text(output.trim()).into_owned() }
    }
}

impl TaskNotification {
    /// Creates news of the task `id`.
    pub fn new(id: &str, status: &str, summary: &str) -> Self {
        Self {
            id: bound_name(id),
            status: bound_name(status),
            summary: bound_text(summary).into_owned(),
        }
    }
}

/// A tool call, with its outcome if known.
#[derive(Debug, Clone, Copy)]
pub struct ToolStep<'a> {
    /// Index of the call among the entries.
    pub at: usize,
    /// Index of its outcome, or of the call while there is none.
    pub until: usize,
    /// Sub-agent that made the call.
    pub agent: Option<&'a str>,
    /// The call.
    pub call: &'a ToolCall,
    /// Its outcome, if known.
    pub outcome: Option<&'a CallOutcome>,
}

/// Returns the calls among `entries`, in order.
pub fn tool_steps(entries: &[TranscriptEntry]) -> Vec<ToolStep<'_>> {
    let mut steps: Vec<ToolStep<'_>> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        match &entry.what {
            EntryKind::Call(call) => {
                open.insert(&call.id, steps.len());
                let agent = entry.agent.as_deref();
                steps.push(ToolStep { at, until: at, agent, call, outcome: None });
            }
            EntryKind::Outcome(outcome) => {
                if let Some(step) = open.remove(outcome.call.as_str()) {
                    steps[step].outcome = Some(outcome);
                    steps[step].until = at;
                }
            }
            _ => {}
        }
    }
    steps
}

/// Maximum bytes of a text in an entry.
pub(crate) const MOST_TEXT: usize = 16 << 10;

/// Maximum bytes of a name, an id or a path.
pub(crate) const MOST_NAME: usize = 512;

/// Bytes of the beginning. Compilers report errors first, test runners last; the end has more room,
/// because the verdict is there.
const HEAD: usize = 6 << 10;
const CUT: &str = "\n…\n";

/// Maximum bytes by which a cut moves to fall between two lines.
const NEAR: usize = 1 << 10;

/// Cuts out the middle of a text that is longer than `MOST_TEXT`.
pub fn bound_text(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_TEXT {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(HEAD);
    let head = text[text.floor_char_boundary(head - NEAR)..head]
        .rfind('\n')
        .map_or(head, |at| text.floor_char_boundary(head - NEAR) + at);
    let tail = text.ceil_char_boundary(text.len() - (MOST_TEXT - HEAD - CUT.len()));
    let near = &text[tail..text.floor_char_boundary(tail + NEAR)];
    let tail = near.find('\n').map_or(tail, |at| tail + at + 1);
    Cow::Owned([&text[..head], CUT, &text[tail..]].concat())
}

/// Cuts a name to `MOST_NAME` bytes.
pub fn bound_name(text: &str) -> String {
    text[..text.floor_char_boundary(MOST_NAME)].to_owned()
}
