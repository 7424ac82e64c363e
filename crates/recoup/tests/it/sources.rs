//! Sources: a result is given out only while the files that it was made from
//! are as they were, wherever in the project one asks from.

use std::fs;
use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use crate::support::Home;

/// A home with a result that was made from `src/a.rs`.
fn scene() -> Home {
    let home = Home::new();
    fs::create_dir(home.project().join(".git")).unwrap();
    for (name, contents) in [("HEAD", "ref: refs/heads/main\n"), ("config", "")] {
        home.write(&format!(".git/{name}"), contents);
    }
    home.write("src/a.rs", "fn a() {}");
    home.cache(&["set", "--key", "k", "--condensed", "1", "--sources", "src/a.rs"]).expect(0);
    home.get("k").expect_hit("1");
    home
}

#[test]
fn a_result_is_found_from_everywhere_in_the_project() {
    let home = scene();
    fs::create_dir_all(home.project().join("docs/deep")).unwrap();
    for dir in ["src", "docs/deep"] {
        let dir = home.project().join(dir);
        home.run_in(&dir, &["cache", "get", "--key", "k"]).expect_hit("1");
    }
    home.write("src/a.rs", "fn b() {}");
    let dir = home.project().join("docs/deep");
    home.run_in(&dir, &["cache", "get", "--key", "k"]).expect_miss();
}

#[test]
fn a_source_is_given_relative_to_where_one_is() {
    let home = scene();
    let src = home.project().join("src");
    home.write("src/b.rs", "b");
    home.write("b.rs", "another");
    let set = ["cache", "set", "--key", "b", "--condensed", "2", "--sources", "./b.rs,../src/a.rs"];
    home.run_in(&src, &set).expect(0);
    let shown = home.cache(&["show", "--key", "b", "--json"]).expect(0).json();
    let files = shown["sources"]["files"].as_array().unwrap();
    let paths: Vec<_> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["src/a.rs", "src/b.rs"]);
    home.write("b.rs", "changed");
    home.get("b").expect_hit("2");
    home.write("src/b.rs", "c");
    home.get("b").expect_miss();
}

#[test]
fn an_edit_of_the_same_length_at_once_is_seen() {
    for round in 0..20 {
        let home = Home::new();
        let source = home.write("a", "one");
        home.cache(&["set", "--key", "k", "--condensed", "1", "--sources", "a"]).expect(0);
        let before = fs::metadata(&source).unwrap().modified().unwrap();
        fs::write(&source, "two").unwrap();
        // As `cp -p` or a build that pins times leaves it.
        File::options()
            .write(true)
            .open(&source)
            .unwrap()
            .set_times(FileTimes::new().set_modified(before))
            .unwrap();
        assert_eq!(home.get("k").code, Some(1), "round {round}");
    }
}

#[test]
fn a_deleted_source_invalidates_until_the_same_result_is_set_again() {
    let home = scene();
    fs::remove_file(home.project().join("src/a.rs")).unwrap();
    home.get("k").expect_miss();
    home.write("src/a.rs", "fn new() {}");
    home.get("k").expect_miss();
    home.cache(&["set", "--key", "k", "--condensed", "2", "--sources", "src/a.rs"]).expect(0);
    home.get("k").expect_hit("2");
}

#[test]
fn a_directory_in_place_of_a_source_invalidates() {
    let home = scene();
    fs::remove_file(home.project().join("src/a.rs")).unwrap();
    fs::create_dir(home.project().join("src/a.rs")).unwrap();
    home.get("k").expect_miss();
    fs::remove_dir(home.project().join("src/a.rs")).unwrap();
    fs::remove_dir(home.project().join("src")).unwrap();
    fs::write(home.project().join("src"), "a file").unwrap();
    home.get("k").expect_miss();
}

/// Sets another time of modification, as `touch -d` does.
fn touch(home: &Home, name: &str, time: SystemTime) {
    let file = File::options().write(true).open(home.project().join(name)).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[test]
fn a_touched_source_is_the_same_unless_times_are_to_count() {
    let home = scene();
    touch(&home, "src/a.rs", SystemTime::now() - Duration::from_hours(1));
    home.get("k").expect_hit("1");
    fs::write(home.recoup().join("config.toml"), "cache.freshness = 'mtime'\n").unwrap();
    home.get("k").expect_miss();
}

#[test]
fn in_a_dir_store_times_count_unless_told_otherwise() {
    let home = scene();
    let set = ["set", "--store", "dir:kept", "--key", "k", "--condensed", "1"];
    home.cache(&[&set[..], &["--sources", "src/a.rs"]].concat()).expect(0);
    let get = ["get", "--store", "dir:kept", "--key", "k"];
    home.cache(&get).expect_hit("1");
    touch(&home, "src/a.rs", SystemTime::now() - Duration::from_hours(1));
    home.cache(&get).expect_miss();
    let shown = home.run(&["config", "show", "--store", "dir:kept"]).expect(0).text();
    assert!(shown.contains("cache.freshness         mtime"), "{shown}");
    fs::write(home.recoup().join("config.toml"), "cache.freshness = 'auto'\n").unwrap();
    home.cache(&get).expect_hit("1");
}

#[test]
fn a_source_that_was_replaced_counts_by_its_contents() {
    let home = scene();
    for (contents, is_hit) in [("fn a() {}", true), ("fn b() {}", false)] {
        let time = fs::metadata(home.project().join("src/a.rs")).unwrap().modified().unwrap();
        home.write("src/copy", contents);
        touch(&home, "src/copy", time);
        fs::rename(home.project().join("src/copy"), home.project().join("src/a.rs")).unwrap();
        assert_eq!(home.get("k").code, Some(i32::from(!is_hit)), "{contents}");
    }
}

#[test]
fn any_one_of_several_sources_counts() {
    let home = Home::new();
    for changed in ["a", "b", "c"] {
        for name in ["a", "b", "c"] {
            home.write(name, name);
        }
        home.cache(&["set", "--key", "k", "--condensed", "1", "--sources", "a,b,c,"]).expect(0);
        home.get("k").expect_hit("1");
        home.write(changed, "changed");
        home.get("k").expect_miss();
    }
}

#[test]
fn a_source_outside_the_project_counts_too() {
    let home = scene();
    let outside = home.path("shared.txt");
    fs::write(&outside, "one").unwrap();
    let given = outside.to_str().unwrap();
    home.cache(&["set", "--key", "o", "--condensed", "1", "--sources", given]).expect(0);
    home.get("o").expect_hit("1");
    fs::write(&outside, "two").unwrap();
    home.get("o").expect_miss();
}

#[test]
fn names_with_spaces_quotes_and_other_letters() {
    let home = Home::new();
    for name in ["it's \"a\" file", "naïve 名前.txt", "-dash", "@at"] {
        home.write(name, "one");
        let set = ["set", "--key", "k", "--condensed", "1", "--sources", name];
        home.cache(&set).expect(0);
        home.get("k").expect_hit("1");
        home.write(name, "two");
        home.get("k").expect_miss();
    }
}

#[test]
fn a_source_that_is_not_there_is_wrong_usage_and_keeps_the_old_value() {
    let home = scene();
    home.cache(&["set", "--key", "k", "--condensed", "2", "--sources", "src/a.rs,src/gone.rs"])
        .expect_usage("\"src/gone.rs\" does not exist");
    home.get("k").expect_hit("1");
}
