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

use crate::failure::Failure;
use crate::node::Node;
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
                "{name} could not be installed from the npm registry ({reason}); without `--full` \
                 it is not needed",
                name = self.name
            ))
        })
    }

    fn installed(&self) -> Result<Found, String> {
        let shed = Shed::open(&workspace::tools_dir())?;
        let folder = shed.folder(self.name);
        let executable = folder.join("bin").join(self.program);
        if unpacked::is_made_from(&self.manifests(), &MANIFESTS, &folder)
            && let Ok(found) = Found::ask(executable.clone(), true)
        {
            return Ok(found);
        }
        eprintln!("installing {} from the npm registry ...", self.name);
        let node = Node::installed(&shed)?;
        shed.make(self.name, |partial| self.fill(partial, &node))?;
        Found::ask(executable, true)
    }

    fn fill(&self, folder: &Path, node: &Node) -> Result<(), String> {
        let described = |error: std::io::Error| format!("{}: {error}", folder.display());
        unpacked::begin_from(&self.manifests(), &MANIFESTS, folder)?;
        fs::create_dir_all(folder.join("bin")).map_err(described)?;
        node.install_locked(folder)?;
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
