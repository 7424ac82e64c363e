//! Tokens of a prompt for the tagger. Each token has rows of the embedding table: its word, its
//! shape, its concepts, its surroundings, and the character n-grams of its word.

use std::ops::Range;

use crate::memory::capture::tagger::concept_table::ConceptTable;
use crate::memory::lang::fold::{fold_char, is_apostrophe};
use crate::memory::lang::token::has_no_spaces;

/// Rows of the embedding table.
pub const ROWS: usize = 1 << 15;
/// Rows below this one have fixed meanings; the others are shared by hashing.
pub(super) const RESERVED: u32 = 192;
/// First row of the concepts.
pub(super) const FIRST_CONCEPT: u32 = 96;

/// Row of tokens in quotation marks.
const QUOTED: u32 = 61;

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A word.
    Word,
    /// Digits only.
    Number,
    /// A path, an address, a file name or an option.
    Path,
    /// Code in backticks.
    Code,
    /// A block of code, or text that nobody typed as a sentence.
    Block,
    /// Punctuation.
    Sign,
    /// End of a line or of a paragraph.
    Break,
    /// Mark of a list item, a title or a quote at the beginning of a line.
    Mark,
    /// One character of Chinese or Japanese.
    Character,
}

/// A token, and its embedding rows in [`PromptTokens::rows`].
#[derive(Debug, Clone)]
pub struct PromptToken {
    /// Position in the prompt, in bytes.
    pub span: Range<usize>,
    /// Kind of the token.
    pub kind: TokenKind,
    rows: Range<usize>,
}

/// Tokens of a prompt.
#[derive(Debug, Clone, Default)]
pub struct PromptTokens {
    /// Tokens in their order.
    pub tokens: Vec<PromptToken>,
    /// Sentences as ranges of tokens; each ends with its stop or its line.
    pub sentences: Vec<Range<usize>>,
    rows: Vec<u32>,
}

impl PromptTokens {
    /// Embedding rows of a token; the first is that of its word.
    pub fn rows(&self, at: usize) -> &[u32] {
        &self.rows[self.tokens[at].rows.clone()]
    }

    /// Calls `add` with each embedding row of a token and its weight.
    pub fn weigh_rows(&self, at: usize, without_word: bool, mut add: impl FnMut(usize, f32)) {
        let (word, others) = self.rows(at).split_first().unwrap_or((&0, &[]));
        if !without_word {
            add(*word as usize, 1.0);
        }
        let hashed = others.iter().filter(|row| **row >= RESERVED).count();
        #[expect(clippy::cast_precision_loss, reason = "a word has dozens of n-grams at most")]
        let share = 1.0 / (hashed.max(1) as f32).sqrt();
        for row in others {
            add(*row as usize, if *row < RESERVED { 1.0 } else { share });
        }
    }

    /// Leaves out all but the first `most` tokens.
    pub fn truncate(&mut self, most: usize) {
        self.tokens.truncate(most);
        self.sentences.retain(|it| it.start < most);
        self.sentences.iter_mut().for_each(|it| it.end = it.end.min(most));
    }

    /// Neighbouring sentences, as ranges of tokens, with at most `most` in each if they are not
    /// longer themselves.
    pub fn windows(&self, most: usize) -> Vec<Range<usize>> {
        let mut windows: Vec<Range<usize>> = Vec::new();
        for sentence in &self.sentences {
            match windows.last_mut() {
                Some(last) if sentence.end - last.start <= most => last.end = sentence.end,
                _ => windows.push(sentence.clone()),
            }
        }
        windows
    }

    fn push(&mut self, span: Range<usize>, kind: TokenKind, shape: u32, word: &str, grams: &[u32]) {
        let from = self.rows.len();
        self.rows.extend([hashed_row(b'w', word), shape]);
        self.rows.extend_from_slice(grams);
        self.tokens.push(PromptToken { span, kind, rows: from..self.rows.len() });
    }

    /// Reads a prompt. The `hidden` ranges become one token each.
    pub fn of(text: &str, hidden: &[Range<usize>], concepts: &ConceptTable<'_>) -> Self {
        let plain = Self::without_context(text, hidden);
        let mut more = vec![Vec::new(); plain.tokens.len()];
        concepts.mark_phrases(&plain, &mut more);
        let sentences = sentence_ranges(text, &plain);
        mark_surroundings(text, &plain, &sentences, &mut more);
        let mut all = Self {
            tokens: Vec::with_capacity(plain.tokens.len()),
            sentences,
            rows: Vec::with_capacity(plain.rows.len() * 2),
        };
        for (at, token) in plain.tokens.iter().enumerate() {
            let from = all.rows.len();
            let (fixed, grams) = plain.rows(at).split_at(2);
            all.rows.extend_from_slice(fixed);
            all.rows.extend_from_slice(&more[at]);
            all.rows.extend_from_slice(grams);
            all.tokens.push(PromptToken { rows: from..all.rows.len(), ..token.clone() });
        }
        all
    }

    /// Reads a text without concepts and surroundings: what phrases are compared by.
    pub(super) fn without_context(text: &str, hidden: &[Range<usize>]) -> Self {
        let mut scanner = TokenScanner { text, at: 0, line_start: true, tokens: Self::default() };
        let mut hidden = hidden.iter();
        let mut next = hidden.next();
        while scanner.at < text.len() {
            if let Some(range) = next.filter(|range| range.start <= scanner.at) {
                if range.end > scanner.at {
                    let span = scanner.at..range.end;
                    scanner.tokens.push(span, TokenKind::Block, 22, "```", &[]);
                    scanner.at = range.end;
                    scanner.line_start = true;
                }
                next = hidden.next();
            } else {
                scanner.step(next.map_or(text.len(), |range| range.start));
            }
        }
        scanner.tokens
    }
}

/// Row of a string; `tag` keeps words, n-grams and characters apart.
fn hashed_row(tag: u8, text: &str) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    let shared = ROWS as u64 - u64::from(RESERVED);
    RESERVED + u32::try_from(hash % shared).unwrap_or_default()
}

fn is_hangul(c: char) -> bool {
    matches!(u32::from(c), 0xac00..=0xd7a3)
}

fn folded(text: &str) -> String {
    let mut word = String::with_capacity(text.len());
    for c in text.chars() {
        if is_apostrophe(c) {
            word.push('\'');
        } else {
            fold_char(c, |c| word.push(c));
        }
    }
    word
}

/// Adds the rows of the character n-grams of a word.
fn push_grams(word: &str, grams: &mut Vec<u32>) {
    let framed = format!("<{word}>");
    let starts: Vec<usize> =
        framed.char_indices().map(|(at, _)| at).chain([framed.len()]).collect();
    // A syllable of Korean is a character.
    let sizes = if word.contains(is_hangul) { 2..=3 } else { 3..=5 };
    for size in sizes {
        for pair in starts.windows(size + 1).take(16) {
            grams.push(hashed_row(b'g', &framed[pair[0]..pair[size]]));
        }
    }
}

fn word_shape(word: &str) -> u32 {
    let length = word.chars().count();
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return 10 + u32::try_from(length.min(4)).unwrap_or(4);
    }
    if word.contains('_') {
        return if capitals * 2 > length { 1 } else { 2 };
    }
    if word.contains(|c: char| c.is_ascii_digit()) {
        return 3;
    }
    match capitals {
        0 => 4,
        1 if length == 1 => 5,
        all if all == length => 6,
        1 if word.starts_with(char::is_uppercase) => 7,
        _ => 8,
    }
}

/// Splits a text into tokens.
struct TokenScanner<'a> {
    text: &'a str,
    at: usize,
    line_start: bool,
    tokens: PromptTokens,
}

impl TokenScanner<'_> {
    /// Reads the next token, which ends at `limit` at the latest.
    fn step(&mut self, limit: usize) {
        let rest = &self.text[self.at..limit];
        let Some(first) = rest.chars().next() else { return };
        if first == '\n' {
            let blank = rest.len() - rest.trim_start().len();
            let lines = rest[..blank].bytes().filter(|byte| *byte == b'\n').count();
            let (shape, word) = if lines > 1 { (21, "\n\n") } else { (20, "\n") };
            self.tokens.push(self.at..self.at + 1, TokenKind::Break, shape, word, &[]);
            self.at += blank;
            self.line_start = true;
            return;
        }
        if first.is_whitespace() {
            self.at += first.len_utf8();
            return;
        }
        let is_line_start = std::mem::take(&mut self.line_start);
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| rest.starts_with(fence)) {
            let length = rest[3..].find(fence).map_or(rest.len(), |at| at + 6);
            return self.push(length, TokenKind::Block, 22, "```", &[]);
        }
        if is_line_start && let Some((length, shape)) = line_mark(rest) {
            return self.push(length, TokenKind::Mark, shape, "<item>", &[]);
        }
        if first == '`' {
            return self.push_code(rest);
        }
        if has_no_spaces(first) {
            return self.push_character(rest, first);
        }
        match word_length(rest) {
            0 => self.push_sign(rest, first),
            length => self.push_word(&rest[..length]),
        }
    }

    fn push(&mut self, length: usize, kind: TokenKind, shape: u32, word: &str, grams: &[u32]) {
        self.tokens.push(self.at..self.at + length, kind, shape, word, grams);
        self.at += length;
    }

    fn push_code(&mut self, rest: &str) {
        let inner = rest[1..].find('`').map(|length| &rest[1..=length]);
        let fits = |inner: &&str| (1..200).contains(&inner.len()) && !inner.contains('\n');
        let Some(inner) = inner.filter(fits) else {
            return self.push(1, TokenKind::Sign, 31, "`", &[]);
        };
        let mut rows = part_rows(&folded(inner));
        if let Some(first) =
            folded(inner).split(|c: char| !c.is_alphanumeric()).find(|it| !it.is_empty())
        {
            rows.push(hashed_row(b'f', first));
        }
        let shape = match inner {
            it if it.contains(' ') => 28,
            it if it.contains('/') => 29,
            it if it.contains('.') => 30,
            _ => 27,
        };
        self.push(inner.len() + 2, TokenKind::Code, shape, "`code`", &rows);
    }

    fn push_character(&mut self, rest: &str, own: char) {
        let mut behind = rest.chars().skip(1).map_while(|c| has_no_spaces(c).then_some(c));
        let (next, second) = (behind.next(), behind.next());
        let before = self.text[..self.at].chars().next_back().filter(|c| has_no_spaces(*c));
        let row = |tag, chars: &[char]| hashed_row(tag, &chars.iter().collect::<String>());
        let mut grams = Vec::new();
        if let Some(before) = before {
            grams.push(row(b'b', &[before, own]));
        }
        if let Some(next) = next {
            grams.push(row(b'b', &[own, next]));
            grams.extend(second.map(|second| row(b't', &[own, next, second])));
            grams.extend(before.map(|before| row(b't', &[before, own, next])));
        }
        let shape = match u32::from(own) {
            0x3040..=0x309f => 33,
            0x30a0..=0x30ff | 0xff66..=0xff9f => 34,
            _ => 32,
        };
        let length = own.len_utf8();
        self.push(length, TokenKind::Character, shape, &rest[..length], &grams);
    }

    fn push_sign(&mut self, rest: &str, sign: char) {
        let length = rest.chars().take_while(|c| *c == sign).map(char::len_utf8).sum();
        let word = match sign {
            '，' | '、' => ",",
            '。' | '．' => ".",
            '！' => "!",
            '？' => "?",
            '：' => ":",
            '；' => ";",
            '（' => "(",
            '）' => ")",
            '“' | '”' | '„' | '«' | '»' | '「' | '」' => "\"",
            '—' | '–' => "—",
            '…' => "..",
            '.' if length > 1 => "..",
            _ if u32::from(sign) > 0x2100 => "😀",
            _ => &rest[..sign.len_utf8()],
        };
        let shape = if word == "😀" { 35 } else { 36 };
        self.push(length, TokenKind::Sign, shape, word, &[]);
    }

    fn push_word(&mut self, run: &str) {
        let word = folded(run);
        let is_path = run.contains(['/', '\\', '@', '='])
            || run.contains("::")
            || run.starts_with('-')
            || (run.contains('.') && run.contains(char::is_alphabetic));
        if is_path {
            let shape = match run {
                it if it.contains("://") => 40,
                it if it.ends_with('/') => 41,
                it if it.contains('/') => 42,
                it if it.starts_with('-') => 43,
                it if it.starts_with(['*', '.']) => 44,
                it if it.contains('@') => 45,
                _ => 46,
            };
            return self.push(run.len(), TokenKind::Path, shape, "<path>", &part_rows(&word));
        }
        let shape = word_shape(run);
        if (10..16).contains(&shape) {
            return self.push(run.len(), TokenKind::Number, shape, "<num>", &[]);
        }
        let mut grams = Vec::with_capacity(24);
        push_grams(&word, &mut grams);
        self.push(run.len(), TokenKind::Word, shape, &word, &grams);
    }
}

/// Rows of the words in a path or in code.
fn part_rows(folded: &str) -> Vec<u32> {
    let parts = folded.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.take(6).map(|part| hashed_row(b'w', part)).collect()
}

/// Length and shape of the mark with which a line begins.
fn line_mark(line: &str) -> Option<(usize, u32)> {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–', '·', '+']) {
        let length = line.len() - rest.len();
        let is_box = rest.starts_with(" [ ] ") || rest.starts_with(" [x] ");
        let is_mark = rest.starts_with([' ', '\t']);
        return is_mark.then_some((if is_box { length + 4 } else { length }, 23));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits) {
        let is_mark = line[digits..].starts_with(". ") || line[digits..].starts_with(") ");
        return is_mark.then_some((digits + 1, 26));
    }
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if level > 0 {
        return line[level..].starts_with(' ').then_some((level, 24));
    }
    line.starts_with('>').then_some((1, 25))
}

/// Length of the word at the beginning of a text, without punctuation at its edges.
fn word_length(text: &str) -> usize {
    let is_inner = |c: char| {
        c.is_alphanumeric()
            || "_-'’./@:#+&=$%~*\\^|<>".contains(c)
            || matches!(c, '\u{300}'..='\u{36f}')
    };
    let ends = |c: char| !is_inner(c) || has_no_spaces(c);
    let mut run = &text[..text.find(ends).unwrap_or(text.len())];
    while let Some(last) = run.chars().next_back() {
        let is_folder = last == '/' && run.len() > 1;
        if is_folder || !".:'’-/*=|><&~".contains(last) {
            break;
        }
        run = &run[..run.len() - last.len_utf8()];
    }
    let is_sign = run.starts_with(['\'', '’', ':', '=', '|', '<', '>', '&']);
    let is_star = run.starts_with('*') && !run.starts_with("*.");
    if is_sign || is_star { 0 } else { run.len() }
}

/// Adds to each token how its sentence ends, where it stands, and if it is in a list or in quotes.
fn mark_surroundings(
    text: &str,
    tokens: &PromptTokens,
    ranges: &[Range<usize>],
    more: &mut [Vec<u32>],
) {
    let all = &tokens.tokens;
    let word = |at: usize| &text[all[at].span.clone()];
    let mut in_quotes = false;
    for (number, range) in ranges.iter().enumerate() {
        let last = range.end - 1;
        let is_header = all[last].kind == TokenKind::Break
            && range.len() > 1
            && word(last - 1).starts_with([':', '：']);
        let ending = match &all[last] {
            _ if is_header => 55,
            _ if word(last).contains(['?', '？']) => 51,
            _ if word(last).contains(['!', '！']) => 52,
            token if token.kind == TokenKind::Break => 53,
            _ if range.end == all.len() => 54,
            _ => 50,
        };
        let place = match number {
            _ if ranges.len() == 1 => 56,
            0 => 57,
            number if number + 1 == ranges.len() => 58,
            _ => 59,
        };
        let is_item = all[range.start].kind == TokenKind::Mark;
        for at in range.clone() {
            if all[at].kind == TokenKind::Sign
                && word(at).starts_with(['"', '“', '”', '«', '»', '„', '「', '」'])
            {
                in_quotes = !in_quotes;
            }
            more[at].extend([ending, place]);
            more[at].extend(is_item.then_some(60));
            more[at].extend(in_quotes.then_some(QUOTED));
        }
    }
}

fn sentence_ranges(text: &str, tokens: &PromptTokens) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    for (at, token) in tokens.tokens.iter().enumerate() {
        let stops = match token.kind {
            TokenKind::Break | TokenKind::Block => true,
            TokenKind::Sign => {
                text[token.span.clone()].starts_with(['.', '!', '?', '…', '。', '！', '？'])
            }
            _ => false,
        };
        if stops || at + 1 == tokens.tokens.len() {
            ranges.push(from..at + 1);
            from = at + 1;
        }
    }
    ranges
}
