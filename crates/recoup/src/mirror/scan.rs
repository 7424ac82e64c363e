//! Finds our files without the register.
//!
//! Our files can be verified by themselves: a rule's frontmatter matches its text, and a skill's
//! manifest has the digest of its text. A file that someone has changed fails this, and is theirs.

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectRegistry};
use recoup_core::memory::mirror::{INDEX, PREFIX, is_whole_skill, rule_tail};

use super::known::Lines;
use super::register::{Place, Sort};
use super::skills::{IGNORE, IGNORED_BY, MANIFEST, SKILL};
use super::{claude, exclude};

/// Larger than any file of ours.
const LARGEST: u64 = 1 << 20;

/// Directories in which mirrored files may be.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// Recoup's own directory.
    pub(crate) home: &'a Path,
    /// Claude Code's directory.
    pub(crate) claude: &'a Path,
    /// Roots of known projects.
    pub(crate) roots: &'a dyn Fn() -> Vec<PathBuf>,
}

/// All places that have a file with a name of ours.
pub(super) fn places(ground: Ground<'_>) -> Vec<Place> {
    let registry = ProjectRegistry::below(ground.home);
    let found = |root: PathBuf| registry.find(&root, |_| false).ok();
    let projects = (ground.roots)().into_iter().filter_map(found);
    let projects: Vec<Project> = projects.collect();
    let memory = |project: &Project| claude::memory_dir(ground.claude, &project.main_root());
    let of_client = fs::read_dir(ground.claude.join("projects")).into_iter().flatten().flatten();
    let rules = of_client.map(|entry| entry.path().join("memory")).map(|dir| {
        let project = projects.iter().find(|project| memory(project) == dir);
        Place::new(Sort::Rules, dir, project)
    });
    let users = Place::new(Sort::Skills, claude::skills_dir(ground.claude), None);
    let skills = projects.iter().map(|project| {
        let dir = project.root().join(".claude/skills");
        Place::new(Sort::Skills, dir, Some(project))
    });
    rules.chain([users]).chain(skills).filter(|place| has_ours(&place.dir)).collect()
}

/// True if a directory has a file with a name of ours.
pub(super) fn has_ours(dir: &Path) -> bool {
    !names(dir).is_empty()
}

/// Names of ours in a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(PREFIX)).collect()
}

/// Files that are or may be ours: those with our names, and the index.
pub(super) fn files(place: &Place) -> Vec<PathBuf> {
    let named = names(&place.dir).into_iter().map(|name| place.dir.join(name));
    match place.sort {
        Sort::Rules => named.chain([place.dir.join(INDEX)]).collect(),
        Sort::Skills => {
            let inside = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten();
            named.flat_map(inside).map(|entry| entry.path()).collect()
        }
    }
}

/// Registers files that we wrote and that are not registered.
pub(super) fn adopt(place: &mut Place) {
    let was_known = !place.files.is_empty();
    for name in names(&place.dir) {
        match place.sort {
            Sort::Rules => adopt_rule(place, &name),
            Sort::Skills => adopt_skill(place, &name),
        }
    }
    let index = place.dir.join(INDEX);
    let is_new = !was_known && !place.files.is_empty() && !place.spliced.contains_key(&index);
    if place.sort == Sort::Rules && is_new {
        let nothing_else = read(&index).is_some_and(|it| Lines::of(place).rest_of(&it).is_empty());
        place.spliced.insert(index, nothing_else);
    }
}

fn adopt_rule(place: &mut Place, name: &str) {
    if place.files.contains_key(name) {
        return;
    }
    let Some(file) = read(&place.dir.join(name)) else { return };
    if str::from_utf8(&file).is_ok_and(|text| rule_tail(name, text).is_some()) {
        place.files.insert(name.to_owned(), vec![Digest::of(&file)]);
    }
}

fn adopt_skill(place: &mut Place, folder: &str) {
    let name = |file: &str| format!("{folder}/{file}");
    if [SKILL, MANIFEST].iter().all(|file| place.files.contains_key(&name(file))) {
        return;
    }
    let file = |file: &str| read(&place.dir.join(name(file)));
    let (Some(manifest), Some(skill)) = (file(MANIFEST), file(SKILL)) else { return };
    if !is_whole_skill(&manifest, &skill) || is_published(place, folder) {
        return;
    }
    let ignore = file(IGNORED_BY).filter(|text| text == IGNORE.as_bytes());
    let found = [(MANIFEST, Some(manifest)), (SKILL, Some(skill)), (IGNORED_BY, ignore)];
    for (file, text) in found {
        let Some(text) = text else { continue };
        place.files.entry(name(file)).or_default().push(Digest::of(&text));
    }
    let dir = place.dir.join(folder);
    if !place.made.contains(&dir) {
        place.made.push(dir);
    }
}

/// True if a folder is tracked by git: even if intact, it may be someone else's.
fn is_published(place: &Place, folder: &str) -> bool {
    let project = place.root.as_deref().and_then(|root| Project::find(root).ok());
    let dir = place.dir.join(folder);
    project.is_some_and(|it| exclude::tracked(&it).may_be_in(&dir))
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    is_file.then(|| fsx::read_regular(path, LARGEST).ok().flatten())?
}
