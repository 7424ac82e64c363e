//! Packages of npm, each unpacked by itself: what a package depends on is named here too,
//! where it is needed, so that nothing but these versions is ever fetched.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::node::Node;
use crate::process;

/// A package, and the one version of it.
pub(crate) type Pinned<'a> = (&'a str, &'a str);

/// Unpacks `packages` as `root/node_modules/NAME`.
pub(crate) fn unpack(
    node: &Node,
    packages: &[Pinned<'_>],
    downloads: &Path,
    root: &Path,
) -> Result<(), String> {
    for (name, version) in packages {
        let archive = download(node, &format!("{name}@{version}"), downloads)?;
        let folder = root.join("node_modules").join(name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut tar = Command::new("tar");
        tar.arg("xzf").arg(downloads.join(archive)).arg("-C").arg(&folder);
        process::capture(tar.arg("--strip-components=1"))?;
    }
    Ok(())
}

/// The name of the file that npm has made; npm itself compares it with the registry's digest.
fn download(node: &Node, package: &str, into: &Path) -> Result<String, String> {
    let mut npm = node.npm();
    npm.args(["pack", "--silent", "--pack-destination"]).arg(into).arg(package);
    let answer = process::capture(&mut npm)
        .map_err(|error| format!("npm could not fetch {package}: {error}"))?;
    let file = answer.lines().map(str::trim).rfind(|line| !line.is_empty());
    file.map(str::to_owned).ok_or_else(|| format!("npm reported no file for {package}"))
}
