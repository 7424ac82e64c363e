//! Shortens results and reports, so that an agent reads 50 tokens in place of 50,000. There are
//! three strategies, each with a fixed output format.
//!
//! ```
//! use recoup_core::condense::{InputDocument, CondenseOptions, condense};
//!
//! # fn main() -> recoup_core::Result<()> {
//! let report = br#"{"verdict": "FAIL", "findings": [{"id": "F1", "severity": "high"}]}"#;
//! let condensed = condense(&InputDocument::read(report)?, &CondenseOptions::default());
//! assert!(condensed.to_json().starts_with(r#"{"verdict":"FAIL","#));
//! # Ok(())
//! # }
//! ```

mod document;
mod finding;
mod json;
mod reports;
mod strategy;
mod tokens;

use serde::Serialize;

pub use document::InputDocument;
pub use json::indented;
pub use strategy::{CondenseStrategy, StrategyInfo};
pub use tokens::{TokenEstimate, Tokenizer};

/// Options for [`condense`].
#[derive(Debug, Clone)]
pub struct CondenseOptions {
    /// The strategy.
    pub strategy: CondenseStrategy,
    /// Number of findings that `structured_verdict` keeps.
    pub top: usize,
    /// Dotted paths of values to keep unchanged. The strategy's own fields come first.
    pub preserve: Vec<String>,
    /// Maximum number of tokens of an `identifiers_only` result.
    pub max_tokens: Option<usize>,
    /// Path of the full result, included in the output.
    pub full_result_path: Option<String>,
}

impl Default for CondenseOptions {
    fn default() -> Self {
        Self {
            strategy: CondenseStrategy::default(),
            top: 5,
            preserve: Vec::new(),
            max_tokens: None,
            full_result_path: None,
        }
    }
}

/// Shortens a document. Missing paths to preserve are left out; [`missing_paths`] lists them.
pub fn condense(document: &InputDocument<'_>, options: &CondenseOptions) -> CondensedResult {
    let finish = |mut condensed: CondensedResult| {
        for path in &options.preserve {
            // The strategy's own fields come first.
            if condensed.fields.iter().all(|(known, _)| known != path)
                && let Some(raw) = document.value_at(path)
            {
                condensed.fields.push((path.clone(), raw.get().to_owned()));
            }
        }
        if let Some(path) = &options.full_result_path {
            condensed.set("full_result_path", path);
        }
        condensed
    };
    match options.strategy {
        CondenseStrategy::StructuredVerdict => {
            finish(strategy::condense_to_verdict(document, options.top))
        }
        CondenseStrategy::IdentifiersOnly => {
            strategy::condense_to_identifiers(document, options.max_tokens, finish)
        }
        CondenseStrategy::Summary => finish(strategy::condense_to_summary(document)),
    }
}

/// Shortens a document, or returns the input itself if that is shorter.
///
/// Only an agent's own result is returned as it is: a tool's report lacks the names that readers of
/// condensed results look for. With a full result path the document is always condensed, because
/// the output has to contain the path.
pub fn condense_or_keep(
    document: &InputDocument<'_>,
    options: &CondenseOptions,
) -> CondensedResult {
    let condensed = condense(document, options);
    if options.full_result_path.is_some() {
        return condensed;
    }
    let shorter = |input| json::compact_within(input, condensed.to_json().len() - 1);
    let fits = |input: &String| {
        options.max_tokens.is_none_or(|most| Tokenizer::load().count(input) <= most)
    };
    let input = document.own_result().and_then(shorter).filter(fits);
    input.map_or(condensed, |json| CondensedResult { fields: Vec::new(), input: Some(json) })
}

/// The paths to preserve that the document does not have.
pub fn missing_paths<'o>(
    document: &InputDocument<'_>,
    options: &'o CondenseOptions,
) -> Vec<&'o str> {
    let paths = options.preserve.iter().map(String::as_str);
    paths.filter(|path| document.value_at(path).is_none()).collect()
}

/// A condensed result: an object with fields in insertion order, or the input itself if that is
/// shorter.
#[derive(Debug, Clone, Default)]
pub struct CondensedResult {
    /// Names, and values as compact JSON.
    fields: Vec<(String, String)>,
    /// The input as compact JSON, if it takes the place of the fields.
    input: Option<String>,
}

impl CondensedResult {
    /// Sets a field, replacing one with the same name.
    fn set(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        let json = serde_json::to_string(value).expect("what is made from JSON is JSON");
        self.set_json(name, json);
    }

    /// Sets a field to a value that is JSON already.
    fn set_json(&mut self, name: &str, json: String) {
        match self.fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value = json,
            None => self.fields.push((name.to_owned(), json)),
        }
    }

    /// Compact JSON, for programs and agents: no white space, no newline at the end.
    pub fn to_json(&self) -> String {
        json::compact(&self.raw_json())
    }

    /// JSON for people: two spaces for each level, no newline at the end.
    pub fn to_pretty_json(&self) -> String {
        json::pretty(&self.raw_json())
    }

    fn raw_json(&self) -> String {
        if let Some(input) = &self.input {
            return input.clone();
        }
        let named = |(name, value): &(String, String)| {
            let name = serde_json::to_string(name).expect("text is always JSON");
            format!("{name}:{value}")
        };
        let fields: Vec<_> = self.fields.iter().map(named).collect();
        format!("{{{}}}", fields.join(","))
    }
}
