//! One named input of a key, as an entry remembers it: enough to say later
//! which input differed, without keeping all of it.

use serde::{Deserialize, Serialize};

use super::{PartKind, rules};
use crate::base::digest::Sha256Digest;
use crate::base::text::shorten_text;

/// Most characters of a value in a new part. Far fewer are kept for display; the rest is for
/// checks, which a cut could mislead.
const TAKEN_CHARS: usize = 16 << 10;
/// Most characters of a value that are kept for display.
const PREVIEW_CHARS: usize = 200;

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
    pub fn is_fully_shown(&self) -> bool {
        self.preview
            .as_ref()
            .is_some_and(|preview| Sha256Digest::of(preview.as_bytes()) == self.digest)
    }

    /// Preview by which people recognise a question; `None` for the rules that go with it.
    pub fn identifying_preview(&self) -> Option<&str> {
        self.preview.as_deref().filter(|_| self.name != rules::PART)
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
