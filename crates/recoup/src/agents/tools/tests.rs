//! Tools of a run: a server that is a shell script, an HTTP server, and a cache in memory.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail as tests do")]

use std::collections::BTreeMap;
use std::path::Path;

use recoup_core::base::IgnoreFaults;
use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::cache::{CacheOptions, CacheParts, PathContext};
use recoup_core::key::Scope;
use recoup_core::secrets::SecretValues;
use recoup_core::store::{InMemoryStore, ThreadClaims};
use tempfile::TempDir;

use super::*;
use crate::agents::agent_file::{
    AgentDialect, MessageFormat, NamedTool, RunHooks, RunLimits, VariableSyntax,
};
use crate::app::tools::ToolProtocol;
use crate::llm::Sampling;
use crate::mcp_client::tests::{http_server, logged, shell_server};
use crate::toolbox::{
    CallLog, FingerprintKey, NamePattern, ToolCacheParts, ToolCacheRule, ToolCacheSettings,
};

/// A project with a cache, in which toolsets are opened as runs do.
struct Scene {
    dir: TempDir,
    clock: ManualClock,
    cache: Cache,
    settings: ToolCacheSettings,
    servers: Vec<ServerDefinition>,
    rest_tools: Vec<RestToolDefinition>,
    mode: CacheMode,
    cassette: Option<Arc<Cassette>>,
    allowed: Vec<NamePattern>,
    keeps_large_output: bool,
}

impl Scene {
    /// A project with a server `files` that is a script.
    fn new(cases: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let clock = ManualClock::at(Timestamp::from_millis(1_800_000_000_000));
        let cache = Cache::from_parts(CacheParts {
            store: Arc::new(InMemoryStore::with_capacity(64 << 20)),
            clock: Arc::new(clock.clone()),
            ledger: None,
            claims: Arc::new(ThreadClaims::default()),
            options: CacheOptions::default(),
        });
        let servers = vec![server("files", dir.path(), cases)];
        Self {
            dir,
            clock,
            cache,
            settings: ToolCacheSettings::default(),
            servers,
            rest_tools: Vec::new(),
            mode: CacheMode::Use,
            cassette: None,
            allowed: Vec::new(),
            keeps_large_output: false,
        }
    }

    fn cache_all(mut self, ttl: &str) -> Self {
        self.settings.servers.entry("files".to_owned()).or_default().default_ttl =
            Some(Ttl::parse("test", ttl).unwrap());
        self
    }

    fn open_agent(&self, agent: &AgentFile) -> Result<Toolset> {
        let root = self.dir.path();
        let open_cache = |request: ToolCacheRequest<'_>| {
            let is_rest = request.protocol == ToolProtocol::Rest;
            let named = request.credentials.into_iter().map(|it| (it.name, Some(it.value)));
            let key = FingerprintKey::load_or_create(root)?;
            Ok(ToolCache::new(ToolCacheParts {
                cache: self.cache.clone(),
                scope: Scope::global(),
                paths: PathContext::at(root),
                name: request.name.to_owned(),
                server: request.server.with_credentials(&key, named),
                protocol: if is_rest { "rest" } else { "mcp" },
                policy: if is_rest {
                    self.settings.policy_for_rest(request.name)
                } else {
                    self.settings.policy_for(request.name)
                },
                is_shared: false,
                mode: request.mode,
                max_age: request.max_age,
                withheld: SecretValues::default(),
                call_log: CallLog::below(root),
                faults: Arc::new(IgnoreFaults),
            }))
        };
        let options = ToolsetOptions {
            pool: Arc::default(),
            cache: self.cache.clone(),
            cassette: self.cassette.clone(),
            permission: Arc::new(ToolPermission::new(self.allowed.clone(), None)),
            mode: self.mode,
            max_age: None,
        };
        Toolset::open_with(agent, options, (root, &self.agent_settings()), &open_cache)
    }

    fn open(&self) -> Toolset {
        let names = self.servers.iter().map(|server| server.name.as_str());
        let names: Vec<&str> =
            names.chain(self.rest_tools.iter().map(|rest| rest.name.as_str())).collect();
        let mut agent = agent(&names);
        agent.keeps_large_outputs = self.keeps_large_output;
        self.open_agent(&agent).unwrap()
    }

    fn agent_settings(&self) -> AgentSettings {
        let mut settings = AgentSettings::default();
        settings.servers.clone_from(&self.servers);
        settings.rest_tools.clone_from(&self.rest_tools);
        settings
    }

    /// Times that the script was started.
    fn starts(&self) -> usize {
        logged(self.dir.path()).iter().filter(|line| *line == "start").count()
    }
}

fn server(name: &str, dir: &Path, cases: &str) -> ServerDefinition {
    ServerDefinition {
        name: name.to_owned(),
        address: shell_server(dir, cases),
        allowed: Vec::new(),
        denied: Vec::new(),
        schemas: BTreeMap::new(),
        request_timeout: None,
        is_enabled: true,
    }
}

fn rest(name: &str, method: &str, url: &str) -> RestToolDefinition {
    RestToolDefinition {
        name: name.to_owned(),
        description: String::new(),
        method: method.to_owned(),
        url: url.to_owned(),
        query: BTreeMap::new(),
        headers: BTreeMap::new(),
        parameters: json!({ "type": "object" }),
        body: None,
        timeout: None,
    }
}

fn agent(tools: &[&str]) -> AgentFile {
    let named = |(at, name): (usize, &&str)| NamedTool {
        name: (*name).to_owned(),
        line: Some(at as u64 + 2),
    };
    AgentFile {
        path: "test.ai".into(),
        dialect: AgentDialect::Ai,
        name: "test".to_owned(),
        tool_name: "test".to_owned(),
        description: None,
        usage: None,
        models: Vec::new(),
        system: String::new(),
        turns: Vec::new(),
        tools: tools.iter().enumerate().map(named).collect(),
        servers: Vec::new(),
        agents: Vec::new(),
        advisors: Vec::new(),
        handoff: None,
        router: Vec::new(),
        input: MessageFormat::default(),
        output: MessageFormat::default(),
        limits: RunLimits {
            max_turns: 1,
            max_tool_calls_per_turn: 1,
            max_retries: 0,
            max_output_tokens: 1,
            tool_response_max_bytes: 1,
            llm_timeout: Duration::ZERO,
            tool_timeout: Duration::ZERO,
            max_time: None,
            max_tokens: None,
            max_cost: None,
        },
        sampling: Sampling::default(),
        reasoning: None,
        prompt_cache: true,
        cache: None,
        cache_key: None,
        sources: Vec::new(),
        tags: Vec::new(),
        memory: false,
        ignores_history: false,
        variables: VariableSyntax::None,
        environment: Vec::new(),
        parameters: Vec::new(),
        max_repeats: 0,
        keeps_large_outputs: false,
        included: Vec::new(),
        outputs: Vec::new(),
        hooks: RunHooks::default(),
        notices: Vec::new(),
    }
}

fn call(tools: &Toolset, name: &str, arguments: Value) -> ToolReply {
    let limits =
        ToolCallLimits { timeout: Duration::from_secs(20), max_bytes: 200, deadline: None };
    let call = ToolCallRequest { id: "1".to_owned(), name: name.to_owned(), arguments };
    tools.call(&call, &limits, &|| false).unwrap()
}

/// Text of a successful answer, with a star if it came from the cache.
fn said(answer: ToolReply) -> String {
    assert!(!answer.is_error, "{}", answer.text);
    if answer.from_cache { format!("{}*", answer.text) } else { answer.text }
}

fn look(tools: &Toolset) -> String {
    said(call(tools, "files__look", json!({})))
}

#[test]
fn tool_hit_starts_no_server() {
    let scene = Scene::new("").cache_all("5m");
    let first = scene.open();
    assert_eq!(scene.starts(), 0, "opening starts nothing");
    assert_eq!((look(&first), look(&first)), ("call 1".into(), "call 1*".into()));
    let (identity, specs) = (first.identity().unwrap(), first.specs().unwrap());
    assert_eq!(specs[0].name, "files__look");
    assert_eq!(specs[0].description, "Looks.");
    drop(first);
    let second = scene.open();
    assert_eq!(second.identity().unwrap(), identity);
    assert_eq!(second.specs().unwrap(), specs);
    assert_eq!(look(&second), "call 1*");
    assert_eq!(scene.starts(), 1);
    assert!(!second.is_outdated());
}

#[test]
fn tool_miss_asks_the_server_for_other_arguments_and_without_a_ttl() {
    let scene = Scene::new("").cache_all("5m");
    let tools = scene.open();
    assert_eq!(look(&tools), "call 1");
    assert_eq!(said(call(&tools, "files__look", json!({ "q": 1 }))), "call 2");
    assert_eq!(said(call(&tools, "files__look", json!({ "q": 1 }))), "call 2*");
    let scene = Scene::new("");
    let tools = scene.open();
    assert_eq!((look(&tools), look(&tools)), ("call 1".into(), "call 2".into()));
    drop(tools);
    assert_eq!(scene.open().specs().unwrap().len(), 2, "remembered without a TTL, too");
    assert_eq!(scene.starts(), 1);
}

#[test]
fn tool_expiry_asks_the_server_again() {
    let scene = Scene::new("").cache_all("5m");
    let tools = scene.open();
    assert_eq!(look(&tools), "call 1");
    scene.clock.advance(Duration::from_secs(299));
    assert_eq!(look(&tools), "call 1*");
    scene.clock.advance(Duration::from_secs(2));
    assert_eq!(look(&tools), "call 2");
}

#[test]
fn per_tool_override_wins_over_the_servers_ttl() {
    let mut scene = Scene::new("").cache_all("5m");
    let off = ToolCacheRule { ttl: Some(Ttl::Off), ..ToolCacheRule::default() };
    let policy = scene.settings.servers.get_mut("files").unwrap();
    policy.tools.insert(NamePattern::new("look"), off);
    let tools = scene.open();
    assert_eq!((look(&tools), look(&tools)), ("call 1".into(), "call 2".into()));
}

#[test]
fn failures_are_answers_and_never_kept() {
    let fails = r#"*'"fail":1'*) answer '{"content":[{"type":"text","text":"no"}],"isError":true}' ;;
        *'"refuse":1'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"odd"}}\n' "$id" ;;"#;
    let scene = Scene::new(fails).cache_all("5m");
    let tools = scene.open();
    for (arguments, text) in
        [(json!({ "fail": 1 }), "no"), (json!({ "refuse": 1 }), "odd (code -32602)")]
    {
        for _ in 0..2 {
            let answer = call(&tools, "files__look", arguments.clone());
            assert_eq!(
                (answer.text.as_str(), answer.is_error, answer.from_cache),
                (text, true, false)
            );
        }
    }
    let calls = logged(scene.dir.path()).iter().filter(|line| line.contains("tools/call")).count();
    assert_eq!(calls, 4);
    for (name, arguments, text) in [
        ("files__lok", json!({}), "no tool \"files__lok\"; there are: files__look, files__write"),
        ("files__look", json!([1]), "must be a JSON object"),
    ] {
        let answer = call(&tools, name, arguments);
        assert!(answer.is_error && answer.text.contains(text), "{}", answer.text);
    }
}

#[test]
fn tools_that_are_not_read_only_need_permission() {
    let mut scene = Scene::new("");
    let tools = scene.open();
    assert!(tools.is_read_only("files__look") && !tools.is_read_only("files__write"));
    let answer = call(&tools, "files__write", json!({}));
    assert!(answer.is_error && answer.text.contains("--allow 'files__write'"), "{}", answer.text);
    assert!(!logged(scene.dir.path()).iter().any(|line| line.contains("tools/call")));
    scene.allowed = vec![NamePattern::new("files__*")];
    assert_eq!(said(call(&scene.open(), "files__write", json!({}))), "call 1");
}

#[test]
fn calls_that_fail_are_logged_as_failed_and_cancelled_ones_as_cancelled() {
    let scene =
        Scene::new("*'\"die\":1'*) exit 3 ;;\n*'\"sleep\":1'*) sleep 20 ;;").cache_all("5m");
    let tools = scene.open();
    let limits =
        ToolCallLimits { timeout: Duration::from_millis(100), max_bytes: 999, deadline: None };
    let make = |arguments: Value, is_cancelled: bool| {
        let (id, name) = ("1".to_owned(), "files__look".to_owned());
        let call = ToolCallRequest { id, name, arguments };
        tools.call(&call, &limits, &|| is_cancelled).unwrap()
    };
    look(&tools);
    for (arguments, is_cancelled, text) in [
        (json!({ "sleep": 1 }), false, "not answered within"),
        (json!({ "sleep": 2 }), true, "was cancelled"),
    ] {
        let answer = make(arguments, is_cancelled);
        assert!(answer.is_error && answer.unkept.is_some(), "{}", answer.text);
        assert!(answer.text.contains(text), "{}", answer.text);
    }
    drop(tools);
    let tools = scene.open();
    let answer = call(&tools, "files__look", json!({ "die": 1 }));
    assert!(answer.text.contains("ended with"), "{}", answer.text);
    let mut logged = Vec::new();
    let log = CallLog::below(scene.dir.path());
    log.for_each(|line| logged.push((json!(line.outcome), line.error))).unwrap();
    let expected = [("miss", false), ("miss", true), ("cancelled", false), ("miss", true)];
    assert_eq!(logged, expected.map(|(outcome, error)| (json!(outcome), error)));
}

#[test]
fn identity_follows_what_the_model_sees() {
    let mut scene = Scene::new("");
    let first = scene.open().identity().unwrap();
    let names: Vec<&str> = first.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["server files", "tool files__look", "tool files__write"]);
    assert_eq!(first, scene.open().identity().unwrap());
    let mut different = vec![first];
    scene.servers[0].denied = vec![NamePattern::new("wr*")];
    let tools = scene.open();
    assert_eq!(tools.specs().unwrap().len(), 1);
    let hidden = tools.identity().unwrap();
    scene.servers[0].schemas =
        BTreeMap::from([("look".to_owned(), json!({ "type": "object", "required": ["q"] }))]);
    let edited = scene.open().identity().unwrap();
    let changed = hidden.iter().zip(&edited).filter(|(old, new)| old != new);
    let changed: Vec<&str> = changed.map(|(old, _)| old.name.as_str()).collect();
    assert_eq!(changed, ["tool files__look"], "only the tool itself");
    different.extend([hidden, edited]);
    if let crate::toolbox::ServerAddress::Command { env, .. } = &mut scene.servers[0].address {
        env.insert("TOKEN".to_owned(), "other".to_owned());
    }
    different.push(scene.open().identity().unwrap());
    let before = scene.open().identity().unwrap();
    scene.servers[0].request_timeout = Some(Duration::from_secs(9));
    assert_eq!(scene.open().identity().unwrap(), before, "limits do not count");
    let another = r#"*'"method":"tools/list"'*) answer '{"tools":[{"name":"look"}]}' ;;"#;
    scene.servers[0].address = shell_server(scene.dir.path(), another);
    different.push(scene.open().identity().unwrap());
    for (at, one) in different.iter().enumerate() {
        assert!(different[..at].iter().all(|other| other != one), "{at}");
    }
}

#[test]
fn tools_that_are_others_than_remembered_make_the_run_outdated() {
    let newer = r#"*'"method":"tools/list"'*) answer "{\"tools\":[{\"name\":\"look\",\"description\":\"$(cat version)\",\"annotations\":{\"readOnlyHint\":true}}]}" ;;"#;
    let scene = Scene::new(newer);
    let describe = |text: &str| std::fs::write(scene.dir.path().join("version"), text).unwrap();
    describe("one");
    assert_eq!(scene.open().specs().unwrap()[0].description, "one");
    describe("two");
    let tools = scene.open();
    assert_eq!(tools.specs().unwrap()[0].description, "one");
    look(&tools);
    assert!(tools.is_outdated());
    assert_eq!(scene.open().specs().unwrap()[0].description, "two");
    describe("three");
    let scene = Scene { mode: CacheMode::Refresh, ..scene };
    assert_eq!(scene.open().specs().unwrap()[0].description, "three", "asked on a refresh");
    let unknown = Scene { mode: CacheMode::OnlyIfCached, ..Scene::new("") };
    assert_eq!(unknown.open().specs().unwrap_err().kind(), ErrorKind::Absent);
    assert_eq!(unknown.starts(), 0);
}

#[test]
fn the_same_call_in_one_run_is_replayed_and_marked() {
    let mut scene = Scene::new(r#"*'"fail":1'*) answer '{"content":[],"isError":true}' ;;"#);
    scene.allowed = vec![NamePattern::new("*")];
    let mut agent = agent(&["files"]);
    agent.max_repeats = 2;
    let tools = scene.open_agent(&agent).unwrap();
    let replayed = "[replay: this call was made before in this run; its result was]\ncall 1*";
    assert_eq!(
        [look(&tools), look(&tools), look(&tools), look(&tools)],
        ["call 1", replayed, replayed, "call 2"]
    );
    said(call(&tools, "files__write", json!({})));
    assert_eq!(look(&tools), "call 4", "a write may have changed it");
    for count in [5, 6] {
        assert!(call(&tools, "files__look", json!({ "fail": 1 })).is_error);
        let log = logged(scene.dir.path());
        assert_eq!(log.iter().filter(|line| line.contains("tools/call")).count(), count);
    }
}

#[test]
fn large_results_are_cut_or_kept_aside() {
    let large = r#"*tools/call*) text "$(head -c 250 /dev/zero | tr '\0' 'x')" ;;"#;
    let mut scene = Scene::new(large);
    assert!(look(&scene.open()).contains("[cut: the output has 250 B"));
    scene.keeps_large_output = true;
    let tools = scene.open();
    let note = look(&tools);
    let handle = note.split('"').nth(1).unwrap();
    let rest = call(&tools, READ_OUTPUT, json!({ "output": handle, "offset": 200 }));
    assert_eq!(said(rest), "x".repeat(50));
    assert!(tools.specs().unwrap().iter().any(|spec| spec.name == READ_OUTPUT));
}

#[test]
fn rest_tools_send_arguments_where_they_belong_and_keep_results() {
    let mut scene = Scene::new("");
    let url = http_server(|head, body| {
        let line = head.lines().next().unwrap_or_default();
        let key = head.lines().find(|line| line.to_ascii_lowercase().starts_with("x-who"));
        ("200 OK".to_owned(), format!("{line} {} {body}", key.unwrap_or_default()))
    });
    let mut weather =
        rest("weather", "GET", &format!("{url}/at/${{parameters.city}}?q=${{parameters.q}}"));
    weather.headers.insert("X-Who".to_owned(), "me ${parameters.who}".to_owned());
    let mut order = rest("order", "post", &format!("{url}/order"));
    order.body = Some(
        json!({ "n": "${parameters.n}", "no": "${parameters.none}", "t": "for ${parameters.n}" }),
    );
    scene.rest_tools = vec![weather, order];
    scene.settings.rest_tools.insert("weather".to_owned(), Ttl::parse("test", "5m").unwrap());
    scene.allowed = vec![NamePattern::new("rest__order")];
    scene.servers.clear();
    let tools = scene.open();
    let arguments = json!({ "city": "a b/../ü", "q": "x&y=1", "who": "too" });
    let expected = "GET /at/a%20b%2F..%2F%C3%BC?q=x%26y%3D1 HTTP/1.1 x-who: me too ";
    assert_eq!(said(call(&tools, "rest__weather", arguments.clone())), expected);
    assert_eq!(said(call(&tools, "rest__weather", arguments.clone())), format!("{expected}*"));
    assert_eq!(said(call(&scene.open(), "rest__weather", arguments)), format!("{expected}*"));
    let escaped = call(&tools, "rest__weather", json!({ "city": ".." }));
    assert!(escaped.is_error && escaped.text.contains("lead to another URL"), "{}", escaped.text);
    let ordered = said(call(&tools, "rest__order", json!({ "n": 3 })));
    assert!(ordered.ends_with("{\"n\":3,\"t\":\"for 3\"}"), "{ordered}");
    assert!(tools.is_read_only("rest__weather") && !tools.is_read_only("rest__order"));
    assert_eq!(tools.identity().unwrap().len(), 2);
}

#[test]
fn rest_failures_are_not_kept_and_credentials_go_nowhere_else() {
    let mut scene = Scene::new("");
    let elsewhere = http_server(|_, _| ("200 OK".to_owned(), "stolen".to_owned()));
    let target = elsewhere.clone();
    let url = http_server(move |head, _| {
        if head.contains("/down") {
            return ("503 Service Unavailable".to_owned(), "tok-12345678-abcdef".to_owned());
        }
        if head.contains("/away") {
            return (format!("302 Found\r\nlocation: {target}/"), String::new());
        }
        ("404 Not Found".to_owned(), "none for tok-12345678-abcdef".to_owned())
    });
    let nobody = "http://127.0.0.1:9".to_owned();
    for (name, url) in [("gone", &url), ("away", &url), ("down", &url), ("nobody", &nobody)] {
        let mut tool = rest(name, "GET", &format!("{url}/{name}"));
        tool.headers.insert("Authorization".to_owned(), "tok-12345678-abcdef".to_owned());
        scene.rest_tools.push(tool);
        scene.settings.rest_tools.insert(name.to_owned(), Ttl::Forever);
    }
    scene.servers.clear();
    let tools = scene.open();
    for (name, expected, is_complete) in [
        ("rest__gone", "404 Not Found", true),
        ("rest__away", "where nothing is sent", true),
        ("rest__down", "503 Service Unavailable", false),
        ("rest__nobody", "no connection", false),
    ] {
        for _ in 0..2 {
            let answer = call(&tools, name, json!({}));
            assert!(answer.is_error && !answer.from_cache, "{}", answer.text);
            assert_eq!(answer.unkept.is_none(), is_complete, "{}", answer.text);
            assert!(
                answer.text.contains(expected) && !answer.text.contains("12345678"),
                "{}",
                answer.text
            );
        }
    }
    for (url, expected) in [
        ("http://example.org/", "expected https://"),
        ("https://${parameters.host}/", "can't stand for the host"),
        ("nothing", "not a valid URL"),
    ] {
        scene.rest_tools = vec![rest("odd", "GET", url)];
        let error = scene.open_agent(&agent(&["odd"])).unwrap_err().to_string();
        assert!(error.starts_with("restTools.odd") && error.contains(expected), "{error}");
    }
}

#[test]
fn agents_of_one_run_share_servers() {
    let scene = Scene::new("");
    let first = scene.open();
    let pool = Arc::new(ServerPool(Mutex::new(first.servers.clone())));
    let open_cache = |_: ToolCacheRequest<'_>| Err(Error::usage("not needed"));
    let options = ToolsetOptions {
        pool,
        cache: scene.cache.clone(),
        cassette: None,
        permission: Arc::new(ToolPermission::new(Vec::new(), None)),
        mode: CacheMode::Use,
        max_age: None,
    };
    let place = (scene.dir.path(), &scene.agent_settings());
    let second = Toolset::open_with(&agent(&["files"]), options, place, &open_cache).unwrap();
    assert_eq!((look(&first), look(&second)), ("call 1".into(), "call 2".into()));
    assert_eq!(scene.starts(), 1);
}

#[test]
fn a_cassette_replays_calls_and_lists_without_servers_and_permission() {
    let mut scene = Scene::new("");
    let file = scene.dir.path().join("cassette");
    scene.allowed = vec![NamePattern::new("*")];
    let record = Cassette::record(&file, &SecretValues::default()).unwrap();
    scene.cassette = Some(Arc::new(record));
    let tools = scene.open();
    let specs = tools.specs().unwrap();
    assert_eq!(said(call(&tools, "files__write", json!({ "n": 1 }))), "call 1");
    drop(tools);
    let mut replayed = Scene::new("exit 1 ;;");
    replayed.cassette = Some(Arc::new(Cassette::replay(&file, None).unwrap()));
    let tools = replayed.open();
    assert_eq!(tools.specs().unwrap(), specs);
    assert_eq!(said(call(&tools, "files__write", json!({ "n": 1 }))), "call 1");
    let limits = ToolCallLimits { timeout: Duration::MAX, max_bytes: 200, deadline: None };
    let (id, name, arguments) = ("1".to_owned(), "files__write".to_owned(), json!({ "n": 2 }));
    let unknown = ToolCallRequest { id, name, arguments };
    let unknown = tools.call(&unknown, &limits, &|| false).unwrap_err().to_string();
    assert!(unknown.contains("the nearest is number 1"), "{unknown}");
    assert_eq!(replayed.starts(), 0);
}
