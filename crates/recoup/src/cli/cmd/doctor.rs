//! `recoup doctor`: is everything as it should be, and if not, what to do.

use std::path::PathBuf;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use clap::Args;
use recoup_core::base::fsx;
use recoup_core::{Error, Result};
use serde::Serialize;

use crate::cli::failure::{CommandError, FaultPrinter};
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::doctor::{self, CHECKS, DoctorContext, DoctorFinding, FindingState, RepairAttempt};

/// Format version of the `--json` output.
const FORMAT_VERSION: u32 = 1;

/// Column width of check names.
const NAME: usize = 15;

const GREEN: Style = AnsiColor::Green.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// Check the installation, and report problems and their remedies.
#[derive(Debug, Args)]
pub(in crate::cli) struct DoctorArgs {
    /// Repair what can be repaired: permissions, your own hooks whose program is missing,
    /// unfinished work. Deletes no files, and changes none in a project
    #[arg(long)]
    fix: bool,
    /// As a JSON object
    #[arg(long)]
    json: bool,
    /// Write a file for a bug report: versions, states, sizes and counts, but no text, commands or
    /// names of yours
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
}

/// Output of `--json`.
#[derive(Debug, Default, Serialize)]
struct DoctorReport {
    format: u32,
    recoup: &'static str,
    ok: bool,
    findings: Vec<DoctorFinding>,
    repairs: Vec<RepairAttempt>,
    /// Lines that are not printed yet.
    #[serde(skip)]
    held_back: String,
}

impl DoctorArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        if let Some(file) = self.bundle.as_ref().filter(|file| file.symlink_metadata().is_ok()) {
            let message =
                format!("{} already exists: choose another name for --bundle", file.display());
            return Err(Error::usage(message).into());
        }
        let mut report = DoctorReport {
            format: FORMAT_VERSION,
            recoup: env!("CARGO_PKG_VERSION"),
            ..DoctorReport::default()
        };
        let context = match doctor::collect_context(Arc::new(FaultPrinter)) {
            Ok(context) => Some(context),
            Err(finding) => {
                self.add_findings(vec![*finding], Vec::new(), &mut report)?;
                None
            }
        };
        if let Some(context) = &context {
            self.check_all(context, &mut report)?;
        }
        report.ok = !report.findings.iter().any(|finding| finding.state == FindingState::Fail);
        // Before anything is printed: `| head` must not cost the user the bundle.
        if let Some(file) = &self.bundle {
            let bundle =
                doctor::render_bundle(&report.findings, &report.repairs, context.as_deref());
            fsx::write_atomic(file, bundle.as_bytes())?;
        }
        let printed = if self.json {
            ui::json(&report)
        } else {
            ui::print_styled(&format!("{}{}", report.held_back, summary(&report)))
        };
        if let Some(file) = &self.bundle {
            ui::say(format_args!(
                "Wrote {} for a bug report: review it before you send it",
                file.display()
            ));
        }
        printed?;
        Ok(if report.ok { CommandAnswer::Yes } else { CommandAnswer::No })
    }

    fn check_all(
        &self,
        context: &Arc<DoctorContext>,
        report: &mut DoctorReport,
    ) -> Result<(), CommandError> {
        let mut context = Arc::clone(context);
        for check in &CHECKS {
            let mut found = doctor::run_check(check, &context);
            let repairs = if self.fix { doctor::run_repairs(&found, &context) } else { Vec::new() };
            if repairs.iter().any(|repair| repair.error.is_none()) {
                // Everything may be different now.
                context = doctor::collect_context(Arc::new(FaultPrinter)).unwrap_or(context);
                found = doctor::run_check(check, &context);
            }
            self.add_findings(found, repairs, report)?;
        }
        Ok(())
    }

    /// Adds to the report, and prints each finding as soon as it is known: some take their time.
    fn add_findings(
        &self,
        found: Vec<DoctorFinding>,
        repairs: Vec<RepairAttempt>,
        report: &mut DoctorReport,
    ) -> Result<(), CommandError> {
        for repair in &repairs {
            let (name, what) = (ui::padded(repair.check, NAME), ui::printable(&repair.what));
            let line = match &repair.error {
                None => format!("{GREEN}+{GREEN:#} {name} done: {what}\n"),
                Some(error) => {
                    let error = ui::printable(error);
                    format!("{RED}✗{RED:#} {name} not done: {what}: {error}\n")
                }
            };
            report.held_back.push_str(&line);
        }
        for finding in &found {
            let (symbol, style) = match finding.state {
                FindingState::Ok => ("✓", GREEN),
                FindingState::Skipped => ("·", DIM),
                FindingState::Warn => ("!", YELLOW),
                FindingState::Fail => ("✗", RED),
            };
            let (name, what) = (ui::padded(finding.check, NAME), ui::printable(&finding.what));
            let remedy = finding.remedy.as_deref().map_or_else(String::new, |remedy| {
                format!("  {:NAME$} {CYAN}→ {}{CYAN:#}\n", "", ui::printable(remedy))
            });
            let line = format!("{style}{symbol}{style:#} {name} {what}\n{remedy}");
            report.held_back.push_str(&line);
        }
        report.findings.extend(found);
        report.repairs.extend(repairs);
        if self.json || self.bundle.is_some() {
            return Ok(());
        }
        ui::print_styled(&std::mem::take(&mut report.held_back))
    }
}

fn summary(report: &DoctorReport) -> String {
    let count = |state| report.findings.iter().filter(|it| it.state == state).count();
    let (fails, warnings) = (count(FindingState::Fail), count(FindingState::Warn));
    let fixable = report.findings.iter().filter(|it| it.fix.is_some()).count();
    let things =
        |count: usize| if count == 1 { "1 thing".to_owned() } else { format!("{count} things") };
    let verdict = match (fails, warnings) {
        (0, 0) => format!("{GREEN}All is well{GREEN:#}"),
        (0, _) => format!("{YELLOW}It works{YELLOW:#}; {} could be better", things(warnings)),
        (_, 0) => format!("{RED}{} wrong{RED:#}", things_are(fails)),
        _ => format!(
            "{RED}{} wrong{RED:#}, and {} could be better",
            things_are(fails),
            things(warnings)
        ),
    };
    let fix = match fixable {
        0 => String::new(),
        count => format!(" (--fix repairs {count})"),
    };
    format!("\n{verdict}{fix}\n")
}

fn things_are(count: usize) -> String {
    if count == 1 { "1 thing is".to_owned() } else { format!("{count} things are") }
}
