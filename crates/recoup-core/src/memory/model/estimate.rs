//! High estimate of the tokens of a text, from its characters alone.
//!
//! A tokenizer's tables take a tenth of a second to set up, and every model has its
//! own. A budget needs a number that is never too low, and the same on every machine.

/// A high estimate of the tokens in `text`.
pub fn estimate(text: &str) -> u32 {
    let mut tokens = 0;
    let mut before = None;
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        let kind = CharClass::of(first);
        // Where the kind changes, a character ends: foreign ones have no other bytes.
        let end = rest.bytes().position(|byte| CharClass::of(byte) != kind).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        // One space belongs to the word behind it, but not to a number; digits split letters.
        let next = behind.bytes().next().map(CharClass::of);
        let costs_more = match kind {
            CharClass::Space => {
                run.len() == 1 && matches!(next, None | Some(CharClass::Digit | CharClass::Break))
            }
            CharClass::Digit => before == Some(CharClass::Letter),
            _ => false,
        };
        tokens += kind.cost(run) + usize::from(costs_more);
        (before, rest) = (Some(kind), behind);
    }
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Class of a character for a tokenizer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Letter,
    Digit,
    Space,
    Break,
    Sign,
    Foreign,
}

impl CharClass {
    /// Class by any byte of a character.
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Self::Letter,
            b'0'..=b'9' => Self::Digit,
            b' ' => Self::Space,
            b'\n' | b'\r' | b'\t' => Self::Break,
            0..=0x7f => Self::Sign,
            0x80.. => Self::Foreign,
        }
    }

    fn cost(self, run: &str) -> usize {
        match self {
            Self::Letter => {
                // The words of `camelCase` and `HTTPServer`, by their capitals.
                let (mut rest, mut sum) = (run, 0);
                while !rest.is_empty() {
                    let upper = rest.bytes().take_while(u8::is_ascii_uppercase).count();
                    let lower = rest[upper..].bytes().take_while(u8::is_ascii_lowercase).count();
                    let (first, behind) = rest.split_at(upper + lower);
                    sum += word(first);
                    rest = behind;
                }
                sum
            }
            Self::Digit => run.len().div_ceil(2),
            Self::Space => usize::from(run.len() > 1) + run.len() / 16,
            Self::Break => run.len(),
            Self::Sign => {
                run.as_bytes().chunk_by(|a, b| a == b).map(|same| 1 + same.len() / 3).sum()
            }
            Self::Foreign => run.chars().map(foreign).sum(),
        }
    }
}

/// Cost of a word: capitals, or letters thrown together, cost more than what people write.
fn word(word: &str) -> usize {
    let upper = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let vowels = word.bytes().filter(|b| b"aeiouyAEIOUY".contains(b)).count();
    match word.len() {
        length if vowels * 4 < length => (length * 2).div_ceil(3),
        length if upper > 1 || length > 20 => length.div_ceil(2),
        length if length > 12 => length.div_ceil(3),
        length => length.div_ceil(4),
    }
}

/// Cost of a character outside ASCII, at most its bytes.
fn foreign(c: char) -> usize {
    match c {
        // Cyrillic.
        '\u{400}'..='\u{52f}' => 1,
        // The scripts of India and Thailand, kana, Han, Hangul, full-width forms.
        '\u{900}'..='\u{e7f}'
        | '\u{3000}'..='\u{30ff}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff00}'..='\u{ffef}' => 2,
        c => c.len_utf8(),
    }
}
