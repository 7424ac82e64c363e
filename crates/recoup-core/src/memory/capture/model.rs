//! Linear model that classifies sentences. Its weights were made by `cargo run --release -p
//! recoup-core --example train_classify` and are part of the program.

use crate::memory::capture::features::{BUCKETS, HashedFeature};

/// Number of classes.
pub const CLASSES: usize = 6;
/// Nothing worth keeping.
pub(super) const NONE: usize = 0;
/// A complaint about the result, without anything lasting.
pub(super) const RE_ASK: usize = 5;

/// A bias and a scale for each class as `f32`, then a byte for each bucket and class.
const BYTES: &[u8] = include_bytes!("weights.bin");

/// Weights of the classifier: the shipped ones, or those in training.
#[derive(Debug, Clone)]
pub struct ClassifierModel {
    bias: [f32; CLASSES],
    scale: [f32; CLASSES],
    weights: std::borrow::Cow<'static, [u8]>,
}

/// Probability of each class.
pub(super) type ClassOdds = [f32; CLASSES];

impl ClassifierModel {
    /// Size of a model in bytes.
    pub(crate) const LENGTH: usize = CLASSES * 8 + BUCKETS * CLASSES;

    /// Returns the model that is part of the program.
    pub(crate) fn shipped() -> Self {
        Self::from_static(BYTES)
    }

    /// Reads a model that was just trained.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut model = Self::from_static(&[]);
        if bytes.len() == Self::LENGTH {
            let (head, weights) = bytes.split_at(CLASSES * 8);
            (model.bias, model.scale) = Self::head(head);
            model.weights = weights.to_vec().into();
        }
        model
    }

    /// Reads weights. Those of another length are empty: then nothing is ever worth keeping.
    fn from_static(bytes: &'static [u8]) -> Self {
        if bytes.len() != Self::LENGTH {
            return Self { bias: [0.0; CLASSES], scale: [0.0; CLASSES], weights: (&[][..]).into() };
        }
        let (head, weights) = bytes.split_at(CLASSES * 8);
        let (bias, scale) = Self::head(head);
        Self { bias, scale, weights: weights.into() }
    }

    fn head(bytes: &[u8]) -> ([f32; CLASSES], [f32; CLASSES]) {
        let number = |at: usize| {
            f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let numbers = |from: usize| std::array::from_fn(|class| number(from + class * 4));
        (numbers(0), numbers(CLASSES * 4))
    }

    /// Class probabilities for the features of a sentence.
    pub(super) fn odds(&self, features: &[HashedFeature]) -> ClassOdds {
        if self.weights.is_empty() {
            let mut nothing = [0.0; CLASSES];
            nothing[NONE] = 1.0;
            return nothing;
        }
        let mut sums = [0.0_f32; CLASSES];
        for (bucket, value) in features {
            let row = *bucket as usize * CLASSES;
            for (sum, weight) in sums.iter_mut().zip(&self.weights[row..row + CLASSES]) {
                *sum += f32::from(weight.cast_signed()) * value;
            }
        }
        let scores: ClassOdds =
            std::array::from_fn(|class| self.bias[class] + self.scale[class] * sums[class]);
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let raised = scores.map(|score| (score - highest).exp());
        let sum: f32 = raised.iter().sum();
        raised.map(|it| it / sum)
    }
}
