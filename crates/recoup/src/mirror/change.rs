//! Changes a place: compares the list of what we wrote with what is there, and with what is wanted.
//!
//! | there | wanted | then |
//! |---|---|---|
//! | nothing | yes | it is written |
//! | bytes on the list | other bytes, or none | it is replaced, or removed |
//! | the wanted bytes | yes | it stays, and is on the list |
//! | anything else | any | it is somebody's: it is left and reported |
//!
//! Everything is on the list before it is written, so that an interrupted process leaves nothing
//! unknown. A failed write does not stop removals.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};

use super::find::{adopt_unlisted, candidate_files};
use super::list::{MirrorList, MirrorPlace, PlaceKind};
use super::report::{LeftFile, LeftReason, MirrorAction, MirrorChange, MirrorFault, MirrorReport};
use super::wanted::{IGNORED_BY, SKILL};
use super::{INDEX, LARGEST_FILE, splice_index, update_exclude_file};

/// A wanted file, and its line in the index if it has one.
#[derive(Debug)]
pub(super) struct MirrorFile {
    /// Relative to the place's directory.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
    pub(super) line: Option<String>,
}

/// A list that is open, and the report of what is done with it.
pub(super) struct MirrorRun {
    pub(super) list: MirrorList,
    pub(super) report: MirrorReport,
    /// If true, changes are only reported.
    dry: bool,
}

impl MirrorRun {
    pub(super) fn start(home: &Path, dry: bool) -> Result<Self> {
        Ok(Self { list: MirrorList::open(home, dry)?, report: MirrorReport::default(), dry })
    }

    /// Brings a place to its wanted state. An error is reported and does not stop other places.
    pub(super) fn update_place(
        &mut self,
        mut place: MirrorPlace,
        wanted: impl FnOnce(&MirrorPlace, &mut MirrorReport) -> Result<Vec<MirrorFile>>,
    ) {
        let dir = place.dir.clone();
        adopt_unlisted(&mut place);
        let files = wanted(&place, &mut self.report);
        let updated = files.and_then(|files| self.reconcile_place(place, &files));
        self.report.faults.extend(updated.err().map(|error| MirrorFault::new(dir, &error)));
    }

    fn reconcile_place(&mut self, mut place: MirrorPlace, wanted: &[MirrorFile]) -> Result<()> {
        let Self { list, report, .. } = self;
        let mut plan = PlacePlan::new(&place, wanted, list, report)?;
        if self.dry {
            report.changes.extend(plan.changes.iter().filter_map(PlaceChange::to_report));
            return Ok(());
        }
        sweep_temporaries(&place);
        plan.list_intent(&mut place);
        list.record(&place)?;
        for change in &plan.changes {
            // A new file that is not hidden from git would be published.
            if plan.is_blocked && change.is_new_file() {
                continue;
            }
            match change.apply() {
                Ok(()) => report.changes.extend(change.to_report()),
                Err(error) => {
                    plan.is_blocked |= change.name.is_none();
                    report.faults.push(MirrorFault::new(change.path.clone(), &error));
                }
            }
        }
        plan.list_result(&mut place)?;
        list.record(&place)
    }
}

/// Removes temporary files of interrupted writes. Directories with files of ours are ours to write
/// to; in others `recoup init` may be writing, under another lock.
fn sweep_temporaries(place: &MirrorPlace) {
    let dir_of = |path: PathBuf| fsx::parent(&path).to_owned();
    let own: BTreeSet<_> = place.files.keys().map(|name| dir_of(place.dir.join(name))).collect();
    for left in own.iter().flat_map(|dir| fsx::temporaries_in(dir)) {
        // A leftover does no harm.
        let _ = fsx::remove(&left);
    }
    let others: BTreeSet<_> = place.spliced.keys().cloned().map(dir_of).collect();
    others.difference(&own).for_each(|dir| fsx::sweep_temporaries(dir));
}

/// The file of others that has lines of ours: the index, or git's exclude file.
fn shared_file(place: &MirrorPlace) -> Option<PathBuf> {
    match place.sort {
        PlaceKind::Rules => Some(place.dir.join(INDEX)),
        PlaceKind::Skills => place.exclude_file(),
    }
}

/// Planned changes to a place, in the order in which they are made.
struct PlacePlan {
    changes: Vec<PlaceChange>,
    /// Digests of our lines in the index.
    lines: Vec<Sha256Digest>,
    /// Files of ours remain, if only such that someone has changed.
    has_files: bool,
    /// The shared file cannot be changed, so no new files are written.
    is_blocked: bool,
}

impl PlacePlan {
    /// Compares, and reports what is left or missing.
    fn new(
        place: &MirrorPlace,
        wanted: &[MirrorFile],
        list: &MirrorList,
        report: &mut MirrorReport,
    ) -> Result<Self> {
        let found = find_files(place, wanted)?;
        let (mut changes, mut removals, mut is_kept) = (Vec::new(), Vec::new(), false);
        let is_there = place.root.as_ref().is_none_or(|root| root.is_dir());
        let is_one_skill =
            |a: &FoundFile<'_>, b: &FoundFile<'_>| a.folder().is_some() && a.folder() == b.folder();
        for group in found.chunk_by(is_one_skill) {
            // A skill whose text someone has changed, or whose new folder has other files, is left
            // whole; otherwise each file counts for itself.
            let text = group.iter().find(|file| file.name.ends_with(SKILL));
            let has_theirs = group.iter().any(|file| file.is_theirs);
            let is_left = text.is_some_and(|text| text.is_theirs);
            let is_taken = has_theirs && text.is_some_and(|text| text.bytes.is_none());
            for file in group {
                let path = place.dir.join(file.name);
                let is_listed = place.files.contains_key(file.name);
                let (name, before) = (Some(file.name.to_owned()), file.bytes.clone());
                let change = |after| PlaceChange { name, path: path.clone(), before, after };
                // A `.gitignore` stays while someone else's file is beside it.
                let hides_theirs = has_theirs && file.name.ends_with(IGNORED_BY);
                match file.wanted {
                    _ if file.is_theirs || is_left => {}
                    Some(wanted) if !is_taken => changes.push(change(Some(wanted.text.clone()))),
                    None if file.bytes.is_some() && !hides_theirs => removals.push(change(None)),
                    _ => {}
                }
                if file.is_theirs {
                    is_kept |= is_listed;
                    let why = if is_listed { LeftReason::Changed } else { LeftReason::NotOurs };
                    report.left.push(LeftFile { path, why });
                } else if file.bytes.is_none() && is_listed && is_there {
                    report.missed.push(path);
                }
            }
        }
        let lines: Vec<String> = wanted.iter().filter_map(|file| file.line.clone()).collect();
        let has_files = !changes.is_empty() || is_kept;
        let shared = plan_shared(place, &lines, has_files, &removals, list, report);
        let is_blocked = shared.is_err();
        // A file that is not in the index is not read; one that is not hidden is published.
        changes.retain(|change| !is_blocked || !change.is_new_file());
        let has_files = !changes.is_empty() || is_kept;
        // The index is changed once the files are there; the exclude file before they are written,
        // or after they are removed.
        let at = match (place.sort, has_files) {
            (PlaceKind::Rules, _) => changes.len(),
            (PlaceKind::Skills, true) => 0,
            (PlaceKind::Skills, false) => changes.len() + removals.len(),
        };
        changes.extend(removals);
        changes.splice(at..at, shared.ok().flatten());
        let lines = lines.iter().map(|line| Sha256Digest::of(line.as_bytes())).collect();
        Ok(Self { changes, lines, has_files, is_blocked })
    }

    /// Files that are there as wanted, or are written: name and content.
    fn wanted_files(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        self.changes.iter().filter_map(|change| change.name.as_ref().zip(change.after.as_ref()))
    }

    /// Lists files, lines and directories before they are written.
    fn list_intent(&self, place: &mut MirrorPlace) {
        for (name, text) in self.wanted_files() {
            if !place.has_written(name, text) {
                place.files.entry(name.clone()).or_default().push(Sha256Digest::of(text));
            }
        }
        for change in self.changes.iter().filter(|change| change.is_new_file()) {
            let dirs = fsx::parent(&change.path).ancestors().take_while(|dir| !dir.exists());
            let mut new: Vec<PathBuf> = dirs.map(Path::to_owned).collect();
            new.retain(|dir| !place.made.contains(dir));
            place.made.extend(new.into_iter().rev());
        }
        let new = self.lines.iter().filter(|line| !place.lines.contains(line));
        let new: Vec<Sha256Digest> = new.copied().collect();
        place.lines.extend(new);
        // Another worktree may have added the lines to the exclude file already: both need them.
        let splice = self.changes.iter().find(|change| change.name.is_none());
        if let Some(shared) = shared_file(place).filter(|_| self.has_files || splice.is_some()) {
            let is_new = splice.is_some_and(|change| change.before.is_none());
            place.spliced.entry(shared).or_insert(is_new);
        }
    }

    /// Lists what is there now, and removes empty directories that we made.
    fn list_result(self, place: &mut MirrorPlace) -> Result<()> {
        let dir = place.dir.clone();
        place.files.retain(|name, _| dir.join(name).symlink_metadata().is_ok());
        for (name, text) in self.wanted_files() {
            let now = fsx::read_regular(&dir.join(name), LARGEST_FILE).ok().flatten();
            if now.as_ref() == Some(text) {
                place.files.insert(name.clone(), vec![Sha256Digest::of(text)]);
            }
        }
        if !self.is_blocked {
            place.lines = self.lines;
            place.spliced.retain(|_, _| self.has_files);
        }
        let mut made = Vec::new();
        for path in place.made.iter().rev() {
            let is_used = place.files.keys().any(|name| dir.join(name).starts_with(path));
            if !fsx::remove_empty_dir(path)? && is_used {
                made.insert(0, path.clone());
            }
        }
        place.made = made;
        Ok(())
    }
}

/// Plans the change to the shared file, if there is one. An error is reported.
fn plan_shared(
    place: &MirrorPlace,
    lines: &[String],
    has_files: bool,
    removals: &[PlaceChange],
    list: &MirrorList,
    report: &mut MirrorReport,
) -> Result<Option<PlaceChange>, ()> {
    let Some(path) = shared_file(place) else { return Ok(None) };
    if place.sort == PlaceKind::Skills && !has_files {
        // Folders of others with our prefix stay hidden, if they are.
        let is_gone = |file: &PathBuf| removals.iter().any(|change| change.path == *file);
        if list.is_shared(place, &path) || !candidate_files(place).iter().all(is_gone) {
            return Ok(None);
        }
    }
    let mut has_changed_lines = false;
    let change = PlaceChange::splice(place, path.clone(), |file| match place.sort {
        PlaceKind::Rules => {
            let made = splice_index(file, lines, |line| place.has_line(line));
            has_changed_lines = !made.changed.is_empty();
            made.bytes
        }
        PlaceKind::Skills => update_exclude_file(file, has_files),
    });
    if has_changed_lines {
        report.left.push(LeftFile { path: path.clone(), why: LeftReason::Lines });
    }
    change.map_err(|error| report.faults.push(MirrorFault::new(path, &error)))
}

/// A path where a file of ours is or belongs.
struct FoundFile<'a> {
    name: &'a str,
    wanted: Option<&'a MirrorFile>,
    /// Content, if there is a file that may be ours.
    bytes: Option<Vec<u8>>,
    /// Somebody else's content is there.
    is_theirs: bool,
}

impl FoundFile<'_> {
    /// Folder of a skill's file.
    fn folder(&self) -> Option<&str> {
        self.name.split_once('/').map(|(folder, _)| folder)
    }
}

/// All files that are listed or wanted, by name. A link in place of a directory is an error: we do
/// not follow links that others made.
fn find_files<'a>(place: &'a MirrorPlace, wanted: &'a [MirrorFile]) -> Result<Vec<FoundFile<'a>>> {
    let names = place.files.keys().chain(wanted.iter().map(|file| &file.name));
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let find = |name| {
        let path = place.dir.join(name);
        let wanted = wanted.iter().find(|file| file.name == name);
        let (bytes, is_there) = match fsx::open_regular(&path)? {
            FileLookup::Nothing => (None, false),
            FileLookup::Regular(file) if file.size() <= LARGEST_FILE => {
                (Some(file.read().with_context(|| format!("reading {}", path.display()))?), true)
            }
            _ => (None, true),
        };
        let is_ours = bytes.as_ref().is_some_and(|bytes| {
            wanted.is_some_and(|file| file.text == *bytes) || place.has_written(name, bytes)
        });
        Ok(FoundFile { name, wanted, bytes, is_theirs: is_there && !is_ours })
    };
    // The user's own `~/.claude` may be a link.
    let is_below = place.sort == PlaceKind::Rules || place.project.is_some();
    let parent = is_below.then(|| fsx::parent(&place.dir).to_owned());
    let folders = names.iter().filter_map(|name| Some(place.dir.join(name.split_once('/')?.0)));
    for dir in parent.into_iter().chain([place.dir.clone()]).chain(folders) {
        fsx::is_real_dir(&dir)?;
    }
    names.into_iter().map(find).collect()
}

/// A change to a file. Nothing is done if it has the wanted content already.
struct PlaceChange {
    /// Name in the place; none for a file of others that has lines of ours, and keeps its mode.
    name: Option<String>,
    path: PathBuf,
    before: Option<Vec<u8>>,
    /// None if the file is removed.
    after: Option<Vec<u8>>,
}

impl PlaceChange {
    /// Changes our lines in a file; none if its content stays the same. A file that we created is
    /// removed once it is empty.
    fn splice(
        place: &MirrorPlace,
        path: PathBuf,
        change: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<Option<Self>> {
        fsx::is_real_dir(fsx::parent(&path))?;
        if path.is_symlink() {
            let message =
                format!("{} is a symbolic link: recoup does not write through it", path.display());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let before = fsx::read_regular(&path, LARGEST_FILE)?;
        let after = change(before.as_deref().unwrap_or_default());
        let is_same = before.as_deref().unwrap_or_default() == after;
        let is_removed = after.is_empty() && place.spliced.get(&path) == Some(&true);
        let after = (!is_removed).then_some(after);
        Ok((!is_same).then_some(Self { name: None, path, before, after }))
    }

    fn is_new_file(&self) -> bool {
        self.name.is_some() && self.before.is_none()
    }

    fn to_report(&self) -> Option<MirrorChange> {
        let did = if self.after.is_some() { MirrorAction::Written } else { MirrorAction::Removed };
        (self.before != self.after).then(|| MirrorChange { path: self.path.clone(), did })
    }

    /// Writes or removes the file, unless it has changed since it was read: then an error asks to
    /// try again.
    fn apply(&self) -> Result<()> {
        let path = &self.path;
        if self.before == self.after {
            return Ok(());
        }
        if fsx::read_regular(path, LARGEST_FILE)? != self.before {
            let message =
                format!("{} was changed by another program just now; try again", path.display());
            return Err(Error::new(ErrorKind::Locked, message));
        }
        let Some(after) = &self.after else { return fsx::remove(path).map(drop) };
        fsx::ensure_dir(fsx::parent(path))?;
        if self.name.is_none() {
            fsx::write_output(path, after)
        } else {
            fsx::write_unsynced(path, after)
        }
    }
}
