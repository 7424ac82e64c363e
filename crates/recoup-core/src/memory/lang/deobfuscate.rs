//! Text normalised against obfuscation: lower case, without accents, look-alikes and invisible
//! characters.

use crate::memory::lang::escape::is_unseen;

/// Converts `text` to lower case, and look-alikes to the letters that they pass for.
pub(crate) fn fold_lookalikes(text: &str) -> String {
    let blank = |c: char| matches!(c, '\n' | '\r' | '\t');
    let kept = text
        .chars()
        .filter(|c| blank(*c) || !(is_unseen(*c) || matches!(c, '\u{200c}' | '\u{200d}')));
    let is_accent = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    let lower = kept.flat_map(char::to_lowercase).filter(|c| !is_accent(c));
    lower
        .map(|c| match u32::from(c) {
            0..=0x7f => c,
            // Full width.
            code @ 0xff01..=0xff5e => {
                char::from_u32(code - 0xfee0).map_or(c, |c| c.to_ascii_lowercase())
            }
            // The alphabets of mathematics, circled and squared letters.
            code @ 0x1d400..=0x1d6a3 => nth_letter((code - 0x1d400) % 26),
            code @ 0x24b6..=0x24e9 => nth_letter((code - 0x24b6) % 26),
            code @ 0x1f130..=0x1f189 => nth_letter((code - 0x1f130) % 32 % 26),
            _ => ALIKE.iter().find(|(_, alike)| alike.contains(c)).map_or(c, |(latin, _)| *latin),
        })
        .collect()
}

/// Look-alikes, each behind the letter that they pass for.
const ALIKE: &[(char, &str)] = &[
    ('a', "àáâãäåāăąαаɑ"),
    ('c', "çćĉċčсϲ"),
    ('d', "ďđԁ"),
    ('e', "èéêëēĕėęěеєҽε"),
    ('g', "ĝğġģɡ"),
    ('h', "ĥħһ"),
    ('i', "ìíîïĩīĭįıіιɩ"),
    ('j', "ĵјϳ"),
    ('k', "ķκк"),
    ('l', "ĺļľŀłӏ"),
    ('m', "м"),
    ('n', "ñńņňŉηп"),
    ('o', "òóôõöøōŏőοоσ"),
    ('p', "рρ"),
    ('r', "ŕŗřг"),
    ('s', "śŝşšѕ"),
    ('t', "ţťŧтτ"),
    ('u', "ùúûüũūŭůűųυ"),
    ('v', "ѵν"),
    ('w', "ŵԝω"),
    ('x', "хχ"),
    ('y', "ýÿŷуγ"),
    ('z', "źżž"),
    ('\'', "’‘ʼ´"),
];

fn nth_letter(n: u32) -> char {
    char::from_u32(u32::from('a') + n).unwrap_or('a')
}

/// Replaces digits and signs among letters by the letters that they stand for.
pub(crate) fn decode_digits(text: &str) -> String {
    let word = |word: &str| -> String {
        if !word.contains(|c: char| c.is_ascii_alphabetic()) {
            return word.to_owned();
        }
        let as_letter = |c| match c {
            '0' => 'o',
            '1' | '!' | '|' => 'i',
            '3' => 'e',
            '4' | '@' => 'a',
            '5' | '$' => 's',
            '7' => 't',
            c => c,
        };
        word.chars().map(as_letter).collect()
    };
    text.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

/// Splits a text into clauses of words. Single letters in a row form a word.
pub(crate) fn split_clauses(text: &str) -> Vec<Vec<String>> {
    let mut clauses = vec![Vec::new()];
    let mut rest = text.chars().peekable();
    let (mut word, mut gap) = (String::new(), 0);
    let mut words: Vec<(String, usize)> = Vec::new();
    while let Some(c) = rest.next() {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if c == '\'' && !word.is_empty() {
            continue;
        }
        // "No, ignore …" denies what came before it, not what follows.
        if c == ',' && matches!(word.as_str(), "no" | "non" | "nao" | "nein") {
            word.clear();
        }
        if !word.is_empty() {
            words.push((std::mem::take(&mut word), std::mem::take(&mut gap)));
        }
        gap += 1;
        let ends = matches!(c, '!' | '?' | ';' | '\n' | ':')
            || (c == '.' && rest.peek().is_none_or(|c| c.is_whitespace()));
        if ends {
            clauses.push(join_single_letters(&std::mem::take(&mut words)));
        }
    }
    words.push((word, gap));
    clauses.push(join_single_letters(&words));
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// Joins single letters: `i g n o r e  a l l` becomes two words, parted at the wider gaps.
fn join_single_letters(words: &[(String, usize)]) -> Vec<String> {
    let single = |word: &str| word.chars().nth(1).is_none();
    let mut out: Vec<String> = Vec::new();
    let mut rest = words;
    while let Some((first, _)) = rest.first() {
        let run = rest.iter().take_while(|(word, _)| single(word)).count();
        if run < 4 {
            out.push(first.clone());
            rest = &rest[1..];
            continue;
        }
        let narrow = rest[1..run].iter().map(|(_, gap)| *gap).min().unwrap_or(1);
        for (at, (letter, gap)) in rest[..run].iter().enumerate() {
            match out.last_mut() {
                Some(word) if at > 0 && *gap <= narrow => word.push_str(letter),
                _ => out.push(letter.clone()),
            }
        }
        rest = &rest[run..];
    }
    out.retain(|word| !word.is_empty());
    out
}
