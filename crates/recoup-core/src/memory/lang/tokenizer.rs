//! Tokenizer: identifiers by their parts and as a whole, paths by their components, numbers with
//! their dots, Chinese and Japanese in pairs of characters.
//!
//! ```text
//! never call `flushQueue()`   never  call  flush  queue  | flushqueue
//! src/order_feed.py           src  order  feed  py       | orderfeed
//! Redis 7.2.4 on port 6379    redis  7  7.2  7.2.4  on  port  6379
//! 在庫の同期                   在庫  庫の  の同  同期  期
//! ```

use crate::memory::lang::fold::fold_char;

/// Maximum bytes of a text that are read.
pub(crate) const MOST_TEXT: usize = 64 << 10;
/// Maximum bytes of a word; longer ones are cut.
const LONGEST: usize = 64;

/// Kinds of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordSort {
    /// A word that stands alone.
    Plain,
    /// A part of an identifier.
    Part,
    /// All parts of an identifier in one.
    Whole,
    /// A number or a version, up to one of its dots.
    Number,
    /// Two characters of a script without spaces.
    Pair,
    /// The last character of such a run, so that each character begins a word.
    Tail,
}

/// Passes the words of a text to `take`, in order; a whole comes after its parts.
pub(crate) fn tokenize(text: &str, mut take: impl FnMut(&str, WordSort)) {
    let mut unit = WordBuilder::default();
    // The last character of a run without spaces.
    let mut last: Option<char> = None;
    let mut chars = text[..text.floor_char_boundary(MOST_TEXT)].chars().peekable();
    while let Some(c) = chars.next() {
        if is_unspaced(c) {
            unit.finish(&mut take);
            if let Some(last) = last.replace(c) {
                take(&String::from_iter([last, c]), WordSort::Pair);
            }
            continue;
        }
        if let Some(last) = last.take() {
            take(last.encode_utf8(&mut [0; 4]), WordSort::Tail);
        }
        if c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}') {
            unit.push(c, chars.peek().copied());
        } else if !unit.continues_after(c, chars.peek().copied()) {
            unit.finish(&mut take);
        }
    }
    if let Some(last) = last {
        take(last.encode_utf8(&mut [0; 4]), WordSort::Tail);
    }
    unit.finish(&mut take);
}

/// Folded letters and digits that belong together, and the beginnings of their parts.
#[derive(Default)]
struct WordBuilder {
    folded: String,
    starts: Vec<usize>,
    /// Position of the last character in `folded`, and its class.
    place: usize,
    last: LastChar,
    /// True if it is a number or a version, so far.
    is_number: bool,
}

/// Class of the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LastChar {
    Lower,
    Capital,
    /// Several in a row.
    Capitals,
    Digit,
    /// A character that joins two parts.
    Joint,
    #[default]
    Other,
}

impl WordBuilder {
    fn push(&mut self, c: char, next: Option<char>) {
        if self.folded.is_empty() {
            self.is_number = true;
        }
        let end = self.folded.len();
        // A part may begin with this character or the one before.
        let starts = match self.last {
            _ if end == 0 => Some(0),
            LastChar::Joint => Some(end),
            LastChar::Lower | LastChar::Digit if c.is_uppercase() => Some(end),
            // URLs: a plural, no part.
            LastChar::Capitals if c == 's' && !next.is_some_and(char::is_alphabetic) => None,
            // HTTPServer: the last of several capitals begins the next part.
            LastChar::Capitals if c.is_lowercase() => Some(self.place),
            _ => None,
        };
        self.starts.extend(starts);
        self.last = match self.last {
            _ if c.is_ascii_digit() => LastChar::Digit,
            _ if c.is_lowercase() => LastChar::Lower,
            LastChar::Capital | LastChar::Capitals if c.is_uppercase() => LastChar::Capitals,
            _ if c.is_uppercase() => LastChar::Capital,
            _ => LastChar::Other,
        };
        self.place = self.folded.len();
        self.is_number &=
            self.last == LastChar::Digit || (self.place == 0 && matches!(c, 'v' | 'V'));
        fold_char(c, |c| self.folded.push(c));
    }

    /// Returns true if the word goes on after a character that is no letter: `_` and `-` join
    /// identifiers, dots join versions, commas join thousands.
    fn continues_after(&mut self, c: char, next: Option<char>) -> bool {
        let digit_follows = next.is_some_and(|next| next.is_ascii_digit());
        let in_number = self.is_number && self.last == LastChar::Digit && digit_follows;
        match c {
            // Soft hyphens and other marks without width.
            '\u{ad}' | '\u{200b}'..='\u{200d}' => true,
            _ if self.folded.is_empty() => false,
            '.' if in_number => {
                self.folded.push('.');
                true
            }
            ',' if in_number => true,
            '_' | '-' if next.is_some_and(char::is_alphanumeric) => {
                self.last = LastChar::Joint;
                true
            }
            _ => false,
        }
    }

    fn finish(&mut self, take: &mut impl FnMut(&str, WordSort)) {
        if self.folded.is_empty() {
            return;
        }
        if self.is_number && self.starts.len() == 1 && self.last == LastChar::Digit {
            // `v7.2.4` as 7, 7.2 and 7.2.4, so that a query for the series finds the version.
            let number = cut(self.folded.trim_start_matches('v'));
            for (dot, _) in number.match_indices('.') {
                take(&number[..dot], WordSort::Number);
            }
            if !number.is_empty() {
                take(number, WordSort::Number);
            }
        } else {
            let sort = if self.starts.len() > 1 { WordSort::Part } else { WordSort::Plain };
            for (n, &start) in self.starts.iter().enumerate() {
                let end = self.starts.get(n + 1).copied().unwrap_or(self.folded.len());
                let part = cut(&self.folded[start..end]);
                take(part, sort);
                // The name in `python3` or `sdk24`; short ones, as in `s3`, mean nothing alone.
                let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
                if name.len() < part.len() && name.chars().nth(2).is_some() {
                    take(name, WordSort::Whole);
                }
            }
            if sort == WordSort::Part && self.folded.len() <= LONGEST {
                take(&self.folded, WordSort::Whole);
            }
        }
        self.folded.clear();
        self.starts.clear();
        self.last = LastChar::Other;
    }
}

fn cut(word: &str) -> &str {
    &word[..word.floor_char_boundary(LONGEST)]
}

/// True if words of this character's script are not set apart by spaces, or are so long that pairs
/// of characters find them better: Chinese, Japanese, Korean, Thai and their neighbours.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1100}'..='\u{11ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let mut all = Vec::new();
        tokenize(text, |word, sort| {
            all.push(if sort == WordSort::Whole { format!("={word}") } else { word.to_owned() });
        });
        all.join(" ")
    }

    #[test]
    fn identifiers_come_apart_and_stay_whole() {
        for name in ["flush_queue", "flushQueue", "FlushQueue", "FLUSH_QUEUE", "flush-queue"] {
            assert_eq!(words(name), "flush queue =flushqueue", "{name}");
        }
        assert_eq!(words("HTTPServer"), "http server =httpserver");
        assert_eq!(words("URLs, APIs of IDsAre"), "urls apis of i ds are =idsare");
        assert_eq!(words("parseURLOf(x)"), "parse url of =parseurlof x");
        assert_eq!(words("BillingClient.refund()"), "billing client =billingclient refund");
        assert_eq!(words("gpu-a10 gpuA10"), "gpu a10 =gpua10 gpu a10 =gpua10");
        assert_eq!(words("__init__ -x --dry-run a- _"), "init x dry run =dryrun a");
    }

    #[test]
    fn paths_come_by_component() {
        assert_eq!(words("src/order_feed.py"), "src order feed =orderfeed py");
        assert_eq!(words("C:\\temp\\a.txt ::std::fmt"), "c temp a txt std fmt");
    }

    #[test]
    fn numbers_keep_their_dots_and_lose_their_commas() {
        assert_eq!(words("7.2.4, v1.0"), "7 7.2 7.2.4 1 1.0");
        assert_eq!(words("localhost:8443 3,000."), "localhost 8443 3000");
        assert_eq!(words("python3 utf8 s3 k8s"), "python3 =python utf8 =utf s3 k8s");
        assert_eq!(words("v v2 1..2 .5"), "v 2 1 2 5");
    }

    #[test]
    fn scripts_without_spaces_come_in_pairs() {
        assert_eq!(words("在庫の同期"), "在庫 庫の の同 同期 期");
        assert_eq!(words("用pnpm装"), "用 pnpm 装");
    }

    #[test]
    fn accents_apostrophes_and_soft_hyphens_do_not_matter() {
        assert_eq!(words("l’été naïve don't co\u{ad}op"), "l ete naive don t coop");
    }

    #[test]
    fn what_is_long_is_cut_between_characters() {
        tokenize(&"ж".repeat(100_000), |word, _| assert!(word.len() <= LONGEST));
        assert_eq!(words(&"a_".repeat(50_000)).split(' ').count(), MOST_TEXT / 2);
    }
}
