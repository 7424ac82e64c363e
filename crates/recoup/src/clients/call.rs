//! Recognition of our calls in a client's settings: a command whose program is `recoup` and whose
//! first argument is `hook` or `mcp`, whatever the path to it, and whatever starts it. Only this
//! module decides it, for installing, removing and inspecting hooks.
//!
//! ```text
//! {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …, "args": […]}]}]}
//! ```

use std::path::Path;

use serde_json::Value;

use recoup_core::memory::shell::{ShellCommand, command_words, is_wrapper, split_commands};

/// Name of our program, whatever the path to it.
pub(super) const PROGRAM: &str = "recoup";

/// Argument that makes it a hook.
pub(super) const HOOK: &str = "hook";

/// Argument that makes it a server.
const SERVER: &str = "mcp";

/// Argument behind that one that makes it a proxy in front of another server.
const PROXY: &str = "proxy";

/// A call of our program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoupCall {
    /// Our program, as named there.
    pub program: String,
    /// Arguments, `hook` or `mcp` first.
    pub args: Vec<String>,
    /// The whole line if a shell reads it, otherwise the words.
    pub how: CallForm,
    /// The program that starts ours, such as `npx` or `sh`.
    pub starter: Option<String>,
    /// True if there is more to it than we would write: then it is the user's own, and is never
    /// changed.
    pub wrapped: bool,
}

/// Form in which a client starts a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallForm {
    /// A shell reads this line.
    Line(String),
    /// These words, the program first.
    Words(Vec<String>),
}

/// A hook of ours, and its position.
#[derive(Debug, Clone)]
pub struct PlacedHook<'a> {
    /// Index of its group at the event.
    pub group: usize,
    /// Index of the hook in its group.
    pub at: usize,
    /// Tools or sources that the group is limited to; none for all.
    pub limit: Option<&'a str>,
    /// The hook itself.
    pub hook: &'a Value,
    /// The call in it.
    pub call: RecoupCall,
}

impl RecoupCall {
    /// Makes a call without a shell and without anything around it.
    pub fn plain(program: String, args: Vec<String>) -> Self {
        let words = std::iter::once(&program).chain(&args).cloned().collect();
        Self { how: CallForm::Words(words), program, args, starter: None, wrapped: false }
    }

    /// True for `recoup mcp proxy …`, which stands in front of another server.
    fn is_proxy(&self) -> bool {
        self.args.get(1).is_some_and(|word| word == PROXY)
    }

    /// Program that the client starts.
    pub fn started(&self) -> &str {
        self.starter.as_deref().unwrap_or(&self.program)
    }
}

/// Returns the call of ours in a hook, if it is one.
pub fn call_in_hook(hook: &Value) -> Option<RecoupCall> {
    let is_command = hook.get("type").is_none_or(|kind| kind == "command");
    let command = hook.get("command").and_then(Value::as_str).filter(|_| is_command)?;
    // The exec form: without a shell.
    if let Some(Value::Array(args)) = hook.get("args") {
        let words = std::iter::once(command).chain(args.iter().filter_map(Value::as_str));
        return in_words(words, HOOK).map(mark_unknown_args);
    }
    let all = split_commands(command);
    let find = |it: &ShellCommand| Some((it.words.clone(), find_call(&it.words, HOOK)?));
    let (words, ours) = all.iter().find_map(find)?;
    let is_redirected = |it: &ShellCommand| !(it.inputs.is_empty() && it.outputs.is_empty());
    let wrapped = ours.words != words || all.len() > 1 || all.iter().any(is_redirected);
    make_call(ours, CallForm::Line(command.to_owned()), wrapped).map(mark_unknown_args)
}

/// Returns the call of ours in Codex's `notify`. It reports the end of a turn and takes no answer,
/// so it does not count as having our hooks.
pub fn call_in_notify(settings: &Value) -> Option<RecoupCall> {
    let words = settings.get("notify")?.as_array()?.iter().filter_map(Value::as_str);
    in_words(words, HOOK).map(mark_unknown_args)
}

/// Returns the call of our own server in an entry for a server, if it is one.
pub fn call_in_server(entry: &Value) -> Option<RecoupCall> {
    any_call_in_server(entry).filter(|call| !call.is_proxy())
}

/// Returns the call of our proxy in an entry for a server: that one is somebody else's.
pub fn proxy_in_server(entry: &Value) -> Option<RecoupCall> {
    any_call_in_server(entry).filter(RecoupCall::is_proxy)
}

fn any_call_in_server(entry: &Value) -> Option<RecoupCall> {
    let command = match entry.get("command")? {
        // opencode has one list for both.
        Value::Array(words) => words.as_slice(),
        program => std::slice::from_ref(program),
    };
    let args = entry.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    in_words(command.iter().chain(args).filter_map(Value::as_str), SERVER)
}

/// Our hooks at one event, in all its groups.
pub fn hooks_at_event(groups: &Value) -> impl Iterator<Item = PlacedHook<'_>> {
    let groups = groups.as_array().into_iter().flatten().enumerate();
    groups.flat_map(|(group, it)| {
        let hooks = it.get("hooks").and_then(Value::as_array).into_iter().flatten().enumerate();
        let limit = group_limit(it);
        hooks.filter_map(move |(at, value)| {
            Some(PlacedHook { group, at, limit, hook: value, call: call_in_hook(value)? })
        })
    })
}

/// Our hooks at all events, with the names of the events.
pub fn hooks_at_events(hooks: &Value) -> impl Iterator<Item = (&str, PlacedHook<'_>)> {
    let events = hooks.as_object().into_iter().flatten();
    events.flat_map(|(event, groups)| hooks_at_event(groups).map(move |it| (event.as_str(), it)))
}

/// Tools or sources that a group of hooks is limited to; none for all.
pub fn group_limit(group: &Value) -> Option<&str> {
    let matcher = group.get("matcher").and_then(Value::as_str);
    matcher.filter(|matcher| !matches!(*matcher, "" | "*" | ".*"))
}

fn in_words<'a>(words: impl Iterator<Item = &'a str>, told: &str) -> Option<RecoupCall> {
    let words: Vec<String> = words.map(str::to_owned).collect();
    let ours = find_call(&words, told)?;
    let wrapped = ours.words != words;
    make_call(ours, CallForm::Words(words), wrapped)
}

fn make_call(ours: CallWords, how: CallForm, wrapped: bool) -> Option<RecoupCall> {
    let mut words = ours.words.into_iter();
    let program = words.next()?;
    Some(RecoupCall { program, args: words.collect(), how, starter: ours.starter, wrapped })
}

/// Marks a hook as wrapped if it has more arguments than `hook` and the client.
fn mark_unknown_args(call: RecoupCall) -> RecoupCall {
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let is_name = |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let known = match args[..] {
        [_] => true,
        [_, "--client", name] => is_name(name),
        [_, flag] => flag.strip_prefix("--client=").is_some_and(is_name),
        _ => false,
    };
    RecoupCall { wrapped: call.wrapped || !known, ..call }
}

/// A call of our program among the words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CallWords {
    /// Our program and its arguments.
    words: Vec<String>,
    /// Program that starts it, if that is another one.
    starter: Option<String>,
}

/// Finds a call of ours with the argument `told`: direct, or through a program that is known to
/// start others, such as `npx -y recoup hook` and `sh -c 'recoup hook'`.
fn find_call(words: &[String], told: &str) -> Option<CallWords> {
    // `NAME=value command` sets a variable for it.
    let is_assignment = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    let start = words.iter().position(|word| !is_assignment(word) && word != "exec")?;
    let words = &words[start..];
    if is_call(words, told) {
        return Some(CallWords { words: words.to_vec(), starter: None });
    }
    if !is_wrapper(Path::new(&words[0])) {
        return None;
    }
    let within = |line: &String| {
        // One word is no line for a shell.
        line.contains(char::is_whitespace)
            .then(|| command_words(line).iter().find_map(|words| find_call(words, told)))?
    };
    let mut tails = (1..words.len()).map(|at| &words[at..]);
    let found = tails.find_map(|tail| {
        // `nix run PACKAGE -- hook`
        let parted = tail.get(1).is_some_and(|word| word == "--");
        let joined = parted.then(|| [&tail[..1], &tail[2..]].concat());
        let tail = joined.as_deref().unwrap_or(tail);
        if is_call(tail, told) { Some(tail.to_vec()) } else { Some(within(&tail[0])?.words) }
    })?;
    Some(CallWords { words: found, starter: Some(words[0].clone()) })
}

/// True for `recoup hook …`, by whatever path, or as a package: `recoup@1.2 hook`,
/// `github:owner/recoup -- hook`, `nixpkgs#recoup -- hook`.
fn is_call(words: &[String], told: &str) -> bool {
    let [program, argument, ..] = words else { return false };
    let name = program.split_once('@').map_or(program.as_str(), |(name, _)| name);
    let name = name.rsplit_once('#').map_or(name, |(_, name)| name);
    Path::new(name).file_name().is_some_and(|name| name == PROGRAM) && argument == told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<CallWords> {
        command_words(line).iter().find_map(|words| find_call(words, HOOK))
    }

    #[test]
    fn a_proxy_before_another_server_is_no_server_of_ours() {
        let entry = |words: &[&str]| serde_json::json!({ "command": words[0], "args": words[1..] });
        for ours in [&["recoup", "mcp"][..], &["npx", "-y", "recoup", "mcp", "--with-hooks"]] {
            assert!(call_in_server(&entry(ours)).is_some(), "{ours:?}");
            assert!(proxy_in_server(&entry(ours)).is_none(), "{ours:?}");
        }
        for proxy in [
            &["/x/recoup", "mcp", "proxy", "--name", "x", "--", "recoup", "mcp"][..],
            &["sh", "-c", "exec recoup mcp proxy -- x"],
        ] {
            assert!(call_in_server(&entry(proxy)).is_none(), "{proxy:?}");
            assert!(proxy_in_server(&entry(proxy)).is_some(), "{proxy:?}");
        }
        assert!(proxy_in_server(&entry(&["x", "mcp", "proxy"])).is_none());
    }

    #[test]
    fn programs_that_start_others_are_seen_through() {
        for (line, starter) in [
            ("recoup hook", None),
            ("A=1 exec /x/recoup hook --client codex", None),
            ("npx -y recoup hook", Some("npx")),
            ("npx --yes recoup@latest hook", Some("npx")),
            ("env RECOUP_HOME=/x recoup hook", Some("env")),
            ("A=1 /usr/bin/timeout 10 /x/recoup hook", Some("/usr/bin/timeout")),
            ("sh -c 'cd /x && recoup hook'", Some("sh")),
            ("cd /x && bash -lc \"exec timeout 5 recoup hook\"", Some("bash")),
            ("command recoup hook", Some("command")),
            ("direnv exec . recoup hook", Some("direnv")),
            ("nix run github:me/recoup -- hook", Some("nix")),
            ("nix run nixpkgs#recoup -- hook --client codex", Some("nix")),
            ("recoup hook>/dev/null 2>&1", None),
        ] {
            let found = found(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found.starter.as_deref(), starter, "{line}");
            assert_eq!(found.words[1], HOOK, "{line}");
        }
        for other in [
            "echo recoup hook", "recoup", "npx recoup mcp", "grep 'recoup hook' x",
            "sh -c 'echo recoup hook'", "npx my-recoup hook", "exec", "A=1",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
