//! Reads the prompts of persons from transcripts, on two threads, and hears statements in them as the
//! hooks do. Only lines that may be prompts are parsed; memory grows with what was stated, not with
//! what was read.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::PathBuf;

use parking_lot::Mutex;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::capture::transcript::EntryKind;
use recoup_core::memory::capture::{PromptReading, read_prompt};
use recoup_core::memory::db::retract::{RetractionKind, parse_retraction};
use recoup_core::memory::guard::private_text::PublicText;
use recoup_core::memory::{HookClient, NoteScope, Statement};

use super::{LearnRequest, places};
use crate::transcripts::facts::{SessionFacts, may_be_prompt};
use crate::transcripts::find::TranscriptSource;
use crate::transcripts::parallel::{ParallelReader, ReadAmount, read_groups};
use crate::transcripts::parse_entries;

/// Number of prompts behind a statement that may still take it back.
const RETRACTION_REACH: usize = 4;

/// A prompt that states something, or that may take back what was stated.
#[derive(Debug, Clone)]
pub(crate) struct HeardPrompt {
    pub(crate) at: Timestamp,
    pub(crate) client: HookClient,
    pub(crate) session: String,
    /// Directory in which it was typed, and in which its session began.
    pub(super) cwd: PathBuf,
    pub(super) first_cwd: PathBuf,
    /// Index of its project.
    pub(super) place: usize,
    pub(super) statements: Vec<Statement>,
    /// Words that name what the user takes back.
    pub(super) retractions: Vec<String>,
    /// Request to take back what was just stated.
    pub(super) retraction: Option<RetractionKind>,
    /// Digest of time and text: a fork has the prompts of the session that it comes from.
    print: u64,
}

/// Prompts of all transcripts, the first one first.
#[derive(Debug, Default)]
pub(super) struct HeardPrompts {
    pub(super) prompts: Vec<HeardPrompt>,
    pub(super) amount: ReadAmount,
}

/// Digests of prompts that state nothing, for both threads: "continue" is heard once.
type SilentPrompts = Mutex<HashSet<u64>>;

pub(super) fn read_prompts(
    request: &LearnRequest<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> HeardPrompts {
    let files = request.sources.iter().filter(|it| !it.is_sub_agent());
    let groups: Vec<Vec<&TranscriptSource>> = files.map(|it| vec![it]).collect();
    let silent = SilentPrompts::default();
    let mut prompts: Vec<HeardPrompt> = Vec::new();
    let read = |group: &[&TranscriptSource], reader: &mut ParallelReader<'_>| {
        let mut heard = Vec::new();
        for source in group {
            let mut listener = TranscriptListener::new(request, &silent, source);
            reader.for_each_line(source, |line| listener.on_line(line));
            heard.append(&mut listener.heard);
        }
        heard
    };
    let amount = read_groups(&groups, read, |heard| prompts.extend(heard), progress);
    prompts.sort_by(|a, b| (a.at, &a.session).cmp(&(b.at, &b.session)));
    let mut known = HashSet::new();
    prompts.retain(|prompt| known.insert(prompt.print));
    HeardPrompts { prompts, amount }
}

/// Listener to one transcript.
struct TranscriptListener<'a> {
    request: &'a LearnRequest<'a>,
    silent: &'a SilentPrompts,
    source: &'a TranscriptSource,
    facts: SessionFacts,
    first_cwd: Option<PathBuf>,
    /// Number of prompts since the last statement.
    since_statement: usize,
    heard: Vec<HeardPrompt>,
}

impl<'a> TranscriptListener<'a> {
    fn new(
        request: &'a LearnRequest<'a>,
        silent: &'a SilentPrompts,
        source: &'a TranscriptSource,
    ) -> Self {
        Self {
            request,
            silent,
            source,
            facts: SessionFacts::default(),
            first_cwd: None,
            since_statement: RETRACTION_REACH,
            heard: Vec::new(),
        }
    }

    fn on_line(&mut self, line: &[u8]) {
        let client = self.source.client;
        let is_prompt = may_be_prompt(client, line);
        let has_facts = SessionFacts::are_in(client, line);
        if has_facts || (is_prompt && client == HookClient::ClaudeCode) {
            self.facts.update(client, line);
            if self.first_cwd.is_none() {
                self.first_cwd.clone_from(&self.facts.cwd);
            }
        }
        if !is_prompt || (self.facts.is_headless && !self.request.keeps_headless) {
            return;
        }
        for entry in parse_entries(client, line) {
            if let (None, EntryKind::Prompt(text)) = (&entry.agent, entry.what) {
                let at = entry.at.unwrap_or(self.source.modified);
                if at >= self.request.since {
                    let text = text.reduced_by(|text| self.request.hidden.redact(text));
                    self.listen(at, &text);
                }
            }
        }
    }

    fn listen(&mut self, at: Timestamp, text: &PublicText) {
        let (Some(cwd), words) = (self.facts.cwd.clone(), digest_of(&text.as_str())) else {
            return;
        };
        self.since_statement += 1;
        let retraction = parse_retraction(text.as_str());
        let is_silent = || self.silent.lock().contains(&words);
        let reading = if retraction.is_some() || is_silent() {
            PromptReading::default()
        } else {
            let reading = read_prompt(text, &NoteScope::Project(places::unknown_project()));
            if reading.statements.is_empty() && reading.retractions.is_empty() {
                self.silent.lock().insert(words);
            }
            reading
        };
        let PromptReading { statements, retractions, .. } = reading;
        if !statements.is_empty() {
            self.since_statement = 0;
        } else if retractions.is_empty() && self.since_statement > RETRACTION_REACH {
            return;
        }
        let session = self.facts.session.clone();
        let session = session.unwrap_or_else(|| self.source.path.display().to_string());
        self.heard.push(HeardPrompt {
            at,
            client: self.source.client,
            session,
            first_cwd: self.first_cwd.clone().unwrap_or_else(|| cwd.clone()),
            cwd,
            place: 0,
            statements,
            retractions,
            retraction,
            print: digest_of(&(at.as_millis(), words)),
        });
    }
}

fn digest_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
