//! One place, brought from what is there to what is wanted.
//!
//! What belongs together (a skill) is changed together or not at all. The register knows
//! of every byte before it is written, so that whoever dies in between leaves nothing
//! behind that is not known as ours.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::memory::mirror::{INDEX, spliced};

use super::exclude;
use super::look::{There, group, look};
use super::register::{Place, Register, Sort};
use super::report::{Change, Did, Part, Report};
use super::splice::Splice;

/// What a place is to have.
#[derive(Debug)]
pub(super) enum Wanted {
    /// These files, and no others of ours.
    Files(Vec<File>),
    /// Whatever it has.
    AsItIs,
}

/// A file, and its line in the index where there is one.
#[derive(Debug)]
pub(super) struct File {
    /// From the place's directory.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
    pub(super) line: Option<String>,
}

impl File {
    pub(super) fn digest(&self) -> Digest {
        Digest::of(&self.text)
    }
}

/// Brings a place in step.
pub(super) fn settle(
    mut place: Place,
    wanted: &[File],
    register: &mut Register,
    dry: bool,
    report: &mut Report,
) -> Result<()> {
    let plan = Plan::of(&place, wanted, register)?;
    plan.tell(&place, report);
    if dry {
        return Ok(());
    }
    plan.put_down(&mut place, register)?;
    plan.carry_out(&mut place, register)?;
    plan.tidy(&mut place)?;
    register.put(&place)
}

/// What is to be done in a place.
struct Plan<'a> {
    /// What is to be there and may be.
    due: Vec<&'a File>,
    write: Vec<&'a File>,
    gone: Vec<String>,
    /// Files that somebody has changed.
    left: Vec<String>,
    index: Option<Splice>,
    hiding: Option<Splice>,
}

impl<'a> Plan<'a> {
    fn of(place: &Place, wanted: &'a [File], register: &Register) -> Result<Self> {
        let found = look(place, wanted)?;
        let of = |which: There| found.iter().filter(move |(_, it)| **it == which);
        let left: Vec<String> = of(There::Strange).map(|(name, _)| name.clone()).collect();
        let strange: BTreeSet<&str> = left.iter().map(|name| group(name)).collect();
        let may = |name: &str| !strange.contains(group(name));
        let due: Vec<&File> = wanted.iter().filter(|file| may(&file.name)).collect();
        let is_wanted = |name: &String| wanted.iter().any(|file| file.name == *name);
        let gone = of(There::Ours).map(|(name, _)| name).filter(|it| may(it) && !is_wanted(it));
        Ok(Self {
            write: due.iter().filter(|it| found[&it.name] != There::Same).copied().collect(),
            gone: gone.cloned().collect(),
            index: index(place, wanted)?,
            hiding: exclude::wanted(place, !wanted.is_empty() || !left.is_empty(), register)?,
            due,
            left,
        })
    }

    fn splices(&self) -> impl Iterator<Item = &Splice> {
        [&self.hiding, &self.index].into_iter().flatten()
    }

    fn has_files(&self) -> bool {
        !self.due.is_empty() || !self.left.is_empty()
    }

    fn tell(&self, place: &Place, report: &mut Report) {
        report.left.extend(self.left.iter().map(|name| place.dir.join(name)));
        let change = |name: &str, did| {
            let (path, of) = (place.dir.join(name), Part::of(place.sort, name));
            Change { path, did, of }
        };
        report.changes.extend(self.write.iter().map(|file| change(&file.name, Did::Written)));
        report.changes.extend(self.gone.iter().map(|name| change(name, Did::Removed)));
        report.changes.extend(self.splices().map(|splice| {
            let did = if splice.removes(place) { Did::Removed } else { Did::Written };
            Change { path: splice.path.clone(), did, of: Part::Around }
        }));
    }

    fn put_down(&self, place: &mut Place, register: &mut Register) -> Result<()> {
        for file in &self.due {
            let known = place.files.entry(file.name.clone()).or_default();
            if !known.contains(&file.digest()) {
                known.push(file.digest());
            }
        }
        for splice in self.splices() {
            place.spliced.entry(splice.path.clone()).or_insert_with(|| splice.makes());
        }
        // Another worktree may have told git already: both need it then.
        if let Some(hidden_by) = exclude::file_for(place).filter(|_| self.has_files()) {
            place.spliced.entry(hidden_by).or_insert(false);
        }
        register.put(place)
    }

    /// What hides the others comes first, and goes last.
    fn carry_out(&self, place: &mut Place, register: &mut Register) -> Result<()> {
        if self.has_files() {
            self.hiding.iter().try_for_each(|splice| splice.apply(place))?;
        }
        for file in &self.write {
            let path = place.dir.join(&file.name);
            make_dir(place, fsx::parent(&path), register)?;
            fsx::write_whole(&path, &file.text)?;
        }
        self.index.iter().try_for_each(|splice| splice.apply(place))?;
        for name in &self.gone {
            fsx::remove(&place.dir.join(name))?;
        }
        if !self.has_files() {
            self.hiding.iter().try_for_each(|splice| splice.apply(place))?;
        }
        Ok(())
    }

    /// Only what is there stays known; directories that we made go when nothing is in them.
    fn tidy(&self, place: &mut Place) -> Result<()> {
        let dir = place.dir.clone();
        place.files.retain(|name, _| dir.join(name).symlink_metadata().is_ok());
        for file in &self.due {
            place.files.insert(file.name.clone(), vec![file.digest()]);
        }
        if !self.has_files() {
            place.spliced.clear();
        }
        let (mut made, names) = (Vec::new(), &place.files);
        for it in place.made.iter().rev() {
            let is_used = names.keys().any(|name| dir.join(name).starts_with(it));
            if !fsx::remove_empty_dir(it)? && is_used {
                made.insert(0, it.clone());
            }
        }
        place.made = made;
        Ok(())
    }
}

fn index(place: &Place, wanted: &[File]) -> Result<Option<Splice>> {
    if place.sort == Sort::Skills {
        return Ok(None);
    }
    let lines: Vec<String> = wanted.iter().filter_map(|file| file.line.clone()).collect();
    Splice::of(place.dir.join(INDEX), |index| Ok(spliced(index, &lines)?.bytes))
}

/// The register knows what we make before it is there.
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
