//! What in a client's settings is ours: a command whose program is `recoup` and whose first
//! argument is `hook` or `mcp`, whatever the path to it.

use recoup_core::memory::hooked::{commands, is_us, our_words};
use serde_json::Value;

/// The argument that makes the program a hook.
const HOOK: &str = "hook";

/// The argument that makes it a server.
const MCP: &str = "mcp";

/// The name of our server in every client.
pub(crate) const SERVER: &str = "recoup";

/// A call of our program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) program: String,
    /// What it is told, `hook` or `mcp` first.
    pub(crate) args: Vec<String>,
    /// The whole line, where a shell reads it.
    pub(crate) line: Option<String>,
    /// Whether that line has more in it than the call: then a person wrote it.
    pub(crate) wrapped: bool,
}

/// How a hook calls us; none where it does not.
pub(crate) fn hook(hook: &Value) -> Option<Call> {
    let is_command = hook.get("type").is_none_or(|kind| kind == "command");
    let command = hook.get("command").and_then(Value::as_str).filter(|_| is_command)?;
    match hook.get("args") {
        Some(Value::Array(args)) => {
            exec(command, args, HOOK).or_else(|| exec_through_another(command, args))
        }
        _ => line(command),
    }
}

/// How an entry for a server calls us; none where it does not.
pub(crate) fn server(entry: &Value) -> Option<Call> {
    let none = Vec::new();
    match entry.get("command")? {
        // opencode has one list for both.
        Value::Array(words) => {
            let (program, args) = words.split_first()?;
            exec(program.as_str()?, args, MCP)
        }
        program => {
            let args = entry.get("args").and_then(Value::as_array).unwrap_or(&none);
            exec(program.as_str()?, args, MCP)
        }
    }
}

/// That another server has our name. Its arguments, its variables and its address may be
/// secret: only its program is named.
pub(crate) fn stays(other: &Value) -> String {
    let program = match other.get("command") {
        Some(Value::Array(words)) => words.first().and_then(Value::as_str),
        command => command.and_then(Value::as_str),
    };
    let program = program.and_then(|line| line.split_whitespace().next());
    let program = program.map_or("it has an address".to_owned(), |it| format!("{it:?}"));
    format!(
        "a server “{SERVER}” is there that is not ours ({program}), which stays; ours is not added"
    )
}

fn exec(program: &str, args: &[Value], first: &str) -> Option<Call> {
    let args: Vec<String> = args.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let ours = is_us(program) && args.first().is_some_and(|arg| arg == first);
    ours.then(|| Call { program: program.to_owned(), args, line: None, wrapped: false })
}

/// The same through a program that starts others: that is somebody's own.
fn exec_through_another(program: &str, args: &[Value]) -> Option<Call> {
    let args = args.iter().filter_map(Value::as_str);
    let words: Vec<String> = std::iter::once(program).chain(args).map(str::to_owned).collect();
    called(our_words(&words)?, None, true)
}

fn line(line: &str) -> Option<Call> {
    let all = commands(line);
    let (words, ours) = all.iter().find_map(|words| Some((words, our_words(words)?)))?;
    let plain = ours == *words && all.len() == 1 && is_told_nothing_else(&ours[1..]);
    called(ours, Some(line.to_owned()), !plain)
}

fn called(words: Vec<String>, line: Option<String>, wrapped: bool) -> Option<Call> {
    let mut words = words.into_iter();
    Some(Call { program: words.next()?, args: words.collect(), line, wrapped })
}

/// `hook` and which client calls; more is somebody's own.
fn is_told_nothing_else(args: &[String]) -> bool {
    match args {
        [_] => true,
        [_, flag] => flag.starts_with("--client="),
        [_, flag, _] => flag == "--client",
        _ => false,
    }
}
