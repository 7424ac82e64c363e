//! The clients of MCP that the server is tested with (the Python SDK, the inspector and the
//! conformance suite), the servers that the proxy is tested with, and the SDKs of model APIs that
//! the gateway is tested with, each in exactly the version that is written down.
//!
//! ```text
//! xtask/clients/mcp/                what is wanted: requirements.txt, package.json and its lock file
//! target/tools/mcp-clients/bin/     mcp-python, mcp-inspector, mcp-conformance
//! target/tools/mcp-clients/python/  where pip put its packages
//! target/tools/mcp-clients/node_modules/
//! xtask/clients/mcp-servers/        the same for servers
//! target/tools/mcp-servers/bin/     mcp-server-git, mcp-server-everything, …
//! xtask/clients/model-sdks/         the same for SDKs of Anthropic, OpenAI and Vercel
//! target/tools/model-sdks/bin/      sdk-python, sdk-node
//! ```

use std::path::Path;

use crate::failure::Failure;
use crate::node::{self, Node, REQUIREMENTS};
use crate::tools::Found;
use crate::unpacked::{self, Shed};
use crate::workspace;

/// What decides which packages are installed.
const MANIFESTS: [&str; 3] = [REQUIREMENTS, "package.json", "package-lock.json"];

/// Programs from both registries, in one folder.
struct Bundle {
    name: &'static str,
    /// For people.
    what: &'static str,
    /// Folder of the manifests.
    manifests: &'static str,
    /// Program that is asked for its version.
    asked: &'static str,
    starters: fn(&Path, &Path) -> Vec<(&'static str, String)>,
}

const CLIENTS: Bundle = Bundle {
    name: "mcp-clients",
    what: "clients of MCP",
    manifests: "mcp",
    asked: "mcp-python",
    starters: client_starters,
};

const SERVERS: Bundle = Bundle {
    name: "mcp-servers",
    what: "servers of MCP",
    manifests: "mcp-servers",
    asked: "mcp-server-git",
    starters: server_starters,
};

const MODEL_SDKS: Bundle = Bundle {
    name: "model-sdks",
    what: "SDKs of model APIs",
    manifests: "model-sdks",
    asked: "sdk-python",
    starters: sdk_starters,
};

/// Clients, servers and SDKs, installed first if they are not there as they are wanted.
pub(crate) fn bring() -> Result<[Found; 3], Failure> {
    Ok([CLIENTS.bring()?, SERVERS.bring()?, MODEL_SDKS.bring()?])
}

impl Bundle {
    fn bring(&self) -> Result<Found, Failure> {
        self.installed().map_err(|reason| Failure::Task(node::missing(self.what, &reason)))
    }

    fn installed(&self) -> Result<Found, String> {
        let shed = Shed::open(&workspace::tools_dir())?;
        let folder = shed.folder(self.name);
        let asked = folder.join("bin").join(self.asked);
        let manifests = workspace::root().join("xtask/clients").join(self.manifests);
        if unpacked::is_made_from(&manifests, &MANIFESTS, &folder)
            && let Ok(found) = Found::ask(asked.clone(), true)
        {
            return Ok(found);
        }
        eprintln!("installing {} from the registries of Python and npm ...", self.what);
        let node = Node::installed(&shed)?;
        let with = node::python(&shed)?;
        shed.make(self.name, |partial| {
            unpacked::begin_from(&manifests, &MANIFESTS, partial)?;
            node::pip_install(&with, partial)?;
            node.install_locked(partial)?;
            for (name, script) in (self.starters)(&with, &node.bin()) {
                unpacked::write_script(partial, name, &script)
                    .map_err(|error| format!("{}: {error}", partial.display()))?;
            }
            Ok(())
        })?;
        Found::ask(asked, true)
    }
}

/// Runs a script with the packages. `PYTHONPATH` may be taken: Debian's own Python, unpacked, is
/// told by it where its pip is.
const RUN_SCRIPT: &str = "import runpy, sys; sys.path.insert(0, sys.argv[1]); del sys.argv[:2]; \
     sys.path.insert(0, \"\"); runpy.run_path(sys.argv[0], run_name=\"__main__\")";

/// Scripts that start the clients as if each were at home.
fn client_starters(python: &Path, node: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("mcp-python", python_starter(python, RUN_SCRIPT)),
        ("mcp-inspector", node_starter(node, "inspector/cli/build/cli.js")),
        ("mcp-conformance", node_starter(node, "conformance/dist/index.js")),
    ]
}

/// The same for servers, by the names that they have in their registries.
fn server_starters(python: &Path, node: &Path) -> Vec<(&'static str, String)> {
    let module = |module: &str| {
        let run = format!(
            "import runpy, sys; sys.path.insert(0, sys.argv[1]); del sys.argv[1]; \
             runpy.run_module(\"{module}\", run_name=\"__main__\", alter_sys=True)"
        );
        python_starter(python, &run)
    };
    vec![
        ("mcp-server-git", module("mcp_server_git")),
        ("mcp-server-fetch", module("mcp_server_fetch")),
        ("mcp-server-time", module("mcp_server_time")),
        ("mcp-server-everything", node_starter(node, "server-everything/dist/index.js")),
        ("mcp-server-filesystem", node_starter(node, "server-filesystem/dist/index.js")),
        ("mcp-server-memory", node_starter(node, "server-memory/dist/index.js")),
    ]
}

/// Interpreters that find the SDKs, wherever the script that they run is.
fn sdk_starters(python: &Path, node: &Path) -> Vec<(&'static str, String)> {
    let node = format!(
        "#!/bin/sh\nexport NODE_PATH=\"${{0%/*}}/../node_modules\"\nexec \"{}/node\" \"$@\"\n",
        node.display()
    );
    vec![("sdk-python", python_starter(python, RUN_SCRIPT)), ("sdk-node", node)]
}

/// Starts a file of the organisation's packages; the inspector starts `node` by its name.
fn node_starter(node: &Path, file: &str) -> String {
    let path = node.display();
    format!(
        "#!/bin/sh\nhome=$(cd \"${{0%/*}}/..\" && pwd)\nexport PATH=\"{path}:$PATH\"\n\
         exec node \"$home/node_modules/@modelcontextprotocol/{file}\" \"$@\"\n"
    )
}

/// Says which Python it is, or runs what finds the packages.
pub(crate) fn python_starter(python: &Path, run: &str) -> String {
    let python = python.display();
    format!(
        "#!/bin/sh\nhome=${{0%/*}}/..\n[ \"$1\" = --version ] && exec \"{python}\" --version\n\
         exec \"{python}\" -W ignore -c '{run}' \"$home/python\" \"$@\"\n"
    )
}
