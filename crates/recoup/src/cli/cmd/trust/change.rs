//! What trusting a file would change: what it says, and what is new about that.

use std::path::Path;

use recoup_core::base::digest::Digest;
use recoup_core::secrets;
use serde::Serialize;
use similar::TextDiff;

use crate::cli::ui;
use crate::config::Delicate;
use crate::config::trust::{self, Verdict};

/// A file that needs trust.
#[derive(Serialize)]
pub(super) struct Change {
    file: &'static str,
    state: State,
    sha256: Digest,
    says: Vec<Said>,
    /// From what was trusted to what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// How it stood before the question.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Trusted,
    Changed,
    New,
}

/// A value that counts only with trust.
#[derive(Serialize)]
struct Said {
    key: String,
    value: String,
}

impl Change {
    pub(super) fn new(home: &Path, delicate: &Delicate) -> Self {
        let Delicate { file, text, verdict, says } = delicate;
        let (state, before) = match verdict {
            Verdict::Trusted => (State::Trusted, None),
            Verdict::Unknown => (State::New, None),
            Verdict::Changed(digest) => (State::Changed, trust::trusted_text(home, *digest)),
        };
        Self {
            file: file.name(),
            state,
            sha256: Digest::of(text.as_bytes()),
            says: says.iter().cloned().map(|(key, value)| Said { key, value }).collect(),
            diff: before.map(|before| diff(&before, text)),
        }
    }

    /// Tells a person, unless they have heard it before.
    pub(super) fn tell(&self) {
        match self.state {
            State::Trusted => return,
            State::New => ui::say(format_args!("{} says:", self.file)),
            State::Changed => {
                ui::say(format_args!("{} has changed since you trusted it, and says:", self.file));
            }
        }
        for Said { key, value } in &self.says {
            ui::say(format_args!("  {key} = {value}"));
        }
        // Line by line: each is made harmless before a terminal sees it.
        self.diff.iter().flat_map(|diff| diff.lines()).for_each(ui::say);
    }
}

/// As `diff -u` has it, without the secrets that either text may hold.
fn diff(before: &str, after: &str) -> String {
    let (before, after) = (secrets::redact(before), secrets::redact(after));
    TextDiff::from_lines(before.as_ref(), after.as_ref())
        .unified_diff()
        .header("trusted", "now")
        .missing_newline_hint(false)
        .to_string()
}
