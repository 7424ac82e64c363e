//! Features of a sentence for the model: its words, its shape and its neighbours, each hashed to a
//! number; there are no names to store.

use crate::memory::capture::outline::{PromptOutline, PromptSentence};
use crate::memory::capture::tokens;
use crate::memory::capture::tokens::SentenceToken;

/// Number of hash buckets.
pub const BUCKETS: usize = 1 << 15;

/// Hash bucket of a feature, and its value.
pub type HashedFeature = (u32, f32);

/// Tokens of each sentence of a prompt.
#[derive(Debug)]
pub(super) struct TokenizedPrompt {
    pub(super) tokens: Vec<Vec<SentenceToken>>,
}

impl TokenizedPrompt {
    pub(super) fn of(outline: &PromptOutline) -> Self {
        Self { tokens: outline.units.iter().map(|unit| tokens::tokenize(&unit.text)).collect() }
    }

    /// True if the user says that it holds everywhere.
    pub(super) fn is_universal(&self) -> bool {
        self.tokens.iter().flatten().any(|token| token.is("UNIVERSAL"))
    }
}

/// Group of features, whose total weight does not depend on their number.
struct FeatureGroup {
    hashes: Vec<u32>,
    weight: f32,
}

impl FeatureGroup {
    fn new(weight: f32) -> Self {
        Self { hashes: Vec::new(), weight }
    }

    fn add(&mut self, parts: &[&str]) {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for part in parts {
            for byte in part.bytes().chain([0x1f]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        let folded = hash ^ (hash >> 29);
        self.hashes
            .push(u32::try_from(folded % BUCKETS as u64).expect("a remainder of a small number"));
    }

    fn finish(mut self, all: &mut Vec<HashedFeature>) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        #[expect(clippy::cast_precision_loss, reason = "a sentence has hundreds of them at most")]
        let value = self.weight / (self.hashes.len().max(1) as f32).sqrt();
        all.extend(self.hashes.into_iter().map(|hash| (hash, value)));
    }
}

/// The features of the sentence at `at`.
pub(super) fn sentence_features(
    outline: &PromptOutline,
    read: &TokenizedPrompt,
    at: usize,
) -> Vec<HashedFeature> {
    let (unit, own) = (&outline.units[at], &read.tokens[at]);
    let mut all = Vec::with_capacity(400);
    words(own, &mut all);
    classes(own, &mut all);
    pairs(own, &mut all);
    surroundings(outline, read, at, &mut all);
    form(outline, unit, own, at, &mut all);
    all
}

/// Adds the words, pairs of neighbouring words, and the beginnings of long words.
fn words(own: &[SentenceToken], all: &mut Vec<HashedFeature>) {
    let mut group = FeatureGroup::new(2.0);
    let mut before = "^";
    for token in own {
        group.add(&["w", &token.word]);
        group.add(&["ww", before, &token.word]);
        if token.class.starts_with("@X") && token.word.chars().count() > 5 {
            let beginning: String = token.word.chars().take(5).collect();
            group.add(&["p", &beginning]);
        }
        before = &token.word;
    }
    group.finish(all);
}

/// Adds the classes of words, up to four in a row, and two with one between.
fn classes(own: &[SentenceToken], all: &mut Vec<HashedFeature>) {
    let mut group = FeatureGroup::new(3.0);
    let mut row: Vec<&str> = vec!["^"];
    row.extend(own.iter().map(|token| token.class.as_str()));
    row.push("$");
    for (at, first) in row.iter().enumerate() {
        group.add(&["c", first]);
        for length in 2..=4 {
            if let Some(window) = row.get(at..at + length) {
                let mut parts = vec!["c"];
                parts.extend(window);
                group.add(&parts);
            }
        }
        if let Some(third) = row.get(at + 2) {
            group.add(&["s", first, third]);
        }
    }
    group.finish(all);
}

/// Adds the concepts of the sentence, alone and in pairs.
fn pairs(own: &[SentenceToken], all: &mut Vec<HashedFeature>) {
    let mut present: Vec<&str> =
        own.iter().flat_map(|token| token.concepts.iter().copied()).collect();
    present.extend(own.iter().map(|token| token.class.as_str()).filter(|class| {
        matches!(*class, "?" | "@CODE" | "@PATH" | "@URL" | "@NUM" | "@QUOTE" | "@IDENT")
    }));
    present.sort_unstable();
    present.dedup();
    let mut single = FeatureGroup::new(2.0);
    let mut double = FeatureGroup::new(2.0);
    for (at, one) in present.iter().enumerate() {
        single.add(&["h", one]);
        for other in &present[at + 1..] {
            double.add(&["hh", one, other]);
        }
    }
    single.finish(all);
    double.finish(all);
}

/// Adds features of the sentences before and behind, of the header, and of the prompt's first one.
fn surroundings(
    outline: &PromptOutline,
    read: &TokenizedPrompt,
    at: usize,
    all: &mut Vec<HashedFeature>,
) {
    let mut group = FeatureGroup::new(1.5);
    let mut tell = |name: &str, tokens: Option<&Vec<SentenceToken>>| {
        let Some(tokens) = tokens else {
            group.add(&[name, "nothing"]);
            return;
        };
        let class = |at: usize| tokens.get(at).map_or("$", |token| token.class.as_str());
        group.add(&[name, "1", class(0)]);
        group.add(&[name, "2", class(0), class(1)]);
        let mut present: Vec<&str> =
            tokens.iter().flat_map(|it| it.concepts.iter().copied()).collect();
        present.sort_unstable();
        present.dedup();
        for concept in present {
            group.add(&[name, "h", concept]);
        }
        if tokens.iter().any(|it| it.class == "?") {
            group.add(&[name, "?"]);
        }
    };
    tell("before", at.checked_sub(1).and_then(|it| read.tokens.get(it)));
    tell("behind", read.tokens.get(at + 1));
    if at > 1 {
        tell("first", read.tokens.first());
    }
    if let Some(header) = outline.units[at].header {
        tell("above", read.tokens.get(header));
    }
    group.finish(all);
}

/// Adds length, position and ending.
fn form(
    outline: &PromptOutline,
    unit: &PromptSentence,
    own: &[SentenceToken],
    at: usize,
    all: &mut Vec<HashedFeature>,
) {
    let mut group = FeatureGroup::new(1.5);
    let length = match own.len() {
        0..=2 => "2",
        3..=5 => "5",
        6..=9 => "9",
        10..=15 => "15",
        16..=25 => "25",
        _ => "more",
    };
    let last = outline.units.len() - 1;
    let place = match at {
        0 if last == 0 => "only",
        0 => "first",
        _ if at == last => "last",
        _ => "middle",
    };
    group.add(&["length", length]);
    group.add(&["place", place]);
    group.add(&["length+place", length, place]);
    group.add(&["ends", own.last().map_or("", |token| token.class.as_str())]);
    for (name, holds) in [
        ("pasted", outline.pasted),
        ("item", unit.is_item),
        ("header", unit.header.is_some()),
        ("is-header", unit.text.ends_with([':', '：'])),
        ("asked", outline.units.iter().any(|it| it.text.ends_with(['?', '？']))),
        ("many", last > 3),
    ] {
        group.add(&[name, if holds { "yes" } else { "no" }]);
    }
    group.finish(all);
}
