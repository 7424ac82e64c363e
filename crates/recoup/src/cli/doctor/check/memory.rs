//! What is remembered: whether its file is sound, and how long an agent waits for its rules.

use std::collections::HashSet;
use std::time::Duration;

use recoup_core::base::clock::Stopwatch;
use recoup_core::memory::inject::{Block, Budget, Context};
use recoup_core::memory::inspect::{Notes, inspect};
use recoup_core::memory::{NoteScope, Silence, Status};
use recoup_core::store::sqlite::Soundness;

use super::database::Database;
use crate::cli::app::memory_in;
use crate::cli::doctor::Around;
use crate::cli::doctor::finding::{Finding, State};
use crate::cli::human;

const CHECK: &str = "memory";

/// For reading all of its pages.
const TO_READ: Duration = Duration::from_secs(15);

/// Longer than that, a person notices at each start of a session.
const SLOW: Duration = Duration::from_millis(500);

pub(super) fn find(around: &Around) -> Vec<Finding> {
    let path = around.home.join("memory.db");
    let database = Database {
        check: CHECK,
        path: &path,
        if_damaged: "the next `recoup memory list` sets it aside and takes over what can be read; \
                     copy it first if it is dear to you",
    };
    let mut found = match inspect(&path, TO_READ) {
        Err(error) => vec![database.unusable(&error, around)],
        Ok(None) => vec![database.not_there(around)],
        Ok(Some((seen, notes))) => {
            let mut first = database.usable(&seen, &in_words(&notes), around);
            for (status, count) in notes {
                first = first.fact(status.as_str(), count);
            }
            let is_sound = first.state == State::Ok && seen.soundness == Soundness::Sound;
            let rules = is_sound.then(|| rules(around)).into_iter().flatten();
            [first].into_iter().chain(rules).collect()
        }
    };
    found.extend(database.set_asides(around));
    found
}

fn in_words(notes: &Notes) -> String {
    let of = |status: Status| notes.iter().find(|(it, _)| *it == status).map_or(0, |(_, n)| *n);
    let all: u64 = notes.iter().map(|(_, count)| count).sum();
    let (active, waiting) = (of(Status::Active), of(Status::Candidate));
    let noun = if all == 1 { "note" } else { "notes" };
    format!("{all} {noun} ({active} active, {waiting} candidates)")
}

/// What a session that starts here would be given: the same reading as the hook's, from the
/// real file, which stays as it is.
fn rules(around: &Around) -> Vec<Finding> {
    let Some(project) = &around.project else { return Vec::new() };
    let scope = NoteScope::Project(project.id().clone());
    let memory = memory_in(&around.home);
    let watch = Stopwatch::start();
    let notes = match memory.rules(&scope, Budget::default()) {
        Ok(notes) => notes,
        Err(error) => {
            let what = format!("the rules can't be read: {error}");
            return vec![Finding::fail(CHECK, "no-rules", what)];
        }
    };
    let given = HashSet::new();
    let context = Context { project: Some(project.id()), given: &given, budget: Budget::default() };
    let block = Block::of(&notes, &context, |_| None);
    let took = watch.elapsed();
    let count = block.as_ref().map_or(0, |block| block.included().len());
    let time = human::fine(took);
    let noun = if count == 1 { "rule" } else { "rules" };
    let what = format!("a session that starts here is given {count} {noun}, read in {time}");
    let first = if took > SLOW {
        Finding::warn(CHECK, "slow", what).remedy("the disk is slow, or the machine very busy")
    } else {
        Finding::ok(CHECK, what)
    };
    let mut found = vec![first.fact("rules", count)];
    found.extend(silence(memory.silence(&scope)));
    found
}

fn silence(said: recoup_core::Result<Option<Silence>>) -> Option<Finding> {
    let (what, code, remedy) = match said.ok().flatten()? {
        Silence::Paused(None) => {
            ("memory is paused: nothing is kept".to_owned(), "paused", "`recoup resume`")
        }
        Silence::Paused(Some(until)) => (
            format!("memory is paused until {}: nothing is kept", until.to_second()),
            "paused",
            "`recoup resume`",
        ),
        Silence::Ignored => {
            ("nothing is kept in this project".to_owned(), "ignored", "`recoup resume --project`")
        }
    };
    Some(Finding::warn(CHECK, code, what).remedy(format!("if that is no longer wanted: {remedy}")))
}
