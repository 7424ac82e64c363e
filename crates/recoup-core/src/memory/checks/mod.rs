//! Checks: what a rule forbids tools to do, compiled from its words.
//!
//! ```text
//! use pnpm, never npm         forbids the program npm (use pnpm)
//! don't touch db/migrations   forbids changing db/migrations
//! ```
//!
//! A small network tells what each word is for ([`roles`]); code makes acts of them ([`compile`]). Where
//! the words do not give a certain check there is none. [`CheckedCall`] is a tool call, taken
//! apart once for all checks; a check can only be broken by a call that shares one of its keys.

mod act;
mod call;
mod command;
mod compile;
mod path;
pub mod role_input;
pub mod roles;
mod terms;
mod written_text;

use serde::{Deserialize, Serialize};

use act::ForbiddenAct;
use command::AllowedCommand;
use path::CheckPlace;

pub use call::CheckedCall;

/// Version of the compiler. Checks of older versions are compiled anew.
pub const CHECK_VERSION: u32 = 2;

/// Most acts that a description names.
const MOST_SHOWN: usize = 5;

/// A check that was compiled from a rule's words: what a call must not do, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCheck {
    version: u32,
    forbidden: Vec<ForbiddenAct>,
    /// Files and folders in which alone it holds.
    #[serde(default, skip_serializing_if = "CheckPlace::is_everywhere")]
    place: CheckPlace,
    /// Commands that are right whatever is forbidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allowed: Vec<AllowedCommand>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instead: Option<String>,
}

/// Violation of a rule by a call, in words to show: `npm install`, `db/migrations/003.sql`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleViolation {
    /// The words.
    pub what: String,
}

impl RuleCheck {
    /// Compiles a rule, which holds for the files of the glob `paths` if there is one. Returns `None`
    /// if its words give no certain check.
    pub fn compile(text: &str, paths: Option<&str>) -> Option<Self> {
        compile::compile_rule(text, paths)
    }

    /// Compiles a rule whose terms have the roles that `shares` tells: what training is measured by.
    pub fn compile_with_roles(text: &str, shares: &[roles::RoleShares]) -> Option<Self> {
        compile::compile_roles(text, &terms::split_terms(text), shares, None)
    }

    /// True if this version of the compiler made it.
    pub fn is_current(&self) -> bool {
        self.version == CHECK_VERSION
    }

    /// Makes it hold in the project only: paths outside of it must be named.
    pub fn limit_to_project(&mut self) {
        self.place.in_project = true;
    }

    /// Returns short strings by which it is found, such as `program:npm` and `path:db`.
    pub fn index_keys(&self) -> Vec<String> {
        let mut keys: Vec<String> =
            self.forbidden.iter().flat_map(|act| act.keys(&self.place)).collect();
        let wanted = self.instead().and_then(|wanted| wanted.split_whitespace().next());
        keys.extend(wanted.map(|program| format!("program:{program}")));
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Returns what in a call breaks the rule.
    pub fn find_violation(&self, call: &CheckedCall<'_>) -> Option<RuleViolation> {
        let what =
            self.forbidden.iter().find_map(|act| act.find_in(call, &self.place, &self.allowed))?;
        Some(RuleViolation { what })
    }

    /// True if the call runs what is wanted in place of what the rule forbids.
    pub fn is_followed_by(&self, call: &CheckedCall<'_>) -> bool {
        let wanted: Vec<&str> = self.instead().unwrap_or_default().split_whitespace().collect();
        wanted.split_first().is_some_and(|(program, words)| call.runs(program, words))
    }

    /// Describes it in one line: "forbids the program npm (use pnpm)".
    pub fn describe(&self) -> String {
        let mut acts: Vec<String> = self.forbidden.iter().map(ToString::to_string).collect();
        acts.dedup();
        if acts.len() > MOST_SHOWN {
            let more = acts.len() + 1 - MOST_SHOWN;
            acts.truncate(MOST_SHOWN - 1);
            acts.push(format!("and {more} more"));
        }
        let mut line = format!("forbids {}", acts.join(", "));
        line += &self.place.to_string();
        match &self.instead {
            Some(instead) => format!("{line} (use {instead})"),
            None => line,
        }
    }

    /// Returns what is wanted in place of what it forbids: `pnpm`, `make test`.
    pub fn instead(&self) -> Option<&str> {
        self.instead.as_deref()
    }
}
