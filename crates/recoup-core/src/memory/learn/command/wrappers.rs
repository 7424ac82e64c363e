//! Prefixes of a command: variables, `sudo`, `timeout 60`, `npx`, `uv run`.

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
    ("nohup", "", 0),
    ("timeout", "-k -s --kill-after --signal", 1),
    ("gtimeout", "-k -s", 1),
    ("stdbuf", "-i -o -e", 0),
    ("unbuffer", "", 0),
    ("command", "", 0),
    ("exec", "-a", 0),
    ("builtin", "", 0),
    ("setsid", "", 0),
    ("caffeinate", "-t -w", 0),
    ("xvfb-run", "-n -s -e", 0),
    ("xargs", "-I -n -P -L -d -a -s -E", 0),
    ("cross-env", "", 0),
    ("dotenv", "-e -f", 0),
    ("npx", "-p --package -w --workspace", 0),
    ("bunx", "-p --package", 0),
    ("pnpx", "", 0),
    ("uvx", "--from --with -p --python", 0),
];

/// Sub-commands that run the rest of their arguments, with the columns of `WRAPPERS`.
const RUNNERS: &[(&str, &str, &str, usize)] = &[
    ("npm", "exec", "-p --package -w --workspace", 0),
    ("npm", "x", "-p --package -w --workspace", 0),
    ("pnpm", "exec", "", 0),
    ("pnpm", "dlx", "--package", 0),
    ("yarn", "exec", "", 0),
    ("yarn", "dlx", "-p --package", 0),
    ("bun", "x", "", 0),
    (
        "uv",
        "run",
        "--with --with-requirements -p --python --extra --group --env-file --directory --project --package --index-url",
        0,
    ),
    ("poetry", "run", "", 0),
    ("pipenv", "run", "", 0),
    ("pdm", "run", "-p", 0),
    ("rye", "run", "", 0),
    ("bundle", "exec", "", 0),
    ("mise", "exec", "", 0),
    ("mise", "x", "", 0),
    ("conda", "run", "-n -p --name --prefix", 0),
    ("direnv", "exec", "", 1),
    ("pyenv", "exec", "", 0),
    ("rbenv", "exec", "", 0),
    ("doppler", "run", "-p -c", 0),
];

/// Removes wrappers from a command. A wrapper around nothing stays.
pub(super) fn strip_wrappers(words: &[String]) -> &[String] {
    let mut words = words;
    loop {
        let rest = strip_once(words);
        if rest.len() == words.len() {
            return words;
        }
        words = rest;
    }
}

fn strip_once(words: &[String]) -> &[String] {
    let Some((first, rest)) = words.split_first() else { return words };
    if KEYWORDS.contains(&first.as_str()) || is_assignment(first) {
        return rest;
    }
    let name = super::program::plain_program_name(first);
    let asks = name == "command" && rest.first().is_some_and(|it| it == "-v" || it == "-V");
    let wrapper = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name).filter(|_| !asks);
    let inner = if let Some((_, valued, own)) = wrapper {
        skip_options(rest, valued, *own)
    } else {
        strip_runner(&name, rest).unwrap_or(&[])
    };
    if inner.is_empty() { words } else { inner }
}

fn strip_runner<'a>(program: &str, rest: &'a [String]) -> Option<&'a [String]> {
    let rest = super::subcommands::skip_own_options(program, rest);
    let (sub, rest) = rest.split_first()?;
    let (_, _, valued, own) = RUNNERS.iter().find(|(of, run, ..)| *of == program && run == sub)?;
    Some(skip_options(rest, valued, *own))
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
        let takes_value = valued.split_ascii_whitespace().any(|option| option == word);
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
