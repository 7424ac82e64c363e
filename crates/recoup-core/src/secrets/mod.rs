//! Secrets, which must not be kept. [`scan`] finds one in a text, [`redact`] takes them out, and a
//! [`RedactedCommand`] is a command line without them.
//!
//! A pre-filter made at compile time passes over the text once; a rule is tried only where the
//! pre-filter sees one of its literals. Clean text costs about a pass through memory, and a short
//! command has nothing to set up.

mod assignment;
mod authorization;
mod boundary;
mod call;
mod command;
mod cookie;
mod expression;
mod jwt;
mod name;
mod pem;
mod placeholder;
mod plain;
mod prefilter;
mod prose;
mod prose_pair;
mod prose_run;
mod prose_word;
mod prose_words;
mod redact;
mod rule;
mod rules;
mod scan;
mod shell_word;
mod slot;
mod token_run;
mod url;
mod value;
mod values;
mod word_form;
mod words;

pub use command::RedactedCommand;
pub(crate) use placeholder::REDACTED;
pub use plain::detect_secret;
pub use redact::{redact, redact_bytes};
pub use rule::SecretRule;
pub use rules::all_rules;
pub use scan::{SecretFinding, SecretFindings, scan, scan_all};
pub use values::SecretValues;
pub use word_form::looks_like_credential;
