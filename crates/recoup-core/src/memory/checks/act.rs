//! Acts that a rule can forbid: commands, pushes, packages, changes of files, texts, commit messages. Each
//! kind knows its keys and finds itself in a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::call::CheckedCall;
use super::command::{self, AllowedCommand, CommandPattern};
use super::path::{CheckPlace, NamedPath, PathSet};
use super::written_text::{TextPattern, contains_whole, imports_package};

/// Something that a rule forbids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ForbiddenAct {
    /// Running a command.
    Run(CommandPattern),
    /// Pushing to a branch.
    Push(String),
    /// Adding a package to the project; any, if none is named.
    Install(Option<String>),
    /// Using a package in code.
    Import(String),
    /// Changing files, creating them included.
    Change(PathSet),
    /// Changing files that are there already.
    ChangeExisting(PathSet),
    /// Deleting or moving files.
    Remove(PathSet),
    /// Using a tool of the agent, or a tool of an MCP server.
    UseTool(String),
    /// Creating files that are not there.
    Create(PathSet),
    Read(PathSet),
    /// Reaching a host, by command or by URL.
    Reach(String),
    /// Adding files to a commit.
    Stage(PathSet),
    /// Writing a text into a file.
    Write(TextPattern),
    /// A text in a commit message, without regard to case.
    Message(String),
    /// An emoji in a commit message.
    EmojiMessage,
}

impl ForbiddenAct {
    /// Files that must not be changed, if it is about such.
    pub(super) fn changed_files(&mut self) -> Option<&mut PathSet> {
        match self {
            Self::Change(paths)
            | Self::ChangeExisting(paths)
            | Self::Remove(paths)
            | Self::Create(paths) => Some(paths),
            _ => None,
        }
    }

    /// Returns the keys of which a call that does this has at least one.
    pub(super) fn keys(&self, place: &CheckPlace) -> Vec<String> {
        let prefixed = |prefix: &str, paths: &PathSet| -> Vec<String> {
            paths.keys().iter().map(|key| format!("{prefix}:{key}")).collect()
        };
        match self {
            Self::Run(pattern) => vec![pattern.key()],
            Self::Push(_) => vec!["program:git/push".to_owned()],
            Self::Install(None) => vec!["install".to_owned()],
            Self::Install(Some(package)) => vec![format!("install:{package}")],
            Self::Change(paths) | Self::ChangeExisting(paths) | Self::Remove(paths) => {
                let mut keys = paths.keys();
                keys.push("tree".to_owned());
                keys
            }
            Self::Create(paths) => paths.keys(),
            Self::UseTool(name) => vec![format!("tool:{name}")],
            Self::Read(paths) => prefixed("read", paths),
            Self::Stage(paths) => prefixed("stage", paths),
            Self::Write(_) | Self::Import(_) if place.endings.is_empty() => vec!["text".to_owned()],
            Self::Write(_) | Self::Import(_) => {
                place.endings.iter().map(|ending| format!("text:{ending}")).collect()
            }
            Self::Reach(host) => vec![format!("host:{host}")],
            Self::Message(_) | Self::EmojiMessage => vec!["program:git/commit".to_owned()],
        }
    }

    /// Returns what in a call does this, in words to show.
    pub(super) fn find_in(
        &self,
        call: &CheckedCall<'_>,
        place: &CheckPlace,
        allowed: &[AllowedCommand],
    ) -> Option<String> {
        let facts = call.facts();
        let commands = || {
            let at_place = facts.commands.iter().filter(|it| place.has_folder(it.folder(call)));
            let commands = at_place.map(|it| &it.command);
            commands.filter(|command| !allowed.iter().any(|it| it.allows(command)))
        };
        let find_path = |paths: &PathSet, named: &[NamedPath]| {
            let is_near = |it: &&NamedPath| paths.names_outside() || !place.is_elsewhere(it);
            let mut at_place = named.iter().filter(is_near).filter(|it| place.has_path(it));
            at_place.find(|path| paths.has(path)).map(|path| path.lexical.clone())
        };
        let find_tree = |paths: &PathSet| {
            let mut at_place = facts.removed_trees.iter().filter(|it| place.has_path(it));
            at_place.find(|it| paths.is_below(it)).map(|it| it.lexical.clone())
        };
        let find_text = |is_added: &dyn Fn(&str, &str) -> bool| {
            let mut texts = facts.texts.iter().filter(|it| place.has_file(&it.path));
            texts.any(|it| is_added(&it.new, &it.old))
        };
        match self {
            Self::Run(pattern) => {
                let is_server = pattern.words.is_empty()
                    && pattern.flags.is_empty()
                    && facts.server.as_ref() == Some(&pattern.program);
                let server = is_server.then(|| call.tool().to_owned());
                server.or_else(|| commands().find_map(|it| pattern.find_in(it)))
            }
            Self::Push(branch) => commands().find_map(|it| command::find_push(it, branch)),
            Self::Install(wanted) => commands().find_map(|it| {
                let mut packages = it.installed_packages().into_iter();
                let found =
                    packages.find(|it| wanted.as_ref().is_none_or(|wanted| wanted == it))?;
                Some(format!("{} {found}", it.program()))
            }),
            Self::Import(package) => {
                let adds = |new: &str, old: &str| {
                    imports_package(new, package) && !imports_package(old, package)
                };
                find_text(&adds).then(|| format!("import of {package}"))
            }
            Self::Change(paths) => find_path(paths, &facts.changed).or_else(|| find_tree(paths)),
            Self::ChangeExisting(paths) => {
                let is_old = |it: &&NamedPath| !facts.created.contains(it);
                let old: Vec<NamedPath> = facts.changed.iter().filter(is_old).cloned().collect();
                find_path(paths, &old).or_else(|| find_tree(paths))
            }
            Self::Remove(paths) => find_path(paths, &facts.removed).or_else(|| find_tree(paths)),
            Self::UseTool(name) => (call.tool() == name || facts.server.as_ref() == Some(name))
                .then(|| call.tool().to_owned()),
            Self::Create(paths) => find_path(paths, &facts.created),
            Self::Read(paths) => find_path(paths, &facts.read),
            Self::Reach(host) => facts.hosts.contains(host).then(|| host.clone()),
            Self::Stage(paths) => find_path(paths, &facts.staged),
            Self::Write(text) => {
                find_text(&|new, old| text.is_added(new, old)).then(|| text.to_string())
            }
            Self::Message(text) => {
                let has = |message: &&str| contains_whole(&message.to_lowercase(), text);
                commands().flat_map(command::commit_messages).find(has).map(|_| text.clone())
            }
            Self::EmojiMessage => {
                let mut messages = commands().flat_map(command::commit_messages);
                messages.find_map(|it| it.chars().find(|c| is_emoji(*c))).map(String::from)
            }
        }
    }
}

/// True for pictures, which no language writes with.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{2b55}')
}

/// Writes what is forbidden: "the program npm", "changing db/migrations".
impl fmt::Display for ForbiddenAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(pattern) => pattern.fmt(f),
            Self::Push(branch) => write!(f, "pushing to {branch}"),
            Self::Install(None) => f.write_str("adding packages"),
            Self::Install(Some(package)) => write!(f, "adding the package {package}"),
            Self::Import(package) => write!(f, "importing {package}"),
            Self::Change(paths) => write!(f, "changing {paths}"),
            Self::ChangeExisting(paths) => write!(f, "changing existing files of {paths}"),
            Self::Remove(paths) => write!(f, "deleting {paths}"),
            Self::UseTool(name) => write!(f, "the tool {name}"),
            Self::Create(paths) => write!(f, "creating {paths}"),
            Self::Read(paths) => write!(f, "reading {paths}"),
            Self::Reach(host) => write!(f, "reaching {host}"),
            Self::Stage(paths) => write!(f, "committing {paths}"),
            Self::Write(text) => write!(f, "writing `{text}`"),
            Self::Message(text) => write!(f, "`{text}` in commit messages"),
            Self::EmojiMessage => f.write_str("emojis in commit messages"),
        }
    }
}
