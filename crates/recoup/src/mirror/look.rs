//! What stands where files of ours belong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx::{self, Found};
use recoup_core::error::IoContext as _;

use super::place::File;
use super::register::{Place, Sort};

/// No file of ours is larger.
const LARGEST: u64 = 1 << 20;

/// What stands where a file of ours belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum There {
    Nothing,
    /// What is wanted, whoever wrote it.
    Same,
    /// What we have written.
    Ours,
    /// What somebody has made of ours.
    Changed,
    /// What was never ours.
    Foreign,
}

impl There {
    /// Whether it is somebody else's.
    pub(super) fn is_strange(self) -> bool {
        matches!(self, Self::Changed | Self::Foreign)
    }
}

/// Everything that is ours or is to be. A link where a directory belongs is an error:
/// whoever made it decides where it leads.
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

/// A skill is a directory of files that belong together, a rule is one file.
pub(super) fn group(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

/// The user's own `~/.claude` may well be a link.
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
