//! Networks of the tagger: embeddings, residual convolutions, and heads for tokens, spans and the
//! whole prompt. The weights are read in place; `train_capture` writes them.
//!
//! ```text
//! "RCT2" | n: u32 | n phrases (hash u32, concept u8)
//!        | each network: parameters (scale f32, 64 × i16)… | row scales: f32… | rows: 64 × 4 bits…
//! ```

use std::ops::Range;

use crate::memory::capture::tagger::concept_table::{ConceptTable, ENTRY};
use crate::memory::capture::tagger::decoding;
use crate::memory::capture::tagger::tokens::{PromptTokens, ROWS};
use crate::memory::lang::layers::{
    HEADS_AT, TokenVector, WIDTH, bytes_of_parameters, dot, largest, linear, mean_vector, multiply,
    read_parameters, run_layers, write_parameters,
};

/// Outputs of a span: to be kept, five kinds, three limits.
pub const SPAN_OUTPUTS: usize = 9;
/// Outputs of a prompt: something is kept, asked again, something is taken back.
pub const PROMPT_OUTPUTS: usize = 3;
/// Outputs of a token: inside a span, first, last.
pub const TOKEN_OUTPUTS: usize = 3;

/// First parameter of the head for tokens.
pub const TOKEN_AT: usize = HEADS_AT;
/// First parameter of the attention by which a prompt is pooled.
pub const ATTENTION_AT: usize = TOKEN_AT + TOKEN_OUTPUTS * (WIDTH + 1);
/// First parameter of the head for prompts.
pub const PROMPT_AT: usize = ATTENTION_AT + WIDTH;
/// First parameter of the hidden layer for spans: matrices for span and prompt, and a bias.
pub const HIDDEN_AT: usize = PROMPT_AT + PROMPT_OUTPUTS * (WIDTH + 1);
/// First parameter of the head for spans.
pub const SPAN_AT: usize = HIDDEN_AT + 2 * WIDTH * WIDTH + WIDTH;
/// Number of parameters beside the embeddings.
pub const PARAMETERS: usize = SPAN_AT + SPAN_OUTPUTS * (WIDTH + 1);

/// Networks that read each prompt; the mean of their opinions counts, which is better than any of
/// them.
pub const NETWORKS: usize = 2;

const MAGIC: &[u8; 4] = b"RCT2";
/// Bytes of an embedding row: two values in each.
const ROW: usize = WIDTH / 2;
/// Largest value of an embedding, in steps of its row's scale.
const MOST: f32 = 7.0;

/// Weights that are part of the program.
static SHIPPED: &[u8] = include_bytes!("weights.bin");

/// Weights of the tagger, read in place.
#[derive(Debug, Clone, Copy)]
pub struct TaggerWeights<'a> {
    concepts: ConceptTable<'a>,
    networks: [NetworkWeights<'a>; NETWORKS],
}

/// Weights of one network.
#[derive(Debug, Clone, Copy)]
struct NetworkWeights<'a> {
    parameters: &'a [u8],
    scales: &'a [u8],
    rows: &'a [u8],
}

/// A span of tokens, and the probabilities of its outputs.
#[derive(Debug, Clone)]
pub struct TaggedSpan {
    /// Tokens of the span.
    pub tokens: Range<usize>,
    /// Probabilities of its outputs.
    pub outputs: SpanOutput,
}

/// Probabilities of a span: to be kept, the five kinds, the three limits.
#[derive(Debug, Clone, Copy)]
pub struct SpanOutput([f32; SPAN_OUTPUTS]);

impl SpanOutput {
    /// Number of the kind "correction".
    pub const CORRECTION: usize = 1;
    /// Number of the kind "preference".
    pub const PREFERENCE: usize = 2;
    /// Number of the kind "knowledge about the project".
    pub const KNOWLEDGE: usize = 3;
    /// Number of the kind "how it is built and run".
    pub const DEVOPS: usize = 4;
    const RETRACTION: usize = 5;

    /// Probability that it is to be kept, or takes something back.
    pub fn kept(&self) -> f32 {
        self.0[0]
    }

    /// Probability of a kind.
    pub fn kind(&self, kind: usize) -> f32 {
        self.0[kind]
    }

    /// Probability that it takes something back.
    pub fn retraction(&self) -> f32 {
        self.0[Self::RETRACTION]
    }

    /// True if it holds in all projects.
    pub fn is_universal(&self) -> bool {
        self.0[6] > 0.5
    }

    /// True if it holds for some files only.
    pub fn is_limited(&self) -> bool {
        self.0[7] > 0.5
    }

    /// True if it holds for some time only.
    pub fn has_end(&self) -> bool {
        self.0[8] > 0.5
    }
}

/// Output of the network for a prompt.
#[derive(Debug, Clone, Default)]
pub struct TaggerOutput {
    /// Probabilities: something is kept, asked again, something is taken back.
    pub prompt: [f32; PROMPT_OUTPUTS],
    /// Spans in their order.
    pub spans: Vec<TaggedSpan>,
}

impl TaggerWeights<'static> {
    /// Returns the weights that are part of the program.
    pub fn shipped() -> Option<Self> {
        Self::read(SHIPPED)
    }
}

impl<'a> TaggerWeights<'a> {
    /// Reads weights; none if the bytes have another layout.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (concepts, rest) = rest.split_at_checked(count * ENTRY)?;
        let own = bytes_of_parameters(PARAMETERS);
        let size = own + ROWS * (4 + ROW);
        if rest.len() != NETWORKS * size {
            return None;
        }
        let networks = std::array::from_fn(|at| {
            let (parameters, rest) = rest[at * size..(at + 1) * size].split_at(own);
            let (scales, rows) = rest.split_at(ROWS * 4);
            NetworkWeights { parameters, scales, rows }
        });
        Some(Self { concepts: ConceptTable::new(concepts), networks })
    }

    /// Writes the parameters and embeddings of the networks in the layout of [`Self::read`].
    pub fn write(concepts: &[u8], networks: [(&[f32], &[f32]); NETWORKS]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let count = u32::try_from(concepts.len() / ENTRY).unwrap_or_default();
        bytes.extend(count.to_le_bytes());
        bytes.extend_from_slice(concepts);
        for (parameters, embeddings) in networks {
            write_parameters(parameters, &mut bytes);
            let rows = || embeddings.chunks(WIDTH).map(|row| (row, best_scale(row)));
            bytes.extend(rows().flat_map(|(_, scale)| scale.to_le_bytes()));
            for (row, scale) in rows() {
                #[expect(clippy::cast_possible_truncation, reason = "from 1 to 15")]
                #[expect(clippy::cast_sign_loss, reason = "from 1 to 15")]
                let nibble = |value: f32| (steps(value, scale) + MOST + 1.0) as u8;
                bytes.extend(row.chunks(2).map(|two| nibble(two[0]) << 4 | nibble(two[1])));
            }
        }
        bytes
    }

    /// Phrases of the concepts.
    pub const fn concepts(&self) -> ConceptTable<'a> {
        self.concepts
    }

    /// Finds the spans of a prompt.
    pub fn tag(&self, tokens: &PromptTokens) -> TaggerOutput {
        if tokens.tokens.is_empty() {
            return TaggerOutput::default();
        }
        let readings = self.networks.map(|network| network.read_tokens(tokens));
        let tags: Vec<_> = (0..tokens.tokens.len())
            .map(|at| mean_of(readings.each_ref().map(|it| it.tags[at])))
            .collect();
        let spans = decoding::decode_spans(tokens, &tags).into_iter().map(|span| {
            let outputs = mean_of(readings.each_ref().map(|it| it.span_outputs(&span)));
            TaggedSpan { tokens: span, outputs: SpanOutput(outputs) }
        });
        let prompt = mean_of(readings.each_ref().map(|it| it.prompt));
        TaggerOutput { prompt, spans: spans.collect() }
    }
}

/// Mean of the networks' opinions.
fn mean_of<const N: usize>(all: [[f32; N]; NETWORKS]) -> [f32; N] {
    #[expect(clippy::cast_precision_loss, reason = "a few networks")]
    std::array::from_fn(|at| all.iter().map(|it| it[at]).sum::<f32>() / NETWORKS as f32)
}

/// A value in steps of a scale.
fn steps(value: f32, scale: f32) -> f32 {
    (value / scale).round().clamp(-MOST, MOST)
}

/// Scale of a row that loses least: the largest values may be cut off.
fn best_scale(row: &[f32]) -> f32 {
    let loss = |scale: f32| {
        row.iter().map(|value| (steps(*value, scale) * scale - value).powi(2)).sum::<f32>()
    };
    let scales = [1.0, 0.9, 0.8, 0.7, 0.6].map(|share| share * largest(row) / MOST);
    scales.into_iter().min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(1.0)
}

impl NetworkWeights<'_> {
    fn add_row(&self, row: usize, weight: f32, sum: &mut TokenVector) {
        let (scales, _) = self.scales.as_chunks::<4>();
        let weight = weight * f32::from_le_bytes(scales[row]);
        let values = &self.rows[row * ROW..(row + 1) * ROW];
        let value = |nibble: u8| weight * (f32::from(nibble) - (MOST + 1.0));
        for (pair, byte) in sum.as_chunks_mut::<2>().0.iter_mut().zip(values) {
            pair[0] += value(byte >> 4);
            pair[1] += value(byte & 15);
        }
    }

    fn embed_tokens(&self, tokens: &PromptTokens, without_words: bool) -> Vec<TokenVector> {
        let mut vectors = vec![[0.0; WIDTH]; tokens.tokens.len()];
        for (at, vector) in vectors.iter_mut().enumerate() {
            tokens.weigh_rows(at, without_words, |row, weight| self.add_row(row, weight, vector));
        }
        vectors
    }

    /// Reads the tokens of a prompt, of which there must be some.
    fn read_tokens(&self, tokens: &PromptTokens) -> NetworkReading {
        let parameters = read_parameters(self.parameters);
        let mut vectors = self.embed_tokens(tokens, false);
        run_layers(&parameters, &mut vectors);
        let tag = |vector| linear(vector, &parameters[TOKEN_AT..ATTENTION_AT]).map(sigmoid);
        let tags = vectors.iter().map(tag).collect();
        let pooled = pool_by_attention(&vectors, &parameters[ATTENTION_AT..PROMPT_AT]);
        let prompt = linear(&pooled, &parameters[PROMPT_AT..HIDDEN_AT]).map(sigmoid);
        NetworkReading { tags, prompt, vectors, pooled, parameters }
    }
}

/// A prompt as one network reads it: the probabilities of its tokens and of the whole.
struct NetworkReading {
    tags: Vec<[f32; TOKEN_OUTPUTS]>,
    prompt: [f32; PROMPT_OUTPUTS],
    vectors: Vec<TokenVector>,
    pooled: TokenVector,
    parameters: Vec<f32>,
}

impl NetworkReading {
    /// Probabilities of a span's outputs.
    fn span_outputs(&self, span: &Range<usize>) -> [f32; SPAN_OUTPUTS] {
        let (for_span, rest) = self.parameters[HIDDEN_AT..SPAN_AT].split_at(WIDTH * WIDTH);
        let (for_prompt, bias) = rest.split_at(WIDTH * WIDTH);
        let own = multiply(&mean_vector(&self.vectors[span.clone()]), for_span);
        let from_prompt = multiply(&self.pooled, for_prompt);
        let hidden = std::array::from_fn(|at| (own[at] + from_prompt[at] + bias[at]).max(0.0));
        probabilities(linear(&hidden, &self.parameters[SPAN_AT..PARAMETERS]))
    }
}

/// Logistic function.
pub fn sigmoid(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}

/// Probabilities of a span's outputs: the kinds exclude each other, the others do not.
pub fn probabilities(outputs: [f32; SPAN_OUTPUTS]) -> [f32; SPAN_OUTPUTS] {
    let highest = outputs[1..6].iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = outputs[1..6].iter().map(|it| (it - highest).exp()).sum();
    std::array::from_fn(|at| match at {
        1..6 => (outputs[at] - highest).exp() / sum,
        _ => sigmoid(outputs[at]),
    })
}

fn pool_by_attention(vectors: &[TokenVector], attention: &[f32]) -> TokenVector {
    let scores: Vec<f32> = vectors.iter().map(|vector| dot(vector, attention)).collect();
    let highest = scores.iter().copied().fold(f32::MIN, f32::max);
    let shares: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
    let sum: f32 = shares.iter().sum();
    let mut pooled = [0.0; WIDTH];
    for (vector, share) in vectors.iter().zip(&shares) {
        pooled.iter_mut().zip(vector).for_each(|(all, it)| *all += share / sum * it);
    }
    pooled
}
