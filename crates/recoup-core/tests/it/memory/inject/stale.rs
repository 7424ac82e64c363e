//! Memories that name what a project no longer has.

use std::fs;

use recoup_core::memory::recall::inject::StaleCheck;

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        ("src/main.rs", ""),
        ("src/store/mod.rs", ""),
        ("packages/web/src/index.ts", ""),
        ("packages/web/package.json", r#"{"scripts": {"storybook": "x"}}"#),
        ("scripts/deploy.sh", ""),
        ("tools/manage.py", ""),
        ("client/index.js", ""),
        ("docs/guide.md", ""),
        ("package.json", r#"{"scripts": {"lint": "eslint .", "test:unit": "vitest"}}"#),
        ("Makefile", "VAR := x\nmigrate: build\n\t./run\nbuild test:\n\techo\n.PHONY: all\n"),
        (
            "justfile",
            "set shell := ['bash']\nalias d := deploy\n@deploy env='x': build\n  echo\nbuild:\n  echo\n",
        ),
        ("node_modules/x/gone.sh", ""),
    ];
    for (path, content) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

#[test]
fn what_is_no_longer_there_is_named() {
    let dir = project();
    for (text, missing) in [
        ("The entry point is src/old_main.rs.", "src/old_main.rs"),
        ("Deploy with `scripts/release.sh`.", "scripts/release.sh"),
        ("Deploy with ./scripts/release", "./scripts/release"),
        ("Read (docs/setup.md) first", "docs/setup.md"),
        ("Config lives in `src/config/`.", "src/config"),
        ("Run release.sh before a deploy", "release.sh"),
        ("Start it with python serve.py", "serve.py"),
        ("Run `npm run e2e` first", "the script e2e"),
        ("use pnpm run typecheck", "the script typecheck"),
        ("Run migrations with `make db-migrate`.", "make db-migrate"),
        ("Run make seed after that", "make seed"),
        ("Ship with `just publish`", "just publish"),
        ("The handlers are src/handlers/*.rs", "src/handlers/*.rs"),
        ("Types are in packages/api/types.ts", "packages/api/types.ts"),
    ] {
        let found = StaleCheck::new(dir.path()).missing_in_text(text);
        assert_eq!(found.as_deref(), Some(missing), "{text}");
    }
}

#[test]
fn what_is_there_or_no_path_at_all_is_no_alarm() {
    let dir = project();
    let check = StaleCheck::new(dir.path());
    let inside = format!("See {}/src/main.rs", dir.path().display());
    for text in [
        "The entry point is src/main.rs.",
        "The store is in `src/store`.",
        "Types are in src/index.ts",
        "Deploy with scripts/deploy.sh, then wait.",
        "Run deploy.sh",
        "python manage.py migrate",
        "Run `npm run lint` and `npm run test:unit`",
        "npm run storybook",
        "Run migrations with `make migrate`.",
        "Run make test",
        "`just deploy prod`, or `just d`",
        "Make sure that tests pass",
        "just use tabs",
        "Use make, not just scripts",
        "with make it works",
        "See https://example.com/docs/old/page.html",
        "see example.com/docs/page.html",
        "Use and/or sparingly; client/server and TCP/IP are fine",
        "This is a client/server application",
        "Use Node.js and Next.js",
        "We follow src/**/*.rs",
        "Look at docs/*.md",
        "The log is at /var/log/old/app.log",
        "Settings are in ~/.config/app/old.toml",
        "Use the type application/json",
        "Install @scope/package and lodash/fp",
        "Put tests in `src/__tests__/`",
        "Create new pages in docs/pages/new.md",
        "Never write to src/generated.rs",
        "Don't use scripts/old.sh",
        "Name branches docs/topic.md",
        "The bundle is dist/app.js",
        "Look at ../other/repo.rs",
        "Set PATH=$HOME/bin/x.sh",
        "24/7 support, 1/2 of them, 2026/11/16",
        "Run tests before you commit",
        "origin/main is protected",
        "npm run --workspace web build",
        "yarn build",
        "use `make -C sub x`",
        "",
        "/",
        "./",
        inside.as_str(),
    ] {
        assert_eq!(check.missing_in_text(text), None, "{text}");
    }
}

#[test]
fn a_makefile_that_includes_others_may_have_any_target() {
    for content in ["include other.mk\n", "%.o: %.c\n\tcc\n", "$(X): y\n\tz\n", "\u{fffd}"] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Makefile"), content).unwrap();
        let found = StaleCheck::new(dir.path()).missing_in_text("Run `make anything`");
        assert_eq!(found.is_some(), content == "\u{fffd}", "{content}");
    }
}

#[test]
fn broken_files_are_no_alarm() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("package.json"), "{").unwrap();
    fs::write(dir.path().join("Makefile"), b"\xff\xfe").unwrap();
    fs::write(dir.path().join("justfile"), vec![b' '; 2 << 20]).unwrap();
    let check = StaleCheck::new(dir.path());
    for text in ["`npm run x`", "`make x`", "`just x`"] {
        assert_eq!(check.missing_in_text(text), None, "{text}");
    }
}

#[test]
fn a_project_too_large_to_list_is_no_alarm() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..51 {
        let sub = dir.path().join(format!("d{n}"));
        fs::create_dir(&sub).unwrap();
        (0..100).for_each(|n| fs::write(sub.join(format!("{n}")), "").unwrap());
    }
    assert_eq!(StaleCheck::new(dir.path()).missing_in_text("See d1/gone.rs"), None);
}

#[test]
fn a_root_that_is_gone_is_no_alarm_and_no_panic() {
    let check = StaleCheck::new(std::path::Path::new("/nonexistent/root"));
    assert_eq!(check.missing_in_text("See src/main.rs"), None);
}

#[test]
fn looking_ends_after_a_while() {
    let dir = tempfile::tempdir().unwrap();
    let check = StaleCheck::new(dir.path());
    let found =
        (0..400).filter(|n| check.missing_in_text(&format!("See a/{n}.rs")).is_some()).count();
    assert_eq!(found, 200);
}
