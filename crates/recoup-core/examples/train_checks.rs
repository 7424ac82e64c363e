//! Makes the weights by which checks read the words of a rule: `cargo run --release -p recoup-core
//! --example train_checks`. The same rules give the same bytes.
//!
//! With `--measure` no weights are written. Networks learn without a file of rules and without every
//! second rule of the working half; then they are measured on both.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's command: it writes one file of the source tree"
)]

#[path = "../tests/corpus/prompts/mod.rs"]
mod prompts;
#[path = "../tests/corpus/rule_calls.rs"]
mod rule_calls;
#[path = "../tests/corpus/rules.rs"]
mod rules;

use std::path::Path;

use prompts::gradients::{AdamOptimizer, LayerTrace, add_scaled, reversed_layers};
use prompts::numbers::NumberSource;
use recoup_core::memory::checks::RuleCheck;
use recoup_core::memory::checks::role_input::{RuleInput, TermPart, WordTable};
use recoup_core::memory::checks::roles::{
    INPUTS_AT, NETWORKS, ROLES, RoleShares, RoleWeights, head, mean_shares, parameter_count,
    read_by, score_roles, shares_of,
};
use recoup_core::memory::lang::layers::{
    CONTEXT_AT, DILATIONS, HEADS_AT, LAYER, TokenVector, WIDTH,
};
use rules::{FILES, MarkedRule, RuleLesson, RuleMixer, RulePatterns};

const ROUNDS: usize = 45;
const BATCH: usize = 32;
const RATE: f32 = 0.003;
/// Steps in which the rate grows to its full value.
const WARM_UP: f32 = 50.0;
/// Share by which the mean of the weights approaches them with each step.
const AVERAGING: f32 = 0.01;
/// Share of terms of which the word, and the meaning, is left out.
const TERM_DROPOUT: f32 = 0.4;
/// Share of the channels that are left out.
const CHANNEL_DROPOUT: f32 = 0.15;
/// Variants of each rule; a round takes one of them.
const VARIANTS: usize = 6;
/// How often a pattern is read in each round.
const PATTERN_SHARE: usize = 5;

/// Networks that have learnt, and the words that they know.
struct TrainedReader {
    words: Vec<u8>,
    networks: Vec<Vec<f32>>,
}

fn main() {
    if std::env::args().any(|argument| argument == "--measure") {
        return measure();
    }
    let training: Vec<MarkedRule> = FILES.into_iter().flat_map(rules::load).collect();
    let reader = TrainedReader::new(&training);
    let networks: [&[f32]; NETWORKS] = std::array::from_fn(|at| &reader.networks[at][..]);
    let bytes = RoleWeights::write(WordTable::new(&reader.words), networks);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/memory/checks/roles.bin");
    std::fs::write(&path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    println!("{} bytes, learnt from {} rules", bytes.len(), training.len());
}

/// Measures networks on rules that they have not learnt.
fn measure() {
    let held_out = ["b", "c"];
    let readers: Vec<TrainedReader> = (0..2)
        .map(|half| {
            let mut training = Vec::new();
            for file in FILES.into_iter().filter(|it| *it != held_out[half]) {
                let is_known = |number: usize| file != "working" || number % 2 == half;
                let rules = rules::load(file).into_iter().enumerate();
                training.extend(rules.filter(|it| is_known(it.0)).map(|it| it.1));
            }
            TrainedReader::new(&training)
        })
        .collect();
    for (reader, file) in readers.iter().zip(held_out) {
        reader.measure_file(file);
    }
    println!("working:");
    let is_verbose = std::env::args().any(|argument| argument == "--verbose");
    rule_calls::measure("working", is_verbose, |number, rule| {
        let reader = &readers[(number + 1) % 2];
        RuleCheck::compile_with_roles(rule, &reader.read(rule))
    });
}

impl TrainedReader {
    fn new(training: &[MarkedRule]) -> Self {
        let words = rules::word_table(training);
        let networks = std::thread::scope(|scope| {
            let train = |network: usize| {
                let words = WordTable::new(&words);
                scope.spawn(move || train(training, words, network as u64))
            };
            let running: Vec<_> = (0..NETWORKS).map(train).collect();
            running.into_iter().map(|it| it.join().expect("training does not panic")).collect()
        });
        Self { words, networks }
    }

    fn read(&self, rule: &str) -> Vec<RoleShares> {
        let input = RuleInput::of(rule, WordTable::new(&self.words));
        let readings: Vec<_> = self.networks.iter().map(|it| read_by(it, &input)).collect();
        mean_shares(&readings)
    }

    /// Prints how many roles and rules of a file are read right, and how many checks are the same as
    /// with the roles that are marked.
    fn measure_file(&self, file: &str) {
        let [mut terms, mut right, mut read, mut checks, mut same, mut other] = [0; 6];
        let rules = rules::load(file);
        for rule in &rules {
            let marked = RuleLesson::of(rule, WordTable::new(&self.words)).roles;
            let shares = self.read(&rule.text);
            let is_right =
                |it: &(&RoleShares, &usize)| it.0.iter().all(|share| *share <= it.0[*it.1]);
            let count = shares.iter().zip(&marked).filter(is_right).count();
            terms += marked.len();
            right += count;
            read += usize::from(count == marked.len());
            let certain = |role: &usize| std::array::from_fn(|it| f32::from(u8::from(it == *role)));
            let certain: Vec<RoleShares> = marked.iter().map(certain).collect();
            let expected = RuleCheck::compile_with_roles(&rule.text, &certain);
            let found = RuleCheck::compile_with_roles(&rule.text, &shares);
            checks += usize::from(expected.is_some());
            same += usize::from(found.is_some() && found == expected);
            other += usize::from(found.is_some() && found != expected);
        }
        println!("{file}: {right} of {terms} terms, {read} of {} rules", rules.len());
        println!("  {same} of {checks} checks as marked, {other} others");
    }
}

/// Trains a network.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn train(training: &[MarkedRule], words: WordTable<'_>, seed: u64) -> Vec<f32> {
    let mut numbers = NumberSource(seed * 77 + 1);
    let lessons = make_lessons(training, words, &mut numbers);
    let mut parameters = first_parameters(parameter_count(words), &mut numbers);
    let mut mean = parameters.clone();
    let mut optimizer = AdamOptimizer::new(parameters.len(), 0);
    let mut sum = vec![0.0; parameters.len()];
    let mut order: Vec<usize> = (0..lessons.len()).collect();
    let all = ROUNDS * order.len().div_ceil(BATCH);
    let mut step = 0;
    for _ in 0..ROUNDS {
        numbers.shuffle(&mut order);
        for batch in order.chunks(BATCH) {
            let variants: Vec<usize> = (0..VARIANTS).collect();
            let batch: Vec<&RuleLesson> =
                batch.iter().map(|at| &lessons[*at][*numbers.pick(&variants[..])]).collect();
            let terms: usize = batch.iter().map(|it| it.roles.len()).sum();
            let pass =
                LessonPass { parameters: &parameters, reversed: &reversed_layers(&parameters) };
            sum.fill(0.0);
            for lesson in batch.into_iter().filter(|it| !it.roles.is_empty()) {
                pass.learn(lesson, 1.0 / terms as f32, &mut numbers, &mut sum);
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
    }
    mean
}

/// Makes the lessons of rules and patterns, each in some variants.
fn make_lessons(
    training: &[MarkedRule],
    words: WordTable<'_>,
    numbers: &mut NumberSource,
) -> Vec<Vec<RuleLesson>> {
    let mixer = RuleMixer::new(training);
    let patterns = RulePatterns::load();
    let mut lessons = Vec::new();
    for (at, rule) in training.iter().enumerate() {
        let mut variants = vec![RuleLesson::of(rule, words)];
        let varied = (1..VARIANTS).map(|_| RuleLesson::of(&mixer.vary(at, numbers), words));
        variants.extend(varied);
        lessons.push(variants);
    }
    // The first rules are English, as the patterns are.
    let english: Vec<usize> = (0..training.len() / 3).collect();
    for at in (0..patterns.count()).flat_map(|it| [it; PATTERN_SHARE]) {
        let mut vary = || {
            let rule = patterns.expand(at, numbers);
            let neighbour = *numbers.pick(&english[..]);
            RuleLesson::of(&mixer.join_neighbour(rule, neighbour, numbers), words)
        };
        lessons.push((0..VARIANTS).map(|_| vary()).collect());
    }
    lessons
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn first_parameters(count: usize, numbers: &mut NumberSource) -> Vec<f32> {
    let mut parameters = vec![0.0; count];
    let mut fill = |from: usize, to: usize, scale: f32| {
        parameters[from..to].iter_mut().for_each(|it| *it = numbers.normal() * scale);
    };
    for layer in 0..DILATIONS.len() {
        let from = layer * LAYER;
        fill(from, from + 3 * WIDTH * WIDTH, 1.0 / (3.0 * WIDTH as f32).sqrt());
    }
    fill(CONTEXT_AT, HEADS_AT, 0.5 / (WIDTH as f32).sqrt());
    fill(head().start, head().end, 0.05);
    fill(INPUTS_AT, count, 0.05);
    parameters
}

/// One pass over a lesson, forward and back.
struct LessonPass<'a> {
    parameters: &'a [f32],
    reversed: &'a [Vec<f32>],
}

impl LessonPass<'_> {
    /// Adds the gradients of a lesson.
    fn learn(&self, lesson: &RuleLesson, weight: f32, numbers: &mut NumberSource, sum: &mut [f32]) {
        let count = lesson.roles.len();
        let mut drop = || [numbers.chance(TERM_DROPOUT), numbers.chance(TERM_DROPOUT)];
        let dropped: Vec<[bool; 2]> = (0..count).map(|_| drop()).collect();
        let is_left_out = |at: usize| {
            let [word, meaning] = dropped[at];
            move |part: TermPart| if part == TermPart::Word { word } else { meaning }
        };
        let embed = |at: usize| lesson.input.embed(at, self.parameters, is_left_out(at));
        let embedded: Vec<TokenVector> = (0..count).map(embed).collect();
        let trace = LayerTrace::run(self.parameters, embedded, CHANNEL_DROPOUT, numbers);
        let mut gradients: Vec<TokenVector> = vec![[0.0; WIDTH]; count];
        let rows = head().start;
        let biases = rows + ROLES.len() * WIDTH;
        for (at, vector) in trace.vectors.iter().enumerate() {
            let shares = shares_of(score_roles(self.parameters, vector));
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
            for (row, weight) in lesson.input.weighed_rows(at, is_left_out(at)) {
                add_scaled(&mut sum[row..row + WIDTH], weight, gradient);
            }
        }
    }
}
