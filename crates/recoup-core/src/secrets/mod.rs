//! What must not be kept: texts with secrets in them. [`scan`] says whether
//! and where there is one, [`redact`] takes them out.
//!
//! A pre-filter made at compile time passes over the text once; only where it
//! sees a rule's literal is that rule looked at, and only there. So clean text
//! costs about a pass through memory, and a short command nothing to set up.

mod assignment;
mod authorization;
mod boundary;
mod expression;
mod jwt;
mod name;
mod pem;
mod placeholder;
mod plain;
mod prefilter;
mod redact;
mod rule;
mod rules;
mod scan;
mod url;
mod value;
mod values;
mod words;

pub use plain::detect;
pub use redact::{redact, redact_bytes};
pub use rule::Rule;
pub use rules::rules;
pub use scan::{Finding, Findings, scan, scan_all};
pub use values::Values;
