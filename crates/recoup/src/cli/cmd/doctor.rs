//! `recoup doctor`: is everything as it should be, and if not, what to do.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use clap::Args;
use recoup_core::base::fsx;
use recoup_core::{Error, Result};
use serde::Serialize;

use crate::cli::doctor::{self, Around, CHECKS, Finding, Repair, State};
use crate::cli::failure::Failure;
use crate::cli::{Answer, Ended, ui};

/// Format version of the `--json` output.
const FORMAT: u32 = 1;

/// Column width of check names.
const NAME: usize = 15;

const GREEN: Style = AnsiColor::Green.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// Look at everything that must work together, and say what is wrong and what to do.
#[derive(Debug, Args)]
pub(in crate::cli) struct DoctorArgs {
    /// Mend what can be mended: permissions, your own hooks whose program is gone, work that was
    /// left behind. No file is deleted, and none in a project is touched
    #[arg(long)]
    fix: bool,
    /// As a JSON object
    #[arg(long)]
    json: bool,
    /// Write a file for a bug report: versions, states, sizes and counts, and nothing that
    /// anybody said, typed or named
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

/// Output of `--json`.
#[derive(Debug, Default, Serialize)]
struct Report {
    format: u32,
    recoup: &'static str,
    ok: bool,
    findings: Vec<Finding>,
    repairs: Vec<Repair>,
    /// Lines that are not printed yet.
    #[serde(skip)]
    held_back: String,
}

impl DoctorArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        if let Some(file) = &self.bundle {
            demand_new(file)?;
        }
        let mut report =
            Report { format: FORMAT, recoup: env!("CARGO_PKG_VERSION"), ..Report::default() };
        let around = match doctor::look_around() {
            Ok(around) => Some(around),
            Err(finding) => {
                self.tell(vec![*finding], Vec::new(), &mut report)?;
                None
            }
        };
        if let Some(around) = &around {
            self.check_all(around, &mut report)?;
        }
        report.ok = !report.findings.iter().any(|finding| finding.state == State::Fail);
        // Before anything is printed: `| head` must not cost the user the bundle.
        if let Some(file) = &self.bundle {
            let bundle = doctor::bundle(&report.findings, &report.repairs, around.as_deref());
            fsx::write_atomic(file, bundle.as_bytes())?;
        }
        let printed = if self.json {
            ui::json(&report)
        } else {
            ui::picture(&format!("{}{}", report.held_back, summary(&report)))
        };
        if let Some(file) = &self.bundle {
            ui::say(format_args!(
                "{} is for a bug report: look into it before you send it",
                file.display()
            ));
        }
        printed?;
        Ok(if report.ok { Answer::Yes } else { Answer::No })
    }

    fn check_all(&self, around: &Arc<Around>, report: &mut Report) -> Result<(), Failure> {
        let mut around = Arc::clone(around);
        for check in &CHECKS {
            let mut found = doctor::run(check, &around);
            let repairs = if self.fix { doctor::repair(&found, &around) } else { Vec::new() };
            if repairs.iter().any(|repair| repair.error.is_none()) {
                // Everything may be different now.
                around = doctor::look_around().unwrap_or(around);
                found = doctor::run(check, &around);
            }
            self.tell(found, repairs, report)?;
        }
        Ok(())
    }

    /// Adds to the report, and prints each finding as soon as it is known: some take their time.
    fn tell(
        &self,
        found: Vec<Finding>,
        repairs: Vec<Repair>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let lines = repairs.iter().map(repaired).chain(found.iter().map(line));
        report.held_back.extend(lines);
        report.findings.extend(found);
        report.repairs.extend(repairs);
        if self.json || self.bundle.is_some() {
            return Ok(());
        }
        ui::picture(&std::mem::take(&mut report.held_back))
    }
}

/// Refuses to overwrite an existing file.
fn demand_new(file: &Path) -> Result<()> {
    if file.symlink_metadata().is_ok() {
        let message =
            format!("{} is there already: choose another name for --bundle", file.display());
        return Err(Error::usage(message));
    }
    Ok(())
}

fn line(finding: &Finding) -> String {
    let (symbol, style) = match finding.state {
        State::Ok => ("✓", GREEN),
        State::Skipped => ("·", DIM),
        State::Warn => ("!", YELLOW),
        State::Fail => ("✗", RED),
    };
    let name = ui::padded(finding.check, NAME);
    let what = ui::printable(&finding.what).into_owned();
    let remedy = finding
        .remedy
        .iter()
        .map(|remedy| format!("  {:NAME$} {CYAN}→ {}{CYAN:#}\n", "", ui::printable(remedy)));
    format!("{style}{symbol}{style:#} {name} {what}\n{}", remedy.collect::<String>())
}

fn repaired(repair: &Repair) -> String {
    let (name, what) = (ui::padded(repair.check, NAME), ui::printable(&repair.what));
    match &repair.error {
        None => format!("{GREEN}+{GREEN:#} {name} done: {what}\n"),
        Some(error) => {
            let error = ui::printable(error).into_owned();
            format!("{RED}✗{RED:#} {name} not done: {what}: {error}\n")
        }
    }
}

fn summary(report: &Report) -> String {
    let count = |state| report.findings.iter().filter(|it| it.state == state).count();
    let (fails, warnings) = (count(State::Fail), count(State::Warn));
    let fixable = report.findings.iter().filter(|it| it.fix.is_some()).count();
    let things =
        |count: usize| if count == 1 { "1 thing".to_owned() } else { format!("{count} things") };
    let verdict = match (fails, warnings) {
        (0, 0) => format!("{GREEN}All is well{GREEN:#}"),
        (0, _) => format!("{YELLOW}It works{YELLOW:#}; {} could be better", things(warnings)),
        (_, 0) => format!("{RED}{} wrong{RED:#}", is(fails)),
        _ => format!("{RED}{} wrong{RED:#}, and {} could be better", is(fails), things(warnings)),
    };
    let fix = match fixable {
        0 => String::new(),
        count => format!(" (--fix mends {count})"),
    };
    format!("\n{verdict}{fix}\n")
}

fn is(count: usize) -> String {
    if count == 1 { "1 thing is".to_owned() } else { format!("{count} things are") }
}
