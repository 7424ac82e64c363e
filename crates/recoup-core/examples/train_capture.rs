//! Makes the weights of the tagger from the training prompts: `cargo run --release -p
//! recoup-core --example train_capture`. The same corpora give the same bytes.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's command: it writes one file of the source tree"
)]

#[path = "../tests/corpus/prompts/mod.rs"]
mod prompts;

use std::path::Path;

use prompts::LabelledPrompt;
use prompts::augment::PromptMixer;
use prompts::gradients::{AdamOptimizer, GradientSum, TaggerModel, TrainingPass, reversed_layers};
use prompts::lessons::PromptLesson;
use prompts::numbers::NumberSource;
use recoup_core::memory::capture::tagger::concept_table::ConceptTable;
use recoup_core::memory::capture::tagger::network::{NETWORKS, PARAMETERS, TaggerWeights};
use recoup_core::memory::capture::tagger::tokens::ROWS;
use recoup_core::memory::lang::layers::WIDTH;

const ROUNDS: usize = 14;
/// How often a plain form is read in each round.
const PLAIN_SHARE: usize = 4;
const BATCH: usize = 32;
const RATE: f32 = 0.002;
/// Steps in which the rate grows to its full value.
const WARM_UP: f32 = 200.0;
/// Share by which the mean of the weights approaches them, every fourth step.
const AVERAGING: f32 = 0.01;

fn main() {
    let entries = prompts::concept_table();
    let training = prompts::load("training");
    let networks: [TaggerModel; NETWORKS] =
        std::array::from_fn(|seed| train(&training, &entries, seed as u64 + 1));
    let networks = networks.each_ref().map(|it| (&it.parameters[..], &it.embeddings[..]));
    let bytes = TaggerWeights::write(&entries, networks);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/memory/capture/tagger/weights.bin");
    std::fs::write(&path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    println!("{} bytes, learnt from {} prompts", bytes.len(), training.len());
}

/// Trains a network.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn train(training: &[LabelledPrompt], entries: &[u8], seed: u64) -> TaggerModel {
    let concepts = ConceptTable::new(entries);
    let mixer = PromptMixer::new(training);
    let mut numbers = NumberSource(seed);
    let mut model = TaggerModel::new(&mut numbers);
    let mut mean = model.clone();
    let mut optimizer = AdamOptimizer::new(PARAMETERS, ROWS * WIDTH);
    let mut sums = [GradientSum::new(), GradientSum::new()];
    // Plain forms are few, and everybody expects them to be understood.
    let share = |at: &usize| if training[*at].form == "plain" { PLAIN_SHARE } else { 1 };
    let mut order: Vec<usize> =
        (0..training.len()).flat_map(|at| std::iter::repeat_n(at, share(&at))).collect();
    let all = ROUNDS * order.len().div_ceil(BATCH);
    let mut step = 0;
    for round in 0..ROUNDS {
        numbers.shuffle(&mut order);
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            let seed = numbers.next();
            let lesson = |number: usize| {
                let mut own =
                    NumberSource(seed ^ (number as u64 + 1).wrapping_mul(0x1234_5678_9abc_def1));
                let prompt = mixer.vary(batch[number], &mut own);
                PromptLesson::of(&prompt, &concepts)
            };
            // Two halves of the batch: as many as there are sums, whatever the machine.
            let halves: Vec<Vec<PromptLesson>> = std::thread::scope(|scope| {
                let half = |half| {
                    let is_read = |it: &PromptLesson| !it.tokens.tokens.is_empty();
                    move || (half..batch.len()).step_by(2).map(lesson).filter(is_read).collect()
                };
                let running = [0, 1].map(|at| scope.spawn(half(at)));
                running.map(|it| it.join().expect("no lesson panics")).into()
            });
            let lessons = || halves.iter().flatten();
            let tokens: usize = lessons().map(|lesson| lesson.tokens.tokens.len()).sum();
            let pass = TrainingPass {
                model: &model,
                reversed: &reversed_layers(&model.parameters),
                per_token: 1.0 / tokens.max(1) as f32,
                per_prompt: 1.0 / lessons().count().max(1) as f32,
            };
            std::thread::scope(|scope| {
                for (at, (sum, half)) in sums.iter_mut().zip(&halves).enumerate() {
                    let pass = &pass;
                    scope.spawn(move || {
                        let mut numbers = NumberSource(seed ^ (at as u64 + 77));
                        sum.clear();
                        for lesson in half {
                            pass.learn(lesson, &mut numbers, sum);
                        }
                    });
                }
            });
            let [first, second] = &mut sums;
            first.add(second);
            loss += first.loss;
            let done = step as f32 / all as f32;
            let falling = f32::midpoint(1.0, (std::f32::consts::PI * done).cos()).max(0.02);
            optimizer.step(&mut model, first, RATE * (step as f32 / WARM_UP).min(1.0) * falling);
            step += 1;
            if step % 4 == 0 {
                mean.approach(&model, AVERAGING);
            }
        }
        println!("round {round}: loss {:.4}", loss / order.len().div_ceil(BATCH) as f32);
    }
    mean
}
