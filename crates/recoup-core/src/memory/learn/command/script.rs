//! Interpreters, and the script, module or code that they run.

use super::program::plain_program_name;
use super::wrappers::skip_options;

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
    ("sh", "-o"),
    ("zsh", "-o"),
    ("dash", "-o"),
    ("fish", ""),
    ("java", "-cp -classpath --class-path -p --module-path"),
    ("julia", ""),
    ("lua", ""),
    ("Rscript", ""),
];

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
pub(super) enum InterpreterInput<'a> {
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
pub(super) fn interpreter_input<'a>(
    program: &str,
    rest: &'a [String],
) -> Option<InterpreterInput<'a>> {
    let (_, valued) = INTERPRETERS.iter().find(|(name, _)| *name == program)?;
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
    Some(if script.is_empty() {
        InterpreterInput::Nothing
    } else {
        InterpreterInput::Script(script)
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

pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}
