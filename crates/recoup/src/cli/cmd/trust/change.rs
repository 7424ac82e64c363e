//! A configuration file that needs trust: its values, and the diff since it was trusted.

use std::path::Path;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::secrets;
use serde::Serialize;
use similar::TextDiff;

use crate::cli::ui;
use crate::config::SensitiveFile;
use crate::config::trust::{self, TrustVerdict};

/// A file that needs trust.
#[derive(Serialize)]
pub(super) struct TrustFileReport {
    file: &'static str,
    state: FileTrustState,
    sha256: Sha256Digest,
    says: Vec<TrustGatedValue>,
    /// From what was trusted to what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// Trust in the file before the question.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum FileTrustState {
    Trusted,
    Changed,
    New,
}

/// A value that takes effect only with trust.
#[derive(Serialize)]
struct TrustGatedValue {
    key: String,
    value: String,
}

impl TrustFileReport {
    pub(super) fn new(home: &Path, delicate: &SensitiveFile) -> Self {
        let SensitiveFile { file, text, verdict, says } = delicate;
        let (state, before) = match verdict {
            TrustVerdict::Trusted => (FileTrustState::Trusted, None),
            TrustVerdict::Unknown => (FileTrustState::New, None),
            TrustVerdict::Changed(digest) => {
                (FileTrustState::Changed, trust::trusted_text(home, *digest))
            }
        };
        Self {
            file: file.name(),
            state,
            sha256: Sha256Digest::of(text.as_bytes()),
            says: says.iter().cloned().map(|(key, value)| TrustGatedValue { key, value }).collect(),
            diff: before.map(|before| redacted_diff(&before, text)),
        }
    }

    /// Prints the values and the diff, unless the file is trusted.
    pub(super) fn print(&self) {
        match self.state {
            FileTrustState::Trusted => return,
            FileTrustState::New => ui::say(format_args!("{} says:", self.file)),
            FileTrustState::Changed => {
                ui::say(format_args!("{} has changed since you trusted it, and says:", self.file));
            }
        }
        for TrustGatedValue { key, value } in &self.says {
            ui::say(format_args!("  {key} = {value}"));
        }
        // Line by line: control characters of each are escaped.
        self.diff.iter().flat_map(|diff| diff.lines()).for_each(ui::say);
    }
}

/// Unified diff, with secrets redacted.
fn redacted_diff(before: &str, after: &str) -> String {
    let (before, after) = (secrets::redact(before), secrets::redact(after));
    TextDiff::from_lines(before.as_ref(), after.as_ref())
        .unified_diff()
        .header("trusted", "now")
        .missing_newline_hint(false)
        .to_string()
}
