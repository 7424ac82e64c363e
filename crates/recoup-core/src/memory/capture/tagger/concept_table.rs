//! Phrases that mean the same in several languages. The table is part of the weights: the words are
//! data for the trainer, and only their hashes are needed here.

use crate::memory::capture::tagger::tokens::{FIRST_CONCEPT, PromptTokens};

/// Most tokens of a phrase.
const LONGEST: usize = 6;
/// Bytes of an entry: a hash and the number of its concept.
pub(super) const ENTRY: usize = 5;

/// Sorted hashes of phrases, each with the number of its concept.
#[derive(Debug, Clone, Copy)]
pub struct ConceptTable<'a> {
    entries: &'a [u8],
}

impl<'a> ConceptTable<'a> {
    /// Reads a table from its bytes.
    pub const fn new(entries: &'a [u8]) -> Self {
        Self { entries }
    }

    /// Writes the table of some concepts, each with its phrases.
    pub fn compile<'p>(concepts: impl IntoIterator<Item = Vec<&'p str>>) -> Vec<u8> {
        let mut entries: Vec<(u32, u8)> = Vec::new();
        for (number, phrases) in concepts.into_iter().enumerate() {
            for phrase in phrases {
                let tokens = PromptTokens::without_context(phrase, &[]);
                if (1..=LONGEST).contains(&tokens.tokens.len()) {
                    let hash = (0..tokens.tokens.len())
                        .fold(0, |hash, at| extend(hash, tokens.rows(at)[0]));
                    entries.push((fold_hash(hash), u8::try_from(number).unwrap_or(u8::MAX)));
                }
            }
        }
        entries.sort_unstable();
        entries.dedup();
        entries
            .iter()
            .flat_map(|(hash, number)| {
                let [a, b, c, d] = hash.to_le_bytes();
                [a, b, c, d, *number]
            })
            .collect()
    }

    /// Adds to each token the rows of the phrases that it is part of.
    pub(super) fn mark_phrases(&self, tokens: &PromptTokens, more: &mut [Vec<u32>]) {
        for from in 0..more.len() {
            let mut hash = 0;
            for to in from..more.len().min(from + LONGEST) {
                hash = extend(hash, tokens.rows(to)[0]);
                for concept in self.concepts(fold_hash(hash)) {
                    let row = FIRST_CONCEPT + u32::from(concept);
                    for rows in &mut more[from..=to] {
                        if !rows.contains(&row) {
                            rows.push(row);
                        }
                    }
                }
            }
        }
    }

    fn concepts(self, hash: u32) -> impl Iterator<Item = u8> {
        let (entries, _) = self.entries.as_chunks::<ENTRY>();
        let key =
            |entry: &[u8; ENTRY]| u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let first = entries.partition_point(|entry| key(entry) < hash);
        entries[first..].iter().take_while(move |entry| key(entry) == hash).map(|entry| entry[4])
    }
}

/// Hash of a phrase with one more token.
const fn extend(hash: u64, row: u32) -> u64 {
    (hash ^ row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
const fn fold_hash(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}
