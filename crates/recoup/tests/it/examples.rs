//! The agents in `examples/`: valid, and answered from their recordings in a copy of the directory,
//! without a key, a network or a server.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Home, finish, tree};

/// Agent, question, words of the answer.
const EXAMPLES: [(&str, &str, &str); 3] = [
    ("review-diff", "change.diff", "\"verdict\": \"request_changes\""),
    ("ask-docs", "", "paid back at half their daily price"),
    ("plan-release/planner", "plan-release/changes.txt", "## Version 3.0.0"),
];
const QUESTION: &str = "A customer returns a bike two days early. Do we pay anything back?";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A project with a copy of the examples.
fn copied() -> Home {
    let home = Home::new();
    for path in tree(&examples()).into_iter().filter(|path| path.is_file()) {
        let name = path.strip_prefix(examples()).unwrap().to_str().unwrap().to_owned();
        home.write(&format!("examples/{name}"), fs::read(path).unwrap());
    }
    home
}

/// The last answer of a recording.
fn recorded_answer(cassette: &str) -> String {
    let last: Value = serde_json::from_str(cassette.lines().last().unwrap()).unwrap();
    let events = last["response"]["events"].as_array().unwrap().iter();
    let pieces = events.filter_map(|event| {
        let data: Value = serde_json::from_str(event["data"].as_str().unwrap()).unwrap();
        data["delta"]["text"].as_str().map(str::to_owned)
    });
    pieces.collect()
}

#[test]
fn every_example_is_answered_from_its_recording() {
    let home = copied();
    for (name, input, words) in EXAMPLES {
        let (agent, cassette) =
            (format!("examples/{name}.md"), format!("examples/{name}.cassette.jsonl"));
        let recorded = fs::read_to_string(home.project().join(&cassette)).unwrap();
        let prompt = if input.is_empty() { QUESTION } else { "-" };
        let stdin = match input {
            "" => Vec::new(),
            input => fs::read(examples().join(input)).unwrap(),
        };
        let args = ["run", &agent, prompt, "--replay", &cassette];
        let output = home.run_with_stdin(&args, &stdin).expect(0);
        assert_eq!(output.text().trim_end(), recorded_answer(&recorded), "{name}");
        assert!(output.text().contains(words), "{name}: {}", output.text());
        assert_eq!(output.stderr, "", "{name}");
        for place in ["/tmp", "/home", "/root", "/work", "/Users", "127.0.0.1", "registry"] {
            assert!(!recorded.contains(place), "{cassette} has {place}");
        }
    }
}

#[test]
fn the_commands_of_the_examples_page_work() {
    let home = copied();
    let page = fs::read_to_string(examples().join("README.md")).unwrap();
    let commands = page.split("```\n").nth(1).unwrap();
    assert_eq!(commands.matches("recoup run").count(), 3, "{commands}");
    // In a repository, where agents that start something need trust.
    finish(&mut home.prepared("git", &["init", "-q"])).expect(0);
    let commands = commands.replace("recoup trust", "recoup trust --yes");
    let program = Path::new(crate::support::RECOUP).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", program.display());
    let output = finish(home.prepared("sh", &["-ec", &commands]).env("PATH", path)).expect(0);
    for (name, _, words) in EXAMPLES {
        assert!(output.text().contains(words), "{name}: {output:?}");
    }
}

#[test]
fn every_example_is_valid() {
    let home = copied();
    let names = EXAMPLES.map(|(name, ..)| format!("examples/{name}.md"));
    let args: Vec<&str> =
        ["agents", "check"].into_iter().chain(names.iter().map(|it| &**it)).collect();
    let output = home.run(&args).expect(0);
    assert_eq!(output.text(), "", "{output:?}");
}
