//! Recognition of the clients that a command starts.

use std::ffi::OsString;
use std::path::Path;

use crate::memory::hooked::call::split_commands;
use crate::memory::lang::word_lists::is_one_of;
use crate::memory::model::client::HookClient;

/// Packages that clients are fetched or run from.
const PACKAGES: [(&str, HookClient); 4] = [
    ("@anthropic-ai/claude-code", HookClient::ClaudeCode),
    ("@openai/codex", HookClient::Codex),
    ("@mariozechner/pi-coding-agent", HookClient::Pi),
    ("@earendil-works/pi-coding-agent", HookClient::Pi),
];

/// Programs that start another one, which their arguments name: in another environment, from a
/// package, or as a line for the shell.
const WRAPPERS: &str = "flock setpriv taskset chrt prlimit runuser doas chroot unshare strace busybox caffeinate \
gtimeout watch env nice ionice nohup setsid stdbuf sudo time timeout unbuffer xargs command \
recoup mise direnv devbox nix uv uvx pipx npx npm pnpm pnpx yarn bun bunx node deno sh bash \
dash zsh ksh fish";

impl HookClient {
    /// Client with this name, or with a program of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name).ok().or_else(|| Self::of_program(Path::new(name)))
    }

    /// Client that a program is, by the name of its file.
    pub fn of_program(program: &Path) -> Option<Self> {
        match program.file_name()?.to_str()? {
            "claude" => Some(Self::ClaudeCode),
            "codex" => Some(Self::Codex),
            "pi" => Some(Self::Pi),
            _ => None,
        }
    }

    /// Clients that a command may start: `program` is the file that is run, `words` are what was
    /// typed, the name first.
    ///
    /// A command is a client by the name of its program, by that of the file behind it, or by the
    /// package that this is in. For a program that is known to start others, every word counts, so
    /// that `timeout 60 claude …`, `npx @openai/codex …` and `sh -c 'cd src && claude …'` are
    /// clients. A script that starts one is not recognized.
    pub fn of_command(program: &Path, words: &[OsString]) -> Vec<Self> {
        let Some((name, arguments)) = words.split_first() else { return Vec::new() };
        let mut found: Vec<Self> =
            [Path::new(name), program].into_iter().filter_map(Self::of_path).collect();
        if is_wrapper(Path::new(name)) {
            for argument in arguments {
                let argument = argument.to_string_lossy();
                let within = split_commands(&argument).into_iter().flatten();
                found.extend(within.filter_map(|word| Self::of_path(Path::new(&word))));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Client by name, or by package: `@openai/codex@1.2`, `…/node_modules/@openai/codex/bin/x.js`.
    fn of_path(path: &Path) -> Option<Self> {
        let text = path.to_string_lossy();
        let is_in = |package: &str| {
            let mut after = text.match_indices(package).map(|(at, it)| &text[at + it.len()..]);
            after.any(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
        };
        let of_package = || PACKAGES.iter().find(|(package, _)| is_in(package));
        Self::of_program(path).or_else(|| of_package().map(|(_, client)| *client))
    }
}

/// True if a program is known to start another one, which its arguments name.
pub fn is_wrapper(program: &Path) -> bool {
    let name = program.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| is_one_of(name, WRAPPERS))
}
