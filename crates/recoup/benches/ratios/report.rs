//! The table for people, the file for programs.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::measure::{Figure, Ratio, Size};

/// Everything that was measured. Each row is printed as soon as it is there.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<(String, Ratio)>,
    figures: Vec<(String, Figure)>,
    sizes: Vec<(String, Size)>,
}

impl Report {
    pub(crate) fn begin() -> Self {
        println!("{:<46} {:>10} {:>10} {:>7} {:>7}", "", "baseline", "ours", "ratio", "goal");
        Self::default()
    }

    pub(crate) fn add_ratio(&mut self, name: impl Into<String>, ratio: Ratio) {
        let name = name.into();
        let verdict = if ratio.holds() { "" } else { "  over" };
        println!(
            "{name:<46} {:>10} {:>10} {:>6.2}x {:>6.2}x{verdict}",
            short(ratio.baseline),
            short(ratio.subject),
            ratio.value(),
            ratio.goal
        );
        self.rows.push((name, ratio));
    }

    pub(crate) fn add_figure(&mut self, name: impl Into<String>, figure: Figure) {
        let name = name.into();
        let verdict = if figure.holds() { "" } else { "  over" };
        let (time, goal) = (short(figure.time), short(figure.goal));
        println!("{name:<57} {time:>10} {:>7} {goal:>7}{verdict}", "");
        self.figures.push((name, figure));
    }

    pub(crate) fn add_size(&mut self, name: impl Into<String>, size: Size) {
        let name = name.into();
        let verdict = if size.holds() { "" } else { "  over" };
        let (bytes, goal) = (megabytes(size.bytes), megabytes(size.goal));
        println!("{name:<57} {bytes:>10} {:>7} {goal:>7}{verdict}", "");
        self.sizes.push((name, size));
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes >> 20, (bytes >> 10) % 1024 * 10 / 1024)
}

fn short(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 { format!("{micros:.2} µs") } else { format!("{:.2} ms", micros / 1e3) }
}

impl Report {
    /// Writes the file.
    pub(crate) fn write(&self) {
        let Self { rows, figures, sizes } = self;
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
        let figures: Vec<_> = figures
            .iter()
            .map(|(name, figure)| {
                json!({
                    "name": name,
                    "time_ns": figure.time.as_nanos(),
                    "goal_ns": figure.goal.as_nanos(),
                    "holds": figure.holds(),
                })
            })
            .collect();
        let sizes: Vec<_> = sizes
            .iter()
            .map(|(name, size)| {
                json!({
                    "name": name,
                    "bytes": size.bytes,
                    "goal_bytes": size.goal,
                    "holds": size.holds(),
                })
            })
            .collect();
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench");
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("ratios.json");
        std::fs::write(
            &file,
            serde_json::to_string_pretty(
                &json!({ "ratios": rows, "figures": figures, "sizes": sizes }),
            )
            .unwrap(),
        )
        .unwrap();
        println!("\nwritten to {}", file.display());
    }
}
