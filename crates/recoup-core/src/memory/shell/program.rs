//! Conversion of a command's words to its kind: a program, or an interpreter and the script, module or
//! code that it runs.

use crate::memory::lang::is_one_of;
use crate::memory::shell::CommandKind;
use crate::memory::shell::programs::{find_program, is_program_in};
use crate::memory::shell::wrappers::{
    is_assignment, skip_options, skip_own_options, strip_wrappers,
};

/// Maximum number of targets in a kind.
const MOST_TARGETS: usize = 3;

pub(super) fn kind_of_words(words: &[String]) -> CommandKind {
    let Some((first, rest)) = words.split_first() else { return CommandKind::new("", None) };
    let program = plain_program_name(first);
    let Some(row) = find_program("interpreters", &program) else {
        if program == "docker-compose" {
            let words = [&["compose".to_owned()], rest].concat();
            return CommandKind::new("docker", find_subcommand("docker", &words));
        }
        let sub = find_subcommand(&program, rest);
        return CommandKind::new(&program, sub);
    };
    // A module, code or archive is named before any script.
    let mode = rest.iter().position(|word| !word.starts_with('-') || is_one_of(word, row.more));
    let mode = mode.filter(|at| rest[*at].starts_with('-'));
    let script = match mode.map(|at| (rest[at].as_str(), &rest[at + 1..])) {
        // As if it were a program: `python -m pytest`.
        Some(("-m", [])) => return CommandKind::new(&program, None),
        Some(("-m", module)) => return kind_of_words(strip_wrappers(module)),
        Some(("-jar", archive)) => archive,
        Some((option, _)) => return CommandKind::new(&program, Some(option.to_owned())),
        None => skip_options(rest, row.valued),
    };
    let Some(first) = script.first() else { return CommandKind::new(&program, None) };
    // By its path; a shell named in front of it makes no difference.
    let path = plain_program_name(first);
    if is_program_in("shells", &program) {
        return CommandKind::new(&path, None);
    }
    let name = path.rsplit('/').next().unwrap_or(&path);
    let sub = script.get(1).filter(|it| is_program_in("managers", name) && !it.starts_with('-'));
    let shown = sub.map_or(path.clone(), |sub| format!("{path} {sub}"));
    CommandKind::new(&program, Some(shown))
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

/// Returns the line that `bash -c '…'` or `eval …` runs.
pub(super) fn inline_script(words: &[String]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let name = plain_program_name(first);
    if name == "eval" {
        return Some(rest.join(" "));
    }
    if !is_program_in("shells", &name) {
        return None;
    }
    let says =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let at = rest.iter().take_while(|word| word.starts_with('-')).position(says)?;
    rest.get(at + 1).cloned()
}

/// Returns the sub-command, script or targets among a program's arguments.
fn find_subcommand(program: &str, rest: &[String]) -> Option<String> {
    if let Some(row) = find_program("targets", program) {
        // All plain arguments among options and variables.
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(word) = rest.get(at) {
            // `-j 8`: a number is no target.
            let number = word.bytes().all(|byte| byte.is_ascii_digit());
            if !word.starts_with('-') && !is_assignment(word) && !number {
                found.push(word.as_str());
            }
            at += if is_one_of(word, row.valued) { 2 } else { 1 };
        }
        found.truncate(MOST_TARGETS);
        return (!found.is_empty()).then(|| found.join(" "));
    }
    let deeper = find_program("sub-commands", program)?.more;
    // `cargo +nightly test`
    let rest = match rest {
        [first, rest @ ..] if first.starts_with('+') => rest,
        rest => rest,
    };
    let Some((first, rest)) = skip_own_options(program, rest).split_first() else {
        return (program == "yarn").then(|| "install".to_owned());
    };
    let aliases = find_program("aliases", program).unwrap_or_default().more;
    let mut aliases = aliases.split(' ').filter_map(|it| it.split_once('='));
    let first = aliases.find(|(short, _)| short == first).map_or(first.as_str(), |(_, long)| long);
    if deeper != "*" && !is_one_of(first, deeper) {
        return Some(first.to_owned());
    }
    let Some(second) = rest.iter().find(|word| !word.starts_with('-')) else {
        return Some(first.to_owned());
    };
    // `npm run test` is `npm test`; pnpm and yarn allow that for every script.
    let known = matches!(second.as_str(), "test" | "start" | "stop" | "restart");
    let short = first == "run" && (matches!(program, "pnpm" | "yarn") || program == "npm" && known);
    Some(if short { second.clone() } else { format!("{first} {second}") })
}
