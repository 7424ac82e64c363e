//! Programs that start another one: `sudo`, `timeout`, `npx`, `poetry run`.

use std::path::Path;

use super::program::plain_program_name;
use super::subcommands::skip_own_options;
use crate::memory::lang::word_lists::is_one_of;

/// Shell words that a command may follow.
const KEYWORDS: [&str; 9] = ["!", "{", "if", "then", "else", "elif", "do", "while", "until"];

/// Programs that run the rest of their arguments, with their options that take a value and the
/// number of their own arguments.
const WRAPPERS: &[(&str, &str, usize)] = &[
    ("sudo", "-u -g -h -p -C -D -R -T -r -t --user --group", 0),
    ("doas", "-u -C", 0),
    ("env", "-u -C --unset --chdir", 0),
    ("time", "-f -o", 0),
    ("nice", "-n", 0),
    ("ionice", "-c -n", 0),
    ("timeout", "-k -s --kill-after --signal", 1),
    ("gtimeout", "-k -s", 1),
    ("stdbuf", "-i -o -e", 0),
    ("exec", "-a", 0),
    ("caffeinate", "-t -w", 0),
    ("xvfb-run", "-n -s -e", 0),
    ("xargs", "-I -n -P -L -d -a -s -E", 0),
    ("dotenv", "-e -f", 0),
    ("npx", "-p --package -w --workspace", 0),
    ("bunx", "-p --package", 0),
    ("uvx", "--from --with -p --python", 0),
    ("watch", "-n --interval", 0),
    ("strace", "-e -o -p -s -u", 0),
    ("runuser", "-u -g", 0),
    ("taskset", "", 1),
    ("chrt", "", 1),
    ("chroot", "", 1),
    ("flock", "-w -E --timeout --conflict-exit-code", 1),
];

/// Wrappers without arguments of their own.
const PLAIN_WRAPPERS: &str =
    "nohup unbuffer command builtin setsid cross-env pnpx setpriv unshare prlimit busybox";

/// Other programs that start what their arguments name: a line for the shell, a script or a package.
const STARTERS: &str = "sh bash dash zsh ksh fish node deno bun pipx nix devbox recoup";

/// Sub-commands that run the rest of their arguments, with the columns of `WRAPPERS`.
const RUNNERS: &[(&str, &str, usize)] = &[
    ("npm exec", "-p --package -w --workspace", 0),
    ("npm x", "-p --package -w --workspace", 0),
    ("pnpm dlx", "--package", 0),
    ("yarn dlx", "-p --package", 0),
    (
        "uv run",
        "--with --with-requirements -p --python --extra --group --env-file --directory --project --package --index-url",
        0,
    ),
    ("pdm run", "-p", 0),
    ("conda run", "-n -p --name --prefix", 0),
    ("direnv exec", "", 1),
    ("doppler run", "-p -c", 0),
];

/// Runners without options that take a value.
const PLAIN_RUNNERS: [&str; 11] = [
    "pnpm exec", "yarn exec", "bun x", "poetry run", "pipenv run", "rye run", "bundle exec",
    "mise exec", "mise x", "pyenv exec", "rbenv exec",
];

/// True if a program is known to start another one, which its arguments name.
pub fn is_wrapper(program: &Path) -> bool {
    let Some(name) = program.file_name().and_then(|name| name.to_str()) else { return false };
    let mut runners = RUNNERS.iter().map(|(runner, ..)| *runner).chain(PLAIN_RUNNERS);
    find_wrapper(name).is_some()
        || runners.any(|runner| runner.split(' ').next() == Some(name))
        || is_one_of(name, STARTERS)
}

/// Returns a wrapper's options that take a value, and the number of its own arguments.
fn find_wrapper(name: &str) -> Option<(&'static str, usize)> {
    let known = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name);
    known
        .map(|(_, valued, own)| (*valued, *own))
        .or_else(|| is_one_of(name, PLAIN_WRAPPERS).then_some(("", 0)))
}

/// Removes wrappers from a command. A wrapper around nothing stays.
pub(super) fn strip_wrappers(words: &[String]) -> &[String] {
    let mut words = words;
    loop {
        let Some((first, rest)) = words.split_first() else { return words };
        if KEYWORDS.contains(&first.as_str()) || is_assignment(first) {
            words = rest;
            continue;
        }
        let name = plain_program_name(first);
        let asks = name == "command" && rest.first().is_some_and(|it| it == "-v" || it == "-V");
        let inner = if let Some((valued, own)) = find_wrapper(&name).filter(|_| !asks) {
            skip_options(rest, valued, own)
        } else {
            let rest = skip_own_options(&name, rest);
            let runner = rest.split_first().and_then(|(sub, rest)| {
                let line = format!("{name} {sub}");
                let plain = PLAIN_RUNNERS.contains(&&*line).then_some(&("", "", 0));
                let known = RUNNERS.iter().find(|(runner, ..)| *runner == line);
                let (_, valued, own) = known.or(plain)?;
                Some(skip_options(rest, valued, *own))
            });
            runner.unwrap_or(&[])
        };
        if inner.is_empty() {
            return words;
        }
        words = inner;
    }
}

/// Returns the words behind options (with their values) and `own` arguments.
pub(super) fn skip_options<'a>(words: &'a [String], valued: &str, own: usize) -> &'a [String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            at += 1;
            break;
        }
        if !word.starts_with('-') && !is_assignment(word) {
            break;
        }
        let takes_value = is_one_of(word, valued);
        at += if takes_value { 2 } else { 1 };
    }
    words.get(at + own..).unwrap_or(&[])
}

/// True for `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
