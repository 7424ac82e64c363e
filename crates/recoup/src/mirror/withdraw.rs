//! Removes all mirrored files.

use super::place;
use super::register::{self, MirrorRegister};
use super::report::{MirrorFault, MirrorReport};
use super::scan::{self, MirrorLocations};

/// Removes all files of ours and reports them; `dry`: only reports. Files that someone has changed
/// are left. Needs neither configuration nor memory, and finds unregistered files by a scan.
pub(crate) fn withdraw(ground: MirrorLocations<'_>, dry: bool) -> MirrorReport {
    let mut report = MirrorReport::default();
    let found = scan::find_places(ground);
    if found.is_empty() && !MirrorRegister::exists_in(ground.home) {
        return report;
    }
    let mut register = match MirrorRegister::of(ground.home, dry) {
        Ok(register) => register,
        Err(error) => {
            report.faults.push(MirrorFault::new(register::register_path(ground.home), &error));
            return report;
        }
    };
    register.add(found);
    for mut known in register.all() {
        let dir = known.dir.clone();
        scan::adopt_unregistered(&mut known);
        if let Err(error) = place::reconcile_place(known, &[], &mut register, dry, &mut report) {
            report.faults.push(MirrorFault::new(dir, &error));
        }
    }
    report
}
