//! `cargo xtask picture`: draws the README's picture of `recoup tour` anew. The test that compares the
//! picture with the program also draws it (`crates/recoup/tests/it/tour/picture.rs`).

use std::process::ExitCode;

use crate::failure::Failure;
use crate::process;
use crate::workspace;

/// The test that takes the tour on a terminal.
const TEST: &str = "tour::terminal::each_scene_waits_for_a_key_and_the_picture_shows_them_all";

pub(crate) fn run() -> Result<ExitCode, Failure> {
    let mut test = workspace::cargo(["test", "--locked", "-p", "recoup", "--test", "it"]);
    let status = test.args(["--", "--exact", TEST]).env("RECOUP_WRITE_PICTURE", "1").status();
    let status =
        status.map_err(|error| Failure::Task(format!("cargo could not be started: {error}")))?;
    Ok(process::exit_code(status))
}
