//! Recorded exchanges with models and tools: `--record`, `--replay` and `--resume` are one mechanism.
//!
//! A file of JSON values, private to the user, appended with each exchange: those of `recoup run` on one line
//! each (`line.rs`), those of `recoup gateway` on many (`http_exchange.rs`). One reader has them all (`file.rs`).
//! Exchanges are found by content, not by order, because agents work at the same time.

mod file;
mod http_exchange;
mod layout;
mod line;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::cache::{compare_parts, shared_words};
use recoup_core::key::{KeyPart, Kind};
use recoup_core::secrets::{self, SecretValues};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;
use serde_json::value::RawValue;

use super::chat::ReplyBlock;
pub(crate) use file::{CassetteFile, ExchangeContent, RecordedExchange};
pub(crate) use http_exchange::{ExchangeBody, ExchangeRequest, ExchangeResponse, HttpExchange};
pub(crate) use layout::JsonTokens;
use line::{CassetteLine, line_text};
pub(super) use line::{RecordedEvent, RecordedRequest, RecordedResponse};

/// Version of the format.
const VERSION: u32 = 1;
/// Beginning of the reason why an exchange with a secret is left out.
pub(crate) const HOLDS_SECRET: &str = "it holds";
/// Maximum number of differences that are named.
const MAX_DIFFERENCES: usize = 5;

const HTTP: &str = "http";
const MODEL: &str = "model";
const TOOL: &str = "tool";
const TOOL_LIST: &str = "tool-list";

/// Exchanges of one run or more, in a file.
#[derive(Debug)]
pub(crate) struct Cassette {
    path: PathBuf,
    /// File that is appended to until the end, if it is not that one.
    partial: Option<PathBuf>,
    purpose: CassettePurpose,
    /// True if another model may have been asked.
    ignores_model: bool,
    /// Values that must not be written.
    withheld: SecretValues,
    known: Mutex<Vec<KnownLine>>,
    /// The file that is replayed.
    replayed: Option<CassetteFile>,
    omissions: Mutex<Vec<String>>,
    /// True for a journal until its first line: a run that asks nothing leaves none.
    begins: AtomicBool,
}

/// An exchange that was read.
#[derive(Debug)]
struct KnownLine {
    /// Place in the file, from 1.
    number: usize,
    line: Arc<CassetteLine>,
    is_used: bool,
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

/// A server, as a call of its tools is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalledServer<'a> {
    pub(crate) name: &'a str,
    pub(crate) identity: Option<Sha256Digest>,
}

impl Cassette {
    /// Begins a new file. One that exists is replaced if it is a cassette, and an error otherwise.
    /// Exchanges with one of the values in `withheld` are not written.
    pub(crate) fn record(path: &Path, withheld: &SecretValues) -> Result<Self> {
        CassetteFile::check_replaceable(path)?;
        fsx::write_atomic(path, b"")?;
        Ok(Self::new(path, CassettePurpose::Record, withheld, Vec::new()))
    }

    /// As [`Self::record`], but into the file `partial`: the one that exists stays until the end.
    pub(crate) fn record_beside(
        path: &Path,
        partial: &Path,
        withheld: &SecretValues,
    ) -> Result<Self> {
        CassetteFile::check_replaceable(path)?;
        fsx::write_atomic(partial, b"")?;
        let cassette = Self::new(path, CassettePurpose::Record, withheld, Vec::new());
        Ok(Self { partial: Some(partial.to_owned()), ..cassette })
    }

    /// Answers from a file. What it does not know is an error. With `from`, everything from that
    /// model answer on, and all that the file does not know, is done for real; model answers are
    /// numbered from 1, and tool calls do not count.
    pub(crate) fn replay(path: &Path, from: Option<usize>) -> Result<Self> {
        let mut file = CassetteFile::read(path)?.whole()?;
        let exchanges = std::mem::take(&mut file.exchanges);
        let is_of_gateway = exchanges.first().is_some_and(|first| first.http().is_some());
        if is_of_gateway {
            let message = format!(
                "{} was recorded by a gateway: use `recoup gateway --replay`",
                path.display()
            );
            return Err(Error::usage(message));
        }
        let mut known = known_lines(exchanges);
        if let Some(from) = from {
            let mut answers = (0..known.len()).filter(|at| known[*at].line.kind == MODEL);
            let first = answers.nth(from.saturating_sub(1));
            known.truncate(first.unwrap_or(known.len()));
        }
        let purpose = CassettePurpose::Replay { goes_on: from.is_some() };
        let replay = Self::new(path, purpose, &SecretValues::default(), known);
        Ok(Self { replayed: Some(file), ..replay })
    }

    /// Notes which exchanges a replay has used, for `recoup cassette prune`.
    pub(crate) fn note_used(&self, home: &Path) -> Result<()> {
        let Some(file) = &self.replayed else { return Ok(()) };
        let known = self.known.lock();
        file.note_used(home, known.iter().filter(|it| it.is_used).map(|it| it.number).collect())
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
        let file = CassetteFile::read(path)?;
        if !file.is_whole {
            CassetteFile::write(path, file.exchanges.iter().map(|it| it.text.as_str()))?;
        }
        let known = known_lines(file.exchanges);
        let cassette = Self::new(path, CassettePurpose::Journal, withheld, known);
        Ok(cassette)
    }

    fn new(
        path: &Path,
        purpose: CassettePurpose,
        withheld: &SecretValues,
        known: Vec<KnownLine>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            partial: None,
            purpose,
            ignores_model: false,
            withheld: withheld.in_json(),
            known: Mutex::new(known),
            replayed: None,
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
        let next = known.iter().position(|known| !known.is_used && is_it(&known.line));
        let again = || match self.purpose {
            CassettePurpose::Replay { .. } => known.iter().rposition(|known| is_it(&known.line)),
            CassettePurpose::Record | CassettePurpose::Journal => None,
        };
        let at = next.or_else(again)?;
        known[at].is_used = true;
        Some(Arc::clone(&known[at].line))
    }

    /// Error for an exchange that is not known and must not be done; otherwise none.
    fn miss<T>(&self, asked: &CassetteLine) -> Result<Option<T>> {
        if self.purpose != (CassettePurpose::Replay { goes_on: false }) {
            return Ok(None);
        }
        let asked_parts = asked.parts();
        let known = self.known.lock();
        // Numbered within their kind, as `replay` counts.
        let same_kind = known.iter().filter(|known| known.line.kind == asked.kind).enumerate();
        let same_kind = same_kind.map(|(at, known)| (at + 1, known.line.parts()));
        let why = describe_nearest(Kind::AgentRun, same_kind, &asked_parts);
        let what = asked.describe();
        let message = format!("{} does not have {what}: {why}", self.path.display());
        Err(Error::new(ErrorKind::Absent, message))
    }

    /// Writes an exchange of the gateway and returns its text; the inner error says why it is left out. `whole` is its
    /// answer put together, and `credentials` are those of its request.
    pub(crate) fn keep_http(
        &self,
        exchange: &HttpExchange,
        whole: &[u8],
        credentials: &SecretValues,
    ) -> Result<Result<String, String>> {
        let text = exchange.to_text();
        // Bytes that are no text are in the file in another form.
        let bodies = [exchange.request.body.to_bytes(), exchange.response.to_bytes()];
        let texts = [text.as_bytes(), whole, &bodies[0], &bodies[1]];
        let (plain, in_json) = (credentials, credentials.in_json());
        let has_key = |text: &&[u8]| plain.detect(text).or_else(|| in_json.detect(text)).is_some();
        if texts.iter().any(has_key) {
            return Ok(Err(format!("{HOLDS_SECRET} the key of its request")));
        }
        if let Some(rule) = detect_in(&self.withheld, &texts) {
            return Ok(Err(format!("{HOLDS_SECRET} a secret ({rule})")));
        }
        let partial = self.partial.as_ref().unwrap_or(&self.path);
        fsx::append_shared(partial, text.as_bytes(), u64::MAX)?;
        Ok(Ok(text))
    }

    /// Notes an exchange that is not written, for the end.
    pub(crate) fn omit(&self, what: &str, why: &str) {
        let omission = format!("not written to {}: {what}: {why}", self.path.display());
        self.omissions.lock().push(omission);
    }

    /// Appends an exchange, unless it holds a secret. `whole` is checked as well.
    fn keep(&self, line: &CassetteLine, whole: &str) -> Result<()> {
        if let CassettePurpose::Replay { .. } = self.purpose {
            return Ok(());
        }
        let text = line_text(line)?;
        if let Some(rule) = detect_in(&self.withheld, &[text.as_bytes(), whole.as_bytes()]) {
            self.omit(&line.describe(), &format!("it holds a secret ({rule})"));
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

fn known_lines(exchanges: Vec<RecordedExchange>) -> Vec<KnownLine> {
    let lines = exchanges.into_iter().enumerate().filter_map(|(at, exchange)| {
        let ExchangeContent::Run(line) = exchange.content else { return None };
        Some(KnownLine { number: at + 1, line: Arc::new(line), is_used: false })
    });
    lines.collect()
}

/// Rule that one of the texts breaks by holding a secret.
pub(crate) fn detect_in(withheld: &SecretValues, texts: &[&[u8]]) -> Option<&'static str> {
    let mut found = texts
        .iter()
        .filter_map(|text| withheld.detect(text).or_else(|| secrets::detect_secret(text)));
    found.next()
}

/// Says which of the recorded requests is nearest, and in what it differs: the one with the fewest differences, and of
/// these the one with the most common words.
pub(crate) fn describe_nearest(
    kind: Kind,
    recorded: impl Iterator<Item = (usize, Vec<KeyPart>)>,
    asked: &[KeyPart],
) -> String {
    let compared = recorded.map(|(number, parts)| {
        let differences = compare_parts(kind, &parts, asked);
        (differences.len(), Reverse(shared_words(asked, &parts)), number, differences)
    });
    let nearest = compared.min_by_key(|(count, shared, number, _)| (*count, *shared, *number));
    let Some((.., number, differences)) = nearest else {
        return "it has none of this kind".to_owned();
    };
    let shown = differences.iter().take(MAX_DIFFERENCES);
    let mut shown: Vec<String> = shown.map(|it| format!("{}: {}", it.part, it.how)).collect();
    if differences.len() > MAX_DIFFERENCES {
        shown.push(format!("{} more", differences.len() - MAX_DIFFERENCES));
    }
    format!("the nearest is number {number}, which differs in {}", shown.join("; "))
}
