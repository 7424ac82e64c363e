//! Conversion of a command's words to its kind.

use super::script::{self, InterpreterInput};
use super::{CommandKind, subcommands};

/// Scripts that have sub-commands of their own.
const MANAGERS: [&str; 3] = ["manage.py", "artisan", "console"];

pub(super) fn kind_of_words(words: &[String]) -> CommandKind {
    let Some((first, rest)) = words.split_first() else { return CommandKind::new("", None) };
    let program = plain_program_name(first);
    match script::interpreter_input(&program, rest) {
        Some(InterpreterInput::Module(words)) if !words.is_empty() => {
            kind_of_words(super::wrappers::strip_wrappers(words))
        }
        Some(InterpreterInput::Code(option)) => CommandKind::new(&program, Some(option.to_owned())),
        Some(InterpreterInput::Script(words)) => script_kind(&program, words),
        Some(_) => CommandKind::new(&program, None),
        None if program == "docker-compose" => docker_compose_kind(rest),
        None => {
            let sub = subcommands::find_subcommand(&program, rest);
            CommandKind::new(&program, sub)
        }
    }
}

fn docker_compose_kind(rest: &[String]) -> CommandKind {
    let words: Vec<String> =
        ["compose".to_owned()].into_iter().chain(rest.iter().cloned()).collect();
    CommandKind::new("docker", subcommands::find_subcommand("docker", &words))
}

/// Returns the kind of a script, by its path; a shell named in front of it makes no difference.
fn script_kind(interpreter: &str, words: &[String]) -> CommandKind {
    let path = plain_program_name(&words[0]);
    let name = path.rsplit('/').next().unwrap_or(&path);
    let sub = words.get(1).filter(|word| MANAGERS.contains(&name) && !word.starts_with('-'));
    let shown = sub.map_or(path.clone(), |sub| format!("{path} {sub}"));
    if script::is_shell(interpreter) {
        return CommandKind::new(&path, None);
    }
    CommandKind::new(interpreter, Some(shown))
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
    match name {
        "py" => "python".to_owned(),
        "nodejs" => "node".to_owned(),
        "gmake" => "make".to_owned(),
        "gradlew" | "gradlew.bat" => "gradle".to_owned(),
        "mvnw" | "mvnd" => "mvn".to_owned(),
        "py.test" => "pytest".to_owned(),
        "podman" => "docker".to_owned(),
        name => versionless(name).unwrap_or(name).to_owned(),
    }
}

/// `python3.12` is `python`.
fn versionless(name: &str) -> Option<&'static str> {
    ["python", "pip", "ruby", "php", "node"].into_iter().find(|plain| {
        name.strip_prefix(plain).is_some_and(|version| {
            !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
    })
}
