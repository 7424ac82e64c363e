//! Removes notes from files before they are deleted from memory: after an interruption the note
//! still exists, and the command can be repeated.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mirror::{INDEX, NoteTraces};
use memchr::memmem;
use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::memory::{Note, NoteScope};

use super::register::{self, MirrorPlace, MirrorRegister};
use super::report::{MirrorFault, MirrorReport};
use super::splice::OwnIndexLines;
use super::{ClaudeMirror, MirrorPermission, claude, scan};

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
        if notes.is_empty() {
            return Ok((delete()?, Vec::new()));
        }
        self.leaving = notes.iter().map(|note| note.id.clone()).collect();
        let scopes: Vec<NoteScope> = notes.iter().map(|note| note.scope.clone()).collect();
        let traces = NoteTraces::of(notes);
        // Places with these words that may not be registered: the project's own and, without a
        // register, all.
        let has_register = MirrorRegister::exists_in(self.ground.home);
        let mut found = self.project_places();
        found.retain(|place| scan::has_our_files(&place.dir));
        if !has_register {
            found.extend(scan::find_places(self.ground));
        }
        found.retain(|place| {
            register::concerns(place, &scopes)
                && !files_with_traces(std::slice::from_ref(place), &traces).is_empty()
        });
        if found.is_empty() && !has_register {
            return Ok((delete()?, Vec::new()));
        }
        // If this is interrupted, the next sync checks all places.
        let due = register::mark_due(self.ground.home);
        let out = self.remove_notes(found, &scopes, &traces);
        let deleted = delete()?;
        let mut left = out.files_left(&traces);
        left.sort();
        left.dedup();
        if due.is_ok() && out.report.faults.is_empty() {
            // If this fails, the next sync checks all places, and finds nothing.
            let _ = register::clear_due(self.ground.home);
        }
        Ok((deleted, left))
    }

    fn remove_notes(
        &self,
        found: Vec<MirrorPlace>,
        scopes: &[NoteScope],
        traces: &NoteTraces,
    ) -> ForgetRemoval {
        let (mut report, home) = (MirrorReport::default(), self.ground.home);
        let mut register = match self.open_register() {
            Ok(register) => register,
            Err(error) => {
                report.faults.push(MirrorFault::new(register::register_path(home), &error));
                let known = MirrorRegister::read_unlocked(home).into_iter().chain(found);
                let places = known.filter(|it| register::concerns(it, scopes)).collect();
                return ForgetRemoval { register: None, places, had: Vec::new(), report };
            }
        };
        register.add(found);
        let places = register.places_concerned(scopes);
        let had = files_with_traces(&places, traces);
        for place in &places {
            let licence = self.permission_for(place).unwrap_or(MirrorPermission::Less);
            self.sync_place(&mut register, place.clone(), licence, &mut report);
        }
        ForgetRemoval { register: Some(register), places, had, report }
    }
}

/// Result of the removal, with the register still locked.
struct ForgetRemoval {
    /// None if it is locked by another process, or cannot be read.
    register: Option<MirrorRegister>,
    places: Vec<MirrorPlace>,
    /// Files that had the words before.
    had: Vec<PathBuf>,
    report: MirrorReport,
}

impl ForgetRemoval {
    /// The files that still have the words. Files that git has published count as such; one with
    /// the expected content has only words of other notes, unless something failed.
    fn files_left(&self, traces: &NoteTraces) -> Vec<PathBuf> {
        let Some(register) = &self.register else { return files_with_traces(&self.places, traces) };
        let is_published = |path: &&PathBuf| self.report.published.contains(path);
        let published = self.had.iter().filter(is_published).cloned();
        let mut left: Vec<PathBuf> = published.collect();
        for place in &self.places {
            let place = register.merge_known(place.clone());
            let mut faults = self.report.faults.iter();
            let is_faulty = faults.any(|fault| fault.dir.starts_with(&place.dir));
            for path in scan::candidate_files(&place) {
                let Some(file) = read(&path) else { continue };
                let name = path.strip_prefix(&place.dir).ok().and_then(|it| it.to_str());
                let known = name.and_then(|name| place.files.get(name));
                let is_ours = known.is_some_and(|known| known.contains(&Sha256Digest::of(&file)));
                let is_done = name == Some(INDEX) && !is_faulty;
                let file =
                    if is_done { OwnIndexLines::of(&place).without_ours(&file) } else { file };
                if (is_faulty || !is_ours) && traces.are_in(&file) {
                    left.push(path);
                }
            }
        }
        left
    }
}

/// Files of ours, or with our names, that have the words.
fn files_with_traces(places: &[MirrorPlace], traces: &NoteTraces) -> Vec<PathBuf> {
    let files = places.iter().flat_map(scan::candidate_files);
    files.filter(|path| read(path).is_some_and(|file| traces.are_in(&file))).collect()
}

fn read(path: &Path) -> Option<Vec<u8>> {
    fsx::read_start(path, LARGEST).ok()
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
