//! The programs that tests start, and where each of them comes from: the PATH
//! if it is there, otherwise Debian's packages or npm's, unpacked under `target/tools`.
//! Clients, whose version matters, come from the npm registry (`clients.rs`), and
//! npm, with Node.js, from Python's (`node.rs`).
//!
//! A tool that can't be had fails the run. Tests never skip because something
//! is missing: a skipped test looks just like a passed one.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::args::Extent;
use crate::clients;
use crate::failure::Failure;
use crate::mcp_clients;
use crate::node;
use crate::npm::Pinned;
use crate::peers;
use crate::process;
use crate::unpacked::Shed;
use crate::workspace;

/// A program that tests start.
pub(crate) struct Tool {
    pub(crate) program: &'static str,
    /// Where it is had from.
    pub(crate) origin: Origin,
    /// What the program must be told when it does not live at `/`: variables,
    /// and the folders in the package that they point to.
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

/// Who has a program.
pub(crate) enum Origin {
    /// This Debian package, as `usr/bin/PROGRAM` or `usr/sbin/PROGRAM`.
    Debian(&'static str),
    /// These packages of npm; Node.js runs this file of them.
    Npm(&'static [Pinned<'static>], &'static str),
}

/// The compiler for our extension, and the types of the version of Pi that it is made for.
const PI_TYPES: &[Pinned<'static>] = &[
    ("typescript", "5.9.3"),
    ("@types/node", "22.19.19"),
    ("undici-types", "6.21.0"),
    ("@earendil-works/pi-coding-agent", "1.5.0"),
    ("@earendil-works/pi-agent-core", "1.5.0"),
    ("@earendil-works/pi-ai", "1.5.0"),
    ("typebox", "1.3.27"),
];

const TOOLS: &[Tool] = &[
    Tool {
        program: "git",
        origin: Origin::Debian("git"),
        variables: &[
            ("GIT_EXEC_PATH", "usr/lib/git-core"),
            ("GIT_TEMPLATE_DIR", "usr/share/git-core/templates"),
        ],
    },
    Tool { program: "redis-server", origin: Origin::Debian("redis-server"), variables: &[] },
    Tool { program: "valkey-server", origin: Origin::Debian("valkey-server"), variables: &[] },
];

const PI_TSC: Tool =
    Tool { program: "pi-tsc", origin: Origin::Npm(PI_TYPES, "typescript/bin/tsc"), variables: &[] };

/// What benchmarks are measured against, beside the tools of the tests.
const BENCH_TOOLS: &[Tool] =
    &[Tool { program: "jq", origin: Origin::Debian("jq"), variables: &[] }];

/// A tool that has been found, and has answered.
pub(crate) struct Found {
    executable: PathBuf,
    version: String,
    unpacked: bool,
}

/// The tools of a run.
pub(crate) struct Tools {
    found: Vec<Found>,
}

/// `cargo xtask tools`.
pub(crate) fn run(extent: Extent) -> Result<ExitCode, Failure> {
    for found in Tools::bring(extent)?.found {
        let origin = if found.unpacked { "unpacked" } else { "on the PATH" };
        println!("{} ({origin}): {}", found.executable.display(), found.version);
    }
    Ok(ExitCode::SUCCESS)
}

impl Tools {
    /// Finds every tool of the tests, and unpacks those that are missing.
    pub(crate) fn bring(extent: Extent) -> Result<Self, Failure> {
        let mut tools = Self::bring_all(TOOLS.iter())?;
        tools.found.extend([node::bring()?, PI_TSC.bring()?]);
        tools.found.extend(mcp_clients::bring()?);
        if extent == Extent::Full {
            for client in &clients::ALL {
                tools.found.push(client.bring()?);
            }
        }
        Ok(tools)
    }

    /// The tools of the benchmarks.
    pub(crate) fn bring_for_bench() -> Result<Self, Failure> {
        let mut tools = Self::bring_all(TOOLS.iter().chain(BENCH_TOOLS))?;
        tools.found.push(node::bring()?);
        tools.found.extend(mcp_clients::bring()?);
        tools.found.extend(peers::bring());
        Ok(tools)
    }

    fn bring_all<'a>(tools: impl Iterator<Item = &'a Tool>) -> Result<Self, Failure> {
        let found = tools.map(Tool::bring).collect::<Result<_, _>>()?;
        Ok(Self { found })
    }

    /// Lets `command`, and what it starts, find the unpacked tools.
    pub(crate) fn extend(&self, command: &mut Command) -> Result<(), Failure> {
        let own = self.folders().map(Path::to_owned);
        let inherited = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(own.chain(env::split_paths(&inherited)))
            .map_err(|error| Failure::Task(format!("cannot add the tools to PATH: {error}")))?;
        command.env("PATH", path);
        Ok(())
    }

    /// The same, as a person writes it in front of a command; empty when
    /// everything was on the PATH.
    pub(crate) fn shell_prefix(&self) -> String {
        let folders: Vec<_> = self.folders().map(|folder| folder.display().to_string()).collect();
        if folders.is_empty() {
            return String::new();
        }
        format!("PATH=\"{}:$PATH\" ", folders.join(":"))
    }

    fn folders(&self) -> impl Iterator<Item = &Path> {
        self.found
            .iter()
            .filter(|found| found.unpacked)
            .filter_map(|found| found.executable.parent())
    }
}

impl Tool {
    fn bring(&self) -> Result<Found, Failure> {
        if let Some(found) = self.on_path(env::var_os("PATH")) {
            return Ok(found);
        }
        self.unpacked().map_err(|reason| {
            let program = self.program;
            Failure::Task(match self.origin {
                Origin::Debian(package) => format!(
                    "`{program}` is missing and could not be unpacked from Debian's packages \
                     ({reason}): install it (Debian: apt-get install {package}) and run again"
                ),
                Origin::Npm(..) => node::missing(&format!("`{program}`"), &reason),
            })
        })
    }

    fn on_path(&self, path: Option<OsString>) -> Option<Found> {
        env::split_paths(&path?)
            .map(|folder| folder.join(self.program))
            .filter(|candidate| candidate.is_file())
            .find_map(|executable| Found::ask(executable, false).ok())
    }

    fn unpacked(&self) -> Result<Found, String> {
        let shed = Shed::open(&workspace::tools_dir())?;
        // What an earlier run has unpacked is good if it still answers: the
        // system's libraries beneath it may have changed since.
        if let Ok(found) = Found::ask(shed.executable(self), true) {
            return Ok(found);
        }
        eprintln!("unpacking {} ...", self.program);
        shed.unpack(self)?;
        Found::ask(shed.executable(self), true)
    }
}

impl Found {
    pub(crate) fn ask(executable: PathBuf, unpacked: bool) -> Result<Self, String> {
        Self::asked(Command::new(&executable), executable, unpacked)
    }

    /// The same for a program that makes itself at home even when it is only asked for its
    /// version: it is given a home, so that it leaves the user's alone.
    pub(crate) fn ask_at(home: &Path, executable: PathBuf) -> Result<Self, String> {
        let mut command = Command::new(&executable);
        command.env_clear().env("HOME", home);
        if let Some(path) = env::var_os("PATH") {
            command.env("PATH", path);
        }
        Self::asked(command, executable, true)
    }

    /// One that has no option to tell its version.
    pub(crate) fn unasked(executable: PathBuf, version: &str) -> Self {
        Self { executable, version: version.to_owned(), unpacked: true }
    }

    fn asked(mut command: Command, executable: PathBuf, unpacked: bool) -> Result<Self, String> {
        let answer = process::capture(command.arg("--version"))?;
        let version = answer.lines().next().unwrap_or_default().to_owned();
        Ok(Self { executable, version, unpacked })
    }
}
