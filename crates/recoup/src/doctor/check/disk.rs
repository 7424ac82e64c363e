//! Checks the free space on the disk of our directory.

use std::path::Path;

use rustix::fs::statvfs;

use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::human;

const CHECK: &str = "disk";

/// Below the first limit, writes fail soon; below the second, they fail now.
const LITTLE: u64 = 500 << 20;
const NOTHING: u64 = 20 << 20;

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let there = context.home.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let Ok(disk) = statvfs(there) else {
        let what = format!("the room at {} can't be told", context.display_path(there));
        return vec![DoctorFinding::skipped(CHECK, "unknown", what)];
    };
    // Pseudo file systems such as /proc have no size.
    if disk.f_blocks == 0 {
        let what =
            format!("{} is on no disk: there is no room to tell", context.display_path(there));
        return vec![DoctorFinding::skipped(CHECK, "unknown", what)];
    }
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    // A file system without a limit on files reports zero.
    let no_files = disk.f_files > 0 && disk.f_favail == 0;
    let what = format!("{} are free at {}", human::size(free), context.display_path(there));
    let remedy = "make room: what can't be written is not kept, and hooks learn nothing";
    let found = if no_files {
        let what = format!("no more files can be made at {}", context.display_path(there));
        DoctorFinding::fail(CHECK, "no-files", what).remedy(remedy)
    } else if free < NOTHING {
        DoctorFinding::fail(CHECK, "full", what).remedy(remedy)
    } else if free < LITTLE {
        DoctorFinding::warn(CHECK, "nearly-full", what).remedy(remedy)
    } else {
        DoctorFinding::ok(CHECK, what)
    };
    vec![found.fact("free_mib", free >> 20)]
}
