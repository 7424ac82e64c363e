//! Templates, and the random letters that fill them: `{a36}` becomes 36 letters
//! and digits, `{h40}` hexadecimal digits, `{U}` a UUID. A generator of our own
//! keeps the corpus the same on every machine and with every dependency.

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// `SplitMix64`: small, and good enough to look random.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator for this text alone, so that adding one changes no other.
    pub(crate) fn for_text(text: &str, turn: usize) -> Self {
        let bytes = text.bytes().chain([u8::try_from(turn % 251).unwrap_or(0)]);
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// `len` characters of `alphabet`, with at least one digit where it has
    /// them and there is room: generated secrets nearly always do.
    pub(crate) fn text(&mut self, alphabet: &str, len: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let mut text: Vec<char> = (0..len).map(|_| letters[self.below(letters.len())]).collect();
        if len > 3 && alphabet.contains('7') {
            let at = 1 + self.below(len - 2);
            text[at] = '7';
        }
        text.into_iter().collect()
    }
}

/// `template` with its places filled; the same for the same `turn`.
pub(crate) fn fill(template: &str, turn: usize) -> String {
    let mut random = Random::for_text(template, turn);
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, place, after)) = next_place(rest) {
        filled.push_str(before);
        filled.push_str(&value(&mut random, place));
        rest = after;
    }
    filled + rest
}

/// The text before the next place, what is in it, and the text behind.
fn next_place(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let close = text[open..].find('}').map(|at| open + at)?;
        let place = &text[open + 1..close];
        if is_place(place) {
            return Some((&text[..open], place, &text[close + 1..]));
        }
        from = open + 1;
    }
    None
}

fn is_place(place: &str) -> bool {
    let mut letters = place.chars();
    let kind = letters.next().is_some_and(|kind| "ahduklLwb".contains(kind));
    let len = letters.as_str();
    place == "U" || kind && !len.is_empty() && len.chars().all(|digit| digit.is_ascii_digit())
}

fn value(random: &mut Random, place: &str) -> String {
    if place == "U" {
        let parts = [8, 4, 4, 4, 12].map(|len| random.text("0123456789abcdef", len));
        return parts.join("-");
    }
    let (kind, len) = place.split_at(1);
    let alphabet = match kind {
        "a" => format!("{LOWER}{UPPER}{DIGITS}"),
        "h" => format!("{DIGITS}abcdef"),
        "d" => DIGITS.into(),
        "u" => format!("{UPPER}{DIGITS}"),
        "k" => format!("{LOWER}{DIGITS}"),
        "l" => LOWER.into(),
        "L" => format!("{LOWER}{UPPER}"),
        "w" => format!("{LOWER}{UPPER}{DIGITS}{LOWER}{UPPER}{DIGITS}_-"),
        _ => format!("{LOWER}{UPPER}{DIGITS}+/"),
    };
    let text = random.text(&alphabet, len.parse().unwrap_or(1));
    // A sign at either end would be cut off by what stands beside it.
    ends_in_letters(&text)
}

fn ends_in_letters(text: &str) -> String {
    let last = text.len().saturating_sub(1);
    let sign = |at: usize, letter: char| (at == 0 || at == last) && "-_+/".contains(letter);
    text.char_indices().map(|(at, letter)| if sign(at, letter) { 'q' } else { letter }).collect()
}
