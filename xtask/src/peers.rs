//! Programs of others that benchmarks are compared with, and that make their load. They take long to
//! build or to install and are no part of the tests, so one that can't be had is only told: its rows
//! are skipped.
//!
//! ```text
//! target/tools/mcp-proxy/bin/mcp-proxy   another proxy that caches tool calls, from crates.io
//! target/tools/nginx/bin/nginx           Debian's, whose proxy can cache
//! target/tools/wrk/bin/wrk               Debian's, which makes the load
//! target/tools/litellm/bin/litellm       a gateway to model APIs, from Python's registry
//! ```

use std::path::PathBuf;

use crate::mcp_clients;
use crate::node::{self, REQUIREMENTS};
use crate::process;
use crate::tools::{Found, Origin, Tool};
use crate::unpacked::{self, Shed};
use crate::workspace;

/// Crate, which is also the program's name, and the one version of it.
const CRATES: [(&str, &str); 1] = [("mcp-proxy", "0.6.0")];
const DEBIAN: [Tool; 2] = [
    Tool { program: "nginx", origin: Origin::Debian("nginx"), variables: &[] },
    Tool { program: "wrk", origin: Origin::Debian("wrk"), variables: &[] },
];
const LITELLM: &str = "litellm";

/// The peers that are there, or can be had.
pub(crate) fn bring() -> Vec<Found> {
    let built = CRATES.into_iter().map(|(name, version)| (name, build(name, version)));
    let unpacked = DEBIAN.iter().map(|tool| (tool.program, unpack(tool)));
    let all = built.chain(unpacked).chain([(LITELLM, install_litellm())]);
    let found = all.filter_map(|(name, found)| {
        found
            .inspect_err(|reason| {
                eprintln!("no comparison with {name}, which could not be had: {reason}");
            })
            .ok()
    });
    found.collect()
}

fn build(name: &str, version: &str) -> Result<Found, String> {
    build_crate(name, version).map(|executable| Found::unasked(executable, version))
}

/// The program of a crate, built if it is not there in this version.
pub(crate) fn build_crate(name: &str, version: &str) -> Result<PathBuf, String> {
    let shed = Shed::open(&workspace::tools_dir())?;
    let executable = shed.folder(name).join("bin").join(name);
    // Cargo's own register says which version it is.
    let register = shed.folder(name).join(".crates.toml");
    let is_wanted = std::fs::read_to_string(register)
        .is_ok_and(|text| text.contains(&format!("\"{name} {version} ")));
    if !(is_wanted && executable.is_file()) {
        eprintln!("building {name} {version} from crates.io, which takes some minutes ...");
        shed.make(name, |partial| {
            let mut cargo =
                workspace::cargo(["install", "--locked", "--quiet", "--version", version]);
            // Apart from our own builds, whose flags and directory are not meant for it.
            let scratch = partial.join("build");
            cargo.arg("--root").arg(partial).arg("--target-dir").arg(&scratch).arg(name);
            process::capture(cargo.env_remove("RUSTFLAGS"))?;
            std::fs::remove_dir_all(&scratch)
                .map_err(|error| format!("{}: {error}", scratch.display()))
        })?;
    }
    Ok(executable)
}

/// Neither program answers `--version` with success, so they are not asked.
fn unpack(tool: &Tool) -> Result<Found, String> {
    let shed = Shed::open(&workspace::tools_dir())?;
    let executable = shed.executable(tool);
    if !executable.is_file() {
        eprintln!("unpacking {} ...", tool.program);
        shed.unpack(tool)?;
    }
    Ok(Found::unasked(executable, "from Debian's packages"))
}

fn install_litellm() -> Result<Found, String> {
    const RUN: &str = "import sys; sys.path.insert(0, sys.argv[1]); del sys.argv[1]; \
         from litellm import run_server; run_server()";
    let shed = Shed::open(&workspace::tools_dir())?;
    let folder = shed.folder(LITELLM);
    let manifests = workspace::root().join("xtask/clients").join(LITELLM);
    if !unpacked::is_made_from(&manifests, &[REQUIREMENTS], &folder) {
        eprintln!("installing LiteLLM's proxy from Python's registry ...");
        let python = node::python(&shed)?;
        shed.make(LITELLM, |partial| {
            unpacked::begin_from(&manifests, &[REQUIREMENTS], partial)?;
            node::pip_install(&python, partial)?;
            let script = mcp_clients::python_starter(&python, RUN);
            unpacked::write_script(partial, LITELLM, &script)
                .map_err(|error| format!("{}: {error}", partial.display()))
        })?;
    }
    Ok(Found::unasked(folder.join("bin").join(LITELLM), "from Python's registry"))
}
