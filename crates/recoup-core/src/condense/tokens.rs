//! Token counts with the tables of a real tokenizer (`cl100k_base`). Models differ, but as a
//! measure of savings one is as good as another.
//!
//! The tables take about a tenth of a second to load, so they are loaded only if the count is
//! needed.

/// A tokenizer that is ready to count.
pub struct Tokenizer(toktok::Tokenizer);

impl Tokenizer {
    /// Loads the tables.
    pub fn load() -> Self {
        let tables = toktok::Tokenizer::builtin("cl100k_base");
        Self(tables.expect("the tables are part of the program"))
    }

    /// Number of tokens in a text, in linear time.
    pub fn count(&self, text: &str) -> usize {
        self.0.count(text.as_bytes())
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokenizer(cl100k_base)")
    }
}
