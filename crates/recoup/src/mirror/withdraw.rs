//! Removes all mirrored files.

use super::place;
use super::register::{self, Register};
use super::report::{Fault, Report};
use super::scan::{self, Ground};

/// Removes all files of ours and reports them; `dry`: only reports. Files that someone has changed
/// are left. Needs neither configuration nor memory, and finds unregistered files by a scan.
pub(crate) fn withdraw(ground: Ground<'_>, dry: bool) -> Report {
    let mut report = Report::default();
    let found = scan::places(ground);
    if found.is_empty() && !Register::is_at(ground.home) {
        return report;
    }
    let mut register = match Register::of(ground.home, dry) {
        Ok(register) => register,
        Err(error) => {
            report.faults.push(Fault::new(register::path(ground.home), &error));
            return report;
        }
    };
    register.add(found);
    for mut known in register.all() {
        let dir = known.dir.clone();
        scan::adopt(&mut known);
        if let Err(error) = place::settle(known, &[], &mut register, dry, &mut report) {
            report.faults.push(Fault::new(dir, &error));
        }
    }
    report
}
