//! How strict the configuration is: what is an error and how it is told, what is
//! another program's own business, and what a hostile file can't do.

use std::fs;

use insta::assert_snapshot;

use crate::config_support::Scene;

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    let scene = Scene::new();
    scene.user("[cach]\nttl = '1d'\n");
    scene.project(
        "stor = 'sqlite:x'\nttl = '1d'\n\"cache.ttl\" = '1d'\n[cache]\ntll = 1\nwhatever = 1\n\
         [price.gpt-5]\ninput = 1\n",
    );
    scene.loa("recursive_jit:\n  cache:\n    ttl: 3\n    max_size: 1\n");
    scene.ai_agent(r#"{"cache": {"maxEntry": 1, "sqlite": {"file": "x"}, "redis": {"uri": ""}}}"#);
    assert_snapshot!(scene.problems(), @r#"
    error: .loa.config.yaml:3: recursive_jit.cache.ttl: unknown key; did you mean recursive_jit.cache.ttl_days?
    error: .loa.config.yaml:4: recursive_jit.cache.max_size: unknown key; did you mean recursive_jit.cache.max_size_mb?
    error: .ai-agent.json: cache.maxEntry: unknown key; did you mean cache.maxEntries?
    error: .ai-agent.json: cache.sqlite.file: unknown key; expected one of cache.sqlite.path
    error: .ai-agent.json: cache.redis.uri: unknown key; did you mean cache.redis.url?
    error: [DIR]/home/config.toml:1: cach: unknown key; did you mean cache?
    error: recoup.toml:1: stor: unknown key; did you mean store?
    error: recoup.toml:2: ttl: unknown key; did you mean cache.ttl?
    error: recoup.toml:3: "cache.ttl": unknown key; did you mean cache.ttl?
    error: recoup.toml:5: cache.tll: unknown key; did you mean cache.ttl?
    error: recoup.toml:6: cache.whatever: unknown key; `recoup config keys` lists all
    error: recoup.toml:7: price: unknown key; did you mean prices?
    "#);
}

#[test]
fn wrong_types_are_errors() {
    let scene = Scene::new();
    scene.user(
        "store = 1\nscope = ['a']\n[cache]\nenabled = 'true'\nmax_size_mb = 'a lot'\n\
         max_entries = 1.5\nttl = true\nfreshness = 1\nnotes = 2020-01-01\n",
    );
    scene.project("cache = 5\n");
    scene.loa("recursive_jit:\n  cache:\n    enabled: 1\n    max_size_mb: {}\n    ttl_days: [3]\n");
    scene.ai_agent(
        r#"{"cache": {"backend": 1, "sqlite": "x", "redis": {"password": 77, "database": "a"}, "maxEntries": null}}"#,
    );
    assert_snapshot!(scene.problems(), @r#"
    error: .loa.config.yaml:3: recursive_jit.cache.enabled: expected true or false (got 1)
    error: .loa.config.yaml:4: recursive_jit.cache.max_size_mb: expected a number of MB above 0 (got a table)
    error: .loa.config.yaml:5: recursive_jit.cache.ttl_days: expected a number of days (got a list)
    error: .ai-agent.json: cache.backend: expected "sqlite" or "redis" (got 1)
    error: .ai-agent.json: cache.sqlite: expected a table (got "x")
    error: .ai-agent.json: cache.redis.password: expected a string
    error: .ai-agent.json: cache.redis.database: expected a whole number
    error: .ai-agent.json: cache.maxEntries: expected a whole number above 0 (got null)
    error: [DIR]/home/config.toml:1: store: expected a URL such as sqlite:PATH, file:DIR, dir:DIR or redis://HOST (got 1)
    error: [DIR]/home/config.toml:2: scope: expected project, global, tenant:NAME or session:NAME (got a list)
    error: [DIR]/home/config.toml:4: cache.enabled: expected true or false (got "true")
    error: [DIR]/home/config.toml:5: cache.max_size_mb: expected a number of MB above 0 (got "a lot")
    error: [DIR]/home/config.toml:6: cache.max_entries: expected a whole number above 0 (got 1.5)
    error: [DIR]/home/config.toml:7: cache.ttl: expected a duration such as 12h, 30d, forever or off (got true)
    error: [DIR]/home/config.toml:8: cache.freshness: expected auto, mtime or content (got 1)
    error: [DIR]/home/config.toml:9: cache.notes: expected a path (got 2020-01-01)
    error: recoup.toml:1: cache: expected a table (got 5)
    "#);
}

#[test]
fn wrong_values_are_errors() {
    let mut scene = Scene::new();
    scene.user(
        "store = 'postgres:x'\nscope = 'nobody'\n[cache]\nmax_size_mb = 0\nmax_entries = 0\n\
         ttl = '5 min'\nfreshness = 'atime'\nnotes = ''\n",
    );
    scene.loa("recursive_jit:\n  cache:\n    ttl_days: -1\n    max_size_mb: .inf\n");
    scene.ai_agent(r#"{"cache": {"backend": "memory", "maxEntries": -1, "maxEntries": 2}}"#);
    scene.env("LOA_CACHE_TTL_DAYS", "soon");
    scene.env("RECOUP_CACHE_ENABLED", "maybe");
    scene.env("RECOUP_CACHE_MAX_SIZE_MB", "1e400");
    assert_snapshot!(scene.problems(), @r#"
    error: .loa.config.yaml:3: recursive_jit.cache.ttl_days: expected a number of days (got -1)
    error: .loa.config.yaml:4: recursive_jit.cache.max_size_mb: expected a number of MB above 0 (got inf)
    error: .ai-agent.json: cache.maxEntries: given twice
    error: .ai-agent.json: cache.backend: expected "sqlite" or "redis" (got "memory")
    error: .ai-agent.json: cache.maxEntries: expected a whole number above 0 (got -1)
    error: [DIR]/home/config.toml:1: store: invalid store "postgres:x": unknown scheme "postgres"; expected sqlite:PATH, file:DIR, dir:DIR, redis://HOST, rediss://HOST or redis+cluster://HOST
    error: [DIR]/home/config.toml:2: scope: invalid scope "nobody": expected project, global, tenant:NAME, session:NAME or project:ID
    error: [DIR]/home/config.toml:4: cache.max_size_mb: expected a number of MB above 0 (got 0)
    error: [DIR]/home/config.toml:5: cache.max_entries: expected a whole number above 0 (got 0)
    error: [DIR]/home/config.toml:6: cache.ttl: expected off, forever or a duration such as 30s, 12h or 1h30m (got "5 min")
    error: [DIR]/home/config.toml:7: cache.freshness: expected auto, mtime or content (got "atime")
    error: [DIR]/home/config.toml:8: cache.notes: expected a path (got "")
    error: LOA_CACHE_TTL_DAYS: expected a number of days (got "soon")
    error: RECOUP_CACHE_ENABLED: expected true or false (got "maybe")
    error: RECOUP_CACHE_MAX_SIZE_MB: expected a number of MB above 0 (got "1e400")
    "#);
}

#[test]
fn broken_files_are_errors_with_line_and_column() {
    let scene = Scene::new();
    scene.user("[cache]\nttl = 1d\n");
    scene.project("[cache\n");
    scene.loa("a: 1\nb: [1, 2\nc: 3\n");
    scene.ai_agent("{\n  \"cache\": {,}\n}");
    assert_snapshot!(scene.problems(), @r"
    error: .loa.config.yaml:3:2: illegal placement of ':' indicator
    error: .ai-agent.json:2:13: key must be a string
    error: [DIR]/home/config.toml:2:7: string values must be quoted, expected literal string
    error: recoup.toml:1:7: unclosed table, expected `]`
    ");
}

#[test]
fn a_command_names_the_first_problem() {
    let scene = Scene::new();
    scene.user("tll = 1\nstroe = 1\n");
    let said = scene.run(&["cache", "get", "--key", "k"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_snapshot!(said.err, @r"error: [DIR]/home/config.toml:1: tll: unknown key; did you mean cache.ttl? (and 1 more: see `recoup config check`)");
    let said = scene.run(&["config", "check", "--json"]);
    assert_eq!(said.code, 2);
    assert_snapshot!(said.out, @r#"
    {
      "ok": false,
      "problems": [
        {
          "place": "[DIR]/home/config.toml:1: tll",
          "message": "unknown key; did you mean cache.ttl?"
        },
        {
          "place": "[DIR]/home/config.toml:2: stroe",
          "message": "unknown key; did you mean store?"
        }
      ],
      "warnings": []
    }
    "#);
}

#[test]
fn peers_may_write_what_they_like_outside_our_blocks() {
    let scene = Scene::new();
    scene.loa(
        "base: &base {a: 1}\nmerged: {<<: *base}\nlist: [1, {a: b}]\n1: one\nodd: !tag x\nnan: .nan\n\
         a: 1\na: 2\nrecursive_jit:\n  other: yes\n  cache:\n    ttl_days: '2'\n",
    );
    scene.ai_agent(r#"{"a": 1, "a": [{}], "big": 123456789012345678901234567890, "cache": {"maxEntries": "8"}}"#);
    let said = scene.run(&["config", "check"]);
    assert_eq!(said.err, "The configuration is valid.\n");
    assert_eq!(scene.value("cache.ttl"), "2d");
    assert_eq!(scene.value("cache.max_entries"), 8);
    for nothing in
        ["", "recursive_jit:\n", "recursive_jit: 3\n", "- a\n", "recursive_jit:\n  cache:\n"]
    {
        scene.loa(nothing);
        assert_eq!(scene.value("cache.ttl"), "30d", "{nothing:?}");
    }
}

#[test]
fn numeric_strings_are_numbers() {
    let scene = Scene::new();
    scene.user("[cache]\nmax_size_mb = '2.5'\nmax_entries = ' 12 '\nttl = '90s'\n");
    assert_eq!(scene.value("cache.max_size_mb"), 2.5);
    assert_eq!(scene.value("cache.max_entries"), 12);
    assert_eq!(scene.value("cache.ttl"), "90s");
}

#[test]
fn variables_and_the_home_directory_are_expanded() {
    let mut scene = Scene::new();
    scene.env("WHERE", "data");
    scene.env("EMPTY", "");
    scene.user("store = 'sqlite:~/${WHERE}/${EMPTY}x.db'\ncache.notes = '${WHERE}/$n {a}.md'\n");
    assert_eq!(scene.value("store"), "sqlite:[DIR]/user/data/x.db");
    assert_eq!(scene.value("cache.notes"), "[DIR]/home/data/$n {a}.md");
    scene.user("store = 'sqlite:${NOT_SET}.db'\ncache.notes = '${a b}'\ncache.ttl = '${'\n");
    assert_snapshot!(scene.problems(), @r"
    error: [DIR]/home/config.toml:1: store: the variable NOT_SET is not set
    error: [DIR]/home/config.toml:2: cache.notes: expected the name of a variable in ${…}
    error: [DIR]/home/config.toml:3: cache.ttl: expected the name of a variable in ${…}
    ");
    // What a person types has been through their shell.
    scene.user("");
    assert_eq!(scene.value_with("store", &["--store", "sqlite:/${WHERE}"]), "sqlite:/${WHERE}");
}

#[test]
fn hostile_files_are_refused_quickly() {
    let scene = Scene::new();
    let check = |what: &str| {
        let said = scene.run(&["config", "check"]);
        assert_eq!(said.code, 2, "{what}: {:.300}", said.err);
        said.err
    };
    scene.project(&format!("# {}", "x".repeat(1 << 20)));
    assert_snapshot!(check("huge"), @r"error: recoup.toml: has more than 1048576 bytes");
    scene.project(&format!("a = {}", "[".repeat(500_000)));
    check("deep arrays");
    scene.project(&format!("{}a = 1", "a.".repeat(500_000)));
    check("deep keys");
    scene.project(&format!("[{}a]", "a.".repeat(500_000)));
    check("deep tables");
    scene.project(&(0..60_000).fold(String::new(), |all, n| all + &format!("k{n} = 1\n")));
    check("many keys");
    scene.write("project/recoup.toml", b"\xff");
    assert_snapshot!(check("not text"), @r"error: recoup.toml: not valid UTF-8");
    scene.project("");
    scene.ai_agent(&"[".repeat(1 << 20));
    check("deep JSON");
    scene.ai_agent("{}");
    scene.loa(&"[".repeat(1 << 20));
    check("deep YAML");
    let bomb = (1..30).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |all, n| {
        let earlier = format!("*a{},", n - 1).repeat(9);
        all + &format!("a{n}: &a{n} [{earlier}]\n")
    });
    scene.loa(&bomb);
    check("a bomb of aliases");
    scene.loa("");
    fs::remove_file(scene.path("project/recoup.toml")).unwrap();
    fs::create_dir(scene.path("project/recoup.toml")).unwrap();
    assert_snapshot!(check("a directory"), @r"error: recoup.toml: is not a regular file");
}
