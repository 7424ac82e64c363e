//! Events of all clients, in one common form, and whether a person is behind one.

use std::path::PathBuf;

use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{CallOutcome, TaskNotification, ToolCall};

use super::{claude_dialect, cursor};
use crate::clients::{AnswerSpec, hooks_of};
use crate::config::env;
use crate::exec::agent_command::ReportedOutput;
use crate::transcripts::{claude_code, codex};

/// One event that a client reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookEvent {
    /// The client that reported it.
    pub(crate) client: HookClient,
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
    /// Input of the call that the event is about, as the client encodes it.
    pub(crate) tool_input: Option<Box<str>>,
    /// The client's own name for what runs without asking the person.
    pub(crate) permission_mode: Option<String>,
    /// Output of the shell command that has ended, if the client reports all of it.
    pub(crate) output: Option<ReportedOutput>,
    /// Kind of the event, with its data.
    pub(crate) what: HookEventKind,
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
pub(crate) enum HookEventKind {
    /// A session began or was resumed; the agent can be given context now.
    Began(SessionStartKind),
    /// A session began or was resumed; the agent can't be given context yet.
    Opened(SessionStartKind),
    /// The user submitted a prompt.
    Prompt(UserPrompt),
    /// A background task ended.
    Task(TaskNotification),
    /// The agent is about to answer this prompt, and can be given context.
    Starting(String),
    /// A tool is about to be called.
    Calling(ToolCall),
    /// A tool call ended.
    Called(ToolCall, CallOutcome),
    /// A tool call ended, and only its output is known, not its outcome.
    CalledSomehow(ToolCall, String),
    /// Calls that were answered as a batch.
    Batch(Vec<(ToolCall, CallOutcome)>),
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
    Stopped(AnswerEnd),
    /// The session ended.
    Ended(String),
}

/// How a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionStartKind {
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

impl SessionStartKind {
    /// Kind with this name in a payload; an unknown one is resumed: everything undelivered is new.
    pub(crate) fn of_source(source: Option<&str>) -> Self {
        match source {
            Some("startup" | "new") => Self::Startup,
            Some("clear") => Self::Clear,
            Some("compact") => Self::Compact,
            Some("fork") => Self::Fork,
            _ => Self::Resume,
        }
    }

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
    pub(crate) fn has_empty_context(self) -> bool {
        matches!(self, Self::Startup | Self::Clear | Self::Compact)
    }
}

/// A prompt that the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserPrompt {
    /// Text of the prompt.
    pub(crate) text: String,
    /// The client's id of the turn.
    pub(crate) turn: Option<String>,
}

/// The end of an agent's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AnswerEnd {
    /// The agent's last message.
    pub(crate) answer: Option<String>,
    /// The client's id of the turn.
    pub(crate) turn: Option<String>,
    /// Prompts of the turn, for clients that report them in no other event.
    pub(crate) prompts: Vec<UserPrompt>,
    /// Reason, if the answer failed.
    pub(crate) failed: Option<String>,
}

impl HookEvent {
    /// Id of the context: the conversation's own, or that of a sub-agent.
    pub(crate) fn context_id(&self) -> String {
        match &self.agent {
            None => self.session.clone(),
            Some(agent) => format!("{}/{agent}", self.session),
        }
    }

    /// Answers that the client reads.
    pub(crate) fn answer(&self) -> &'static AnswerSpec {
        match self.format {
            WireFormat::Native => &hooks_of(self.client).answer,
            WireFormat::Cursor => &cursor::ANSWER,
        }
    }

    /// True if the answer to this event can have context for the agent.
    pub(crate) fn takes_context(&self) -> bool {
        self.heard && self.answer().takes_context_at(&self.name)
    }

    /// True if several hooks may be told of it: these clients run the hooks of the user and of the
    /// project, and some of them Claude Code's as well.
    pub(crate) fn may_be_repeated(&self) -> bool {
        self.format == WireFormat::Cursor || claude_dialect::is_dialect(self.client)
    }

    /// True if a session or a turn begins.
    pub(super) fn begins_session_or_turn(&self) -> bool {
        use HookEventKind::{Began, Opened, Prompt, Starting};
        matches!(self.what, Began(_) | Opened(_) | Prompt(_) | Starting(_))
    }
}

/// How Claude Code was started, according to `CLAUDE_CODE_ENTRYPOINT`: `cli` on a terminal,
/// `sdk-cli` for `claude -p`, `sdk-ts` and `sdk-py` in a program; editors and the desktop app have
/// names of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientEntrypoint(Option<String>);

impl ClientEntrypoint {
    pub(crate) fn from_env() -> Self {
        Self(env::claude_code_entrypoint())
    }

    pub(crate) fn is_headless(&self) -> bool {
        self.0.as_deref().is_some_and(claude_code::is_headless_entrypoint)
    }
}

/// Bytes read from the start of a rollout, which names its originator.
const MAX_HEADER_BYTES: usize = 4 << 10;

/// True if no person is present to have said it: a script's words are not the user's.
pub(super) fn is_headless_event(event: &HookEvent) -> bool {
    match (event.person, event.client) {
        (Some(person), _) => !person,
        (None, HookClient::ClaudeCode) => ClientEntrypoint::from_env().is_headless(),
        // Its first line tells if a script or an agent started the session.
        (None, HookClient::Codex) => {
            let Some(Ok(FileLookup::Regular(file))) =
                event.transcript.as_deref().map(fsx::open_regular)
            else {
                return false;
            };
            let mut head = vec![0; MAX_HEADER_BYTES];
            let read = file.read_at(&mut head, 0).unwrap_or(0);
            let head = &head[..read];
            let first = memchr::memchr(b'\n', head).map_or(head, |end| &head[..end]);
            codex::is_headless_header(first)
        }
        // Their events do not tell.
        (None, _) => false,
    }
}
