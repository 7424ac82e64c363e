//! Programs of others that benchmarks are compared with, built from crates.io. They take long to build
//! and are no part of the tests, so one that can't be had is only told: its rows are skipped.
//!
//! ```text
//! target/tools/mcp-proxy/bin/mcp-proxy   another proxy that caches tool calls
//! ```

use crate::process;
use crate::tools::Found;
use crate::unpacked::Shed;
use crate::workspace;

/// Crate, which is also the program's name, and the one version of it.
const PEERS: [(&str, &str); 1] = [("mcp-proxy", "0.6.0")];

/// The peers that are there, or can be had.
pub(crate) fn bring() -> Vec<Found> {
    let found = PEERS.into_iter().filter_map(|(name, version)| {
        installed(name, version)
            .inspect_err(|reason| {
                eprintln!("no comparison with {name} {version}, which could not be had: {reason}");
            })
            .ok()
    });
    found.collect()
}

fn installed(name: &str, version: &str) -> Result<Found, String> {
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
    Ok(Found::unasked(executable, version))
}
