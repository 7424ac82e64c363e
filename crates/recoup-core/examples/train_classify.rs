//! Makes the weights of `memory::capture` from the working half and the training
//! prompts: `cargo run --release -p recoup-core --example train_classify`. The same
//! corpora give the same bytes.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's command: it writes one file of the source tree"
)]

#[path = "../tests/corpus/classify/mod.rs"]
mod corpus;

use std::fs;
use std::path::Path;

use corpus::train::{self, Lesson};

fn main() {
    let prompts = [corpus::prompts("working.jsonl"), corpus::prompts("training.jsonl")].concat();
    let lessons: Vec<Lesson> = prompts.iter().flat_map(train::lessons).collect();
    let bytes = train::train(&lessons.iter().collect::<Vec<_>>());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/memory/capture/weights.bin");
    fs::write(&path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    println!(
        "{} bytes, learnt from {} sentences of {} prompts",
        bytes.len(),
        lessons.len(),
        prompts.len()
    );
}
