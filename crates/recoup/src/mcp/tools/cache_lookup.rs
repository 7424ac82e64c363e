//! `cache_lookup`: a result that was worked out before, if it is still true.

use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{Cache, Peek, Reason, Request, View};
use recoup_core::entry::Entry;
use recoup_core::key::Kind;
use recoup_core::{Error, ErrorKind, Result};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::Texts;
use super::named::{Asked, Named, fields};
use super::schema::{closed, count, flag, maybe_text, open, text, texts};
use super::{Answer, Load, Nature, Spec, arguments};
use crate::mcp::Surroundings;

pub(super) const TOOL: Spec = Spec {
    name: "cache_lookup",
    title: "Look for an earlier result",
    description: "Before costly work that files determine, ask whether its result is known already \
        and still true: the files that it was made from are checked. A miss gives a token for \
        cache_store, which then keeps your result only if nobody changed the files during the work.",
    input,
    output,
    nature: Nature::Reads,
    load: Load::WhenFound,
    run,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    key: Option<String>,
    paths: Option<Texts>,
    query: Option<String>,
    operation: Option<String>,
    max_age: Option<String>,
    #[serde(default)]
    sources: Texts,
}

fn input() -> Value {
    let mut all = fields();
    all.push(("max_age", text("Accept nothing that was begun longer ago: 30m, 12h, 7d")));
    all.push((
        "sources",
        texts("The files, directories and globs that the work will read, for the token of a miss"),
    ));
    closed(&all, &[])
}

fn output() -> Value {
    open(
        &[
            ("hit", flag("Whether there is a result")),
            ("status", text("hit, miss, expired, invalidated, corrupt or disabled")),
            ("key", text("The key of this question")),
            ("result", json!({ "description": "The result, as it was stored" })),
            ("age_seconds", count(0, "How long ago it was stored")),
            ("reason", maybe_text("Why it is a miss")),
            ("token", maybe_text("For cache_store, after the work")),
        ],
        &["hit", "status", "key"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Answer> {
    let Arguments { key, paths, query, operation, max_age, sources } = arguments::read(arguments)?;
    let Named { id, parts, identity } = Asked { key, paths, query, operation }.resolve(around)?;
    let max_age = max_age.as_deref().map(|age| Ttl::parse("max_age", age)).transpose()?;
    let (cache, view) = (around.cache(), around.view());
    let request = Request {
        max_age: max_age.and_then(Ttl::as_millis),
        identity: Some(&identity),
        parts: &parts,
        ..Request::new(Kind::Result, &id, &view)
    };
    match cache.read(&request) {
        Peek::Hit(entry) | Peek::Stale(entry) => hit(cache, id.key.as_str(), &entry),
        Peek::Miss(reason) => miss(cache, &view, id.key.as_str(), &reason, &sources.0),
    }
}

fn hit(cache: &Cache, key: &str, entry: &Entry) -> Result<Answer> {
    let unreadable =
        |error| Error::new(ErrorKind::Corrupt, "the stored result is not JSON").with_source(error);
    let bytes = entry.body().to_bytes()?;
    let result: Value = serde_json::from_slice(&bytes).map_err(unreadable)?;
    let text = match &result {
        Value::String(text) => text.clone(),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    };
    let age = cache.clock().now().millis_since(entry.head().header.created) / 1000;
    let data = json!({
        "hit": true, "status": "hit", "key": key, "result": result, "age_seconds": age,
    });
    Ok(Answer::new(text, data))
}

fn miss(
    cache: &Cache,
    view: &View,
    key: &str,
    reason: &Reason,
    sources: &[String],
) -> Result<Answer> {
    let why = match reason {
        Reason::Unavailable(error) => format!("{reason}: {error}"),
        reason => reason.to_string(),
    };
    let token = cache.since(view, sources)?.to_string();
    let status = reason.status();
    let text = format!(
        "{status}: {why}.\nDo the work, then call cache_store with the same words and \
         \"token\": \"{token}\"."
    );
    let data = json!({
        "hit": false, "status": status, "key": key, "reason": why, "token": token,
    });
    Ok(Answer::new(text, data))
}
