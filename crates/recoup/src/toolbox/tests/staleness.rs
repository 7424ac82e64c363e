//! Results that are no longer true: sources that change, calls that write, other identities and what
//! servers announce.

use std::sync::atomic::{AtomicBool, Ordering};

use recoup_core::entry::{EntryRecord, EventBatch, EventTally, StoredBody};
use recoup_core::key::EntryId;
use recoup_core::store::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo,
};
use recoup_core::{Error, ErrorKind, Result};

use super::*;

#[test]
fn an_edit_of_a_source_makes_the_result_stale() {
    let scene = Scene::new();
    let sources = Some(vec!["{path}".to_owned()]);
    let rule = ToolCacheRule { sources, ..kept_for("1h") };
    let server = scene.server(with_rules([("read_file", rule)]));
    let file = scene.dir.path().join("a.txt");
    fs::write(&file, "one").unwrap();
    assert!(!hits(&server, "read_file", &json!({ "path": "a.txt" })));
    assert!(hits(&server, "read_file", &json!({ "path": "a.txt" })));
    fs::write(&file, "two!").unwrap();
    assert!(!hits(&server, "read_file", &json!({ "path": "a.txt" })));
    assert!(hits(&server, "read_file", &json!({ "path": "a.txt" })));
    // Edited while the server reads it.
    let (_ticket, call) = cached(plan(&server, "read_file", &json!({ "path": file })));
    let ToolOutcome::Miss(permit) = call.lookup(None, WaitPolicy::default()).unwrap() else {
        panic!("a hit")
    };
    fs::write(&file, "three").unwrap();
    call.store(permit, serde_json::from_str(ANSWER).unwrap(), Duration::ZERO);
    assert!(call.peek().is_err());
    // Sources that cannot be watched are not cached.
    for arguments in [json!({ "path": "missing.txt" }), json!({ "path": "missing.txt" })] {
        assert!(!hits(&server, "read_file", &arguments));
    }
    let reason = pass_reason(plan(&server, "read_file", &json!({})));
    assert_eq!(reason, "its sources are not known: there is no argument \"path\"");
}

#[test]
fn a_call_that_writes_drops_what_it_makes_stale() {
    let scene = Scene::new();
    let rules = [
        ("search_*", kept_for("1h")),
        ("search", kept_for("1h")),
        ("add_note", invalidating("search_*")),
    ];
    let server = scene.server(with_rules(rules));
    let (notes, other) = (json!({ "q": "n" }), json!({ "q": "o" }));
    for (tool, arguments) in [("search_notes", &notes), ("search", &other)] {
        assert!(!hits(&server, tool, arguments));
        assert!(hits(&server, tool, arguments));
    }
    let reason = pass_reason(plan(&server, "add_note", &json!({ "text": "t" })));
    assert_eq!(reason, "it makes other results stale");
    assert!(!hits(&server, "search_notes", &notes));
    assert!(hits(&server, "search", &other), "not named");
    // Another process with the same server sees it too.
    let elsewhere = scene.server(server_policy(&server));
    assert!(hits(&elsewhere, "search_notes", &notes));
    assert!(!hits(&server, "add_note", &json!({ "text": "u" })));
    server.await_upkeep(Duration::from_secs(10));
    assert!(!hits(&elsewhere, "search_notes", &notes));
}

fn server_policy(server: &ToolCache) -> ServerCachePolicy {
    server.inner.parts.policy.clone()
}

#[test]
fn a_result_from_before_the_end_of_a_write_is_not_kept() {
    let scene = Scene::new();
    let rules = [("search_notes", kept_for("1h")), ("add_note", invalidating("search_notes"))];
    let server = scene.server(with_rules(rules));
    let answer: &RawValue = serde_json::from_str(ANSWER).unwrap();
    let begin = || {
        let (_, call) = cached(plan(&server, "search_notes", &json!({})));
        match call.lookup(None, WaitPolicy::default()).unwrap() {
            ToolOutcome::Miss(permit) => (call, permit),
            other => panic!("{other:?}"),
        }
    };
    // The read passes while the write is under way, however that ends.
    for end in [
        CallEnd::Answered { result: answer, took: Duration::ZERO },
        CallEnd::Failed { bytes: 3, took: Duration::ZERO },
    ] {
        let write = plan(&server, "add_note", &json!({}));
        let reason = pass_reason(plan(&server, "search_notes", &json!({})));
        assert_eq!(reason, "a call that makes it stale is under way");
        server.finished(write.ticket, &end);
        let (_, permit) = begin();
        permit.release();
    }
    // It begins after the read, and ends before or after it.
    for write_ends_first in [true, false] {
        let (call, permit) = begin();
        let write = plan(&server, "add_note", &json!({}));
        if write_ends_first {
            server.finished(write.ticket, &CallEnd::Cancelled);
            call.store(permit, answer, Duration::ZERO);
        } else {
            call.store(permit, answer, Duration::ZERO);
            server.finished(write.ticket, &CallEnd::Cancelled);
        }
        assert!(call.peek().is_err(), "{write_ends_first}");
    }
    // It begins after the read, and nobody learns how it ended.
    let (call, permit) = begin();
    drop(plan(&server, "add_note", &json!({})));
    call.store(permit, answer, Duration::ZERO);
    assert!(call.peek().is_err());
    let (call, permit) = begin();
    call.store(permit, answer, Duration::ZERO);
    assert!(call.peek().is_ok(), "no write");
}

#[test]
fn a_result_from_before_the_end_of_another_processs_write_is_not_kept() {
    let scene = Scene::new();
    let mut policy = with_rules([
        ("search_notes", kept_for("1h")),
        ("close", invalidating("search_*")),
        ("read_file", kept_for("1h")),
    ]);
    policy.default_ttl = Some(ttl("5m"));
    // Both have the store in common, and nothing else.
    let (here, there) = (scene.server(policy.clone()), scene.server(policy));
    let answer: &RawValue = serde_json::from_str(ANSWER).unwrap();
    for (reader, writer, is_kept) in [
        ("search_notes", "close", false),
        ("search", "add_note", false),
        ("read_file", "add_note", true),
    ] {
        let (_ticket, call) = cached(plan(&here, reader, &json!({ "q": writer })));
        let ToolOutcome::Miss(permit) = call.lookup(None, WaitPolicy::default()).unwrap() else {
            panic!("a hit")
        };
        assert!(!hits(&there, writer, &json!({})));
        there.await_upkeep(Duration::from_secs(10));
        call.store(permit, answer, Duration::ZERO);
        assert_eq!(call.peek().is_ok(), is_kept, "{reader} {writer}");
        assert!(!hits(&here, reader, &json!({ "q": "later" })));
        assert!(hits(&here, reader, &json!({ "q": "later" })), "{reader}");
    }
}

#[test]
fn a_tool_that_declares_writes_drops_what_the_servers_default_allows() {
    let scene = Scene::new();
    let mut policy = with_rules([("search_notes", kept_for("1h"))]);
    policy.default_ttl = Some(ttl("5m"));
    let server = scene.server(policy);
    for tool in ["search", "search_notes", "close"] {
        assert!(!hits(&server, tool, &json!({})));
        assert!(hits(&server, tool, &json!({})), "{tool}");
    }
    let reason = pass_reason(plan(&server, "add_note", &json!({})));
    assert_eq!(reason, "it declares that it writes");
    assert!(!hits(&server, "search", &json!({})));
    assert!(hits(&server, "search_notes", &json!({})), "the user has named it");
}

#[test]
fn arguments_that_name_files_need_sources() {
    let scene = Scene::new();
    let policy =
        ServerCachePolicy { read_only: Some(READ_ONLY_TTL), ..ServerCachePolicy::default() };
    let server = scene.server(policy);
    fs::write(scene.dir.path().join("notes.md"), "x").unwrap();
    let absolute = scene.dir.path().join("notes.md");
    for q in [json!("notes.md"), json!([{ "in": absolute }]), json!("file:///gone")] {
        let reason = pass_reason(plan(&server, "search", &json!({ "q": q })));
        assert_eq!(reason, "it reads files, and no sources are configured", "{q}");
    }
    assert!(!hits(&server, "search", &json!({ "q": "notes" })));
    assert!(hits(&server, "search", &json!({ "q": "notes" })));
}

#[test]
fn a_relative_path_is_watched_where_the_server_reads_it() {
    let scene = Scene::new();
    let reading_dir = tempfile::tempdir().unwrap();
    let sources = Some(vec!["{path}".to_owned()]);
    let parts =
        scene.parts(with_rules([("read_file", ToolCacheRule { sources, ..kept_for("1h") })]));
    let command = ["server".into(), reading_dir.path().as_os_str().to_owned()];
    let server = ServerIdentity::of_command(&command, scene.dir.path(), scene.dir.path());
    let server = ToolCache::new(ToolCacheParts { server, ..parts });
    learn(&server, &tools());
    fs::write(reading_dir.path().join("a.txt"), "one").unwrap();
    let arguments = json!({ "path": "a.txt" });
    assert!(!hits(&server, "read_file", &arguments));
    assert!(hits(&server, "read_file", &arguments));
    fs::write(reading_dir.path().join("a.txt"), "two!").unwrap();
    assert!(!hits(&server, "read_file", &arguments));
    assert!(hits(&server, "read_file", &arguments));
}

#[test]
fn worktrees_share_only_results_with_sources() {
    let scene = Scene::new();
    let sources = Some(vec!["{path}".to_owned()]);
    let policy = || {
        let sources = sources.clone();
        let mut policy = with_rules([("read_file", ToolCacheRule { sources, ..kept_for("1h") })]);
        policy.default_ttl = Some(ttl("1h"));
        policy
    };
    let in_tree = |tree: &str, name: &str| {
        let root = scene.dir.path().join(tree);
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("a.txt"), "same").unwrap();
        let server = ServerIdentity::of_command(&[OsString::from("s")], &root, &root);
        let (paths, name) = (PathContext::at(&root), name.to_owned());
        let server =
            ToolCache::new(ToolCacheParts { paths, name, server, ..scene.parts(policy()) });
        learn(&server, &tools());
        server
    };
    let (main, tree) = (in_tree("main", "s"), in_tree("tree", "s"));
    assert!(!hits(&main, "search", &json!({})));
    assert!(!hits(&main, "read_file", &json!({ "path": "a.txt" })));
    assert!(!hits(&tree, "search", &json!({})), "it may be about other files");
    assert!(hits(&tree, "read_file", &json!({ "path": "a.txt" })), "checked against its own file");
    assert!(!hits(&in_tree("main", "other"), "search", &json!({})), "another name");
    assert!(hits(&in_tree("main", "s"), "search", &json!({})));
}

#[test]
fn read_only_tools_are_cached_by_one_setting_with_safeguards() {
    let scene = Scene::new();
    let mut policy = with_rules([("search_notes", kept_for("1h"))]);
    policy.read_only = Some(READ_ONLY_TTL);
    let server = scene.server(policy.clone());
    assert!(!hits(&server, "search", &json!({})));
    assert!(hits(&server, "search", &json!({})));
    let reason = |tool: &str| pass_reason(plan(&server, tool, &json!({ "path": "a" })));
    assert_eq!(reason("current_time"), "it tells the time or something random");
    assert_eq!(reason("read_file"), "it reads files, and no sources are configured");
    assert!(hits(&server, "search", &json!({})), "reads drop nothing");
    assert!(!hits(&server, "search_notes", &json!({})), "not read-only, but configured");
    assert!(!hits(&server, "search", &json!({})), "any other call drops it");
    assert!(hits(&server, "search", &json!({})));
    assert!(hits(&server, "search_notes", &json!({})), "only what was cached that way");
    assert_eq!(reason("add_note"), "no TTL is configured");
    assert!(!hits(&server, "search", &json!({})));
    assert_eq!(reason("unlisted"), "the tool's schema is not known");
    assert!(!hits(&server, "search", &json!({})), "an unknown tool may write");
    scene.clock.advance(Duration::from_mins(1));
    assert!(!hits(&server, "search", &json!({})), "for 60 s");
    // With sources, tools that read files are cached as well.
    let sources = Some(vec!["{path}".to_owned()]);
    let rule = ToolCacheRule { sources, ..ToolCacheRule::default() };
    policy.tools.insert(NamePattern::new("read_file"), rule);
    let server = scene.server(policy);
    fs::write(scene.dir.path().join("a"), "x").unwrap();
    assert!(!hits(&server, "read_file", &json!({ "path": "a" })));
    assert!(hits(&server, "read_file", &json!({ "path": "a" })));
}

#[test]
fn credentials_directory_command_and_roots_are_the_servers_identity() {
    let scene = Scene::new();
    let root = scene.dir.path();
    let key = FingerprintKey::load_or_create(root).unwrap();
    let of = |words: &[&str], directory: &str, token: Option<&str>| {
        let command: Vec<OsString> = words.iter().map(OsString::from).collect();
        let server = ServerIdentity::of_command(&command, &root.join(directory), root);
        let named = [("TOKEN".to_owned(), token)];
        let parts = scene.parts(default_ttl());
        let server = server.with_credentials(&key, named);
        let server = ToolCache::new(ToolCacheParts { server, ..parts });
        learn(&server, &tools());
        server
    };
    let first = of(&["s"], "a", Some("one"));
    assert!(!hits(&first, "search", &json!({})));
    assert!(hits(&of(&["s"], "a", Some("one")), "search", &json!({})));
    for other in [
        of(&["s"], "a", Some("two")),
        of(&["s"], "a", None),
        of(&["s"], "b", Some("one")),
        of(&["s", "-v"], "a", Some("one")),
    ] {
        assert!(!hits(&other, "search", &json!({})));
    }
    first.set_roots(RootsState::Known(vec!["file:///a".to_owned()]));
    assert!(!hits(&first, "search", &json!({})));
    first.set_roots(RootsState::Unknown);
    let reason = pass_reason(plan(&first, "search", &json!({})));
    assert_eq!(reason, "the client's roots have changed");
    first.set_roots(RootsState::NotAsked);
    assert!(hits(&first, "search", &json!({})));
    // Roots that change during a call.
    let (_ticket, call) = cached(plan(&first, "search", &json!({ "q": "r" })));
    let ToolOutcome::Miss(permit) = call.lookup(None, WaitPolicy::default()).unwrap() else {
        panic!("a hit")
    };
    first.set_roots(RootsState::Unknown);
    call.store(permit, serde_json::from_str(ANSWER).unwrap(), Duration::ZERO);
    assert!(call.peek().is_err());
}

#[test]
fn what_the_server_announces_is_dropped_at_once() {
    let scene = Scene::new();
    let rules = [("tools/list", kept_for("1h")), ("prompts/list", kept_for("1h"))];
    let mut policy = with_rules(rules.into_iter().chain([("resources/list", kept_for("1h"))]));
    policy.default_ttl = default_ttl().default_ttl;
    let server = scene.server(policy);
    let read = |uri: &str| {
        let answer = r#"{"contents":[{"text":"x"}]}"#;
        hits_method(&server, "resources/read", &json!({ "uri": uri }), answer)
    };
    for uri in ["test://a/b", "test://a/", "test://c"] {
        assert!(!read(uri));
        assert!(read(uri));
    }
    let updated = raw(&json!({ "uri": "test://a/b" }));
    server.server_changed("notifications/resources/updated", Some(&updated));
    assert!(!read("test://a/b"));
    assert!(!read("test://a/"), "the resource above");
    assert!(read("test://c"));
    server.server_changed("notifications/resources/list_changed", None);
    assert!(!read("test://c"));
    let list = |method: &str, answer: &Value| {
        hits_method(&server, method, &json!({}), &answer.to_string())
    };
    for (method, answer, change) in [
        ("tools/list", tools(), "notifications/tools/list_changed"),
        ("prompts/list", json!({ "prompts": [] }), "notifications/prompts/list_changed"),
        ("resources/list", json!({ "resources": [] }), "notifications/resources/list_changed"),
    ] {
        assert!(!list(method, &answer), "{method}");
        assert!(list(method, &answer), "{method}");
        server.server_changed(change, None);
        assert!(!list(method, &answer), "{method}");
    }
    server.server_changed("notifications/tools/list_changed", None);
    assert!(!server.knows_tools());
    assert!(!ToolCache::new(scene.parts(default_ttl())).knows_tools(), "nor is it remembered");
}

/// A store from which nothing can be removed while it is stuck.
#[derive(Debug)]
struct StickyStore {
    store: InMemoryStore,
    is_stuck: AtomicBool,
}

impl Store for StickyStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        self.store.get(id)
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        self.store.full_payload(id)
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        self.store.put(id, record)
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        if self.is_stuck.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Io, "stuck"));
        }
        self.store.remove(ids)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.store.clear(scope, gone)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.store.fold_batch(batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.store.tallies(scope)
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.store.scan(filter, visit)
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.store.evict(plan)
    }

    fn nearest(
        &self,
        probe: &SimilarityProbe<'_>,
    ) -> Result<Vec<(EntryId, recoup_core::entry::EntryHead)>> {
        self.store.nearest(probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.store.usage(scope)
    }

    fn info(&self) -> StoreInfo {
        self.store.info()
    }
}

#[test]
fn while_stale_results_cannot_be_dropped_nothing_is_served() {
    let store = InMemoryStore::with_capacity(1 << 20);
    let store = Arc::new(StickyStore { store, is_stuck: AtomicBool::new(false) });
    let cache = Cache::new(Arc::clone(&store) as Arc<dyn Store>, CacheOptions::default());
    let scene = Scene { cache, ..Scene::new() };
    let rules = [("search_notes", kept_for("1h")), ("add_note", invalidating("search_notes"))];
    let server = scene.server(with_rules(rules));
    assert!(!hits(&server, "search_notes", &json!({})));
    assert!(hits(&server, "search_notes", &json!({})));
    store.is_stuck.store(true, Ordering::Relaxed);
    assert!(!hits(&server, "add_note", &json!({})));
    let reason = pass_reason(plan(&server, "search_notes", &json!({})));
    assert_eq!(reason, "a call that makes it stale is under way");
    store.is_stuck.store(false, Ordering::Relaxed);
    while let CallRoute::Pass(_) = plan(&server, "search_notes", &json!({})).route {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!hits(&server, "search_notes", &json!({})), "dropped now");
    assert!(hits(&server, "search_notes", &json!({})));
}

#[test]
fn an_unknown_write_drops_everything_and_what_is_in_flight_is_not_kept() {
    let scene = Scene::new();
    let server = scene.server(with_rules([("search", kept_for("1h"))]));
    let (kept, in_flight) = (json!({ "q": "kept" }), json!({ "q": "in flight" }));
    assert!(!hits(&server, "search", &kept));
    assert!(hits(&server, "search", &kept));
    let (_ticket, call) = cached(plan(&server, "search", &in_flight));
    let ToolOutcome::Miss(permit) = call.lookup(None, WaitPolicy::default()).unwrap() else {
        panic!("a hit")
    };
    server.note_unknown_write();
    call.store(permit, serde_json::from_str(ANSWER).unwrap(), Duration::ZERO);
    assert!(call.peek().is_err());
    assert!(!hits(&server, "search", &kept));
    assert!(hits(&server, "search", &kept), "later results are kept");
}
