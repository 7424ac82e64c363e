//! `recoup cache show`: everything about one entry but its body.

use clap::Args;
use recoup_core::cache::{Cache, LookupRequest, PeekOutcome};
use recoup_core::entry::{EntryHead, SourceFile};
use recoup_core::key::{EntryId, KeyPart, Kind, PartKind, parse_rules};
use serde::Serialize;

use super::find::find_entry;
use super::report::EntryReport;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, human, ui};

/// Tell everything about one entry but its body.
#[derive(Debug, Args)]
pub(super) struct CacheShowArgs {
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
struct EntryStatusReport {
    #[serde(flatten)]
    report: EntryReport,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip)]
    explained: String,
}

impl CacheShowArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let cache = app.cache();
        let Some((id, head)) = find_entry(app, &cache, &self.key)? else {
            ui::error(format_args!("there is no entry of the key {}", self.key));
            return Ok(CommandAnswer::No);
        };
        if self.full {
            return print_full(&cache, &id);
        }
        let shown = check_status(app, &cache, &id, &head);
        if self.json {
            ui::json(&shown)?;
        } else {
            ui::fields(&fields(&shown))?;
        }
        Ok(CommandAnswer::Yes)
    }
}

fn print_full(cache: &Cache, id: &EntryId) -> CommandResult {
    let Some(body) = cache.full_result(id)? else {
        ui::error(format_args!("the entry {} has no full result", id.key));
        return Ok(CommandAnswer::No);
    };
    ui::body(&body)?;
    Ok(CommandAnswer::Yes)
}

/// Report with the status that `cache get` would have now.
fn check_status(
    app: &AppContext,
    cache: &Cache,
    id: &EntryId,
    head: &EntryHead,
) -> EntryStatusReport {
    let report = EntryReport::new(id, head, cache.clock().now());
    match cache.peek(&LookupRequest::new(head.header.kind, id, &app.view())) {
        PeekOutcome::Hit(_) | PeekOutcome::Stale(_) => {
            EntryStatusReport { report, status: "hit", reason: None, explained: "good".to_owned() }
        }
        PeekOutcome::Miss(reason) => EntryStatusReport {
            report,
            status: reason.status(),
            reason: reason.code(),
            explained: format!("{}: {reason}", reason.status()),
        },
    }
}

fn fields(shown: &EntryStatusReport) -> Vec<(&str, String)> {
    let EntryStatusReport { report, explained, .. } = shown;
    let mut fields = vec![
        ("key", report.key.clone()),
        ("scope", report.scope.clone()),
        ("kind", report.kind.clone()),
        ("status", explained.clone()),
        ("stored", format!("{} ({})", report.created_at, report.age())),
        ("expires", expiry_text(report)),
        ("size", sizes_text(report)),
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
    fields.extend(report.sources.files.iter().map(|source| ("source", describe_source(source))));
    fields
}

/// Text of a key's part for people; of rules the ids, which `recoup memory show` takes.
fn preview(report: &EntryReport, part: &KeyPart) -> String {
    let preview = part.preview.as_deref().unwrap_or("(hidden)");
    match Kind::from_name(&report.kind).map(|kind| kind.part_kind(&part.name)) {
        Some(PartKind::Rules) => {
            let (rules, _) = parse_rules(preview);
            let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
            if ids.is_empty() { "none".to_owned() } else { ids.join(" ") }
        }
        _ => preview.to_owned(),
    }
}

fn expiry_text(report: &EntryReport) -> String {
    match &report.expires_at {
        Some(at) => format!("{at} ({})", report.expiry()),
        None => report.expiry(),
    }
}

fn sizes_text(report: &EntryReport) -> String {
    let (raw, stored) = (human::size(report.size), human::size(report.stored_size));
    if raw == stored { raw } else { format!("{raw} ({stored} as stored)") }
}

fn describe_source(source: &SourceFile) -> String {
    format!("{} ({})", source.path, human::size(source.size))
}
