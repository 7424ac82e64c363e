//! The console examples of README.md and docs/src, run as a reader would run them: one home and
//! one project for each page, from top to bottom. What is typed to Claude Code goes to the hook, and
//! scripts stand in for agents and tests.
//!
//! In what is printed, ids, times and dates may differ, and `…` stands for anything.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use crate::support::{Home, Output, RECOUP, finish};

/// The examples that are not run, by page and first command. Above each, the page says why.
const NOT_RUN: [(&str, &str); 15] = [
    (README, "cargo install --path crates/recoup"),
    (README, "cargo install --path crates/recoup"),
    ("docs/src/commands/cassette.md", "recoup gateway --record tests/api.cassette.json -- pytest"),
    (
        "docs/src/commands/condense.md",
        "cargo check --message-format=json | recoup condense --input - --strategy summary | cat",
    ),
    ("docs/src/commands/doctor.md", "recoup doctor"),
    ("docs/src/commands/gateway.md", "recoup gateway --ttl 7d"),
    ("docs/src/commands/gateway.md", "recoup explain --prompt-cache"),
    ("docs/src/commands/mcp-wrap.md", "recoup mcp wrap --server github --ttl 5m"),
    ("docs/src/commands/mcp.md", "claude mcp add recoup -- recoup mcp"),
    (
        "docs/src/commands/memory.md",
        "recoup trust                               # a colleague, after pulling",
    ),
    ("docs/src/commands/stats.md", "recoup watch"),
    (
        "docs/src/packaging.md",
        "sh target/packages/install.sh                       # into ~/.local; --prefix DIR for another place",
    ),
    ("docs/src/plugin.md", "cargo install --path crates/recoup"),
    ("docs/src/plugin.md", "claude plugin marketplace add ./plugin"),
    ("docs/src/plugin.md", "codex plugin marketplace add ./plugin"),
];

/// What a comment above an example that is not run begins with.
const MARK: &str = "<!-- not run: ";

/// The page whose examples begin with the agents of `examples/`; in the others there is a file.
const README: &str = "README.md";

/// Stand-ins for programs: agents that answer what the pages show, and tests that ask nothing.
const PROGRAMS: [(&str, &str); 4] = [
    (
        "claude",
        "[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)' && exit\n\
         echo 'The login query is built from user input: src/auth.rs:41'\n",
    ),
    ("codex", "exec sleep 60\n"),
    ("pytest", ""),
    ("python", ""),
];

/// The page in whose home Claude Code has the hooks.
const WITH_HOOKS: &str = "docs/src/commands/explain.md";

/// A block of a page.
#[derive(Debug)]
struct Example {
    page: String,
    is_run: bool,
    steps: Vec<Step>,
}

/// Something that is typed, and what is printed then.
#[derive(Debug)]
struct Step {
    line: usize,
    typed: Typed,
    printed: String,
}

#[derive(Debug)]
enum Typed {
    Command(String),
    Prompt(String),
}

impl Typed {
    fn read(line: &str, info: &str) -> Option<Self> {
        let begin = |sign| line.strip_prefix(sign).map(str::to_owned);
        match info {
            "console" => begin("$ ").map(Self::Command),
            _ => begin("> ").map(Self::Prompt),
        }
    }
}

fn examples(page: &str, text: &str) -> Vec<Example> {
    let (mut examples, mut is_run) = (Vec::new(), true);
    let mut lines = text.lines().zip(1..);
    while let Some((line, _)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            is_run = !line.starts_with(MARK);
            continue;
        };
        let mut steps = Vec::<Step>::new();
        for (line, number) in lines.by_ref().take_while(|(line, _)| *line != "```") {
            if let Some(typed) = Typed::read(line, info) {
                steps.push(Step { line: number, typed, printed: String::new() });
                continue;
            }
            let Some(Step { typed, printed, .. }) = steps.last_mut() else { break };
            match typed {
                Typed::Command(command) if is_unfinished(command) => {
                    command.push('\n');
                    command.push_str(line);
                }
                _ => {
                    printed.push_str(line);
                    printed.push('\n');
                }
            }
        }
        if !steps.is_empty() {
            examples.push(Example { page: page.to_owned(), is_run, steps });
        }
        is_run = true;
    }
    examples
}

/// True if a shell would read on: behind a backslash, or within quotes.
fn is_unfinished(command: &str) -> bool {
    let command = command.split(" # ").next().unwrap_or_default();
    command.ends_with('\\') || command.matches('\'').count() % 2 == 1
}

/// The examples of all pages, README.md first.
fn documented() -> Vec<Example> {
    pages().iter().flat_map(|(name, text)| examples(name, text)).collect()
}

/// All pages with their text, README.md first.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = markdown_files(&root.join("docs/src"));
    pages.sort();
    pages.insert(0, root.join(README));
    let read = |page: &PathBuf| {
        let name = page.strip_prefix(&root).unwrap().to_str().unwrap();
        (name.to_owned(), fs::read_to_string(page).unwrap())
    };
    pages.iter().map(read).collect()
}

fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { markdown_files(&path) } else { vec![path] }).collect()
}

/// A home and a project as the examples of a page find them.
fn place(page: &str) -> Home {
    let home = Home::new();
    if page == README {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        symlink(examples, home.project().join("examples")).unwrap();
    } else {
        home.write("src/auth.rs", "fn login() {}\n");
        home.write("tests/test_api.py", "");
    }
    fs::create_dir(home.path("bin")).unwrap();
    for (name, script) in PROGRAMS {
        let path = home.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    if page == WITH_HOOKS {
        let program = home.path("bin/recoup");
        symlink(RECOUP, &program).unwrap();
        let args = ["init", "--yes", "--client", "claude-code", "--program"].map(OsStr::new);
        home.run(&[&args[..], &[program.as_os_str()]].concat()).expect(0);
    }
    home
}

fn perform(page: &str, step: &Step, home: &Home) -> String {
    match &step.typed {
        Typed::Command(command) => {
            let mut path = home.path("bin").into_os_string();
            path.push(":");
            path.push(Path::new(RECOUP).parent().unwrap());
            path.push(":");
            path.push(std::env::var_os("PATH").unwrap_or_default());
            let mut shell: Command = home.prepared("sh", &["-c", &format!("exec 2>&1\n{command}")]);
            let output = finish(shell.env("PATH", path));
            if step.printed.is_empty() {
                assert_eq!(output.code, Some(0), "{page}:{}: {}", step.line, output.text());
                return String::new();
            }
            output.text()
        }
        Typed::Prompt(prompt) => {
            let event = json!({
                "hook_event_name": "UserPromptSubmit",
                "session_id": "readme",
                "cwd": home.project(),
                "prompt": prompt,
            });
            let reply: Output = home.run_with_stdin(&["hook"], event.to_string().as_bytes());
            let reply: Value = serde_json::from_slice(&reply.expect(0).stdout).unwrap();
            format!("{}\n", reply["systemMessage"].as_str().unwrap())
        }
    }
}

/// The text with one word for all that differs each time.
fn leveled(text: &str) -> String {
    let mut text = text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    for (pattern, level) in [
        (r"\([0-9a-z]{8}\)", "(ID)"),
        (r"retire [0-9a-z]{8}", "retire ID"),
        (r"nearest: [0-9a-f]{16}", "nearest: KEY"),
        (r"(?m)^[0-9a-z]{8}  ", "ID  "),
        (r"[0-9]+ m?s (ago|old)", "TIME $1"),
        (r"[0-9]+\.[0-9]s", "TIME"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "DATE"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, level).into_owned();
    }
    text
}

fn agrees(shown: &str, printed: &str) -> bool {
    let shown = regex::escape(leveled(shown.trim()).trim());
    let shown = Regex::new("(?m)^…$").unwrap().replace_all(&shown, "(?s:.*)").into_owned();
    let pattern = format!("^{}$", shown.replace('…', "[^\n]*"));
    Regex::new(&pattern).unwrap().is_match(leveled(printed.trim()).trim())
}

#[test]
fn every_example_prints_what_its_page_shows() {
    let (mut page, mut home) = (String::new(), Home::new());
    let mut wrong = Vec::new();
    for example in documented().iter().filter(|example| example.is_run) {
        if example.page != page {
            example.page.clone_into(&mut page);
            home = place(&page);
        }
        for step in &example.steps {
            let printed = perform(&page, step, &home);
            let printed = printed.replace(home.project().to_str().unwrap(), "/home/me/project");
            if !agrees(&step.printed, &printed) {
                wrong.push(format!(
                    "{page}:{}: {:?}\n--- shown\n{}--- printed\n{printed}",
                    step.line, step.typed, step.printed
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_run_is_known() {
    let examples = documented();
    let left_out = examples.iter().filter(|example| !example.is_run).map(|example| {
        let Typed::Command(command) = &example.steps[0].typed else { panic!("{example:?}") };
        (example.page.as_str(), command.as_str())
    });
    assert_eq!(left_out.collect::<Vec<_>>(), NOT_RUN);
    assert!(examples.iter().filter(|example| example.is_run).count() >= 7);
}

/// A command in a block of another kind would be run by nobody.
#[test]
fn every_command_with_a_prompt_is_in_a_console_block() {
    let mut elsewhere = Vec::new();
    for (page, text) in pages() {
        let mut info = None;
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim_start();
            match (line.strip_prefix("```"), info) {
                (Some(_), Some(_)) => info = None,
                (Some(begun), None) => info = Some(begun),
                (None, Some("console")) => {}
                (None, _) if line.starts_with("$ ") => elsewhere.push(format!("{page}:{number}")),
                (None, _) => {}
            }
        }
    }
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}

#[test]
fn an_example_that_prints_something_else_is_found() {
    assert!(agrees("use bun (vam3xz6b)\n", "use bun (0123456z)\n"));
    assert!(agrees("first\n…\nlast", "first\n1\n2\nlast\n"));
    assert!(agrees("so it begins …", "so it begins and ends\n"));
    for (shown, printed) in [
        ("use bun (vam3xz6b)", "use pnpm (vam3xz6b)"),
        ("1 src/auth.rs", "2 src/auth.rs"),
        ("first\n…\nlast", "first\nlast, but not least"),
        ("so it begins …", "so it begins\nand goes on"),
        ("[a] (b)", "a b"),
    ] {
        assert!(!agrees(shown, printed), "{shown:?} is not {printed:?}");
    }
}
