//! `recoup config show`: every key with its value and, if asked, its origin.

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{Answer, Ended, ui};
use crate::config::Overrides;
use crate::config::show::{self, Layer, Other, Row, ShownSettings, Source, Why};

/// Show every key with its value.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Also where it comes from, and what was overridden or ignored
    #[arg(long)]
    origin: bool,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Plain {
    key: &'static str,
    value: Value,
}

impl ShowArgs {
    pub(super) fn run(self, overrides: &Overrides) -> Ended {
        let ShownSettings { rows, left_out, notices } = show::rows(overrides)?;
        left_out.iter().for_each(ui::warn);
        // With origins, what was ignored is in the table.
        if !self.origin {
            notices.iter().for_each(ui::warn);
        }
        match (self.json, self.origin) {
            (true, true) => ui::json(&rows)?,
            (true, false) => ui::json(&rows.into_iter().map(plain).collect::<Vec<_>>())?,
            (false, true) => {
                let lines: Vec<_> = rows.iter().flat_map(lines).collect();
                ui::table(&["KEY", "VALUE", "ORIGIN"], &lines)?;
            }
            (false, false) => {
                let lines: Vec<_> =
                    rows.iter().map(|row| vec![row.key.to_owned(), text(&row.value)]).collect();
                ui::table(&["KEY", "VALUE"], &lines)?;
            }
        }
        Ok(Answer::Yes)
    }
}

fn plain(Row { key, value, .. }: Row) -> Plain {
    Plain { key, value }
}

/// Rows of a key: its value, then overridden and ignored ones, except built-in defaults.
fn lines(row: &Row) -> Vec<Vec<String>> {
    let origin = row.origin.as_ref().map_or("", |origin| &origin.place);
    let mut lines = vec![vec![row.key.to_owned(), text(&row.value), origin.to_owned()]];
    let said = |other: &&Other| other.origin.layer != Layer::BuiltIn;
    lines.extend(row.others.iter().filter(said).map(|other| {
        let Source { place, .. } = &other.origin;
        vec![String::new(), text(&other.value), format!("{place} ({})", why(other))]
    }));
    lines
}

fn why(other: &Other) -> &'static str {
    match other.why {
        Why::Overridden => "overridden",
        Why::Untrusted => "ignored: not trusted",
        Why::OtherScope => "ignored: for the project's own scope",
    }
}

/// Formats a value as in a file, without quotes.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
