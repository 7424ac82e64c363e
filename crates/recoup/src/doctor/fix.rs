//! Repairs for `--fix`. Files in a project are never touched: they are the team's, and `recoup init
//! --project` shows its changes and asks.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::{Clock as _, Deadline, SystemClock};
use recoup_core::base::fsx;
use recoup_core::store::SqliteStore;
use recoup_core::store::sqlite::WaitLimits;
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::DoctorContext;
use super::finding::{DoctorFinding, RepairAction};
use crate::hooks::worker;
use crate::install::{
    self, AgentClient, ClientInstallation, FileChange, InstallLevel, InstallPlan, InstallRequest,
};
use crate::jobs;

/// Time to wait for a started worker to empty its backlog.
const TO_BEGIN: Duration = Duration::from_secs(3);

/// An attempted repair and its result.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RepairAttempt {
    pub(crate) check: &'static str,
    pub(crate) what: String,
    /// The failure; none on success.
    pub(crate) error: Option<String>,
}

/// Carries out the repairs of these findings, each once.
pub(crate) fn run_repairs(found: &[DoctorFinding], context: &DoctorContext) -> Vec<RepairAttempt> {
    let mut done: Vec<&RepairAction> = Vec::new();
    let mut repairs = Vec::new();
    for finding in found {
        let Some(fix) = finding.fix.as_ref().filter(|fix| !done.contains(fix)) else { continue };
        done.push(fix);
        let error = apply_repair(fix, context).err().map(|error| error.to_string());
        let what = match fix {
            RepairAction::MakePrivate(paths) => match &paths[..] {
                [only] => format!("make {} private", context.display_path(only)),
                paths => format!("make {} files and directories private", paths.len()),
            },
            RepairAction::Install(client) => format!("reinstall into {}", client.title()),
            RepairAction::Work { root, .. } => {
                format!("start a worker for {}", context.display_path(root))
            }
            RepairAction::MendMemory => {
                let path = context.home.join("memory.db");
                format!("repair {}, or set it aside", context.display_path(&path))
            }
            RepairAction::MendCache(path) => {
                format!("repair {}, or set it aside", context.display_path(path))
            }
        };
        repairs.push(RepairAttempt { check: finding.check, what, error });
    }
    repairs
}

fn apply_repair(fix: &RepairAction, context: &DoctorContext) -> Result<()> {
    match fix {
        // Outermost first: a closed directory hides what is in it.
        RepairAction::MakePrivate(paths) => {
            paths.iter().try_for_each(|path| fsx::make_private(path))
        }
        // As `recoup init` does for that client, with backups.
        RepairAction::Install(client) => {
            let plan = plan_reinstall(*client, InstallLevel::User, context)?;
            let is_theirs = |it: &FileChange| it.has_effect() && context.is_in_project(&it.path);
            if plan.changes.iter().any(is_theirs) {
                let message = "its files are in this project: run `recoup init`, which shows the \
                               changes first";
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            install::install_changes(&plan.changes, &context.places.own, SystemClock.now())
                .map(drop)
        }
        RepairAction::Work { project, root } => {
            jobs::retry_kept(&context.home, project)?;
            worker::start_in(project, root)?;
            let deadline = Deadline::after(TO_BEGIN);
            // The lock is not probed: the worker needs to take it.
            while jobs::count_waiting_jobs(&context.home, project) > 0 && !deadline.has_passed() {
                thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        }
        RepairAction::MendMemory => context.memory_in(&context.home).repair().map(drop),
        RepairAction::MendCache(path) => {
            SqliteStore::at(path, WaitLimits::default(), Arc::clone(&context.faults))
                .repair()
                .map(drop)
        }
    }
}

/// Offers `recoup init` as a repair if it would change the faulty file; otherwise says why not.
/// `does` describes its effect.
pub(super) fn offer_reinstall(
    finding: DoctorFinding,
    of: &ClientInstallation,
    context: &DoctorContext,
    does: &str,
) -> DoctorFinding {
    let init = init_command(of.client, of.level);
    let plan = match plan_reinstall(of.client, of.level, context) {
        Err(error) => return finding.remedy(obstacle_remedy(&error)),
        Ok(plan) => plan,
    };
    let Some(change) = plan.changes.iter().find(|it| it.path == of.path) else {
        return finding.remedy(format!("`{init}` does not change that file"));
    };
    if !change.has_effect() {
        let shown = context.places.display_path(&of.path);
        let stays = change.done.notes.first().map_or(String::new(), |note| format!(": {note}"));
        return finding.remedy(format!("`{init}` would change nothing in {shown}{stays}"));
    }
    // Files in a repository are shared: changes are shown before they are written.
    let is_theirs =
        |change: &FileChange| change.has_effect() && context.is_in_project(&change.path);
    if of.level == InstallLevel::Project || plan.changes.iter().any(is_theirs) {
        return finding.remedy(format!("`{init}` {does}, and shows the change first"));
    }
    finding
        .remedy(format!("`recoup doctor --fix` (or `recoup init`) {does}"))
        .fix(RepairAction::Install(of.client))
}

/// The `recoup init` command line for a client.
pub(super) fn init_command(client: AgentClient, level: InstallLevel) -> String {
    let project = if level == InstallLevel::Project { " --project" } else { "" };
    format!("recoup init{project} --client {}", client.as_str())
}

/// Remedy for an error that blocks `recoup init`.
pub(super) fn obstacle_remedy(error: &Error) -> String {
    format!("fix this first: {error}")
}

/// Plans the changes of `recoup init`; an error if it cannot run.
fn plan_reinstall(
    client: AgentClient,
    level: InstallLevel,
    context: &DoctorContext,
) -> Result<InstallPlan> {
    let unknown = || Error::new(ErrorKind::Io, "can't determine the path of this program");
    let running = context.program.as_ref().ok_or_else(unknown)?;
    let program = install::program_path(running, None, &context.places)?.display().to_string();
    plan_with_program(&program, client, level, context)
}

/// The error in a client's files that would stop `recoup init`, whatever its program's path.
pub(super) fn find_install_obstacle(client: AgentClient, context: &DoctorContext) -> Option<Error> {
    plan_with_program("recoup", client, InstallLevel::User, context).err()
}

fn plan_with_program(
    program: &str,
    client: AgentClient,
    level: InstallLevel,
    context: &DoctorContext,
) -> Result<InstallPlan> {
    let wish = InstallRequest { places: &context.places, level, program, replace_peers: &[] };
    InstallPlan::make(client, &wish)
}
