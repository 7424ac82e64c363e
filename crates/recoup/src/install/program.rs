//! Path by which clients start our program. It has to survive upgrades: absolute, because their
//! PATH is not ours, and the stable name, not the file of one version.

use std::path::{Path, PathBuf};

use recoup_core::{Error, ErrorKind, Result};

use super::places::{InstallPaths, is_program};

/// File name by which our entries are recognised.
const NAME: &str = "recoup";

/// Parts of temporary paths, and why these do not last.
const TEMPORARY_PATHS: [(&[&str], &str); 6] = [
    (&["target", "debug"], "the next build replaces it"),
    (&["target", "release"], "the next build replaces it"),
    (&["_npx"], "npx clears its cache"),
    (&["_cacache"], "npm clears its cache"),
    (&["Cellar"], "the next version is in another directory"),
    (&["nix", "store"], "the next version is in another directory"),
];

/// Returns the path for clients. `running` is the file of this process, and `named` the user's
/// choice.
pub(crate) fn stable_program_path(
    running: &Path,
    named: Option<&Path>,
    places: &InstallPaths,
) -> Result<PathBuf> {
    if let Some(named) = named {
        return demand_program(named).map(|()| named.to_owned());
    }
    let same = |path: &PathBuf| {
        path.canonicalize().is_ok_and(|it| Some(it) == running.canonicalize().ok())
    };
    let lasts = |path: &PathBuf| why_temporary(path).is_none() && is_program(path);
    let on_path = places.search_outside_project().into_iter().map(|dir| dir.join(NAME));
    let mut found = on_path.chain([running.to_owned()]).filter(same);
    if let Some(path) = found.find(lasts) {
        return demand_program(&path).map(|()| path);
    }
    let why = why_temporary(running).unwrap_or("it can't be run");
    Err(Error::new(
        ErrorKind::Usage,
        format!(
            "this recoup is {}, and clients would lose it: {why}. Install it first \
             (`cargo install --path crates/recoup`), or name another with --program PATH",
            running.display()
        ),
    ))
}

fn demand_program(path: &Path) -> Result<()> {
    let wrong = |why: &str| Err(Error::usage(format!("{}: {why}", path.display())));
    if !path.is_absolute() {
        return wrong("an absolute path is needed");
    }
    if path.to_str().is_none() {
        return wrong("a path that is no text can't be written into settings");
    }
    if path.file_name().is_none_or(|name| name != NAME) {
        return wrong("the program has to be called recoup: our entries are known by that name");
    }
    if !is_program(path) {
        return wrong("there is no program");
    }
    Ok(())
}

/// Explains why a path is temporary, if it is.
pub(crate) fn why_temporary(path: &Path) -> Option<&'static str> {
    let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
    let has = |wanted: &[&str]| parts.windows(wanted.len()).any(|part| part == wanted);
    // `target/x86_64-unknown-linux-musl/release` is cargo's as well.
    let is_build = |part: &[&str]| {
        part[0] == "target" && part[1].contains('-') && matches!(part[2], "debug" | "release")
    };
    let built = parts.windows(3).any(is_build).then_some("the next build replaces it");
    let known = || TEMPORARY_PATHS.iter().find(|(wanted, _)| has(wanted)).map(|(_, why)| *why);
    built.or_else(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_upgrade_replaces_is_known() {
        let passing = |path: &str| why_temporary(Path::new(path)).is_some();
        assert!(passing("/home/me/src/recoup/target/debug/recoup"));
        assert!(passing("/src/recoup/target/x86_64-unknown-linux-musl/release/recoup"));
        assert!(passing("/opt/homebrew/Cellar/recoup/0.1.0/bin/recoup"));
        assert!(passing("/home/me/.npm/_npx/3f/node_modules/.bin/recoup"));
        assert!(passing("/nix/store/abc-recoup-0.1.0/bin/recoup"));
        assert!(!passing("/home/me/.cargo/bin/recoup"));
        assert!(!passing("/opt/homebrew/bin/recoup"));
        assert!(!passing("/home/me/target/recoup"));
    }
}
