//! Recognition of the clients that a command starts.

use std::ffi::OsString;
use std::path::Path;

use recoup_core::memory::HookClient;
use recoup_core::memory::shell::{command_words, is_wrapper};

/// Packages that clients are fetched or run from.
const PACKAGES: [(&str, HookClient); 4] = [
    ("@anthropic-ai/claude-code", HookClient::ClaudeCode),
    ("@openai/codex", HookClient::Codex),
    ("@mariozechner/pi-coding-agent", HookClient::Pi),
    ("@earendil-works/pi-coding-agent", HookClient::Pi),
];

/// Clients that a command may start: `program` is the file that is run, `words` are what was typed,
/// the name first.
///
/// A command is a client by the name of its program, by that of the file behind it, or by the
/// package that this is in. For a program that is known to start others, every word counts, so that
/// `timeout 60 claude …`, `npx @openai/codex …` and `sh -c 'cd src && claude …'` are clients. A
/// script that starts one is not recognized.
pub fn clients_of_command(program: &Path, words: &[OsString]) -> Vec<HookClient> {
    let Some((name, arguments)) = words.split_first() else { return Vec::new() };
    let mut found: Vec<HookClient> =
        [Path::new(name), program].into_iter().filter_map(client_of_path).collect();
    if is_wrapper(Path::new(name)) {
        for argument in arguments {
            let words = command_words(&argument.to_string_lossy()).into_iter().flatten();
            found.extend(words.filter_map(|word| client_of_path(Path::new(&word))));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Client by name, or by package: `@openai/codex@1.2`, `…/node_modules/@openai/codex/bin/x.js`.
fn client_of_path(path: &Path) -> Option<HookClient> {
    let text = path.to_string_lossy();
    let is_in = |package: &str| {
        let mut after = text.match_indices(package).map(|(at, it)| &text[at + it.len()..]);
        after.any(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
    };
    let of_package = || PACKAGES.iter().find(|(package, _)| is_in(package));
    HookClient::of_program(path).or_else(|| of_package().map(|(_, client)| *client))
}
