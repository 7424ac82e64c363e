//! Recognition of the clients that a command starts.

use std::ffi::OsString;
use std::path::Path;

use recoup_core::memory::shell::{command_words, is_wrapper};

use super::AgentClient;
use super::table::CLIENTS;

/// Clients that a command may start: `program` is the file that is run, `words` are what was typed,
/// the name first.
///
/// A command is a client by the name of its program, by that of the file behind it, or by the
/// package that this is in. For a program that is known to start others, every word counts, so that
/// `timeout 60 claude …`, `npx @openai/codex …` and `sh -c 'cd src && claude …'` are clients. A
/// script that starts one is not recognized.
pub fn clients_of_command(program: &Path, words: &[OsString]) -> Vec<AgentClient> {
    let Some((name, arguments)) = words.split_first() else { return Vec::new() };
    let mut found: Vec<AgentClient> =
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

/// Client with hooks, by its program or package: `@openai/codex@1.2`,
/// `…/node_modules/@openai/codex/bin/x.js`.
fn client_of_path(path: &Path) -> Option<AgentClient> {
    let text = path.to_string_lossy();
    let name = path.file_name()?.to_str()?;
    let is_in = |package: &str| {
        let mut after = text.match_indices(package).map(|(at, it)| &text[at + it.len()..]);
        after.any(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
    };
    let with_hooks = || CLIENTS.iter().filter(|it| it.hooks.is_some());
    let by_program = with_hooks().find(|it| it.programs.contains(&name));
    let found =
        by_program.or_else(|| with_hooks().find(|it| it.packages.iter().any(|it| is_in(it))));
    found.map(|it| it.client)
}
