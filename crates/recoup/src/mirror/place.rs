//! Changes one place from its current to its wanted state.
//!
//! The register records every file before it is written, so that files of an interrupted process
//! are known as ours. A failed write does not stop removals.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;

use super::plan::Plan;
use super::register::{Place, Register};
use super::report::{Change, Did, Fault, Part, Report};
use super::splice::Splice;

/// A wanted file, and its line in the index if it has one.
#[derive(Debug)]
pub(super) struct File {
    /// Relative to the place's directory.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
    pub(super) line: Option<String>,
}

impl File {
    pub(super) fn digest(&self) -> Digest {
        Digest::of(&self.text)
    }
}

/// Brings a place to its wanted state, or only reports the changes.
pub(super) fn settle(
    place: Place,
    wanted: &[File],
    register: &mut Register,
    dry: bool,
    report: &mut Report,
) -> Result<()> {
    let mut plan = Plan::of(&place, wanted, register)?;
    report.left.append(&mut plan.left);
    report.missed.append(&mut plan.missed);
    report.faults.append(&mut plan.faults);
    if dry {
        report.changes.extend(plan.changes(&place));
        return Ok(());
    }
    sweep(&place);
    Settling { plan, place, register, report, unwritten: BTreeSet::new() }.carry_out()
}

/// A plan for a place while it is carried out.
struct Settling<'a> {
    plan: Plan<'a>,
    place: Place,
    register: &'a mut Register,
    report: &'a mut Report,
    /// Files that could not be written.
    unwritten: BTreeSet<String>,
}

impl Settling<'_> {
    fn carry_out(mut self) -> Result<()> {
        self.plan.put_down(&mut self.place);
        self.register.put(&self.place)?;
        let (hiding, index) = (self.plan.hiding.take(), self.plan.index.take());
        let has_files = self.plan.has_files();
        // The exclude file is changed before files are written, or after they are removed.
        let is_hidden = !has_files || self.splice(hiding.as_ref());
        self.write_all(is_hidden);
        let is_indexed = self.splice(index.as_ref());
        self.remove_all();
        if !has_files {
            self.splice(hiding.as_ref());
        }
        self.plan.tidy(&mut self.place, &self.unwritten, is_indexed)?;
        self.register.put(&self.place)
    }

    /// Writes all files; new ones only if they are hidden from git.
    fn write_all(&mut self, is_hidden: bool) {
        for file in self.plan.write.clone() {
            let path = self.place.dir.join(&file.name);
            let written = if is_hidden || path.exists() { self.write(&path, file) } else { Ok(()) };
            match written {
                Ok(()) if path.exists() => self.tell(&file.name, Did::Written),
                Ok(()) => drop(self.unwritten.insert(file.name.clone())),
                Err(error) => {
                    self.unwritten.insert(file.name.clone());
                    self.report.faults.push(Fault::new(path, &error));
                }
            }
        }
    }

    fn write(&mut self, path: &Path, file: &File) -> Result<()> {
        make_dir(&mut self.place, fsx::parent(path), self.register)?;
        fsx::write_whole(path, &file.text)
    }

    fn remove_all(&mut self) {
        for name in self.plan.gone.clone() {
            let path = self.place.dir.join(&name);
            match fsx::remove(&path) {
                Ok(_) => self.tell(&name, Did::Removed),
                Err(error) => self.report.faults.push(Fault::new(path, &error)),
            }
        }
    }

    /// Applies a splice, if there is one; true unless it failed.
    fn splice(&mut self, splice: Option<&Splice>) -> bool {
        let Some(splice) = splice else { return true };
        let applied = splice.apply(&self.place);
        match &applied {
            Ok(()) => self.report.changes.push(splice.change(&self.place)),
            Err(error) => self.report.faults.push(Fault::new(splice.path.clone(), error)),
        }
        applied.is_ok()
    }

    fn tell(&mut self, name: &str, did: Did) {
        let (path, of) = (self.place.dir.join(name), Part::of(self.place.sort, name));
        self.report.changes.push(Change { path, did, of });
    }
}

/// Removes temporary files of interrupted writes. Directories with files of ours are ours to write
/// to; in others `recoup init` may be writing, under another lock.
fn sweep(place: &Place) {
    let dir_of = |path: PathBuf| fsx::parent(&path).to_owned();
    let own: BTreeSet<_> = place.files.keys().map(|name| dir_of(place.dir.join(name))).collect();
    for left in own.iter().flat_map(|dir| fsx::temporaries_in(dir)) {
        // A leftover does no harm.
        let _ = fsx::remove(&left);
    }
    let others: BTreeSet<_> = place.spliced.keys().cloned().map(dir_of).collect();
    others.difference(&own).for_each(|dir| fsx::sweep_temporaries(dir));
}

/// Creates a directory, which is registered before it exists.
fn make_dir(place: &mut Place, dir: &Path, register: &mut Register) -> Result<()> {
    let missing: Vec<PathBuf> =
        dir.ancestors().take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let known = place.made.clone();
    place.made.extend(missing.into_iter().rev().filter(|dir| !known.contains(dir)));
    register.put(place)?;
    fsx::ensure_dir(dir)
}
