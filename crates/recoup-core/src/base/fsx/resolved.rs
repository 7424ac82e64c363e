//! Resolves the links of a path that may not exist yet, as the system will when it is written to.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Limit on followed links, as in Linux.
const LINKS_MOST: usize = 40;

/// Resolves all links of a path; `None` if they go in circles. `..` is the parent of a link's
/// target, not of the link.
pub fn resolve_path(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let mut found =
        if path.is_absolute() { PathBuf::new() } else { Path::new(".").canonicalize().ok()? };
    let (mut ahead, mut links) = (reversed_steps(path), 0);
    while let Some(part) = ahead.pop() {
        match part {
            ResolveStep::Root => found = PathBuf::from("/"),
            ResolveStep::Up => drop(found.pop()),
            ResolveStep::Into(name) => {
                found.push(name);
                let Ok(target) = fs::read_link(&found) else { continue };
                links += 1;
                if links > LINKS_MOST {
                    return None;
                }
                found.pop();
                ahead.extend(reversed_steps(&target));
            }
        }
    }
    Some(found)
}

/// One part of a path.
enum ResolveStep {
    Root,
    Up,
    Into(OsString),
}

/// The parts of a path, the last first.
fn reversed_steps(path: &Path) -> Vec<ResolveStep> {
    let steps = path.components().rev().filter_map(|part| match part {
        Component::RootDir => Some(ResolveStep::Root),
        Component::ParentDir => Some(ResolveStep::Up),
        Component::Normal(name) => Some(ResolveStep::Into(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::base::fsx::ensure_dir;

    #[test]
    fn it_leads_where_the_system_would_go() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        ensure_dir(&at("a/b")).unwrap();
        ensure_dir(&at("c")).unwrap();
        symlink("../a/b", at("c/link")).unwrap();
        symlink("link/../new", at("c/up")).unwrap();
        symlink(at("c/up"), at("far")).unwrap();
        for (given, leads) in [
            ("a/b", "a/b"),
            ("a/b/new/deep", "a/b/new/deep"),
            ("c/link/new", "a/b/new"),
            ("c/link/../new", "a/new"),
            ("c/up", "a/new"),
            ("far", "a/new"),
            ("c/new/../other", "c/other"),
            ("gone/./x", "gone/x"),
        ] {
            assert_eq!(resolve_path(&at(given)), Some(at(leads)), "{given}");
        }
        // Writing to the path goes where it was resolved to.
        crate::base::fsx::write_output(&at("far"), b"x").unwrap();
        assert!(at("a/new").is_file());
    }

    #[test]
    fn circles_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert_eq!(resolve_path(&dir.path().join("a/x")), None);
    }
}
