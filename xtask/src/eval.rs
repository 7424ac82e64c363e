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

/// The same for `corpora/classify/short-frozen.jsonl`.
const FROZEN_SHORT: Option<&str> =
    Some("4d89b9220646ca71df24e98082e1bb55eadd47a8ee5bf3f2d17e6e8c8ecc71a9");

/// The SHA-256 of `corpora/secrets/frozen.jsonl`, for the same reason.
const FROZEN_SECRETS: &str = "6f15d0e675dc10ca384c483ae3827dcedbad0d73f26320ad1a262944bfa4a802";

pub(crate) fn run(subject: &Subject) -> Result<ExitCode, Failure> {
    let (example, options): (_, Vec<String>) = match subject {
        Subject::Secrets => ("eval_secrets", vec![format!("--sha256={FROZEN_SECRETS}")]),
        Subject::Retrieval { verbose: false } => ("eval_retrieval", Vec::new()),
        Subject::Retrieval { verbose: true } => ("eval_retrieval", vec!["--verbose".into()]),
        Subject::Memory { verbose: false } => ("eval_memory", Vec::new()),
        Subject::Memory { verbose: true } => ("eval_memory", vec!["--verbose".into()]),
        Subject::Classify(which) => ("eval_classify", classify(*which)),
        Subject::Capture(which) => ("eval_capture", capture(*which)),
    };
    let mut arguments =
        vec!["run", "--quiet", "--locked", "-p", "recoup-core", "--example", example];
    // It measures time, and makes ten models.
    if matches!(subject, Subject::Classify(_) | Subject::Capture(_)) {
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

fn classify(which: Prompts) -> Vec<String> {
    let mut frozen = vec![format!("--sha256={FROZEN_PROMPTS}")];
    frozen.extend(FROZEN_SHORT.map(|hash| format!("--short-sha256={hash}")));
    match which {
        Prompts::Both => frozen,
        Prompts::BothWithErrors => [frozen, vec!["--errors".into()]].concat(),
        Prompts::Working => vec!["--working".into()],
    }
}
