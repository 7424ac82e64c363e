//! `recoup memory enforce`: how a rule that has a check acts on calls that would break it.

use clap::Args;
use recoup_core::memory::{CheckStrength, CheckedRule};
use recoup_core::{Error, Result};
use serde::Serialize;

use super::parse_id;
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(super) struct EnforceArgs {
    /// The id of the rule
    #[arg(value_name = "ID")]
    id: String,
    /// Effect on a call that would break it: off (nothing), remind (the agent is given the
    /// rule), ask (the client asks you), block (the call is refused)
    #[arg(value_name = "STRENGTH")]
    strength: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Check of a rule, as shown to users.
#[derive(Debug, Serialize)]
pub(super) struct CheckReport {
    /// Description of what it forbids.
    pub(super) check: String,
    /// Effect on a call that would break the rule.
    pub(super) strength: CheckStrength,
    /// True if the strength is the default.
    pub(super) is_default: bool,
}

impl CheckReport {
    pub(super) fn new(rule: &CheckedRule, app: &App) -> Self {
        Self {
            check: rule.check.describe(),
            strength: rule.strength.unwrap_or(app.settings.enforcement.strength),
            is_default: rule.strength.is_none(),
        }
    }

    /// The strength in words.
    pub(super) fn strength_in_words(&self) -> String {
        let of = if self.is_default { " (default)" } else { "" };
        format!("{}{of}", self.strength)
    }
}

impl EnforceArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let (id, strength) = (parse_id(&self.id)?, CheckStrength::parse(&self.strength)?);
        let memory = app.memory_for_writing()?;
        if let Some(rule) = memory.checked_rule(&id)? {
            ensure_trusted(&rule, strength)?;
        }
        let rule = memory.set_check_strength(&id, strength)?;
        let report = CheckReport::new(&rule, app);
        if self.json {
            ui::json(&report)?;
        } else {
            let text = &rule.note.text;
            ui::say(format_args!("{text} ({id}): {} from now on", report.strength));
            ui::say(format_args!("It {}", report.check));
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Checks that the rule is the user's own: others are never stronger than a reminder.
fn ensure_trusted(rule: &CheckedRule, strength: CheckStrength) -> Result<()> {
    let note = &rule.note;
    if strength <= CheckStrength::Remind || rule.may_stop_calls() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{} was not said by you (trust: {}), so it can only remind; `recoup memory promote {}` makes \
         a candidate your own rule",
        note.id,
        note.trust(),
        note.id
    )))
}
