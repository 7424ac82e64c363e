//! State of the files at the paths where ours belong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::error::IoContext as _;

use super::place::MirrorFile;
use super::register::{MirrorPlace, PlaceKind};

/// Larger than any file of ours.
const LARGEST: u64 = 1 << 20;

/// State of the file at a path where one of ours belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MirroredFileState {
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
    pub(super) fn is_not_ours(self) -> bool {
        matches!(self, Self::Changed | Self::Foreign)
    }
}

/// States of all files that are ours or wanted. A link in place of a directory is an error: we do
/// not follow links that others made.
pub(super) fn inspect_files(
    place: &MirrorPlace,
    wanted: &[MirrorFile],
) -> Result<BTreeMap<String, MirroredFileState>> {
    let names = place.files.keys().chain(wanted.iter().map(|file| &file.name));
    let names: BTreeSet<&String> = names.collect();
    let groups = names.iter().filter(|name| name.contains('/')).map(|name| top_level_name(name));
    let groups: BTreeSet<PathBuf> = groups.map(|name| place.dir.join(name)).collect();
    for dir in dirs_to_check(place).into_iter().chain(groups) {
        fsx::is_real_dir(&dir)?;
    }
    names.into_iter().map(|name| Ok((name.clone(), file_state(place, name, wanted)?))).collect()
}

/// Folder of a skill's file, or the name of a rule's file.
pub(super) fn top_level_name(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

/// Directories that must not be links. The user's own `~/.claude` may be one.
fn dirs_to_check(place: &MirrorPlace) -> Vec<PathBuf> {
    let is_below = place.sort == PlaceKind::Rules || place.project.is_some();
    let parent = is_below.then(|| fsx::parent(&place.dir).to_owned());
    parent.into_iter().chain([place.dir.clone()]).collect()
}

fn file_state(place: &MirrorPlace, name: &str, wanted: &[MirrorFile]) -> Result<MirroredFileState> {
    let path = place.dir.join(name);
    let known = place.files.get(name);
    let strange =
        if known.is_some() { MirroredFileState::Changed } else { MirroredFileState::Foreign };
    let digest = match fsx::open_regular(&path)? {
        FileLookup::Nothing => return Ok(MirroredFileState::Nothing),
        FileLookup::Regular(file) if file.size() <= LARGEST => {
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
