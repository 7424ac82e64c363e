//! Minimal parser of shell lines, which splits them into commands.

use super::PROGRAM;
use super::client::is_wrapper;
use std::path::Path;

/// True if a program is ours.
fn is_us(program: &str) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == PROGRAM)
}

/// A call of our program among the words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallWords {
    /// Our program and its arguments.
    pub(super) words: Vec<String>,
    /// Program that starts it, if that is another one.
    pub(super) starter: Option<String>,
}

/// Finds a call of ours with the argument `told`: direct, or through a program that is known to
/// start others, such as `npx -y recoup hook` and `sh -c 'recoup hook'`.
pub(super) fn find_call(words: &[String], told: &str) -> Option<CallWords> {
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
        is_line(line)
            .then(|| split_commands(line).iter().find_map(|words| find_call(words, told)))?
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
    is_us(name.rsplit_once('#').map_or(name, |(_, name)| name)) && argument == told
}

/// True for a line for a shell, and not for one word.
fn is_line(word: &str) -> bool {
    word.contains(char::is_whitespace)
}

/// Splits a line into commands of words: quotes are removed, operators separate commands.
pub fn split_commands(line: &str) -> Vec<Vec<String>> {
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
            (None, ';' | '|' | '&' | '\n' | '(' | ')' | '`') => {
                close(&mut all, &mut word);
                all.push(Vec::new());
            }
            // A redirection is no part of the word before.
            (None, '<' | '>') => {
                close(&mut all, &mut word);
                word = Some(c.to_string());
                close(&mut all, &mut word);
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
    use super::super::HOOK;
    use super::*;

    fn found(line: &str) -> Option<CallWords> {
        split_commands(line).iter().find_map(|words| find_call(words, HOOK))
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
            "echo recoup hook",
            "recoup",
            "npx recoup mcp",
            "grep 'recoup hook' x",
            "sh -c 'echo recoup hook'",
            "npx my-recoup hook",
            "exec",
            "A=1",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
