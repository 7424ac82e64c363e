//! `recoup cache invalidate`: all that is said must be true of an entry, and
//! nothing else goes.

use crate::support::{Home, Output};

/// Entries made from files, by bare keys and by parts.
fn scene() -> Home {
    let home = Home::new();
    home.write(".git/HEAD", "ref: refs/heads/main\n");
    home.write(".git/config", "");
    for name in ["src/a.rs", "src/deep/b.rs", "docs/c.md"] {
        home.write(name, name);
    }
    let set = |key: &str, more: &[&str]| {
        home.cache(&[&["set", "--key", key, "--condensed", "1"], more].concat()).expect(0);
    };
    set("a", &["--sources", "src/a.rs", "--tag", "red"]);
    set("b", &["--sources", "src/deep/b.rs", "--tag", "red", "--tag", "blue"]);
    set("c", &["--sources", "docs/c.md"]);
    set("dir", &["--sources", "docs"]);
    set("none", &[]);
    home
}

fn invalidate(home: &Home, args: &[&str]) -> Output {
    home.cache(&[&["invalidate"], args].concat())
}

#[track_caller]
fn assert_goes(home: &Home, args: &[&str], gone: &[&str]) {
    let output = invalidate(home, args).expect(0);
    assert_eq!(output.text(), format!("{}\n", gone.len()), "{args:?}");
    for key in ["a", "b", "c", "dir", "none"] {
        let code = i32::from(gone.contains(&key));
        assert_eq!(home.get(key).code, Some(code), "{args:?}: {key}");
    }
}

#[test]
fn a_star_crosses_directories() {
    assert_goes(&scene(), &["--paths", "src/*"], &["a", "b"]);
    assert_goes(&scene(), &["--paths", "*.rs"], &["a", "b"]);
    assert_goes(&scene(), &["--paths", "src/?.rs"], &["a"]);
    assert_goes(&scene(), &["--paths", "src/*.md"], &[]);
    assert_goes(&scene(), &["--paths", "*"], &["a", "b", "c", "dir"]);
}

#[test]
fn a_directory_matches_by_its_name_and_by_its_files() {
    assert_goes(&scene(), &["--paths", "docs"], &["dir"]);
    assert_goes(&scene(), &["--paths", "docs/*"], &["c", "dir"]);
}

#[test]
fn sources_match_from_the_root_and_as_they_were_given() {
    for glob in ["src/deep/x.rs", "./x.rs", "*/x.rs"] {
        let home = scene();
        let deep = home.project().join("src/deep");
        home.write("src/deep/x.rs", "x");
        let set = ["cache", "set", "--key", "x", "--condensed", "1", "--sources", "./x.rs"];
        home.run_in(&deep, &set).expect(0);
        assert_eq!(invalidate(&home, &["--paths", glob]).expect(0).text(), "1\n", "{glob}");
        home.get("x").expect_miss();
    }
}

#[test]
fn tags_and_paths_must_both_be_true() {
    assert_goes(&scene(), &["--tag", "red"], &["a", "b"]);
    assert_goes(&scene(), &["--tag", "red", "--paths", "src/deep/*"], &["b"]);
    assert_goes(&scene(), &["--tag", "blue", "--paths", "src/a.rs"], &[]);
    assert_goes(&scene(), &["--tag", "re"], &[]);
}

#[test]
fn an_operation_matches_only_what_knows_its_parts() {
    let home = scene();
    let parts = |operation| ["--paths", "src", "--query", "q", "--operation", operation];
    for operation in ["audit", "review"] {
        home.cache(&[&["set", "--condensed", "1"][..], &parts(operation)].concat()).expect(0);
    }
    home.set("audit", "1");
    let key = home.cache(&[&["generate-key"][..], &parts("audit")].concat()).expect(0).text();
    assert_eq!(invalidate(&home, &["--operation", "Audit"]).expect(0).text(), "0\n");
    let both = ["--operation", "audit", "--tag", "red"];
    assert_eq!(invalidate(&home, &both).expect(0).text(), "0\n");
    assert_eq!(invalidate(&home, &["--operation", "audit"]).expect(0).text(), "1\n");
    home.get(key.trim_end()).expect_miss();
    home.cache(&[&["get"][..], &parts("review")].concat()).expect_hit("1");
    home.get("audit").expect_hit("1");
}

#[test]
fn nothing_said_means_nothing_and_is_wrong_usage() {
    let home = scene();
    invalidate(&home, &[]).expect_usage("--paths GLOB, --tag TAG or --operation NAME");
    invalidate(&home, &["--json"]).expect_usage("no entries selected");
    invalidate(&home, &["--paths", "src/[a"]).expect_usage("invalid glob");
    home.get("a").expect_hit("1");
}

#[test]
fn the_number_stands_alone_and_in_json() {
    let home = scene();
    let output = invalidate(&home, &["--tag", "red"]).expect(0);
    assert_eq!((output.text().as_str(), output.stderr.as_str()), ("2\n", ""));
    let output = invalidate(&home, &["--tag", "red", "--json"]).expect(0);
    assert_eq!(output.json(), serde_json::json!({"invalidated": 0}));
}

#[test]
fn other_scopes_are_left_alone() {
    let home = scene();
    let set = ["set", "--scope", "global", "--key", "a", "--condensed", "1", "--tag", "red"];
    home.cache(&set).expect(0);
    assert_goes(&home, &["--tag", "red"], &["a", "b"]);
    home.cache(&["get", "--scope", "global", "--key", "a"]).expect_hit("1");
}
