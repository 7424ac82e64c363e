//! The rules that an agent is given, as a part of the key of its run: another rule makes another
//! key, and which rule differs can be told afterwards.
//!
//! ```text
//! 3c5daf63 k3x9w2ma      what is kept of the part: a line for each rule, with a short
//! 91ba20c7 0h7d1vqz      hash of its text and the id by which memory knows it
//! ```
//!
//! Their text is not kept: entries may be shared, private statements may not, and a forgotten rule
//! must be gone from here as well.

use super::KeyPart;
use crate::base::digest::Sha256Digest;

/// The name of the part.
pub(super) const PART: &str = "rules";

/// Most rules that are listed one by one: they fit into a part.
const MOST: usize = 700;
/// Digits of a rule's digest, enough to tell it from others.
const DIGITS: usize = 8;
/// Ends a list that is not whole.
const MORE: char = '…';

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
        let hash = Sha256Digest::of(text.as_bytes()).to_hex()[..DIGITS].to_owned();
        Self { hash, id: id.to_owned() }
    }

    fn parse_line(line: &str) -> Option<Self> {
        let (hash, id) = line.split_once(' ')?;
        let is_hash = hash.len() == DIGITS && hash.bytes().all(|it| it.is_ascii_hexdigit());
        is_hash.then(|| Self { hash: hash.to_owned(), id: id.to_owned() })
    }
}

impl RuleSetFingerprint {
    /// The part, with a line for each rule.
    pub(super) fn to_part(&self) -> KeyPart {
        let lines = self.rules.iter().take(MOST).map(|rule| format!("{} {}\n", rule.hash, rule.id));
        let mut preview: String = lines.collect();
        preview.extend((self.rules.len() > MOST).then_some(MORE));
        KeyPart { name: PART.to_owned(), digest: self.digest, preview: Some(preview) }
    }
}

/// Parses the rules in a part's preview; true if they are complete.
pub fn parse_rules(preview: &str) -> (Vec<RuleFingerprint>, bool) {
    (preview.lines().filter_map(RuleFingerprint::parse_line).collect(), !preview.ends_with(MORE))
}
