//! Removes notes from files before they are deleted from memory: after an interruption the note
//! still exists, and the command can be repeated.

use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::memory::mirror::{INDEX, Traces};
use recoup_core::memory::{Note, NoteScope};

use super::known::Lines;
use super::register::{self, Place, Register};
use super::report::{Fault, Report};
use super::{Licence, Mirror, scan};

/// Upper limit for reading a file.
const LARGEST: u64 = 16 << 20;

impl Mirror<'_> {
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
        let traces = Traces::of(notes);
        let found = self.found_by_looking(&scopes, &traces);
        if found.is_empty() && !Register::is_at(self.ground.home) {
            return Ok((delete()?, Vec::new()));
        }
        // If this is interrupted, the next sync checks all places.
        let due = register::make_due(self.ground.home);
        let out = self.take_out(found, &scopes, &traces);
        let deleted = delete()?;
        let mut left = out.left(&traces);
        left.sort();
        left.dedup();
        if due.is_ok() && out.report.faults.is_empty() {
            // If this fails, the next sync checks all places, and finds nothing.
            let _ = register::clear_due(self.ground.home);
        }
        Ok((deleted, left))
    }

    fn take_out(&self, found: Vec<Place>, scopes: &[NoteScope], traces: &Traces) -> TakenOut {
        let (mut report, home) = (Report::default(), self.ground.home);
        let mut register = match self.register() {
            Ok(register) => register,
            Err(error) => {
                report.faults.push(Fault::new(register::path(home), &error));
                let known = Register::peek(home).into_iter().chain(found);
                let places = known.filter(|it| register::concerns(it, scopes)).collect();
                return TakenOut { register: None, places, had: Vec::new(), report };
            }
        };
        register.add(found);
        let places = register.concerned(scopes);
        let had = having(&places, traces);
        for place in &places {
            let licence = self.licence(place).unwrap_or(Licence::Less);
            self.bring(&mut register, place.clone(), licence, &mut report);
        }
        TakenOut { register: Some(register), places, had, report }
    }

    /// Places with these words that may not be registered: the project's own and, without a
    /// register, all.
    fn found_by_looking(&self, scopes: &[NoteScope], traces: &Traces) -> Vec<Place> {
        let own = self.places().into_iter().filter(|place| scan::has_ours(&place.dir));
        let mut found: Vec<Place> = own.collect();
        if !Register::is_at(self.ground.home) {
            found.extend(scan::places(self.ground));
        }
        let has_any = |place: &Place| !having(std::slice::from_ref(place), traces).is_empty();
        found.retain(|place| register::concerns(place, scopes) && has_any(place));
        found
    }
}

/// Result of the removal, with the register still locked.
struct TakenOut {
    /// None if it is locked by another process, or cannot be read.
    register: Option<Register>,
    places: Vec<Place>,
    /// Files that had the words before.
    had: Vec<PathBuf>,
    report: Report,
}

impl TakenOut {
    /// The files that still have the words. Files that git has published count as such.
    fn left(&self, traces: &Traces) -> Vec<PathBuf> {
        let Some(register) = &self.register else { return having(&self.places, traces) };
        let is_published = |path: &&PathBuf| self.report.published.contains(path);
        let published = self.had.iter().filter(is_published).cloned();
        published.chain(still(register, &self.places, &self.report, traces)).collect()
    }
}

/// Files of ours, or with our names, that have the words.
fn having(places: &[Place], traces: &Traces) -> Vec<PathBuf> {
    let files = places.iter().flat_map(scan::files);
    files.filter(|path| read(path).is_some_and(|file| traces.are_in(&file))).collect()
}

/// Files that have the words after the removal. A file with the expected content has only words of
/// other notes, unless something failed.
fn still(register: &Register, places: &[Place], report: &Report, traces: &Traces) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for place in places {
        let place = register.as_known(place.clone());
        let is_faulty = report.faults.iter().any(|fault| fault.dir.starts_with(&place.dir));
        for path in scan::files(&place) {
            let Some(file) = read(&path) else { continue };
            let name = path.strip_prefix(&place.dir).ok().and_then(|it| it.to_str());
            let known = name.and_then(|name| place.files.get(name));
            let is_ours = known.is_some_and(|known| known.contains(&Digest::of(&file)));
            let is_done = name == Some(INDEX) && !is_faulty;
            let file = if is_done { Lines::of(&place).rest_of(&file) } else { file };
            if (is_faulty || !is_ours) && traces.are_in(&file) {
                left.push(path);
            }
        }
    }
    left
}

fn read(path: &Path) -> Option<Vec<u8>> {
    fsx::read_start(path, LARGEST).ok()
}
