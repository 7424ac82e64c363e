//! Secrets, which must not be kept. [`scan`] finds one in a text, [`redact`] takes them out, and a
//! [`RedactedCommand`] is a command line without them.
//!
//! A pre-filter made at compile time passes over the text once; a rule is tried only where the
//! pre-filter sees one of its literals. Clean text costs about a pass through memory, and a short
//! command has nothing to set up.

mod assignment;
mod command;
mod encoded;
mod http;
mod prefilter;
mod prose;
mod prose_word;
mod rules;
mod scan;
mod slot;
mod value;
mod values;
mod word_form;
mod words;

pub use command::RedactedCommand;
pub use rules::{SecretRule, all_rules};
pub use scan::{
    SecretFinding, SecretFindings, detect_secret, redact, redact_bytes, scan, scan_all,
};
pub use values::SecretValues;
pub(crate) use word_form::REDACTED;
pub use word_form::looks_like_credential;
