//! `recoup cache ls` and `show`: entries without their bodies, for people and as JSON.

use clap::Args;
use recoup_core::base::clock::Timestamp;
use recoup_core::cache::{LookupRequest, PeekOutcome};
use recoup_core::entry::{
    BodyEncoding, BodyInfo, EntryHead, ProducerIdentity, ProductionCost, RecordedSources,
};
use recoup_core::key::{EntryId, KeyPart, Kind, PartKind, parse_rules};
use recoup_core::store::{ScanFilter, ScanFlow};
use serde::Serialize;

use super::select::{describe_scope, find_entry, is_generated};
use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::toolbox::TOOL_TAG;

/// Length of abbreviated generated keys, which every command accepts.
const KEY_CHARS: usize = 16;

/// List entries, the newest first.
///
/// A terminal shows the newest 50 and how many more there are.
#[derive(Debug, Args)]
pub(super) struct LsArgs {
    /// Show at most this many
    #[arg(long, value_name = "N", conflicts_with = "all")]
    limit: Option<usize>,
    /// Show all entries, even on a terminal
    #[arg(long)]
    all: bool,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

impl LsArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let is_page = !self.json && !self.all && self.limit.is_none() && ui::stdout_is_terminal();
        let limit = self.limit.unwrap_or(if is_page { ui::PAGE_ROWS } else { usize::MAX });
        if self.json {
            ui::json_list(|write| for_each_entry(app, limit, |report| write(&report)))?;
            return Ok(CommandAnswer::Yes);
        }
        let mut rows =
            ui::RowStream::new(&["KEY", "KIND", "STORED", "EXPIRES", "SIZE", "HITS", "ABOUT"]);
        for_each_entry(app, limit, |report| {
            let chars = if is_generated(&report.key) { KEY_CHARS } else { usize::MAX };
            rows.add(vec![
                report.key.chars().take(chars).collect(),
                report.kind.clone(),
                report.age(),
                report.expiry(),
                human::size(report.size),
                report.hits.to_string(),
                report.about(),
            ])
        })?;
        if !rows.finish()? {
            ui::say(format_args!("No entries in {}", describe_scope(app)));
        } else if is_page {
            let more =
                app.cache().usage(&app.scope())?.entries.saturating_sub(ui::PAGE_ROWS as u64);
            if more > 0 {
                ui::say(format_args!("… {} more: --limit N, --all", human::count(more)));
            }
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Passes the newest entries to `show` as they are read, until it fails.
fn for_each_entry(
    app: &App,
    limit: usize,
    mut show: impl FnMut(EntryReport) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let cache = app.cache();
    let now = cache.clock().now();
    let filter = ScanFilter { newest: Some(limit), ..ScanFilter::of_scope(&app.scope()) };
    let mut shown = Ok(());
    cache.scan_filtered(&filter, &mut |id, head| {
        match head {
            Ok(head) => shown = show(EntryReport::new(id, head, now)),
            Err(error) => ui::warn(format_args!("{}: {error}", id.key)),
        }
        if shown.is_ok() { ScanFlow::Continue(()) } else { ScanFlow::Break(()) }
    })?;
    shown
}

#[derive(Debug, Args)]
pub(super) struct CacheShowArgs {
    /// The entry's key, or at least the first 8 characters of a generated key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: String,
    /// Print only the full result that was stored with `set --full`
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
    pub(super) fn run(self, app: &App) -> CommandResult {
        let cache = app.cache();
        let Some((id, head)) = find_entry(app, &cache, &self.key)? else {
            ui::error(format_args!("no entry for key {}", self.key));
            return Ok(CommandAnswer::No);
        };
        if self.full {
            let Some(body) = cache.full_result(&id)? else {
                ui::error(format_args!("the entry {} has no full result", id.key));
                return Ok(CommandAnswer::No);
            };
            ui::body(&body)?;
            return Ok(CommandAnswer::Yes);
        }
        let report = EntryReport::new(&id, &head, cache.clock().now());
        // The status that `cache get` would have now.
        let view = app.view();
        let request = LookupRequest::new(head.header.kind, &id, &view);
        let (status, reason, explained) = match cache.peek(&request) {
            PeekOutcome::Hit(_) | PeekOutcome::Stale(_) => ("hit", None, "valid".to_owned()),
            PeekOutcome::Miss(reason) => {
                (reason.status(), reason.code(), format!("{}: {reason}", reason.status()))
            }
        };
        let shown = EntryStatusReport { report, status, reason, explained };
        if self.json {
            ui::json(&shown)?;
        } else {
            ui::fields(&fields(&shown))?;
        }
        Ok(CommandAnswer::Yes)
    }
}

fn fields(shown: &EntryStatusReport) -> Vec<(&str, String)> {
    let EntryStatusReport { report, explained, .. } = shown;
    let expires = match &report.expires_at {
        Some(at) => format!("{at} ({})", report.expiry()),
        None => report.expiry(),
    };
    let (raw, stored) = (human::size(report.size), human::size(report.stored_size));
    let size = if raw == stored { raw } else { format!("{raw} ({stored} as stored)") };
    let mut fields = vec![
        ("key", report.key.clone()),
        ("scope", report.scope.clone()),
        ("kind", report.kind.clone()),
        ("status", explained.clone()),
        ("stored", format!("{} ({})", report.created_at, report.age())),
        ("expires", expires),
        ("size", size),
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
    fields.extend(
        report
            .sources
            .files
            .iter()
            .map(|source| ("source", format!("{} ({})", source.path, human::size(source.size)))),
    );
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

/// One entry without its body.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct EntryReport {
    key: String,
    scope: String,
    kind: String,
    created_at: String,
    expires_at: Option<String>,
    last_used_at: String,
    hits: u64,
    size: u64,
    stored_size: u64,
    encoding: BodyEncoding,
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    full: Option<BodyInfo>,
    tags: Vec<String>,
    identity: ProducerIdentity,
    parts: Vec<KeyPart>,
    sources: RecordedSources,
    cost: ProductionCost,
    #[serde(skip)]
    age: u64,
    #[serde(skip)]
    left: Option<u64>,
}

impl EntryReport {
    pub(in crate::cli) fn new(id: &EntryId, head: &EntryHead, now: Timestamp) -> Self {
        let header = &head.header;
        let expires = header.ttl.map(|_| header.fresh_until());
        Self {
            key: id.key.to_string(),
            scope: id.scope.to_string(),
            kind: header.kind.to_string(),
            created_at: header.created.to_string(),
            expires_at: expires.map(|at| at.to_string()),
            last_used_at: head.last_used.to_string(),
            hits: head.hits,
            size: header.body.raw_len,
            stored_size: header.body.stored_len,
            encoding: header.body.encoding,
            sha256: header.body.sha256.to_string(),
            full: header.full,
            tags: header.tags.clone(),
            identity: header.identity.clone(),
            parts: header.parts.clone(),
            sources: header.sources.clone(),
            cost: header.cost,
            age: now.millis_since(header.created),
            left: expires.map(|at| at.millis_since(now)),
        }
    }

    /// `3h ago`
    fn age(&self) -> String {
        format!("{} ago", human::short_duration(self.age))
    }

    /// `in 29d`, `expired` or `never`.
    fn expiry(&self) -> String {
        match self.left {
            None => "never".to_owned(),
            Some(0) => "expired".to_owned(),
            Some(left) => format!("in {}", human::short_duration(left)),
        }
    }

    /// Previews of the key's parts and the tags, by which people recognize the entry.
    pub(in crate::cli) fn about(&self) -> String {
        describe_entry(&self.parts, &self.tags)
    }
}

/// Joins the previews of a key's parts and the tags of its entry, without those by which stale tool
/// calls are found.
pub(in crate::cli) fn describe_entry(parts: &[KeyPart], tags: &[String]) -> String {
    let previews = parts.iter().rev().filter_map(KeyPart::identifying_preview);
    let tags = tags.iter().map(String::as_str).filter(|tag| !tag.starts_with(TOOL_TAG));
    previews.chain(tags).collect::<Vec<_>>().join(" · ")
}
