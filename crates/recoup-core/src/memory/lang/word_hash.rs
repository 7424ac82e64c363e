//! Hash of a word, byte by byte, so that the hashes of all its beginnings come with it. Shared by
//! the build script, which lays out the table of words, and [`super::lexicon`], which reads it.

/// Hash of the empty word.
pub(crate) const EMPTY: u32 = 0x811c_9dc5;

/// Hash of a word with one more byte (FNV-1a).
pub(crate) const fn extend(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// First slot of a hash in a table whose size is a power of two.
pub(crate) const fn slot(hash: u32, size: usize) -> usize {
    // The upper bits of FNV are better mixed than the lower ones.
    ((hash ^ (hash >> 15)) as usize) & (size - 1)
}
