//! Paths of everything that is read and written, and the path by which clients start our program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use recoup_core::{Error, ErrorKind, Result};

use crate::clients::{AgentClient, ClientDirs, ClientVersion};
use crate::config::env;

/// File name by which our entries are recognised.
pub(super) const PROGRAM_NAME: &str = "recoup";
/// Directory of a copy of the program, in our own.
pub(super) const PROGRAMS: &str = "bin";

/// Parts of temporary paths, and why these do not last.
const TEMPORARY_PATHS: [(&[&str], &str); 5] = [
    (&["target", "debug"], "the next build replaces it"),
    (&["target", "release"], "the next build replaces it"),
    (&["_cacache"], "npm clears its cache"),
    (&["Cellar"], "the next version is in another directory"),
    (&["nix", "store"], "the next version is in another directory"),
];

/// Parts of the caches from which package runners start programs, and why these do not last.
const RUNNER_CACHES: [(&[&str], &str); 6] = [
    (&["_npx"], "npx clears its cache"),
    (&["pnpm", "dlx"], "pnpm clears its cache"),
    (&["archive-v0"], "uv clears its cache"),
    (&["environments-v2"], "uv clears its cache"),
    (&["pipx", ".cache"], "pipx clears its cache"),
    (&[".cache", "pipx"], "pipx clears its cache"),
];

/// Directories of the user, the clients and the project.
#[derive(Debug, Clone)]
pub(crate) struct InstallPaths {
    /// Directories of the user and of the clients.
    pub(crate) dirs: ClientDirs,
    /// Our own directory.
    pub(crate) own: PathBuf,
    /// The project's root.
    pub(crate) root: PathBuf,
    /// The search path for programs.
    pub(crate) search: Option<OsString>,
    /// Version of the installed Claude Code; none if unknown.
    pub(crate) claude_version: Option<ClientVersion>,
}

impl InstallPaths {
    /// Paths of an installation into a project, with our own directory in `own`.
    pub(crate) fn new(dirs: ClientDirs, own: &Path, root: &Path) -> Self {
        let (own, root) = (own.to_owned(), root.to_owned());
        Self { dirs, own, root, search: env::search_path(), claude_version: None }
    }

    /// Claude Code's file that is the user's, also for its servers in a single project.
    pub(crate) fn claude_json(&self) -> PathBuf {
        self.dirs.home_or_moved(AgentClient::ClaudeCode).join(".claude.json")
    }

    /// Finds a program on the search path.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let dirs = self.search.as_deref().map(std::env::split_paths)?;
        dirs.filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|path| is_program(path))
    }

    /// Returns the search path without the project's directories: the repository's authors decide
    /// what a name there runs.
    pub(crate) fn search_outside_project(&self) -> Vec<PathBuf> {
        let is_inside = |dir: &Path| {
            self.is_in_project(dir) || dir.canonicalize().is_ok_and(|it| self.is_in_project(&it))
        };
        let dirs = self.search.as_deref().map(std::env::split_paths).into_iter().flatten();
        dirs.filter(|dir| dir.is_absolute() && !is_inside(dir)).collect()
    }

    /// Returns the paths for another project.
    pub(crate) fn with_root(&self, root: &Path) -> Self {
        Self { root: root.to_owned(), ..self.clone() }
    }

    /// True if a path is in the project, and the project does not contain the user's home.
    pub(crate) fn is_in_project(&self, path: &Path) -> bool {
        path.starts_with(&self.root) && !self.dirs.home.starts_with(&self.root)
    }

    /// A path as people write it: `~/.claude/settings.json`, `.mcp.json` in the project.
    pub(crate) fn display_path(&self, path: &Path) -> String {
        let in_project = path.strip_prefix(&self.root).ok();
        if let Some(rest) = in_project.filter(|_| !self.dirs.home.starts_with(&self.root)) {
            return rest.display().to_string();
        }
        match path.strip_prefix(&self.dirs.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// Abbreviates the home directory in an error message.
    pub(crate) fn shorten_paths(&self, error: Error) -> Error {
        let (said, home) = (format!(" {error}"), self.dirs.home.display());
        let shown = said.replace(&format!(" {home}/"), " ~/");
        if shown == said { error } else { Error::new(error.kind(), &shown[1..]) }
    }
}

/// True if the file is executable.
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Returns the path by which clients start our program. It has to survive upgrades: absolute,
/// because their PATH is not ours, and the stable name, not the file of one version. `running` is
/// the file of this process, and `named` the user's choice.
pub(crate) fn stable_program_path(
    running: &Path,
    named: Option<&Path>,
    places: &InstallPaths,
) -> Result<PathBuf> {
    if let Some(named) = named {
        return demand_program(named).map(|()| named.to_owned());
    }
    let of_runner = || runner_cache(running).map(|_| program_copy_path(places));
    let copied = || of_runner().filter(|path| is_program(path));
    if let Some(path) = find_lasting_path(running, places).or_else(copied) {
        return demand_program(&path).map(|()| path);
    }
    let why = why_temporary(running).unwrap_or("it is not executable");
    Err(Error::new(
        ErrorKind::Usage,
        format!(
            "this recoup is {}, which is not a permanent path: {why}. Install it first \
             (`cargo install --path crates/recoup`), or name another program with --program PATH",
            running.display()
        ),
    ))
}

/// Finds the running program in a place that lasts: on the search path, or where it was started.
pub(super) fn find_lasting_path(running: &Path, places: &InstallPaths) -> Option<PathBuf> {
    let same = |path: &PathBuf| {
        path.canonicalize().is_ok_and(|it| Some(it) == running.canonicalize().ok())
    };
    let lasts = |path: &PathBuf| why_temporary(path).is_none() && is_program(path);
    let on_path = places.search_outside_project().into_iter().map(|dir| dir.join(PROGRAM_NAME));
    let mut found = on_path.chain([running.to_owned()]).filter(same);
    found.find(lasts)
}

/// Path of the copy that `init` makes of a program in a package runner's cache.
pub(super) fn program_copy_path(places: &InstallPaths) -> PathBuf {
    places.own.join(PROGRAMS).join(PROGRAM_NAME)
}

fn demand_program(path: &Path) -> Result<()> {
    let wrong = |why: &str| Err(Error::usage(format!("{}: {why}", path.display())));
    if !path.is_absolute() {
        return wrong("expected an absolute path");
    }
    if path.to_str().is_none() {
        return wrong("the path is not UTF-8, so it can't be written into settings");
    }
    if path.file_name().is_none_or(|name| name != PROGRAM_NAME) {
        return wrong(
            "the program must be named recoup, because `recoup init` finds its own entries by that \
             name; rename it, or name another with --program PATH",
        );
    }
    if !is_program(path) {
        return wrong("no such program, or it is not executable");
    }
    Ok(())
}

/// Explains why a path is temporary, if it is.
fn why_temporary(path: &Path) -> Option<&'static str> {
    let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
    // `target/x86_64-unknown-linux-musl/release` is cargo's as well.
    let is_build = |part: &[&str]| {
        part[0] == "target" && part[1].contains('-') && matches!(part[2], "debug" | "release")
    };
    let built = parts.windows(3).any(is_build).then_some("the next build replaces it");
    built.or_else(|| find_reason(path, &TEMPORARY_PATHS)).or_else(|| runner_cache(path))
}

/// Explains why a package runner's cache does not last, if the path is in one.
pub(super) fn runner_cache(path: &Path) -> Option<&'static str> {
    find_reason(path, &RUNNER_CACHES)
}

fn find_reason(path: &Path, known: &[(&[&str], &'static str)]) -> Option<&'static str> {
    let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
    let has = |wanted: &[&str]| parts.windows(wanted.len()).any(|part| part == wanted);
    known.iter().find(|(wanted, _)| has(wanted)).map(|(_, why)| *why)
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
        assert!(passing("/home/me/.cache/uv/archive-v0/9xQ/bin/recoup"));
        assert!(passing("/home/me/.local/share/pipx/.cache/5ac/bin/recoup"));
        assert!(passing("/nix/store/abc-recoup-0.1.0/bin/recoup"));
        assert!(!passing("/home/me/.cargo/bin/recoup"));
        assert!(!passing("/opt/homebrew/bin/recoup"));
        assert!(!passing("/home/me/target/recoup"));
        assert!(!passing("/home/me/.local/share/uv/tools/recoup/bin/recoup"));
        assert!(!passing("/usr/lib/node_modules/recoup/node_modules/recoup-linux-x64/bin/recoup"));
    }
}
