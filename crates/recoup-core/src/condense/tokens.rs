//! Counting tokens, with the tables of a real tokenizer (`cl100k_base`). Models
//! differ; as a measure of what is saved one of them is as good as another.
//!
//! The tables take about a tenth of a second to set up. So only those who have
//! to know the number load them.

/// A tokenizer that is ready to count.
pub struct Tokenizer(toktok::Tokenizer);

impl Tokenizer {
    /// Sets up the tables.
    pub fn load() -> Self {
        let tables = toktok::Tokenizer::builtin("cl100k_base");
        Self(tables.expect("the tables are part of the program"))
    }

    /// How many tokens a text has, in time that grows with its length alone.
    pub fn count(&self, text: &str) -> usize {
        self.0.count(text.as_bytes())
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokenizer(cl100k_base)")
    }
}
