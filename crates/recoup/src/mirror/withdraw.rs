//! Everything out again, from wherever it is.

use std::path::Path;

use recoup_core::Result;

use super::place;
use super::register::Register;
use super::report::{Fault, Report};

/// Takes out all that we have put anywhere, and says so; `dry`: only says so. What
/// somebody has changed is left. Needs neither configuration nor memory.
pub(crate) fn withdraw(home: &Path, dry: bool) -> Result<Report> {
    let mut report = Report::default();
    if !Register::is_at(home) {
        return Ok(report);
    }
    let mut register = Register::open(home)?;
    for known in register.all() {
        let dir = known.dir.clone();
        if let Err(error) = place::settle(known, &[], &mut register, dry, &mut report) {
            report.faults.push(Fault::new(dir, &error));
        }
    }
    Ok(report)
}
