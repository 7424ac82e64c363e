//! Commands of the agent that are answered from the cache: before a call, it is replaced by the
//! replay of an earlier run, if nothing has changed since; after a call, its output is kept.
//!
//! What runs without a question stays what it was: a call is replaced only where its replay runs
//! without one. Whatever fails here lets the call pass.

use std::path::Path;

use recoup_core::Result;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{SourceLimits, project_files_state};
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::ToolCall;
use recoup_core::memory::shell::{CommandKind, command_words};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::HookContext;
use crate::clients::{CommandPermissions, clients_of_command};
use crate::config::{env, find_client_dirs, mentions_commands};
use crate::exec::agent_command::{AgentCommand, PROGRAM, ReportedOutput};
use crate::exec::command_log::{CommandLog, CommandLogLine, MIN_MILLIS, output_digest, pattern_of};
use crate::hooks::reply::{HookReply, ReplacedCall};
use crate::hooks::running::RunningCommands;
use crate::human;
use crate::process;

/// Limits of the project's files whose state is noted.
const NOTED_SOURCES: SourceLimits = SourceLimits { files: 200_000, bytes: 32 << 20 };

/// Input of a shell tool, as far as it decides whether a call is answered.
#[derive(Deserialize)]
struct ShellInput {
    command: String,
    #[serde(default)]
    run_in_background: bool,
    /// True if Claude Code runs it outside of its sandbox: mostly again, because it failed inside.
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    leaves_sandbox: bool,
}

/// Line of a call that may be answered; none for calls of other tools, of jobs in the background or
/// outside of the sandbox, and for lines with secrets.
fn answerable_line(context: &HookContext<'_>, call: &ToolCall) -> Option<String> {
    let known = call.command()?;
    let input = context.event.tool_input.as_deref()?;
    let input: ShellInput = serde_json::from_str(input).ok()?;
    let is_usual = !input.run_in_background && !input.leaves_sandbox;
    let is_whole = is_usual && *input.command == **known;
    is_whole.then_some(input.command)
}

impl HookContext<'_> {
    /// The command that a rule of the user names, if the call is one.
    fn agent_command(&self, call: &ToolCall, cwd: &Path) -> Option<AgentCommand<'static>> {
        let line = answerable_line(self, call)?;
        if !mentions_commands(&self.services.places, self.project.root()) {
            return None;
        }
        let app = self.services.app().filter(|it| it.settings.project.id() == self.project.id())?;
        AgentCommand::find(app, &line, cwd)
    }

    fn running_commands(&self) -> RunningCommands {
        RunningCommands::of_session(&self.services.places.home, &self.event.session)
    }
}

/// A call is about to start: replaces it by a replay, or records the state that it begins in.
pub(super) fn replace_call(context: &HookContext<'_>, call: &ToolCall, reply: &mut HookReply) {
    if !context.event.answer().changes_calls {
        return;
    }
    let Some(command) = context.agent_command(call, &context.cwd) else { return };
    match find_replay(context, &command, call) {
        Ok(None) => {}
        Ok(Some((replacement, notice))) => {
            reply.add_notice(&notice);
            reply.replacement = Some(replacement);
        }
        Err(error) => context.log_error("a command was not looked up", &error),
    }
}

/// Finds what takes the place of a call, and what the person is told.
fn find_replay(
    context: &HookContext<'_>,
    command: &AgentCommand<'_>,
    call: &ToolCall,
) -> Result<Option<(ReplacedCall, String)>> {
    let Some(entry) = command.entry()? else { return Ok(None) };
    let Some(age) = entry.look_up()? else {
        let since = entry.since_token()?;
        context.running_commands().begin(&call.id, &since, &context.cwd)?;
        return Ok(None);
    };
    let replay = entry.replay_command()?;
    let Some(allows) = replay_approval(context, command, &replay)? else { return Ok(None) };
    let age = human::long_duration(age);
    let line = command.replay_line(&replay, &age);
    // The client shows the command itself, as the agent gave it.
    let notice = format!("{} from the cache, {age} old: nothing has changed", command.line());
    let input = context.event.tool_input.as_deref().unwrap_or_default();
    let mut input: Map<String, Value> = serde_json::from_str(input).unwrap_or_default();
    input.insert("command".to_owned(), line.into());
    Ok(Some((ReplacedCall { input: input.into(), allows }, notice)))
}

/// Claude Code's modes in which nobody but its rules decides about a call. In others a model judges
/// the call before hooks change it, and then refuses what it has not seen.
const KNOWN_MODES: [&str; 4] = ["default", "acceptEdits", "dontAsk", "bypassPermissions"];

/// Decides whether a replay runs without a question: `Some(true)` if it has to be allowed for that,
/// as the user has said it may. `None` if the person would be asked, or if the command itself is
/// restricted, for the client compares its rules with the replay alone: the call then stays as it is.
fn replay_approval(
    context: &HookContext<'_>,
    command: &AgentCommand<'_>,
    replay: &str,
) -> Result<Option<bool>> {
    let event = context.event;
    if event.client != HookClient::ClaudeCode {
        return Ok(Some(false));
    }
    let mode = event.permission_mode.as_deref().filter(|it| KNOWN_MODES.contains(it));
    let Some(mode) = mode.filter(|_| !has_restricting_options()) else { return Ok(None) };
    let (dirs, root) = (find_client_dirs(&context.services.places.cwd), context.project.root());
    let started = env::claude_code_project();
    let permissions = CommandPermissions::read(&dirs, started.as_deref().unwrap_or(root), root);
    let (replay, original) = ([replay.to_owned()], command.commands());
    let is_restricted = |commands: &[String]| permissions.restrict(commands);
    if is_restricted(&original)
        || is_restricted(&replay)
        || permissions.restrict_files() && command.names_files()?
    {
        return Ok(None);
    }
    if mode == "bypassPermissions" || permissions.allow(&replay) {
        return Ok(Some(false));
    }
    Ok((command.allows_replays() && permissions.allow(&original)).then_some(true))
}

/// Options with which Claude Code reads other settings, or has other rules.
const RESTRICTING_OPTIONS: [&str; 3] = ["--disallowed", "--setting-sources", "--settings"];

/// True if the client was started with rules of its own that may refuse the command, or if nobody
/// knows.
fn has_restricting_options() -> bool {
    let is_restricting =
        |it: &String| RESTRICTING_OPTIONS.iter().any(|option| it.starts_with(option));
    process::ancestor_arguments().is_none_or(|all| all.iter().any(is_restricting))
}

/// A call has ended: keeps its output, if it ran in one state of its sources, and logs what it took.
pub(super) fn keep_output(context: &HookContext<'_>, call: &ToolCall) {
    // After `cd`, the client's directory is another one by now.
    let began = context.running_commands().end(&call.id);
    let Some(output) = &context.event.output else { return };
    if let Some((since, cwd)) = began
        && let Some(command) = context.agent_command(call, &cwd)
    {
        let kept =
            command.entry().and_then(|entry| entry.map(|it| it.keep(output, &since)).transpose());
        if let Err(error) = kept {
            context.log_error("the output of a command was not kept", &error);
        }
    }
    let is_noted = output.millis.is_some_and(|millis| millis >= MIN_MILLIS)
        && context.memory.pause_reason(context.scope()).is_ok_and(|paused| paused.is_none());
    if is_noted && let Err(error) = log_command(context, call, output) {
        context.log_error("a command was not logged", &error);
    }
}

fn log_command(context: &HookContext<'_>, call: &ToolCall, output: &ReportedOutput) -> Result<()> {
    let Some(line) = call.command() else { return Ok(()) };
    let Some(kind) = CommandKind::of(line) else { return Ok(()) };
    let program = kind.to_string().split(' ').next().unwrap_or_default().to_owned();
    let (root, home) = (context.project.root(), &context.services.places.home);
    let of_line = format!("{}\n{}", context.cwd.display(), &**line);
    CommandLog::below(home).append(&CommandLogLine {
        at: SystemClock.now(),
        project: context.project.id().to_string(),
        kind: kind.to_string(),
        pattern: pattern_of(line),
        is_agent: !clients_of_command(Path::new(&program), &[]).is_empty(),
        line: Sha256Digest::of(of_line.as_bytes()),
        millis: output.millis.unwrap_or_default(),
        exit: output.exit,
        output: output_digest(&format!("{}\n{}", output.stdout, output.stderr)),
        files: project_files_state(root, NOTED_SOURCES),
    })
}

/// True if a call is a replay: it says nothing about its command that is not known.
pub(super) fn is_replay(call: &ToolCall) -> bool {
    let commands = call.command().map(|line| command_words(line)).unwrap_or_default();
    let last = commands.last().map_or(&[][..], Vec::as_slice);
    matches!(last, [program, replay, _] if replay == "replay" && is_own_program(program))
}

fn is_own_program(word: &str) -> bool {
    Path::new(word).file_name().is_some_and(|name| name == PROGRAM)
}

/// A session has ended.
pub(super) fn forget_running(context: &HookContext<'_>) {
    if let Err(error) = context.running_commands().forget() {
        context.log_error("commands that did not end were not forgotten", &error);
    }
}
