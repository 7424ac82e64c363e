//! Finds what we wrote and is not on the list: after a move, or when the list is gone.
//!
//! Our files prove themselves: a rule's frontmatter has the words of its text, and a skill's manifest
//! has the digest of its text. A file that someone has changed fails this, and is theirs.

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectRegistry};

use super::list::{MirrorPlace, PlaceKind};
use super::wanted::{IGNORE, IGNORED_BY, MANIFEST, SKILL, tracked_skills};
use super::{
    INDEX, LARGEST_FILE, PREFIX, claude, is_unmodified_skill, rule_line_end, splice_index,
};

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
pub(super) fn find_places(locations: MirrorLocations<'_>) -> Vec<MirrorPlace> {
    let registry = ProjectRegistry::below(locations.home);
    let roots = (locations.roots)().into_iter();
    let projects: Vec<Project> =
        roots.filter_map(|root| registry.find(&root, |_| false).ok()).collect();
    let memory = |project: &Project| claude::memory_dir(locations.claude, &project.main_root());
    let entries = fs::read_dir(locations.claude.join("projects")).into_iter().flatten().flatten();
    let rules = entries.map(|entry| entry.path().join("memory")).map(|dir| {
        let project = projects.iter().find(|project| memory(project) == dir);
        MirrorPlace::new(PlaceKind::Rules, dir, project)
    });
    let users = MirrorPlace::new(PlaceKind::Skills, claude::skills_dir(locations.claude), None);
    let skills = projects.iter().map(|project| {
        let dir = project.root().join(".claude/skills");
        MirrorPlace::new(PlaceKind::Skills, dir, Some(project))
    });
    rules.chain([users]).chain(skills).filter(|place| has_our_names(&place.dir)).collect()
}

/// True if a directory has a file with a name of ours.
pub(super) fn has_our_names(dir: &Path) -> bool {
    !our_names(dir).is_empty()
}

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

/// The files of a place that are as we wrote them.
pub(super) fn unchanged_files(place: &MirrorPlace) -> impl Iterator<Item = (&str, String)> {
    place.files.keys().filter_map(|name| {
        let file = fsx::read_regular(&place.dir.join(name), LARGEST_FILE).ok()??;
        let is_ours = place.has_written(name, &file);
        is_ours.then(|| String::from_utf8(file).ok().map(|text| (name.as_str(), text)))?
    })
}

/// Lists files and lines of a place that prove to be ours.
pub(super) fn adopt_unlisted(place: &mut MirrorPlace) {
    let was_known = !place.files.is_empty();
    for name in our_names(&place.dir) {
        match place.sort {
            PlaceKind::Skills => adopt_skill(place, &name),
            PlaceKind::Rules if place.files.contains_key(&name) => {}
            PlaceKind::Rules => {
                let file = read(&place.dir.join(&name)).unwrap_or_default();
                if str::from_utf8(&file).is_ok_and(|text| rule_line_end(&name, text).is_some()) {
                    place.files.insert(name, vec![Sha256Digest::of(&file)]);
                }
            }
        }
    }
    if place.sort == PlaceKind::Rules && !place.files.is_empty() {
        adopt_lines(place, was_known);
    }
}

/// Lists lines of the index that say what an unchanged file of ours says.
fn adopt_lines(place: &mut MirrorPlace, was_known: bool) {
    let path = place.dir.join(INDEX);
    let Some(index) = read(&path) else {
        if !was_known {
            place.spliced.entry(path).or_insert(false);
        }
        return;
    };
    let ends = unchanged_files(place).filter_map(|(name, text)| rule_line_end(name, &text));
    let ends: Vec<String> = ends.collect();
    for line in index.split(|byte| *byte == b'\n') {
        let Ok(line) = str::from_utf8(line.trim_ascii_end()) else { continue };
        let is_ours = line.starts_with("- [") && ends.iter().any(|end| line.ends_with(end));
        if is_ours && !place.has_line(line) {
            place.lines.push(Sha256Digest::of(line.as_bytes()));
        }
    }
    if !was_known {
        let rest = splice_index(&index, &[], |line| place.has_line(line)).bytes;
        place.spliced.entry(path).or_insert(rest.is_empty());
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
        let tracked = project.map_or(Some(Vec::new()), |it| tracked_skills(&it));
        tracked.is_none_or(|files| files.iter().any(|file| file.starts_with(&dir)))
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

/// Reads a file, but not through a link.
fn read(path: &Path) -> Option<Vec<u8>> {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    is_file.then(|| fsx::read_regular(path, LARGEST_FILE).ok().flatten())?
}
