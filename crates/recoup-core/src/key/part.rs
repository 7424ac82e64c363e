//! One named input of a key, as an entry remembers it: enough to say later which input differed,
//! without keeping all of it.
//!
//! The rules that an agent is given are such an input: another rule makes another key, and which rule
//! differs can be told afterwards. Their text is not kept: entries may be shared, private statements
//! may not, and a forgotten rule must be gone from here as well.
//!
//! ```text
//! 3c5daf63 k3x9w2ma      what is kept of the part: a line for each rule, with a short
//! 91ba20c7 0h7d1vqz      hash of its text and the id by which memory knows it
//! ```

use serde::{Deserialize, Serialize};

use super::agent::{AgentAnswerRecipe, FORMAT, SETTINGS};
use super::agent_run::AgentRunRecipe;
use super::command::CommandRecipe;
use super::model_request::ModelRequestRecipe;
use super::result::ResultRecipe;
use super::tool::ToolCallRecipe;
use super::{KeyRecipe as _, Kind};
use crate::base::digest::Sha256Digest;
use crate::base::text::shorten_text;

/// Most characters of a value in a new part. Far fewer are kept for display; the rest is for
/// checks, which a cut could mislead.
const TAKEN_CHARS: usize = 16 << 10;
/// Most characters of a value that are kept for display.
const PREVIEW_CHARS: usize = 200;
/// The value of a [`PartKind::Switch`] that is on.
pub const SET: &str = "set";
/// The value of a [`PartKind::Switch`] that is off.
pub const NOT_SET: &str = "not set";
/// The name of the part that holds the rules.
pub(super) const RULES_PART: &str = "rules";
/// Most rules that are listed one by one: they fit into a part.
const MAX_LISTED_RULES: usize = 700;
/// Digits of a rule's digest, enough to tell it from others.
const RULE_HASH_DIGITS: usize = 8;
/// Ends a list that is not whole.
const MORE_RULES: char = '…';

/// A named input: its digest and, where it is harmless, its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPart {
    /// Name of the input.
    pub name: String,
    /// SHA-256 of the whole value, as it went into the key.
    pub digest: Sha256Digest,
    /// The beginning of the value; none where it must not be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

impl KeyPart {
    /// True if the preview is the whole value.
    pub(crate) fn is_fully_shown(&self) -> bool {
        self.preview
            .as_ref()
            .is_some_and(|preview| Sha256Digest::of(preview.as_bytes()) == self.digest)
    }

    /// Preview by which people recognise a question; `None` for the rules and settings that go with it.
    pub fn identifying_preview(&self) -> Option<&str> {
        let is_identifying = ![RULES_PART, SETTINGS, FORMAT].contains(&self.name.as_str());
        self.preview.as_deref().filter(|_| is_identifying)
    }

    /// Shortens the preview to what is kept for display.
    #[must_use]
    pub fn shorten_preview(self, nature: PartKind) -> Self {
        // Any of the rules may be the one that differs, and they hold no text.
        let most = if nature == PartKind::Rules { TAKEN_CHARS } else { PREVIEW_CHARS };
        let short = |preview: String| shorten_text(&preview, most).into_owned();
        Self { preview: self.preview.map(short), ..self }
    }

    /// A part that may be shown.
    pub fn shown(name: &str, value: &str) -> Self {
        Self {
            preview: Some(shorten_text(value, TAKEN_CHARS).into_owned()),
            ..Self::hidden(name, value)
        }
    }

    /// A part of which only the digest is kept.
    pub fn hidden(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), digest: Sha256Digest::of(value.as_bytes()), preview: None }
    }
}

/// Type of a key part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// Words: those that differ can be named.
    Text,
    /// A list with this between its items: those that are new or gone can be named.
    List(char),
    /// Presence only, as [`SET`] or [`NOT_SET`].
    Switch,
    /// A file that counts with its size and time; its path is all that is shown.
    File,
    /// The rules that an agent is given, a line for each: those that are new or gone can be
    /// named.
    Rules,
    /// Bytes of which nothing is shown.
    Hidden,
}

impl Kind {
    /// Type of the part with this name in keys of this kind. A kind whose parts can't be explained
    /// does not compile.
    pub fn part_kind(self, part: &str) -> PartKind {
        match self {
            Self::Result => ResultRecipe::part_kind(part),
            Self::AgentRun => AgentRunRecipe::part_kind(part),
            Self::Agent => AgentAnswerRecipe::part_kind(part),
            Self::Command => CommandRecipe::part_kind(part),
            Self::Tool => ToolCallRecipe::part_kind(part),
            Self::ModelRequest => ModelRequestRecipe::part_kind(part),
        }
    }
}

/// The rules that hold for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSetFingerprint {
    /// Digest of all that the agent is told.
    pub digest: Sha256Digest,
    /// Each of them, the more important first.
    pub rules: Vec<RuleFingerprint>,
}

/// A rule without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFingerprint {
    /// The beginning of its text's digest.
    pub hash: String,
    /// The id by which memory knows it.
    pub id: String,
}

impl RuleFingerprint {
    /// The rule of that id and text.
    pub fn new(id: &str, text: &str) -> Self {
        let hash = Sha256Digest::of(text.as_bytes()).to_hex()[..RULE_HASH_DIGITS].to_owned();
        Self { hash, id: id.to_owned() }
    }
}

impl RuleSetFingerprint {
    /// The part, with a line for each rule.
    pub(super) fn to_part(&self) -> KeyPart {
        let lines = self
            .rules
            .iter()
            .take(MAX_LISTED_RULES)
            .map(|rule| format!("{} {}\n", rule.hash, rule.id));
        let mut preview: String = lines.collect();
        preview.extend((self.rules.len() > MAX_LISTED_RULES).then_some(MORE_RULES));
        KeyPart { name: RULES_PART.to_owned(), digest: self.digest, preview: Some(preview) }
    }
}

/// Parses the rules in a part's preview; true if they are complete.
pub fn parse_rules(preview: &str) -> (Vec<RuleFingerprint>, bool) {
    let rules = preview.lines().filter_map(|line| {
        let (hash, id) = line.split_once(' ')?;
        let is_hash =
            hash.len() == RULE_HASH_DIGITS && hash.bytes().all(|it| it.is_ascii_hexdigit());
        is_hash.then(|| RuleFingerprint { hash: hash.to_owned(), id: id.to_owned() })
    });
    (rules.collect(), !preview.ends_with(MORE_RULES))
}
