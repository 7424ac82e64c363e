//! Answers to the questions of `recoup init`, stored in our own `config.toml` so that each is
//! asked only once.

use std::path::Path;

use recoup_core::{Error, ErrorKind, Result};

use super::change::FileChange;
use super::edit::toml;
use super::places::InstallPaths;

/// A configuration key that `init` asks about, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigAnswer {
    /// `table.name`
    pub(crate) key: &'static str,
    pub(crate) value: AnswerValue,
}

/// Value of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerValue {
    Truth(bool),
    Word(String),
}

/// May a model read redacted candidates?
pub(crate) const JUDGE: &str = "judge.enabled";
/// Are rules written into Claude Code's own memory?
pub(crate) const SYNC: &str = "rules.sync";
/// Do memories on one topic become a skill?
pub(crate) const SKILLS: &str = "skills.enabled";
/// Location of these skills.
pub(crate) const SKILLS_PLACE: &str = "skills.place";

/// Clients whose agents may record rules for the user.
pub(crate) const RECORD_ALLOW: &str = "record.allow";
/// Clients whose agents may not.
pub(crate) const RECORD_DENY: &str = "record.deny";

/// Other memory programs to keep: a list that grows with every no.
pub(crate) const PEERS_KEEP: &str = "peers.keep";

/// Returns the keys that the file at `path` already has.
pub(crate) fn find_answered_keys(path: &Path, places: &InstallPaths) -> Result<Vec<&'static str>> {
    let change = FileChange::unchanged(path, None)?;
    let root = toml::parse_to_json(&text(&change, places)?)
        .map_err(|fault| config_error(path, places, &fault))?;
    let has = |key: &&str| {
        let mut parts = key.split('.');
        parts.try_fold(&root, |value, part| value.get(part)).is_some()
    };
    Ok([JUDGE, SYNC, SKILLS, SKILLS_PLACE].into_iter().filter(has).collect())
}

/// Returns the change that writes these answers.
pub(crate) fn plan_answers(
    path: &Path,
    answers: &[ConfigAnswer],
    places: &InstallPaths,
) -> Result<FileChange> {
    let key = |answer: &'static str| answer.split('.').collect::<Vec<&str>>();
    let keys: Vec<_> = answers.iter().map(|it| (key(it.key), &it.value)).collect();
    plan_keys(path, &keys, places)
}

/// Returns the change that sets keys, each given as its path.
pub(crate) fn plan_keys(
    path: &Path,
    keys: &[(Vec<&str>, &AnswerValue)],
    places: &InstallPaths,
) -> Result<FileChange> {
    let mut change = FileChange::unchanged(path, None)?;
    let mut text = text(&change, places)?;
    for (key, value) in keys {
        let (value, shown) = match value {
            AnswerValue::Truth(truth) => ((*truth).into(), truth.to_string()),
            AnswerValue::Word(word) => (word.as_str().into(), format!("{word:?}")),
        };
        let Some((name, table)) = key.split_last() else { continue };
        text = toml::put_fields(&text, table, &[(name, value)])
            .map_err(|it| config_error(path, places, &it))?;
        change.done.said.push(format!("{} = {shown}", toml::dotted(key)));
    }
    if change.before.as_deref() != Some(text.as_bytes()) && !keys.is_empty() {
        change.after = Some(text.into_bytes());
    }
    change.demand_possible()?;
    Ok(change)
}

fn text(change: &FileChange, places: &InstallPaths) -> Result<String> {
    let bytes = change.before.clone().unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| {
        let place = places.display_path(&change.path);
        Error::new(ErrorKind::Invalid, format!("{place} is not UTF-8"))
    })
}

pub(super) fn config_error(
    path: &Path,
    places: &InstallPaths,
    fault: &super::edit::SettingsSyntaxError,
) -> Error {
    let message = format!("{}, {fault}; nothing was changed", places.display_path(path));
    Error::new(ErrorKind::Invalid, message)
}
