//! Interpreters, and the script, module or code that they run.

use super::program::plain;
use super::wrappers::behind_options;

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
pub(super) fn inline(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let name = plain(first);
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
pub(super) enum Given<'a> {
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
pub(super) fn given<'a>(program: &str, rest: &'a [String]) -> Option<Given<'a>> {
    let (_, valued) = INTERPRETERS.iter().find(|(name, _)| *name == program)?;
    if let Some(at) = rest.iter().position(|word| !word.starts_with('-') || is_mode(program, word))
    {
        let word = rest[at].as_str();
        match word {
            "-m" if program == "python" => return Some(Given::Module(&rest[at + 1..])),
            "-jar" => return Some(Given::Script(&rest[at + 1..])),
            word if is_mode(program, word) => return Some(Given::Code(word)),
            _ => {}
        }
    }
    let script = behind_options(rest, valued, 0);
    Some(if script.is_empty() { Given::Nothing } else { Given::Script(script) })
}

fn is_mode(program: &str, word: &str) -> bool {
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
