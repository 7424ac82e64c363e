//! `recoup cassette check`: is a cassette fit to be replayed and shared?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::stable_order;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::env;
use crate::gateway::readable_answer;
use crate::llm::{CassetteFile, RecordedExchange, detect_in};

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The cassettes
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Result of checking a file.
#[derive(Debug, Serialize)]
struct CheckedCassette {
    file: String,
    exchanges: usize,
    problems: Vec<String>,
    /// Remarks that need no action.
    notes: Vec<String>,
}

impl CheckArgs {
    pub(super) fn run(self) -> CommandResult {
        let checked: Vec<_> = self.files.iter().map(|file| CheckedCassette::of(file)).collect();
        if self.json {
            ui::json(&checked)?;
        } else {
            for CheckedCassette { file, exchanges, problems, notes } in &checked {
                if problems.is_empty() {
                    let s = if *exchanges == 1 { "" } else { "s" };
                    ui::line(format_args!("{file}: ok ({exchanges} exchange{s})"))?;
                }
                for problem in problems.iter().chain(notes) {
                    ui::line(format_args!("{file}: {problem}"))?;
                }
            }
        }
        let is_sound = checked.iter().all(|checked| checked.problems.is_empty());
        Ok(if is_sound { CommandAnswer::Yes } else { CommandAnswer::No })
    }
}

impl CheckedCassette {
    fn of(path: &Path) -> Self {
        let name = path.display().to_string();
        let file = match CassetteFile::read(path) {
            Ok(file) => file,
            Err(error) => {
                let message = error.to_string();
                let rest = message.strip_prefix(&format!("{name}:")).unwrap_or(&message);
                let is_line = rest.starts_with(|it: char| it.is_ascii_digit());
                let problem = format!("{}{}", if is_line { "line " } else { "" }, rest.trim());
                let (problems, notes) = (vec![problem], Vec::new());
                return Self { file: name, exchanges: 0, problems, notes };
            }
        };
        let mut problems = Vec::new();
        let withheld = env::credentials().in_json();
        for (at, exchange) in file.exchanges.iter().enumerate() {
            let whole = exchange.http().map(readable_answer).unwrap_or_default();
            if let Some(rule) = detect_in(&withheld, &[exchange.text.as_bytes(), whole.as_bytes()])
            {
                problems.push(format!("number {}: it holds a secret ({rule})", at + 1));
            }
        }
        if !file.is_whole {
            problems.push("the last exchange is cut off: record it again".to_owned());
        }
        let order = stable_order(&file);
        let places: Vec<&String> = order.iter().flatten().collect();
        if let Some(at) = places.windows(2).position(|pair| pair[0] > pair[1]) {
            problems.push(format!(
                "number {} is not in its place (the recording did not end properly, or the file was \
                 edited): record it again, or `recoup cassette prune` sorts it",
                at + 2
            ));
        }
        let notes = describe_repetitions(&file.exchanges, &order);
        Self { file: name, exchanges: file.exchanges.len(), problems, notes }
    }
}

/// Says which requests have several answers, and which answers are the same.
fn describe_repetitions(exchanges: &[RecordedExchange], order: &[Option<String>]) -> Vec<String> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, place) in order.iter().enumerate() {
        if let Some(place) = place {
            groups.entry(place).or_default().push(at);
        }
    }
    let answer =
        |at: usize| exchanges[at].http().map(|it| (it.response.status, it.response.to_bytes()));
    let describe = |group: &Vec<usize>| {
        let numbers: Vec<String> = group.iter().map(|at| (at + 1).to_string()).collect();
        let numbers = numbers.join(", ");
        if group.windows(2).all(|pair| answer(pair[0]) == answer(pair[1])) {
            format!("numbers {numbers} are the same exchange: one would do")
        } else {
            format!("numbers {numbers} answer the same request: they are replayed in this order")
        }
    };
    groups.values().filter(|group| group.len() > 1).map(describe).collect()
}
