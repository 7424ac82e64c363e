//! Deletes all stored data, but only files that are known to be ours: the directory may hold other
//! things under the same everyday names.

mod ownership;

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::{Error, Result};

pub(crate) use ownership::is_our_name;
use ownership::{is_common_dir_name, is_our_file, may_be_our_dir};

/// Content of our own directory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct PurgePlan {
    /// To be deleted.
    pub(crate) ours: Vec<PathBuf>,
    /// Not known, and left.
    pub(crate) others: Vec<PathBuf>,
}

/// Directory to purge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PurgeTarget<'a> {
    pub(crate) own: &'a Path,
    pub(crate) user_home: &'a Path,
    /// Top-level keys of our configuration.
    pub(crate) words: &'a [&'a str],
}

/// Lists what is there. Refuses a directory that cannot be ours alone.
pub(crate) fn plan_purge(ground: PurgeTarget<'_>) -> Result<PurgePlan> {
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
    Ok(sort_dir(own, &mut Vec::new(), ground))
}

/// Deletes our files, and the directory if nothing is left in it.
pub(crate) fn carry_out(ground: PurgeTarget<'_>) -> Result<()> {
    plan_purge(ground)?.ours.iter().try_for_each(|path| fsx::remove_tree(path))?;
    if !ground.own.is_symlink() {
        fsx::remove_empty_dir(ground.own)?;
    }
    Ok(())
}

/// Sorts the content of a directory; `above` is its path below our own. A directory with only our
/// files is listed as one.
fn sort_dir(dir: &Path, above: &mut Vec<String>, ground: PurgeTarget<'_>) -> PurgePlan {
    let mut found = PurgePlan::default();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        above.push(entry.file_name().to_string_lossy().into_owned());
        let all = above.clone();
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        // Links are not followed: their target is not in our directory.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let ours = is_our_file(&names, &path, ground.words);
            if ours { &mut found.ours } else { &mut found.others }.push(path);
        } else if may_be_our_dir(&names) {
            let inside = sort_dir(&path, above, ground);
            if inside == PurgePlan::default() && is_common_dir_name(&names) {
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
