//! Calls through a [`ToolCache`] of a server that is only imagined.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail as tests do")]

mod staleness;

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::IgnoreFaults;
use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::cache::{
    Cache, CacheMode, CacheOptions, CacheParts, LookupVerdict, MissCause, PathContext, Ttl,
    WaitPolicy,
};
use recoup_core::entry::EventReason;
use recoup_core::key::{Kind, Scope};
use recoup_core::ledger::{AppendMode, Ledger};
use recoup_core::secrets::SecretValues;
use recoup_core::store::{InMemoryStore, ThreadClaims};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::call_log::LoggedOutcome;
use super::plan::CallPlan;
use super::*;

const ANSWER: &str = r#"{"content":[{"type":"text","text":"found"}]}"#;

/// A project, a store and a clock, for any number of servers.
struct Scene {
    dir: TempDir,
    clock: ManualClock,
    cache: Cache,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = ManualClock::at(Timestamp::from_millis(1_800_000_000_000));
        let cache = Cache::from_parts(CacheParts {
            store: Arc::new(InMemoryStore::with_capacity(64 << 20)),
            clock: Arc::new(clock.clone()),
            ledger: Some(Ledger::open(dir.path().join("ledger"), None, AppendMode::AtOnce)),
            claims: Arc::new(ThreadClaims::default()),
            options: CacheOptions::default(),
        });
        Self { dir, clock, cache }
    }

    fn parts(&self, policy: ServerCachePolicy) -> ToolCacheParts {
        let root = self.dir.path();
        let command: Vec<OsString> = ["server", "--fast"].map(OsString::from).to_vec();
        ToolCacheParts {
            cache: self.cache.clone(),
            scope: Scope::global(),
            paths: PathContext::at(root),
            name: "imagined".to_owned(),
            server: ServerIdentity::of_command(&command, root, root),
            protocol: "mcp",
            policy,
            is_shared: false,
            mode: CacheMode::Use,
            max_age: None,
            withheld: SecretValues::default(),
            call_log: CallLog::below(root),
            faults: Arc::new(IgnoreFaults),
        }
    }

    /// A server whose tools are known.
    fn server(&self, policy: ServerCachePolicy) -> ToolCache {
        let server = ToolCache::new(self.parts(policy));
        learn(&server, &tools());
        server
    }
}

fn tools() -> Value {
    let read_only = json!({ "readOnlyHint": true });
    let tool = |name: &str, properties: Value, annotations: &Value| {
        let schema = json!({ "type": "object", "properties": properties });
        json!({ "name": name, "inputSchema": schema, "annotations": annotations })
    };
    let none = json!({});
    json!({ "tools": [
        tool("search", json!({ "q": {} }), &read_only),
        tool("close", json!({ "id": {}, "reason": {} }), &none),
        tool("read_file", json!({ "path": {} }), &read_only),
        tool("current_time", json!({}), &read_only),
        tool("search_notes", json!({ "q": {} }), &none),
        tool("add_note", json!({ "text": {} }), &json!({ "readOnlyHint": false })),
    ] })
}

fn learn(server: &ToolCache, list: &Value) {
    server.learn_list("tools/list", None, &raw(list));
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn ttl(text: &str) -> Ttl {
    Ttl::parse("test", text).unwrap()
}

fn default_ttl() -> ServerCachePolicy {
    ServerCachePolicy { default_ttl: Some(ttl("5m")), ..ServerCachePolicy::default() }
}

fn with_rules<'a>(rules: impl IntoIterator<Item = (&'a str, ToolCacheRule)>) -> ServerCachePolicy {
    let tools = rules.into_iter().map(|(name, rule)| (NamePattern::new(name), rule)).collect();
    ServerCachePolicy { tools, ..ServerCachePolicy::default() }
}

fn kept_for(text: &str) -> ToolCacheRule {
    ToolCacheRule { ttl: Some(ttl(text)), ..ToolCacheRule::default() }
}

fn invalidating(pattern: &str) -> ToolCacheRule {
    ToolCacheRule { invalidates: vec![NamePattern::new(pattern)], ..ToolCacheRule::default() }
}

/// Plans a call when everything that earlier ones made stale is dropped.
fn plan(server: &ToolCache, tool: &str, arguments: &Value) -> CallPlan {
    server.await_upkeep(Duration::from_secs(10));
    server.plan("tools/call", Some(&raw(&json!({ "name": tool, "arguments": arguments }))))
}

fn cached(plan: CallPlan) -> (CallTicket, CachedCall) {
    match plan {
        CallPlan { ticket, route: CallRoute::Cached(call) } => (ticket, call),
        CallPlan { route: CallRoute::Pass(reason), .. } => panic!("passed: {reason}"),
    }
}

fn pass_reason(plan: CallPlan) -> String {
    match plan.route {
        CallRoute::Pass(reason) => reason.to_string(),
        CallRoute::Cached(call) => panic!("cached: {call:?}"),
    }
}

/// Asks the server, and keeps the answer if it may be kept.
fn call_with(server: &ToolCache, plan: CallPlan, answer: &str) -> bool {
    let answer = serde_json::from_str::<&RawValue>(answer).unwrap();
    let took = Duration::from_millis(40);
    let CallPlan { ticket, route } = plan;
    if let CallRoute::Cached(call) = route {
        match call.lookup(None, WaitPolicy::default()).unwrap() {
            ToolOutcome::Hit(hit) => {
                assert!(hit.as_json().contains("io.recoup/age"), "{}", hit.as_json());
                server.finished(ticket, &CallEnd::Hit(&hit));
                return true;
            }
            ToolOutcome::Miss(permit) => call.store(permit, answer, took),
            ToolOutcome::Bypass => {}
        }
    }
    server.finished(ticket, &CallEnd::Answered { result: answer, took });
    false
}

/// True if the call is answered from the cache.
fn hits(server: &ToolCache, tool: &str, arguments: &Value) -> bool {
    call_with(server, plan(server, tool, arguments), ANSWER)
}

fn hits_method(server: &ToolCache, method: &str, params: &Value, answer: &str) -> bool {
    server.await_upkeep(Duration::from_secs(10));
    call_with(server, server.plan(method, Some(&raw(params))), answer)
}

#[test]
fn nothing_is_cached_without_a_ttl() {
    let scene = Scene::new();
    let server = scene.server(ServerCachePolicy::default());
    let reason = pass_reason(plan(&server, "search", &json!({})));
    assert_eq!(reason, "no TTL is configured");
    assert_eq!(pass_reason(server.plan("ping", None)), "this method is never cached");
    assert_eq!(scene.cache.usage(&Scope::global()).unwrap().entries, 0, "not even the tools");
}

#[test]
fn a_repeated_call_is_answered_from_the_cache() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    assert!(!hits(&server, "search", &json!({ "q": "x" })));
    scene.clock.advance(Duration::from_millis(1_500));
    let (_ticket, call) = cached(plan(&server, "search", &json!({ "q": "x" })));
    let hit: Value = serde_json::from_str(call.peek().unwrap().as_json()).unwrap();
    assert_eq!(hit["content"][0]["text"], "found");
    assert_eq!(hit["_meta"]["io.recoup/age"], 1_500);
    assert_eq!(hit["_meta"]["io.recoup/key"], call.id().key.as_str());
    assert!(!hits(&server, "search", &json!({ "q": "y" })));
    scene.clock.advance(Duration::from_mins(5));
    assert!(call.peek().is_err(), "expired");
}

#[test]
fn meta_and_the_reason_for_people_do_not_count() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    assert!(!hits(&server, "search", &json!({ "q": "x", "reason": "to see" })));
    assert!(hits(&server, "search", &json!({ "q": "x", "reason": "once more" })));
    let params = json!({
        "name": "search", "arguments": { "q": "x" },
        "_meta": { "progressToken": 7, "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    });
    assert!(call_with(&server, server.plan("tools/call", Some(&raw(&params))), ANSWER));
    // A tool that declares such an argument means it.
    assert!(!hits(&server, "close", &json!({ "id": 1, "reason": "done" })));
    assert!(!hits(&server, "close", &json!({ "id": 1, "reason": "duplicate" })));
}

#[test]
fn steps_of_an_exchange_and_unknown_parameters_pass() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    for (more, reason) in [
        (json!({ "inputResponses": {} }), "it is one step of an exchange"),
        (json!({ "requestState": "s" }), "it is one step of an exchange"),
        (json!({ "task": {} }), "it is one step of an exchange"),
        (json!({ "future": 1 }), "it has an unknown parameter"),
        (json!({ "arguments": [1] }), "its arguments make no key: the arguments are not an object"),
        (json!({ "arguments": { "q": "x".repeat(2 << 20) } }), "its arguments are too long"),
    ] {
        let mut params = json!({ "name": "search", "arguments": {} });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let plan = server.plan("tools/call", Some(&raw(&params)));
        assert!(pass_reason(plan).starts_with(reason), "{reason}");
    }
    for malformed in [json!({}), json!([1]), json!({ "name": 1 })] {
        let plan = server.plan("tools/call", Some(&raw(&malformed)));
        assert_eq!(pass_reason(plan), "its parameters are malformed");
    }
    let large = r#"{"name":"search","arguments":{"n":9007199254740993}}"#;
    let plan = server.plan("tools/call", Some(serde_json::from_str(large).unwrap()));
    assert!(pass_reason(plan).contains("beyond ±2^53"));
}

#[test]
fn a_tool_is_cached_only_when_its_schema_is_known() {
    let scene = Scene::new();
    let server = ToolCache::new(scene.parts(default_ttl()));
    assert!(!server.knows_tools());
    let reason = pass_reason(plan(&server, "search", &json!({})));
    assert_eq!(reason, "the tool's schema is not known");
    let all = tools()["tools"].as_array().unwrap().clone();
    let page = |tools: &[Value], next: Option<&str>| {
        let mut page = json!({ "tools": tools });
        if let Some(next) = next {
            page["nextCursor"] = next.into();
        }
        raw(&page)
    };
    server.learn_list("tools/list", None, &page(&all[..2], Some("2")));
    assert!(!server.knows_tools());
    server.learn_list("tools/list", Some(&raw(&json!({ "cursor": "2" }))), &page(&all[2..], None));
    assert!(server.knows_tools());
    assert!(!hits(&server, "search", &json!({})));
    // A later session needs no server for a hit.
    let later = ToolCache::new(scene.parts(default_ttl()));
    assert!(later.knows_tools());
    assert!(hits(&later, "search", &json!({})));
    assert_eq!(pass_reason(plan(&later, "other", &json!({}))), "the tool's schema is not known");
}

#[test]
fn another_schema_is_another_tool() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    assert!(!hits(&server, "search", &json!({})));
    let mut changed = tools();
    changed["tools"][0]["description"] = "other words".into();
    learn(&server, &changed);
    assert!(hits(&server, "search", &json!({})), "a description is no schema");
    changed["tools"][0]["inputSchema"]["properties"]["limit"] = json!({});
    learn(&server, &changed);
    assert!(!hits(&server, "search", &json!({})));
}

#[test]
fn results_that_say_so_are_not_kept() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    for (at, more) in [
        json!({ "isError": true }),
        json!({ "resultType": "input_required" }),
        json!({ "ttlMs": 0 }),
        json!({ "_meta": { "cache_hint": "no-cache" } }),
        json!({ "content": [] }),
    ]
    .into_iter()
    .enumerate()
    {
        let mut answer: Value = serde_json::from_str(ANSWER).unwrap();
        answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        for _ in 0..2 {
            let plan = plan(&server, "search", &json!({ "q": at }));
            assert!(!call_with(&server, plan, &answer.to_string()), "{more}");
        }
    }
    let secret =
        ANSWER.replace("found", &format!("gh{}{}", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"));
    for _ in 0..2 {
        assert!(!call_with(&server, plan(&server, "search", &json!({ "q": "s" })), &secret));
    }
}

#[test]
fn explain_tells_why_a_result_was_not_kept() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    let answer = r#"{"content":[1],"ttlMs":0}"#;
    call_with(&server, plan(&server, "search", &json!({ "q": "x" })), answer);
    let (_ticket, call) = cached(plan(&server, "search", &json!({ "q": "x" })));
    let explained = call.explain();
    assert_eq!((explained.kind, explained.verdict), (Kind::Tool, LookupVerdict::Miss));
    assert!(matches!(explained.causes[..], [MissCause::Absent]));
    let whys: Vec<_> = explained.past.iter().filter_map(|it| it.detail.why.clone()).collect();
    assert!(
        whys.iter().any(|why| matches!(why, EventReason::Unkept(why) if why.contains("ttlMs: 0"))),
        "{whys:?}"
    );
}

#[test]
fn explain_names_the_argument_that_differs() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    hits(&server, "search", &json!({ "q": "sql injection", "limit": 3 }));
    let (_ticket, call) = cached(plan(&server, "search", &json!({ "q": "sql joins", "limit": 3 })));
    let nearest = call.explain().nearest.unwrap();
    let parts: Vec<_> = nearest.differences.iter().map(|it| it.part.as_str()).collect();
    assert_eq!(parts, ["argument q"]);
}

#[test]
fn hints_narrow_and_never_widen() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    for (q, hint, life) in [("short", 1_000, 1_000), ("long", 86_400_000, 300_000)] {
        let answer = format!(r#"{{"content":[1],"ttlMs":{hint}}}"#);
        let call = || plan(&server, "search", &json!({ "q": q }));
        assert!(!call_with(&server, call(), &answer));
        scene.clock.advance(Duration::from_millis(life - 1));
        assert!(call_with(&server, call(), &answer), "{q}");
        scene.clock.advance(Duration::from_millis(1));
        assert!(!call_with(&server, call(), &answer), "{q}");
    }
}

#[test]
fn private_results_are_not_kept_where_others_read() {
    let scene = Scene::new();
    let answer = r#"{"content":[1],"cacheScope":"private"}"#;
    for is_shared in [true, false] {
        let server = ToolCache::new(ToolCacheParts { is_shared, ..scene.parts(default_ttl()) });
        learn(&server, &tools());
        let call = || plan(&server, "search", &json!({ "shared": is_shared }));
        assert!(!call_with(&server, call(), answer));
        assert_eq!(call_with(&server, call(), answer), !is_shared);
    }
}

#[test]
fn a_cached_list_of_tools_teaches_them() {
    let scene = Scene::new();
    let named = || with_rules([("tools/list", kept_for("1h"))]);
    let server = ToolCache::new(scene.parts(named()));
    assert!(!hits_method(&server, "tools/list", &json!({}), &tools().to_string()));
    assert!(!server.knows_tools(), "the proxy tells what passed");
    assert!(hits_method(&server, "tools/list", &json!({}), &tools().to_string()));
    assert!(server.knows_tools());
    // The second of two pages is not the whole list.
    let server =
        ToolCache::new(ToolCacheParts { name: "paged".to_owned(), ..scene.parts(named()) });
    server.server_changed("notifications/tools/list_changed", None);
    for _ in 0..2 {
        hits_method(&server, "tools/list", &json!({ "cursor": "2" }), &tools().to_string());
    }
    assert!(!server.knows_tools());
}

#[test]
fn the_controls_limit_the_use_of_the_cache() {
    let scene = Scene::new();
    let usual = scene.server(default_ttl());
    let with = |mode, max_age| {
        let parts = ToolCacheParts { mode, max_age, ..scene.parts(default_ttl()) };
        let server = ToolCache::new(parts);
        learn(&server, &tools());
        server
    };
    let only = with(CacheMode::OnlyIfCached, None);
    let (_ticket, call) = cached(plan(&only, "search", &json!({})));
    let error = call.lookup(None, WaitPolicy::default()).unwrap_err().to_string();
    assert!(error.starts_with("only cached results are allowed"), "{error}");
    let no_store = with(CacheMode::NoStore, None);
    assert!(!hits(&no_store, "search", &json!({})));
    assert!(!hits(&no_store, "search", &json!({})));
    assert!(!hits(&usual, "search", &json!({})));
    assert!(hits(&no_store, "search", &json!({})));
    assert!(hits(&only, "search", &json!({})));
    scene.clock.advance(Duration::from_secs(20));
    assert!(!hits(&with(CacheMode::Use, Some(ttl("10s"))), "search", &json!({})));
    let refresh = with(CacheMode::Refresh, None);
    let (_ticket, call) = cached(plan(&refresh, "search", &json!({})));
    assert!(call.peek().is_err());
    assert!(!hits(&refresh, "search", &json!({})));
    let off = with(CacheMode::Bypass, None);
    assert_eq!(pass_reason(plan(&off, "search", &json!({}))), "the cache is switched off");
}

#[test]
fn identical_calls_at_once_are_made_once() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    let (_ticket, leader) = cached(plan(&server, "search", &json!({})));
    let ToolOutcome::Miss(permit) = leader.lookup(None, WaitPolicy::default()).unwrap() else {
        panic!("a hit")
    };
    std::thread::scope(|scope| {
        let followers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| hits(&server, "search", &json!({})))).collect();
        std::thread::sleep(Duration::from_millis(50));
        leader.store(permit, serde_json::from_str(ANSWER).unwrap(), Duration::ZERO);
        assert!(followers.into_iter().all(|follower| follower.join().unwrap()));
    });
}

#[test]
fn every_call_is_logged_without_arguments_and_results() {
    let scene = Scene::new();
    let server = scene.server(with_rules([("search", kept_for("1h"))]));
    hits(&server, "search", &json!({ "q": "needle" }));
    hits(&server, "search", &json!({ "q": "needle" }));
    call_with(&server, plan(&server, "close", &json!({ "q": "needle" })), r#"{"isError":true}"#);
    server.finished(server.plan("ping", None).ticket, &CallEnd::Cancelled);
    let log = CallLog::below(scene.dir.path());
    let mut lines = Vec::new();
    log.for_each(|line| lines.push(line)).unwrap();
    let said: Vec<_> = lines
        .iter()
        .map(|line| {
            (line.tool.as_str(), line.outcome, line.why.as_deref(), line.error, line.millis)
        })
        .collect();
    assert_eq!(
        said,
        [
            ("search", LoggedOutcome::Miss, None, false, 40),
            ("search", LoggedOutcome::Hit, None, false, 0),
            ("close", LoggedOutcome::Pass, Some("no TTL is configured"), true, 40),
        ]
    );
    assert_eq!(lines[0].arguments, lines[1].arguments);
    assert_eq!(lines[0].arguments, lines[2].arguments, "also of calls that pass");
    assert!(lines[0].result.is_some() && lines[0].bytes == ANSWER.len() as u64);
    let text = fs::read_to_string(log.paths().last().unwrap()).unwrap();
    assert!(!text.contains("needle") && !text.contains("found"), "{text}");
}

#[test]
fn the_log_says_why_without_what_the_arguments_say() {
    let scene = Scene::new();
    let sources = Some(vec!["{path}".to_owned()]);
    let rules =
        [("search", kept_for("1h")), ("read_file", ToolCacheRule { sources, ..kept_for("1h") })];
    let server = scene.server(with_rules(rules));
    let params = r#"{"name":"search","arguments":{"q":98765432109876543210}}"#;
    let call = server.plan("tools/call", Some(serde_json::from_str(params).unwrap()));
    assert!(!call_with(&server, call, ANSWER));
    assert!(!hits(&server, "read_file", &json!({ "path": "needle.txt" })));
    let log = CallLog::below(scene.dir.path());
    let text = fs::read_to_string(log.paths().last().unwrap()).unwrap();
    for why in ["its arguments make no key\"", "its sources are not known\""] {
        assert!(text.contains(why), "{text}");
    }
    assert!(!text.contains("98765") && !text.contains("needle"), "{text}");
}

#[test]
fn entries_are_told_by_tool_and_server() {
    let scene = Scene::new();
    let server = scene.server(default_ttl());
    let (_ticket, call) = cached(plan(&server, "search", &json!({ "q": "x" })));
    let id = call.id().clone();
    assert!(!hits(&server, "search", &json!({ "q": "x" })));
    let header = scene.cache.head(&id).unwrap().unwrap().header;
    assert_eq!(header.kind, Kind::Tool);
    assert_eq!(header.identity.name.as_deref(), Some("search"));
    assert_eq!(header.identity.namespace.as_deref(), Some("imagined"));
    assert_eq!(header.cost.millis, Some(40));
    assert!(header.tags.iter().all(|tag| tag.starts_with(TOOL_TAG)), "{:?}", header.tags);
    let shown = format!("server --fast (in {})", scene.dir.path().display());
    assert_eq!(header.parts[0].preview.as_deref(), Some(shown.as_str()));
}
