//! Notes, and the enums that describe them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::base::project::ProjectId;
use crate::error::{Error, Result};

/// One thing that is remembered. Serialized as a line of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Short id, as people use it.
    pub id: NoteId,
    /// Kind of content.
    pub kind: NoteKind,
    /// The statement in the user's own words, with its negation.
    pub text: String,
    /// The sentence that it was taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Origin, which decides the trust.
    pub source: NoteSource,
    /// Projects in which it applies.
    pub scope: NoteScope,
    /// Files to which it applies, as a glob from the project's root; all if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<String>,
    /// Subject: of two notes on one topic the newer counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// End of its validity, in the user's words: "until #123 is fixed".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Time of that end, if the words tell it.
    #[serde(skip)]
    pub ends: Option<Timestamp>,
    /// State: only active notes are rules.
    pub status: NoteStatus,
    /// Number of times that it was said, seen or confirmed.
    pub evidence: u64,
    /// A high estimate of its length in tokens, made when it was written.
    pub tokens: u32,
    /// When it was first said.
    pub created: Timestamp,
    /// When it was last said, or changed.
    pub updated: Timestamp,
    /// The note that replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<NoteId>,
    /// True if it was delivered often, and no agent ever used it.
    #[serde(skip)]
    pub idle: bool,
}

impl Note {
    /// How far it is trusted.
    pub fn trust(&self) -> NoteTrust {
        self.source.trust()
    }

    /// True if its end has come.
    pub fn has_ended(&self, now: Timestamp) -> bool {
        self.ends.is_some_and(|end| end <= now)
    }

    /// True if agents noted it in two sessions or more, and the user has not confirmed it yet.
    pub fn is_proposed(&self) -> bool {
        self.status == NoteStatus::Candidate
            && self.source == NoteSource::Agent
            && self.evidence >= 2
    }
}

/// Short, permanent id of a note.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NoteId(String);

impl NoteId {
    /// Characters in an id.
    const LENGTH: usize = 8;
    /// Characters that cannot be mistaken for each other.
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

    /// Makes a random id; the caller checks that it is unused.
    pub fn fresh() -> Self {
        let letter = |_| char::from(Self::ALPHABET[fastrand::usize(..Self::ALPHABET.len())]);
        Self((0..Self::LENGTH).map(letter).collect())
    }

    /// The id that always stands for the same text, for notes that are made anew at each import.
    pub(crate) fn of_text(text: &str) -> Self {
        let digest = Sha256Digest::of(text.as_bytes());
        let letters = digest.as_bytes().iter().take(Self::LENGTH);
        Self(letters.map(|byte| char::from(Self::ALPHABET[usize::from(byte % 32)])).collect())
    }

    /// Parses an id that somebody typed.
    pub fn parse(text: &str) -> Result<Self> {
        let valid =
            text.len() == Self::LENGTH && text.bytes().all(|byte| Self::ALPHABET.contains(&byte));
        if valid {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::usage(format!(
            "invalid memory id {text:?}: expected {} of these characters: {}",
            Self::LENGTH,
            String::from_utf8_lossy(Self::ALPHABET)
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
    /// Kind of a note's content.
    NoteKind: "invalid memory kind" {
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
    /// Origin of a note.
    NoteSource: "invalid memory source" {
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
        /// Output of a tool, a file or a web page.
        Tool = "tool",
    }
}

words! {
    /// How far a note is trusted, the least first. Only what the user said, or agreed to,
    /// becomes a rule by itself.
    NoteTrust: "invalid trust level" {
        /// Nobody vouches for it: it never becomes a rule, whatever it says.
        Untrusted = "untrusted",
        /// Inferred: evidence, or the user, makes it a rule.
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
    /// State of a note.
    NoteStatus: "invalid memory status" {
        /// Waits for evidence, or for the user.
        Candidate = "candidate",
        /// Counts as a rule.
        Active = "active",
        /// Replaced by a newer note on its topic.
        Superseded = "superseded",
        /// Given up; no longer counts.
        Retired = "retired",
    }
}

impl NoteTrust {
    /// Heading above notes with this trust.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Stated => "The user said",
            Self::Agreed => "Rules of the team, accepted by the user",
            Self::Recorded => "Said by the user, as an agent that they allow to do so recorded it",
            Self::Inferred | Self::Untrusted => "Learned from earlier work, not said by the user",
        }
    }
}

impl NoteSource {
    /// Trust in statements from this source.
    pub(crate) fn trust(self) -> NoteTrust {
        match self {
            Self::User | Self::Manual => NoteTrust::Stated,
            Self::Team => NoteTrust::Agreed,
            Self::AllowedAgent => NoteTrust::Recorded,
            Self::Import | Self::Agent | Self::Extraction => NoteTrust::Inferred,
            Self::Tool => NoteTrust::Untrusted,
        }
    }

    /// Initial status of a statement from this source.
    pub(crate) fn first_status(self) -> NoteStatus {
        match self.trust() {
            NoteTrust::Stated | NoteTrust::Agreed | NoteTrust::Recorded => NoteStatus::Active,
            NoteTrust::Inferred | NoteTrust::Untrusted => NoteStatus::Candidate,
        }
    }
}

/// Projects in which a note applies; stored as `universal` or `project:ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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

/// Lets serde read and write types as their text.
macro_rules! serialized_as_text {
    ($($name:ident),*) => {$(
        impl From<$name> for String {
            fn from(it: $name) -> Self {
                it.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self> {
                Self::parse(&text)
            }
        }
    )*};
}

serialized_as_text!(NoteId, NoteScope);

/// Defines an enum whose words are stored, shown and parsed, with the error for other words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word that is stored and shown.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Parses a word.
            pub fn parse(word: &str) -> $crate::error::Result<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == word).ok_or_else(|| {
                    let all: Vec<&str> = Self::ALL.iter().map(|it| it.as_str()).collect();
                    $crate::error::Error::usage(format!("{} {word:?}: expected one of {}", $what, all.join(", ")))
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use words;
