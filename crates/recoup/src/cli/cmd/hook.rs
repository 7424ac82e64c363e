//! `recoup hook`: the entry point for clients. Dispatched before arguments are parsed, always exits
//! with 0, and prints only the answer that the client reads: any other code or text would block a
//! tool or erase a prompt.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::Args;
use recoup_core::Error;
use recoup_core::base::clock::Deadline;
use recoup_core::base::fsx;
use recoup_core::base::project::ProjectId;
use recoup_core::memory::hooked::Client;
use recoup_core::memory::judge::Judge;

use crate::cli::app::{App, memory_in};
use crate::cli::{Answer, YES, ui};
use crate::config::{Overrides, Places, Settings, env, find_project, trust};
use crate::hooks::worker::queue::Queue;
use crate::hooks::worker::{self, Worker};
use crate::hooks::{self, Entry, Log, Surroundings, Told};
use crate::process::detached;

/// Time limit for reading the payload, which clients write at once.
const FOR_INPUT: Duration = Duration::from_secs(1);
/// Time limit for the whole hook, whatever it waits for: a disk, a lock.
const FOR_ALL: Duration = Duration::from_secs(5);
/// Time limit for logging a timeout.
const FOR_A_LINE: Duration = Duration::from_millis(50);
/// Stack size of the timeout threads.
const STACK: usize = 128 << 10;

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
    pub(in crate::cli) fn run(self) -> Answer {
        let client = self.client.into_iter().flat_map(|it| ["--client".into(), it.into()]);
        let args: Vec<OsString> = client.chain(self.payload).collect();
        Answer::Exit(run(&args))
    }
}

/// True if the arguments ask for help.
pub(in crate::cli) fn is_question(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "-h")
}

/// Serves a client. Always returns 0.
pub(in crate::cli) fn run(args: &[OsString]) -> i32 {
    let Ok(places) = Places::find_lenient() else { return YES };
    let log = Log::below(&places.home);
    if let [flag, project] = args
        && flag == worker::FLAG
    {
        guarded(&log, || work(&project.to_string_lossy(), &places.home, &log));
        return YES;
    }
    serve(args, None, places, &log);
    YES
}

/// Serves a client that passed no arguments; false if stdin is empty.
pub(in crate::cli) fn run_bare() -> bool {
    let read = hooks::stdin::read(rustix::stdio::stdin(), Deadline::after(FOR_INPUT));
    if read.as_ref().is_ok_and(Vec::is_empty) {
        return false;
    }
    if let Ok(places) = Places::find_lenient() {
        let log = Log::below(&places.home);
        serve(&[], Some(read), places, &log);
    }
    true
}

/// Answers an event; `read` is the payload, if stdin has been read before.
fn serve(args: &[OsString], read: Option<Result<Vec<u8>, String>>, places: Places, log: &Log) {
    watch(log);
    let answered = guarded(log, || answer(args, read, places, log));
    if let Some(answer) = answered.flatten() {
        // Best effort: the client may be gone.
        let _ = ui::data(&[answer.as_bytes(), b"\n"]);
    }
}

/// Ends the process when the time limit has passed.
fn watch(log: &Log) {
    let log = log.clone();
    let watch = move || {
        thread::sleep(FOR_ALL);
        // Logging may block on the same thing as the hook.
        let write = move || log.note(None, "a hook", "it took too long, and was given up");
        let _ = thread::Builder::new().stack_size(STACK).spawn(write);
        thread::sleep(FOR_A_LINE);
        std::process::exit(YES);
    };
    let _ = thread::Builder::new().stack_size(STACK).spawn(watch);
}

/// Runs `act`; none if it panics. Only the place of the panic is logged, because its message might
/// repeat what somebody typed.
fn guarded<T>(log: &Log, act: impl FnOnce() -> T) -> Option<T> {
    let told = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        told.note(None, "a hook panicked", &place);
    }));
    panic::catch_unwind(AssertUnwindSafe(act)).ok()
}

fn answer(
    args: &[OsString],
    read: Option<Result<Vec<u8>, String>>,
    places: Places,
    log: &Log,
) -> Option<String> {
    let given = Given::read(args, log);
    let from_stdin;
    let payload = match &given.payload {
        Some(payload) => payload.as_bytes(),
        None if ui::can_ask() => {
            ui::say("recoup hook is what clients call: it reads an event from stdin");
            return None;
        }
        None => {
            let read = read.unwrap_or_else(|| {
                hooks::stdin::read(rustix::stdio::stdin(), Deadline::after(FOR_INPUT))
            });
            match read {
                Ok(payload) => from_stdin = payload,
                Err(why) => {
                    log.note(given.client, "a payload was not read", &why);
                    return None;
                }
            }
            &from_stdin
        }
    };
    let home = places.home.clone();
    // Loaded once, on demand. Unreadable settings count as no.
    let settings = OnceCell::new();
    let settings = || settings.get_or_init(|| Settings::load(&Overrides::default()).ok()).as_ref();
    let around = Surroundings {
        home: places.home,
        cwd: places.cwd,
        entry: Entry(env::claude_code_entrypoint()),
        keeps_headless: &|| settings().is_some_and(|settings| settings.keeps_headless),
        asks_model: &|| settings().is_some_and(|settings| settings.judge.enabled),
        team: &|project| trust::team_state(&home, project),
        hidden: env::credentials(),
        log,
    };
    hooks::answer(Told { client: given.client, payload }, &around)
}

/// Processes the queued jobs of a project. If the settings can't be read, no model is asked and no
/// mirror is written.
fn work(project: &str, home: &Path, log: &Log) {
    detached::leave_session();
    let note = |error: &Error| log.note(None, "the worker", &error.to_string());
    let app = App::load_untold(&Overrides::default()).inspect_err(note).ok();
    for left_out in app.into_iter().flat_map(|app| &app.settings.left_out) {
        log.note(None, "the worker", left_out);
    }
    let judge = app.and_then(|app| app.judge_for_asking().ok()?.ok());
    let worked = ProjectId::parse(project).and_then(|project| {
        fsx::ensure_private_dir(home)?;
        let worker = Worker {
            memory: &memory_in(home),
            judge: judge.as_ref().map(|judge| judge as &dyn Judge),
            hidden: &env::credentials(),
            mirror: &|root| app.map_or(Ok(None), |app| in_step(app, root, log)),
            log: &|line| log.note(None, "the worker", line),
        };
        worker.work(&Queue::of(home, &project))
    });
    if let Err(error) = worked {
        note(&error);
    }
}

/// Syncs the mirrors and returns a one-line summary. Obstacles are logged.
fn in_step(app: &App, root: &Path, log: &Log) -> recoup_core::Result<Option<String>> {
    let report = app.sync_mirrors(&find_project(&app.settings.home, root)?, false)?;
    for fault in &report.faults {
        log.note(None, "the worker", &format!("not in step: {}", fault.why));
    }
    for left in &report.left {
        log.note(None, "the worker", &format!("left as it is: {}", left.path.display()));
    }
    Ok(report.notice())
}

/// Parsed arguments. Unknown ones are not errors: another version may have been installed into the
/// client.
#[derive(Debug, Default)]
struct Given {
    client: Option<Client>,
    payload: Option<OsString>,
}

impl Given {
    fn read(args: &[OsString], log: &Log) -> Self {
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
                Some(name) => given.client = Client::named(name).or(given.client),
                None if text.trim_start().starts_with('{') => given.payload = Some(arg.clone()),
                None => {
                    log.note(given.client, "a hook", "an argument is not known, and passed over");
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
        assert!(Duration::from_millis(millis) > FOR_ALL + FOR_A_LINE * 2);
    }

    #[test]
    fn a_panic_is_a_line_that_says_where_and_not_what() {
        let home = tempfile::tempdir().unwrap();
        let log = Log::below(home.path());
        let done: Option<()> = guarded(&log, || panic!("wombats"));
        let _ = panic::take_hook();
        assert_eq!(done, None);
        let line = std::fs::read_to_string(home.path().join("logs/hooks.log")).unwrap();
        assert!(line.contains("a hook panicked: crates/recoup/src/cli/cmd/hook.rs:"), "{line}");
        assert!(!line.contains("wombat"), "{line}");
        assert_eq!(guarded(&log, || 7), Some(7));
        let _ = panic::take_hook();
    }
}
