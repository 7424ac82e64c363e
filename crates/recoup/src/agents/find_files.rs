//! Finds the agent files of a project.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use recoup_core::base::fsx;

use super::agent_file::AgentDialect;
use super::file::dialect_of;

/// More would not be read by anybody.
const MAX_FILES: usize = 1_000;
/// Enough for any front matter.
const MAX_FRONT_MATTER: u64 = 16 << 10;

/// Agent files below `dir`, without hidden and ignored ones, sorted.
pub(crate) fn find_agent_files(dir: &Path) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(dir).require_git(false).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|it| it.is_file()));
    let mut found: Vec<PathBuf> = files
        .map(ignore::DirEntry::into_path)
        .filter(|path| is_agent_file(path))
        .take(MAX_FILES)
        .collect();
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
    let mut lines = text.lines().skip_while(|line| line.starts_with("#!") || line.is_empty());
    if lines.next().map(str::trim_end) != Some("---") {
        return false;
    }
    let mut is_in_models = false;
    lines.take_while(|line| line.trim_end() != "---").any(|line| {
        if !line.starts_with([' ', '-']) {
            is_in_models = line.starts_with("models:") || line.starts_with("model:");
        }
        is_in_models && line.contains('/')
    })
}
