//! `recoup completions` and `recoup man`: made from the commands themselves, so
//! they know all of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::{Home, Output, RECOUP, finish};

const COMMANDS: [&str; 11] = [
    "generate-key", "get", "set", "delete", "invalidate", "cleanup", "ls", "show", "stats",
    "verify", "clear",
];

/// The words that bash offers for the last of these, with the script that it is given.
#[track_caller]
fn bash_offers(home: &Home, words: &[&str]) -> Vec<String> {
    let complete = r#"source <(recoup completions bash)
        COMP_WORDS=(recoup "$@") COMP_CWORD=$#
        _recoup recoup "${@: -1}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let output = in_bash(home, &[&["-c", complete, "bash"], words].concat()).expect(0);
    assert_eq!(output.stderr, "");
    output.text().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Bash, which finds recoup on the PATH.
fn in_bash(home: &Home, args: &[&str]) -> Output {
    let bin = home.path("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        symlink(RECOUP, bin.join("recoup")).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    finish(home.prepared("bash", args).env("PATH", format!("{}:{path}", bin.display())))
}

#[test]
fn completions_know_every_command_and_flag() {
    let home = Home::new();
    let commands = bash_offers(&home, &["cache", ""]);
    assert!(COMMANDS.iter().all(|it| commands.iter().any(|found| found == it)), "{commands:?}");
    assert_eq!(bash_offers(&home, &["comp"]), ["completions"], "hidden ones are not offered");
    assert_eq!(bash_offers(&home, &["cache", "cleanup", "--max"]), ["--max-size-mb"]);
    assert_eq!(bash_offers(&home, &["cache", "cleanup", "--st"]), ["--store"]);
    assert!(bash_offers(&home, &["memory", "list", ""]).contains(&"--status".to_owned()));
    assert_eq!(bash_offers(&home, &["frobnicate", "--frob"]), [""; 0]);
    assert!(!home.recoup().exists());
}

#[test]
fn completions_know_the_values_of_flags() {
    let home = Home::new();
    let status = ["candidate", "active", "superseded", "retired"];
    assert_eq!(bash_offers(&home, &["memory", "list", "--status", ""]), status);
    assert_eq!(bash_offers(&home, &["memory", "list", "--status", "=", "act"]), ["active"]);
    let kinds = bash_offers(&home, &["memory", "add", "use tabs", "--kind", "p"]);
    assert_eq!(kinds, ["preference", "project-knowledge"]);
    assert_eq!(
        bash_offers(&home, &["init", "--client", "c"]),
        ["claude-code", "codex", "copilot", "cursor"]
    );
    assert_eq!(bash_offers(&home, &["uninstall", "--client", "ze"]), ["zed"]);
    assert_eq!(bash_offers(&home, &["condense", "--strategy", "s"]), STRATEGIES);
    assert_eq!(bash_offers(&home, &["cache", "set", "--condense", "s"]), STRATEGIES);
    let scopes = ["project", "global", "tenant:", "session:"];
    assert_eq!(bash_offers(&home, &["exec", "--scope", ""]), scopes);
    assert_eq!(bash_offers(&home, &["stats", "--scope", "gl"]), ["global"]);
    assert_eq!(bash_offers(&home, &["completions", ""]), ["bash", "zsh", "fish"]);
    assert_eq!(bash_offers(&home, &["memory", "import", ""]), [""; 0], "files are the shell's");
}

const STRATEGIES: [&str; 2] = ["structured_verdict", "summary"];

#[test]
fn completions_know_the_programs_that_can_be_run() {
    let home = Home::new();
    assert_eq!(bash_offers(&home, &["exec", "--", "recou"]), ["recoup"]);
    assert_eq!(bash_offers(&home, &["exec", "--ttl", "1d", "recou"]), ["recoup"]);
    assert_eq!(bash_offers(&home, &["explain", "exec", "--", "recou"]), ["recoup"]);
    let race = ["early-exit", "race", "s", "--", "true", "recou"];
    assert_eq!(bash_offers(&home, &race), [""; 0], "an argument");
    let race = ["early-exit", "race", "s", "--", "true", "---", "recou"];
    assert_eq!(bash_offers(&home, &race), ["recoup"]);
    // What comes next is the command's own.
    assert_eq!(bash_offers(&home, &["exec", "--", "recoup", "--t"]), [""; 0]);
    assert_eq!(bash_offers(&home, &["exec", "ls", "--t"]), [""; 0]);
}

#[test]
fn a_program_whose_name_a_shell_would_obey_is_not_offered() {
    let home = Home::new();
    let bin = home.path("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["zz-plain", "zz$(id)", "zz\nls -la", "zz;ls"] {
        let file = bin.join(name);
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = home.command(&["complete", "--", "exec", "--", "zz"]);
    assert_eq!(finish(command.env("PATH", &bin)).expect(0).text(), "zz-plain\t\n");
}

#[test]
fn completions_know_ids_and_keys() {
    let home = Home::new();
    let add = |text: &str| {
        let added = home.run(&["memory", "add", text, "--json"]).expect(0).json();
        added["id"].as_str().unwrap().to_owned()
    };
    let (tabs, spaces) = (add("Use tabs in Makefiles"), add("Deploy only on Mondays"));
    home.run(&["memory", "retire", &spaces]).expect(0);
    assert_eq!(bash_offers(&home, &["memory", "show", &tabs[..4]]), [&*tabs]);
    assert_eq!(bash_offers(&home, &["memory", "retire", ""]), [&*tabs]);
    assert_eq!(bash_offers(&home, &["memory", "restore", ""]), [&*spaces]);
    assert_eq!(bash_offers(&home, &["memory", "promote", ""]), [""; 0]);
    assert_eq!(bash_offers(&home, &["memory", "forget", &spaces, &tabs[..4]]), [&*tabs]);
    home.set("here", "1");
    home.cache(&["set", "--scope", "global", "--key", "hereabouts", "--condensed", "1"]).expect(0);
    assert_eq!(bash_offers(&home, &["cache", "show", "--key", "he"]), ["here"]);
    let global = ["cache", "--scope", "global", "show", "--key", ""];
    assert_eq!(bash_offers(&home, &global), ["hereabouts"]);
    assert_eq!(bash_offers(&home, &["explain", "her"]), ["here"]);
    home.run(&["early-exit", "register", "review-1", "a"]).expect(0);
    assert_eq!(bash_offers(&home, &["early-exit", "check", "rev"]), ["review-1"]);
}

#[test]
fn whatever_is_wrong_nobody_who_types_is_told() {
    let home = Home::new();
    home.set("k", "1");
    fs::write(home.db(), "no database").unwrap();
    fs::write(home.recoup().join("config.toml"), "frobnicate = [").unwrap();
    let show = ["cache", "show", "--key", ""];
    assert_eq!(bash_offers(&home, &show), [""; 0]);
    assert_eq!(bash_offers(&home, &["cache", "--store", "a:b", "show", "--key", ""]), [""; 0]);
    assert_eq!(bash_offers(&home, &["cache", "show", "--k"]), ["--key"]);
}

/// Zsh and fish show what a candidate is.
#[test]
fn a_candidate_is_described_in_words_that_a_terminal_does_not_obey() {
    let home = Home::new();
    home.run(&["memory", "add", "Use tabs in Makefiles"]).expect(0);
    let offered = home.run(&["complete", "--", "memory", "show", ""]).expect(0).text();
    assert!(offered.ends_with("\tUse tabs in Makefiles\n"), "{offered}");
    home.cache(&["set", "--key", "k", "--condensed", "1", "--tag", "\u{1b}[31mred"]).expect(0);
    let offered = home.run(&["complete", "--", "cache", "show", "--key", ""]).expect(0).text();
    assert_eq!(offered, "k\t\\u{1b}[31mred\n");
}

#[test]
fn another_shell_is_wrong_usage() {
    let home = Home::new();
    home.run(&["completions", "tcsh"]).expect_usage("bash, zsh, fish");
    home.run(&["completions"]).expect_usage("<SHELL>");
}

#[test]
fn each_command_has_a_page_with_its_flags() {
    let home = Home::new();
    // Roff writes a hyphen as `\-`.
    let page = |words: &[&str]| {
        let output = home.run(&[&["man"], words].concat()).expect(0);
        assert_eq!(output.stderr, "");
        assert!(output.text().contains(".TH "), "{words:?}");
        output.text().replace("\\-", "-")
    };
    assert!(page(&[]).contains("RECOUP_HOME"));
    let get = page(&["cache", "get"]);
    for flag in ["--key", "--paths", "--query", "--operation", "--json", "--token", "--sources"] {
        assert!(get.contains(flag), "{flag}");
    }
    for command in COMMANDS {
        assert!(page(&["cache", command]).contains(command), "{command}");
    }
    page(&["key", "agent-run"]);
}

#[test]
fn all_pages_can_be_written_at_once() {
    let home = Home::new();
    let dir = home.path("pages/man1");
    home.run(&["man", "--dir", dir.to_str().unwrap()]).expect(0);
    for command in COMMANDS {
        let page = fs::read_to_string(dir.join(format!("recoup-cache-{command}.1"))).unwrap();
        assert!(page.contains(".TH "), "{command}");
    }
    let mut names: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in
        ["recoup.1", "recoup-cache.1", "recoup-key.1", "recoup-key-result.1", "recoup-man.1"]
    {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
}

#[test]
fn an_unknown_command_has_no_page() {
    let home = Home::new();
    home.run(&["man", "cache", "frobnicate"]).expect_usage("no such command: \"cache frobnicate\"");
    home.run(&["man", "frobnicate"]).expect_usage("no such command");
}

/// What a terminal shows of a page, with the programs on this path and this pager.
fn man_on_terminal(home: &Home, path: &str, pager: &str) -> String {
    let words = ["exec", "--tty", "--no-cache", "--", RECOUP, "man", "cache", "get"];
    let mut command = home.command(&words);
    command.env("PATH", path).env("MANPAGER", "cat").env("PAGER", pager).env("TERM", "dumb");
    finish(&mut command).expect(0).text()
}

#[test]
fn a_terminal_shows_a_page_and_not_its_source() {
    let home = Home::new();
    let usual = std::env::var("PATH").unwrap();
    for path in [&*usual, "/nowhere"] {
        let page = man_on_terminal(&home, path, "cat");
        // Bold is a letter twice in one place.
        let letters: Vec<char> = page.chars().collect();
        let is_seen = |at: &usize| letters[*at] != '\u{8}' && letters.get(at + 1) != Some(&'\u{8}');
        let page: String = (0..letters.len()).filter(is_seen).map(|at| letters[at]).collect();
        assert!(!page.contains(".TH ") && !page.contains("\\fB"), "{path}: {page}");
        assert!(page.contains("--max-age") && page.contains("exit 1 on a miss"), "{path}: {page}");
    }
}

#[test]
fn without_man_the_pager_shows_the_help() {
    let home = Home::new();
    let pager = home.write("pager", "#!/bin/sh\nread -r line; echo \"paged: $line\"\n");
    fs::set_permissions(&pager, fs::Permissions::from_mode(0o700)).unwrap();
    let page = man_on_terminal(&home, "/nowhere", pager.to_str().unwrap());
    assert_eq!(page, "paged: Print a result that is still valid; exit 1 on a miss\r\n");
}
