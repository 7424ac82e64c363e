//! The clients that `--full` drives: real programs from the npm registry, each
//! in exactly the version whose payloads the tests were written for.
//!
//! ```text
//! xtask/clients/claude-code/             what is wanted: package.json, and the lock file with
//!                                        the digest of every package
//! xtask/clients/pi/packages.txt          the same for a program that needs no more than these
//! target/tools/claude-code/bin/claude    leads to the program
//! target/tools/claude-code/node_modules  where npm put it
//! target/tools/claude-code/home          its home while it is asked for its version
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
use crate::npm;
use crate::tools::Found;
use crate::unpacked::{self, Shed};
use crate::workspace;

/// A program that runs agents.
pub(crate) struct Client {
    name: &'static str,
    program: &'static str,
    wanted: Wanted,
    start: Start,
}

/// What decides which packages are installed, and how.
enum Wanted {
    /// A lock file: these, and all that they depend on.
    Locked,
    /// A list: these alone. What else they name is for parts that are not used, or is in their
    /// bundle already.
    Alone,
}

/// What is run.
enum Start {
    /// The one executable inside the package for this kind of machine: no Node.js is needed.
    Native {
        within: &'static str,
        /// How the packages begin that hold the program for one kind of machine each.
        package: &'static str,
        file: &'static str,
    },
    /// A script for Node.js.
    Script(&'static str),
}

/// Claude Code since it is no longer a script.
const CLAUDE_CODE: Start =
    Start::Native { within: "node_modules/@anthropic-ai", package: "claude-code-", file: "claude" };

/// Every client that tests drive. Older versions have the version in the program's name, so that
/// all are on one PATH.
pub(crate) const ALL: [Client; 8] = [
    Client { name: "claude-code", program: "claude", wanted: Wanted::Locked, start: CLAUDE_CODE },
    Client {
        name: "claude-code-2.1.100",
        program: "claude-2.1.100",
        wanted: Wanted::Alone,
        start: Start::Script("node_modules/@anthropic-ai/claude-code/cli.js"),
    },
    Client {
        name: "claude-code-2.1.138",
        program: "claude-2.1.138",
        wanted: Wanted::Locked,
        start: CLAUDE_CODE,
    },
    Client {
        name: "claude-code-2.1.139",
        program: "claude-2.1.139",
        wanted: Wanted::Locked,
        start: CLAUDE_CODE,
    },
    Client {
        name: "codex",
        program: "codex",
        wanted: Wanted::Locked,
        start: Start::Script("node_modules/@openai/codex/bin/codex.js"),
    },
    Client {
        name: "gemini",
        program: "gemini",
        wanted: Wanted::Locked,
        start: Start::Script("node_modules/@google/gemini-cli/bundle/gemini.js"),
    },
    Client {
        name: "opencode",
        program: "opencode",
        wanted: Wanted::Locked,
        start: Start::Native {
            within: "node_modules",
            package: "opencode-linux-",
            file: "bin/opencode",
        },
    },
    Client {
        name: "pi",
        program: "pi",
        wanted: Wanted::Alone,
        start: Start::Script("node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
    },
];

impl Wanted {
    fn manifests(&self) -> &'static [&'static str] {
        match self {
            Self::Locked => &["package.json", "package-lock.json"],
            Self::Alone => &["packages.txt"],
        }
    }
}

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
        let home = folder.join("home");
        if unpacked::is_made_from(&self.manifests(), self.wanted.manifests(), &folder)
            && let Ok(found) = Found::ask_at(&home, executable.clone())
        {
            return Ok(found);
        }
        eprintln!("installing {} from the npm registry ...", self.name);
        let node = Node::installed(&shed)?;
        shed.make(self.name, |partial| self.fill(partial, &node))?;
        Found::ask_at(&home, executable)
    }

    fn fill(&self, folder: &Path, node: &Node) -> Result<(), String> {
        let described = |error: std::io::Error| format!("{}: {error}", folder.display());
        unpacked::begin_from(&self.manifests(), self.wanted.manifests(), folder)?;
        match self.wanted {
            Wanted::Locked => node.install_locked(folder)?,
            Wanted::Alone => unpack_alone(folder, node)?,
        }
        match &self.start {
            Start::Native { within, package, file } => {
                let target = native(folder, within, package, file)?;
                fs::create_dir_all(folder.join("bin")).map_err(described)?;
                symlink(target, folder.join("bin").join(self.program)).map_err(described)
            }
            Start::Script(file) if !folder.join(file).is_file() => {
                Err(format!("no {file} in the package that npm installed"))
            }
            Start::Script(file) => {
                unpacked::write_script(folder, self.program, &starter(file)).map_err(described)
            }
        }
    }

    fn manifests(&self) -> PathBuf {
        workspace::root().join("xtask/clients").join(self.name)
    }
}

/// The program as npm has put it there, seen from `bin`.
fn native(folder: &Path, within: &str, package: &str, file: &str) -> Result<PathBuf, String> {
    unpacked::entries(&folder.join(within))
        .map_err(|error| format!("{within}: {error}"))?
        .iter()
        .filter_map(|entry| entry.file_name())
        .filter(|entry| entry.to_string_lossy().starts_with(package))
        .map(|entry| Path::new(within).join(entry).join(file))
        .find(|executable| folder.join(executable).is_file())
        .map(|executable| Path::new("..").join(executable))
        .ok_or_else(|| "no package for this platform".to_owned())
}

/// Each line of the list is `NAME@VERSION`.
fn unpack_alone(folder: &Path, node: &Node) -> Result<(), String> {
    let described = |error: std::io::Error| format!("{}: {error}", folder.display());
    let list = fs::read_to_string(folder.join("packages.txt")).map_err(described)?;
    let packages: Vec<npm::Pinned<'_>> =
        list.lines().filter_map(|line| line.rsplit_once('@')).collect();
    let downloads = folder.join("packages");
    fs::create_dir_all(&downloads).map_err(described)?;
    npm::unpack(node, &packages, &downloads, folder)?;
    fs::remove_dir_all(&downloads).map_err(described)
}

/// `exec`, so that a test can stop the program by the id that it started.
fn starter(file: &str) -> String {
    format!("#!/bin/sh\nexec \"${{0%/*}}/../../node/bin/node\" \"${{0%/*}}/../{file}\" \"$@\"\n")
}
