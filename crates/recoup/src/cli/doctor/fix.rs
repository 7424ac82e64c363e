//! Repairs for `--fix`. Files in a project are never touched: they are the team's, and `recoup init
//! --project` shows its changes and asks.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::{Clock as _, Deadline, SystemClock};
use recoup_core::base::fsx;
use recoup_core::store::Sqlite;
use recoup_core::store::sqlite::Waits;
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::Around;
use super::finding::{Finding, Fix};
use crate::cli::app::memory_in;
use crate::cli::failure::Faults;
use crate::hooks::worker::{self, backlog};
use crate::install::{self, Change, Client, Installation, Level, Plan, Wish};

/// Time to wait for a started worker to empty its backlog.
const TO_BEGIN: Duration = Duration::from_secs(3);

/// An attempted repair and its result.
#[derive(Debug, Clone, Serialize)]
pub(in crate::cli) struct Repair {
    pub(in crate::cli) check: &'static str,
    pub(in crate::cli) what: String,
    /// The failure; none on success.
    pub(in crate::cli) error: Option<String>,
}

/// Carries out the repairs of these findings, each once.
pub(in crate::cli) fn repair(found: &[Finding], around: &Around) -> Vec<Repair> {
    let mut done: Vec<&Fix> = Vec::new();
    let mut repairs = Vec::new();
    for finding in found {
        let Some(fix) = finding.fix.as_ref().filter(|fix| !done.contains(fix)) else { continue };
        done.push(fix);
        let error = carry_out(fix, around).err().map(|error| error.to_string());
        repairs.push(Repair { check: finding.check, what: in_words(fix, around), error });
    }
    repairs
}

/// Describes a repair in the imperative.
fn in_words(fix: &Fix, around: &Around) -> String {
    match fix {
        Fix::MakePrivate(paths) => match &paths[..] {
            [only] => format!("close {} to others", around.shown(only)),
            paths => format!("close {} files and directories to others", paths.len()),
        },
        Fix::Install(client) => format!("install into {} anew", client.title()),
        Fix::Work { root, .. } => format!("start a worker for {}", around.shown(root)),
        Fix::MendMemory => {
            let path = around.home.join("memory.db");
            format!("mend {}, or set it aside", around.shown(&path))
        }
        Fix::MendCache(path) => format!("mend {}, or set it aside", around.shown(path)),
    }
}

fn carry_out(fix: &Fix, around: &Around) -> Result<()> {
    match fix {
        // Outermost first: a closed directory hides what is in it.
        Fix::MakePrivate(paths) => paths.iter().try_for_each(|path| fsx::make_private(path)),
        Fix::Install(client) => install(*client, around),
        Fix::Work { project, root } => work(project, root, around),
        Fix::MendMemory => memory_in(&around.home).repair().map(drop),
        Fix::MendCache(path) => {
            Sqlite::at(path, Waits::default(), Arc::new(Faults)).repair().map(drop)
        }
    }
}

/// Starts a worker and waits briefly for its backlog to empty.
fn work(project: &str, root: &Path, around: &Around) -> Result<()> {
    backlog::retry_kept(&around.home, project)?;
    worker::start_in(project, root)?;
    let deadline = Deadline::after(TO_BEGIN);
    // The lock is not probed: the worker needs to take it.
    while backlog::jobs_of(&around.home, project) > 0 && !deadline.passed() {
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Does what `recoup init` does for that client, with backups.
fn install(client: Client, around: &Around) -> Result<()> {
    let plan = planned(client, Level::User, around)?;
    if plan.changes.iter().any(|it| it.is_any() && around.repository.has(&it.path)) {
        let message =
            "its files are in this project: run `recoup init`, which shows what it changes";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    install::put_in(&plan.changes, &around.places.own, SystemClock.now()).map(drop)
}

/// Offers `recoup init` as a repair if it would change the faulty file; otherwise says why not.
/// `does` describes its effect.
pub(super) fn offering(
    finding: Finding,
    of: &Installation,
    around: &Around,
    does: &str,
) -> Finding {
    let init = init_for(of.client, of.level);
    let plan = match planned(of.client, of.level, around) {
        Err(error) => return finding.remedy(in_the_way(&error)),
        Ok(plan) => plan,
    };
    let Some(change) = plan.changes.iter().find(|it| it.path == of.path) else {
        return finding.remedy(format!("`{init}` does not change that file"));
    };
    if !change.is_any() {
        let shown = around.places.shown(&of.path);
        let stays = change.done.notes.first().map_or(String::new(), |note| format!(": {note}"));
        return finding.remedy(format!("`{init}` would change nothing in {shown}{stays}"));
    }
    // Files in a repository are shared: changes are shown before they are written.
    let is_theirs = |change: &Change| change.is_any() && around.repository.has(&change.path);
    if of.level == Level::Project || plan.changes.iter().any(is_theirs) {
        return finding.remedy(format!("`{init}` {does}, and shows it first"));
    }
    finding
        .remedy(format!("`recoup doctor --fix` (or `recoup init`) {does}"))
        .fix(Fix::Install(of.client))
}

/// The `recoup init` command line for a client.
pub(super) fn init_for(client: Client, level: Level) -> String {
    let project = if level == Level::Project { " --project" } else { "" };
    format!("recoup init{project} --client {}", client.as_str())
}

/// Remedy for an error that blocks `recoup init`.
pub(super) fn in_the_way(error: &Error) -> String {
    format!("mend this first: {error}")
}

/// Plans the changes of `recoup init`; an error if it cannot run.
fn planned(client: Client, level: Level, around: &Around) -> Result<Plan> {
    let unknown = || Error::new(ErrorKind::Io, "where this program is can't be told");
    let running = around.program.as_ref().ok_or_else(unknown)?;
    let program = install::program_path(running, None, &around.places)?.display().to_string();
    with(&program, client, level, around)
}

/// The error in a client's files that would stop `recoup init`, whatever its program's path.
pub(super) fn obstacle(client: Client, around: &Around) -> Option<Error> {
    with("recoup", client, Level::User, around).err()
}

fn with(program: &str, client: Client, level: Level, around: &Around) -> Result<Plan> {
    let wish = Wish { places: &around.places, level, program, replace_peers: &[] };
    Plan::make(client, &wish)
}
