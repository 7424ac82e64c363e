//! JSON as clients really write it.

use std::borrow::Cow;

use memchr::memmem;

/// Replaces unpaired surrogates. JavaScript writes one (`\ud83d` alone) at the end of a text that
/// it has cut, and no JSON parser of ours takes it. The replacement has the same length.
pub(crate) fn replace_lone_surrogates(text: &str) -> Cow<'_, str> {
    // Most texts have none, and a hook is in a hurry.
    if ["\\ud", "\\uD"].iter().all(|half| memmem::find(text.as_bytes(), half.as_bytes()).is_none())
    {
        return Cow::Borrowed(text);
    }
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = Cow::Borrowed(text);
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|at| from + at) {
        let second = unit(at + 6).filter(|it| (0xdc00..0xe000).contains(it));
        from = match (unit(at), second) {
            (Some(0xd800..0xdc00), Some(_)) => at + 12,
            (Some(0xd800..0xe000), _) => {
                whole.to_mut().replace_range(at..at + 6, "\\ufffd");
                at + 6
            }
            _ => text[at + 1..].chars().next().map_or(text.len(), |c| at + 1 + c.len_utf8()),
        };
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_all_else_stays() {
        let cases = [
            (r#""abc\ud83d""#, r#""abc\ufffd""#),
            (r#""\ude00 \ud83d\ud83d\ude00""#, r#""\ufffd \ufffd\ud83d\ude00""#),
            (r#""\ud83d\ude00 \\ud83d \u00e9 ü\"#, r#""\ud83d\ude00 \\ud83d \u00e9 ü\"#),
            (r"\ud8", r"\ud8"),
            (r"\ü\uüü", r"\ü\uüü"),
        ];
        for (text, whole) in cases {
            assert_eq!(replace_lone_surrogates(text), whole, "{text}");
        }
    }
}
