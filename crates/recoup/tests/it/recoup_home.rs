//! `RECOUP_HOME`: which directories are used, which are refused, and that none is changed that
//! recoup did not make.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::support::{Home, Output, finish, tree};

const SET: [&str; 6] = ["cache", "set", "--key", "k", "--condensed", "1"];

fn run(home: &Home, named: impl AsRef<Path>, args: &[&str]) -> Output {
    finish(home.command(args).env("RECOUP_HOME", named.as_ref()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn make_dir(path: &Path, mode: u32) {
    fs::create_dir(path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A hook, which must not be in anybody's way.
fn hook(home: &Home, named: &Path) -> Output {
    let payload = include_bytes!("../fixtures/claude-code/UserPromptSubmit.json");
    let file = home.write("payload.json", payload);
    let mut command = home.command(&["hook"]);
    command.env("RECOUP_HOME", named).stdin(fs::File::open(file).unwrap());
    finish(&mut command).expect(0)
}

#[test]
fn a_tilde_is_the_user_s_home() {
    let home = Home::new();
    run(&home, "~/data/own", &SET).expect(0);
    assert!(home.path("data/own/cache.db").exists());
    assert!(!home.project().join("~").exists());
    assert_eq!((mode(&home.path("data")), mode(&home.path("data/own"))), (0o700, 0o700));
}

#[test]
fn what_is_no_directory_for_recoup_alone_is_refused_and_left_as_it_is() {
    let home = Home::new();
    let shared = home.path("shared");
    make_dir(&shared, 0o1777);
    symlink("/", home.path("root")).unwrap();
    let (root, link, user) = (Path::new("/"), home.path("root"), home.path(""));
    let before = [root, &shared, &user].map(mode);
    let all = [
        (Path::new("data"), "a relative path"),
        (Path::new("./data"), "a relative path"),
        (Path::new("~other/data"), "a relative path"),
        (root, "the root of the file system"),
        (Path::new("//"), "the root of the file system"),
        (&link, "the root of the file system"),
        (&user, "your home directory itself"),
        (Path::new("~"), "your home directory itself"),
        (Path::new("~/"), "your home directory itself"),
        (&shared, "all users share this directory"),
    ];
    // Not those below: one of them is a link to everything.
    let files = || fs::read_dir(&user).unwrap().count() + tree(&home.project()).len();
    home.write("payload.json", "");
    let count = files();
    for (named, why) in all {
        for args in [&SET[..], &["cache", "get", "--key", "k"], &["memory", "add", "use pnpm"]] {
            let output = run(&home, named, args).expect(2);
            assert!(output.stderr.contains("RECOUP_HOME: "), "{}", output.stderr);
            assert!(output.stderr.contains(why), "{}: {}", named.display(), output.stderr);
            assert!(output.stderr.contains("set it to a directory for recoup alone"));
        }
        assert_eq!(hook(&home, named).text(), "");
        let said = run(&home, named, &["doctor"]).expect(1).text();
        assert!(said.contains("RECOUP_HOME: ") && said.contains(why), "{said}");
    }
    assert_eq!([root, &shared, &user].map(mode), before);
    assert_eq!(files(), count, "nothing was made");
}

#[test]
fn a_directory_that_others_can_write_to_is_refused_with_the_remedy() {
    let home = Home::new();
    let data = home.path("data");
    make_dir(&data, 0o777);
    for args in [&SET[..], &["memory", "add", "use pnpm"], &["pause"]] {
        let output = run(&home, &data, args).expect(1);
        let remedy = format!("chmod go-w {}", data.display());
        assert!(output.stderr.contains(&remedy), "{}", output.stderr);
    }
    hook(&home, &data);
    assert_eq!((mode(&data), data.join("memory.db").exists()), (0o777, false));
    let said = run(&home, &data, &["doctor"]).expect(1).text();
    assert!(said.contains("other users can write to ~/data"), "{said}");
    run(&home, &data, &["doctor", "--fix"]).expect(1);
    assert_eq!(mode(&data), 0o777, "not even then");

    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    run(&home, &data, &SET).expect(0);
    assert_eq!(mode(&data), 0o755);
}
