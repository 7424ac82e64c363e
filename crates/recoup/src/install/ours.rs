//! What in a client's settings is ours: a command whose program is `recoup` and whose first
//! argument is `hook` or `mcp`, whatever the path to it.

use recoup_core::memory::hooked::{calls_us, commands, is_us};
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
        Some(Value::Array(args)) => exec(command, args, HOOK),
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

fn exec(program: &str, args: &[Value], first: &str) -> Option<Call> {
    let args: Vec<String> = args.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let ours = is_us(program) && args.first().is_some_and(|arg| arg == first);
    ours.then(|| Call { program: program.to_owned(), args, line: None, wrapped: false })
}

fn line(line: &str) -> Option<Call> {
    if !calls_us(line) {
        return None;
    }
    let all = commands(line);
    let is_call = |words: &&Vec<String>| {
        let at = words.iter().position(|word| is_us(word));
        at.is_some_and(|at| words.get(at + 1).is_some_and(|word| word == HOOK))
    };
    let words = all.iter().find(is_call)?;
    let at = words.iter().position(|word| is_us(word))?;
    let args = words[at + 1..].to_vec();
    let plain = at == 0 && all.len() == 1 && is_told_nothing_else(&args);
    Some(Call { program: words[at].clone(), args, line: Some(line.to_owned()), wrapped: !plain })
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
