//! Backups of files that we change: `backups/TIME-NUMBER-OF-NAME`, where OF is a digest of the
//! path, so that files of one name are told apart.
//!
//! Backups that the receipt refers to stay; of the others, the newest few of each file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;

use super::change::{FileChange, resolve_links};

/// Directory of the backups, below our own.
pub(crate) const DIR: &str = "backups";

/// Unreferenced backups to keep of each file.
const NEWEST: usize = 5;

/// Hexadecimal digits of the path's digest: enough to tell one person's files apart.
const DIGITS: usize = 8;

/// Parsed name of a backup; ordered by creation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BackupName<'a> {
    time: &'a str,
    number: usize,
    /// Digest and name of the original file.
    of: &'a str,
}

impl<'a> BackupName<'a> {
    /// `2026-11-16T122618Z-0-1f3ac09e-settings.json`
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (time, rest) = name.split_once("Z-")?;
        let digit = |c: char| if c.is_ascii_digit() { '0' } else { c };
        let (number, of) = rest.split_once('-')?;
        (time.chars().map(digit).collect::<String>() == "0000-00-00T000000").then_some(())?;
        Some(Self { time, number: number.parse().ok()?, of })
    }
}

/// Makes a private backup of the previous content. Returns its path relative to our own directory.
pub(super) fn make(change: &FileChange, own: &Path, now: Timestamp) -> Result<Option<PathBuf>> {
    let Some(before) = &change.before else { return Ok(None) };
    let file = change.path.file_name().unwrap_or_default().to_string_lossy();
    let of = Sha256Digest::of(resolve_links(&change.path).as_os_str().as_encoded_bytes()).to_hex();
    let of = format!("{}-{}", &of[..DIGITS], file.trim_start_matches('.'));
    let when = now.to_second_string().replace(':', "");
    let dir = own.join(DIR);
    fsx::ensure_private_dir(&dir)?;
    // The number orders the backups of one second.
    let names = names(&dir);
    let of_now = names.iter().filter(|name| name.starts_with(&when));
    let number =
        of_now.filter_map(|name| Some(BackupName::parse(name)?.number + 1)).max().unwrap_or(0);
    let path = Path::new(DIR).join(format!("{when}-{number}-{of}"));
    fsx::write_atomic(&own.join(&path), before)?;
    Ok(Some(path))
}

/// Deletes backups that are neither needed nor fresh, nor among the newest of their file. Ignores
/// files with other names than ours.
pub(super) fn prune(
    own: &Path,
    needed: &BTreeSet<PathBuf>,
    fresh: &BTreeSet<PathBuf>,
) -> Result<()> {
    let dir = own.join(DIR);
    let names = names(&dir);
    let place = |name: &str| Path::new(DIR).join(name);
    let mut copies: BTreeMap<&str, Vec<(bool, BackupName<'_>, &str)>> = BTreeMap::new();
    for name in names.iter().filter(|name| !needed.contains(&place(name))) {
        if let Some(parts) = BackupName::parse(name) {
            // Fresh is fresh, whatever the clock says.
            let is_fresh = fresh.contains(&place(name));
            copies.entry(parts.of).or_default().push((is_fresh, parts, name));
        }
    }
    for of_file in copies.values_mut() {
        of_file.sort_unstable();
        let older = of_file.len().saturating_sub(NEWEST);
        let mut older = of_file[..older].iter();
        older.try_for_each(|(_, _, name)| fsx::remove(&dir.join(name)).map(drop))?;
    }
    Ok(())
}

/// Returns the names of all files in a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_file()));
    files.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_copies() {
        let name = |text| BackupName::parse(text).unwrap();
        let first = name("2026-11-16T122618Z-2-1f3ac09e-settings.json");
        assert!(first < name("2026-11-16T122618Z-10-1f3ac09e-settings.json"));
        assert!(first < name("2026-11-16T122619Z-0-1f3ac09e-settings.json"));
        assert_eq!(first.of, "1f3ac09e-settings.json");
        for other in ["settings.json", "2026-11-16-0-x", "2026-11-16T122618Z-x-y", "Z-0-x", ""] {
            assert_eq!(BackupName::parse(other), None, "{other}");
        }
    }
}
