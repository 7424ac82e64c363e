//! `recoup hook`: the entry point for clients. Dispatched before arguments are parsed, always exits
//! with 0, and prints only the answer that the client reads: any other code or text would block a
//! tool or erase a prompt.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::thread;
use std::time::Duration;

use clap::Args;
use recoup_core::base::clock::Deadline;
use recoup_core::memory::HookClient;

use crate::cli::{CommandAnswer, YES, ui};
use crate::clients::{AgentClient, has_hooks_in_settings};
use crate::config::{BaseDirs, ask_client_settings};
use crate::hooks::{self, HookInput, HookServices, worker};
use crate::jobs::HookLog;

/// Time limit for reading the payload, which clients write at once.
const INPUT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for the whole hook, whatever it waits for: a disk, a lock.
const HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for logging a timeout.
const LOG_TIMEOUT: Duration = Duration::from_millis(50);
/// Stack size of the timeout threads.
const TIMEOUT_STACK_BYTES: usize = 128 << 10;

/// Process an event of a client.
#[derive(Debug, Args)]
pub(in crate::cli) struct HookArgs {
    /// The client that calls, such as codex; without it, the payload has to tell
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The client's plugin calls: nothing is done if its settings have hooks of recoup
    #[arg(long, hide = true)]
    plugin: bool,
    /// The payload as an argument, as Codex's `notify` passes it; otherwise it is read from stdin
    #[arg(value_name = "JSON")]
    payload: Option<OsString>,
}

impl HookArgs {
    pub(in crate::cli) fn run(self) -> CommandAnswer {
        let client = self.client.into_iter().flat_map(|it| ["--client".into(), it.into()]);
        let plugin = self.plugin.then(|| OsString::from("--plugin"));
        let args: Vec<OsString> = client.chain(plugin).chain(self.payload).collect();
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
        catch_panic(&log, || worker::run(&project.to_string_lossy(), &places.home, &log));
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
    // Ends the process when the time limit has passed.
    let timeout_log = log.clone();
    let watch = move || {
        thread::sleep(HOOK_TIMEOUT);
        // Logging may block on the same thing as the hook.
        let why = "it took too long and was stopped";
        let write = move || timeout_log.log_failure(None, "a hook", why);
        let _ = thread::Builder::new().stack_size(TIMEOUT_STACK_BYTES).spawn(write);
        thread::sleep(LOG_TIMEOUT);
        std::process::exit(YES);
    };
    let _ = thread::Builder::new().stack_size(TIMEOUT_STACK_BYTES).spawn(watch);
    let answered = catch_panic(log, || answer_event(args, read, places, log));
    if let Some(answer) = answered.flatten() {
        // Best effort: the client may be gone.
        let _ = ui::data(&[answer.as_bytes(), b"\n"]);
    }
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
            ui::say("recoup hook is called by clients: it reads an event from stdin");
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
    // The hooks in the settings are told the same.
    if given.from_plugin && given.client.is_some_and(|client| has_other_hooks(client, &places)) {
        return None;
    }
    let input = HookInput { client: given.client, payload };
    hooks::answer(input, &HookServices::new(places, log))
}

/// True if hooks in the client's settings call us, besides its plugin.
fn has_other_hooks(client: HookClient, places: &BaseDirs) -> bool {
    let Ok(client) = AgentClient::parse(client.as_str()) else { return false };
    ask_client_settings(&places.cwd, |settings| has_hooks_in_settings(client, settings))
}

// `doctor` tells the kinds of log lines apart by these words.
const UNKNOWN_CLIENT: &str = "unknown client: `recoup init` has the names of those with hooks";
const UNKNOWN_ARGUMENT: &str = "unknown argument ignored: expected --client NAME or a JSON object";

/// Parsed arguments. Unknown ones are not errors: another version may have been installed into the
/// client.
#[derive(Debug, Default)]
struct HookInvocation {
    client: Option<HookClient>,
    payload: Option<OsString>,
    /// True if the client's plugin calls.
    from_plugin: bool,
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
                Some(name) => match HookClient::named(name) {
                    Some(client) => given.client = Some(client),
                    None => log.log_failure(given.client, "a hook", UNKNOWN_CLIENT),
                },
                None if text == "--plugin" => given.from_plugin = true,
                None if text.trim_start().starts_with('{') => given.payload = Some(arg.clone()),
                None => log.log_failure(given.client, "a hook", UNKNOWN_ARGUMENT),
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
