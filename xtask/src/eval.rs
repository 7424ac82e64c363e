//! `cargo xtask eval`: how well a part of the engine judges, on a corpus that is
//! made the same way every time. The evaluation is an example of `recoup-core`;
//! it prints its own report and its exit code is ours.

use std::process::ExitCode;

use crate::args::Subject;
use crate::failure::Failure;
use crate::process;
use crate::workspace;

pub(crate) fn run(subject: &Subject) -> Result<ExitCode, Failure> {
    let (example, options): (_, &[&str]) = match subject {
        Subject::Secrets => ("eval_secrets", &[]),
        Subject::Retrieval { verbose: false } => ("eval_retrieval", &[]),
        Subject::Retrieval { verbose: true } => ("eval_retrieval", &["--", "--verbose"]),
    };
    let arguments = ["run", "--quiet", "--locked", "-p", "recoup-core", "--example", example];
    workspace::cargo(arguments)
        .args(options)
        .status()
        .map(process::exit_code)
        .map_err(|error| Failure::Task(format!("cargo could not be started: {error}")))
}
