//! The clients that `--full` drives: real programs from the npm registry, each
//! in exactly the version whose payloads the tests were written for.
//!
//! ```text
//! xtask/clients/claude-code/             what is wanted: package.json, and the lock file with
//!                                        the digest of every package
//! target/tools/claude-code/bin/claude    leads to the program
//! target/tools/claude-code/node_modules  where npm put it
//! ```
//!
//! The lock files name no registry: npm asks the one that it is set up with.
//! No install script is run, and a client on the PATH is never used: it would
//! be another version, and another one tomorrow.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::tools::Found;
use crate::unpacked::{self, Shed};
use crate::workspace;

/// What decides which packages are installed.
const MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// A program that comes as one executable inside an npm package: no Node.js is
/// needed to run it.
pub(crate) struct Client {
    name: &'static str,
    program: &'static str,
    /// The npm scope, and how the packages in it begin that hold the program
    /// for one kind of machine each.
    scope: &'static str,
    package: &'static str,
}

pub(crate) const CLAUDE_CODE: Client = Client {
    name: "claude-code",
    program: "claude",
    scope: "@anthropic-ai",
    package: "claude-code-",
};

impl Client {
    /// Where the client is, installed first if it is not there in the version
    /// that is wanted.
    pub(crate) fn bring(&self) -> Result<Found, Failure> {
        self.installed().map_err(|reason| {
            Failure::Task(format!(
                "{name} could not be installed from the npm registry ({reason}): it needs npm, \
                 which comes with Node.js (Debian: apt-get install npm); without `--full` it is \
                 not needed",
                name = self.name
            ))
        })
    }

    fn installed(&self) -> Result<Found, String> {
        let shed = Shed::open(&workspace::tools_dir())?;
        let folder = shed.folder(self.name);
        let executable = folder.join("bin").join(self.program);
        if self.is_as_wanted(&folder)
            && let Ok(found) = Found::ask(executable.clone(), true)
        {
            return Ok(found);
        }
        eprintln!("installing {} from the npm registry ...", self.name);
        shed.make(self.name, |partial| self.fill(partial))?;
        Found::ask(executable, true)
    }

    /// Whether what is in `folder` was installed from today's manifests.
    fn is_as_wanted(&self, folder: &Path) -> bool {
        MANIFESTS.iter().all(|name| {
            let wanted = fs::read(self.manifests().join(name)).ok();
            wanted.is_some() && wanted == fs::read(folder.join(name)).ok()
        })
    }

    fn fill(&self, folder: &Path) -> Result<(), String> {
        let described = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder.join("bin")).map_err(described)?;
        for name in MANIFESTS {
            fs::copy(self.manifests().join(name), folder.join(name)).map_err(described)?;
        }
        // `ci` installs what the lock file says, verified, or nothing.
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
        process::capture(npm.current_dir(folder))?;
        let target = self.executable_in(folder)?;
        symlink(target, folder.join("bin").join(self.program)).map_err(described)
    }

    /// The program as npm has put it there, seen from `bin`.
    fn executable_in(&self, folder: &Path) -> Result<PathBuf, String> {
        let scope = Path::new("node_modules").join(self.scope);
        unpacked::entries(&folder.join(&scope))
            .map_err(|error| format!("{}: {error}", scope.display()))?
            .iter()
            .filter_map(|package| package.file_name())
            .filter(|package| package.to_string_lossy().starts_with(self.package))
            .map(|package| scope.join(package).join(self.program))
            .find(|executable| folder.join(executable).is_file())
            .map(|executable| Path::new("..").join(executable))
            .ok_or_else(|| "there is no package for this kind of machine".to_owned())
    }

    fn manifests(&self) -> PathBuf {
        workspace::root().join("xtask/clients").join(self.name)
    }
}
