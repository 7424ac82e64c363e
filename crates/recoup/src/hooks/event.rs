//! Events of all clients, in one common form.

use std::path::PathBuf;

use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Call, Notification, Outcome};

/// One event that a client reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The client that reported it.
    pub(crate) client: Client,
    /// The client's name for the event.
    pub(crate) name: String,
    /// Id of the conversation.
    pub(crate) session: String,
    /// Id of the sub-agent; none for the main conversation.
    pub(crate) agent: Option<String>,
    /// The client's working directory.
    pub(crate) cwd: PathBuf,
    /// Path of the client's transcript.
    pub(crate) transcript: Option<PathBuf>,
    /// Transcript of the session that this one was forked from, if known.
    pub(crate) parent: Option<PathBuf>,
    /// Format of the payload and of the answer.
    pub(crate) format: WireFormat,
    /// True if a person is present; none if the event does not tell.
    pub(crate) person: Option<bool>,
    /// True if the client reads our answer.
    pub(crate) heard: bool,
    /// Kind of the event, with its data.
    pub(crate) what: EventKind,
}

/// The format of a payload and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireFormat {
    /// The client's own.
    Native,
    /// Cursor's, which runs Claude Code's hooks.
    Cursor,
}

/// Kind of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A session began or was resumed; the agent can be given context now.
    Began(How),
    /// A session began or was resumed; the agent can't be given context yet.
    Opened(How),
    /// The user submitted a prompt.
    Prompt(Prompt),
    /// A background task ended.
    Task(Notification),
    /// The agent is about to answer this prompt, and can be given context.
    Starting(String),
    /// A tool is about to be called.
    Calling(Call),
    /// A tool call ended.
    Called(Call, Outcome),
    /// A tool call ended, and only its output is known, not its outcome.
    CalledSomehow(Call, String),
    /// Calls that were answered as a batch.
    Batch(Vec<(Call, Outcome)>),
    /// A sub-agent started.
    AgentBegan,
    /// A sub-agent ended.
    AgentDone {
        /// Type of the agent.
        sort: String,
        /// Its last message.
        answer: Option<String>,
        /// Path of the sub-agent's own transcript.
        transcript: Option<PathBuf>,
    },
    /// The context is about to be compacted.
    Compacting,
    /// The context was compacted, and has lost all notes that were delivered.
    Compacted,
    /// The agent finished its answer.
    Stopped(Stop),
    /// The session ended.
    Ended(String),
}

/// How a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// New session.
    Startup,
    /// Context cleared within a session.
    Clear,
    /// Session continued.
    Resume,
    /// Session branched off from another.
    Fork,
    /// Context compacted.
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

    /// True if the context has lost all notes that were delivered before.
    pub(crate) fn is_empty(self) -> bool {
        matches!(self, Self::Startup | Self::Clear | Self::Compact)
    }
}

/// A prompt that the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// Text of the prompt.
    pub(crate) text: String,
    /// The client's id of the turn.
    pub(crate) turn: Option<String>,
}

/// The end of an agent's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stop {
    /// The agent's last message.
    pub(crate) answer: Option<String>,
    /// The client's id of the turn.
    pub(crate) turn: Option<String>,
    /// Prompts of the turn, for clients that report them in no other event.
    pub(crate) prompts: Vec<Prompt>,
    /// Reason, if the answer failed.
    pub(crate) failed: Option<String>,
}

impl Event {
    /// Id of the context: the conversation's own, or that of a sub-agent.
    pub(crate) fn context(&self) -> String {
        match &self.agent {
            None => self.session.clone(),
            Some(agent) => format!("{}/{agent}", self.session),
        }
    }

    /// True if a session or a turn begins.
    pub(super) fn begins_something(&self) -> bool {
        use EventKind::{Began, Opened, Prompt, Starting};
        matches!(self.what, Began(_) | Opened(_) | Prompt(_) | Starting(_))
    }
}
