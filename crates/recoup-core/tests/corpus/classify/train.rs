//! Makes the weights: a softmax over the features of sentences, by `AdaGrad`, always in the
//! same order. A prompt's label is its sentence's that says it; the others are nothing.

use recoup_core::memory::capture::ClassifierModel;
use recoup_core::memory::capture::training;
use recoup_core::memory::capture::training::{BUCKETS, CLASSES, HashedFeature, LABELS};

use super::Prompt;

const ROUNDS: usize = 25;
const STEP: f32 = 0.15;
const DECAY: f32 = 2e-4;
/// Behind all buckets stands what every sentence has.
#[allow(clippy::cast_possible_truncation, reason = "a small number")]
const BIAS: u32 = BUCKETS as u32;

/// A sentence to learn from.
pub(crate) struct Lesson {
    features: Vec<HashedFeature>,
    class: usize,
    weight: f32,
}

/// What there is to learn from a prompt.
pub(crate) fn lessons(prompt: &Prompt) -> Vec<Lesson> {
    let sentences = training::training_sentences(&prompt.text);
    let class = LABELS.iter().position(|label| *label == prompt.label).expect("a known label");
    let none = |features| Lesson { features, class: 0, weight: 1.0 };
    if class == 0 {
        return sentences.into_iter().map(|it| none(it.features)).collect();
    }
    if prompt.label == "re-ask" {
        // What is wrong is said first, as a rule; what follows may be anything.
        let first = sentences.into_iter().next();
        return first
            .into_iter()
            .map(|it| Lesson { features: it.features, class, weight: 1.0 })
            .collect();
    }
    let fits: Vec<f32> = sentences.iter().map(|it| fit(&it.text, prompt)).collect();
    let best = fits.iter().copied().fold(0.0, f32::max);
    let mut all = Vec::new();
    for (sentence, fit) in sentences.into_iter().zip(fits) {
        if fit >= best && best > 0.0 {
            all.push(Lesson { features: sentence.features, class, weight: 1.0 });
        } else if fit < 0.3 {
            all.push(Lesson { weight: 0.5, ..none(sentence.features) });
        }
    }
    all
}

/// How much of a statement a sentence holds.
fn fit(sentence: &str, prompt: &Prompt) -> f32 {
    let lower = sentence.to_lowercase();
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|it| it.chars().count() > 2);
        words.map(|it| it.chars().take(5).collect()).collect()
    };
    let (own, wanted) = (words(&lower), words(&prompt.statement));
    #[allow(clippy::cast_precision_loss, reason = "a few words")]
    let share =
        wanted.iter().filter(|it| own.contains(it)).count() as f32 / wanted.len().max(1) as f32;
    #[allow(clippy::cast_precision_loss, reason = "a few words")]
    let must = prompt.must.iter().filter(|it| lower.contains(it.as_str())).count() as f32
        / prompt.must.len().max(1) as f32;
    share * 0.5 + must
}

/// The bytes of a model that has learnt from these.
pub(crate) fn train(lessons: &[&Lesson]) -> Vec<u8> {
    let mut weights = vec![0.0_f32; (BUCKETS + 1) * CLASSES];
    let mut squares = vec![1e-3_f32; (BUCKETS + 1) * CLASSES];
    let mut order: Vec<usize> = (0..lessons.len()).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..ROUNDS {
        shuffle(&mut order, &mut seed);
        for at in &order {
            learn(lessons[*at], &mut weights, &mut squares);
        }
    }
    pack(&weights)
}

fn learn(lesson: &Lesson, weights: &mut [f32], squares: &mut [f32]) {
    let mut scores = [0.0_f32; CLASSES];
    let with_bias = || lesson.features.iter().copied().chain([(BIAS, 1.0)]);
    for (bucket, value) in with_bias() {
        let row = bucket as usize * CLASSES;
        for (score, weight) in scores.iter_mut().zip(&weights[row..row + CLASSES]) {
            *score += weight * value;
        }
    }
    let highest = scores.iter().copied().fold(f32::MIN, f32::max);
    let raised = scores.map(|it| (it - highest).exp());
    let sum: f32 = raised.iter().sum();
    for (bucket, value) in with_bias() {
        let row = bucket as usize * CLASSES;
        for (class, likely) in raised.iter().enumerate() {
            let wanted = f32::from(u8::from(class == lesson.class));
            let at = row + class;
            let slope = (likely / sum - wanted) * value * lesson.weight + DECAY * weights[at];
            squares[at] += slope * slope;
            weights[at] -= STEP * slope / squares[at].sqrt();
        }
    }
}

fn shuffle(order: &mut [usize], seed: &mut u64) {
    for at in (1..order.len()).rev() {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from((*seed >> 33) % (at as u64 + 1)).expect("within the list");
        order.swap(at, other);
    }
}

/// Bias and scale of each class, then one byte for each weight.
fn pack(weights: &[f32]) -> Vec<u8> {
    let (rows, bias) = weights.split_at(BUCKETS * CLASSES);
    let scale: Vec<f32> = (0..CLASSES)
        .map(|class| {
            rows.iter().skip(class).step_by(CLASSES).fold(1e-6_f32, |most, it| most.max(it.abs()))
                / 127.0
        })
        .collect();
    let mut bytes: Vec<u8> = bias.iter().chain(&scale).flat_map(|it| it.to_le_bytes()).collect();
    #[allow(clippy::cast_possible_truncation, reason = "the scale keeps it within a byte")]
    bytes.extend(
        rows.iter()
            .enumerate()
            .map(|(at, it)| ((it / scale[at % CLASSES]).round() as i8).cast_unsigned()),
    );
    bytes
}

/// Each prompt of `tested` read by a model that has not seen it: learnt from all the
/// others of `tested`, and from `more`.
pub(crate) fn cross_validate(
    tested: &[Prompt],
    more: &[Prompt],
    folds: usize,
) -> Vec<ClassifierModel> {
    let own: Vec<Vec<Lesson>> = tested.iter().map(lessons).collect();
    let extra: Vec<Lesson> = more.iter().flat_map(lessons).collect();
    (0..folds)
        .map(|fold| {
            let seen = own.iter().enumerate().filter(|(at, _)| at % folds != fold);
            let all: Vec<&Lesson> = seen.flat_map(|(_, it)| it).chain(&extra).collect();
            ClassifierModel::from_bytes(&train(&all))
        })
        .collect()
}
