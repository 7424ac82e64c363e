//! Deleting everything that is remembered and kept: only what is known to be ours. The
//! directory may be one that somebody has other things in, under the same everyday names.

mod shape;

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::{Error, Result};

pub(crate) use shape::is_our_name;
use shape::{is_everyday, is_our_file, is_our_place};

/// What is in our own directory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Purge {
    /// To be deleted.
    pub(crate) ours: Vec<PathBuf>,
    /// Not known, and left.
    pub(crate) others: Vec<PathBuf>,
}

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// Our own directory.
    pub(crate) own: &'a Path,
    pub(crate) user_home: &'a Path,
    /// The words that our configuration has at its top.
    pub(crate) words: &'a [&'a str],
}

/// Looks at what is there. A directory that can't be ours alone is refused.
pub(crate) fn look(ground: Ground<'_>) -> Result<Purge> {
    let own = ground.own;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (own_real, home) = (real(own), real(ground.user_home));
    if own_real.parent().is_none() || home.starts_with(&own_real) || own.join(".git").exists() {
        return Err(Error::usage(format!(
            "{} is not a directory of recoup's alone: nothing in it is deleted; remove by hand what \
             you no longer want",
            own.display()
        )));
    }
    Ok(sorted(own, &mut Vec::new(), ground))
}

/// Deletes it, and the directory if nothing is left in it.
pub(crate) fn carry_out(ground: Ground<'_>) -> Result<()> {
    look(ground)?.ours.iter().try_for_each(|path| fsx::remove_tree(path))?;
    if !ground.own.is_symlink() {
        fsx::remove_empty_dir(ground.own)?;
    }
    Ok(())
}

/// What is in a directory, of which `above` are the names from our own on. A directory that
/// has only what is ours is named as one.
fn sorted(dir: &Path, above: &mut Vec<String>, ground: Ground<'_>) -> Purge {
    let mut found = Purge::default();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        above.push(entry.file_name().to_string_lossy().into_owned());
        let all = above.clone();
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        // A link is not followed: what it leads to is not in our directory.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let ours = is_our_file(&names, &path, ground.words);
            if ours { &mut found.ours } else { &mut found.others }.push(path);
        } else if is_our_place(&names) {
            let inside = sorted(&path, above, ground);
            if inside == Purge::default() && is_everyday(&names) {
                found.others.push(path);
            } else if inside.others.is_empty() {
                found.ours.push(path);
            } else {
                found.ours.extend(inside.ours);
                found.others.extend(inside.others);
            }
        } else {
            found.others.push(path);
        }
        above.pop();
    }
    found.ours.sort();
    found.others.sort();
    found
}
