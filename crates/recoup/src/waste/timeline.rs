//! The events of one session and its sub-agents, in the order in which they happened.

use std::path::PathBuf;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::text::shorten_text;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallStatus, EntryKind, ToolAction, ToolCall, TranscriptEntry,
};
use recoup_core::memory::shell::only_reads;

use crate::exec::command_log::output_digest;
use crate::transcripts::facts::SessionFacts;
use crate::transcripts::find::TranscriptSource;
use crate::transcripts::parallel::ParallelReader;
use crate::transcripts::parse_entries;
use crate::transcripts::usage::{RequestUsage, parse_usage};

/// Tools that change nothing, in small letters. Of others that is not known.
const READING_TOOLS: [&str; 24] = [
    "grep", "glob", "ls", "find", "webfetch", "websearch", "web_search", "toolsearch", "skill",
    "askuserquestion", "exitplanmode", "enterplanmode", "todoread", "notebookread", "lsp",
    "listmcpresourcestool", "readmcpresourcetool", "view_image", "list_dir", "grep_files",
    "update_plan", "wait", "killshell", "request_user_input",
];

/// Requests of one file that may still get another line.
const MOST_OPEN: usize = 8;

/// Most characters of a command that is shown.
const MOST_SHOWN: usize = 100;

/// A request to the model.
#[derive(Debug)]
pub(super) struct TimedRequest {
    pub(super) at: Timestamp,
    pub(super) usage: RequestUsage,
    /// Number of calls that its answer made.
    pub(super) calls: u64,
}

/// One thing that happened in a context: the conversation itself is 0.
#[derive(Debug)]
pub(super) struct TimelineEvent {
    pub(super) at: Timestamp,
    pub(super) context: usize,
    pub(super) action: TimelineAction,
}

#[derive(Debug)]
pub(super) enum TimelineAction {
    Prompt,
    /// A request, by its index.
    Request(usize),
    /// A command: its line as it is shown, and a digest of line and directory.
    Command {
        id: String,
        line: String,
        print: Sha256Digest,
        only_reads: bool,
        request: Option<usize>,
    },
    Read {
        path: String,
        print: u64,
        request: Option<usize>,
    },
    Edit(Vec<String>),
    /// A call that may have changed anything.
    Unknown,
    /// The end of a call; no digest if it printed nothing, or was not carried out.
    Outcome {
        id: String,
        output: Option<Sha256Digest>,
    },
    Compaction,
    /// The session was resumed.
    Resume,
}

/// A session.
#[derive(Debug, Default)]
pub(super) struct SessionTimeline {
    pub(super) session: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) requests: Vec<TimedRequest>,
    pub(super) events: Vec<TimelineEvent>,
    /// Names of the contexts.
    contexts: Vec<Option<String>>,
}

impl SessionTimeline {
    /// Reads the files of a session.
    pub(super) fn read(group: &[&TranscriptSource], reader: &mut ParallelReader<'_>) -> Self {
        let mut timeline = Self { contexts: vec![None], ..Self::default() };
        for source in group {
            let stem = source.path.file_stem().unwrap_or_default().to_string_lossy();
            let agent = stem.strip_prefix("agent-").filter(|_| source.is_sub_agent());
            let mut file = FileState {
                client: source.client,
                facts: SessionFacts::default(),
                last_at: source.modified,
                context: timeline.context_of(agent),
                first_request: timeline.requests.len(),
                open_calls: 0,
                open_events: Vec::new(),
            };
            reader.for_each_line(source, |line| timeline.add_line(&mut file, line));
            timeline.session = timeline.session.take().or(file.facts.session);
            timeline.cwd = timeline.cwd.take().or(file.facts.cwd);
        }
        // Stable: what has one time stays in the order of its file.
        timeline.events.sort_by_key(|event| event.at);
        timeline
    }

    /// The calls of a request share its costs.
    pub(super) fn request(&self, at: Option<usize>) -> Option<&TimedRequest> {
        at.and_then(|at| self.requests.get(at))
    }

    fn add_line(&mut self, file: &mut FileState, line: &[u8]) {
        let client = file.client;
        if SessionFacts::are_in(client, line)
            || (client == HookClient::ClaudeCode
                && memchr::memmem::find(line, b"\"cwd\"").is_some())
        {
            file.facts.update(client, line);
        }
        let entries = parse_entries(client, line);
        let resumed = memchr::memmem::find(line, b"\"SessionStart:resume\"").is_some();
        if let Some(at) = entries.iter().find_map(|entry| entry.at) {
            file.last_at = at;
        }
        if let Some(entry) = entries.first() {
            file.context = self.context_of(entry.agent.as_deref());
        }
        if resumed {
            self.push(file, TimelineAction::Resume);
        }
        let usage = parse_usage(client, line);
        let request = usage.map(|usage| self.add_request(file, usage));
        for entry in entries {
            self.add_entry(file, request, entry);
        }
    }

    /// Adds a request, unless an earlier line was about the same one. Returns its index.
    fn add_request(&mut self, file: &mut FileState, mut usage: RequestUsage) -> usize {
        let own = &mut self.requests[file.first_request..];
        let mut known = own.iter_mut().enumerate().rev().take(MOST_OPEN);
        let same = known.find(|(_, it)| usage.id.is_some() && it.usage.id == usage.id);
        if let Some((at, same)) = same {
            // The last line of an answer has its final counts.
            usage.model = usage.model.or_else(|| same.usage.model.take());
            same.usage = usage;
            return file.first_request + at;
        }
        usage.model = usage.model.or_else(|| file.facts.model.clone());
        let at = self.requests.len();
        // Codex writes the calls of an answer before its tokens.
        for event in std::mem::take(&mut file.open_events) {
            match &mut self.events[event].action {
                TimelineAction::Command { request, .. } | TimelineAction::Read { request, .. } => {
                    *request = Some(at);
                }
                _ => {}
            }
        }
        let calls = std::mem::take(&mut file.open_calls);
        self.requests.push(TimedRequest { at: file.last_at, usage, calls });
        self.push(file, TimelineAction::Request(at));
        at
    }

    fn add_entry(&mut self, file: &mut FileState, request: Option<usize>, entry: TranscriptEntry) {
        let action = match entry.what {
            EntryKind::Prompt(_) => TimelineAction::Prompt,
            EntryKind::Compaction => TimelineAction::Compaction,
            EntryKind::Outcome(outcome) => {
                let is_done =
                    matches!(outcome.ended, CallStatus::Succeeded | CallStatus::Failed { .. });
                let output = (is_done && !outcome.output.is_empty())
                    .then(|| output_digest(&format!("{:?}\n{}", outcome.ended, outcome.output)));
                TimelineAction::Outcome { id: outcome.call, output }
            }
            EntryKind::Call(call) => {
                match request {
                    Some(request) => self.requests[request].calls += 1,
                    None => file.open_calls += 1,
                }
                let Some(action) = call_action(file, call, request) else { return };
                if request.is_none() {
                    file.open_events.push(self.events.len());
                }
                action
            }
            EntryKind::Words(_)
            | EntryKind::Notification(_)
            | EntryKind::SubAgent(_)
            | EntryKind::Interruption => return,
        };
        self.push(file, action);
    }

    fn push(&mut self, file: &FileState, action: TimelineAction) {
        let (at, context) = (file.last_at, file.context);
        self.events.push(TimelineEvent { at, context, action });
    }

    fn context_of(&mut self, agent: Option<&str>) -> usize {
        let Some(agent) = agent else { return 0 };
        let known = self.contexts.iter().position(|it| it.as_deref() == Some(agent));
        known.unwrap_or_else(|| {
            self.contexts.push(Some(agent.to_owned()));
            self.contexts.len() - 1
        })
    }
}

/// State while a file is read.
struct FileState {
    client: HookClient,
    facts: SessionFacts,
    last_at: Timestamp,
    /// Context of the last entry.
    context: usize,
    /// Index of the file's first request.
    first_request: usize,
    /// Calls, and their events, whose request is not written down yet.
    open_calls: u64,
    open_events: Vec<usize>,
}

/// Action of a call; none if it changes nothing and is not compared.
fn call_action(file: &FileState, call: ToolCall, request: Option<usize>) -> Option<TimelineAction> {
    let tool = call.tool.to_lowercase();
    Some(match call.action {
        ToolAction::Shell(line) => {
            let cwd = file.facts.cwd.as_deref().unwrap_or(std::path::Path::new(""));
            let key = [cwd.as_os_str().as_encoded_bytes(), b"\n", line.as_bytes()].concat();
            TimelineAction::Command {
                id: call.id,
                only_reads: only_reads(&line),
                line: shorten_text(&line, MOST_SHOWN).into_owned(),
                print: Sha256Digest::of(&key),
                request,
            }
        }
        ToolAction::Read(path) => TimelineAction::Read { path, print: call.print, request },
        ToolAction::Edit(paths) => TimelineAction::Edit(paths),
        ToolAction::Write(path) => TimelineAction::Edit(vec![path]),
        // What a sub-agent of another client does is in a transcript of its own.
        ToolAction::Agent if file.client != HookClient::ClaudeCode => TimelineAction::Unknown,
        ToolAction::Agent | ToolAction::Wait | ToolAction::Plan(_) => return None,
        ToolAction::Other if READING_TOOLS.contains(&tool.as_str()) => return None,
        ToolAction::Other => TimelineAction::Unknown,
    })
}
