//! Recorded exchanges with models and tools: `--record`, `--replay` and `--resume` are one mechanism.
//!
//! A file of JSON lines, private to the user, appended with each exchange:
//!
//! ```text
//! {"v":1,"kind":"model","request":{"method":"POST","path":"/v1/messages","provider":"anthropic",
//!  "body":{…}},"response":{"status":200,"events":[{"ms":12,"event":"ping","data":"…"}]}}
//! {"v":1,"kind":"tool","server":"files","tool":"read_file","arguments":{…},"result":{…}}
//! {"v":1,"kind":"tool-list","server":"files","tools":[…]}
//! ```
//!
//! An answer that did not come as a stream is a `body` in place of the `events`. The body of a request
//! is what was meant to be asked: options that the server rejects by name are in it, and in `rejected`.
//! Exchanges are found by content, not by order, because agents work at the same time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::cache::compare_parts;
use recoup_core::key::{KeyPart, Kind};
use recoup_core::secrets::{self, SecretValues};
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ModelProvider;
use super::chat::ReplyBlock;

/// Version of the format.
const VERSION: u32 = 1;
/// Maximum size of a file that is read.
const MAX_CASSETTE_BYTES: u64 = 1 << 30;
/// Maximum number of differences that are named.
const MAX_DIFFERENCES: usize = 5;

const MODEL: &str = "model";
const TOOL: &str = "tool";
const TOOL_LIST: &str = "tool-list";

/// Exchanges of one run or more, in a file.
#[derive(Debug)]
pub(crate) struct Cassette {
    path: PathBuf,
    purpose: CassettePurpose,
    /// True if another model may have been asked.
    ignores_model: bool,
    /// Values that must not be written.
    withheld: SecretValues,
    /// Exchanges that were read, each with a mark once it has been used.
    known: Mutex<Vec<(Arc<CassetteLine>, bool)>>,
    omissions: Mutex<Vec<String>>,
    /// True for a journal until its first line: a run that asks nothing leaves none.
    begins: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CassettePurpose {
    /// Everything is done for real, and written.
    Record,
    /// Nothing is written; `goes_on` if what is not known is done for real.
    Replay { goes_on: bool },
    /// Known exchanges are answered once, all others are done for real and written.
    Journal,
}

/// One exchange.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CassetteLine {
    v: u32,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<RecordedRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<RecordedResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// Digest of the server's identity, in journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Value>>,
}

/// A server, as a call of its tools is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalledServer<'a> {
    pub(crate) name: &'a str,
    pub(crate) identity: Option<Sha256Digest>,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) provider: String,
    pub(super) body: Value,
    /// Options of the body that were not sent, because the server rejects them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rejected: Vec<String>,
}

impl RecordedRequest {
    pub(super) fn new(provider: ModelProvider, mut body: Value) -> Self {
        // One host has another name for it; the request is the same at all of them.
        if let Some(body) = body.as_object_mut()
            && let Some(limit) = body.remove("max_completion_tokens")
        {
            body.insert("max_tokens".to_owned(), limit);
        }
        let path = match provider {
            ModelProvider::Anthropic => "/v1/messages",
            ModelProvider::OpenAi => "/v1/chat/completions",
        };
        let (method, path) = ("POST".to_owned(), path.to_owned());
        let provider = provider.as_str().to_owned();
        Self { method, path, provider, body, rejected: Vec::new() }
    }
}

/// A model's answer, as it came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordedResponse {
    pub(super) status: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) events: Vec<RecordedEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Value>,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedEvent {
    /// Milliseconds since the request.
    pub(super) ms: u64,
    pub(super) event: String,
    pub(super) data: String,
}

impl Cassette {
    /// Begins a new file. One that exists is replaced if it is a cassette, and an error otherwise.
    /// Exchanges with one of the values in `withheld` are not written.
    pub(crate) fn record(path: &Path, withheld: &SecretValues) -> Result<Self> {
        let existing = fsx::read_regular(path, MAX_CASSETTE_BYTES)?.unwrap_or_default();
        let first = existing.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if !existing.is_empty() && serde_json::from_slice::<CassetteLine>(first).is_err() {
            let message = format!("{} exists, and is not a cassette", path.display());
            return Err(Error::usage(message));
        }
        fsx::write_atomic(path, b"")?;
        Ok(Self::new(path, CassettePurpose::Record, withheld, Vec::new()))
    }

    /// Answers from a file. What it does not know is an error. With `from`, everything from that
    /// model answer on, and all that the file does not know, is done for real; model answers are
    /// numbered from 1, and tool calls do not count.
    pub(crate) fn replay(path: &Path, from: Option<usize>) -> Result<Self> {
        let (mut known, is_whole) = read_lines(path)?;
        if !is_whole {
            let message = format!("{}: the last line is cut off", path.display());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        if let Some(from) = from {
            let mut answers = (0..known.len()).filter(|at| known[*at].kind == MODEL);
            let first = answers.nth(from.saturating_sub(1));
            known.truncate(first.unwrap_or(known.len()));
        }
        let purpose = CassettePurpose::Replay { goes_on: from.is_some() };
        Ok(Self::new(path, purpose, &SecretValues::default(), known))
    }

    /// Lets answers of another model count, because the user has named one.
    #[must_use]
    pub(crate) fn ignoring_model(mut self) -> Self {
        self.ignores_model = true;
        self
    }

    /// The steps of a run, which `resume` continues: a step in the file is answered from it, any other
    /// is done for real and appended. A last line that the run did not finish is dropped.
    pub(crate) fn journal(path: &Path, resume: bool, withheld: &SecretValues) -> Result<Self> {
        if !resume {
            let journal = Self::new(path, CassettePurpose::Journal, withheld, Vec::new());
            journal.begins.store(true, Ordering::Relaxed);
            return Ok(journal);
        }
        let (known, is_whole) = read_lines(path)?;
        let cassette = Self::new(path, CassettePurpose::Journal, withheld, known);
        if !is_whole {
            let lines = cassette.known.lock();
            let text = lines.iter().map(|(line, _)| line_text(line)).collect::<Result<String>>()?;
            fsx::write_atomic(path, text.as_bytes())?;
        }
        Ok(cassette)
    }

    fn new(
        path: &Path,
        purpose: CassettePurpose,
        withheld: &SecretValues,
        known: Vec<CassetteLine>,
    ) -> Self {
        let known = known.into_iter().map(|line| (Arc::new(line), false)).collect();
        Self {
            path: path.to_owned(),
            purpose,
            ignores_model: false,
            withheld: withheld.in_json(),
            known: Mutex::new(known),
            omissions: Mutex::default(),
            begins: AtomicBool::new(false),
        }
    }

    /// Exchanges that were not written, each with the reason: for the user, at the end of a run.
    pub(crate) fn omissions(&self) -> Vec<String> {
        self.omissions.lock().clone()
    }

    /// The answer to the first of these requests that is known, and its number. None: ask for real.
    pub(super) fn find_model(
        &self,
        requests: &[RecordedRequest],
    ) -> Result<Option<(usize, RecordedResponse)>> {
        for (number, request) in requests.iter().enumerate() {
            let found = self.take(|line| {
                let is_answer = line.response.as_ref().is_some_and(|it| it.status == 200);
                is_answer && line.request.as_ref().is_some_and(|it| self.is_same(it, request))
            });
            if let Some(response) = found.and_then(|line| line.response.clone()) {
                return Ok(Some((number, response)));
            }
        }
        let Some(request) = requests.first() else { return Ok(None) };
        let asked = CassetteLine { request: Some(request.clone()), ..CassetteLine::new(MODEL) };
        self.miss(&asked)
    }

    /// Writes an exchange with a model. `blocks` is the answer as a whole: a secret may come in pieces.
    pub(super) fn keep_model(
        &self,
        request: RecordedRequest,
        response: RecordedResponse,
        blocks: &[ReplyBlock],
    ) -> Result<()> {
        let answer = serde_json::to_string(blocks).unwrap_or_default();
        let (request, response) = (Some(request), Some(response));
        self.keep(&CassetteLine { request, response, ..CassetteLine::new(MODEL) }, &answer)
    }

    /// The result of a tool call. None: call it for real. A server that is known to be another one
    /// than then has not given it.
    pub(crate) fn find_tool<'a>(
        &self,
        server: impl Into<CalledServer<'a>>,
        tool: &str,
        arguments: &Value,
    ) -> Result<Option<Box<RawValue>>> {
        let asked = CassetteLine::of_tool(server.into(), tool, arguments);
        let found = self.take(|line| {
            line.kind == TOOL
                && line.server == asked.server
                && line.tool == asked.tool
                && line.arguments == asked.arguments
                && line.identity.as_ref().zip(asked.identity.as_ref()).is_none_or(|(a, b)| a == b)
        });
        match found {
            Some(line) => Ok(line.result.clone()),
            None => self.miss(&asked),
        }
    }

    /// Writes a tool call.
    pub(crate) fn keep_tool<'a>(
        &self,
        server: impl Into<CalledServer<'a>>,
        tool: &str,
        arguments: &Value,
        result: &RawValue,
    ) -> Result<()> {
        let mut line = CassetteLine::of_tool(server.into(), tool, arguments);
        line.result = Some(result.to_owned());
        line.identity = line.identity.filter(|_| self.purpose == CassettePurpose::Journal);
        self.keep(&line, "")
    }

    /// The tools of a server. None: ask for real.
    pub(crate) fn find_tool_list(&self, server: &str) -> Result<Option<Vec<Value>>> {
        let asked =
            CassetteLine { server: Some(server.to_owned()), ..CassetteLine::new(TOOL_LIST) };
        let found = self.take(|line| line.kind == TOOL_LIST && line.server == asked.server);
        match found {
            Some(line) => Ok(line.tools.clone()),
            None => self.miss(&asked),
        }
    }

    /// Writes the tools of a server, except in a journal: the cache remembers them.
    pub(crate) fn keep_tool_list(&self, server: &str, tools: &[Value]) -> Result<()> {
        if self.purpose == CassettePurpose::Journal {
            return Ok(());
        }
        let (server, tools) = (Some(server.to_owned()), Some(tools.to_vec()));
        self.keep(&CassetteLine { server, tools, ..CassetteLine::new(TOOL_LIST) }, "")
    }

    fn is_same(&self, known: &RecordedRequest, asked: &RecordedRequest) -> bool {
        let is_model = |field: &str| self.ignores_model && field == "model";
        let (Some(a), Some(b)) = (known.body.as_object(), asked.body.as_object()) else {
            return false;
        };
        known.provider == asked.provider
            && a.len() == b.len()
            && a.iter().all(|(field, value)| is_model(field) || b.get(field) == Some(value))
    }

    /// Takes the next exchange of that kind. A replay answers with the last one again, a journal does
    /// not: what was done twice may have had two results.
    fn take(&self, is_it: impl Fn(&CassetteLine) -> bool) -> Option<Arc<CassetteLine>> {
        let mut known = self.known.lock();
        let next = known.iter().position(|(line, is_used)| !is_used && is_it(line));
        let again = || match self.purpose {
            CassettePurpose::Replay { .. } => known.iter().rposition(|(line, _)| is_it(line)),
            CassettePurpose::Record | CassettePurpose::Journal => None,
        };
        let at = next.or_else(again)?;
        known[at].1 = true;
        Some(Arc::clone(&known[at].0))
    }

    /// Error for an exchange that is not known and must not be done; otherwise none.
    fn miss<T>(&self, asked: &CassetteLine) -> Result<Option<T>> {
        if self.purpose != (CassettePurpose::Replay { goes_on: false }) {
            return Ok(None);
        }
        let asked_parts = asked.parts();
        let known = self.known.lock();
        // Numbered within their kind, as `replay` counts.
        let same_kind = known.iter().filter(|(line, _)| line.kind == asked.kind).enumerate();
        let compared = same_kind.map(|(at, (line, _))| {
            (at + 1, compare_parts(Kind::AgentRun, &line.parts(), &asked_parts))
        });
        let nearest = compared.min_by_key(|(_, differences)| differences.len());
        let what = asked.describe();
        let why = match nearest {
            None => "it has none of this kind".to_owned(),
            Some((number, differences)) => {
                let shown = differences.iter().take(MAX_DIFFERENCES);
                let shown = shown.map(|it| format!("{}: {}", it.part, it.how));
                let mut shown: Vec<String> = shown.collect();
                if differences.len() > MAX_DIFFERENCES {
                    shown.push(format!("{} more", differences.len() - MAX_DIFFERENCES));
                }
                format!("the nearest is number {number}, which differs in {}", shown.join("; "))
            }
        };
        let message = format!("{} does not have {what}: {why}", self.path.display());
        Err(Error::new(ErrorKind::Absent, message))
    }

    /// Appends an exchange, unless it holds a secret. `whole` is checked as well.
    fn keep(&self, line: &CassetteLine, whole: &str) -> Result<()> {
        if let CassettePurpose::Replay { .. } = self.purpose {
            return Ok(());
        }
        let text = line_text(line)?;
        let found = [text.as_bytes(), whole.as_bytes()]
            .into_iter()
            .find_map(|text| self.withheld.detect(text).or_else(|| secrets::detect_secret(text)));
        if let Some(rule) = found {
            let what = line.describe();
            let omission = format!("{}: {what} holds a secret ({rule})", self.path.display());
            self.omissions.lock().push(format!("not written to {omission}"));
            return Ok(());
        }
        if self.begins.swap(false, Ordering::Relaxed) {
            fsx::ensure_private_dir(fsx::parent(&self.path))?;
            // One that a process with the same id has left.
            fsx::remove(&self.path)?;
        }
        // The file is renamed by nobody.
        fsx::append_shared(&self.path, text.as_bytes(), u64::MAX).map(drop)
    }
}

impl CassetteLine {
    fn new(kind: &str) -> Self {
        Self { v: VERSION, kind: kind.to_owned(), ..Self::default() }
    }

    fn of_tool(server: CalledServer<'_>, tool: &str, arguments: &Value) -> Self {
        Self {
            server: Some(server.name.to_owned()),
            identity: server.identity.map(|identity| identity.to_hex()),
            tool: Some(tool.to_owned()),
            arguments: Some(arguments.clone()),
            ..Self::new(TOOL)
        }
    }

    /// True if it has everything that lines of its kind have: otherwise it would answer nothing.
    fn is_complete(&self) -> bool {
        let Self {
            v,
            kind,
            request,
            response,
            server,
            tool,
            arguments,
            result,
            tools,
            identity: _,
        } = self;
        let is_of_kind = match kind.as_str() {
            MODEL => request.is_some() && response.is_some(),
            TOOL => server.is_some() && tool.is_some() && arguments.is_some() && result.is_some(),
            TOOL_LIST => server.is_some() && tools.is_some(),
            _ => false,
        };
        *v == VERSION && is_of_kind
    }

    fn describe(&self) -> String {
        let server = self.server.as_deref().unwrap_or_default();
        match (&self.request, &self.tool) {
            (Some(request), _) => {
                let model = request.body["model"].as_str().unwrap_or_default();
                format!("this request to {model}")
            }
            (None, Some(tool)) => format!("this call of {server}__{tool}"),
            (None, None) => format!("the tools of {server}"),
        }
    }

    /// Named parts of a request, for comparisons.
    fn parts(&self) -> Vec<KeyPart> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut parts = Vec::new();
        let mut add = |name: &str, value: &Value| parts.push(KeyPart::shown(name, &text(value)));
        if let Some(request) = &self.request {
            add("provider", &request.provider.clone().into());
            for (field, value) in request.body.as_object().into_iter().flatten() {
                let items = value.as_array().filter(|_| matches!(&**field, "messages" | "tools"));
                let Some(items) = items else {
                    add(field, value);
                    continue;
                };
                for (at, item) in items.iter().enumerate() {
                    let content = item.get("content").unwrap_or(item);
                    add(&format!("{field}[{at}]"), content);
                }
            }
        }
        for (name, value) in [("server", &self.server), ("tool", &self.tool)] {
            if let Some(value) = value {
                add(name, &value.clone().into());
            }
        }
        for (name, value) in
            self.arguments.as_ref().and_then(Value::as_object).into_iter().flatten()
        {
            add(&format!("arguments.{name}"), value);
        }
        parts
    }
}

/// An exchange on one line. Line ends between tokens of JSON are only space.
fn line_text(line: &CassetteLine) -> Result<String> {
    let text = serde_json::to_string(line)
        .map_err(|error| Error::new(ErrorKind::Invalid, "an exchange").with_source(error))?;
    Ok(format!("{}\n", text.replace(['\n', '\r'], " ")))
}

/// Reads a cassette; false if its last line is not complete, and was left out.
fn read_lines(path: &Path) -> Result<(Vec<CassetteLine>, bool)> {
    let Some(bytes) = fsx::read_regular(path, MAX_CASSETTE_BYTES)? else {
        return Err(Error::usage(format!("{}: no such file", path.display())));
    };
    let mut lines = Vec::new();
    for (at, text) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if !text.ends_with(b"\n") {
            return Ok((lines, false));
        }
        let place = format!("{}:{}", path.display(), at + 1);
        let wrong = || Error::new(ErrorKind::Invalid, format!("{place}: not a line of a cassette"));
        let line: CassetteLine =
            serde_json::from_slice(text).map_err(|error| wrong().with_source(error))?;
        if line.v > VERSION {
            let message = format!("{place}: written by a newer recoup (format {})", line.v);
            return Err(Error::new(ErrorKind::TooNew, message));
        }
        if !line.is_complete() {
            return Err(wrong().with_source("its version, kind or another field is missing"));
        }
        lines.push(line);
    }
    Ok((lines, true))
}
