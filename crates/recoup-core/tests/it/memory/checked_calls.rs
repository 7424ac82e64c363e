//! Calls as checks see them: what a line runs and where, which files a call takes away, and which words
//! are options. The checks are written down, so that nothing here depends on how rules are read.

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use recoup_core::memory::checks::{CHECK_VERSION, CheckedCall, RuleCheck};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A check that forbids one act.
fn check(act: &Value) -> RuleCheck {
    serde_json::from_value(json!({ "version": CHECK_VERSION, "forbidden": [act] })).unwrap()
}

fn runs(program: &str) -> Value {
    json!({ "run": { "program": program } })
}

fn has_flag(program: &str, word: &str, flag: &str) -> Value {
    json!({ "run": { "program": program, "words": [word], "flags": [flag] } })
}

fn changes(path: &str) -> Value {
    json!({ "change": { "of": [path] } })
}

/// True if a call breaks a check; then they share a key.
fn breaks_at(root: &Path, check: &RuleCheck, tool: &str, input: &Value) -> bool {
    let input = RawValue::from_string(input.to_string()).unwrap();
    let call = CheckedCall::new(tool, &input, root, root);
    let is_broken = check.find_violation(&call).is_some();
    let keys = call.index_keys();
    assert!(!is_broken || check.index_keys().iter().any(|key| keys.contains(key)), "{keys:?}");
    is_broken
}

fn breaks(act: &Value, tool: &str, input: &Value) -> bool {
    breaks_at(Path::new("/home/me/app"), &check(act), tool, input)
}

#[track_caller]
fn assert_lines(act: &Value, lines: &[(&str, bool)]) {
    for (line, expected) in lines {
        assert_eq!(breaks(act, "Bash", &json!({ "command": line })), *expected, "{line}");
    }
}

#[test]
fn what_is_removed_takes_what_is_in_it() {
    let lines = [
        ("rm -rf db", true),
        ("rm -fr ./db/", true),
        ("git rm -r db", true),
        ("git rm -rf .", true),
        ("mv db old", true),
        ("git mv db old", true),
        ("rm -rf *", true),
        ("rm -rf d*", true),
        ("cd web && rm -rf ../db", true),
        ("rm -rf /home/me/app", true),
        ("rm -rf ..", true),
        ("rm -rf src", false),
        ("rm -rf s*", false),
        ("rm db", false),
        ("rm *", false),
        ("rm -rf dbx", false),
        ("rm -rf db/migrations2", false),
        ("rm -rf web/db", false),
        ("mv a.sql db", false),
        ("git mv a.sql db/", false),
        ("find . -name '*.log' -delete", false),
        ("cp -r db old", false),
    ];
    assert_lines(&changes("db/migrations"), &lines);
    assert_lines(&json!({ "remove": { "of": ["db/migrations/*.sql"] } }), &lines);
    assert_lines(&changes("*.lock"), &[("rm -rf .", true), ("rm -rf db", false)]);
    let moved = json!({ "source": "/home/me/app/db", "destination": "/home/me/app/old" });
    assert!(breaks(&changes("db/migrations"), "mcp__filesystem__move_file", &moved));
}

#[test]
fn a_rule_of_a_project_is_about_its_folder() {
    let input = |line: &str| json!({ "command": line });
    let root = Path::new("/home/me/app");
    let mut project = check(&runs("npm"));
    project.limit_to_project();
    for (line, expected) in [
        ("npm i", true),
        ("cd web && npm i", true),
        ("cd /home/me/app/web && npm i", true),
        ("cd ~/app/web && npm i", true),
        ("cd \"$DIR\" && npm i", true),
        ("npm --prefix web i", true),
        ("cd /tmp/other && cd - && npm i", true),
        ("cd /tmp/other && npm i", false),
        ("cd ~/other && npm i", false),
        ("cd && npm i", false),
        ("cd .. && npm i", false),
        ("npm --prefix /other i", false),
        ("npm i --prefix=/other", false),
        ("npm -C ../other i", false),
        ("env -C /other npm i", false),
    ] {
        assert_eq!(breaks_at(root, &project, "Bash", &input(line)), expected, "{line}");
        assert!(breaks(&runs("npm"), "Bash", &input(line)), "everywhere: {line}");
    }
    let mut push = check(&json!({ "push": "main" }));
    push.limit_to_project();
    assert!(breaks_at(root, &push, "Bash", &input("git push origin main")));
    assert!(!breaks_at(root, &push, "Bash", &input("git -C /other push origin main")));
    let mut file = check(&changes(".env"));
    file.limit_to_project();
    assert!(breaks_at(root, &file, "Write", &json!({ "file_path": "web/.env", "content": "" })));
    assert!(!breaks_at(root, &file, "Write", &json!({ "file_path": "/tmp/.env", "content": "" })));
    let mut named = check(&changes("/etc"));
    named.limit_to_project();
    assert!(breaks_at(root, &named, "Write", &json!({ "file_path": "/etc/hosts", "content": "" })));
    let mut text = check(&json!({ "write": { "parts": ["console.log"] } }));
    text.limit_to_project();
    let write = |path: &str| json!({ "file_path": path, "content": "console.log(1)" });
    assert!(breaks_at(root, &text, "Write", &write("a.ts")));
    assert!(!breaks_at(root, &text, "Write", &write("/tmp/a.ts")));
}

#[test]
fn only_shells_run_lines() {
    for (tool, input, expected) in [
        ("Bash", json!({ "command": "npm i" }), true),
        ("Bash", json!({ "command": ["bash", "-lc", "npm i"] }), true),
        ("mcp__shell__run", json!({ "command": "npm i" }), true),
        ("mcp__box__run_in_terminal", json!({ "cmd": "npm i" }), true),
        ("mcp__packages__set_manager", json!({ "command": "npm" }), false),
        ("mcp__db__query", json!({ "command": "npm; SELECT 1" }), false),
    ] {
        assert_eq!(breaks(&runs("npm"), tool, &input), expected, "{tool}");
    }
    let edit = |command: &str| json!({ "command": command, "path": "db/migrations/1.sql" });
    for (command, expected) in
        [("view", false), ("create", true), ("str_replace", true), ("insert", true)]
    {
        let act = changes("db/migrations");
        let is_broken = breaks(&act, "str_replace_based_edit_tool", &edit(command));
        assert_eq!(is_broken, expected, "{command}");
    }
    let read = json!({ "read": { "of": ["db/migrations"] } });
    assert!(breaks(&read, "str_replace_based_edit_tool", &edit("view")));
}

#[test]
fn a_subshell_keeps_its_folder_to_itself() {
    assert_lines(
        &changes("web/x"),
        &[
            ("cd web && rm x", true),
            ("(cd web && rm x)", true),
            ("(cd web; (cd ..); rm x)", true),
            ("{ cd web; ls; } && rm x", true),
            ("eval 'cd web' && rm x", true),
            ("pushd web && rm x", true),
            ("pushd api; pushd ../web; popd; popd; rm web/x", true),
            ("git -C web rm x", true),
            ("bash -c 'cd web && rm x'", true),
            ("(cd web && ls); rm x", false),
            ("(cd web); (rm x)", false),
            ("x=$(cd web && ls); rm x", false),
            ("bash -c 'cd web'; rm x", false),
            ("pushd web; popd; rm x", false),
        ],
    );
    assert_lines(
        &changes("x"),
        &[
            ("(cd web && ls); rm x", true),
            ("cd web && ls && cd - && rm x", true),
            ("cd web && rm x", false),
        ],
    );
}

#[test]
fn the_value_of_an_option_is_no_option() {
    assert_lines(
        &has_flag("git", "commit", "--no-verify"),
        &[
            ("git commit --no-verify -m x", true),
            ("git commit -nm x", true),
            ("git commit -an -m x", true),
            ("git commit -m x -n", true),
            ("git commit -m \"--no-verify\"", false),
            ("git commit -m \"-n is bad\"", false),
            ("git commit -am '-n'", false),
            ("git commit -mn", false),
            ("git commit \"-m-n is bad\"", false),
            ("git commit --message --no-verify", false),
            ("git commit --message=--no-verify", false),
            ("git commit --message='no --no-verify'", false),
            ("git commit -- --no-verify", false),
        ],
    );
    assert_lines(
        &has_flag("git", "push", "--force"),
        &[
            ("git push --force", true),
            ("git push -fu origin x", true),
            ("git push -o --force origin x", false),
        ],
    );
    assert_lines(
        &has_flag("golangci-lint", "run", "--timeout=5m"),
        &[
            ("golangci-lint run --timeout=5m", true),
            ("golangci-lint run --timeout 5m", true),
            ("golangci-lint run --timeout 6m", false),
        ],
    );
    let message = json!({ "message": "wip" });
    assert_lines(
        &message,
        &[
            ("git commit -am wip", true),
            ("git commit -mwip", true),
            ("git commit --message=wip", true),
            ("git commit -m x --author wip", false),
        ],
    );
    assert_lines(
        &json!({ "stage": { "of": [".env"] } }),
        &[
            ("git add -f .env", true),
            ("git commit -am x .env", true),
            ("git commit -am .env", false),
        ],
    );
}

#[test]
fn a_name_with_a_dot_may_be_a_folder() {
    assert_lines(
        &changes(".github"),
        &[
            ("rm -r .github", true),
            ("rm .github/workflows/a.yml", true),
            ("echo x > web/.github/a", true),
            ("rm .github2/a", false),
            ("cat .github/a", false),
        ],
    );
    let write = |path: &str| json!({ "file_path": path, "content": "" });
    assert!(breaks(&changes(".github"), "Write", &write(".github/workflows/a.yml")));
    assert!(breaks(&changes(".env"), "Write", &write("/home/me/app/./web/../.env")));
    assert!(!breaks(&changes(".env"), "Write", &write(".env.example")));
}

#[test]
fn a_line_is_what_it_runs() {
    assert_lines(
        &runs("npm"),
        &[
            ("cd x && npm i", true),
            ("env A=b npm i", true),
            ("sh -c \"npm i\"", true),
            ("true | xargs npm i", true),
            ("ls; npm i", true),
            ("false || npm i", true),
            ("! npm i", true),
            ("npx npm i", true),
            ("sudo -u me /usr/local/bin/npm i", true),
            ("\"npm\" i", true),
            ("n'p'm i", true),
            ("echo \"npm install\"", false),
            ("git commit -m \"stop using npm\"", false),
            ("grep npm package.json", false),
            ("rg 'npm i' docs | head", false),
            ("npx pnpm i", false),
            ("corepack enable pnpm && corepack pnpm i", false),
            ("alias npm=pnpm", false),
            ("ls # npm i", false),
            ("cat > x <<'EOF'\nnpm i\nEOF", false),
            ("cat > x <<EOF && ls\n; npm i\nEOF", false),
            ("command -v npm", false),
            ("ls npm", false),
            ("npm=1 ls", false),
        ],
    );
    let python = |program: &str| json!({ "run": { "program": program } });
    assert_lines(&python("python3"), &[("python x.py", false), ("python3.12 x.py", false)]);
    assert_lines(&python("pip"), &[("pip3 install x", true), ("pipx install x", false)]);
    let only: RuleCheck = serde_json::from_value(json!({
        "version": CHECK_VERSION, "forbidden": [python("pip")], "allowed": [{ "program": "pip3" }],
    }))
    .unwrap();
    let input = json!({ "command": "pip3 install x" });
    assert!(!breaks_at(Path::new("/home/me/app"), &only, "Bash", &input));
}

#[test]
fn files_are_found_by_every_way_to_name_them() {
    let act = changes("db/migrations");
    assert_lines(
        &act,
        &[
            ("rm ./db/../db/migrations/x", true),
            ("rm /home/me/app/db/migrations/x", true),
            ("rm ~/app/db/migrations/x", true),
            ("rm ~/other/db/migrations/x", false),
            ("rm /db/migrations/x", false),
        ],
    );
    let path = "/home/me/app/db/migrations/1.sql";
    let edits = json!({ "file_path": path, "edits": [{ "old_string": "a", "new_string": "b" }] });
    assert!(breaks(&act, "MultiEdit", &edits));
    assert!(breaks(&act, "mcp__filesystem__edit_file", &json!({ "path": path, "edits": [] })));
    assert!(!breaks(&act, "mcp__filesystem__read_file", &json!({ "path": path })));
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("db/migrations")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("db"), dir.path().join("link")).unwrap();
    let line = json!({ "command": "rm -rf link/" });
    assert!(breaks_at(dir.path(), &check(&act), "Bash", &line));
}

#[test]
fn long_and_deep_calls_are_fast() {
    let many = |what: &str| what.repeat(100_000);
    let lines = [
        format!("rm {}", many("a ")),
        format!("rm {}", many("-a ")),
        many("npx "),
        many("a;"),
        many("(a "),
        many("$(a "),
        many("\"$(a "),
        many("eval \"$(a "),
        many("`a "),
        many("a <<b "),
        many("cat <<b\nx\nb\n"),
        many("sh -c '"),
        many("cd a;"),
        many("{ "),
        many("a=b "),
        format!("cat > a <<EOF\n{}\nEOF", many("console.log(1)\n")),
    ];
    let act = json!({ "write": { "parts": ["nothing"] } });
    for line in &lines {
        let started = Instant::now();
        breaks(&act, "Bash", &json!({ "command": line }));
        let time = started.elapsed();
        assert!(time < Duration::from_millis(500), "{line:.20}: {time:?}");
    }
    let started = Instant::now();
    let content = many("console.log(1); // a 'b' \"c\"\n");
    for act in [json!({ "write": { "parts": ["console.log"] } }), json!({ "import": "moment" })] {
        breaks(&act, "Write", &json!({ "file_path": "a.ts", "content": content }));
    }
    assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
}

/// Checks of all kinds of acts.
fn acts() -> Vec<Value> {
    let paths = ["db/migrations", ".github", "*.lock", "src/**/*.ts", "/etc", "~/.ssh", "**/data"];
    let mut acts: Vec<Value> = ["change", "change_existing", "remove", "create", "read", "stage"]
        .iter()
        .flat_map(|act| paths.map(|path| json!({ (*act): { "of": [path] } })))
        .collect();
    acts.extend([
        runs("npm"),
        has_flag("git", "push", "--force"),
        json!({ "run": { "program": "", "flags": ["--no-verify"] } }),
        json!({ "run": { "program": "cargo", "words": ["build"], "without": ["--locked"] } }),
        json!({ "change": { "except": ["src"] } }),
        json!({ "push": "main" }),
        json!({ "install": "axios" }),
        json!({ "install": null }),
        json!({ "reach": "example.com" }),
        json!({ "message": "wip" }),
        json!({ "write": { "parts": ["console.log"] } }),
    ]);
    acts
}

proptest! {
    #[test]
    fn a_broken_check_is_found_by_a_key(
        act in prop::sample::select(acts()),
        words in prop::collection::vec(
            prop::sample::select(vec![
                "npm", "git", "rm", "mv", "cargo", "cat", "curl", "cd", "push", "origin", "main",
                "+main", "add", "commit", "-m", "wip", "-rf", "-r", "-C", "--force", "--no-verify",
                "db", "db/migrations/1", ".github", ".github/a", "a.lock", "src", "src/a/b.ts", "/etc",
                "/etc/x", "~", "~/.ssh", "~/.ssh/id", "~/app/db", "data", "x/data/1", "..", ".", "*",
                "d*", "/home/me/app", "/home", "install", "axios", "build", "https://example.com/x",
                "> a.lock", ">> src/a.ts", "< .github/a", "&&", ";", "(", ")", "$(npm i)", "--", "'",
            ]),
            0..10,
        ),
    ) {
        // It asserts that they share a key.
        breaks(&act, "Bash", &json!({ "command": words.join(" ") }));
    }
}
