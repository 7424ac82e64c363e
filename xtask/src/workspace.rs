//! Where the workspace is, and how cargo is started in it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with the workspace's Cargo.toml.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// The directory of everything that cargo makes and `cargo clean` throws away.
pub(crate) fn target_dir() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The directory of the unpacked tools.
pub(crate) fn tools_dir() -> PathBuf {
    target_dir().join("tools")
}

/// The cargo that started us (the same toolchain), in the workspace's root.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}
