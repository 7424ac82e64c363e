//! The configuration files, one module for each shape. A missing file costs one failed open; an
//! existing one is read once.

mod ai_agent;
mod loa;
mod ours;
mod section;

use std::path::Path;

use recoup_core::base::fsx;

use super::configured_value::ConfiguredValue;
use super::document::{self, ConfigNode, DocumentError};
use super::origin::ConfigFile;
use super::prices::TokenPrice;
use super::problem::ConfigProblem;
use section::SectionReader;

/// Larger than any real configuration.
const MAX_LEN: u64 = 1 << 20;

/// Values of a file, and its problems.
#[derive(Debug, Default)]
pub(super) struct ConfigFileContents {
    pub(super) text: String,
    pub(super) givens: Vec<ConfiguredValue>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) prices: Vec<(String, TokenPrice)>,
}

/// Reads `file` at `path`, which messages call `shown`; none if there is no file.
pub(super) fn read(file: ConfigFile, path: &Path, shown: &str) -> Option<ConfigFileContents> {
    let bytes = match fsx::read_regular(path, MAX_LEN) {
        Ok(found) => found?,
        Err(error) => {
            return Some(contents_with_problem(ConfigProblem::of_file(
                file,
                shown,
                error.to_string(),
            )));
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Some(contents_with_problem(ConfigProblem::of_file(file, shown, "not valid UTF-8")));
    };
    Some(read_text(file, text, shown))
}

/// Reads a text that is, or would be, in the file.
pub(super) fn read_text(file: ConfigFile, text: String, shown: &str) -> ConfigFileContents {
    match parse_document(file, &text) {
        Ok(document) => {
            let mut reader = SectionReader::new(file, shown);
            walk(file, &document, &mut reader);
            let SectionReader { givens, problems, prices, .. } = reader;
            ConfigFileContents { text, givens, problems, prices }
        }
        Err(broken) => contents_with_problem(to_problem(file, shown, broken)),
    }
}

fn contents_with_problem(problem: ConfigProblem) -> ConfigFileContents {
    ConfigFileContents { problems: vec![problem], ..ConfigFileContents::default() }
}

fn parse_document(file: ConfigFile, text: &str) -> Result<ConfigNode, DocumentError> {
    match file {
        ConfigFile::User | ConfigFile::Project => document::toml::read(text),
        ConfigFile::Loa => document::yaml::read(text),
        ConfigFile::AiAgent => document::json::read(text),
    }
}

fn walk(file: ConfigFile, document: &ConfigNode, reader: &mut SectionReader) {
    match file {
        ConfigFile::User | ConfigFile::Project => ours::walk(document, reader),
        ConfigFile::Loa => loa::walk(document, reader),
        ConfigFile::AiAgent => ai_agent::walk(document, reader),
    }
}

fn to_problem(
    file: ConfigFile,
    shown: &str,
    DocumentError { position, message }: DocumentError,
) -> ConfigProblem {
    let place = match position {
        Some(at) => format!("{shown}:{}:{}", at.line, at.column),
        None => shown.to_owned(),
    };
    ConfigProblem::of_file(file, &place, message)
}
