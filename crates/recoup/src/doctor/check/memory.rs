//! Checks memory: its database, its snapshots, and the time that reading the rules takes.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::{Clock as _, Stopwatch, SystemClock};
use recoup_core::memory::inject::{BlockBudget, InjectionContext, RulesBlock};
use recoup_core::memory::inspect::{NotesFound, inspect};
use recoup_core::memory::{NoteScope, NoteStatus, PauseReason, snapshots_of};
use recoup_core::store::sqlite::DatabaseSoundness;

use super::database::DatabaseCheck;
use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, FindingState, RepairAction};
use crate::human;

const CHECK: &str = "memory";

/// Time limit for reading all pages.
const TO_READ: Duration = Duration::from_secs(15);

/// In milliseconds: the most that a snapshot may lag behind.
const BEHIND: u64 = 3 * DAY;

/// In milliseconds: older notes must be in a snapshot.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Longer than this, people notice at each session start.
const SLOW: Duration = Duration::from_millis(500);

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let path = context.home.join("memory.db");
    let database = DatabaseCheck {
        check: CHECK,
        path: &path,
        if_damaged: "`recoup doctor --fix` sets it aside and takes over what can be read, and what \
                     only a snapshot has; copy it first if it is dear to you",
        fix: RepairAction::MendMemory,
    };
    let mut found = match inspect(&path, TO_READ) {
        Err(error) => vec![database.unusable_finding(&error, context)],
        Ok(None) => vec![database.missing_finding(context)],
        Ok(Some((seen, notes))) => {
            let mut first = database.usable_finding(&seen, &describe_notes(&notes), context);
            for (status, count) in &notes.counts {
                first = first.fact(status.as_str(), *count);
            }
            let is_sound =
                first.state == FindingState::Ok && seen.soundness == DatabaseSoundness::Sound;
            let rules = is_sound.then(|| rules_findings(context)).into_iter().flatten();
            [first].into_iter().chain(rules).chain(snapshot_finding(&path, &notes)).collect()
        }
    };
    found.extend(database.set_aside_finding(context));
    found
}

fn describe_notes(notes: &NotesFound) -> String {
    let counts = &notes.counts;
    let of =
        |status: NoteStatus| counts.iter().find(|(it, _)| *it == status).map_or(0, |(_, n)| *n);
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let (active, waiting) = (of(NoteStatus::Active), of(NoteStatus::Candidate));
    let noun = if all == 1 { "note" } else { "notes" };
    format!("{all} {noun} ({active} active, {waiting} candidates)")
}

/// Reports the newest snapshot. Warns if it is too old and notes have changed since, or if there is
/// none and notes are older than a day.
fn snapshot_finding(path: &Path, notes: &NotesFound) -> Option<DoctorFinding> {
    let (first, last) = notes.first.zip(notes.last)?;
    let all = snapshots_of(path);
    let newest = all.first();
    let warning = match newest {
        None if SystemClock.now().millis_since(first) <= DAY => return None,
        None => Some("there is no snapshot of memory, and notes are older than a day".to_owned()),
        Some(newest) if last.millis_since(newest.day()) > BEHIND => Some(format!(
            "the newest snapshot is of {} ({} kept), and notes have changed since",
            newest.date,
            all.len()
        )),
        Some(_) => None,
    };
    let found = match (warning, newest) {
        (Some(what), _) => DoctorFinding::warn(CHECK, "no-snapshot", what).remedy(
            "the worker, `recoup memory add`, `edit` and `import` make one a day: see what is said \
             here about the directory and the worker, and the log of the hooks",
        ),
        (None, Some(newest)) => {
            let what = format!("the newest snapshot is of {} ({} kept)", newest.date, all.len());
            DoctorFinding::ok(CHECK, what)
        }
        (None, None) => return None,
    };
    Some(found.fact("snapshots", all.len()))
}

/// Reads the rules for a session in this project as the hook does, without changing anything.
fn rules_findings(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(project) = &context.project else { return Vec::new() };
    let scope = NoteScope::Project(project.id().clone());
    let memory = context.memory_in(&context.home);
    let watch = Stopwatch::start();
    let notes = match memory.rules(&scope, BlockBudget::default()) {
        Ok(notes) => notes,
        Err(error) => {
            let what = format!("the rules can't be read: {error}");
            return vec![DoctorFinding::fail(CHECK, "no-rules", what)];
        }
    };
    let given = HashSet::new();
    let context = InjectionContext {
        project: Some(project.id()),
        given: &given,
        budget: BlockBudget::default(),
    };
    let block = RulesBlock::select(&notes, &context, |_| None);
    let took = watch.elapsed();
    let count = block.as_ref().map_or(0, |block| block.included().len());
    let time = human::fine_millis(took);
    let noun = if count == 1 { "rule" } else { "rules" };
    let what = format!("a session that starts here is given {count} {noun}, read in {time}");
    let first = if took > SLOW {
        DoctorFinding::warn(CHECK, "slow", what)
            .remedy("the disk is slow, or the machine very busy")
    } else {
        DoctorFinding::ok(CHECK, what)
    };
    let mut found = vec![first.fact("rules", count)];
    found.extend(silence_finding(memory.pause_reason(&scope)));
    found
}

fn silence_finding(said: recoup_core::Result<Option<PauseReason>>) -> Option<DoctorFinding> {
    let (what, code, remedy) = match said.ok().flatten()? {
        PauseReason::Paused(None) => {
            ("memory is paused: nothing is kept".to_owned(), "paused", "`recoup resume`")
        }
        PauseReason::Paused(Some(until)) => (
            format!("memory is paused until {}: nothing is kept", until.to_second_string()),
            "paused",
            "`recoup resume`",
        ),
        PauseReason::Ignored => {
            ("nothing is kept in this project".to_owned(), "ignored", "`recoup resume --project`")
        }
    };
    Some(
        DoctorFinding::warn(CHECK, code, what)
            .remedy(format!("if that is no longer wanted: {remedy}")),
    )
}
