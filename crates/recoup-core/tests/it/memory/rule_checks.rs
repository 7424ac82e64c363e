//! Checks that are compiled from rules: what is read from their words, and which calls break them.

use std::path::Path;

use proptest::prelude::*;
use recoup_core::memory::checks::{CheckedCall, RuleCheck};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What a call of a tool breaks, in a project with the root `root`.
fn violation_at(root: &Path, rule: &str, tool: &str, input: &Value) -> Option<String> {
    let check = RuleCheck::compile(rule, None).unwrap_or_else(|| panic!("no check: {rule}"));
    let input = RawValue::from_string(input.to_string()).unwrap();
    let call = CheckedCall::new(tool, &input, root, root);
    check.find_violation(&call).map(|it| it.what)
}

fn violation(rule: &str, tool: &str, input: &Value) -> Option<String> {
    violation_at(Path::new("/project"), rule, tool, input)
}

fn in_shell(rule: &str, line: &str) -> Option<String> {
    violation(rule, "Bash", &json!({ "command": line }))
}

#[test]
fn a_rule_with_certain_words_becomes_a_check() {
    for (rule, expected) in [
        ("use pnpm, never npm", "forbids the program npm (use pnpm)"),
        ("nutze pnpm statt npm", "forbids the program npm (use pnpm)"),
        ("n'utilise pas npm, utilise pnpm", "forbids the program npm (use pnpm)"),
        ("usa pnpm en vez de npm", "forbids the program npm (use pnpm)"),
        ("不要用npm,用pnpm", "forbids the program npm (use pnpm)"),
        ("npmは使わないで、pnpmを使って", "forbids the program npm (use pnpm)"),
        ("ruff instead of black", "forbids the program black (use ruff)"),
        ("git reset --hard is forbidden", "forbids the command git reset --hard"),
        (
            "never use docker run without --rm",
            "forbids the command docker run without --rm (use docker run --rm)",
        ),
        (
            "always pass --locked to cargo build",
            "forbids the command cargo build without --locked (use cargo build --locked)",
        ),
        ("don't touch db/migrations", "forbids changing db/migrations"),
        ("legal/ darf nicht geändert werden", "forbids changing legal"),
        (
            "hands off config/, except config/dev.yml",
            "forbids changing config except in config/dev.yml",
        ),
        ("src/gen is generated, don't edit it", "forbids changing src/gen"),
        ("never edit files outside src/", "forbids changing anything except src"),
        ("do not create *.md files", "forbids creating *.md"),
        ("don't delete anything in data/", "forbids deleting data"),
        ("no console.log in src/", "forbids writing `console.log` in src"),
        ("no `any` in TypeScript", "forbids writing `any` in *.ts, *.tsx, *.mts, *.cts"),
        ("never push to main or develop", "forbids pushing to main, pushing to develop"),
        ("mainにpushしないでください", "forbids pushing to main"),
        ("never commit .env", "forbids committing .env"),
        ("commit messages without a co-author line", "forbids `co-authored-by` in commit messages"),
        ("no emojis in commit messages", "forbids emojis in commit messages"),
        ("don't install new dependencies", "forbids adding packages"),
        ("no sudo", "forbids the program sudo"),
    ] {
        let check = RuleCheck::compile(rule, None).map(|it| it.describe());
        assert_eq!(check.as_deref(), Some(expected), "{rule}");
    }
}

#[test]
fn doubtful_words_become_none() {
    for rule in [
        "prefer pnpm over npm", "try to avoid npm", "don't use npm if there is a yarn.lock",
        "don't push unless I say so", "for this PR skip npm", "never not use npm",
        "don't avoid npm", "you don't need npm", "not only npm",
        "never push to anything other than dev", "no problem with npm", "npm is not slow",
        "Eva doesn't use npm", "why did you use sudo?", "tabs not spaces",
        "composition, not inheritance", "never break the public API",
        "no new packages without asking", "explain what npm does",
    ] {
        let check = RuleCheck::compile(rule, None).map(|it| it.describe());
        assert_eq!(check, None, "{rule}");
    }
}

#[test]
fn only_what_a_line_runs_breaks_a_rule_about_programs() {
    let rule = "use pnpm, never npm";
    for (line, expected) in [
        ("cd web && npm i", Some("npm install")),
        ("CI=1 sudo env A=b npm ci", Some("npm ci")),
        ("sh -c 'npm test'", Some("npm test")),
        ("echo $(npm root)", Some("npm root")),
        ("/usr/bin/npm run build | tail", Some("npm build")),
        ("ls | xargs npm pack", Some("npm pack")),
        ("bash <<'EOF'\nnpm i\nEOF", Some("npm install")),
        ("echo \"npm install\"", None),
        ("git commit -m \"stop using npm\"", None),
        ("grep -rn npm docs", None),
        ("cat > a.txt <<EOF\nnpm i\nEOF", None),
        ("ls # npm i", None),
        ("npx pnpm i", None),
        ("which npm", None),
    ] {
        assert_eq!(in_shell(rule, line).as_deref(), expected, "{line}");
    }
    assert!(in_shell("no sudo", "sudo npm i").is_some());
    assert!(in_shell("don't use npx", "npx pnpm i").is_some());
    assert!(in_shell("use python3, not python", "python3 x.py").is_none());
    assert!(in_shell("don't call pytest directly, use uv run", "uv run pytest").is_none());
    assert!(in_shell("in web/ use yarn, not npm", "cd api && npm ci").is_none());
    assert!(in_shell("in web/ use yarn, not npm", "npm --prefix web ci").is_some());
}

#[test]
fn what_a_rule_wants_is_never_refused() {
    for (rule, forbidden, wanted) in [
        ("use `uv run pytest`, never pytest", "pytest tests/", "uv run pytest tests/"),
        ("always `python -m pip`, never plain pip", "pip install x", "python -m pip install x"),
        ("use `bundle exec rspec`, never bare rspec", "rspec spec/", "bundle exec rspec spec/"),
        ("use python3, not python", "python x.py", "python3 x.py"),
        ("use pip3, not pip", "pip install x", "pip3 install x"),
        ("vitest always as `vitest run`, never plain vitest", "vitest", "vitest run"),
        ("no sudo, except `sudo apt-get`", "sudo rm x", "sudo apt-get install x"),
        ("no `rm -rf` except on build/", "rm -rf src", "rm -rf build"),
        (
            "golangci-lint run always with --timeout 5m", "golangci-lint run",
            "golangci-lint run --timeout=5m ./...",
        ),
        ("no kill -9", "kill -9 1", "kill 1"),
        (
            "no force pushes; --force-with-lease is okay", "git push -f",
            "git push --force-with-lease",
        ),
        ("never run curl against api.github.com", "curl api.github.com/x", "curl localhost"),
    ] {
        assert_eq!(in_shell(rule, wanted), None, "{rule}");
        assert!(in_shell(rule, forbidden).is_some(), "{rule}");
    }
    let all = "no force pushes at all, not even --force-with-lease";
    for line in ["git push -f", "git push origin +x", "git push --force-with-lease"] {
        assert!(in_shell(all, line).is_some(), "{line}");
    }
}

#[test]
fn words_that_narrow_a_rule_are_never_dropped() {
    for rule in [
        "never amend on pushed commits",
        "never run prettier on the whole repo",
        "never run kubectl against the prod context",
        "no force push on shared branches",
        "never delete branches that aren't merged",
        "never rebase commits that are already pushed",
    ] {
        let check = RuleCheck::compile(rule, None).map(|it| it.describe());
        assert_eq!(check, None, "{rule}");
    }
    let rule = "no console.log outside tests";
    let writes = |path: &str| {
        let input = json!({ "file_path": path, "content": "console.log(1)" });
        RuleCheck::compile(rule, None).is_some() && violation(rule, "Write", &input).is_some()
    };
    assert!(!writes("tests/a.ts"));
}

#[test]
fn folders_may_begin_with_a_dot() {
    let check = RuleCheck::compile("don't touch .github", None).unwrap();
    assert_eq!(check.describe(), "forbids changing .github");
    let input =
        json!({ "file_path": ".github/workflows/ci.yml", "old_string": "a", "new_string": "b" });
    assert!(violation("don't touch .github/workflows", "Edit", &input).is_some());
}

#[test]
fn a_long_text_is_no_rule() {
    let text = "never use npm ".repeat(100_000);
    assert_eq!(RuleCheck::compile(&text, None), None);
}

#[test]
fn pushes_are_known_by_their_target() {
    for (line, breaks) in [
        ("git push origin main", true),
        ("git push origin HEAD:main", true),
        ("git -C x push -f origin +main", true),
        ("git push --mirror", true),
        ("git push origin HEAD:refs/heads/main", true),
        ("git push", false),
        ("git push origin feat/main-menu", false),
        ("git push origin main:preview", false),
        ("git pull origin main", false),
    ] {
        assert_eq!(in_shell("never push to main", line).is_some(), breaks, "{line}");
    }
    let push = json!({ "remote": "origin", "branch": "main" });
    assert!(violation("never push to main", "mcp__git__git_push", &push).is_some());
}

#[test]
fn files_are_changed_by_tools_and_by_commands() {
    let rule = "don't touch db/migrations";
    for line in [
        "echo x >> db/migrations/1.sql",
        "rm -r ./db/../db/migrations",
        "cd db && mv migrations/1.sql old.sql",
        "cp a.sql db/migrations/",
        "sed -i s/a/b/ db/migrations/1.sql",
        "ls | tee db/migrations/list",
        "git rm db/migrations/1.sql",
        "git checkout HEAD -- db/migrations",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: db/migrations/1.sql\n*** End Patch\nEOF",
    ] {
        assert!(in_shell(rule, line).is_some(), "{line}");
    }
    for line in [
        "cat db/migrations/1.sql", "cp db/migrations/1.sql /tmp/",
        "sed -n 1p db/migrations/1.sql > /dev/null", "rm -r db/migrations2",
        "git add db/migrations", "echo 'rm db/migrations/1.sql'",
    ] {
        assert_eq!(in_shell(rule, line), None, "{line}");
    }
    let path = "/project/db/migrations/1.sql";
    for (tool, input) in [
        ("Write", json!({ "file_path": path, "content": "" })),
        ("Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" })),
        ("MultiEdit", json!({ "file_path": path, "edits": [] })),
        ("NotebookEdit", json!({ "notebook_path": path, "new_source": "" })),
        ("mcp__filesystem__write_file", json!({ "path": path, "content": "" })),
        (
            "apply_patch",
            json!({ "input": "*** Begin Patch\n*** Update File: db/migrations/1.sql\n" }),
        ),
    ] {
        assert_eq!(violation(rule, tool, &input).as_deref(), Some("db/migrations/1.sql"), "{tool}");
    }
    assert_eq!(violation(rule, "Read", &json!({ "file_path": path })), None);
}

#[test]
fn a_link_does_not_hide_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("db/migrations")).unwrap();
    std::os::unix::fs::symlink(root.join("db/migrations"), root.join("link")).unwrap();
    let input = json!({ "file_path": "link/1.sql", "content": "" });
    assert!(violation_at(&root, "don't touch db/migrations", "Write", &input).is_some());
    assert!(violation_at(&root, "don't touch link/", "Write", &input).is_some());
}

#[test]
fn only_added_text_breaks_a_rule_about_texts() {
    let rule = "no console.log in src/";
    let edit = |path: &str, old: &str, new: &str| {
        let input = json!({ "file_path": path, "old_string": old, "new_string": new });
        violation(rule, "Edit", &input).is_some()
    };
    assert!(edit("src/a.ts", "x", "console.log(x)"));
    assert!(!edit("src/a.ts", "console.log(x)", "console.log(y)"));
    assert!(!edit("src/a.ts", "console.log(x)", ""));
    assert!(!edit("scripts/a.ts", "", "console.log(x)"));
    assert!(!edit("src/a.ts", "", "// console.log(x)"));
    let moved = json!({ "file_path": "src/a.ts", "edits": [
        { "old_string": "console.log(x)", "new_string": "" },
        { "old_string": "y", "new_string": "console.log(x)" },
    ] });
    assert_eq!(violation(rule, "MultiEdit", &moved), None);
    assert!(in_shell(rule, "cat > src/a.ts <<EOF\nconsole.log(1)\nEOF").is_some());
}

#[test]
fn commits_are_known_by_files_and_messages() {
    let trailer = "git commit -m \"$(cat <<'EOF'\nfix: don't\n\nCo-Authored-By: x\nEOF\n)\"";
    let heredoc = "git commit -F - <<EOF\nfix\n\nCo-authored-by: x\nEOF";
    for line in [trailer, heredoc, "git commit -m a --trailer 'Co-authored-by: x'"] {
        assert!(in_shell("commit messages without a co-author line", line).is_some(), "{line}");
    }
    for (line, breaks) in [
        ("git add ./.env", true),
        ("git add .", false),
        ("git add .env.example", false),
        ("git commit -m .env", false),
    ] {
        assert_eq!(in_shell("never commit .env", line).is_some(), breaks, "{line}");
    }
    for (line, breaks) in
        [("pnpm add zod", true), ("pnpm install", false), ("pip install -r x.txt", false)]
    {
        assert_eq!(in_shell("don't install new dependencies", line).is_some(), breaks, "{line}");
    }
}

#[test]
fn the_glob_of_a_note_is_the_place_of_its_check() {
    let check = RuleCheck::compile("no console.log", Some("web/**")).unwrap();
    let flags = |path: &str| {
        let input = json!({ "file_path": path, "content": "console.log(1)" });
        let input = RawValue::from_string(input.to_string()).unwrap();
        let root = Path::new("/project");
        check.find_violation(&CheckedCall::new("Write", &input, root, root)).is_some()
    };
    assert!(flags("web/a.ts") && !flags("api/a.ts"));
    let stored = serde_json::to_string(&check).unwrap();
    assert_eq!(serde_json::from_str::<RuleCheck>(&stored).unwrap(), check);
    assert!(check.is_current());
}

const RULES: [&str; 20] = [
    "use pnpm, never npm", "use python3, not python", "no sudo", "never rm -rf", "no --no-verify",
    "never push to main", "no force pushes", "don't touch db/migrations",
    "never edit *.lock files", "only touch files in packages/ui", "never write to /etc",
    "do not create *.md files", "don't delete anything in data/", "no console.log in src/",
    "no `any` in TypeScript", "never commit .env", "don't install new dependencies",
    "never add axios", "no emojis in commit messages", "always pass --locked to cargo build",
];

proptest! {
    #[test]
    fn a_broken_check_shares_a_key_with_the_call(
        rule in prop::sample::select(RULES.to_vec()),
        program in "(sudo |env A=b |npx |cd db && )?(npm|python3|rm|git|cargo|pip|tee|mv)( -C x)?",
        words in prop::collection::vec(
            prop::sample::select(vec![
                "push", "origin", "main", "+main", "HEAD:main", "add", "commit", "-m", "✨", "-rf", "-r", "-f",
                "--no-verify", "--force", ".env", "db/migrations/1.sql", "a.md", "x.lock", "/etc/x", "data/1",
                "install", "axios", "build", "> a.md", ">> src/a.ts", "&& npm i", "$(npm i)", "--", "./x/../a.md",
            ]),
            0..6,
        ),
        path in "(/project/|\\./|/etc/|\\.\\./)?(src/|db/migrations/|data/|packages/ui/)?(a\\.ts|b\\.md|\\.env|c\\.lock|d)",
        text in "(console\\.log\\(1\\)|let x: any;|import axios from 'axios'|plain)",
        is_write in any::<bool>(),
    ) {
        let check = RuleCheck::compile(rule, None).unwrap();
        let (tool, input) = if is_write {
            ("Write", json!({ "file_path": path, "content": text }))
        } else {
            ("Bash", json!({ "command": format!("{program} {}", words.join(" ")) }))
        };
        let input = RawValue::from_string(input.to_string()).unwrap();
        let root = Path::new("/project");
        let call = CheckedCall::new(tool, &input, root, root);
        if check.find_violation(&call).is_some() {
            let keys = call.index_keys();
            prop_assert!(check.index_keys().iter().any(|key| keys.contains(key)), "{:?}", keys);
        }
    }
}
