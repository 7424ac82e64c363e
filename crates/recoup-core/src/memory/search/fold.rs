//! Character folding for comparison: lower case without accents; and scripts that are written
//! without spaces.

/// Base letters of U+00C0 to U+017F, in order; a space where one character is not enough, or where
/// there is no letter.
const LATIN: &str = "aaaaaa ceeeeiiiidnooooo ouuuuy  aaaaaa ceeeeiiiidnooooo ouuuuy y\
aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii  jjkkkllllllllllnnnnnnnnnoooooo  \
rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/// Passes the folded form of a character to `take`: one character for most, none for an accent that
/// stands alone, two for a few letters.
pub(super) fn fold_char(c: char, mut take: impl FnMut(char)) {
    match c {
        'A'..='Z' => take(c.to_ascii_lowercase()),
        '\0'..='\x7f' => take(c),
        'ß' | 'ẞ' => "ss".chars().for_each(take),
        'Æ' | 'æ' => "ae".chars().for_each(take),
        'Œ' | 'œ' => "oe".chars().for_each(take),
        'Þ' | 'þ' => "th".chars().for_each(take),
        'Ĳ' | 'ĳ' => "ij".chars().for_each(take),
        '\u{c0}'..='\u{17f}' => take(base_letter(c)),
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

fn base_letter(c: char) -> char {
    let place = (u32::from(c) - 0xc0) as usize;
    match LATIN.as_bytes().get(place) {
        Some(&letter) if letter != b' ' => char::from(letter),
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

/// True if words of this character's script are not set apart by spaces, or are so long that pairs
/// of characters find them better: Chinese, Japanese, Korean, Thai and their neighbours.
pub(super) fn is_unspaced(c: char) -> bool {
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

    fn folded(text: &str) -> String {
        let mut out = String::new();
        text.chars().for_each(|c| fold_char(c, |c| out.push(c)));
        out
    }

    #[test]
    fn the_table_has_a_place_for_every_letter_of_its_range() {
        assert_eq!(LATIN.len(), 0x17f - 0xc0 + 1);
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
}
