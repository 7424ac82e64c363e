//! `cargo xtask eval`: how well a part of the engine judges, on a corpus that is
//! made the same way every time. The evaluation is an example of `recoup-core`;
//! it prints its own report and its exit code is ours.

use std::process::ExitCode;

use crate::args::{Prompts, Subject};
use crate::failure::Failure;
use crate::process;
use crate::workspace;

/// The SHA-256 of `corpora/secrets/frozen.jsonl`, which nobody may tune for: the
/// evaluation refuses any other file.
const FROZEN_SECRETS: &str = "6f15d0e675dc10ca384c483ae3827dcedbad0d73f26320ad1a262944bfa4a802";

pub(crate) fn run(subject: &Subject) -> Result<ExitCode, Failure> {
    let (example, options): (_, Vec<String>) = match subject {
        Subject::Secrets => ("eval_secrets", vec![format!("--sha256={FROZEN_SECRETS}")]),
        Subject::Retrieval { verbose: false } => ("eval_retrieval", Vec::new()),
        Subject::Retrieval { verbose: true } => ("eval_retrieval", vec!["--verbose".into()]),
        Subject::Memory { verbose: false } => ("eval_memory", Vec::new()),
        Subject::Memory { verbose: true } => ("eval_memory", vec!["--verbose".into()]),
        Subject::Checks { verbose: false } => ("eval_checks", Vec::new()),
        Subject::Checks { verbose: true } => ("eval_checks", vec!["--verbose".into()]),
        Subject::Capture(which) => ("eval_capture", capture(*which)),
    };
    let mut arguments =
        vec!["run", "--quiet", "--locked", "-p", "recoup-core", "--example", example];
    // It measures time.
    if matches!(subject, Subject::Capture(_)) {
        arguments.push("--release");
    }
    workspace::cargo(arguments)
        .arg("--")
        .args(options)
        .status()
        .map(process::exit_code)
        .map_err(|error| Failure::Task(format!("cargo could not be started: {error}")))
}

fn capture(which: Prompts) -> Vec<String> {
    match which {
        Prompts::Both => Vec::new(),
        Prompts::BothWithErrors => vec!["--errors".into()],
        Prompts::Working => vec!["--working".into()],
    }
}
