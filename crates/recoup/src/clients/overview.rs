//! The table of clients as people read it: the README has it, and a test compares both.

use std::fmt::Write as _;

use super::spec::{
    ClientSpec, FileContent, FileDir, FileRole, FileSpec, InstallLevel, TestedWith, UserDir,
};
use super::table::CLIENTS;

/// Returns a Markdown table of all clients: their names, the user's files that `recoup init` adds
/// to, and the evidence for it.
pub fn clients_in_markdown() -> String {
    let mut table = "| client | `--client` | hooks | MCP server | known from |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    for it in &CLIENTS {
        let hooks = file_of(it, |content| {
            content.has_hooks() && !matches!(content, FileContent::TomlServers)
        });
        let servers = file_of(it, |content| {
            matches!(content, FileContent::Servers(..) | FileContent::TomlServers)
        });
        let evidence = match it.tested {
            TestedWith::Version(version) => format!("tests with {version}"),
            TestedWith::Recorded(version) => format!("payloads recorded from {version}"),
            TestedWith::Documentation => "its documentation".to_owned(),
        };
        writeln!(table, "| {} | `{}` | {hooks} | {servers} | {evidence} |", it.title, it.name)
            .expect("a text takes every line");
    }
    table
}

/// The user's file with that content; a dash if we add to none.
fn file_of(client: &ClientSpec, is_meant: impl Fn(&FileContent) -> bool) -> String {
    let is_ours = |file: &&FileSpec| {
        file.level == InstallLevel::User
            && file.role == FileRole::Installed
            && is_meant(&file.content)
    };
    let Some(file) = client.files.iter().find(is_ours) else { return "–".to_owned() };
    let dir = match (file.dir, client.dir) {
        (FileDir::HomeOrMoved, _) => "~".to_owned(),
        (_, UserDir::Home(dir)) => format!("~/{dir}"),
        (_, UserDir::Config(dir) | UserDir::ConfigOrMacHome(dir, _)) => format!("~/.config/{dir}"),
    };
    format!("`{dir}/{}`", file.path)
}
