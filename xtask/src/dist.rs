//! `cargo xtask dist`: the program as it is distributed, how cargo builds it, and its packages.
//!
//! More than half of a hit is loading the program. A static program at a fixed address needs no
//! dynamic linker and no relocations, so fewer pages are touched before `main`. Host names are
//! looked up in `/etc/hosts` and by DNS (`crates/recoup/static_lookup.c` says why only there).

mod bare_root;
mod check;
mod debian_package;
mod licences;
mod packages;
mod publish;
mod web_server;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::args::Packaging;
use crate::failure::Failure;
use crate::process;
use crate::workspace;
use packages::PackageSet;

/// The profile in the workspace's Cargo.toml.
const PROFILE: &str = "dist";
/// Flags for the program. They must not reach build scripts and procedural macros, which are
/// libraries that the compiler loads; hence `--target`. Random numbers are the kernel's: in a static
/// program, the crate `getrandom` would look for them in `/dev/urandom`, which a bare root lacks.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static \
     --cfg=getrandom_backend=\"linux_getrandom\"";
const TARGET: [&str; 2] = ["--target", "host-tuple"];

pub(crate) fn run(packaging: Packaging) -> Result<ExitCode, Failure> {
    let target = workspace::target_dir();
    let scratch = target.join("tmp/packages");
    if packaging == Packaging::Debug {
        let set = PackageSet::make(&debug_program()?, &target.join("packages-debug"), "1");
        check::install_all(&set.map_err(Failure::Task)?, &scratch).map_err(Failure::Task)?;
        eprintln!("the packages of the debug build can be installed, and work");
        return Ok(ExitCode::SUCCESS);
    }
    let program = build()?;
    let set = PackageSet::make(&program, &target.join("packages"), "9").map_err(Failure::Task)?;
    if packaging == Packaging::Checked {
        check::install_all(&set, &scratch).map_err(Failure::Task)?;
        publish::check_all(&set).map_err(Failure::Task)?;
    }
    println!("{}", program.display());
    for file in crate::unpacked::entries(&set.folder).unwrap_or_default() {
        let size = fs::metadata(&file).map_or(0, |metadata| metadata.len());
        println!("{} ({}.{} MB)", file.display(), size / 1_000_000, size / 100_000 % 10);
    }
    Ok(ExitCode::SUCCESS)
}

fn build() -> Result<PathBuf, Failure> {
    let mut build = cargo("build");
    build.args(["-p", "recoup"]);
    let status = build.status().map_err(|error| not_started(&error))?;
    if !status.success() {
        let message = "the program was not built; if the linker found no `-lc`, install the static C \
                       library (Debian: libc6-dev, Fedora: glibc-static)";
        return Err(Failure::Task(message.to_owned()));
    }
    program()
}

/// The program that cargo builds for tests, as they have just left it or built now.
fn debug_program() -> Result<PathBuf, Failure> {
    let mut build = workspace::cargo(["test", "--workspace", "--locked", "--no-run", "--quiet"]);
    let status = build.status().map_err(|error| not_started(&error))?;
    if !status.success() {
        return Err(Failure::Task("the program was not built".to_owned()));
    }
    Ok(workspace::target_dir().join("debug/recoup"))
}

/// A cargo command on the program as it is distributed.
pub(crate) fn cargo(subcommand: &str) -> Command {
    let mut command = workspace::cargo([subcommand, "--locked", "--profile", PROFILE]);
    command.args(TARGET);
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        command.env("RUSTFLAGS", STATIC);
    }
    command
}

/// The path of the program that was built: cargo names the directory after the host.
fn program() -> Result<PathBuf, Failure> {
    let version = process::capture(Command::new("rustc").arg("-vV")).map_err(Failure::Task)?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or_else(|| Failure::Task("`rustc -vV` names no host".to_owned()))?;
    Ok(workspace::target_dir().join(host).join(PROFILE).join("recoup"))
}

fn not_started(error: &std::io::Error) -> Failure {
    Failure::Task(format!("cargo could not be started: {error}"))
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    const RESOLVER: &str = r#"
        use std::net::ToSocketAddrs;
        fn main() {
            let found = ("localhost", 6379).to_socket_addrs().expect("localhost is known");
            assert!(found.into_iter().all(|address| address.ip().is_loopback()));
            let unknown = ("no-such-host.invalid", 6379).to_socket_addrs();
            println!("{}", unknown.is_err());
        }
    "#;

    #[test]
    fn a_static_program_resolves_host_names() {
        let dir = tempfile::tempdir().unwrap();
        let (source, resolver) = (dir.path().join("main.rs"), dir.path().join("resolver"));
        fs::write(&source, RESOLVER).unwrap();
        let lookup = workspace::root().join("crates/recoup/static_lookup.c");
        let object = dir.path().join("lookup.o");
        process::capture(Command::new("cc").arg("-c").arg(lookup).arg("-o").arg(&object)).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.args(STATIC.split(' ')).arg(&source).arg("-o").arg(&resolver);
        rustc.arg("-C").arg(format!("link-arg={}", object.display()));
        process::capture(&mut rustc).unwrap();
        // Of a dynamic program, its linker would list the libraries and run nothing.
        let mut resolver = Command::new(resolver);
        resolver.env("LD_TRACE_LOADED_OBJECTS", "1");
        assert_eq!(process::capture(&mut resolver).unwrap(), "true\n");
    }
}
