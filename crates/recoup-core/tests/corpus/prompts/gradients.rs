//! Forward and backward pass of the tagger, and the optimiser.

use std::ops::Range;

use recoup_core::memory::capture::tagger::decoding::decode_spans;
use recoup_core::memory::capture::tagger::network::{
    ATTENTION_AT, HIDDEN_AT, PARAMETERS, PROMPT_AT, PROMPT_OUTPUTS, SPAN_AT, SPAN_OUTPUTS,
    TOKEN_AT, TOKEN_OUTPUTS, probabilities, sigmoid,
};
use recoup_core::memory::capture::tagger::tokens::ROWS;
use recoup_core::memory::lang::layers::{
    CONTEXT_AT, CONTEXT_LAYER, DILATIONS, HEADS_AT, LAYER, TokenVector, WIDTH, convolve, dot,
    mean_vector, multiply,
};

use super::lessons::PromptLesson;
use super::numbers::NumberSource;

const SQUARE: usize = WIDTH * WIDTH;
const MATRICES: usize = 3 * SQUARE;
/// Weight of the losses of spans and prompts against that of tokens.
const SPAN_WEIGHT: f32 = 0.3;
/// Share of channels, and of the rows of words, that are left out in training.
const CHANNEL_DROPOUT: f32 = 0.25;
const WORD_DROPOUT: f32 = 0.3;

/// Weights in training.
#[derive(Clone)]
pub(crate) struct TaggerModel {
    pub(crate) parameters: Vec<f32>,
    pub(crate) embeddings: Vec<f32>,
}

impl TaggerModel {
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    pub(crate) fn new(numbers: &mut NumberSource) -> Self {
        let embeddings = (0..ROWS * WIDTH).map(|_| numbers.normal() * 0.1).collect();
        let mut parameters = vec![0.0; PARAMETERS];
        let mut fill = |range: Range<usize>, inputs: f32, scale: f32| {
            for value in &mut parameters[range] {
                *value = numbers.normal() * scale / inputs.sqrt();
            }
        };
        for layer in 0..DILATIONS.len() {
            fill(layer * LAYER..layer * LAYER + MATRICES, 3.0 * WIDTH as f32, 1.0);
        }
        fill(HIDDEN_AT..HIDDEN_AT + 2 * SQUARE, WIDTH as f32, 1.0);
        fill(CONTEXT_AT..HEADS_AT, WIDTH as f32, 0.5);
        fill(SPAN_AT..SPAN_AT + SPAN_OUTPUTS * WIDTH, WIDTH as f32, 0.8);
        Self { parameters, embeddings }
    }

    /// Moves towards another model.
    pub(crate) fn approach(&mut self, other: &Self, share: f32) {
        let pairs = self.parameters.iter_mut().zip(&other.parameters);
        for (own, other) in pairs.chain(self.embeddings.iter_mut().zip(&other.embeddings)) {
            *own += share * (other - *own);
        }
    }
}

/// Sum of gradients. Only rows that were touched since the last clearing are valid.
pub(crate) struct GradientSum {
    parameters: Vec<f32>,
    embeddings: Vec<f32>,
    touched: Vec<usize>,
    is_touched: Vec<bool>,
    pub(crate) loss: f32,
}

impl GradientSum {
    pub(crate) fn new() -> Self {
        Self {
            parameters: vec![0.0; PARAMETERS],
            embeddings: vec![0.0; ROWS * WIDTH],
            touched: Vec::new(),
            is_touched: vec![false; ROWS],
            loss: 0.0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.parameters.fill(0.0);
        for row in self.touched.drain(..) {
            self.is_touched[row] = false;
            self.embeddings[row * WIDTH..(row + 1) * WIDTH].fill(0.0);
        }
        self.loss = 0.0;
    }

    fn add_row(&mut self, row: usize, weight: f32, gradient: &[f32]) {
        if !std::mem::replace(&mut self.is_touched[row], true) {
            self.touched.push(row);
        }
        add_scaled(&mut self.embeddings[row * WIDTH..(row + 1) * WIDTH], weight, gradient);
    }

    /// Adds another sum to this one.
    pub(crate) fn add(&mut self, other: &Self) {
        add_scaled(&mut self.parameters, 1.0, &other.parameters);
        for row in &other.touched {
            self.add_row(*row, 1.0, &other.embeddings[row * WIDTH..(row + 1) * WIDTH]);
        }
        self.loss += other.loss;
    }
}

pub(crate) fn add_scaled(sum: &mut [f32], weight: f32, values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
}

/// Product with the transposed matrix.
fn multiply_back(gradient: &TokenVector, matrix: &[f32]) -> TokenVector {
    std::array::from_fn(|at| dot(gradient, &matrix[at * WIDTH..(at + 1) * WIDTH]))
}

fn add_outer(sum: &mut [f32], input: &TokenVector, gradient: &TokenVector) {
    for (row, value) in sum.chunks_exact_mut(WIDTH).zip(input) {
        add_scaled(row, *value, gradient);
    }
}

/// Gradient of the matrices of a convolution: four inputs at a time, so that the sums stay in
/// registers.
fn add_convolution_gradient(
    inputs: &[TokenVector],
    dilation: usize,
    gradients: &[TokenVector],
    sum: &mut [f32],
) {
    for (tap, matrix) in sum.chunks_exact_mut(SQUARE).enumerate() {
        for (group, rows) in matrix.chunks_exact_mut(4 * WIDTH).enumerate() {
            let mut sums = [[0.0_f32; WIDTH]; 4];
            for (at, gradient) in gradients.iter().enumerate() {
                let input =
                    (at + tap * dilation).checked_sub(dilation).and_then(|at| inputs.get(at));
                let Some(input) = input else { continue };
                for (offset, sum) in sums.iter_mut().enumerate() {
                    let value = input[group * 4 + offset];
                    for output in 0..WIDTH {
                        sum[output] += value * gradient[output];
                    }
                }
            }
            for (row, sum) in rows.chunks_exact_mut(WIDTH).zip(&sums) {
                add_scaled(row, 1.0, sum);
            }
        }
    }
}

/// Matrices of each layer for the way back: taps in reverse, each transposed.
pub(crate) fn reversed_layers(parameters: &[f32]) -> Vec<Vec<f32>> {
    let reverse = |layer: usize| {
        let matrices = &parameters[layer * LAYER..layer * LAYER + MATRICES];
        let mut reversed = vec![0.0; MATRICES];
        for tap in 0..3 {
            for input in 0..WIDTH {
                for output in 0..WIDTH {
                    reversed[((2 - tap) * WIDTH + output) * WIDTH + input] =
                        matrices[(tap * WIDTH + input) * WIDTH + output];
                }
            }
        }
        reversed
    };
    (0..DILATIONS.len()).map(reverse).collect()
}

/// Values of the layers, which the way back needs.
pub(crate) struct LayerTrace {
    /// Vectors of the tokens behind the last layer.
    pub(crate) vectors: Vec<TokenVector>,
    inputs: Vec<Vec<TokenVector>>,
    outputs: Vec<Vec<TokenVector>>,
    masks: Vec<Vec<TokenVector>>,
    mean: TokenVector,
}

impl LayerTrace {
    /// Runs the layers over the vectors of tokens; the share `dropout` of their channels is left out.
    pub(crate) fn run(
        parameters: &[f32],
        mut vectors: Vec<TokenVector>,
        dropout: f32,
        numbers: &mut NumberSource,
    ) -> Self {
        let mut masks = vec![drop_channels(dropout, numbers, &mut vectors)];
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut mean = [0.0; WIDTH];
        for (layer, dilation) in DILATIONS.into_iter().enumerate() {
            let (matrices, bias) =
                parameters[layer * LAYER..(layer + 1) * LAYER].split_at(MATRICES);
            let mut bias = bias.to_vec();
            if layer == CONTEXT_LAYER {
                mean = mean_vector(&vectors);
                add_scaled(&mut bias, 1.0, &multiply(&mean, &parameters[CONTEXT_AT..HEADS_AT]));
            }
            let mut output = vec![[0.0; WIDTH]; vectors.len()];
            convolve(&vectors, dilation, matrices, &mut output);
            for vector in &mut output {
                vector
                    .iter_mut()
                    .zip(&bias)
                    .for_each(|(value, bias)| *value = (*value + bias).max(0.0));
            }
            let mut dropped = output.clone();
            masks.push(drop_channels(dropout, numbers, &mut dropped));
            inputs.push(vectors.clone());
            vectors.iter_mut().zip(&dropped).for_each(|(sum, it)| add_scaled(sum, 1.0, it));
            outputs.push(output);
        }
        Self { vectors, inputs, outputs, masks, mean }
    }

    /// Adds the gradients of the parameters to `sum`, and returns those of the first vectors.
    pub(crate) fn back(
        &self,
        parameters: &[f32],
        reversed: &[Vec<f32>],
        mut gradients: Vec<TokenVector>,
        sum: &mut [f32],
    ) -> Vec<TokenVector> {
        for (layer, dilation) in DILATIONS.into_iter().enumerate().rev() {
            let mut inner = gradients.clone();
            let mut bias = [0.0; WIDTH];
            for (at, gradient) in inner.iter_mut().enumerate() {
                for channel in 0..WIDTH {
                    let is_open = self.outputs[layer][at][channel] > 0.0;
                    gradient[channel] *=
                        if is_open { self.masks[layer + 1][at][channel] } else { 0.0 };
                    bias[channel] += gradient[channel];
                }
            }
            let (matrices, biases) = sum[layer * LAYER..(layer + 1) * LAYER].split_at_mut(MATRICES);
            add_scaled(biases, 1.0, &bias);
            add_convolution_gradient(&self.inputs[layer], dilation, &inner, matrices);
            let mut back = vec![[0.0; WIDTH]; inner.len()];
            convolve(&inner, dilation, &reversed[layer], &mut back);
            if layer == CONTEXT_LAYER {
                add_outer(&mut sum[CONTEXT_AT..HEADS_AT], &self.mean, &bias);
                let mean = multiply_back(&bias, &parameters[CONTEXT_AT..HEADS_AT]);
                #[allow(clippy::cast_precision_loss, reason = "a prompt has few tokens")]
                let share = 1.0 / back.len() as f32;
                for it in &mut back {
                    add_scaled(it, share, &mean);
                }
            }
            gradients.iter_mut().zip(&back).for_each(|(all, it)| add_scaled(all, 1.0, it));
        }
        for (gradient, mask) in gradients.iter_mut().zip(&self.masks[0]) {
            gradient.iter_mut().zip(mask).for_each(|(value, mask)| *value *= mask);
        }
        gradients
    }
}

fn drop_channels(
    dropout: f32,
    numbers: &mut NumberSource,
    vectors: &mut [TokenVector],
) -> Vec<TokenVector> {
    let kept = 1.0 / (1.0 - dropout);
    let mut masks = vec![[0.0; WIDTH]; vectors.len()];
    for (vector, mask) in vectors.iter_mut().zip(&mut masks) {
        for (value, factor) in vector.iter_mut().zip(mask) {
            *factor = if numbers.chance(dropout) { 0.0 } else { kept };
            *value *= *factor;
        }
    }
    masks
}

/// One pass over a lesson, forward and back.
pub(crate) struct TrainingPass<'a> {
    pub(crate) model: &'a TaggerModel,
    pub(crate) reversed: &'a [Vec<f32>],
    pub(crate) per_token: f32,
    pub(crate) per_prompt: f32,
}

impl TrainingPass<'_> {
    /// Adds the gradients of a lesson.
    pub(crate) fn learn(
        &self,
        lesson: &PromptLesson,
        numbers: &mut NumberSource,
        sum: &mut GradientSum,
    ) {
        let parameters = &self.model.parameters;
        let count = lesson.tokens.tokens.len();
        let without_word: Vec<bool> = (0..count).map(|_| numbers.chance(WORD_DROPOUT)).collect();
        let mut embedded = vec![[0.0; WIDTH]; count];
        for (at, vector) in embedded.iter_mut().enumerate() {
            lesson.tokens.weigh_rows(at, without_word[at], |row, weight| {
                add_scaled(vector, weight, &self.model.embeddings[row * WIDTH..(row + 1) * WIDTH]);
            });
        }
        let trace = LayerTrace::run(parameters, embedded, CHANNEL_DROPOUT, numbers);
        let vectors = &trace.vectors;
        let mut gradients = vec![[0.0_f32; WIDTH]; vectors.len()];
        // Tokens.
        let rows = &parameters[TOKEN_AT..ATTENTION_AT];
        let mut tags = vec![[0.0; TOKEN_OUTPUTS]; vectors.len()];
        for (at, vector) in vectors.iter().enumerate() {
            let span = lesson.spans.iter().find(|span| span.tokens.contains(&at));
            let wanted = [
                span.is_some(),
                span.is_some_and(|span| span.tokens.start == at),
                span.is_some_and(|span| span.tokens.end == at + 1),
            ];
            for output in 0..TOKEN_OUTPUTS {
                let row = &rows[output * WIDTH..(output + 1) * WIDTH];
                let tag = sigmoid(dot(vector, row) + rows[TOKEN_OUTPUTS * WIDTH + output]);
                tags[at][output] = tag;
                let weight = if output == 0 { self.per_token } else { 0.5 * self.per_token };
                let slope = sum.slope(tag, wanted[output], weight);
                add_scaled(&mut gradients[at], slope, row);
                add_scaled(
                    &mut sum.parameters[TOKEN_AT + output * WIDTH..][..WIDTH],
                    slope,
                    vector,
                );
                sum.parameters[TOKEN_AT + TOKEN_OUTPUTS * WIDTH + output] += slope;
            }
        }
        // The pooled prompt.
        let attention = &parameters[ATTENTION_AT..PROMPT_AT];
        let scores: Vec<f32> = vectors.iter().map(|vector| dot(vector, attention)).collect();
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let raised: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
        let total: f32 = raised.iter().sum();
        let shares: Vec<f32> = raised.iter().map(|it| it / total).collect();
        let mut pooled = [0.0; WIDTH];
        vectors
            .iter()
            .zip(&shares)
            .for_each(|(vector, share)| add_scaled(&mut pooled, *share, vector));
        let mut pooled_gradient = [0.0; WIDTH];
        let rows = &parameters[PROMPT_AT..HIDDEN_AT];
        for (output, wanted) in lesson.prompt.into_iter().enumerate() {
            let row = &rows[output * WIDTH..(output + 1) * WIDTH];
            let likely = sigmoid(dot(&pooled, row) + rows[PROMPT_OUTPUTS * WIDTH + output]);
            let slope = sum.slope(likely, wanted, SPAN_WEIGHT * self.per_prompt);
            add_scaled(&mut pooled_gradient, slope, row);
            add_scaled(&mut sum.parameters[PROMPT_AT + output * WIDTH..][..WIDTH], slope, &pooled);
            sum.parameters[PROMPT_AT + PROMPT_OUTPUTS * WIDTH + output] += slope;
        }
        self.learn_spans(
            lesson, &tags, vectors, &pooled, &mut gradients, &mut pooled_gradient, sum,
        );
        let along: Vec<f32> = vectors.iter().map(|vector| dot(vector, &pooled_gradient)).collect();
        let mean: f32 = along.iter().zip(&shares).map(|(it, share)| it * share).sum();
        for (at, vector) in vectors.iter().enumerate() {
            let slope = shares[at] * (along[at] - mean);
            add_scaled(&mut gradients[at], shares[at], &pooled_gradient);
            add_scaled(&mut gradients[at], slope, attention);
            add_scaled(&mut sum.parameters[ATTENTION_AT..PROMPT_AT], slope, vector);
        }
        let gradients = trace.back(parameters, self.reversed, gradients, &mut sum.parameters);
        for (at, gradient) in gradients.iter().enumerate() {
            lesson.tokens.weigh_rows(at, without_word[at], |row, weight| {
                sum.add_row(row, weight, gradient);
            });
        }
    }

    /// Learns from the marked spans, and from those that the tags give now.
    #[allow(clippy::too_many_arguments, reason = "parts of one pass")]
    fn learn_spans(
        &self,
        lesson: &PromptLesson,
        tags: &[[f32; TOKEN_OUTPUTS]],
        vectors: &[TokenVector],
        pooled: &TokenVector,
        gradients: &mut [TokenVector],
        pooled_gradient: &mut TokenVector,
        sum: &mut GradientSum,
    ) {
        let parameters = &self.model.parameters;
        let (for_span, rest) = parameters[HIDDEN_AT..SPAN_AT].split_at(SQUARE);
        let (for_prompt, bias) = rest.split_at(SQUARE);
        let from_prompt = multiply(pooled, for_prompt);
        let found = decode_spans(&lesson.tokens, tags).into_iter().filter_map(|span| {
            let overlaps = lesson.spans.iter().map(|label| overlap(&span, &label.tokens));
            let most = overlaps.fold(0.0, f32::max);
            (!(0.3..=0.6).contains(&most)).then_some((span, most > 0.6))
        });
        let marked = lesson.spans.iter().map(|label| (label.tokens.clone(), true));
        let weight = SPAN_WEIGHT * self.per_prompt;
        for (span, is_kept) in found.chain(marked).collect::<Vec<_>>() {
            let mean = mean_vector(&vectors[span.clone()]);
            let own = multiply(&mean, for_span);
            let hidden: TokenVector =
                std::array::from_fn(|at| (own[at] + from_prompt[at] + bias[at]).max(0.0));
            let rows = &parameters[SPAN_AT..PARAMETERS];
            let outputs = std::array::from_fn(|output| {
                dot(&hidden, &rows[output * WIDTH..(output + 1) * WIDTH])
                    + rows[SPAN_OUTPUTS * WIDTH + output]
            });
            let likely = probabilities(outputs);
            let mut slopes = [0.0; SPAN_OUTPUTS];
            slopes[0] = sum.slope(likely[0], is_kept, weight);
            let label = lesson.spans.iter().find(|label| overlap(&span, &label.tokens) > 0.0);
            if let Some(label) = label.filter(|_| is_kept) {
                for output in 1..SPAN_OUTPUTS {
                    let wanted =
                        if output < 6 { label.kind + 1 == output } else { label.flags[output - 6] };
                    slopes[output] = 0.5 * weight * (likely[output] - f32::from(u8::from(wanted)));
                }
            }
            let mut inner = [0.0; WIDTH];
            for (output, slope) in slopes.into_iter().enumerate() {
                add_scaled(&mut inner, slope, &rows[output * WIDTH..(output + 1) * WIDTH]);
                add_scaled(
                    &mut sum.parameters[SPAN_AT + output * WIDTH..][..WIDTH],
                    slope,
                    &hidden,
                );
                sum.parameters[SPAN_AT + SPAN_OUTPUTS * WIDTH + output] += slope;
            }
            inner
                .iter_mut()
                .zip(&hidden)
                .filter(|(_, hidden)| **hidden <= 0.0)
                .for_each(|(it, _)| *it = 0.0);
            let (span_sum, rest) = sum.parameters[HIDDEN_AT..SPAN_AT].split_at_mut(SQUARE);
            let (prompt_sum, bias_sum) = rest.split_at_mut(SQUARE);
            add_outer(span_sum, &mean, &inner);
            add_outer(prompt_sum, pooled, &inner);
            add_scaled(bias_sum, 1.0, &inner);
            add_scaled(pooled_gradient, 1.0, &multiply_back(&inner, for_prompt));
            let back = multiply_back(&inner, for_span);
            #[allow(clippy::cast_precision_loss, reason = "a span has few tokens")]
            let share = 1.0 / span.len() as f32;
            gradients[span].iter_mut().for_each(|it| add_scaled(it, share, &back));
        }
    }
}

impl GradientSum {
    /// Slope of the cross entropy, whose value is added to the loss.
    fn slope(&mut self, likely: f32, wanted: bool, weight: f32) -> f32 {
        let right = if wanted { likely } else { 1.0 - likely };
        self.loss -= weight * right.max(1e-7).ln();
        weight * (likely - f32::from(u8::from(wanted)))
    }
}

/// Twice the common tokens of two spans by all their tokens.
#[allow(clippy::cast_precision_loss, reason = "spans have few tokens")]
pub(crate) fn overlap(one: &Range<usize>, other: &Range<usize>) -> f32 {
    let common = one.end.min(other.end).saturating_sub(one.start.max(other.start));
    2.0 * common as f32 / (one.len() + other.len()).max(1) as f32
}

/// Adam with weight decay; embeddings change only where there is a gradient.
pub(crate) struct AdamOptimizer {
    parameters: AdamMoments,
    embeddings: AdamMoments,
    corrections: [f32; 2],
}

/// Moving means of the gradients of some values, and of their squares.
struct AdamMoments([Vec<f32>; 2]);

const MOMENTS: [f32; 2] = [0.9, 0.99];
const DECAY: f32 = 0.01;

impl AdamMoments {
    fn new(count: usize) -> Self {
        Self([vec![0.0; count], vec![0.0; count]])
    }

    fn step(&mut self, at: usize, value: &mut f32, slope: f32, rate: f32, corrections: [f32; 2]) {
        let [first, second] = &mut self.0;
        first[at] += (1.0 - MOMENTS[0]) * (slope - first[at]);
        second[at] += (1.0 - MOMENTS[1]) * (slope * slope - second[at]);
        let step = first[at] / corrections[0] / ((second[at] / corrections[1]).sqrt() + 1e-7);
        *value -= rate * (step + DECAY * *value);
    }
}

impl AdamOptimizer {
    pub(crate) fn new(parameters: usize, embeddings: usize) -> Self {
        Self {
            parameters: AdamMoments::new(parameters),
            embeddings: AdamMoments::new(embeddings),
            corrections: [1.0; 2],
        }
    }

    /// Changes all parameters by their gradients.
    pub(crate) fn step_parameters(&mut self, values: &mut [f32], slopes: &[f32], rate: f32) {
        for (correction, moment) in self.corrections.iter_mut().zip(MOMENTS) {
            *correction *= moment;
        }
        let corrections = self.corrections.map(|it| 1.0 - it);
        for (at, (value, slope)) in values.iter_mut().zip(slopes).enumerate() {
            self.parameters.step(at, value, *slope, rate, corrections);
        }
    }

    pub(crate) fn step(&mut self, model: &mut TaggerModel, sum: &GradientSum, rate: f32) {
        self.step_parameters(&mut model.parameters, &sum.parameters, rate);
        let corrections = self.corrections.map(|it| 1.0 - it);
        for row in &sum.touched {
            for at in row * WIDTH..(row + 1) * WIDTH {
                let value = &mut model.embeddings[at];
                self.embeddings.step(at, value, sum.embeddings[at], rate, corrections);
            }
        }
    }
}
