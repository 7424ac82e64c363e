//! Plans the changes to a place, from the files that are wanted and the state of those that are
//! there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::mirror::INDEX;
use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::error::IoContext as _;

use super::exclude::{self, ExcludeAction};
use super::place::MirrorFile;
use super::register::{MirrorPlace, MirrorRegister, PlaceKind};
use super::report::{LeftFile, LeftReason, MirrorAction, MirrorChange, MirrorFault, MirrorPart};
use super::splice::{FileSplice, OwnIndexLines, line_digest};
use super::wanted::{IGNORED_BY, SKILL};
use super::{LARGEST_FILE, scan};

/// Planned changes to a place.
pub(super) struct MirrorPlan<'a> {
    /// Wanted files that may be written.
    due: Vec<&'a MirrorFile>,
    pub(super) write: Vec<&'a MirrorFile>,
    pub(super) gone: Vec<String>,
    /// Registered files that are missing.
    pub(super) missed: Vec<PathBuf>,
    /// Files that differ from what is wanted, and stay.
    pub(super) left: Vec<LeftFile>,
    keeps: bool,
    pub(super) index: Option<FileSplice>,
    lines: Vec<Sha256Digest>,
    pub(super) hiding: Option<FileSplice>,
    /// Obstacles. They do not stop removals.
    pub(super) faults: Vec<MirrorFault>,
    /// True if there are obstacles.
    hindered: bool,
}

impl<'a> MirrorPlan<'a> {
    pub(super) fn of(
        place: &MirrorPlace,
        wanted: &'a [MirrorFile],
        register: &MirrorRegister,
    ) -> Result<Self> {
        let found = FoundFiles::inspect(place, wanted)?;
        let mut due: Vec<&MirrorFile> =
            wanted.iter().filter(|file| found.may_write(&file.name)).collect();
        let is_wanted = |name: &str| wanted.iter().any(|file| file.name == name);
        let gone = found
            .in_state(MirroredFileState::Ours)
            .filter(|name| found.may_remove(name) && !is_wanted(name));
        let gone: Vec<String> = gone.cloned().collect();
        let keeps = found.in_state(MirroredFileState::Changed).next().is_some();
        let left = |why| move |name: &String| LeftFile { path: place.dir.join(name), why };
        let changed = found.in_state(MirroredFileState::Changed).map(left(LeftReason::Changed));
        let foreign = found.in_state(MirroredFileState::Foreign).map(left(LeftReason::NotOurs));
        // Registered files that are missing, unless the whole project is gone.
        let is_there = place.root.as_ref().is_none_or(|root| root.is_dir());
        let missed = found.in_state(MirroredFileState::Nothing);
        let missed = missed.filter(|name| is_there && place.files.contains_key(*name));
        let mut plan = Self {
            missed: missed.map(|name| place.dir.join(name)).collect(),
            left: changed.chain(foreign).collect(),
            keeps,
            index: None,
            lines: Vec::new(),
            hiding: None,
            faults: Vec::new(),
            hindered: false,
            write: Vec::new(),
            due: Vec::new(),
            gone,
        };
        plan.plan_shared_files(place, wanted, &due, register);
        plan.hindered = !plan.faults.is_empty();
        if plan.hindered {
            // A file that is not indexed is not read; one that is not hidden is published.
            due.retain(|file| found.0[&file.name] != MirroredFileState::Nothing);
        }
        plan.write =
            due.iter().filter(|it| found.0[&it.name] != MirroredFileState::Same).copied().collect();
        plan.due = due;
        Ok(plan)
    }

    /// Plans changes to files that we share: the index, or git's exclude file.
    fn plan_shared_files(
        &mut self,
        place: &MirrorPlace,
        wanted: &[MirrorFile],
        due: &[&MirrorFile],
        register: &MirrorRegister,
    ) {
        let path = place.dir.join(INDEX);
        if place.sort == PlaceKind::Rules {
            let lines: Vec<String> = wanted.iter().filter_map(|file| file.line.clone()).collect();
            let (known, mut changed) = (OwnIndexLines::of(place), false);
            let index = FileSplice::of(path.clone(), |index| {
                let made = known.splice(index, &lines);
                changed = !made.changed.is_empty();
                made.bytes
            });
            match index {
                Ok(index) => self.index = index,
                Err(error) => self.faults.push(MirrorFault::new(path.clone(), &error)),
            }
            self.lines = lines.iter().map(|line| line_digest(line)).collect();
            self.left.extend(changed.then_some(LeftFile { path, why: LeftReason::Lines }));
            return;
        }
        let gone: BTreeSet<_> = self.gone.iter().map(|name| place.dir.join(name)).collect();
        let leaves_files = scan::candidate_files(place).iter().any(|path| !gone.contains(path));
        let hiding = match (due.is_empty() && !self.keeps, leaves_files) {
            (false, _) => ExcludeAction::Needed,
            (true, true) => ExcludeAction::AsItIs,
            (true, false) => ExcludeAction::Over,
        };
        match exclude::plan_exclude(place, hiding, register) {
            Ok(hiding) => self.hiding = hiding,
            Err(error) => {
                let path = exclude::exclude_file_for(place).unwrap_or_else(|| place.dir.clone());
                self.faults.push(MirrorFault::new(path, &error));
            }
        }
    }

    fn splices(&self) -> impl Iterator<Item = &FileSplice> {
        [&self.hiding, &self.index].into_iter().flatten()
    }

    pub(super) fn has_files(&self) -> bool {
        !self.due.is_empty() || self.keeps
    }

    /// The planned changes, for a report.
    pub(super) fn changes(&self, place: &MirrorPlace) -> Vec<MirrorChange> {
        let change = |name: &str, did| {
            let (path, of) = (place.dir.join(name), MirrorPart::of(place.sort, name));
            MirrorChange { path, did, of }
        };
        let written = self.write.iter().map(|file| change(&file.name, MirrorAction::Written));
        let removed = self.gone.iter().map(|name| change(name, MirrorAction::Removed));
        written.chain(removed).chain(self.splices().map(|it| it.to_change(place))).collect()
    }

    /// Adds planned files and lines to the place, before they are written.
    pub(super) fn record_intent(&self, place: &mut MirrorPlace) {
        for file in &self.due {
            let known = place.files.entry(file.name.clone()).or_default();
            if !known.contains(&file.digest()) {
                known.push(file.digest());
            }
        }
        for splice in self.splices() {
            place.spliced.entry(splice.path.clone()).or_insert_with(|| splice.creates_file());
        }
        let new: Vec<Sha256Digest> =
            self.lines.iter().filter(|line| !place.lines.contains(line)).copied().collect();
        place.lines.extend(new);
        // Another worktree may have added the lines: both need them then.
        if let Some(hidden_by) = exclude::exclude_file_for(place).filter(|_| self.has_files()) {
            place.spliced.entry(hidden_by).or_insert(false);
        }
    }

    /// Drops what is no longer there from the place, and removes empty directories that we made.
    pub(super) fn record_result(
        &self,
        place: &mut MirrorPlace,
        unwritten: &BTreeSet<String>,
        is_indexed: bool,
    ) -> Result<()> {
        let dir = place.dir.clone();
        place.files.retain(|name, _| dir.join(name).symlink_metadata().is_ok());
        for file in self.due.iter().filter(|file| !unwritten.contains(&file.name)) {
            place.files.insert(file.name.clone(), vec![file.digest()]);
        }
        if is_indexed && !self.hindered {
            place.lines.clone_from(&self.lines);
            if !self.has_files() {
                place.spliced.clear();
            }
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

/// State of the file at a path where one of ours belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MirroredFileState {
    Nothing,
    /// Has the wanted content.
    Same,
    /// Unchanged since we wrote it.
    Ours,
    /// Ours, but changed by someone.
    Changed,
    /// Never ours.
    Foreign,
}

impl MirroredFileState {
    /// True if the file has someone else's content.
    fn is_not_ours(self) -> bool {
        matches!(self, Self::Changed | Self::Foreign)
    }
}

/// States of the files at the paths where ours belong.
struct FoundFiles(BTreeMap<String, MirroredFileState>);

impl FoundFiles {
    /// States of all files that are ours or wanted. A link in place of a directory is an error: we
    /// do not follow links that others made.
    fn inspect(place: &MirrorPlace, wanted: &[MirrorFile]) -> Result<Self> {
        let names = place.files.keys().chain(wanted.iter().map(|file| &file.name));
        let names: BTreeSet<&String> = names.collect();
        let groups =
            names.iter().filter(|name| name.contains('/')).map(|name| top_level_name(name));
        let groups: BTreeSet<PathBuf> = groups.map(|name| place.dir.join(name)).collect();
        // The user's own `~/.claude` may be a link.
        let is_below = place.sort == PlaceKind::Rules || place.project.is_some();
        let parent = is_below.then(|| fsx::parent(&place.dir).to_owned());
        for dir in parent.into_iter().chain([place.dir.clone()]).chain(groups) {
            fsx::is_real_dir(&dir)?;
        }
        let state = |name: &String| Ok((name.clone(), file_state(place, name, wanted)?));
        names.into_iter().map(state).collect::<Result<_>>().map(Self)
    }

    fn in_state(&self, which: MirroredFileState) -> impl Iterator<Item = &String> {
        self.0.iter().filter(move |(_, it)| **it == which).map(|(name, _)| name)
    }

    /// True if a file may be written. A skill that someone has changed, or whose new folder has
    /// other files, is left whole; otherwise each file counts for itself.
    fn may_write(&self, name: &str) -> bool {
        let text = self.0.get(&format!("{}/{SKILL}", top_level_name(name)));
        let is_skills = name.contains('/');
        let is_left = is_skills && text.is_none_or(|it| it.is_not_ours());
        let is_new = is_skills && text == Some(&MirroredFileState::Nothing);
        let is_theirs = is_left || self.0[name].is_not_ours();
        !(is_theirs || is_new && self.is_shared(name))
    }

    /// True if a file may be removed. A `.gitignore` stays while someone else's file is beside it.
    fn may_remove(&self, name: &str) -> bool {
        let is_left = self
            .0
            .get(&format!("{}/{SKILL}", top_level_name(name)))
            .is_some_and(|it| it.is_not_ours());
        !(is_left || name.ends_with(IGNORED_BY) && self.is_shared(name))
    }

    /// True if someone else's file is in the same folder.
    fn is_shared(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|(other, it)| top_level_name(other) == top_level_name(name) && it.is_not_ours())
    }
}

/// Folder of a skill's file, or the name of a rule's file.
fn top_level_name(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

fn file_state(place: &MirrorPlace, name: &str, wanted: &[MirrorFile]) -> Result<MirroredFileState> {
    let path = place.dir.join(name);
    let known = place.files.get(name);
    let strange =
        if known.is_some() { MirroredFileState::Changed } else { MirroredFileState::Foreign };
    let digest = match fsx::open_regular(&path)? {
        FileLookup::Nothing => return Ok(MirroredFileState::Nothing),
        FileLookup::Regular(file) if file.size() <= LARGEST_FILE => {
            Sha256Digest::of(&file.read().with_context(|| format!("reading {}", path.display()))?)
        }
        _ => return Ok(strange),
    };
    let is_wanted = wanted.iter().any(|file| file.name == name && file.digest() == digest);
    let is_ours = known.is_some_and(|known| known.contains(&digest));
    Ok(match (is_wanted, is_ours) {
        (true, _) => MirroredFileState::Same,
        (false, true) => MirroredFileState::Ours,
        (false, false) => strange,
    })
}
