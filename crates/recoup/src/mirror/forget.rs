//! Removes notes from files before they are deleted from memory: after an interruption the note
//! still exists, and the command can be repeated.

use std::fs;
use std::path::{Path, PathBuf};

use memchr::memmem;
use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::memory::{Note, NoteScope};

use super::list::{self, MirrorList, MirrorPlace};
use super::{
    ClaudeMirror, INDEX, MirrorPermission, MirrorRun, NoteTraces, claude, find, splice_index,
};

/// Upper limit for reading a file.
const LARGEST: u64 = 16 << 20;

/// Upper limit for reading transcripts in total: a person waits.
const MOST_READ: u64 = 256 << 20;

impl ClaudeMirror<'_> {
    /// Removes notes from all files made from them, then calls `delete` under the same lock, so
    /// that no sync writes them again. Returns the files that still have their words. Problems with
    /// files never stop the deletion.
    pub(crate) fn forget<T>(
        mut self,
        notes: &[Note],
        delete: impl FnOnce() -> Result<T>,
    ) -> Result<(T, Vec<PathBuf>)> {
        let (home, traces) = (self.locations.home, NoteTraces::of(notes));
        self.leaving = notes.iter().map(|note| note.id.clone()).collect();
        let scopes: Vec<NoteScope> = notes.iter().map(|note| note.scope.clone()).collect();
        // Places with these words that may not be listed: the project's own and, without a list,
        // all.
        let has_list = MirrorList::exists_in(home);
        let mut found = self.project_places();
        if !has_list {
            found.extend(find::find_places(self.locations));
        }
        found.retain(|place| {
            let has_words = || files_of(place).any(|(_, file)| traces.are_in(&file));
            find::has_our_names(&place.dir) && place.concerns(&scopes) && has_words()
        });
        if notes.is_empty() || found.is_empty() && !has_list {
            return Ok((delete()?, Vec::new()));
        }
        // If this is interrupted, the next sync checks all places.
        let due = list::mark_due(home);
        let mut run = self.start_run();
        let mut places = if let Ok(run) = &mut run {
            run.list.add(found);
            run.list.places.clone()
        } else {
            // Without the lock, the files are only named.
            let known = MirrorList::open(home, true).map(|list| list.places);
            known.unwrap_or_default().into_iter().chain(found).collect()
        };
        places.retain(|place| place.concerns(&scopes));
        let with_words = places.iter().flat_map(files_of).filter(|(_, file)| traces.are_in(file));
        let mut left: Vec<PathBuf> = with_words.map(|(path, _)| path).collect();
        if let Ok(run) = &mut run {
            for place in &places {
                let permission = self.permission_for(place).unwrap_or(MirrorPermission::Less);
                self.sync_place(run, place.clone(), permission);
            }
        }
        // The list is still locked.
        let deleted = delete()?;
        if let Ok(MirrorRun { list, report, .. }) = &run {
            // Git has published what these said.
            left.retain(|path| report.published.contains(path));
            for place in places.into_iter().map(|place| list.with_listed(place)) {
                let mut faults = report.faults.iter();
                let is_faulty = faults.any(|fault| fault.dir.starts_with(&place.dir));
                for (path, mut file) in files_of(&place) {
                    let name = path.strip_prefix(&place.dir).ok().and_then(Path::to_str);
                    if name == Some(INDEX) && !is_faulty {
                        file = splice_index(&file, &[], |line| place.has_line(line)).bytes;
                    }
                    // A file with the expected content has only words of other notes.
                    let is_ours = name.is_some_and(|name| place.has_written(name, &file));
                    if (is_faulty || !is_ours) && traces.are_in(&file) {
                        left.push(path);
                    }
                }
            }
        }
        left.sort();
        left.dedup();
        if due.is_ok() && run.is_ok_and(|run| run.report.faults.is_empty()) {
            // If this fails, the next sync checks all places, and finds nothing.
            let _ = list::clear_due(home);
        }
        Ok((deleted, left))
    }
}

/// Files of ours, or with our names, and their content.
fn files_of(place: &MirrorPlace) -> impl Iterator<Item = (PathBuf, Vec<u8>)> + use<> {
    let files = find::candidate_files(place).into_iter();
    files.filter_map(|path| Some((path.clone(), fsx::read_start(&path, LARGEST).ok()?)))
}

/// Directories of transcripts that have the words of a note, the project's own first. If there is
/// too much to read, the directory above all of them. Transcripts are not ours to change, so
/// `forget` only tells the user where the words remain.
pub(crate) fn find_transcripts_with(claude: &Path, root: &Path, notes: &[Note]) -> Vec<PathBuf> {
    let all = claude.join("projects");
    let words = notes.iter().flat_map(|note| std::iter::once(&note.text).chain(&note.quote));
    let quoted = words.filter_map(|words| serde_json::to_string(words).ok());
    let words: Vec<String> = quoted.map(|words| words[1..words.len() - 1].to_owned()).collect();
    let own = claude::slug(&root.to_string_lossy());
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
