//! Other programs' data: what a path holds, and what of it comes in. One file per program.
//!
//! A source is only read. What it says about itself decides how far it is trusted: only where it
//! says that the user said something does that come in as the user's.

mod ai_agent;
mod claude_mem;
mod claude_recall;
mod foreign_database;
mod result_directories;
mod rule_files;
mod sink;

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::app::App;
use foreign_database::ForeignDatabase;
use sink::ImportSink;
pub(crate) use sink::{ImportOptions, ImportedItem, ItemKind, ItemOutcome, record_rule};

/// Largest export that is read.
const MOST_EXPORT: u64 = 256 << 20;

/// Databases that programs keep in a directory of their own.
const DATABASES: [&str; 3] = ["claude-recall.db", "claude-mem.db", "cache.db"];

const KNOWN: &str = "recoup imports the databases of claude-recall, claude-mem and ai-agent, exports \
                     of claude-recall, directories of file-cache and semantic-cache entries, and \
                     files with rules (CLAUDE.md, AGENTS.md, .cursorrules and the like)";

/// A source of an import, and what is in it.
#[derive(Debug)]
pub(crate) struct ImportSource {
    pub(crate) path: PathBuf,
    data: SourceData,
}

#[derive(Debug)]
enum SourceData {
    RecallDatabase(ForeignDatabase),
    RecallExport(Vec<Value>),
    ClaudeMem(ForeignDatabase),
    AiAgent(ForeignDatabase),
    FileCache,
    ResultCache,
    RuleFile,
}

impl ImportSource {
    /// Finds out what a path holds: one source, or several in a directory.
    pub(crate) fn find(path: &Path) -> Result<Vec<Self>> {
        let found = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Error::new(ErrorKind::Absent, format!("no such file: {}", path.display()))
            }
            _ => Error::new(ErrorKind::Io, format!("cannot access {}", path.display()))
                .with_source(error),
        })?;
        let source = |path: &Path, data| Self { path: path.to_owned(), data };
        if !found.is_dir() {
            return Ok(vec![source(path, file_data(path)?)]);
        }
        if result_directories::is_protocol_directory(path) {
            return Ok(vec![source(path, SourceData::ResultCache)]);
        }
        let mut sources = Vec::new();
        for database in DATABASES.iter().map(|name| path.join(name)).filter(|it| it.is_file()) {
            match file_data(&database) {
                // Another program's, by the same name.
                Err(error) if error.kind() == ErrorKind::Usage => {}
                data => sources.push(source(&database, data?)),
            }
        }
        if sources.is_empty() && result_directories::has_file_cache_entries(path)? {
            sources.push(source(path, SourceData::FileCache));
        }
        let files = rule_files::find_rule_files(path).into_iter();
        sources.extend(files.map(|path| Self { path, data: SourceData::RuleFile }));
        if sources.is_empty() { Err(unknown_source(path)) } else { Ok(sources) }
    }

    /// Name of the program or format, for people.
    pub(crate) fn program(&self) -> &'static str {
        match self.data {
            SourceData::RecallDatabase(_) => "claude-recall",
            SourceData::RecallExport(_) => "claude-recall export",
            SourceData::ClaudeMem(_) => "claude-mem",
            SourceData::AiAgent(_) => "ai-agent",
            SourceData::FileCache => "file cache",
            SourceData::ResultCache => "semantic cache",
            SourceData::RuleFile => "rule file",
        }
    }

    /// True if the user chooses what comes in.
    pub(crate) fn is_chosen_from(&self) -> bool {
        matches!(self.data, SourceData::RuleFile)
    }

    /// Reads the source, and imports what may come in without being chosen.
    pub(crate) fn import(self, app: &App, options: &ImportOptions) -> Result<Vec<ImportedItem>> {
        let mut sink = ImportSink::new(app, options);
        match self.data {
            SourceData::RecallDatabase(database) => {
                claude_recall::read_database(&database, &mut sink)?;
            }
            SourceData::RecallExport(rows) => claude_recall::read_export(rows, &mut sink),
            SourceData::ClaudeMem(database) => claude_mem::read_database(&database, &mut sink)?,
            SourceData::AiAgent(database) => ai_agent::read_database(&database, &mut sink)?,
            SourceData::FileCache => result_directories::read_file_cache(&self.path, &mut sink)?,
            SourceData::ResultCache => {
                result_directories::read_protocol_directory(&self.path, &mut sink)?;
            }
            SourceData::RuleFile => rule_files::read_rule_file(&self.path, &mut sink)?,
        }
        sink.finish()
    }
}

fn file_data(path: &Path) -> Result<SourceData> {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    if !is_file {
        return Err(unknown_source(path));
    }
    let start = fsx::read_start(path, 64)?;
    if start.starts_with(foreign_database::MAGIC) {
        return database_data(path);
    }
    if rule_files::is_rule_file(path) {
        return Ok(SourceData::RuleFile);
    }
    if start.starts_with(br#"{"recoup":"memory""#) {
        return Err(Error::usage(format!(
            "{} is an export of recoup: use `recoup memory import`",
            path.display()
        )));
    }
    if !start.trim_ascii_start().starts_with(b"{") {
        return Err(unknown_source(path));
    }
    let json = fsx::read_limited(path, MOST_EXPORT)?;
    let rows = claude_recall::parse_export(&json)
        .map_err(|error| error.context(path.display().to_string()))?;
    rows.map(SourceData::RecallExport).ok_or_else(|| unknown_source(path))
}

fn database_data(path: &Path) -> Result<SourceData> {
    let database = ForeignDatabase::open(path)?;
    if database.has_columns("memories", &claude_recall::COLUMNS)? {
        Ok(SourceData::RecallDatabase(database))
    } else if database.has_columns("observations", &claude_mem::COLUMNS)? {
        Ok(SourceData::ClaudeMem(database))
    } else if database.has_columns("cache_entries", &ai_agent::COLUMNS)? {
        Ok(SourceData::AiAgent(database))
    } else if database.has_columns("notes", &["said", "superseded_by"])? {
        Err(Error::usage(format!(
            "{} is a memory of recoup: use `recoup memory export` and `recoup memory import`",
            path.display()
        )))
    } else {
        Err(unknown_source(path))
    }
}

fn unknown_source(path: &Path) -> Error {
    Error::usage(format!("{} holds nothing that can be imported: {KNOWN}", path.display()))
}
