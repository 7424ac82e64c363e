//! `cache_lookup`: a stored result, if it is still valid.

use recoup_core::Result;
use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{LookupRequest, MissReason, PeekOutcome};
use recoup_core::entry::{Entry, RecordedSources};
use recoup_core::key::Kind;
use recoup_core::memory::lang::one_line;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::OneOrMany;
use super::arguments::{ResultArguments, SelectedResult, fields};
use super::schema::{
    closed, count, duration, flag, list, maybe_text, message, open, rare, text, texts,
};
use super::{
    ToolAnswer, ToolEffect, ToolOutcome, ToolSpec, ToolVisibility, arguments, cache_store,
};
use crate::mcp::McpServices;

/// Limit of listed sources: a directory may have thousands of files.
const MOST_TOLD: usize = 20;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "cache_lookup",
    title: "Look for an earlier result",
    description: "Before costly work that depends on files, check whether its result is cached and \
                  still valid. A miss returns a token for cache_store, which then stores your \
                  result only if the files did not change meanwhile.",
    input: || {
        let mut all = fields();
        all.push(("max_age", rare(duration("Accept nothing older: 30m, 12h, 7d"))));
        all.push((
            "sources",
            texts(
                "Files, directories and globs that the work will read. Default: the paths that \
                 exist",
            ),
        ));
        closed(&all, &[])
    },
    output: || {
        open(
            &[
                ("hit", flag("Whether there is a result")),
                ("status", text("hit, stale, miss, expired, invalidated, corrupt or disabled")),
                ("key", text("The key of this question")),
                (
                    "result",
                    json!({ "description": "The result as it was stored: a text, or JSON; JSON \
                        with numbers that would lose digits is returned as a text" }),
                ),
                ("age_seconds", count(0, "How long ago it was stored")),
                ("reason", maybe_text("Why it is a miss")),
                ("token", maybe_text("Pass it to cache_store after the work")),
                (
                    "sources",
                    list(
                        &text("A source"),
                        "The sources that were checked, or that the token covers",
                    ),
                ),
                message(),
            ],
            &["hit", "status", "key", "sources", "message"],
        )
    },
    nature: ToolEffect::Reads,
    load: ToolVisibility::WhenFound,
    run,
};

#[derive(Deserialize)]
struct CacheLookupArguments {
    #[serde(flatten)]
    asked: ResultArguments,
    max_age: Option<Value>,
    sources: Option<OneOrMany>,
}

fn run(services: &McpServices, arguments: JsonObject) -> Result<ToolOutcome> {
    let CacheLookupArguments { asked, max_age, sources } = arguments::read(arguments)?;
    let named = asked.resolve(services)?;
    named.must_be_a_result(services)?;
    let max_age = max_age.map(|age| arguments::ttl("max_age", &age)).transpose()?;
    let view = services.app.view();
    let request = LookupRequest {
        max_age: max_age.and_then(Ttl::as_millis),
        identity: Some(&named.identity),
        parts: &named.parts,
        ..LookupRequest::new(Kind::Result, &named.id, &view)
    };
    let answer = match services.cache.read(&request) {
        PeekOutcome::Hit(entry) => hit(services, &named, &entry, HitFreshness::Hit),
        PeekOutcome::Stale(entry) => hit(services, &named, &entry, HitFreshness::Stale),
        PeekOutcome::Miss(reason) => miss(services, &named, &reason, sources),
    };
    answer.map(ToolOutcome::Done)
}

/// Age of a found result, relative to its TTL.
#[derive(Clone, Copy)]
enum HitFreshness {
    Hit,
    Stale,
}

/// The first line says what the rest is: a stored text may look like a miss.
fn hit(
    services: &McpServices,
    named: &SelectedResult,
    entry: &Entry,
    freshness: HitFreshness,
) -> Result<ToolAnswer> {
    let (text, result) = cache_store::decode_result(&entry.body().to_bytes()?)?;
    let header = &entry.head().header;
    let age = services.cache.clock().now().millis_since(header.created) / 1000;
    let sources = watched(&header.sources);
    let (status, whether) = match freshness {
        HitFreshness::Hit if sources.is_empty() => {
            ("hit", "but no file is watched for it, so it may be outdated")
        }
        HitFreshness::Hit => {
            ("hit", "still valid: the files that it was made from have not changed")
        }
        HitFreshness::Stale => ("stale", "but expired, and there is no newer result yet"),
    };
    let said = format!("{status}: stored {} ago, {whether}.", ago(age));
    let text = format!("{said} The result:\n{text}");
    let data = json!({
        "hit": true, "status": status, "key": named.id.key.as_str(), "result": result,
        "age_seconds": age, "sources": sources,
    });
    Ok(ToolAnswer::with_message(&said, text, data))
}

/// Sources that were checked, up to a limit.
fn watched(sources: &RecordedSources) -> Vec<String> {
    let RecordedSources { place: _, files, patterns, older } = sources;
    let patterns = patterns.iter().map(|pattern| &pattern.path);
    let files = files.iter().map(|file| &file.path);
    let older = older.iter().flat_map(|older| &older.paths);
    patterns.chain(files).chain(older).take(MOST_TOLD).cloned().collect()
}

/// Formats a time in its largest unit.
fn ago(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn miss(
    services: &McpServices,
    named: &SelectedResult,
    reason: &MissReason,
    sources: Option<OneOrMany>,
) -> Result<ToolAnswer> {
    let why = match reason {
        MissReason::Unavailable(error) => format!("{reason}: {error}"),
        reason => reason.to_string(),
    };
    let sources = named.sources(services, sources);
    let token = services.cache.issue_since_token(&services.app.view(), &sources)?.to_string();
    let status = reason.status();
    // File names may contain line breaks.
    let text = format!(
        "{status}: {}.\nDo the work, then call cache_store with the same arguments and \"token\": \
         \"{token}\".",
        one_line(&why)
    );
    let data = json!({
        "hit": false, "status": status, "key": named.id.key.as_str(), "reason": why,
        "token": token, "sources": sources,
    });
    Ok(ToolAnswer::with_message(&text, text.as_str(), data))
}
