//! `recoup config show`: every key with its value and, if asked, its origin.

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::FlagOverrides;
use crate::config::show::{
    self, ConfigLayer, InactiveReason, InactiveValue, SettingRow, ShownOrigin, ShownSettings,
};

/// Show every key with its value.
#[derive(Debug, Args)]
pub(super) struct ConfigShowArgs {
    /// Also where it comes from, and what was overridden or ignored
    #[arg(long)]
    origin: bool,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct PlainSetting {
    key: &'static str,
    value: Value,
}

impl ConfigShowArgs {
    pub(super) fn run(self, overrides: &FlagOverrides) -> CommandResult {
        let ShownSettings { rows, left_out, notices } = show::load_rows(overrides)?;
        left_out.iter().for_each(ui::warn);
        // With origins, what was ignored is in the table.
        if !self.origin {
            notices.iter().for_each(ui::warn);
        }
        match (self.json, self.origin) {
            (true, true) => ui::json(&rows)?,
            (true, false) => ui::json(&rows.into_iter().map(without_origin).collect::<Vec<_>>())?,
            (false, true) => {
                let lines: Vec<_> = rows.iter().flat_map(origin_rows).collect();
                ui::table(&["KEY", "VALUE", "ORIGIN"], &lines)?;
            }
            (false, false) => {
                let lines: Vec<_> = rows
                    .iter()
                    .map(|row| vec![row.key.to_owned(), value_text(&row.value)])
                    .collect();
                ui::table(&["KEY", "VALUE"], &lines)?;
            }
        }
        Ok(CommandAnswer::Yes)
    }
}

fn without_origin(SettingRow { key, value, .. }: SettingRow) -> PlainSetting {
    PlainSetting { key, value }
}

/// Rows of a key: its value, then overridden and ignored ones, except built-in defaults.
fn origin_rows(row: &SettingRow) -> Vec<Vec<String>> {
    let origin = row.origin.as_ref().map_or("", |origin| &origin.place);
    let mut lines = vec![vec![row.key.to_owned(), value_text(&row.value), origin.to_owned()]];
    let said = |other: &&InactiveValue| other.origin.layer != ConfigLayer::BuiltIn;
    lines.extend(row.others.iter().filter(said).map(|other| {
        let ShownOrigin { place, .. } = &other.origin;
        vec![
            String::new(),
            value_text(&other.value),
            format!("{place} ({})", override_reason(other)),
        ]
    }));
    lines
}

fn override_reason(other: &InactiveValue) -> &'static str {
    match other.why {
        InactiveReason::Overridden => "overridden",
        InactiveReason::Untrusted => "ignored: not trusted",
        InactiveReason::OtherScope => "ignored: for the project's own scope",
    }
}

/// Formats a value as in a file, without quotes.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
