//! Word vectors: a static table by which texts that share no word are compared.
//!
//! A text's vector is the mean of the vectors of its pieces, and two texts are as close as the cosine
//! of theirs. English only; words of other languages count if the dictionary has them. NOTICE tells
//! the origin of the table.
//!
//! ```text
//! "RVEC"  pieces n, dimensions d, bytes of text b     3 × u32
//! hash table                                          65,536 × u16, 0xffff is empty
//! offsets of the pieces in the text                   (n + 1) × u32
//! scales                                              n × f32
//! vectors                                             n × d × i8
//! text of the pieces; those within a word begin with ##
//! ```

use crate::memory::lang::dictionary;
use crate::memory::lang::forms::is_stop_word;
use crate::memory::lang::tokenizer::{WordSort, is_unspaced, tokenize};

static TABLE: &[u8] = include_bytes!("word_vectors.bin");

/// Numbers of a vector.
pub(crate) const DIMENSIONS: usize = 128;
const SLOTS: usize = 1 << 16;
const HEAD: usize = 16;
const OFFSETS: usize = HEAD + 2 * SLOTS;
/// Longest piece in bytes.
const LONGEST: usize = 20;
/// Share of a stop word.
const FAINT: f32 = 0.5;

/// Vector of a text, of length one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextVector([f32; DIMENSIONS]);

impl TextVector {
    /// Returns the vector of a text, or `None` if none of its words is known.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut sum = [0.0; DIMENSIONS];
        tokenize(text, |word, sort| {
            if matches!(sort, WordSort::Plain | WordSort::Part) {
                add_word(word, &mut sum);
            }
        });
        for run in text.split(|c| !is_unspaced(c)).filter(|run| !run.is_empty()) {
            for word in dictionary::words_in_run(run) {
                add_translation(word, &mut sum);
            }
        }
        let length = sum.iter().map(|it| it * it).sum::<f32>().sqrt();
        (length > 0.0).then(|| Self(sum.map(|it| it / length)))
    }

    pub(crate) fn numbers(&self) -> &[f32; DIMENSIONS] {
        &self.0
    }

    /// Cosine of two vectors.
    pub(crate) fn similarity(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

fn add_word(word: &str, sum: &mut [f32; DIMENSIONS]) {
    // A word that is also a word of another language is taken for English.
    if find_piece(word.as_bytes(), false).is_none() && dictionary::english_word(word).is_some() {
        return add_translation(word, sum);
    }
    let share = if is_stop_word(word) { FAINT } else { 1.0 };
    let (bytes, mut at) = (word.as_bytes(), 0);
    let mut pieces = Vec::with_capacity(4);
    while at < bytes.len() {
        let ends = (at + 1..=bytes.len().min(at + LONGEST)).rev();
        let mut found = ends.map(|end| (end, find_piece(&bytes[at..end], at > 0)));
        let Some((end, Some(piece))) = found.find(|(_, piece)| piece.is_some()) else { return };
        pieces.push(piece);
        at = end;
    }
    for piece in pieces {
        add_piece(piece, share, sum);
    }
}

fn add_translation(word: &str, sum: &mut [f32; DIMENSIONS]) {
    if let Some(piece) =
        dictionary::english_word(word).and_then(|it| find_piece(it.as_bytes(), false))
    {
        add_piece(piece, 1.0, sum);
    }
}

fn add_piece(piece: usize, share: f32, sum: &mut [f32; DIMENSIONS]) {
    let count = number(4);
    let scales = OFFSETS + 4 * (count + 1);
    let scale = share * f32::from_bits(u32_at(scales + 4 * piece));
    let row = scales + 4 * count + piece * DIMENSIONS;
    for (sum, value) in sum.iter_mut().zip(&TABLE[row..row + DIMENSIONS]) {
        *sum += scale * f32::from(value.cast_signed());
    }
}

/// Number of a piece; `within` is true for one that continues a word.
fn find_piece(piece: &[u8], within: bool) -> Option<usize> {
    let mark: &[u8] = if within { b"##" } else { b"" };
    let hash = mark.iter().chain(piece).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let count = number(4);
    let text = OFFSETS + 4 * (count + 1) + 4 * count + count * DIMENSIONS;
    let mut slot = usize::try_from(hash % SLOTS as u64).ok()?;
    loop {
        let at = HEAD + 2 * slot;
        let found = usize::from(u16::from_le_bytes([TABLE[at], TABLE[at + 1]]));
        if found == usize::from(u16::MAX) {
            return None;
        }
        let (from, to) = (number(OFFSETS + 4 * found), number(OFFSETS + 4 * (found + 1)));
        if TABLE[text + from..text + to].strip_prefix(mark) == Some(piece) {
            return Some(found);
        }
        slot = (slot + 1) % SLOTS;
    }
}

fn number(at: usize) -> usize {
    u32_at(at) as usize
}

fn u32_at(at: usize) -> u32 {
    u32::from_le_bytes([TABLE[at], TABLE[at + 1], TABLE[at + 2], TABLE[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(one: &str, other: &str) -> f32 {
        let (one, other) = (TextVector::of(one).unwrap(), TextVector::of(other).unwrap());
        one.similarity(&other)
    }

    #[test]
    fn texts_on_one_subject_are_closer_than_others() {
        let sign_in = similarity("where does sign in happen", "keycloak handles the login");
        let other = similarity("where does sign in happen", "prices include taxes");
        assert!(sign_in > other, "{sign_in} {other}");
        assert!((similarity("the same text", "the same text") - 1.0).abs() < 1e-5);
    }

    #[test]
    fn words_of_the_dictionary_count_in_every_language() {
        assert!(similarity("数据库密码", "database password") > 0.9);
        assert_eq!(TextVector::of("12 …"), None);
    }
}
