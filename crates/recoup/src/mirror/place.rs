//! Changes one place from its current to its wanted state.
//!
//! The register records every file before it is written, so that files of an interrupted process
//! are known as ours. A failed write does not stop removals.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;

use super::plan::MirrorPlan;
use super::register::{MirrorPlace, MirrorRegister};
use super::report::{MirrorAction, MirrorChange, MirrorFault, MirrorPart, MirrorReport};
use super::splice::FileSplice;

/// A wanted file, and its line in the index if it has one.
#[derive(Debug)]
pub(super) struct MirrorFile {
    /// Relative to the place's directory.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
    pub(super) line: Option<String>,
}

impl MirrorFile {
    pub(super) fn digest(&self) -> Sha256Digest {
        Sha256Digest::of(&self.text)
    }
}

/// Brings a place to its wanted state, or only reports the changes.
pub(super) fn reconcile_place(
    place: MirrorPlace,
    wanted: &[MirrorFile],
    register: &mut MirrorRegister,
    dry: bool,
    report: &mut MirrorReport,
) -> Result<()> {
    let mut plan = MirrorPlan::of(&place, wanted, register)?;
    report.left.append(&mut plan.left);
    report.missed.append(&mut plan.missed);
    report.faults.append(&mut plan.faults);
    if dry {
        report.changes.extend(plan.changes(&place));
        return Ok(());
    }
    // Removes temporary files of interrupted writes. Directories with files of ours are ours to
    // write to; in others `recoup init` may be writing, under another lock.
    let dir_of = |path: PathBuf| fsx::parent(&path).to_owned();
    let own: BTreeSet<_> = place.files.keys().map(|name| dir_of(place.dir.join(name))).collect();
    for left in own.iter().flat_map(|dir| fsx::temporaries_in(dir)) {
        // A leftover does no harm.
        let _ = fsx::remove(&left);
    }
    let others: BTreeSet<_> = place.spliced.keys().cloned().map(dir_of).collect();
    others.difference(&own).for_each(|dir| fsx::sweep_temporaries(dir));
    PlaceReconciler { plan, place, register, report, unwritten: BTreeSet::new() }.carry_out()
}

/// A plan for a place while it is carried out.
struct PlaceReconciler<'a> {
    plan: MirrorPlan<'a>,
    place: MirrorPlace,
    register: &'a mut MirrorRegister,
    report: &'a mut MirrorReport,
    /// Files that could not be written.
    unwritten: BTreeSet<String>,
}

impl PlaceReconciler<'_> {
    fn carry_out(mut self) -> Result<()> {
        self.plan.record_intent(&mut self.place);
        self.register.record(&self.place)?;
        let (hiding, index) = (self.plan.hiding.take(), self.plan.index.take());
        let has_files = self.plan.has_files();
        // The exclude file is changed before files are written, or after they are removed;
        // new files are written only if they are hidden from git.
        let is_hidden = !has_files || self.apply_splice(hiding.as_ref());
        for file in self.plan.write.clone() {
            let path = self.place.dir.join(&file.name);
            let written = if is_hidden || path.exists() { self.write(&path, file) } else { Ok(()) };
            match written {
                Ok(()) if path.exists() => self.report_change(&file.name, MirrorAction::Written),
                Ok(()) => drop(self.unwritten.insert(file.name.clone())),
                Err(error) => {
                    self.unwritten.insert(file.name.clone());
                    self.report.faults.push(MirrorFault::new(path, &error));
                }
            }
        }
        let is_indexed = self.apply_splice(index.as_ref());
        for name in self.plan.gone.clone() {
            let path = self.place.dir.join(&name);
            match fsx::remove(&path) {
                Ok(_) => self.report_change(&name, MirrorAction::Removed),
                Err(error) => self.report.faults.push(MirrorFault::new(path, &error)),
            }
        }
        if !has_files {
            self.apply_splice(hiding.as_ref());
        }
        self.plan.record_result(&mut self.place, &self.unwritten, is_indexed)?;
        self.register.record(&self.place)
    }

    /// Writes a file. A new directory is registered before it exists.
    fn write(&mut self, path: &Path, file: &MirrorFile) -> Result<()> {
        let dir = fsx::parent(path);
        let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
        if !missing.is_empty() {
            for dir in missing.into_iter().rev() {
                if !self.place.made.iter().any(|made| made == dir) {
                    self.place.made.push(dir.to_owned());
                }
            }
            self.register.record(&self.place)?;
            fsx::ensure_dir(dir)?;
        }
        fsx::write_unsynced(path, &file.text)
    }

    /// Applies a splice, if there is one; true unless it failed.
    fn apply_splice(&mut self, splice: Option<&FileSplice>) -> bool {
        let Some(splice) = splice else { return true };
        let applied = splice.apply(&self.place);
        match &applied {
            Ok(()) => self.report.changes.push(splice.to_change(&self.place)),
            Err(error) => self.report.faults.push(MirrorFault::new(splice.path.clone(), error)),
        }
        applied.is_ok()
    }

    fn report_change(&mut self, name: &str, did: MirrorAction) {
        let (path, of) = (self.place.dir.join(name), MirrorPart::of(self.place.sort, name));
        self.report.changes.push(MirrorChange { path, did, of });
    }
}
