//! Conversion of a command's words to its kind: a program, or an interpreter and the script, module or
//! code that it runs.

use crate::memory::lang::word_lists::is_one_of;
use crate::memory::shell::wrappers::{skip_options, strip_wrappers};
use crate::memory::shell::{CommandKind, subcommands};

/// Scripts that have sub-commands of their own.
const MANAGERS: [&str; 3] = ["manage.py", "artisan", "console"];

pub(super) fn kind_of_words(words: &[String]) -> CommandKind {
    let Some((first, rest)) = words.split_first() else { return CommandKind::new("", None) };
    let program = plain_program_name(first);
    match interpreter_input(&program, rest) {
        Some(InterpreterInput::Module(words)) if !words.is_empty() => {
            kind_of_words(strip_wrappers(words))
        }
        Some(InterpreterInput::Code(option)) => CommandKind::new(&program, Some(option.to_owned())),
        // By its path; a shell named in front of it makes no difference.
        Some(InterpreterInput::Script(words)) => {
            let path = plain_program_name(&words[0]);
            if SHELLS.contains(&program.as_str()) {
                return CommandKind::new(&path, None);
            }
            let name = path.rsplit('/').next().unwrap_or(&path);
            let sub = words.get(1).filter(|it| MANAGERS.contains(&name) && !it.starts_with('-'));
            let shown = sub.map_or(path.clone(), |sub| format!("{path} {sub}"));
            CommandKind::new(&program, Some(shown))
        }
        Some(_) => CommandKind::new(&program, None),
        None if program == "docker-compose" => {
            let words = [&["compose".to_owned()], rest].concat();
            CommandKind::new("docker", subcommands::find_subcommand("docker", &words))
        }
        None => {
            let sub = subcommands::find_subcommand(&program, rest);
            CommandKind::new(&program, sub)
        }
    }
}

/// Returns the plain name of a program: without install folder, version and ending. A script of the
/// project keeps its path.
pub(super) fn plain_program_name(word: &str) -> String {
    let word = word.strip_prefix("./").unwrap_or(word);
    let name = word.rsplit('/').next().unwrap_or(word);
    let folder = word[..word.len() - name.len()].trim_end_matches('/');
    let installed = folder.rsplit('/').next().is_some_and(|it| {
        matches!(it, "bin" | ".bin" | "sbin" | "Scripts" | "debug" | "release" | "shims")
    });
    let wrapper = matches!(name, "gradlew" | "mvnw" | "gradlew.bat" | "mvnw.cmd");
    let name = if folder.is_empty() || installed || wrapper { name } else { word };
    let name = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name);
    let plain = match name {
        "py" => "python",
        "nodejs" => "node",
        "gmake" => "make",
        "gradlew" | "gradlew.bat" => "gradle",
        "mvnw" | "mvnd" => "mvn",
        "py.test" => "pytest",
        "podman" => "docker",
        // `python3.12` is `python`.
        name => {
            let is_version = |it: &str| {
                !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            };
            let mut plain = ["python", "pip", "ruby", "php", "node"].into_iter();
            plain.find(|it| name.strip_prefix(it).is_some_and(is_version)).unwrap_or(name)
        }
    };
    plain.to_owned()
}

/// Interpreters, with their options that take a value.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "-W -X"),
    ("node", "-r --require --import --loader --env-file --conditions -C"),
    ("ruby", "-r -I"),
    ("perl", "-I -M"),
    ("php", "-d -c"),
    ("ts-node", "-P --project -r"),
    ("tsx", "--tsconfig"),
    ("bash", "-o -O --rcfile"),
    ("java", "-cp -classpath --class-path -p --module-path"),
];

/// Interpreters with no such options, but for a shell's `-o`.
const PLAIN_INTERPRETERS: &str = "sh zsh dash fish julia lua Rscript";

const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "fish"];

/// Returns the line that `bash -c '…'` or `eval …` runs.
pub(super) fn inline_script(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let name = plain_program_name(first);
    if name == "eval" {
        return Some(rest.join(" "));
    }
    if !SHELLS.contains(&name.as_str()) {
        return None;
    }
    let says =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let at = rest.iter().take_while(|word| word.starts_with('-')).position(says)?;
    rest.get(at + 1).cloned()
}

/// Input that an interpreter is given to run.
#[derive(Debug, PartialEq, Eq)]
enum InterpreterInput<'a> {
    /// A module, as if it were a program: `python -m pytest`.
    Module(&'a [String]),
    /// Code on the command line, and the option that says so.
    Code(&'a str),
    /// A script and its arguments.
    Script(&'a [String]),
    /// Nothing: it is interactive, or reads standard input.
    Nothing,
}

/// Returns the input of `program`, or `None` if it is not an interpreter.
fn interpreter_input<'a>(program: &str, rest: &'a [String]) -> Option<InterpreterInput<'a>> {
    let valued = match INTERPRETERS.iter().find(|(name, _)| *name == program) {
        Some((_, valued)) => valued,
        None if is_one_of(program, PLAIN_INTERPRETERS) => "-o",
        None => return None,
    };
    if let Some(at) =
        rest.iter().position(|word| !word.starts_with('-') || is_mode_option(program, word))
    {
        let word = rest[at].as_str();
        match word {
            "-m" if program == "python" => return Some(InterpreterInput::Module(&rest[at + 1..])),
            "-jar" => return Some(InterpreterInput::Script(&rest[at + 1..])),
            word if is_mode_option(program, word) => return Some(InterpreterInput::Code(word)),
            _ => {}
        }
    }
    let script = skip_options(rest, valued, 0);
    Some(match script {
        [] => InterpreterInput::Nothing,
        script => InterpreterInput::Script(script),
    })
}

fn is_mode_option(program: &str, word: &str) -> bool {
    match program {
        "python" => matches!(word, "-m" | "-c"),
        "java" => word == "-jar",
        "php" => word == "-r",
        "node" | "ruby" | "perl" | "lua" | "julia" => {
            matches!(word, "-e" | "--eval" | "-p" | "-ne" | "-pe")
        }
        _ => false,
    }
}
