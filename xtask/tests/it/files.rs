//! What the tests here need to know about folders: where the workspace is, and
//! which source files lie below a folder.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder with the workspace's Cargo.toml.
pub(crate) fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("xtask lies in the workspace's root").to_owned()
}

/// Every `.rs` file below `folder`, in order; none if it does not exist.
pub(crate) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// What is directly in `folder`, in order; nothing if it does not exist.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

/// `path` as a person names it: from the workspace's root.
pub(crate) fn label(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file of a fixture, with the folders above it.
pub(crate) fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a fixture's file has a folder");
    fs::create_dir_all(folder).expect("a fixture's folder");
    fs::write(path, text).expect("a fixture's file");
}
