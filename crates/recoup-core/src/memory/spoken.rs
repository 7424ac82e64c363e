//! A text as clauses of plain words, each with its place: what people say is looked for in
//! these with the phrases of [`super::refuse::phrase`].

use super::refuse::plain;

/// What stands between two signs that part clauses.
#[derive(Debug)]
pub(super) struct Clause {
    /// Its words in small letters, without marks and apostrophes: `dont`, `nao`.
    pub(super) words: Vec<String>,
    /// Where its first word begins.
    pub(super) from: usize,
    /// A sentence begins with it: there is none before it, or that had its end.
    pub(super) begins: bool,
}

impl Clause {
    /// Its words as phrases want them.
    pub(super) fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

/// The clauses of a text that have words.
pub(super) fn clauses(text: &str) -> Vec<Clause> {
    let mut all: Vec<Clause> = Vec::new();
    let mut begins = true;
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let to = at + c.len_utf8();
        if !parts(c, &text[to..]) {
            continue;
        }
        push(&mut all, text, from..at, begins);
        begins = !matches!(c, ',' | '，' | '、' | '(');
        from = to;
    }
    push(&mut all, text, from..text.len(), begins);
    all
}

/// Whether a sign ends a clause.
fn parts(c: char, behind: &str) -> bool {
    let stands_apart = || behind.chars().next().is_none_or(char::is_whitespace);
    match c {
        '!' | '?' | ';' | '\n' | ',' | '(' | ')' | '，' | '、' | '。' | '！' | '？' | '；'
        | '：' | '—' | '–' | '…' => true,
        '.' | ':' | '-' => stands_apart(),
        _ => false,
    }
}

fn push(all: &mut Vec<Clause>, text: &str, place: std::ops::Range<usize>, begins: bool) {
    let piece = &text[place.clone()];
    let words = words(piece);
    if words.is_empty() {
        return;
    }
    let indent = piece.len() - piece.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
    all.push(Clause { words, from: place.start + indent, begins });
}

/// The plain words of a text.
pub(super) fn words(text: &str) -> Vec<String> {
    let plain = plain::letters(text).replace('\'', "");
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}
