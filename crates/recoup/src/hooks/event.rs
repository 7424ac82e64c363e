//! What a client told us, whichever client it was.

use std::path::PathBuf;

use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Call, Notification, Outcome};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Which program told us.
    pub(crate) client: Client,
    /// As that program calls it.
    pub(crate) name: String,
    /// The conversation.
    pub(crate) session: String,
    /// The sub-agent that it happened in; none for the conversation itself.
    pub(crate) agent: Option<String>,
    /// Where the client works.
    pub(crate) cwd: PathBuf,
    /// Where it writes down what happens.
    pub(crate) transcript: Option<PathBuf>,
    /// The transcript of the session that this one was forked from, where the client says so.
    pub(crate) parent: Option<PathBuf>,
    /// The format of the payload, and of the answer.
    pub(crate) format: WireFormat,
    /// Whether a person is there, where the event itself says so.
    pub(crate) person: Option<bool>,
    /// Whether anybody reads what we answer.
    pub(crate) heard: bool,
    /// What it was.
    pub(crate) what: EventKind,
}

/// The format of a payload and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireFormat {
    /// The client's own.
    Native,
    /// That of Cursor, which runs Claude Code's hooks.
    Cursor,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A session began, or went on, and the agent can be told something.
    Began(How),
    /// The same, and it can't be told yet.
    Opened(How),
    /// The user typed something.
    Prompt(Prompt),
    /// Something in the background came to its end.
    Task(Notification),
    /// The agent is about to read that, and may be told something.
    Starting(String),
    /// A tool is about to be called.
    Calling(Call),
    /// A tool was called.
    Called(Call, Outcome),
    /// The same where nothing is known about how it ended but what it printed.
    CalledSomehow(Call, String),
    /// Calls that were answered together.
    Batch(Vec<(Call, Outcome)>),
    /// A sub-agent begins.
    AgentBegan,
    /// A sub-agent of that sort came to its end, with that answer.
    AgentDone {
        /// What sort of agent.
        sort: String,
        /// What it said last.
        answer: Option<String>,
        /// Where the client wrote down what happened in it.
        transcript: Option<PathBuf>,
    },
    /// The context is about to be compacted.
    Compacting,
    /// The context was compacted, and nothing of ours is in it any more.
    Compacted,
    /// The agent came to the end of its answer.
    Stopped(Stop),
    /// The session ended.
    Ended(String),
}

/// How a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It is new.
    Startup,
    /// An empty context in place of the one before.
    Clear,
    /// It goes on where it was left.
    Resume,
    /// It goes on beside another, from a point of that one.
    Fork,
    /// Its context was compacted.
    Compact,
}

impl How {
    /// The word that is stored.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Clear => "clear",
            Self::Resume => "resume",
            Self::Fork => "fork",
            Self::Compact => "compact",
        }
    }

    /// Whether the context has nothing of what it was given before.
    pub(crate) fn is_empty(self) -> bool {
        matches!(self, Self::Startup | Self::Clear | Self::Compact)
    }
}

/// What the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// The words.
    pub(crate) text: String,
    /// The client's name for the turn that it belongs to.
    pub(crate) turn: Option<String>,
}

/// The end of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stop {
    /// What the agent said last.
    pub(crate) answer: Option<String>,
    /// The client's name for the turn.
    pub(crate) turn: Option<String>,
    /// What the user had typed, where no other event tells.
    pub(crate) prompts: Vec<Prompt>,
    /// Why it came to an end, where that was no good end.
    pub(crate) failed: Option<String>,
}

impl Event {
    /// What the agent sees: the conversation's own context, or that of a sub-agent.
    pub(crate) fn context(&self) -> String {
        match &self.agent {
            None => self.session.clone(),
            Some(agent) => format!("{}/{agent}", self.session),
        }
    }

    /// Whether a session begins, or a turn of it.
    pub(super) fn begins_something(&self) -> bool {
        use EventKind::{Began, Opened, Prompt, Starting};
        matches!(self.what, Began(_) | Opened(_) | Prompt(_) | Starting(_))
    }
}
