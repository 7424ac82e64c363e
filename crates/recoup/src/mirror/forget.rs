//! Out of the files before it is out of memory: whoever is stopped in between still has the
//! note, and can say it again.

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

/// Whoever writes a larger one writes something else.
const LARGEST: u64 = 16 << 20;

impl Mirror<'_> {
    /// Takes notes out of everything that was made of them, then lets `delete` do the rest,
    /// while nobody can write them anew. Says which files still have their words. What goes
    /// wrong with the files never keeps the notes.
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
        // Whatever happens now, the next sync looks everywhere.
        let due = register::make_due(self.ground.home);
        let out = self.take_out(found, &scopes, &traces);
        let deleted = delete()?;
        let mut left = out.left(&traces);
        left.sort();
        left.dedup();
        if due.is_ok() && out.report.faults.is_empty() {
            // Where it stays, the next sync looks everywhere, and finds nothing.
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

    /// Places with these words that the register may not know: the project's own and, where
    /// there is no register, all.
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

/// What was done, and is still held.
struct TakenOut {
    /// None where somebody else has it, or it can't be read.
    register: Option<Register>,
    places: Vec<Place>,
    /// Files that had the words.
    had: Vec<PathBuf>,
    report: Report,
}

impl TakenOut {
    /// The files that have them now. What git has published, it has for ever.
    fn left(&self, traces: &Traces) -> Vec<PathBuf> {
        let Some(register) = &self.register else { return having(&self.places, traces) };
        let is_published = |path: &&PathBuf| self.report.published.contains(path);
        let published = self.had.iter().filter(is_published).cloned();
        published.chain(still(register, &self.places, &self.report, traces)).collect()
    }
}

/// The files of ours, or by our names, that have the words.
fn having(places: &[Place], traces: &Traces) -> Vec<PathBuf> {
    let files = places.iter().flat_map(scan::files);
    files.filter(|path| read(path).is_some_and(|file| traces.are_in(&file))).collect()
}

/// The same afterwards. What is as we want it has only the words of other notes, unless
/// something went wrong.
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
