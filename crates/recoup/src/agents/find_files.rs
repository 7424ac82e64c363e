//! Finds the agent files of a project.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use recoup_core::base::fsx;

use super::agent_file::AgentDialect;
use super::file::{dialect_of, split_sections};
use crate::config::{ConfigValue, YamlSource, read_yaml};

/// More would not be read by anybody.
const MAX_FILES: usize = 1_000;
/// Enough for any front matter.
const MAX_FRONT_MATTER: u64 = 16 << 10;

/// Agent files below `dir`, without hidden and ignored ones, sorted. `notice` is told if there are
/// more than are returned.
pub(crate) fn find_agent_files(dir: &Path, notice: impl FnOnce(&str)) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(dir).require_git(false).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|it| it.is_file()));
    let mut found: Vec<PathBuf> = files
        .map(ignore::DirEntry::into_path)
        .filter(|path| is_agent_file(path))
        .take(MAX_FILES + 1)
        .collect();
    if found.len() > MAX_FILES {
        found.truncate(MAX_FILES);
        notice(&format!(
            "{} has more than {MAX_FILES} agent files: the others are left out; name a directory \
             below it",
            dir.display()
        ));
    }
    found.sort();
    found
}

/// True by the extension; a Markdown file is an agent of ours if its front matter names models as
/// `provider/model`.
fn is_agent_file(path: &Path) -> bool {
    if dialect_of(path) != AgentDialect::Own {
        return true;
    }
    if path.extension().is_none_or(|end| end != "md") {
        return false;
    }
    let Ok(bytes) = fsx::read_start(path, MAX_FRONT_MATTER) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    let Ok((Some(front), _)) = split_sections(&text, AgentDialect::Own) else { return false };
    let Ok(document) = read_yaml(&front.text, YamlSource::AgentFile) else { return false };
    let is_model = |value: &ConfigValue| matches!(value, ConfigValue::Text(it) if it.contains('/'));
    let named = ["models", "model"].into_iter().filter_map(|key| document.at(&[key]));
    named.map(|node| &node.value).any(|value| match value {
        ConfigValue::List(items) => items.iter().any(|item| is_model(&item.value)),
        value => is_model(value),
    })
}
