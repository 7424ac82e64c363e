//! The configuration files, one module for each shape. A missing file costs one failed open; an
//! existing one is read once.

mod ai_agent;
mod loa;
mod ours;
mod section;

use std::path::Path;

use recoup_core::base::fsx;

use super::document::{self, Broken, Node};
use super::given::Given;
use super::origin::File;
use super::prices::Price;
use super::problem::Problem;
use section::Reader;

/// Larger than any real configuration.
const MAX_LEN: u64 = 1 << 20;

/// Values of a file, and its problems.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) text: String,
    pub(super) givens: Vec<Given>,
    pub(super) problems: Vec<Problem>,
    pub(super) prices: Vec<(String, Price)>,
}

/// Reads `file` at `path`, which messages call `shown`; none if there is no file.
pub(super) fn read(file: File, path: &Path, shown: &str) -> Option<Contents> {
    let bytes = match fsx::read_regular(path, MAX_LEN) {
        Ok(found) => found?,
        Err(error) => return Some(useless(Problem::of_file(file, shown, error.to_string()))),
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Some(useless(Problem::of_file(file, shown, "not valid UTF-8")));
    };
    Some(of_text(file, text, shown))
}

/// Reads a text that is, or would be, in the file.
pub(super) fn of_text(file: File, text: String, shown: &str) -> Contents {
    match parsed(file, &text) {
        Ok(document) => {
            let mut reader = Reader::new(file, shown);
            walk(file, &document, &mut reader);
            let Reader { givens, problems, prices, .. } = reader;
            Contents { text, givens, problems, prices }
        }
        Err(broken) => useless(located(file, shown, broken)),
    }
}

fn useless(problem: Problem) -> Contents {
    Contents { problems: vec![problem], ..Contents::default() }
}

fn parsed(file: File, text: &str) -> Result<Node, Broken> {
    match file {
        File::User | File::Project => document::toml::read(text),
        File::Loa => document::yaml::read(text),
        File::AiAgent => document::json::read(text),
    }
}

fn walk(file: File, document: &Node, reader: &mut Reader) {
    match file {
        File::User | File::Project => ours::walk(document, reader),
        File::Loa => loa::walk(document, reader),
        File::AiAgent => ai_agent::walk(document, reader),
    }
}

fn located(file: File, shown: &str, Broken { position, message }: Broken) -> Problem {
    let place = match position {
        Some(at) => format!("{shown}:{}:{}", at.line, at.column),
        None => shown.to_owned(),
    };
    Problem::of_file(file, &place, message)
}
