//! The licences of all that is linked into the program: the texts that have to go with it.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process;
use crate::unpacked;
use crate::workspace;

/// Name of the file with these texts.
pub(super) const FILE: &str = "THIRD-PARTY.txt";

const HEAD: &str = "\
Recoup contains the following packages. Their licences are named here; the texts that came with them
follow, each with the packages that it came with.

The static program also contains the GNU C Library (LGPL-2.1-or-later). Whoever wants to link it with
another version can build it from the source: `cargo xtask dist`.

";

/// Packages by the text of a licence that came with them.
type TextOwners = BTreeMap<String, Vec<String>>;

/// Returns the names of all packages and the texts of their licences, each text once.
pub(super) fn collect() -> Result<String, String> {
    let mut tree = workspace::cargo([
        "tree", "--locked", "-p", "recoup", "--edges", "normal", "--prefix", "none", "--format",
        "{p}|{l}",
    ]);
    let listed = process::capture(&mut tree)?;
    let mut lines: Vec<&str> = listed.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    lines.sort_unstable();
    lines.dedup();
    let (mut head, mut owners) = (HEAD.to_owned(), TextOwners::new());
    for line in lines {
        // `name v1.2.3 (proc-macro)`; ours have a path there.
        let (package, licence) = line.split_once('|').unwrap_or((line, ""));
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        if package.contains("(/") {
            continue;
        }
        let package = format!("{name}-{}", version.trim_start_matches('v'));
        head.extend([&package, ": ", licence, "\n"]);
        for text in texts(&source_of(&package)?)? {
            owners.entry(text).or_default().push(package.clone());
        }
    }
    let sections = owners.into_iter().map(|(text, packages)| {
        format!("\n{}\n{}:\n\n{text}\n", "-".repeat(80), packages.join(", "))
    });
    Ok(head + &sections.collect::<String>())
}

/// The folder to which cargo has unpacked a package.
fn source_of(package: &str) -> Result<PathBuf, String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let sources = home.unwrap_or_default().join("registry/src");
    let registries = unpacked::entries(&sources).map_err(|error| error.to_string())?;
    let mut folders = registries.iter().map(|registry| registry.join(package));
    folders.find(|folder| folder.is_dir()).ok_or_else(|| {
        format!("the source of {package} is not below {}: run `cargo fetch`", sources.display())
    })
}

fn texts(folder: &Path) -> Result<Vec<String>, String> {
    let files = unpacked::entries(folder).map_err(|error| error.to_string())?;
    let is_licence = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        ["licen", "copying", "notice", "unlicense"].iter().any(|it| name.starts_with(it))
            && path.is_file()
    };
    let read = |path: &PathBuf| {
        let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(String::from_utf8_lossy(&text).replace('\r', "").trim().to_owned())
    };
    files.iter().filter(is_licence).map(read).collect()
}
