//! As much of a shell's syntax as tells the commands of a line.

use super::client::is_wrapper;
use super::{HOOK, PROGRAM};
use std::path::Path;

/// Whether a program is ours.
pub fn is_us(program: &str) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == PROGRAM)
}

/// Whether one of the commands in a line is ours.
pub fn calls_us(line: &str) -> bool {
    commands(line).iter().any(|words| our_words(words).is_some())
}

/// Our program and what it is told, where a command calls it as a hook: at once, or through one
/// that is known to start others, such as `npx -y recoup hook` and `sh -c 'recoup hook'`.
pub fn our_words(words: &[String]) -> Option<Vec<String>> {
    // `NAME=value command` sets a variable for it.
    let is_assignment = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    let start = words.iter().position(|word| !is_assignment(word) && word != "exec")?;
    let words = &words[start..];
    if is_call(words) {
        return Some(words.to_vec());
    }
    if !is_wrapper(Path::new(&words[0])) {
        return None;
    }
    let mut tails = (1..words.len()).map(|at| &words[at..]);
    tails.find_map(|tail| {
        let line = || commands(&tail[0]).iter().find_map(|words| our_words(words));
        if is_call(tail) { Some(tail.to_vec()) } else { is_line(&tail[0]).then(line).flatten() }
    })
}

/// `recoup hook …`, by whatever path, or as a package: `recoup@1.2 hook`.
fn is_call(words: &[String]) -> bool {
    let [program, argument, ..] = words else { return false };
    let name = program.split_once('@').map_or(program.as_str(), |(name, _)| name);
    is_us(name) && argument == HOOK
}

/// Something for a shell, and not one word.
fn is_line(word: &str) -> bool {
    word.contains(char::is_whitespace)
}

/// The commands of a line, as words: quotes are taken off, operators part commands.
pub fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(rest.next()),
            (None, ';' | '|' | '&' | '\n' | '(' | ')') => {
                close(&mut all, &mut word);
                all.push(Vec::new());
            }
            (None, c) if c.is_whitespace() => close(&mut all, &mut word),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    close(&mut all, &mut word);
    all
}

fn close(all: &mut [Vec<String>], word: &mut Option<String>) {
    if let (Some(command), Some(word)) = (all.last_mut(), word.take()) {
        command.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_start_others_are_seen_through() {
        for ours in [
            "recoup hook",
            "A=1 exec /x/recoup hook --client codex",
            "npx -y recoup hook",
            "npx --yes recoup@latest hook",
            "env RECOUP_HOME=/x recoup hook",
            "timeout 10 /x/recoup hook",
            "sh -c 'cd /x && recoup hook'",
            "bash -lc \"exec timeout 5 recoup hook\"",
        ] {
            assert!(calls_us(ours), "{ours}");
        }
        for other in [
            "echo recoup hook",
            "recoup",
            "npx recoup mcp",
            "grep 'recoup hook' x",
            "sh -c 'echo recoup hook'",
            "npx my-recoup hook",
            "exec",
            "A=1",
        ] {
            assert!(!calls_us(other), "{other}");
        }
    }
}
