//! One thing that is remembered, and the words for what it is.

use std::fmt;

use super::words::words;
use crate::base::clock::Timestamp;
use crate::base::project::ProjectId;
use crate::error::{Error, Result};

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What people call it by.
    pub id: NoteId,
    /// What sort of thing it is.
    pub kind: NoteKind,
    /// The statement: a clean imperative, with its negation.
    pub text: String,
    /// The user's own words, where they differ.
    pub quote: Option<String>,
    /// Where it came from.
    pub source: Source,
    /// For whom it holds.
    pub scope: NoteScope,
    /// For which files it holds, as a glob from the project's root; all where there is none.
    pub paths: Option<String>,
    /// What it is about: of two on one topic the newer counts.
    pub topic: Option<String>,
    /// Whether it counts.
    pub status: Status,
    /// How often it was said, seen or confirmed.
    pub evidence: u64,
    /// A high estimate of its length in tokens, made when it was written.
    pub tokens: u32,
    /// When it was first said.
    pub created: Timestamp,
    /// When it was last said, or changed.
    pub updated: Timestamp,
    /// The one that took its place.
    pub superseded_by: Option<NoteId>,
    /// Whether it was given to agents often, and nobody ever used it.
    pub idle: bool,
}

impl Note {
    /// How far it is trusted.
    pub fn trust(&self) -> Trust {
        self.source.trust()
    }

    /// True if agents noted it in two sessions or more, and the user has not confirmed it yet.
    pub fn is_proposed(&self) -> bool {
        self.status == Status::Candidate && self.source == Source::Agent && self.evidence >= 2
    }
}

/// What people call a note by: short, and the same for ever.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteId(String);

impl NoteId {
    /// The letters that an id has.
    const LENGTH: usize = 8;
    /// None that reads like another.
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

    /// One that nobody has, most likely; whoever stores it finds out.
    pub fn fresh() -> Self {
        let letter = |_| char::from(Self::ALPHABET[fastrand::usize(..Self::ALPHABET.len())]);
        Self((0..Self::LENGTH).map(letter).collect())
    }

    /// Checks what somebody typed.
    pub fn parse(text: &str) -> Result<Self> {
        let valid =
            text.len() == Self::LENGTH && text.bytes().all(|byte| Self::ALPHABET.contains(&byte));
        if valid {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::usage(format!(
            "{text:?} is no id of a memory: these have eight letters and digits, as `recoup memory list` shows them"
        )))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

words! {
    /// What sort of thing is remembered.
    NoteKind: "kind of memory" {
        /// The user corrected the agent.
        Correction = "correction",
        /// The user said how things are to be done.
        Preference = "preference",
        /// A fact about the project.
        ProjectKnowledge = "project-knowledge",
        /// How the project is built, run and shipped.
        Devops = "devops",
        /// Something that failed, and what made it work.
        Failure = "failure",
    }
}

words! {
    /// Where a note came from.
    Source: "source of a memory" {
        /// The user said it to an agent.
        User = "user",
        /// The user typed it for us: `recoup memory add`.
        Manual = "manual",
        /// A file of the repository that the user has accepted.
        Team = "team",
        /// Another program's memory.
        Import = "import",
        /// An agent whose client the user allows to record rules noted it as their words.
        AllowedAgent = "allowed-agent",
        /// An agent noted it for the user, who has not confirmed it.
        Agent = "agent",
        /// A model, or we ourselves, found it in a conversation.
        Extraction = "extraction",
        /// It came out of a tool, a file or a web page.
        Tool = "tool",
    }
}

words! {
    /// How far a note is trusted, the least first. Only what the user said, or agreed to,
    /// becomes a rule by itself.
    Trust: "level of trust" {
        /// Nobody vouches for it: it never becomes a rule, whatever it says.
        Untrusted = "untrusted",
        /// It was inferred: evidence, or the user, makes it a rule.
        Inferred = "inferred",
        /// An agent that the user allows to record rules says that they said it.
        Recorded = "recorded",
        /// The user has agreed to it.
        Agreed = "agreed",
        /// The user said it.
        Stated = "stated",
    }
}

words! {
    /// Whether a note counts.
    Status: "status of a memory" {
        /// Not yet: it waits for evidence.
        Candidate = "candidate",
        /// It does.
        Active = "active",
        /// A newer one on its topic took its place.
        Superseded = "superseded",
        /// No longer.
        Retired = "retired",
    }
}

impl Source {
    /// How far what comes from there is trusted.
    pub fn trust(self) -> Trust {
        match self {
            Self::User | Self::Manual => Trust::Stated,
            Self::Team => Trust::Agreed,
            Self::AllowedAgent => Trust::Recorded,
            Self::Import | Self::Agent | Self::Extraction => Trust::Inferred,
            Self::Tool => Trust::Untrusted,
        }
    }

    /// What a statement from there is at first.
    pub fn first_status(self) -> Status {
        match self.trust() {
            Trust::Stated | Trust::Agreed | Trust::Recorded => Status::Active,
            Trust::Inferred | Trust::Untrusted => Status::Candidate,
        }
    }
}

/// For whom a note holds. Its text is what is stored: `universal`, `project:ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteScope {
    /// Everywhere: only when the user says so.
    Universal,
    /// In one project, its worktrees and clones.
    Project(ProjectId),
}

impl NoteScope {
    /// Reads a scope's text.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "universal" => Ok(Self::Universal),
            Some(("project", id)) => ProjectId::parse(id).map(Self::Project),
            _ => Err(Error::usage(format!(
                "invalid scope {text:?}: expected universal or project:ID"
            ))),
        }
    }
}

impl fmt::Display for NoteScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Universal => f.write_str("universal"),
            Self::Project(id) => write!(f, "project:{id}"),
        }
    }
}
