//! Permission to run a tool that is not read-only: by patterns that the user gave, or by the user, asked.

use std::collections::BTreeSet;
use std::fmt;

use parking_lot::Mutex;
use recoup_core::base::text::shorten_text;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::human;
use crate::toolbox::NamePattern;

/// Characters of arguments that the user is shown.
const SHOWN_CHARS: usize = 400;

/// The user's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionAnswer {
    No,
    Once,
    /// This tool, for the rest of the run.
    Always,
}

/// Asks the user; the text is the question without the possible answers.
pub(crate) type PermissionPrompt = Box<dyn Fn(&str) -> PermissionAnswer + Send + Sync>;

/// Permission for the tools of a run; by default for none.
#[derive(Default)]
pub(crate) struct ToolPermission {
    allowed: Vec<NamePattern>,
    /// None without a terminal.
    prompt: Option<PermissionPrompt>,
    /// Tools that the user allowed for the rest of the run. Locked while the user is asked, so that
    /// there is one question at a time.
    always: Mutex<BTreeSet<String>>,
}

impl fmt::Debug for ToolPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPermission").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl ToolPermission {
    /// `allowed` are patterns of names as the model knows them: `files__write_*`, `*`.
    pub(crate) fn new(allowed: Vec<NamePattern>, prompt: Option<PermissionPrompt>) -> Self {
        Self { allowed, prompt, always: Mutex::default() }
    }

    /// Checks a call; an error is what the model is told.
    pub(super) fn check(&self, name: &str, arguments: &Value) -> Result<()> {
        if self.allowed.iter().any(|pattern| pattern.matches(name)) {
            return Ok(());
        }
        let refused = |why: String| Err(Error::new(ErrorKind::Invalid, why));
        let Some(prompt) = &self.prompt else {
            return refused(format!(
                "{name} was not run: it is not declared read-only, and nobody can be asked. The \
                 user can allow it with the option --allow '{name}'"
            ));
        };
        let mut always = self.always.lock();
        if always.contains(name) {
            return Ok(());
        }
        let arguments = arguments.to_string();
        let arguments = human::printable(&arguments);
        match prompt(&format!("Allow {name} {}?", shorten_text(&arguments, SHOWN_CHARS))) {
            PermissionAnswer::Once => Ok(()),
            PermissionAnswer::Always => {
                always.insert(name.to_owned());
                Ok(())
            }
            PermissionAnswer::No => refused(format!("{name} was not run: the user said no")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[test]
    fn without_a_terminal_only_patterns_allow() {
        let permission = ToolPermission::new(vec![NamePattern::new("files__write_*")], None);
        assert!(permission.check("files__write_file", &json!({})).is_ok());
        let refused = permission.check("files__move", &json!({})).expect_err("not allowed");
        assert!(refused.to_string().contains("--allow 'files__move'"), "{refused}");
    }

    #[test]
    fn the_user_is_asked_once_for_a_tool_that_is_always_allowed() {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let prompt = move |question: &str| {
            log.lock().push(question.to_owned());
            if question.contains("no") { PermissionAnswer::No } else { PermissionAnswer::Always }
        };
        let permission = ToolPermission::new(Vec::new(), Some(Box::new(prompt)));
        assert!(permission.check("a__b", &json!({ "path": "x\u{1b}" })).is_ok());
        assert!(permission.check("a__b", &json!({ "path": "no" })).is_ok());
        assert!(permission.check("a__c", &json!({ "path": "no" })).is_err());
        let asked = asked.lock();
        assert_eq!(asked.len(), 2);
        assert!(asked[0].starts_with("Allow a__b {\"path\":\"x") && !asked[0].contains('\u{1b}'));
    }
}
