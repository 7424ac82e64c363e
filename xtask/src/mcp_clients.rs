//! The clients of MCP that the server is tested with: the Python SDK, the inspector and the
//! conformance suite, each in exactly the version that is written down.
//!
//! ```text
//! xtask/clients/mcp/                what is wanted: requirements.txt, package.json and its lock file
//! target/tools/mcp-clients/bin/     mcp-python, mcp-inspector, mcp-conformance
//! target/tools/mcp-clients/python/  where pip put its packages
//! target/tools/mcp-clients/node_modules/
//! ```

use std::path::Path;

use crate::failure::Failure;
use crate::node::{self, Node, REQUIREMENTS};
use crate::tools::Found;
use crate::unpacked::{self, Shed};
use crate::workspace;

const NAME: &str = "mcp-clients";
/// What decides which packages are installed.
const MANIFESTS: [&str; 3] = [REQUIREMENTS, "package.json", "package-lock.json"];

/// Where the clients are, installed first if they are not there as they are wanted.
pub(crate) fn bring() -> Result<Found, Failure> {
    installed().map_err(|reason| Failure::Task(node::missing("the clients of MCP", &reason)))
}

fn installed() -> Result<Found, String> {
    let shed = Shed::open(&workspace::tools_dir())?;
    let folder = shed.folder(NAME);
    let python = folder.join("bin/mcp-python");
    let manifests = workspace::root().join("xtask/clients/mcp");
    if unpacked::is_made_from(&manifests, &MANIFESTS, &folder)
        && let Ok(found) = Found::ask(python.clone(), true)
    {
        return Ok(found);
    }
    eprintln!("installing clients of MCP from the registries of Python and npm ...");
    let node = Node::installed(&shed)?;
    let with = node::python(&shed)?;
    shed.make(NAME, |partial| {
        unpacked::begin_from(&manifests, &MANIFESTS, partial)?;
        node::pip_install(&with, partial)?;
        node.install_locked(partial)?;
        for (name, script) in starters(&with, &node.bin()) {
            unpacked::write_script(partial, name, &script)
                .map_err(|error| format!("{}: {error}", partial.display()))?;
        }
        Ok(())
    })?;
    Found::ask(python, true)
}

/// Scripts that start the clients as if each were at home.
fn starters(python: &Path, node: &Path) -> [(&'static str, String); 3] {
    let packages = "$home/node_modules/@modelcontextprotocol";
    // The inspector starts `node` by its name.
    let start = |line: &str| {
        let path = node.display();
        format!(
            "#!/bin/sh\nhome=$(cd \"${{0%/*}}/..\" && pwd)\nexport PATH=\"{path}:$PATH\"\nexec {line} \"$@\"\n"
        )
    };
    // `PYTHONPATH` may be taken: Debian's own Python, unpacked, is told by it where its pip is.
    let run = "import runpy, sys; sys.path.insert(0, sys.argv[1]); del sys.argv[:2]; \
               sys.path.insert(0, \"\"); runpy.run_path(sys.argv[0], run_name=\"__main__\")";
    [
        ("mcp-python", python_starter(python, run)),
        ("mcp-inspector", start(&format!("node \"{packages}/inspector/cli/build/cli.js\""))),
        ("mcp-conformance", start(&format!("node \"{packages}/conformance/dist/index.js\""))),
    ]
}

/// Says which Python it is, or runs a file that finds the packages.
fn python_starter(python: &Path, run: &str) -> String {
    let python = python.display();
    format!(
        "#!/bin/sh\nhome=${{0%/*}}/..\n[ \"$1\" = --version ] && exec \"{python}\" --version\n\
         exec \"{python}\" -W ignore -c '{run}' \"$home/python\" \"$@\"\n"
    )
}
