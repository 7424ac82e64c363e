//! `recoup config keys`: the table of keys, for people and for docs/src/configuration.md.

use clap::Args;
use serde::Serialize;

use crate::cli::{Answer, Ended, ui};
use crate::config::show;

/// List every key, what it takes and what it means.
#[derive(Debug, Args)]
pub(super) struct KeysArgs {
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Described {
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
    pub(super) fn run(self) -> Ended {
        let keys: Vec<Described> = show::keys().map(described).collect();
        if self.json {
            ui::json(&keys)?;
        } else {
            ui::table(&["KEY", "TAKES", "DEFAULT", "VARIABLE", "MEANING"], &rows(&keys))?;
        }
        Ok(Answer::Yes)
    }
}

fn described(info: &'static show::Info) -> Described {
    Described {
        key: info.name,
        takes: info.expected,
        default: info.default,
        variable: info.variable.name,
        meaning: info.meaning,
        repository: match info.repository {
            show::Repository::May => "yes",
            show::Repository::MayForItself => "for itself",
            show::Repository::AfterTrust => "after trust",
            show::Repository::MaySwitchOff => "to switch it off",
            show::Repository::MayNot => "no",
        },
    }
}

fn rows(keys: &[Described]) -> Vec<Vec<String>> {
    let row = |key: &Described| {
        let default = key.default.unwrap_or("(none)");
        [key.key, key.takes, default, key.variable, key.meaning].map(str::to_owned).to_vec()
    };
    keys.iter().map(row).collect()
}
