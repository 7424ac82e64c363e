//! Disk usage of each part of our home directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;

/// A part of our home directory and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DiskUsage {
    pub(crate) part: String,
    pub(crate) bytes: u64,
}

/// Ends of the names of files that belong to another.
const SIDECARS: [&str; 4] = ["-wal", "-shm", ".recoup-lock", ".lock"];

/// Maximum depth, more than we ever have; links are not followed.
const MAX_DEPTH: usize = 8;

/// Sizes of the entries of `home`, largest first; a database includes its log. Unreadable entries
/// are left out.
pub(crate) fn disk_usage(home: &Path) -> Vec<DiskUsage> {
    let mut parts: BTreeMap<String, u64> = BTreeMap::new();
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // `cache.db-wal` and the like belong to `cache.db`.
        let main = SIDECARS.iter().find_map(|end| name.strip_suffix(end));
        let main = main.filter(|main| !main.is_empty()).unwrap_or(&name);
        *parts.entry(main.to_owned()).or_default() += allocated_bytes(&entry.path(), MAX_DEPTH);
    }
    let mut parts: Vec<DiskUsage> = parts
        .into_iter()
        .map(|(part, bytes)| DiskUsage { part, bytes })
        .filter(|p| p.bytes > 0)
        .collect();
    parts.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.part.cmp(&b.part)));
    parts
}

/// Allocated size in bytes.
fn allocated_bytes(path: &Path, depth: usize) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    let own = found.blocks() * 512;
    if !found.is_dir() || depth == 0 {
        return if found.is_dir() { 0 } else { own };
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| allocated_bytes(&entry.path(), depth - 1)).sum()
}
