//! Patterns of commands: a program with its sub-command and options, pushes to a branch, and the
//! files that commands change.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::memory::lang::is_one_of;
use crate::memory::shell::{RunCommand, run_commands, same_flag};

/// A forbidden command, or options that are forbidden in all commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommandPattern {
    /// Name of the program; empty for all programs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) program: String,
    /// Sub-command and further arguments, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) words: Vec<String>,
    /// Options that it has, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) flags: Vec<String>,
    /// A name or host that one of its arguments has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) argument: Option<String>,
    /// Options or arguments each of which makes it right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) without: Vec<String>,
}

impl CommandPattern {
    /// Makes a pattern of the words of a command; `None` if there are none.
    pub(super) fn of_words(words: &[String]) -> Option<Self> {
        let command = RunCommand { words: words.to_vec(), ..RunCommand::default() };
        let program = command.program().to_owned();
        let arguments: Vec<String> = command
            .arguments()
            .into_iter()
            .filter(|it| !it.starts_with('<'))
            .map(str::to_owned)
            .collect();
        let sub = arguments.first().map_or("", String::as_str);
        let written = words.iter().skip(1).filter(|it| it.starts_with('-') && it.len() > 1);
        let mut flags = Vec::new();
        for flag in written {
            let letters = flag[1..].chars().all(|c| c.is_ascii_alphabetic());
            if letters && flag.len() == 3 {
                let each = flag[1..].chars().map(|c| format!("-{c}"));
                flags.extend(each.map(|it| same_flag(&program, sub, &it).unwrap_or(it)));
            } else {
                flags.push(same_flag(&program, sub, flag).unwrap_or_else(|| flag.clone()));
            }
        }
        (!program.is_empty()).then(|| Self { program, words: arguments, flags, ..Self::default() })
    }

    /// Key by which it is found.
    pub(super) fn key(&self) -> String {
        match (self.program.as_str(), self.words.first(), self.flags.first()) {
            ("", _, Some(flag)) => format!("flag:{flag}"),
            (program, Some(word), _) => format!("program:{program}/{word}"),
            (program, ..) => format!("program:{program}"),
        }
    }

    /// Returns what in a command it forbids.
    pub(super) fn find_in(&self, command: &RunCommand) -> Option<String> {
        let names = command.names();
        let is_program = self.program.is_empty() || names.contains(&self.program);
        // What only prints and searches may name any option.
        let only_says = self.program.is_empty()
            && (is_one_of(command.program(), READERS)
                || is_one_of(command.program(), "echo printf"));
        if only_says || !is_program {
            return None;
        }
        let arguments = command.arguments();
        let is_sub = self.words.first().is_none_or(|it| arguments.first() == Some(&it.as_str()));
        let mut later = arguments.iter();
        let has_words = is_sub && self.words.iter().all(|word| later.any(|it| it == word));
        let flags = command.flags();
        let asks =
            |it: &String| matches!(it.as_str(), "--help" | "--version") && !self.flags.contains(it);
        if flags.iter().any(asks) {
            return None;
        }
        let has_flags = self.flags.iter().all(|flag| flags.contains(flag));
        let is_right = |it: &String| flags.contains(it) || arguments.contains(&it.as_str());
        let names = |word: &String| {
            let wanted = self.argument.as_deref().unwrap_or_default();
            word == wanted
                || word.split_once('=').is_some_and(|it| it.1 == wanted)
                || hosts_in(word).any(|it| it == wanted)
        };
        if self.argument.is_some() && !command.words.iter().skip(1).any(names) {
            return None;
        }
        if !has_words || !has_flags || self.without.iter().any(is_right) {
            return None;
        }
        let words = self.words.iter().map(String::as_str);
        let shown = [command.program()].into_iter();
        let first = arguments.first().copied().filter(|it| self.words.is_empty() && is_plain(it));
        let flags = self.flags.iter().map(String::as_str);
        Some(shown.chain(words).chain(first).chain(flags).collect::<Vec<_>>().join(" "))
    }
}

/// Returns the names in a word that may be those of hosts: `db.example.com` in a URL.
pub(super) fn hosts_in(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(|c: char| !(c.is_ascii_alphanumeric() || ".-_".contains(c)));
    parts.filter(|it| it.contains('.') && it.contains(|c: char| c.is_ascii_alphabetic()))
}

/// True for a word that may be shown: a sub-command, not a value.
fn is_plain(word: &str) -> bool {
    word.len() <= 40 && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:./".contains(c))
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.program.as_str(), self.words.is_empty() && self.flags.is_empty()) {
            ("", _) => "the option",
            (_, true) => "the program",
            _ => "the command",
        };
        let words = [&self.program].into_iter().filter(|it| !it.is_empty());
        let words: Vec<&str> =
            words.chain(&self.words).chain(&self.flags).map(String::as_str).collect();
        write!(f, "{kind} {}", words.join(" "))?;
        self.argument.as_ref().map_or(Ok(()), |it| write!(f, " with {it}"))?;
        if self.without.is_empty() {
            return Ok(());
        }
        write!(f, " without {}", self.without.join(" or "))
    }
}

/// A command that is right even if a rule forbids its program: `uv run pytest`, not `pytest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AllowedCommand {
    /// Name of the program as it is called: `python3` is another one than `python`.
    program: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    /// Commands that start it, and by which alone it is right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    starters: Vec<String>,
    /// The name by which it starts others, which are right then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    starts: Option<String>,
}

impl AllowedCommand {
    /// Reads the words of a command.
    pub(super) fn of_words(words: &[String]) -> Option<Self> {
        let quoted: Vec<String> =
            words.iter().map(|it| format!("'{}'", it.replace('\'', "'\\''"))).collect();
        let command = run_commands(&quoted.join(" "), Path::new("")).pop()?;
        let pattern = CommandPattern::of_words(&command.words)?;
        Some(Self {
            program: command.program().to_owned(),
            words: pattern.words,
            flags: pattern.flags,
            starts: command.starter(),
            starters: command.starters,
        })
    }

    /// True if it is this command, or starts it.
    pub(super) fn allows(&self, command: &RunCommand) -> bool {
        if self.starts.as_ref().is_some_and(|it| command.starters.contains(it)) {
            return true;
        }
        let (arguments, flags) = (command.arguments(), command.flags());
        command.program() == self.program
            && self.starters.iter().all(|it| command.starters.contains(it))
            && arguments.len() >= self.words.len()
            && arguments.iter().zip(&self.words).all(|(given, word)| given == word)
            && self.flags.iter().all(|it| flags.contains(it))
    }
}

/// Returns what pushes to a branch in a command. A push that names no branch is not certain.
pub(super) fn find_push(command: &RunCommand, branch: &str) -> Option<String> {
    let arguments = command.arguments();
    if command.program() != "git" || arguments.first() != Some(&"push") {
        return None;
    }
    let flags = command.flags();
    if flags.iter().any(|it| it == "--dry-run") {
        return None;
    }
    if flags.iter().any(|it| matches!(it.as_str(), "--mirror" | "--all")) {
        return Some("git push --mirror".to_owned());
    }
    let is_target = |refspec: &&str| {
        let target = refspec.trim_start_matches('+').rsplit(':').next().unwrap_or_default();
        target.strip_prefix("refs/heads/").unwrap_or(target) == branch
    };
    let found = arguments.iter().skip(2).copied().find(is_target)?;
    Some(format!("git push {} {found}", arguments[1]))
}

/// Returns the files that a command adds to the next commit.
pub(super) fn staged_files(command: &RunCommand) -> Vec<&str> {
    let mut arguments = command.arguments();
    let ("git", Some(&("add" | "stage" | "commit"))) = (command.program(), arguments.first())
    else {
        return Vec::new();
    };
    arguments.remove(0);
    arguments
}

/// Returns the messages of a commit.
pub(super) fn commit_messages(command: &RunCommand) -> Vec<&str> {
    if command.program() != "git" || command.arguments().first() != Some(&"commit") {
        return Vec::new();
    }
    let texts = command.texts.iter().map(String::as_str);
    command.values_of("-m --message --trailer").into_iter().chain(texts).collect()
}

/// Files that a command reads, changes or creates.
#[derive(Debug, Default)]
pub(super) struct ChangedFiles<'a> {
    pub(super) changed: Vec<String>,
    /// Files that need not have been there.
    pub(super) created: Vec<String>,
    /// Files that are gone afterwards.
    pub(super) removed: Vec<String>,
    /// True if what is removed may be folders with all that is in them.
    pub(super) removes_trees: bool,
    pub(super) read: Vec<&'a str>,
}

impl<'a> ChangedFiles<'a> {
    /// Finds the files of a command, as they are named.
    pub(super) fn of(command: &'a RunCommand) -> Self {
        let mut files = Self::default();
        files.created.extend(command.outputs.iter().filter(|it| !it.starts_with('&')).cloned());
        files.read.extend(command.inputs.iter().map(String::as_str));
        let arguments = command.arguments();
        let has = |flag: &str| command.flags().iter().any(|it| it == flag);
        match command.program() {
            "rm" | "rmdir" | "unlink" | "shred" => {
                files.changed = owned(&arguments);
                files.removed.clone_from(&files.changed);
                files.removes_trees = has("-r");
            }
            "truncate" => files.changed = owned(&arguments),
            "touch" | "tee" | "mkdir" => files.created.extend(owned(&arguments)),
            "mv" => files.add_moved(&arguments),
            "cp" | "ln" | "install" | "rsync" => files.created.extend(target_files(&arguments)),
            "sed" | "perl" if has("-i") => {
                let is_script_given = has("-e") || has("-f");
                files.changed =
                    owned(arguments.get(usize::from(!is_script_given)..).unwrap_or_default());
            }
            "patch" => {
                files.changed = owned(&arguments);
                files.changed.extend(option_value(command, "-d --directory"));
            }
            "curl" | "wget" => files.created.extend(option_value(command, "-o -O --output")),
            "git" => {
                files.changed = changed_by_git(command, &arguments);
                match arguments.split_first() {
                    Some((&"mv", named)) => files.add_moved(named),
                    Some((&"rm", _)) => {
                        files.removed.clone_from(&files.changed);
                        files.removes_trees = has("-r");
                    }
                    _ => {}
                }
            }
            "find" if has("-delete") => {
                files.changed = owned(&arguments[..arguments.len().min(1)]);
                files.removed.clone_from(&files.changed);
            }
            "dd" => {
                files.created.extend(
                    arguments.iter().filter_map(|it| it.strip_prefix("of=")).map(str::to_owned),
                );
            }
            program if is_one_of(program, READERS) => files.read.extend(arguments),
            _ => {}
        }
        files
    }

    /// Adds what is moved to the last of the arguments.
    fn add_moved(&mut self, arguments: &[&str]) {
        self.changed = owned(arguments.split_last().map_or(&[][..], |it| it.1));
        self.removed.clone_from(&self.changed);
        self.removes_trees = true;
        self.created.extend(target_files(arguments));
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

/// Programs that show the content of the files that their arguments name.
const READERS: &str = "cat bat head tail less more grep egrep rg sed awk cut sort nl tac xxd od \
    hexdump strings jq yq diff source .";

/// Files that are made by copying to the last argument: it, or what is in it if it is a folder.
fn target_files(arguments: &[&str]) -> Vec<String> {
    let Some((target, sources)) = arguments.split_last().filter(|it| !it.1.is_empty()) else {
        return Vec::new();
    };
    let is_folder = target.ends_with('/') || sources.len() > 1;
    if !is_folder {
        return vec![(*target).to_owned()];
    }
    let name = |source: &&str| source.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let names = sources.iter().filter_map(name);
    names.map(|name| format!("{}/{name}", target.trim_end_matches('/'))).collect()
}

fn option_value(command: &RunCommand, names: &str) -> Option<String> {
    let at = command.words.iter().position(|it| is_one_of(it, names))?;
    command.words.get(at + 1).cloned()
}

/// Files of the work tree that git removes, moves or restores.
fn changed_by_git(command: &RunCommand, arguments: &[&str]) -> Vec<String> {
    let is_index_only =
        || command.flags().iter().any(|it| matches!(it.as_str(), "--cached" | "--staged"));
    let files = match arguments.split_first() {
        Some((&"rm" | &"restore", files)) if !is_index_only() => files,
        Some((&"checkout", _)) => {
            let words = &command.words;
            let end = words.iter().position(|it| it == "--").map_or(words.len(), |at| at + 1);
            return words[end..].to_vec();
        }
        _ => &[],
    };
    owned(files)
}

/// True for programs that may reach a host which an argument names: not those that read and print.
pub(super) fn reaches_hosts(command: &RunCommand) -> bool {
    const OTHERS: &str = "echo printf find fd ag ack ls touch mkdir rm mv cp sed perl tee";
    !is_one_of(command.program(), READERS)
        && !is_one_of(command.program(), OTHERS)
        && (command.program() != "git"
            || !is_one_of(command.arguments().first().unwrap_or(&""), "commit grep log add"))
}
