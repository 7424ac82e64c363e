//! `recoup cache show`: everything about one entry but its body.

use clap::Args;
use recoup_core::cache::{Cache, Peek, Request};
use recoup_core::entry::{Head, Source};
use recoup_core::key::{Id, Kind, Nature, Part, rules_in};
use serde::Serialize;

use super::find::find;
use super::report::Report;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, human, ui};

/// Tell everything about one entry but its body.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The entry's key, or 8 or more first characters of a generated one
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: String,
    /// Print the full result that was given with `set --full`, and nothing else
    #[arg(long, conflicts_with = "json")]
    full: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    report: Report,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip)]
    explained: String,
}

impl ShowArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let cache = app.cache();
        let Some((id, head)) = find(app, &cache, &self.key)? else {
            ui::error(format_args!("there is no entry of the key {}", self.key));
            return Ok(Answer::No);
        };
        if self.full {
            return print_full(&cache, &id);
        }
        let shown = judge(app, &cache, &id, &head);
        if self.json {
            ui::json(&shown)?;
        } else {
            ui::fields(&fields(&shown))?;
        }
        Ok(Answer::Yes)
    }
}

fn print_full(cache: &Cache, id: &Id) -> Ended {
    let Some(body) = cache.full(id)? else {
        ui::error(format_args!("the entry {} has no full result", id.key));
        return Ok(Answer::No);
    };
    ui::body(&body)?;
    Ok(Answer::Yes)
}

/// Report with the status that `cache get` would have now.
fn judge(app: &App, cache: &Cache, id: &Id, head: &Head) -> Shown {
    let report = Report::new(id, head, cache.clock().now());
    match cache.peek(&Request::new(head.header.kind, id, &app.view())) {
        Peek::Hit(_) | Peek::Stale(_) => {
            Shown { report, status: "hit", reason: None, explained: "good".to_owned() }
        }
        Peek::Miss(reason) => Shown {
            report,
            status: reason.status(),
            reason: reason.code(),
            explained: format!("{}: {reason}", reason.status()),
        },
    }
}

fn fields(shown: &Shown) -> Vec<(&str, String)> {
    let Shown { report, explained, .. } = shown;
    let mut fields = vec![
        ("key", report.key.clone()),
        ("scope", report.scope.clone()),
        ("kind", report.kind.clone()),
        ("status", explained.clone()),
        ("stored", format!("{} ({})", report.created_at, report.age())),
        ("expires", expiry(report)),
        ("size", sizes(report)),
        ("sha256", report.sha256.clone()),
        ("hits", report.hits.to_string()),
    ];
    fields.extend(report.full.map(|full| ("full", human::size(full.raw_len))));
    fields.extend(report.parts.iter().map(|part| (part.name.as_str(), preview(report, part))));
    fields.extend(report.tags.iter().map(|tag| ("tag", tag.clone())));
    let patterns = report.sources.patterns.iter();
    fields.extend(patterns.map(|pattern| ("watched", pattern.path.clone())));
    let undated = report.sources.older.iter().flat_map(|older| &older.paths);
    fields.extend(undated.map(|path| ("watched", path.clone())));
    fields.extend(report.sources.files.iter().map(|source| ("source", described(source))));
    fields
}

/// Text of a key's part for people; of rules the ids, which `recoup memory show` takes.
fn preview(report: &Report, part: &Part) -> String {
    let preview = part.preview.as_deref().unwrap_or("(hidden)");
    match Kind::from_name(&report.kind).map(|kind| kind.nature(&part.name)) {
        Some(Nature::Rules) => {
            let (rules, _) = rules_in(preview);
            let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
            if ids.is_empty() { "none".to_owned() } else { ids.join(" ") }
        }
        _ => preview.to_owned(),
    }
}

fn expiry(report: &Report) -> String {
    match &report.expires_at {
        Some(at) => format!("{at} ({})", report.expiry()),
        None => report.expiry(),
    }
}

fn sizes(report: &Report) -> String {
    let (raw, stored) = (human::size(report.size), human::size(report.stored_size));
    if raw == stored { raw } else { format!("{raw} ({stored} as stored)") }
}

fn described(source: &Source) -> String {
    format!("{} ({})", source.path, human::size(source.size))
}
