//! Errors of canonical JSON: what is wrong, where, and what to do.
//!
//! The path is put together on the way up, so that a document without faults
//! pays nothing for it.

use std::fmt::Display;

use serde_json::Value;

use super::write::MAX_DEPTH;
use crate::base::text::shorten_text;
use crate::error::{Error, ErrorKind};

/// Hostile input must not make endless messages.
const MAX_NAME: usize = 64;
const MAX_PATH: usize = 1_000;

/// An error, and the steps that lead to its place, innermost first.
#[derive(Debug)]
pub(super) struct CanonicalError {
    what: String,
    fix: &'static str,
    steps: Vec<String>,
}

impl CanonicalError {
    fn new(what: String, fix: &'static str) -> Self {
        Self { what, fix, steps: Vec::new() }
    }

    /// Text that breaks JSON's grammar.
    pub(super) fn syntax(what: &str) -> Self {
        Self::new(format!("not JSON: {what}"), "correct the text")
    }

    /// A number whose digits would be lost; `why` says how.
    pub(super) fn number(literal: &impl Display, why: &str) -> Self {
        let literal = literal.to_string();
        let literal = shorten_text(&literal, MAX_NAME);
        let what = format!("canonical JSON can't carry the number {literal}, which {why},");
        Self::new(what, "write it as a string")
    }

    /// Half of a surrogate pair.
    pub(super) fn surrogate(unit: u32) -> Self {
        let what = format!("canonical JSON can't carry the lone surrogate \\u{unit:04x}");
        Self::new(what, "complete the pair or leave it out")
    }

    /// A member name that occurs twice in one object.
    pub(super) fn duplicate(name: &str) -> Self {
        let what = format!("the member name {} occurs twice in the object", quote_name(name));
        Self::new(what, "keep one of the two")
    }

    /// Brackets within brackets within brackets.
    pub(super) fn depth() -> Self {
        Self::new(format!("more than {MAX_DEPTH} levels of nesting"), "make the value flatter")
    }

    /// Adds the index in the surrounding array to the path.
    pub(super) fn at_item(mut self, index: usize) -> Self {
        self.steps.push(format!("[{index}]"));
        self
    }

    /// Adds the name in the surrounding object to the path.
    pub(super) fn at_member(mut self, name: &str) -> Self {
        let plain = name.starts_with(|c: char| !c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        self.steps.push(if plain {
            format!(".{}", shorten_text(name, MAX_NAME))
        } else {
            format!("[{}]", quote_name(name))
        });
        self
    }

    fn path(&self) -> String {
        let steps: String = self.steps.iter().rev().map(String::as_str).collect();
        shorten_text(&format!("${steps}"), MAX_PATH).into_owned()
    }
}

impl From<CanonicalError> for Error {
    fn from(fault: CanonicalError) -> Self {
        let message = format!("{} at {}; {}", fault.what, fault.path(), fault.fix);
        Error::new(ErrorKind::Invalid, message)
    }
}

/// A name as JSON writes it.
fn quote_name(name: &str) -> String {
    Value::from(shorten_text(name, MAX_NAME)).to_string()
}
