//! `cargo xtask eval`: how well a part of the engine judges, on a corpus that is
//! made the same way every time. The evaluation is an example of `recoup-core`;
//! it prints its own report and its exit code is ours.

use std::process::ExitCode;

use crate::args::{Prompts, Subject};
use crate::failure::Failure;
use crate::process;
use crate::workspace;

/// The SHA-256 of `corpora/classify/frozen.jsonl`, which nobody may tune for: the
/// evaluation refuses any other file.
const FROZEN_PROMPTS: &str = "631fdefbe71d1c651f52c20dabccebf5572a36bfa5b458fe1607c9aea53dbe76";

pub(crate) fn run(subject: &Subject) -> Result<ExitCode, Failure> {
    let (example, options): (_, Vec<String>) = match subject {
        Subject::Secrets => ("eval_secrets", Vec::new()),
        Subject::Retrieval { verbose: false } => ("eval_retrieval", Vec::new()),
        Subject::Retrieval { verbose: true } => ("eval_retrieval", vec!["--verbose".into()]),
        Subject::Classify(which) => ("eval_classify", classify(*which)),
    };
    let mut arguments =
        vec!["run", "--quiet", "--locked", "-p", "recoup-core", "--example", example];
    // It measures time, and makes ten models.
    if matches!(subject, Subject::Classify(_)) {
        arguments.extend(["--profile", "eval"]);
    }
    workspace::cargo(arguments)
        .arg("--")
        .args(options)
        .status()
        .map(process::exit_code)
        .map_err(|error| Failure::Task(format!("cargo could not be started: {error}")))
}

fn classify(which: Prompts) -> Vec<String> {
    let hash = format!("--sha256={FROZEN_PROMPTS}");
    match which {
        Prompts::Both => vec![hash],
        Prompts::BothWithErrors => vec![hash, "--errors".into()],
        Prompts::Working => vec!["--working".into()],
    }
}
