//! The configuration reader against what `git` reads from the same file.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use proptest::prelude::*;
use recoup_core::base::project::{Project, ProjectOrigin};

use super::{Scene, find, git, origin_is};

/// What git reads; none when it refuses the file, or it names no remote.
fn git_reads(config: &[u8]) -> Option<String> {
    let scene = Scene::new();
    fs::write(scene.path("config"), config).unwrap();
    let output =
        git(&scene.root, &["config", "-z", "--file", "config", "--get-all", "remote.origin.url"]);
    let urls = String::from_utf8(output.stdout).unwrap();
    let first = urls.split('\0').next().filter(|url| !url.is_empty());
    first.filter(|_| output.status.success()).map(str::to_owned)
}

#[test]
fn configuration_is_read_as_git_reads_it() {
    let readable: [&[u8]; 22] = [
        b"[remote \"origin\"]\n\turl = https://h/a\n",
        b"[REMOTE \"origin\"] URL=https://h/a",
        b"[remote.Origin]\nurl = https://h/a",
        b"[remote\t \"origin\"]url = https://h/a ; note\n",
        b"[remote \"\\or\\igin\"]\nurl = https://h/a # note\n",
        b"# c\n; [remote \"x\"]\n[remote \"origin\"] # c\nurl = https://h/a;b\n",
        b"[remote \"origin\"]\nurl = \"https://h/a;b#c\"\n",
        b"[remote \"origin\"]\nurl = https\"://h/\"a\" b \"\n",
        b"[remote \"origin\"]\nurl = h:\"a\\\\b\\\"c\\\\\"\n",
        b"[remote \"origin\"]\nurl = https://h/\\\na/\\\r\n  b\n",
        b"[remote \"origin\"]\nurl = h:a \\\n",
        b"[remote \"origin\"]\nurl = h:a  b\t \n",
        b"[remote \"origin\"]\nurl = h:a\\",
        b"\xef\xbb\xbf[remote \"origin\"]\r\nurl = https://h/a\r\n",
        b"[remote \"origin\"]\nfetch\nurl = https://h/a\nurl = https://h/b\n",
        b"[remote \"origin\"]\nurl\t =https://h/a\n[remote \"x\"]\nurl = https://h/b\n",
        b"[remote \"x\"]\nurl = https://h/b\n[core]\nbare\n[remote \"origin\"]\nurl = https://h/a\n",
        b"[remote \"origin\"]\nurl-x = https://h/b\nurl = https://h/a\n",
        b"[remote \"origin.url\"]\nurl = https://h/b\n[remote \"origin\"]\nurl = https://h/a",
        b"[remote \"origin\"]\npushurl = https://h/b\n[remote \"origin\"]\n\n  url = https://h/a",
        b"[alias]\nx = \"!f() { echo \\\"a\\\"; }; f\"\n[remote \"origin\"]\nurl = https://h/a",
        b"[remote \"origin\"]\nurl = h:a\rb\x0c\r\n",
    ];
    for config in readable {
        let shown = String::from_utf8_lossy(config);
        let url = git_reads(config).unwrap_or_else(|| panic!("git refuses {shown}"));
        let scene = Scene::new();
        let expected = find(&scene.configured(origin_is(&url).as_bytes()));
        assert_eq!(find(&scene.configured(config)), expected, "{shown}");
    }
}

#[test]
fn a_configuration_that_git_refuses_leaves_the_repository_its_own() {
    let broken: [&[u8]; 16] = [
        b"url",
        b"[remote \"origin\"",
        b"[remote \"origin]\nurl = h:a\n",
        b"[remote \"origin\n\"]\nurl = h:a\n",
        b"[remote \"origin\" ]\nurl = h:a\n",
        b"[remote origin]\nurl = h:a\n",
        b"[remote\n\"origin\"]\nurl = h:a\n",
        b"[rem_ote]\n[remote \"origin\"]\nurl = h:a\n",
        b"[remote \"origin\"]\nurl = h:\"a\n",
        b"[remote \"origin\"]\nurl = h:\\a\n",
        b"[remote \"origin\"]\nurl : h:a\n",
        b"[remote \"origin\"]\nurl # = h:a\n",
        b"[remote \"origin\"]\nurl = h:a\n2 = b\n",
        b"[remote \"origin\"]\nurl = h:a\n[core",
        b"\xef\xbb[remote \"origin\"]\nurl = h:a\n",
        b"[remote \"origin\"]\nurl = h:a\n\x00\n",
    ];
    for config in broken {
        let shown = String::from_utf8_lossy(config);
        assert_eq!(git_reads(config), None, "{shown}");
        let scene = Scene::new();
        let made = scene.configured(config);
        assert_eq!(find(&made).origin(), &ProjectOrigin::GitDir(made.join(".git")), "{shown}");
    }
}

#[test]
fn of_several_urls_the_one_that_git_fetches_from_counts() {
    let scene = Scene::new();
    let made = scene.configured(b"[remote \"origin\"]\nurl = h:a\nurl = h:b\n");
    assert_eq!(scene.git(&["-C", "made", "remote", "get-url", "origin"]), "h:a\n");
    assert_eq!(find(&made).origin(), &ProjectOrigin::Remote("h/a".into()));
}

/// Git does so since 2.46; an older one takes the first all the same.
#[test]
fn an_empty_url_takes_back_those_before_it() {
    let scene = Scene::new();
    let made = scene.configured(b"[remote \"origin\"]\nurl = h:a\nurl =\nurl = h:b\nurl = h:c\n");
    assert_eq!(find(&made).origin(), &ProjectOrigin::Remote("h/b".into()));
}

#[test]
fn a_configuration_that_is_huge_endless_or_a_pipe_is_not_read() {
    let scene = Scene::new();
    let mut huge = origin_is("h:a").into_bytes();
    huge.resize((1 << 20) + 1, b'\n');
    let made = scene.configured(&huge);
    let config = made.join(".git/config");
    let own = ProjectOrigin::GitDir(made.join(".git"));
    assert_eq!(find(&made).origin(), &own);

    fs::remove_file(&config).unwrap();
    symlink("/dev/zero", &config).unwrap();
    assert_eq!(find(&made).origin(), &own);

    fs::remove_file(&config).unwrap();
    assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
    assert_eq!(find(&made).origin(), &own);
}

proptest! {
    #[test]
    fn no_configuration_stops_the_search(
        config in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..64),
            "(\\[remote \"origin\"\\]\n)?[a-z\\[\\]\"\\\\ =#;\r\n.]{0,48}".prop_map(String::into_bytes),
        ],
    ) {
        let scene = Scene::new();
        prop_assert!(Project::find(&scene.configured(&config)).is_ok());
    }
}
