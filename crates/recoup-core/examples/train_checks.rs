//! Makes the weights by which checks read the words of a rule: `cargo run --release -p recoup-core
//! --example train_checks`. The same rules give the same bytes.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's command: it writes one file of the source tree"
)]

#[path = "../tests/corpus/prompts/mod.rs"]
mod prompts;
#[path = "../tests/corpus/rules.rs"]
mod rules;

use std::path::Path;

use prompts::gradients::{AdamOptimizer, LayerTrace, add_scaled, reversed_layers};
use prompts::numbers::NumberSource;
use recoup_core::memory::capture::tagger::network::{
    NETWORKS, TOKEN_AT, TaggerWeights, TokenVector, WIDTH,
};
use recoup_core::memory::checks::roles::{
    PARAMETERS, ROLES, head, score_roles, shares_of, write_weights,
};
use rules::{MarkedRule, RuleLesson, RuleMixer};

const ROUNDS: usize = 50;
const BATCH: usize = 32;
const RATE: f32 = 0.002;
/// Steps in which the rate grows to its full value.
const WARM_UP: f32 = 100.0;
/// Share by which the mean of the weights approaches them with each step.
const AVERAGING: f32 = 0.005;
/// Share of tokens of which only the form is read.
const WORD_DROPOUT: f32 = 0.2;

fn main() {
    let training = rules::load();
    let layers = TaggerWeights::shipped().expect("the tagger's weights").layers();
    let networks: Vec<Vec<f32>> = std::thread::scope(|scope| {
        let train = |network: usize| {
            let (training, layers) = (&training, &layers[network][..]);
            scope.spawn(move || train(training, layers, network))
        };
        let running: Vec<_> = (0..NETWORKS).map(train).collect();
        running.into_iter().map(|it| it.join().expect("training does not panic")).collect()
    });
    let networks: [&[f32]; NETWORKS] = std::array::from_fn(|at| &networks[at][..]);
    let bytes = write_weights(networks);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/memory/checks/roles.bin");
    std::fs::write(&path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    println!("{} bytes, learnt from {} rules", bytes.len(), training.len());
}

/// Trains a network, which goes on from the layers of the tagger.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn train(training: &[MarkedRule], layers: &[f32], network: usize) -> Vec<f32> {
    let mixer = RuleMixer::new(training);
    let mut numbers = NumberSource(network as u64 + 1);
    let mut parameters = vec![0.0; PARAMETERS];
    parameters[..TOKEN_AT].copy_from_slice(layers);
    for value in &mut parameters[TOKEN_AT..] {
        *value = numbers.normal() * 0.02;
    }
    let mut mean = parameters.clone();
    let mut optimizer = AdamOptimizer::new(PARAMETERS, 0);
    let mut sum = vec![0.0; PARAMETERS];
    let mut order: Vec<usize> = (0..training.len()).collect();
    let all = ROUNDS * order.len().div_ceil(BATCH);
    let mut step = 0;
    for round in 0..ROUNDS {
        numbers.shuffle(&mut order);
        let mut loss = 0.0;
        for batch in order.chunks(BATCH) {
            let varied = batch.iter().map(|at| mixer.vary(*at, &mut numbers));
            let lessons: Vec<RuleLesson> = varied.filter_map(|it| RuleLesson::of(&it)).collect();
            let tokens: usize = lessons.iter().map(|it| it.roles.len()).sum();
            let reversed = reversed_layers(&parameters);
            sum.fill(0.0);
            for lesson in &lessons {
                let pass = LessonPass { network, parameters: &parameters, reversed: &reversed };
                loss += pass.learn(lesson, 1.0 / tokens as f32, &mut numbers, &mut sum);
            }
            let done = step as f32 / all as f32;
            let falling = f32::midpoint(1.0, (std::f32::consts::PI * done).cos()).max(0.02);
            let rate = RATE * (step as f32 / WARM_UP).min(1.0) * falling;
            optimizer.step_parameters(&mut parameters, &sum, rate);
            step += 1;
            for (mean, value) in mean.iter_mut().zip(&parameters) {
                *mean += AVERAGING * (value - *mean);
            }
        }
        println!("{network}, round {round}: {:.4}", loss / order.len().div_ceil(BATCH) as f32);
    }
    mean
}

/// One pass over a lesson, forward and back.
struct LessonPass<'a> {
    network: usize,
    parameters: &'a [f32],
    reversed: &'a [Vec<f32>],
}

impl LessonPass<'_> {
    /// Adds the gradients of a lesson, and returns its loss.
    fn learn(
        &self,
        lesson: &RuleLesson,
        weight: f32,
        numbers: &mut NumberSource,
        sum: &mut [f32],
    ) -> f32 {
        let count = lesson.roles.len();
        let dropped: Vec<bool> = (0..count).map(|_| numbers.chance(WORD_DROPOUT)).collect();
        let embedded = lesson.tokens.embed(self.network, self.parameters, |at| dropped[at]);
        let trace = LayerTrace::run(self.parameters, embedded, numbers);
        let mut gradients: Vec<TokenVector> = vec![[0.0; WIDTH]; count];
        let mut loss = 0.0;
        let rows = head().start;
        let biases = rows + ROLES.len() * WIDTH;
        for (at, vector) in trace.vectors.iter().enumerate() {
            let shares = shares_of(score_roles(self.parameters, vector));
            loss -= weight * shares[lesson.roles[at]].max(1e-7).ln();
            for (role, share) in shares.into_iter().enumerate() {
                let slope = weight * (share - f32::from(u8::from(role == lesson.roles[at])));
                let row = rows + role * WIDTH..rows + (role + 1) * WIDTH;
                add_scaled(&mut gradients[at], slope, &self.parameters[row.clone()]);
                add_scaled(&mut sum[row], slope, vector);
                sum[biases + role] += slope;
            }
        }
        let gradients = trace.back(self.parameters, self.reversed, gradients, sum);
        for (at, gradient) in gradients.iter().enumerate() {
            for (row, weight) in lesson.tokens.weighed_rows(at, dropped[at]) {
                add_scaled(&mut sum[row..row + WIDTH], weight, gradient);
            }
        }
        loss
    }
}
