//! The table for people, the file for programs.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::measure::Ratio;

pub(crate) fn print(rows: &[(&str, Ratio)]) {
    println!("{:<36} {:>10} {:>10} {:>7} {:>7}", "", "baseline", "ours", "ratio", "goal");
    for (name, ratio) in rows {
        let verdict = if ratio.holds() { "" } else { "  over" };
        println!(
            "{name:<36} {:>10} {:>10} {:>6.2}x {:>6.1}x{verdict}",
            short(ratio.baseline),
            short(ratio.subject),
            ratio.value(),
            ratio.goal
        );
    }
}

fn short(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 { format!("{micros:.2} µs") } else { format!("{:.2} ms", micros / 1e3) }
}

pub(crate) fn write(rows: &[(&str, Ratio)]) {
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, ratio)| {
            json!({
                "name": name,
                "baseline_ns": ratio.baseline.as_nanos(),
                "subject_ns": ratio.subject.as_nanos(),
                "ratio": ratio.value(),
                "goal": ratio.goal,
                "holds": ratio.holds(),
            })
        })
        .collect();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench");
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("ratios.json");
    std::fs::write(&file, serde_json::to_string_pretty(&json!({ "ratios": rows })).unwrap())
        .unwrap();
    println!("\nwritten to {}", file.display());
}
