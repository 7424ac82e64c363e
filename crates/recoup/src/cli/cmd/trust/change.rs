//! A configuration file that needs trust: its values, and the diff since it was trusted.

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

/// Trust in the file before the question.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Trusted,
    Changed,
    New,
}

/// A value that takes effect only with trust.
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

    /// Prints the values and the diff, unless the file is trusted.
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
        // Line by line: control characters of each are escaped.
        self.diff.iter().flat_map(|diff| diff.lines()).for_each(ui::say);
    }
}

/// Unified diff, with secrets redacted.
fn diff(before: &str, after: &str) -> String {
    let (before, after) = (secrets::redact(before), secrets::redact(after));
    TextDiff::from_lines(before.as_ref(), after.as_ref())
        .unified_diff()
        .header("trusted", "now")
        .missing_newline_hint(false)
        .to_string()
}
