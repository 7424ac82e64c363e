//! The tools that were unpacked rather than installed, one folder each:
//!
//! ```text
//! target/tools/git/bin/git    a script that starts the program as if it were at home
//! target/tools/git/root/usr/  the packages' files
//! target/tools/apt/           apt's own state
//! target/tools/node/          Node.js with npm (`node.rs`)
//! target/tools/claude-code/   a client, as are others (`clients.rs`)
//! target/tools/mcp-clients/   more of them (`mcp_clients.rs`)
//! target/tools/mcp-servers/   servers for the proxy (likewise)
//! target/tools/model-sdks/    SDKs for the gateway (likewise)
//! target/tools/mcp-proxy/     another proxy, for the benchmarks, as are others (`peers.rs`)
//! ```

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::debian::{self, Apt};
use crate::node::Node;
use crate::npm;
use crate::tools::{Origin, Tool};

/// The folder of all unpacked tools, locked: a second run waits for the first
/// instead of unpacking into its half-made tree.
pub(crate) struct Shed {
    folder: PathBuf,
    _lock: File,
}

impl Shed {
    pub(crate) fn open(folder: &Path) -> Result<Self, String> {
        let open = || -> io::Result<File> {
            fs::create_dir_all(folder)?;
            let lock = File::create(folder.join("lock"))?;
            lock.lock()?;
            Ok(lock)
        };
        let lock = open().map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { folder: folder.to_owned(), _lock: lock })
    }

    /// Where `tool` is started from, whether it is there or not.
    pub(crate) fn executable(&self, tool: &Tool) -> PathBuf {
        self.folder(tool.program).join("bin").join(tool.program)
    }

    /// The folder of one tool, whether it is there or not.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Fetches and unpacks `tool`.
    pub(crate) fn unpack(&self, tool: &Tool) -> Result<(), String> {
        self.make(tool.program, |folder| self.fill(tool, folder))
    }

    /// Makes the folder of one tool anew. It appears under its name only when
    /// it is whole; what an interrupted run left behind is swept away first.
    pub(crate) fn make(
        &self,
        name: &str,
        fill: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<(), String> {
        let partial = self.folder(&format!("{name}.partial"));
        let whole = self.folder(name);
        for old in [&partial, &whole] {
            remove(old).map_err(|error| format!("{}: {error}", old.display()))?;
        }
        fill(&partial)?;
        fs::rename(&partial, &whole).map_err(|error| format!("{}: {error}", whole.display()))
    }

    fn fill(&self, tool: &Tool, folder: &Path) -> Result<(), String> {
        self.fetch(&tool.origin, folder)?;
        write_starter(tool, folder).map_err(|error| format!("{}: {error}", folder.display()))
    }

    /// Unpacks what a program comes in, and all that it needs, into `folder/root`.
    pub(crate) fn fetch(&self, origin: &Origin, folder: &Path) -> Result<(), String> {
        let described = |error: io::Error| format!("{}: {error}", folder.display());
        let packages = folder.join("packages");
        let root = folder.join("root");
        for path in [&packages, &root] {
            fs::create_dir_all(path).map_err(described)?;
        }
        match origin {
            Origin::Debian(package) => {
                Apt::at(&self.folder.join("apt"))?.download(package, &packages)?;
                for package in entries(&packages).map_err(described)? {
                    debian::extract(&package, &root)?;
                }
            }
            Origin::Npm(pinned, _) => {
                npm::unpack(&Node::installed(self)?, pinned, &packages, &root)?;
            }
        }
        remove(&packages).map_err(described)
    }
}

/// Whether what is in `folder` was made from today's `manifests`: those of these names.
pub(crate) fn is_made_from(manifests: &Path, names: &[&str], folder: &Path) -> bool {
    names.iter().all(|name| {
        let wanted = fs::read(manifests.join(name)).ok();
        wanted.is_some() && wanted == fs::read(folder.join(name)).ok()
    })
}

/// Begins a `folder` with a copy of them.
pub(crate) fn begin_from(manifests: &Path, names: &[&str], folder: &Path) -> Result<(), String> {
    let described = |error: io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(described)?;
    for name in names {
        fs::copy(manifests.join(name), folder.join(name)).map_err(described)?;
    }
    Ok(())
}

/// Variables such as `LD_LIBRARY_PATH` are set in a script for this program
/// alone: in the environment of a whole test run they would reach cargo, rustc
/// and the code under test as well.
fn write_starter(tool: &Tool, folder: &Path) -> io::Result<()> {
    let libraries = library_folders(&folder.join("root"))?;
    write_script(folder, tool.program, &starter(tool, &libraries))
}

/// Puts a script that can be run into the folder's `bin`.
pub(crate) fn write_script(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let script = folder.join("bin").join(name);
    fs::create_dir_all(folder.join("bin"))?;
    fs::write(&script, text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
}

fn starter(tool: &Tool, libraries: &[String]) -> String {
    let mut lines = vec!["#!/bin/sh".to_owned(), "root=${0%/*}/../root".to_owned()];
    if !libraries.is_empty() {
        let list: Vec<_> = libraries.iter().map(|folder| format!("$root/{folder}")).collect();
        let inherited = "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}";
        lines.push(format!("export LD_LIBRARY_PATH=\"{}{inherited}\"", list.join(":")));
    }
    for (variable, folder) in tool.variables {
        lines.push(format!("export {variable}=\"$root/{folder}\""));
    }
    // `exec`, so that a test can stop the program by the id that it started.
    lines.push(match tool.origin {
        // In `bin` or `sbin`.
        Origin::Debian(_) => format!("exec \"$root\"/usr/*bin/{} \"$@\"\n", tool.program),
        Origin::Npm(_, file) => {
            format!("exec \"$root/../../node/bin/node\" \"$root/node_modules/{file}\" \"$@\"\n")
        }
    });
    lines.join("\n")
}

/// Debian's multiarch folders (`usr/lib/x86_64-linux-gnu`), below `root`.
fn library_folders(root: &Path) -> io::Result<Vec<String>> {
    let mut folders = Vec::new();
    for parent in ["usr/lib", "lib"] {
        for path in entries(&root.join(parent))? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.contains("-linux-") && path.is_dir() {
                folders.push(format!("{parent}/{name}"));
            }
        }
    }
    Ok(folders)
}

/// What is in `folder`, in order; nothing if it does not exist.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: Tool = Tool {
        program: "git",
        origin: Origin::Debian("git"),
        variables: &[("GIT_EXEC_PATH", "usr/lib/git-core")],
    };

    #[test]
    fn the_starter_sets_what_the_program_needs_and_becomes_it() {
        let expected = "#!/bin/sh\n\
            root=${0%/*}/../root\n\
            export LD_LIBRARY_PATH=\"$root/usr/lib/a:$root/lib/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n\
            export GIT_EXEC_PATH=\"$root/usr/lib/git-core\"\n\
            exec \"$root\"/usr/*bin/git \"$@\"\n";
        assert_eq!(starter(&TOOL, &["usr/lib/a".into(), "lib/a".into()]), expected);
    }

    #[test]
    fn without_libraries_the_search_path_is_left_alone() {
        assert!(!starter(&TOOL, &[]).contains("LD_LIBRARY_PATH"));
    }
}
