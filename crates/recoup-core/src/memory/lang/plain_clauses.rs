//! Split of a text into clauses of plain words, each with its position, in which the phrases of
//! [`crate::memory::guard::phrase`] are looked for.

use crate::memory::lang::deobfuscate;

/// Words between two marks that separate clauses.
#[derive(Debug)]
pub(crate) struct PlainClause {
    /// Words in small letters, without accents and apostrophes: `dont`, `nao`.
    pub(crate) words: Vec<String>,
    /// Offset of its first word.
    pub(crate) from: usize,
    /// True if a sentence begins with it.
    pub(crate) begins: bool,
}

impl PlainClause {
    /// Words as phrases take them.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

/// The clauses of a text that have words.
pub(crate) fn split_clauses(text: &str) -> Vec<PlainClause> {
    let mut all: Vec<PlainClause> = Vec::new();
    let mut begins = true;
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let to = at + c.len_utf8();
        let ends_clause = match c {
            '!' | '?' | ';' | '\n' | ',' | '(' | ')' | '，' | '、' | '。' | '！' | '？' | '；'
            | '：' | '—' | '–' | '…' => true,
            '.' | ':' | '-' => text[to..].chars().next().is_none_or(char::is_whitespace),
            _ => false,
        };
        if !ends_clause {
            continue;
        }
        push(&mut all, text, from..at, begins);
        begins = !matches!(c, ',' | '，' | '、' | '(');
        from = to;
    }
    push(&mut all, text, from..text.len(), begins);
    all
}

fn push(all: &mut Vec<PlainClause>, text: &str, place: std::ops::Range<usize>, begins: bool) {
    let piece = &text[place.clone()];
    let words = plain_words(piece);
    if words.is_empty() {
        return;
    }
    let indent = piece.len() - piece.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
    all.push(PlainClause { words, from: place.start + indent, begins });
}

/// The plain words of a text.
pub(crate) fn plain_words(text: &str) -> Vec<String> {
    let plain = deobfuscate::fold_lookalikes(text).replace('\'', "");
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}
