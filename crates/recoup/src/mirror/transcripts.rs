//! Finds words of notes in Claude Code's transcripts. They are not ours to change, so `forget` only
//! tells the user where the words remain.

use std::fs;
use std::path::{Path, PathBuf};

use memchr::memmem;
use recoup_core::base::fsx;
use recoup_core::memory::Note;

use super::claude::slug;

/// Upper limit for reading in total: a person waits.
const MOST_READ: u64 = 256 << 20;

/// Directories of transcripts that have the words of a note, the project's own first. If there is
/// too much to read, the directory above all of them.
pub(crate) fn find_transcripts_with(claude: &Path, root: &Path, notes: &[Note]) -> Vec<PathBuf> {
    let all = claude.join("projects");
    let words = notes.iter().flat_map(|note| std::iter::once(&note.text).chain(&note.quote));
    let quoted = words.filter_map(|words| serde_json::to_string(words).ok());
    let words: Vec<String> = quoted.map(|words| words[1..words.len() - 1].to_owned()).collect();
    let own = slug(&root.to_string_lossy());
    let mut dirs = sorted_paths(&all);
    // Sessions in its subdirectories and worktrees have longer names.
    dirs.sort_by_key(|dir| {
        !dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own))
    });
    let mut left = MOST_READ;
    let mut found = Vec::new();
    for dir in dirs {
        for file in sorted_paths(&dir)
            .into_iter()
            .filter(|file| file.extension().is_some_and(|it| it == "jsonl"))
        {
            let text = match fsx::read_regular(&file, left) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                Err(_) => return vec![all],
            };
            left -= text.len() as u64;
            if words.iter().any(|words| memmem::find(&text, words.as_bytes()).is_some()) {
                found.push(dir);
                break;
            }
        }
    }
    found
}

fn sorted_paths(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
