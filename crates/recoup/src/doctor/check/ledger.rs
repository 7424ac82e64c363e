//! Checks the ledger's events that are not yet counted.

use std::fs;
use std::path::PathBuf;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::ledger::{LedgerCondition, inspect};

use crate::doctor::DoctorContext;
use crate::doctor::finding::DoctorFinding;
use crate::human;

const CHECK: &str = "ledger";

/// In milliseconds: an older batch was left behind, or its store cannot be reached.
const LONG: u64 = 24 * 60 * 60 * 1000;

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let dir = context.home.join("ledger");
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return vec![DoctorFinding::ok(CHECK, "nothing was noted yet")];
        }
        Err(error) => {
            let what = format!("{}: {error}", context.display_path(&dir));
            return vec![
                DoctorFinding::fail(CHECK, "unusable", what)
                    .remedy("let this user read and write it"),
            ];
        }
    };
    let ledgers: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let (mut all, mut faults) = (LedgerCondition::default(), Vec::new());
    for ledger in ledgers {
        match inspect(&ledger) {
            Ok(found) => add_condition(&mut all, &found),
            Err(error) => {
                faults.push(DoctorFinding::fail(CHECK, "unusable", error.to_string()).remedy(
                    "let this user read and write it; what is no file of ours is in the way",
                ));
            }
        }
    }
    [ledger_finding(&all)].into_iter().chain(faults).collect()
}

fn add_condition(all: &mut LedgerCondition, found: &LedgerCondition) {
    all.waiting += found.waiting;
    all.unreadable += found.unreadable;
    all.batches += found.batches;
    all.bytes += found.bytes;
    all.is_full |= found.is_full;
    all.oldest = [all.oldest, found.oldest].into_iter().flatten().min();
}

fn ledger_finding(all: &LedgerCondition) -> DoctorFinding {
    let LedgerCondition { waiting, unreadable, batches, oldest, is_full, bytes } = all;
    let age = oldest.map_or(0, |then| SystemClock.now().millis_since(then));
    let found = if *is_full {
        let what = format!("it is full: nothing more is noted ({})", human::size(*bytes));
        DoctorFinding::warn(CHECK, "full", what)
            .remedy("`recoup stats` counts what is there, if the store can be written")
    } else if *batches > 0 && age > LONG {
        let what =
            format!("{batches} batches wait since {} to be counted", human::long_duration(age));
        DoctorFinding::warn(CHECK, "left-behind", what)
            .remedy("`recoup stats` counts them, if their store can be reached")
    } else if *unreadable > 0 {
        let what = format!("{unreadable} of {} lines can't be read", waiting + unreadable);
        DoctorFinding::warn(CHECK, "unreadable", what)
            .remedy("they are passed over: a full disk cut them off, or another program wrote them")
    } else {
        let noun = if *waiting == 1 { "event waits" } else { "events wait" };
        let size = human::size(*bytes);
        DoctorFinding::ok(
            CHECK,
            format!("{} {noun} to be counted, {size} in all", human::count(*waiting)),
        )
    };
    found
        .fact("waiting", *waiting)
        .fact("unreadable", *unreadable)
        .fact("batches", *batches)
        .fact("bytes", *bytes)
}
