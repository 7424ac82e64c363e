//! Tokens of a sentence, each with its word, its concepts, and a shape where the word itself says
//! nothing about the type of the sentence.

use crate::memory::capture::concepts::{ConceptLexicon, ConceptName, LEXICON, is_cjk};

/// Most tokens that are read of a sentence: its type is clear by then.
const MOST: usize = 70;

/// A word, or a phrase that counts as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentenceToken {
    /// Word as typed, in small letters.
    pub(super) word: String,
    /// First concept, or the word itself if it is a small one, or a shape.
    pub(super) class: String,
    /// All concepts of the word.
    pub(super) concepts: Vec<ConceptName>,
}

impl SentenceToken {
    fn shaped(word: &str, shape: &str) -> Self {
        Self { word: word.to_owned(), class: shape.to_owned(), concepts: Vec::new() }
    }

    pub(super) fn is(&self, concept: &str) -> bool {
        self.concepts.contains(&concept)
    }
}

/// Piece of a sentence between spaces and punctuation.
enum RawToken<'a> {
    Word(String),
    Sign(&'static str),
    Code(&'a str),
    Quote,
    Run(&'a str),
}

/// Splits a sentence into tokens.
pub(super) fn tokenize(sentence: &str) -> Vec<SentenceToken> {
    let raw = raw(sentence);
    let words: Vec<&str> = raw
        .iter()
        .map(|it| if let RawToken::Word(word) = it { word.as_str() } else { "" })
        .collect();
    let lexicon = &LEXICON;
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < raw.len() && tokens.len() < MOST {
        let mut taken = 1;
        match &raw[at] {
            RawToken::Sign(sign) => tokens.push(SentenceToken::shaped(sign, sign)),
            RawToken::Code(code) => {
                tokens.push(SentenceToken::shaped(&code.to_lowercase(), "@CODE"));
            }
            RawToken::Quote => tokens.push(SentenceToken::shaped("@QUOTE", "@QUOTE")),
            RawToken::Run(run) => push_unspaced_tokens(run, lexicon, &mut tokens),
            RawToken::Word(word) => {
                let (length, concepts) = lexicon.longest_phrase(&words[at..]);
                if let Some(first) = concepts.first() {
                    let word = words[at..at + length].join(" ");
                    tokens.push(SentenceToken { word, class: (*first).to_owned(), concepts });
                    taken = length;
                } else if lexicon.is_small(word) {
                    tokens.push(SentenceToken::shaped(word, word));
                } else {
                    tokens.push(SentenceToken::shaped(word, shape(word)));
                }
            }
        }
        at += taken;
    }
    tokens
}

/// Adds the tokens of text without spaces: known phrases, and the characters between.
fn push_unspaced_tokens(run: &str, lexicon: &ConceptLexicon, tokens: &mut Vec<SentenceToken>) {
    let mut rest = run;
    while let Some(c) = rest.chars().next() {
        if tokens.len() >= MOST {
            return;
        }
        if let Some((length, concept)) = lexicon.longest_unspaced_phrase(rest) {
            let word = rest[..length].to_owned();
            tokens.push(SentenceToken { word, class: concept.to_owned(), concepts: vec![concept] });
            rest = &rest[length..];
        } else {
            tokens.push(SentenceToken::shaped(&rest[..c.len_utf8()], "@Z"));
            rest = &rest[c.len_utf8()..];
        }
    }
}

fn raw(sentence: &str) -> Vec<RawToken<'_>> {
    let mut all = Vec::new();
    let mut rest = sentence;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '`' => code(rest, &mut all),
            '"' | '“' | '”' | '«' | '「' | '『' | '„' | '\'' | '‘' => {
                quote(rest, c, &mut all)
            }
            ',' | '、' | '，' => sign(c, ",", &mut all),
            ':' | '：' => sign(c, ":", &mut all),
            '?' | '？' | '¿' => sign(c, "?", &mut all),
            '!' | '！' | '¡' => sign(c, "!", &mut all),
            '(' => sign(c, "(", &mut all),
            '.' | '。' | ';' | '…' => sign(c, ".", &mut all),
            '—' | '–' => sign(c, "-", &mut all),
            c if is_cjk(c) => run(rest, &mut all),
            c if is_word_char(c) => word(rest, &mut all),
            c => c.len_utf8(),
        };
        rest = &rest[length..];
    }
    all
}

fn sign(c: char, name: &'static str, all: &mut Vec<RawToken<'_>>) -> usize {
    all.push(RawToken::Sign(name));
    c.len_utf8()
}

fn code<'a>(rest: &'a str, all: &mut Vec<RawToken<'a>>) -> usize {
    let Some(end) = rest[1..].find('`') else { return 1 };
    all.push(RawToken::Code(&rest[1..=end]));
    end + 2
}

/// Takes a quote: several words in quotation marks are somebody else's; one or two are a name.
fn quote<'a>(rest: &'a str, open: char, all: &mut Vec<RawToken<'a>>) -> usize {
    let Some(length) = quoted_length(rest, open) else { return open.len_utf8() };
    if is_speech(&rest[open.len_utf8()..length]) {
        all.push(RawToken::Quote);
        return length;
    }
    open.len_utf8()
}

/// Length of a quote, with its marks.
pub(super) fn quoted_length(rest: &str, open: char) -> Option<usize> {
    let closes: &[char] = match open {
        '"' => &['"'],
        '“' | '„' => &['”', '“', '"'],
        '«' => &['»'],
        '「' => &['」'],
        '『' => &['』'],
        '\'' | '‘' => &['\'', '’'],
        _ => return None,
    };
    let inner = &rest[open.len_utf8()..];
    let found = inner.char_indices().find(|(at, c)| {
        let behind = inner[at + c.len_utf8()..].chars().next();
        // An apostrophe within a word closes nothing.
        closes.contains(c)
            && (!matches!(c, '\'' | '’') || behind.is_none_or(|it| !it.is_alphanumeric()))
    });
    found.map(|(at, c)| open.len_utf8() + at + c.len_utf8())
}

/// True if a quote is a sentence rather than a name.
pub(super) fn is_speech(inside: &str) -> bool {
    inside.split_whitespace().count() >= 4 || inside.chars().filter(|c| is_cjk(*c)).count() >= 8
}

fn run<'a>(rest: &'a str, all: &mut Vec<RawToken<'a>>) -> usize {
    let length = rest.find(|c| !is_cjk(c)).unwrap_or(rest.len());
    all.push(RawToken::Run(&rest[..length]));
    length
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '_' | '/' | '@' | '#' | '~' | '$' | '-' | '<' | '*' | '%' | '+' | '\\' | '=')
}

fn word<'a>(rest: &'a str, all: &mut Vec<RawToken<'a>>) -> usize {
    let inside = |c: char| {
        !is_cjk(c)
            && (is_word_char(c)
                || matches!(c, '.' | '\'' | '’' | ':' | '(' | ')' | '>' | '[' | ']'))
    };
    let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
    let trimmed = rest[..length].trim_end_matches(['.', ':', '\'', '’', ')', ']']);
    let mut taken = trimmed.len();
    // `foo()` keeps its brackets; "(see below)" has none of its own.
    if rest[taken..length].starts_with(')') && trimmed.ends_with('(') {
        taken += 1;
    }
    let taken = if taken == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { taken };
    let word = rest[..taken].trim_end_matches('(');
    if word.chars().any(char::is_alphanumeric) {
        let neighbours = word.chars().zip(word.chars().skip(1));
        let is_camel = neighbours.into_iter().any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        let plain = word.replace('’', "'").to_lowercase();
        // The case tells names from words: a camel-case name is marked by brackets.
        all.push(RawToken::Word(if is_camel { format!("{plain}()") } else { plain }));
    }
    taken
}

/// Shape of a word: URL, number, path, identifier, or its ending.
fn shape(word: &str) -> &'static str {
    let has = |c: char| word.contains(c);
    if word.contains("://") || word.starts_with("www.") {
        return "@URL";
    }
    if word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b':' | b'%')) {
        return "@NUM";
    }
    if word.starts_with("--") || (word.starts_with('-') && word.len() <= 3) {
        return "@FLAG";
    }
    if has('/') || has('\\') {
        return "@PATH";
    }
    if has('_') || has('(') || has('=') || word.contains("::") || word.contains("->") || has('<') {
        return "@IDENT";
    }
    if word.rsplit_once('.').is_some_and(|(_, ending)| (1..=5).contains(&ending.len())) {
        return "@FILE";
    }
    if word.bytes().any(|b| b.is_ascii_digit()) {
        return "@VERS";
    }
    if word.len() > 5 && word.ends_with("ing") {
        return "@ING";
    }
    if word.len() > 4 && word.ends_with("ed") {
        return "@ED";
    }
    if word.len() > 4 && word.ends_with("ly") {
        return "@LY";
    }
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        return "@XS";
    }
    "@X"
}
