//! Sizes and times as people say them.

/// `42 B`, `1.5 KiB`, `100.0 MiB`.
pub(super) fn size(bytes: u64) -> String {
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

/// The same for a sentence: `40 ms`, `5 s`, `2 minutes`, `3 h`, `4 days`.
pub(super) fn long(millis: u64) -> String {
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

/// In the largest unit that fits, to the nearest: `3s`, `12m`, `5h`, `30d`.
pub(super) fn span(millis: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let unit = UNITS.into_iter().find(|(length, _)| millis >= *length);
    unit.map_or_else(
        || format!("{millis}ms"),
        |(length, name)| format!("{}{name}", millis.saturating_add(length / 2) / length),
    )
}
