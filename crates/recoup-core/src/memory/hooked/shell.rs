//! As much of a shell's syntax as tells the commands of a line.

use super::{HOOK, PROGRAM};
use std::path::Path;

/// Whether a program is ours.
pub fn is_us(program: &str) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == PROGRAM)
}

/// Whether one of the commands in a line is ours.
pub fn calls_us(line: &str) -> bool {
    commands(line).iter().any(|words| {
        // `NAME=value command` sets a variable for it.
        let is_assignment = |word: &&String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            })
        };
        let mut words = words.iter().skip_while(is_assignment).skip_while(|word| *word == "exec");
        words.next().is_some_and(|program| is_us(program))
            && words.next().is_some_and(|argument| argument == HOOK)
    })
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
