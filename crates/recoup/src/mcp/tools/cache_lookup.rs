//! `cache_lookup`: a result that was worked out before, if it is still true.

use recoup_core::Result;
use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{Peek, Reason, Request};
use recoup_core::entry::Entry;
use recoup_core::key::Kind;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::Texts;
use super::named::{Asked, Named, fields};
use super::schema::{closed, count, duration, flag, list, maybe_text, open, text, texts};
use super::{Answer, Load, Nature, Outcome, Spec, arguments, stored};
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
struct Arguments {
    #[serde(flatten)]
    asked: Asked,
    max_age: Option<Value>,
    sources: Option<Texts>,
}

fn input() -> Value {
    let mut all = fields();
    all.push(("max_age", duration("Accept nothing that was begun longer ago: 30m, 12h, 7d")));
    all.push((
        "sources",
        texts(
            "The files, directories and globs that the work will read, as far as you know them: \
            the token of a miss is for these. Without it, those of the paths that exist.",
        ),
    ));
    closed(&all, &[])
}

fn output() -> Value {
    open(
        &[
            ("hit", flag("Whether there is a result")),
            ("status", text("hit, stale, miss, expired, invalidated, corrupt or disabled")),
            ("key", text("The key of this question")),
            (
                "result",
                json!({ "description": "The result as it was stored: a text, or JSON; JSON with \
                    numbers that would lose digits comes as a text" }),
            ),
            ("age_seconds", count(0, "How long ago it was stored")),
            ("reason", maybe_text("Why it is a miss")),
            ("token", maybe_text("For cache_store, after the work")),
            ("sources", list(&text("One of them"), "What the token is for")),
        ],
        &["hit", "status", "key"],
    )
}

fn run(around: &dyn Surroundings, arguments: JsonObject) -> Result<Outcome> {
    let Arguments { asked, max_age, sources } = arguments::read(arguments)?;
    let named = asked.resolve(around)?;
    named.must_be_a_result(around)?;
    let max_age = max_age.map(|age| arguments::ttl("max_age", &age)).transpose()?;
    let view = around.view();
    let request = Request {
        max_age: max_age.and_then(Ttl::as_millis),
        identity: Some(&named.identity),
        parts: &named.parts,
        ..Request::new(Kind::Result, &named.id, &view)
    };
    let answer = match around.cache().read(&request) {
        Peek::Hit(entry) => hit(around, &named, &entry, Freshness::Hit),
        Peek::Stale(entry) => hit(around, &named, &entry, Freshness::Stale),
        Peek::Miss(reason) => miss(around, &named, &reason, sources),
    };
    answer.map(Outcome::Done)
}

/// Whether a result that was found is within its time.
#[derive(Clone, Copy)]
enum Freshness {
    Hit,
    Stale,
}

impl Freshness {
    /// The word for it, and what it means.
    fn in_words(self) -> (&'static str, &'static str) {
        match self {
            Self::Hit => ("hit", "still true"),
            Self::Stale => ("stale", "its time is over, and nobody has made a newer one yet"),
        }
    }
}

/// The first line says what the rest is: a stored text may look like a miss.
fn hit(
    around: &dyn Surroundings,
    named: &Named,
    entry: &Entry,
    freshness: Freshness,
) -> Result<Answer> {
    let (text, result) = stored::read(&entry.body().to_bytes()?)?;
    let age = around.cache().clock().now().millis_since(entry.head().header.created) / 1000;
    let (status, whether) = freshness.in_words();
    let text = format!("{status}: stored {} ago, {whether}. The result:\n{text}", ago(age));
    let data = json!({
        "hit": true, "status": status, "key": named.id.key.as_str(), "result": result,
        "age_seconds": age,
    });
    Ok(Answer::new(text, data))
}

/// A time in its largest unit.
fn ago(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn miss(
    around: &dyn Surroundings,
    named: &Named,
    reason: &Reason,
    sources: Option<Texts>,
) -> Result<Answer> {
    let why = match reason {
        Reason::Unavailable(error) => format!("{reason}: {error}"),
        reason => reason.to_string(),
    };
    let sources = named.sources(around, sources);
    let token = around.cache().since(&around.view(), &sources)?.to_string();
    let status = reason.status();
    let text = format!(
        "{status}: {why}.\nDo the work, then call cache_store with the same words and \
         \"token\": \"{token}\"."
    );
    let data = json!({
        "hit": false, "status": status, "key": named.id.key.as_str(), "reason": why,
        "token": token, "sources": sources,
    });
    Ok(Answer::new(text, data))
}
