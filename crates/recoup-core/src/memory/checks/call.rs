//! Tool calls, taken apart for checks: the commands that a call runs, and the files that it changes,
//! creates and reads, with the texts that it writes. Tools are known by what their input has, so that
//! those of MCP servers count as well.

use std::cell::OnceCell;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::command::{ChangedFiles, hosts_in, reaches_hosts, staged_files};
use super::path::{NamedPath, RootFolder};
use crate::memory::lang::is_one_of;
use crate::memory::shell::{RunCommand, run_commands};

/// Most bytes of a text that are searched, and of a file that is read to compare it with that.
const MOST_OF_TEXT: usize = 1 << 20;
/// Most paths of a call that are resolved.
const MOST_PATHS: usize = 256;

/// Parts of the names of tools, or of their servers, that run a line in a shell. A command of another
/// tool may be anything: one of several modes, a query.
const SHELLS: [&str; 3] = ["bash", "shell", "terminal"];
/// Fields with a command line.
const LINE_FIELDS: [&str; 3] = ["command", "cmd", "script"];
/// Fields with the path of a file.
const PATH_FIELDS: [&str; 9] = [
    "file_path", "path", "notebook_path", "filename", "file", "target_file", "destination",
    "source", "relative_path",
];
/// Fields with new text, and with the old text that it replaces.
const NEW_FIELDS: [&str; 8] = [
    "content", "new_string", "new_str", "new_source", "file_text", "insert_text", "newText", "text",
];
const OLD_FIELDS: [&str; 3] = ["old_string", "old_str", "oldText"];
/// Parts of the names of tools that change files, and of those that may create and remove them.
const CHANGING: [&str; 11] = [
    "write", "edit", "create", "update", "replace", "insert", "append", "delete", "remove", "move",
    "rename",
];
const CREATING: [&str; 4] = ["write", "create", "move", "rename"];
const REMOVING: [&str; 4] = ["delete", "remove", "move", "rename"];

/// A tool call, prepared once for all checks: its commands are split and its paths resolved when the
/// first check needs them.
#[derive(Debug)]
pub struct CheckedCall<'a> {
    tool: &'a str,
    input: &'a RawValue,
    root: &'a Path,
    cwd: &'a Path,
    resolved_root: OnceCell<RootFolder<'a>>,
    facts: OnceCell<CallFacts>,
}

/// Effects of a call, as far as checks need them.
#[derive(Debug, Default)]
pub(super) struct CallFacts {
    /// Name of the MCP server.
    pub(super) server: Option<String>,
    pub(super) commands: Vec<PlacedCommand>,
    pub(super) changed: Vec<NamedPath>,
    pub(super) created: Vec<NamedPath>,
    /// Files that are deleted or moved away.
    pub(super) removed: Vec<NamedPath>,
    /// Files and folders that are deleted or moved away with all that is in them.
    pub(super) removed_trees: Vec<NamedPath>,
    pub(super) read: Vec<NamedPath>,
    /// Files that are added to a commit.
    pub(super) staged: Vec<NamedPath>,
    pub(super) texts: Vec<WrittenText>,
    /// Hosts that are reached.
    pub(super) hosts: Vec<String>,
}

/// A command, and the folder in which it works.
#[derive(Debug)]
pub(super) struct PlacedCommand {
    pub(super) command: RunCommand,
    folder: OnceCell<NamedPath>,
}

impl PlacedCommand {
    pub(super) fn folder(&self, call: &CheckedCall<'_>) -> &NamedPath {
        self.folder.get_or_init(|| NamedPath::new(".", &self.command.folder, call.root()))
    }
}

/// A text that is written into a file, and what it replaces.
#[derive(Debug)]
pub(super) struct WrittenText {
    pub(super) path: NamedPath,
    pub(super) new: String,
    pub(super) old: String,
}

impl<'a> CheckedCall<'a> {
    /// Prepares a call of a tool in a project with the root `root`, from the client's folder `cwd`.
    pub fn new(tool: &'a str, input: &'a RawValue, root: &'a Path, cwd: &'a Path) -> Self {
        Self { tool, input, root, cwd, resolved_root: OnceCell::new(), facts: OnceCell::new() }
    }

    fn root(&self) -> &RootFolder<'a> {
        self.resolved_root.get_or_init(|| RootFolder::new(self.root))
    }

    /// True if it runs a program with these words first.
    pub(super) fn runs(&self, program: &str, words: &[&str]) -> bool {
        self.facts().commands.iter().any(|it| {
            let arguments = it.command.arguments();
            let begins = arguments.len() >= words.len()
                && arguments.iter().zip(words).all(|(given, wanted)| given == wanted);
            begins && it.command.names().iter().any(|name| name == program)
        })
    }

    /// Returns its keys. A check can only be broken if one of its keys is among these.
    pub fn index_keys(&self) -> Vec<String> {
        let facts = self.facts();
        let mut keys = vec![format!("tool:{}", self.tool)];
        if let Some(server) = &facts.server {
            keys.extend([format!("tool:{server}"), format!("program:{server}")]);
        }
        for PlacedCommand { command, .. } in &facts.commands {
            let arguments = command.arguments();
            for name in command.names() {
                keys.extend(arguments.first().map(|it| format!("program:{name}/{it}")));
                keys.push(format!("program:{name}"));
            }
            keys.extend(command.flags().iter().map(|flag| format!("flag:{flag}")));
            for package in command.installed_packages() {
                keys.extend(["install".to_owned(), format!("install:{package}")]);
            }
        }
        let prefixed = |prefix: &'static str, paths: &[NamedPath]| -> Vec<String> {
            let keys = paths.iter().flat_map(NamedPath::keys);
            keys.map(|key| format!("{prefix}{key}")).collect()
        };
        keys.extend(prefixed("", &facts.changed));
        keys.extend(prefixed("read:", &facts.read));
        keys.extend(prefixed("stage:", &facts.staged));
        keys.extend(facts.removed_trees.iter().flat_map(NamedPath::tree_keys));
        for text in &facts.texts {
            let ending = text.path.lexical.rsplit_once('.').map_or("", |it| it.1);
            keys.extend(["text".to_owned(), format!("text:{ending}")]);
        }
        keys.extend(facts.hosts.iter().map(|host| format!("host:{host}")));
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    pub(super) fn tool(&self) -> &str {
        self.tool
    }

    /// Returns what the call does.
    pub(super) fn facts(&self) -> &CallFacts {
        self.facts.get_or_init(|| {
            let input = serde_json::from_str(self.input.get()).unwrap_or(Value::Null);
            let mut finder =
                FactFinder { call: self, paths_left: MOST_PATHS, facts: CallFacts::default() };
            finder.read_call(self.tool, &input);
            finder.facts
        })
    }
}

/// Collects what a call does.
struct FactFinder<'c, 'a> {
    call: &'c CheckedCall<'a>,
    /// How many paths may still be resolved.
    paths_left: usize,
    facts: CallFacts,
}

impl FactFinder<'_, '_> {
    fn read_call(&mut self, tool: &str, input: &Value) {
        let mut parts = tool.strip_prefix("mcp__").unwrap_or(tool).split("__");
        let server = parts.next().filter(|_| tool.starts_with("mcp__"));
        self.facts.server = server.map(str::to_owned);
        let name = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
        let cwd = self.call.cwd;
        let field = |name: &str| input.get(name).and_then(Value::as_str);
        let patch_text = ["command", "input", "patch"].iter().find_map(|name| {
            field(name).filter(|it| it.trim_start().starts_with("*** Begin Patch"))
        });
        if let Some(text) = patch_text {
            return self.read_patch(text, cwd);
        }
        if name.starts_with("git_") {
            let folder = field("repo_path").map_or(cwd.to_owned(), |it| cwd.join(it));
            return self.add_command(RunCommand { folder, ..git_command(&name, input) });
        }
        let is_shell = SHELLS.iter().any(|it| tool.to_ascii_lowercase().contains(it));
        if is_shell
            && let Some(line) = LINE_FIELDS.iter().find_map(|it| command_line(input.get(it)?))
        {
            let folder = ["workdir", "cwd"].iter().find_map(|it| field(it));
            let folder = folder.map_or(cwd.to_owned(), |it| cwd.join(it));
            for command in run_commands(&line, &folder) {
                self.add_command(command);
            }
            return;
        }
        self.facts.hosts = field("url").into_iter().flat_map(hosts_in).map(str::to_owned).collect();
        // An editor with several commands does what the command says: `view`, `create`.
        let action = field("command").unwrap_or(&name);
        let says = |words: &[&str]| words.iter().any(|it| action.contains(it));
        let paths = PATH_FIELDS.iter().filter_map(|it| field(it));
        if says(&CHANGING) {
            let creates = says(&CREATING);
            for path in paths {
                if says(&REMOVING) {
                    let gone = self.named(path, cwd);
                    self.facts.removed.extend(gone.clone());
                    self.facts.removed_trees.extend(gone);
                }
                self.add_change(path, cwd, creates);
                self.add_texts(path, input, creates);
            }
        } else if says(&["read", "view"]) {
            let read: Vec<NamedPath> = paths.filter_map(|path| self.named(path, cwd)).collect();
            self.facts.read = read;
        }
    }

    /// Resolves a path; `None` if the call has too many.
    fn named(&mut self, path: &str, folder: &Path) -> Option<NamedPath> {
        self.paths_left = self.paths_left.checked_sub(1)?;
        Some(NamedPath::new(path, folder, self.call.root()))
    }

    fn add_change(&mut self, path: &str, folder: &Path, creates: bool) {
        let named = self.named(path, folder);
        if creates && !folder.join(path).exists() {
            self.facts.created.extend(named.clone());
        }
        self.facts.changed.extend(named);
    }

    /// Adds a text that is written; of one that is too long, the beginning.
    fn add_text(&mut self, path: &str, folder: &Path, mut new: String, old: String) {
        new.truncate(new.floor_char_boundary(MOST_OF_TEXT));
        let text = self.named(path, folder).map(|path| WrittenText { path, new, old });
        self.facts.texts.extend(text);
    }

    /// Adds the texts of an input, or of the edits in it. A file that is written anew replaces the one
    /// on disk.
    fn add_texts(&mut self, path: &str, input: &Value, creates: bool) {
        let text_of = |value: &Value, fields: &[&str]| {
            fields.iter().find_map(|it| value.get(it)?.as_str().map(str::to_owned))
        };
        let edits = input.get("edits").and_then(Value::as_array);
        let edits: Vec<&Value> = edits.into_iter().flatten().chain([input]).collect();
        let all = |fields: &[&str]| -> Vec<String> {
            edits.iter().filter_map(|edit| text_of(edit, fields)).collect()
        };
        // What one edit takes away and another puts back is not added.
        let (new, mut old) = (all(&NEW_FIELDS).join("\n"), all(&OLD_FIELDS).join("\n"));
        let file = self.call.cwd.join(path);
        if creates && let Ok(known) = file.metadata() {
            // What is new in a long file is not certain.
            if !known.is_file() || known.len() > MOST_OF_TEXT as u64 {
                return;
            }
            old += &std::fs::read_to_string(&file).unwrap_or_default();
        }
        if !new.is_empty() {
            self.add_text(path, self.call.cwd, new, old);
        }
    }

    fn add_command(&mut self, command: RunCommand) {
        let files = ChangedFiles::of(&command);
        let folder = &command.folder;
        if reaches_hosts(&command) {
            let hosts = command.words.iter().flat_map(|it| hosts_in(it)).map(str::to_owned);
            self.facts.hosts.extend(hosts);
        }
        for path in &files.changed {
            self.add_change(path, folder, false);
        }
        for path in &files.removed {
            let gone = self.named(path, folder);
            self.facts.removed_trees.extend(gone.clone().filter(|_| files.removes_trees));
            self.facts.removed.extend(gone);
        }
        for path in &files.created {
            self.add_change(path, folder, true);
            if let Some(new) = written_by(&command) {
                self.add_text(path, folder, new, String::new());
            }
        }
        for path in files.read {
            let read = self.named(path, folder);
            self.facts.read.extend(read);
        }
        for path in staged_files(&command) {
            let staged = self.named(path, folder);
            self.facts.staged.extend(staged);
        }
        if command.program() == "apply_patch" {
            let inline = command.arguments().into_iter();
            for patch in inline.chain(command.texts.iter().map(String::as_str)) {
                self.read_patch(patch, folder);
            }
        }
        self.facts.commands.push(PlacedCommand { command, folder: OnceCell::new() });
    }

    /// Reads a patch as Codex writes them.
    fn read_patch(&mut self, text: &str, folder: &Path) {
        let text = &text[..text.floor_char_boundary(MOST_OF_TEXT)];
        let (mut file, mut new, mut old) = (None, String::new(), String::new());
        for line in text.lines().chain(["*** End Patch"]) {
            let header = line.strip_prefix("*** ").and_then(|it| it.split_once(": "));
            if line.starts_with("*** ") && header.is_none_or(|it| it.0 != "Move to") {
                let (new, old) = (std::mem::take(&mut new), std::mem::take(&mut old));
                if let Some(named) = file.take() {
                    self.add_text(named, folder, new, old);
                }
            }
            match header {
                Some((kind, named)) => {
                    self.add_change(named, folder, matches!(kind, "Add File" | "Move to"));
                    if kind == "Delete File" {
                        let gone = self.named(named, folder);
                        self.facts.removed.extend(gone);
                    }
                    file = Some(named);
                }
                None => match line.split_at_checked(1) {
                    Some(("+", added)) => new.extend([added, "\n"]),
                    Some(("-", gone)) => old.extend([gone, "\n"]),
                    _ => {}
                },
            }
        }
    }
}

/// The command line of a field: a text, or words.
fn command_line(value: &Value) -> Option<String> {
    if let Some(words) = value.as_array() {
        let quoted = |word: &Value| Some(format!("'{}'", word.as_str()?.replace('\'', "'\\''")));
        return words.iter().map(quoted).collect::<Option<Vec<_>>>().map(|it| it.join(" "));
    }
    value.as_str().map(str::to_owned)
}

/// The command that a tool such as `git_push` stands for.
fn git_command(tool: &str, input: &Value) -> RunCommand {
    let mut words: Vec<String> = tool.split('_').map(str::to_owned).collect();
    for (name, value) in input.as_object().into_iter().flatten() {
        let values = value.as_array().into_iter().flatten().chain([value]);
        for text in values.filter_map(Value::as_str).filter(|_| name != "repo_path") {
            if name == "message" {
                words.push("-m".to_owned());
            }
            words.push(text.to_owned());
        }
        if value == &Value::Bool(true) {
            words.push(format!("--{}", name.replace('_', "-")));
        }
    }
    // A push names the remote first, and fields come in alphabetical order.
    if let (Some(remote), Some(branch)) = (text_at(input, "remote"), text_at(input, "branch")) {
        words.retain(|it| it != remote && it != branch);
        words.extend([remote.to_owned(), branch.to_owned()]);
    }
    RunCommand { words, ..RunCommand::default() }
}

fn text_at<'v>(input: &'v Value, name: &str) -> Option<&'v str> {
    input.get(name).and_then(Value::as_str)
}

/// The text that a command writes, if the line has it.
fn written_by(command: &RunCommand) -> Option<String> {
    if is_one_of(command.program(), "echo printf") {
        return Some(command.words[1..].join(" "));
    }
    (!command.texts.is_empty()).then(|| command.texts.concat())
}
