//! Folding: text without what does not change its words. [`fold_char`] takes case and accents away;
//! [`fold_disguise`] also takes away what hides a word from a reader of words, and not from a person
//! or a model: look-alikes, mathematical letters, characters without width.

use std::borrow::Cow;

use crate::memory::lang::escape::is_unseen;

/// Base letters of U+00C0 to U+017F, in order; a space where one character is not enough, or where
/// there is no letter.
const LATIN: &str = "aaaaaa ceeeeiiiidnooooo ouuuuy  aaaaaa ceeeeiiiidnooooo ouuuuy y\
aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii  jjkkkllllllllllnnnnnnnnnoooooo  \
rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/// Passes the folded form of a character to `take`: one character for most, none for an accent that
/// stands alone, two for a few letters.
pub(crate) fn fold_char(c: char, mut take: impl FnMut(char)) {
    match c {
        'A'..='Z' => take(c.to_ascii_lowercase()),
        '\0'..='\x7f' => take(c),
        'ß' | 'ẞ' => "ss".chars().for_each(take),
        'Æ' | 'æ' => "ae".chars().for_each(take),
        'Œ' | 'œ' => "oe".chars().for_each(take),
        'Þ' | 'þ' => "th".chars().for_each(take),
        'Ĳ' | 'ĳ' => "ij".chars().for_each(take),
        '\u{c0}'..='\u{17f}' => {
            take(match LATIN.as_bytes().get((u32::from(c) - 0xc0) as usize) {
                Some(&letter) if letter != b' ' => char::from(letter),
                _ => c.to_lowercase().next().unwrap_or(c),
            });
        }
        // Accents that follow their letter, as some file systems write them.
        '\u{300}'..='\u{36f}' => {}
        // The wide forms of ASCII in Chinese and Japanese text.
        '\u{ff01}'..='\u{ff5e}' => {
            let narrow = u32::from(c) - 0xff01 + 0x21;
            take(char::from_u32(narrow).unwrap_or(c).to_ascii_lowercase());
        }
        _ => c.to_lowercase().for_each(take),
    }
}

/// True for apostrophes, which are no part of a folded word: `don’t` is `dont`.
pub(crate) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | '´')
}

/// Returns the text with letters in place of those that only look like them, and without characters
/// that nobody sees. Letters of another alphabet are look-alikes where a word mixes two alphabets.
pub(crate) fn fold_disguise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_hidden = |c: char| {
        !matches!(c, '\n' | '\r' | '\t') && (is_unseen(c) || matches!(c, '\u{200c}' | '\u{200d}'))
    };
    let plain: String = text.chars().filter(|c| !is_hidden(*c)).map(plain_letter).collect();
    let has_alike = |word: &str| word.chars().any(|c| look_alike(c).is_some());
    let is_mixed = |word: &str| has_alike(word) && word.contains(|c: char| c.is_ascii_alphabetic());
    let letters = |c: char| !c.is_alphanumeric();
    if !plain.split(letters).any(is_mixed) {
        return Cow::Owned(plain);
    }
    let unmasked = plain.split_inclusive(letters).map(|word| {
        let is_foreign = |c: char| c.is_alphabetic() && !c.is_ascii() && look_alike(c).is_none();
        if word.contains(is_foreign) {
            return Cow::Borrowed(word);
        }
        Cow::Owned(word.chars().map(|c| look_alike(c).unwrap_or(c)).collect())
    });
    Cow::Owned(unmasked.collect())
}

/// Letters of the alphabets of mathematics, circled and squared ones as plain ones.
fn plain_letter(c: char) -> char {
    let nth = |n: u32| char::from_u32(u32::from('a') + n).unwrap_or(c);
    match u32::from(c) {
        code @ 0x1d400..=0x1d6a3 => nth((code - 0x1d400) % 26),
        code @ 0x24b6..=0x24e9 => nth((code - 0x24b6) % 26),
        code @ 0x1f130..=0x1f189 => nth((code - 0x1f130) % 32 % 26),
        _ => c,
    }
}

/// Cyrillic and Greek letters with the Latin ones that they pass for.
const ALIKE: [&str; 2] = [
    "аɑαсϲԁеєҽεɡһіιɩјϳκкӏмηпοоσрρгѕтτυѵνԝωхχуγАВЕНІЈКМОРСТУХ",
    "aaaccdeeeeghiiijjkklmnnooopprsttuvvwwxxyyabehijkmopctyx",
];

fn look_alike(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let at = ALIKE[0].chars().position(|it| it == c)?;
    ALIKE[1].as_bytes().get(at).map(|it| char::from(*it))
}

/// Returns the letters that digits and signs stand for in a word that has both, as in `1gn0re`.
pub(crate) fn decode_digits(text: &str) -> Option<String> {
    let is_spelt = |word: &str| {
        word.contains(|c: char| c.is_ascii_alphabetic())
            && word.contains(|c| as_letter(c).is_some())
    };
    text.split(' ').any(is_spelt).then(|| {
        let decode = |c: char| as_letter(c).unwrap_or(c);
        let words = text.split(' ').map(|word| {
            if is_spelt(word) { word.chars().map(decode).collect() } else { word.to_owned() }
        });
        words.collect::<Vec<String>>().join(" ")
    })
}

fn as_letter(c: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' | '!' | '|' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut out = String::new();
        text.chars().for_each(|c| fold_char(c, |c| out.push(c)));
        out
    }

    #[test]
    fn the_tables_have_a_place_for_every_letter() {
        assert_eq!(LATIN.len(), 0x17f - 0xc0 + 1);
        assert_eq!(ALIKE[0].chars().count(), ALIKE[1].len());
    }

    #[test]
    fn accents_and_case_do_not_matter() {
        let cases = [
            ("Größe", "grosse"),
            ("Übergröße", "ubergrosse"),
            ("déjà vu", "deja vu"),
            ("e\u{301}te\u{301}", "ete"),
            ("São João", "sao joao"),
            ("Łódź żółw", "lodz zolw"),
            ("ŠKODA čeština řeka", "skoda cestina reka"),
            ("ĞÜŞİÖÇ", "gusioc"),
            ("Ĉapelo ŝipo", "capelo sipo"),
            ("ÿ ŷ Ÿ", "y y y"),
            ("ＡＢＣ１２", "abc12"),
            ("ПРИВЕТ", "привет"),
            ("œuvre", "oeuvre"),
        ];
        for (text, expected) in cases {
            assert_eq!(folded(text), expected, "{text}");
        }
    }

    #[test]
    fn only_words_of_two_alphabets_are_disguised() {
        assert_eq!(fold_disguise("Іgnоrе аll"), "ignore all");
        assert_eq!(fold_disguise("забудь о системе"), "забудь о системе");
        assert_eq!(fold_disguise("𝐢𝐠𝐧𝐨𝐫𝐞 ig\u{200b}nore"), "ignore ignore");
    }
}
