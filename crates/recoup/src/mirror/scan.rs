//! Finds our files without the register.
//!
//! Our files can be verified by themselves: a rule's frontmatter matches its text, and a skill's
//! manifest has the digest of its text. A file that someone has changed fails this, and is theirs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mirror::{INDEX, PREFIX, is_unmodified_skill, rule_line_end};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectRegistry};

use super::register::{MirrorPlace, PlaceKind};
use super::splice::OwnIndexLines;
use super::wanted::{IGNORE, IGNORED_BY, MANIFEST, SKILL};
use super::{LARGEST_FILE, claude, exclude};

/// Directories in which mirrored files may be.
#[derive(Clone, Copy)]
pub(crate) struct MirrorLocations<'a> {
    /// Recoup's own directory.
    pub(crate) home: &'a Path,
    /// Claude Code's directory.
    pub(crate) claude: &'a Path,
    /// Roots of known projects.
    pub(crate) roots: &'a dyn Fn() -> Vec<PathBuf>,
}

/// All places that have a file with a name of ours.
pub(super) fn find_places(ground: MirrorLocations<'_>) -> Vec<MirrorPlace> {
    let registry = ProjectRegistry::below(ground.home);
    let found = |root: PathBuf| registry.find(&root, |_| false).ok();
    let projects = (ground.roots)().into_iter().filter_map(found);
    let projects: Vec<Project> = projects.collect();
    let memory = |project: &Project| claude::memory_dir(ground.claude, &project.main_root());
    let of_client = fs::read_dir(ground.claude.join("projects")).into_iter().flatten().flatten();
    let rules = of_client.map(|entry| entry.path().join("memory")).map(|dir| {
        let project = projects.iter().find(|project| memory(project) == dir);
        MirrorPlace::new(PlaceKind::Rules, dir, project)
    });
    let users = MirrorPlace::new(PlaceKind::Skills, claude::skills_dir(ground.claude), None);
    let skills = projects.iter().map(|project| {
        let dir = project.root().join(".claude/skills");
        MirrorPlace::new(PlaceKind::Skills, dir, Some(project))
    });
    rules.chain([users]).chain(skills).filter(|place| has_our_files(&place.dir)).collect()
}

/// True if a directory has a file with a name of ours.
pub(super) fn has_our_files(dir: &Path) -> bool {
    !our_names(dir).is_empty()
}

/// Names of ours in a directory.
fn our_names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(PREFIX)).collect()
}

/// Files that are or may be ours: those with our names, and the index.
pub(super) fn candidate_files(place: &MirrorPlace) -> Vec<PathBuf> {
    let named = our_names(&place.dir).into_iter().map(|name| place.dir.join(name));
    match place.sort {
        PlaceKind::Rules => named.chain([place.dir.join(INDEX)]).collect(),
        PlaceKind::Skills => {
            let inside = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten();
            named.flat_map(inside).map(|entry| entry.path()).collect()
        }
    }
}

/// Registers files that we wrote and that are not registered.
pub(super) fn adopt_unregistered(place: &mut MirrorPlace) {
    let was_known = !place.files.is_empty();
    for name in our_names(&place.dir) {
        match place.sort {
            PlaceKind::Rules if place.files.contains_key(&name) => {}
            PlaceKind::Rules => {
                let file = read(&place.dir.join(&name)).unwrap_or_default();
                if str::from_utf8(&file).is_ok_and(|text| rule_line_end(&name, text).is_some()) {
                    place.files.insert(name, vec![Sha256Digest::of(&file)]);
                }
            }
            PlaceKind::Skills => adopt_skill(place, &name),
        }
    }
    let index = place.dir.join(INDEX);
    let is_new = !was_known && !place.files.is_empty() && !place.spliced.contains_key(&index);
    if place.sort == PlaceKind::Rules && is_new {
        let nothing_else =
            read(&index).is_some_and(|it| OwnIndexLines::of(place).without_ours(&it).is_empty());
        place.spliced.insert(index, nothing_else);
    }
}

fn adopt_skill(place: &mut MirrorPlace, folder: &str) {
    let name = |file: &str| format!("{folder}/{file}");
    if [SKILL, MANIFEST].iter().all(|file| place.files.contains_key(&name(file))) {
        return;
    }
    let file = |file: &str| read(&place.dir.join(name(file)));
    let (Some(manifest), Some(skill)) = (file(MANIFEST), file(SKILL)) else { return };
    let dir = place.dir.join(folder);
    // Even if intact, a folder that git tracks may be someone else's.
    let is_published = || {
        let project = place.root.as_deref().and_then(|root| Project::find(root).ok());
        project.is_some_and(|it| exclude::find_tracked_skills(&it).may_be_in(&dir))
    };
    if !is_unmodified_skill(&manifest, &skill) || is_published() {
        return;
    }
    let ignore = file(IGNORED_BY).filter(|text| text == IGNORE.as_bytes());
    let found = [(MANIFEST, Some(manifest)), (SKILL, Some(skill)), (IGNORED_BY, ignore)];
    for (file, text) in found {
        let Some(text) = text else { continue };
        place.files.entry(name(file)).or_default().push(Sha256Digest::of(&text));
    }
    if !place.made.contains(&dir) {
        place.made.push(dir);
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    is_file.then(|| fsx::read_regular(path, LARGEST_FILE).ok().flatten())?
}
