//! What is left for later.

use std::path::{Path, PathBuf};

use recoup_core::base::clock::Timestamp;
use recoup_core::base::fsx;
use recoup_core::memory::hooked::Client;
use recoup_core::memory::{Note, NoteScope, Occasion};
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::queue::LARGEST;
use crate::hooks::place::Place;
use crate::hooks::said::Said;

/// The form of jobs that this program writes. It reads older ones, and leaves newer ones alone.
const VERSION: u32 = 1;

/// Something slow that a hook does not wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The form in which it is written; the first where it does not say.
    #[serde(default = "first")]
    version: u32,
    /// Where it comes from.
    pub from: Origin,
    /// What is to be done.
    pub what: JobKind,
}

fn first() -> u32 {
    1
}

/// Why a file is not read as a job.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is none, and never will be.
    NoJob(String),
    /// Not now, or not by us: the disk fails, or a newer version has left it.
    Now(String),
}

impl Job {
    /// Something to be done.
    pub fn new(from: Origin, what: JobKind) -> Self {
        Self { version: VERSION, from, what }
    }

    /// True if it holds what the user said, which nobody else has.
    pub(super) fn is_statement(&self) -> bool {
        matches!(self.what, JobKind::Remember { .. })
    }

    /// The job in a file; none where nothing is there.
    pub(super) fn read(file: &Path) -> Result<Option<Self>, Unread> {
        let json = match fsx::read_regular(file, LARGEST) {
            Ok(Some(json)) => json,
            Ok(None) => return Ok(None),
            // It is too large, or no file.
            Err(error) if error.kind() == ErrorKind::Invalid => {
                return Err(Unread::NoJob(error.to_string()));
            }
            Err(error) => return Err(Unread::Now(error.to_string())),
        };
        let no_job = |error: serde_json::Error| {
            // Its words are what somebody typed.
            let (line, column) = (error.line(), error.column());
            Unread::NoJob(format!("{:?} error at {line}:{column}", error.classify()))
        };
        let form: Form = serde_json::from_slice(&json).map_err(no_job)?;
        if form.version > VERSION {
            return Err(Unread::Now("it is of a newer version of recoup".to_owned()));
        }
        serde_json::from_slice(&json).map(Some).map_err(no_job)
    }
}

/// What is the same in jobs of all versions.
#[derive(Deserialize)]
struct Form {
    #[serde(default = "first")]
    version: u32,
}

/// Where a job comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The client's word.
    pub client: String,
    /// The conversation.
    pub session: String,
    /// The project, as notes have it.
    pub scope: String,
    /// The project's root.
    pub root: PathBuf,
    /// Where the client was, which paths may start from; the root where that is not known.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// Read what is new in a transcript.
    Sweep {
        /// The file.
        transcript: PathBuf,
        /// Why now.
        why: Why,
        /// Whether what stands there as typed was said by a person. Nobody where a job of an
        /// older version does not say.
        #[serde(default)]
        by_person: bool,
    },
    /// Remember what the user said while memory could not be written.
    Remember {
        /// When it was said.
        at: Timestamp,
        /// Stands for the prompt, which counts once.
        once: Option<String>,
        /// Stands for its words, by which it is known in the transcript.
        #[serde(default)]
        print: Option<String>,
        /// What was said.
        said: Vec<Said>,
    },
    /// See to it that the disk has what the user said.
    Sync,
    /// Ask a model about what the user said. Nobody was sure, or it was kept.
    Judge {
        /// Each sentence by itself.
        asked: Vec<Asked>,
    },
}

/// A sentence of the user's that a model is asked about, without secrets and private parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// It was kept.
    Kept {
        /// The user's own words.
        quote: String,
        /// The note that was made of them.
        note: String,
    },
    /// Nobody was sure about it.
    Doubtful(Said),
}

impl JobKind {
    /// Whether it is done another time, after that went wrong. What else is left would come
    /// again and again.
    pub(in crate::hooks) fn waits(&self, error: &Error) -> bool {
        use ErrorKind::{Full, Io, Locked, ReadOnly};
        matches!(self, Self::Remember { .. })
            && matches!(error.kind(), Locked | Full | ReadOnly | Io)
    }
}

/// Why a transcript is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The context is about to be compacted.
    Compaction,
    /// The agent came to the end of an answer.
    Stop,
    /// The session ended.
    End,
    /// A sub-agent came to its end: it is its transcript.
    SubAgent,
}

impl Origin {
    /// Of what happened.
    pub fn of(occasion: &Occasion, root: &Path, cwd: PathBuf) -> Self {
        Self {
            client: occasion.client.as_str().to_owned(),
            session: occasion.session.clone(),
            scope: occasion.scope.to_string(),
            root: root.to_owned(),
            // A job is JSON, which has no room for other names.
            cwd: Some(cwd).filter(|cwd| cwd.to_str().is_some()),
        }
    }

    /// Where its paths are.
    pub fn place(&self) -> Place<'_> {
        Place { root: &self.root, cwd: self.cwd.as_deref().unwrap_or(&self.root) }
    }

    /// What happened, as memory takes it in.
    pub fn occasion(&self) -> Result<Occasion> {
        Ok(Occasion {
            client: Client::parse(&self.client)?,
            session: self.session.clone(),
            context: self.session.clone(),
            scope: NoteScope::parse(&self.scope)?,
        })
    }
}

impl Asked {
    /// Whether that is worth keeping, which it is so far.
    pub fn kept(note: &Note) -> Self {
        let quote = note.quote.as_ref().unwrap_or(&note.text);
        Self::Kept { quote: quote.clone(), note: note.id.to_string() }
    }

    /// The user's own words.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Kept { quote, .. } => quote,
            Self::Doubtful(said) => said.quote.as_deref().unwrap_or(&said.text),
        }
    }
}
