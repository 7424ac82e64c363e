//! State of the files at the paths where ours belong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx::{self, Found};
use recoup_core::error::IoContext as _;

use super::place::File;
use super::register::{Place, Sort};

/// Larger than any file of ours.
const LARGEST: u64 = 1 << 20;

/// State of the file at a path where one of ours belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum There {
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

impl There {
    /// True if the file has someone else's content.
    pub(super) fn is_strange(self) -> bool {
        matches!(self, Self::Changed | Self::Foreign)
    }
}

/// States of all files that are ours or wanted. A link in place of a directory is an error: we do
/// not follow links that others made.
pub(super) fn look(place: &Place, wanted: &[File]) -> Result<BTreeMap<String, There>> {
    let names = place.files.keys().chain(wanted.iter().map(|file| &file.name));
    let names: BTreeSet<&String> = names.collect();
    let groups = names.iter().filter(|name| name.contains('/')).map(|name| group(name));
    let groups: BTreeSet<PathBuf> = groups.map(|name| place.dir.join(name)).collect();
    for dir in above(place).into_iter().chain(groups) {
        fsx::is_real_dir(&dir)?;
    }
    names.into_iter().map(|name| Ok((name.clone(), there(place, name, wanted)?))).collect()
}

/// Folder of a skill's file, or the name of a rule's file.
pub(super) fn group(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

/// Directories that must not be links. The user's own `~/.claude` may be one.
fn above(place: &Place) -> Vec<PathBuf> {
    let is_below = place.sort == Sort::Rules || place.project.is_some();
    let parent = is_below.then(|| fsx::parent(&place.dir).to_owned());
    parent.into_iter().chain([place.dir.clone()]).collect()
}

fn there(place: &Place, name: &str, wanted: &[File]) -> Result<There> {
    let path = place.dir.join(name);
    let known = place.files.get(name);
    let strange = if known.is_some() { There::Changed } else { There::Foreign };
    let digest = match fsx::look_at(&path)? {
        Found::Nothing => return Ok(There::Nothing),
        Found::Regular(file) if file.size() <= LARGEST => {
            Digest::of(&file.read().doing(|| format!("reading {}", path.display()))?)
        }
        _ => return Ok(strange),
    };
    let is_wanted = wanted.iter().any(|file| file.name == name && file.digest() == digest);
    let is_ours = known.is_some_and(|known| known.contains(&digest));
    Ok(match (is_wanted, is_ours) {
        (true, _) => There::Same,
        (false, true) => There::Ours,
        (false, false) => strange,
    })
}
