//! `recoup config keys`: the table of keys, for people and for docs/src/configuration.md.

use clap::Args;
use serde::Serialize;

use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::show;

/// List every key, what it takes and what it means.
#[derive(Debug, Args)]
pub(super) struct KeysArgs {
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DescribedKey {
    key: &'static str,
    takes: &'static str,
    default: Option<&'static str>,
    variable: &'static str,
    meaning: &'static str,
    /// Permission for a repository's file: `yes`, `for itself`, `after trust`, `to switch it off`
    /// or `no`.
    repository: &'static str,
}

impl KeysArgs {
    pub(super) fn run(self) -> CommandResult {
        let keys: Vec<DescribedKey> = show::all_keys().map(describe_key).collect();
        if self.json {
            ui::json(&keys)?;
        } else {
            ui::table(&["KEY", "TAKES", "DEFAULT", "VARIABLE", "MEANING"], &rows(&keys))?;
        }
        Ok(CommandAnswer::Yes)
    }
}

fn describe_key(info: &'static show::KeyInfo) -> DescribedKey {
    DescribedKey {
        key: info.name,
        takes: info.expected,
        default: info.default,
        variable: info.variable.name,
        meaning: info.meaning,
        repository: match info.repository {
            show::RepositoryPermission::May => "yes",
            show::RepositoryPermission::MayForItself => "for itself",
            show::RepositoryPermission::AfterTrust => "after trust",
            show::RepositoryPermission::MaySwitchOff => "to switch it off",
            show::RepositoryPermission::MayNot => "no",
        },
    }
}

fn rows(keys: &[DescribedKey]) -> Vec<Vec<String>> {
    let row = |key: &DescribedKey| {
        let default = key.default.unwrap_or("(none)");
        [key.key, key.takes, default, key.variable, key.meaning].map(str::to_owned).to_vec()
    };
    keys.iter().map(row).collect()
}
