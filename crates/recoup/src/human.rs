//! Formats sizes, durations, counts, money and text from elsewhere for people.

use std::borrow::Cow;

use recoup_core::entry::CostSavings;
use recoup_core::memory::lang::is_unseen;

/// `42 B`, `1.5 KiB`, `100.0 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut tenths, mut unit) = (bytes / 1024 * 10 + bytes % 1024 * 10 / 1024, UNITS[0]);
    for next in &UNITS[1..] {
        if tenths < 10 * 1024 {
            break;
        }
        (tenths, unit) = (tenths / 1024, next);
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// Duration for a sentence: `40 ms`, `5 s`, `2 minutes`, `3 h`, `4 days`.
pub(crate) fn long_duration(millis: u64) -> String {
    const UNITS: [(u64, &str, &str); 4] = [
        (86_400_000, "day", "days"),
        (3_600_000, "h", "h"),
        (60_000, "minute", "minutes"),
        (1_000, "s", "s"),
    ];
    let Some((length, one, many)) = UNITS.into_iter().find(|(length, ..)| millis >= *length) else {
        return format!("{millis} ms");
    };
    let count = millis.saturating_add(length / 2) / length;
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Short duration, to a tenth of a millisecond: `0.4 ms`, `39.1 ms`.
pub(crate) fn fine_millis(time: std::time::Duration) -> String {
    let tenths = time.as_micros() / 100;
    format!("{}.{} ms", tenths / 10, tenths % 10)
}

/// Duration in the largest unit that fits, rounded: `3s`, `12m`, `5h`, `30d`.
pub(crate) fn short_duration(millis: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let unit = UNITS.into_iter().find(|(length, _)| millis >= *length);
    unit.map_or_else(
        || format!("{millis}ms"),
        |(length, name)| format!("{}{name}", millis.saturating_add(length / 2) / length),
    )
}

/// Duration in the two largest units: `3h 12m`, `12m 5s`, `1.2s`, `90ms`.
pub(crate) fn duration(millis: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let two = UNITS.windows(2).find(|two| millis >= two[0].0);
    match two {
        Some([(large, a), (small, b)]) => match millis % large / small {
            0 => format!("{}{a}", millis / large),
            rest => format!("{}{a} {rest}{b}", millis / large),
        },
        _ if millis >= 10_000 => format!("{}s", millis / 1_000),
        _ if millis >= 1_000 => format!("{}.{}s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{millis}ms"),
    }
}

/// `1,234,567`
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `950`, `12.3k`, `4.5M`
fn tokens(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    match UNITS.into_iter().find(|(size, _)| number >= *size) {
        Some((size, name)) => format!("{}.{}{name}", number / size, number % size / (size / 10)),
        None => number.to_string(),
    }
}

/// `$12.34`, and with four decimals where it is less than a cent.
pub(crate) fn dollars(micros: u64) -> String {
    let (part, decimals) = if micros >= 10_000 { (10_000, 2) } else { (100, 4) };
    let rounded = (micros.saturating_add(part / 2)) / part;
    let whole = 1_000_000 / part;
    format!("${}.{:0decimals$}", count(rounded / whole), rounded % whole)
}

/// Known savings: time, tokens, dollars.
pub(crate) fn savings(saved: CostSavings) -> Vec<String> {
    let CostSavings { millis, input_tokens, output_tokens, micro_dollars } = saved;
    let all_tokens = input_tokens.saturating_add(output_tokens);
    let mut parts = Vec::new();
    if millis > 0 {
        parts.push(duration(millis));
    }
    if all_tokens > 0 {
        parts.push(format!("{} tokens", tokens(all_tokens)));
    }
    if micro_dollars > 0 {
        parts.push(dollars(micro_dollars));
    }
    parts
}

/// The most important savings: dollars and time if known, else time, else tokens.
pub(crate) fn main_savings(sums: CostSavings) -> String {
    let CostSavings { millis, micro_dollars, .. } = sums;
    let only = match (micro_dollars, millis) {
        (1.., _) => CostSavings { micro_dollars, millis, ..CostSavings::default() },
        (0, 1..) => CostSavings { millis, ..CostSavings::default() },
        (0, 0) => sums,
    };
    savings(only).join(" · ")
}

/// Returns a text on one line, with everything escaped that controls a terminal or is invisible:
/// names and previews come from files and agents.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joins = is_joining(c)
            && shown.chars().next_back().is_some_and(|before| !before.is_ascii())
            && (is_variation(c) || chars.peek().is_some_and(|next| !next.is_ascii()));
        if is_invisible(c) && !joins {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// True for control characters, changes of text direction, and all others without width.
fn is_invisible(c: char) -> bool {
    is_unseen(c) || is_joining(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// True for joiners and variation selectors of emoji and some scripts.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}') || is_variation(c)
}

fn is_variation(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}
