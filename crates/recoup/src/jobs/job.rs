//! Jobs that hooks leave to the worker, as they are stored.

use std::path::{Path, PathBuf};

use recoup_core::base::clock::Timestamp;
use recoup_core::base::fsx;
use recoup_core::memory::HookClient;
use recoup_core::memory::{EventOrigin, Note, NoteScope, NoteSource, Statement};
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::LARGEST;

/// Version of the stored form. Older ones are read, newer ones left alone.
const VERSION: u32 = 2;

/// Slow work that a hook does not wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerJob {
    /// Version of the stored form; 1 if missing.
    #[serde(default = "first")]
    version: u32,
    /// Session and project that it comes from.
    pub from: JobOrigin,
    /// Work to do.
    pub what: WorkerJobKind,
}

fn first() -> u32 {
    1
}

/// Reason why a file could not be read as a job.
#[derive(Debug)]
pub(super) enum JobReadError {
    /// Not a job.
    NoJob(String),
    /// Perhaps a job: the disk failed, or a newer version wrote it.
    Now(String),
}

impl WorkerJob {
    /// Makes a job in the current version.
    pub fn new(from: JobOrigin, what: WorkerJobKind) -> Self {
        Self { version: VERSION, from, what }
    }

    /// True if it holds the user's statements, of which there is no other copy.
    pub(crate) fn is_statement(&self) -> bool {
        matches!(self.what, WorkerJobKind::Remember { .. })
    }

    /// Reads a job; none if the file is gone.
    pub(super) fn read(file: &Path) -> Result<Option<Self>, JobReadError> {
        let json = match fsx::read_regular(file, LARGEST) {
            Ok(Some(json)) => json,
            Ok(None) => return Ok(None),
            // Too large, or not a regular file.
            Err(error) if error.kind() == ErrorKind::Invalid => {
                return Err(JobReadError::NoJob(error.to_string()));
            }
            Err(error) => return Err(JobReadError::Now(error.to_string())),
        };
        let no_job = |error: serde_json::Error| {
            // The error's own text may quote the user.
            let (line, column) = (error.line(), error.column());
            JobReadError::NoJob(format!("{:?} error at {line}:{column}", error.classify()))
        };
        let form: JobVersion = serde_json::from_slice(&json).map_err(no_job)?;
        if form.version > VERSION {
            return Err(JobReadError::Now("written by a newer version of recoup".to_owned()));
        }
        let mut job: serde_json::Value = serde_json::from_slice(&json).map_err(no_job)?;
        if form.version == 1 {
            complete_statements(&mut job);
        }
        serde_json::from_value(job).map(Some).map_err(no_job)
    }
}

/// Completes the statements of a job in version 1, which only said whether they hold in all projects.
fn complete_statements(job: &mut serde_json::Value) {
    let project = job["from"]["scope"].clone();
    let upgrade = |said: &mut serde_json::Value| {
        let is_universal = said["universal"] == true;
        said["scope"] = if is_universal { "universal".into() } else { project.clone() };
        said["source"] = NoteSource::User.as_str().into();
        if said.get("lasting").is_none() {
            said["lasting"] = true.into();
        }
    };
    for list in ["/what/remember/said", "/what/judge/asked"] {
        let Some(list) = job.pointer_mut(list).and_then(|it| it.as_array_mut()) else { continue };
        for said in list {
            match said.get_mut("doubtful") {
                Some(doubtful) => upgrade(doubtful),
                None => upgrade(said),
            }
        }
    }
}

/// Version field, common to jobs of all versions.
#[derive(Deserialize)]
struct JobVersion {
    #[serde(default = "first")]
    version: u32,
}

/// Session and project that a job comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOrigin {
    /// Name of the client.
    pub client: String,
    /// Id of the conversation.
    pub session: String,
    /// Scope of the project's notes.
    pub scope: String,
    /// The project's root.
    pub root: PathBuf,
    /// The client's working directory, base of relative paths; the root if missing.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
}

/// Kind of a job, with its data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerJobKind {
    /// Read the new entries of a transcript.
    Sweep {
        /// Path of the transcript.
        transcript: PathBuf,
        /// Reason for reading it now.
        why: SweepReason,
        /// True if its prompts were typed by a person. False in jobs of older versions.
        #[serde(default)]
        by_person: bool,
    },
    /// Record statements that could not be written when they were made.
    Remember {
        /// Time of the statements.
        at: Timestamp,
        /// Digest of the prompt and its turn, so that it counts once.
        once: Option<String>,
        /// Digest of the prompt's words, to recognise it in the transcript.
        #[serde(default)]
        print: Option<String>,
        /// Statements to record.
        said: Vec<Statement>,
    },
    /// Sync memory to disk.
    Sync,
    /// Ask a model about sentences that were doubtful, or were recorded.
    Judge {
        /// Sentences, judged one by one.
        asked: Vec<JudgeQuestion>,
    },
}

/// A sentence for the model to judge, without secrets and private parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeQuestion {
    /// Recorded as a note.
    Kept {
        /// The user's own words.
        quote: String,
        /// Id of the note.
        note: String,
    },
    /// Not recorded, because the classifier was unsure.
    Doubtful(Statement),
}

impl WorkerJobKind {
    /// True if it is retried after this error. Other jobs would fail again and again.
    pub(crate) fn is_retried_after(&self, error: &Error) -> bool {
        use ErrorKind::{Full, Io, Locked, ReadOnly};
        matches!(self, Self::Remember { .. })
            && matches!(error.kind(), Locked | Full | ReadOnly | Io)
    }
}

/// Reason to read a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepReason {
    /// The context is about to be compacted.
    Compaction,
    /// The agent finished an answer.
    Stop,
    /// The session ended.
    End,
    /// A sub-agent ended, and this is its transcript.
    SubAgent,
}

impl JobOrigin {
    /// Makes the origin of an occasion.
    pub fn of(occasion: &EventOrigin, root: &Path, cwd: PathBuf) -> Self {
        Self {
            client: occasion.client.as_str().to_owned(),
            session: occasion.session.clone(),
            scope: occasion.scope.to_string(),
            root: root.to_owned(),
            // JSON can't hold paths that are not UTF-8.
            cwd: Some(cwd).filter(|cwd| cwd.to_str().is_some()),
        }
    }

    /// Base of relative paths.
    pub fn base_dir(&self) -> &Path {
        self.cwd.as_deref().unwrap_or(&self.root)
    }

    /// Occasion under which memory records it.
    pub fn occasion(&self) -> Result<EventOrigin> {
        Ok(EventOrigin {
            client: HookClient::parse(&self.client)?,
            session: self.session.clone(),
            context: self.session.clone(),
            scope: NoteScope::parse(&self.scope)?,
        })
    }
}

impl JudgeQuestion {
    /// Asks whether a recorded note was a statement.
    pub fn about_note(note: &Note) -> Self {
        let quote = note.quote.as_ref().unwrap_or(&note.text);
        Self::Kept { quote: quote.clone(), note: note.id.to_string() }
    }

    /// The user's own words.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Kept { quote, .. } => quote,
            Self::Doubtful(said) => said.quote.as_deref().unwrap_or(&said.text),
        }
    }
}
