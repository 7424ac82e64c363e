//! `recoup hook`: the entry point for clients. Dispatched before arguments are parsed, always exits
//! with 0, and prints only the answer that the client reads: any other code or text would block a
//! tool or erase a prompt.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use recoup_core::Error;
use recoup_core::base::clock::Deadline;
use recoup_core::base::fsx;
use recoup_core::base::project::ProjectId;
use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::judge::MemoryJudge;

use crate::app::{AppContext, memory_in};
use crate::cli::{CommandAnswer, YES, ui};
use crate::config::{BaseDirs, FlagOverrides, ResolvedSettings, env, find_project, trust};
use crate::hooks::worker::{self, MemoryWorker};
use crate::hooks::{self, ClientEntrypoint, HookInput, HookServices};
use crate::jobs::{HookLog, JobQueue};
use crate::process::detached;

/// Time limit for reading the payload, which clients write at once.
const INPUT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for the whole hook, whatever it waits for: a disk, a lock.
const HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for logging a timeout.
const LOG_TIMEOUT: Duration = Duration::from_millis(50);
/// Stack size of the timeout threads.
const TIMEOUT_STACK_BYTES: usize = 128 << 10;

/// Take in what a client tells, and answer it.
#[derive(Debug, Args)]
pub(in crate::cli) struct HookArgs {
    /// Which client calls, where its payload does not tell: claude-code, codex or pi
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// A payload that comes as an argument, as Codex's `notify` has it; else it is read from stdin
    #[arg(value_name = "JSON")]
    payload: Option<OsString>,
}

impl HookArgs {
    pub(in crate::cli) fn run(self) -> CommandAnswer {
        let client = self.client.into_iter().flat_map(|it| ["--client".into(), it.into()]);
        let args: Vec<OsString> = client.chain(self.payload).collect();
        CommandAnswer::Exit(run(&args))
    }
}

/// True if the arguments ask for help.
pub(in crate::cli) fn is_help_request(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "-h")
}

/// Serves a client. Always returns 0.
pub(in crate::cli) fn run(args: &[OsString]) -> i32 {
    let Ok(places) = BaseDirs::find_lenient() else { return YES };
    let log = HookLog::below(&places.home);
    if let [flag, project] = args
        && flag == worker::FLAG
    {
        catch_panic(&log, || run_worker(&project.to_string_lossy(), &places.home, &log));
        return YES;
    }
    serve(args, None, places, &log);
    YES
}

/// Serves a client that passed no arguments; false if stdin is empty.
pub(in crate::cli) fn run_without_arguments() -> bool {
    let read = hooks::stdin::read_payload(rustix::stdio::stdin(), Deadline::after(INPUT_TIMEOUT));
    if read.as_ref().is_ok_and(Vec::is_empty) {
        return false;
    }
    if let Ok(places) = BaseDirs::find_lenient() {
        let log = HookLog::below(&places.home);
        serve(&[], Some(read), places, &log);
    }
    true
}

/// Answers an event; `read_payload` is the payload, if stdin has been read before.
fn serve(
    args: &[OsString],
    read: Option<Result<Vec<u8>, String>>,
    places: BaseDirs,
    log: &HookLog,
) {
    start_timeout(log);
    let answered = catch_panic(log, || answer_event(args, read, places, log));
    if let Some(answer) = answered.flatten() {
        // Best effort: the client may be gone.
        let _ = ui::data(&[answer.as_bytes(), b"\n"]);
    }
}

/// Ends the process when the time limit has passed.
fn start_timeout(log: &HookLog) {
    let log = log.clone();
    let watch = move || {
        thread::sleep(HOOK_TIMEOUT);
        // Logging may block on the same thing as the hook.
        let write = move || log.log_failure(None, "a hook", "it took too long, and was given up");
        let _ = thread::Builder::new().stack_size(TIMEOUT_STACK_BYTES).spawn(write);
        thread::sleep(LOG_TIMEOUT);
        std::process::exit(YES);
    };
    let _ = thread::Builder::new().stack_size(TIMEOUT_STACK_BYTES).spawn(watch);
}

/// Runs `act`; none if it panics. Only the place of the panic is logged, because its message might
/// repeat what somebody typed.
fn catch_panic<T>(log: &HookLog, act: impl FnOnce() -> T) -> Option<T> {
    let told = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        told.log_failure(None, "a hook panicked", &place);
    }));
    panic::catch_unwind(AssertUnwindSafe(act)).ok()
}

fn answer_event(
    args: &[OsString],
    read: Option<Result<Vec<u8>, String>>,
    places: BaseDirs,
    log: &HookLog,
) -> Option<String> {
    let given = HookInvocation::read(args, log);
    let from_stdin;
    let payload = match &given.payload {
        Some(payload) => payload.as_bytes(),
        None if ui::can_ask() => {
            ui::say("recoup hook is what clients call: it reads an event from stdin");
            return None;
        }
        None => {
            let read = read.unwrap_or_else(|| {
                hooks::stdin::read_payload(rustix::stdio::stdin(), Deadline::after(INPUT_TIMEOUT))
            });
            match read {
                Ok(payload) => from_stdin = payload,
                Err(why) => {
                    log.log_failure(given.client, "a payload was not read", &why);
                    return None;
                }
            }
            &from_stdin
        }
    };
    let home = places.home.clone();
    // Loaded once, on demand. Unreadable settings count as no.
    let settings = OnceCell::new();
    let settings =
        || settings.get_or_init(|| ResolvedSettings::load(&FlagOverrides::default()).ok()).as_ref();
    let around = HookServices {
        home: places.home,
        cwd: places.cwd,
        entry: ClientEntrypoint(env::claude_code_entrypoint()),
        keeps_headless: &|| settings().is_some_and(|settings| settings.keeps_headless),
        asks_model: &|| settings().is_some_and(|settings| settings.judge.enabled),
        team: &|project| trust::team_state(&home, project),
        hidden: env::credentials(),
        log,
    };
    hooks::answer(HookInput { client: given.client, payload }, &around)
}

/// Processes the queued jobs of a project. If the settings can't be read, no model is asked and no
/// mirror is written.
fn run_worker(project: &str, home: &Path, log: &HookLog) {
    detached::leave_session();
    let note = |error: &Error| log.log_failure(None, "the worker", &error.to_string());
    let app =
        AppContext::open(&FlagOverrides::default(), Arc::new(log.clone())).inspect_err(note).ok();
    for left_out in app.into_iter().flat_map(|app| &app.settings.left_out) {
        log.log_failure(None, "the worker", left_out);
    }
    let judge = app.and_then(|app| app.judge_for_asking().ok()?.ok());
    let worked = ProjectId::parse(project).and_then(|project| {
        fsx::ensure_private_dir(home)?;
        let worker = MemoryWorker {
            memory: &memory_in(home, Arc::new(log.clone())),
            judge: judge.as_ref().map(|judge| judge as &dyn MemoryJudge),
            hidden: &env::credentials(),
            mirror: &|root| app.map_or(Ok(None), |app| sync_mirrors(app, root, log)),
            log: &|line| log.log_failure(None, "the worker", line),
        };
        worker.run_until_idle(&JobQueue::of(home, &project))
    });
    if let Err(error) = worked {
        note(&error);
    }
}

/// Syncs the mirrors and returns a one-line summary. Obstacles are logged.
fn sync_mirrors(
    app: &AppContext,
    root: &Path,
    log: &HookLog,
) -> recoup_core::Result<Option<String>> {
    let report = app.sync_mirrors(&find_project(&app.settings.home, root)?, false)?;
    for fault in &report.faults {
        log.log_failure(None, "the worker", &format!("not in step: {}", fault.why));
    }
    for left in &report.left {
        log.log_failure(None, "the worker", &format!("left as it is: {}", left.path.display()));
    }
    Ok(report.notice())
}

/// Parsed arguments. Unknown ones are not errors: another version may have been installed into the
/// client.
#[derive(Debug, Default)]
struct HookInvocation {
    client: Option<HookClient>,
    payload: Option<OsString>,
}

impl HookInvocation {
    fn read(args: &[OsString], log: &HookLog) -> Self {
        let mut given = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.to_string_lossy();
            let client = match text.strip_prefix("--client") {
                Some("") => rest.next().map(|name| name.to_string_lossy()),
                Some(named) => named.strip_prefix('=').map(Into::into),
                None => None,
            };
            match client.as_deref() {
                Some(name) => given.client = HookClient::named(name).or(given.client),
                None if text.trim_start().starts_with('{') => given.payload = Some(arg.clone()),
                None => {
                    log.log_failure(
                        given.client,
                        "a hook",
                        "an argument is not known, and passed over",
                    );
                }
            }
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pi_waits_longer_than_a_hook_takes() {
        let extension = include_str!("../../../assets/pi/recoup.ts");
        let (_, rest) = extension.split_once("const PATIENCE = ").unwrap();
        let millis = rest.split_once(';').unwrap().0.replace('_', "").parse().unwrap();
        assert!(Duration::from_millis(millis) > HOOK_TIMEOUT + LOG_TIMEOUT * 2);
    }

    #[test]
    fn a_panic_is_a_line_that_says_where_and_not_what() {
        let home = tempfile::tempdir().unwrap();
        let log = HookLog::below(home.path());
        let done: Option<()> = catch_panic(&log, || panic!("wombats"));
        let _ = panic::take_hook();
        assert_eq!(done, None);
        let line = std::fs::read_to_string(home.path().join("logs/hooks.log")).unwrap();
        assert!(line.contains("a hook panicked: crates/recoup/src/cli/cmd/hook.rs:"), "{line}");
        assert!(!line.contains("wombat"), "{line}");
        assert_eq!(catch_panic(&log, || 7), Some(7));
        let _ = panic::take_hook();
    }
}
