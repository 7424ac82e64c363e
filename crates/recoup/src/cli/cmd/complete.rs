//! `recoup complete`: the words that may come next on a command line. The scripts of
//! `recoup completions` call it, so that they know flags, values, ids and keys as they are now.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use clap::{Arg, Args, Command};
use recoup_core::Result;
use recoup_core::condense::CondenseStrategy;
use recoup_core::memory::{NoteFilter, NoteKind, NoteStatus};
use recoup_core::store::{ScanFilter, ScanFlow};

use super::cache::EntryReport;
use crate::cli::app::{App, memory_in};
use crate::cli::{CommandAnswer, CommandResult, build_command_tree, ui};
use crate::config::{FlagOverrides, env};
use crate::install::AgentClient;

/// Maximum number of ids and keys to offer, newest first.
const MAX_ITEMS: usize = 1_000;

/// Maximum width of a description, in columns.
const MAX_DESCRIPTION_COLUMNS: usize = 60;

#[derive(Debug, Args)]
pub(in crate::cli) struct CompleteArgs {
    /// The words after `recoup`
    #[arg(value_name = "WORD", last = true)]
    words: Vec<OsString>,
}

/// A completion and its description.
type CompletionItem = (String, String);

impl CompleteArgs {
    /// Prints each completion on a line, with its description after a tab.
    pub(in crate::cli) fn run(self) -> CommandResult {
        let mut root = build_command_tree();
        root.build();
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        let Some((last, before)) = words.split_last() else { return Ok(CommandAnswer::Yes) };
        let mut cursor = CompletionCursor::new(&root);
        for word in before {
            cursor.consume_word(word);
        }
        let line = |(word, about): CompletionItem| {
            format!("{word}\t{}\n", ui::fitted(&about, MAX_DESCRIPTION_COLUMNS))
        };
        ui::data(&[cursor.completions(last).into_iter().map(line).collect::<String>().as_bytes()])?;
        Ok(CommandAnswer::Yes)
    }
}

/// Parser state after the words that were read so far.
struct CompletionCursor<'a> {
    command: &'a Command,
    /// The flag whose value comes next.
    flag: Option<&'a Arg>,
    /// The positional argument that comes next, and the number of its values so far.
    positional: usize,
    values: usize,
    /// True after `--`, and within a command to run.
    flags_are_over: bool,
    overrides: FlagOverrides,
}

impl<'a> CompletionCursor<'a> {
    fn new(command: &'a Command) -> Self {
        let overrides = FlagOverrides::default();
        Self { command, flag: None, positional: 0, values: 0, flags_are_over: false, overrides }
    }

    fn consume_word(&mut self, word: &str) {
        // Bash makes three words of `--flag=value`.
        if self.flag.is_some() && word == "=" {
            return;
        }
        if let Some(flag) = self.flag.take() {
            self.consume_value(flag, word);
        } else if self.flags_are_over {
            self.consume_positional(word);
        } else if word == "--" {
            self.flags_are_over = true;
            let last = self.command.get_positionals().position(Arg::is_last_set);
            self.positional = last.unwrap_or(self.positional);
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            match (self.find_value_flag(name), value) {
                (Some(flag), Some(value)) => self.consume_value(flag, value),
                (flag, _) => self.flag = flag,
            }
        } else if !word.starts_with('-') {
            match self.command.find_subcommand(word) {
                Some(command) => (self.command, self.positional, self.values) = (command, 0, 0),
                None => self.consume_positional(word),
            }
        }
    }

    fn consume_value(&mut self, flag: &Arg, value: &str) {
        match flag.get_long() {
            Some("store") => self.overrides.store = Some(value.to_owned()),
            Some("scope") => self.overrides.scope = Some(value.to_owned()),
            _ => {}
        }
    }

    fn consume_positional(&mut self, word: &str) {
        let Some(arg) = self.expected_positional() else { return };
        self.flags_are_over |= arg.is_trailing_var_arg_set();
        match arg.get_num_args() {
            // Another command begins.
            _ if word == "---" => self.values = 0,
            Some(count) if count.max_values() > 1 => self.values += 1,
            _ => self.positional += 1,
        }
    }

    fn expected_positional(&self) -> Option<&'a Arg> {
        self.command.get_positionals().nth(self.positional)
    }

    /// Finds a flag by its long name, if it needs a value.
    fn find_value_flag(&self, name: &str) -> Option<&'a Arg> {
        let needs_value = |arg: &Arg| arg.get_num_args().is_some_and(|it| it.min_values() > 0);
        self.command.get_opts().find(|arg| arg.get_long() == Some(name) && needs_value(arg))
    }

    fn completions(&self, typed: &str) -> Vec<CompletionItem> {
        let (flag, prefix, typed) = match typed.split_once('=') {
            _ if self.flag.is_some() => (self.flag, String::new(), typed),
            Some((name, value)) if !self.flags_are_over => {
                (self.find_value_flag(name.trim_start_matches('-')), format!("{name}="), value)
            }
            _ => (None, String::new(), typed),
        };
        let mut all = match (flag, self.expected_positional()) {
            (Some(flag), _) => self.values_of(flag, typed),
            (None, _) if typed.starts_with('-') && !self.flags_are_over => self.flags(),
            (None, Some(arg)) => [self.commands(), self.values_of(arg, typed)].concat(),
            (None, None) => [self.commands(), self.flags()].concat(),
        };
        all.retain(|(word, _)| word.starts_with(typed));
        all.into_iter().map(|(word, about)| (format!("{prefix}{word}"), about)).collect()
    }

    /// Subcommands of the current command.
    fn commands(&self) -> Vec<CompletionItem> {
        if self.flags_are_over || self.positional + self.values > 0 {
            return Vec::new();
        }
        let shown = self.command.get_subcommands().filter(|it| !it.is_hide_set());
        shown.map(|it| (it.get_name().to_owned(), plain_text(it.get_about()))).collect()
    }

    fn flags(&self) -> Vec<CompletionItem> {
        let shown = self.command.get_arguments().filter(|it| !it.is_hide_set());
        let named = |it: &Arg| Some((format!("--{}", it.get_long()?), plain_text(it.get_help())));
        shown.filter_map(named).collect()
    }

    /// Possible values of an argument, by its name; empty if only the user can know them.
    fn values_of(&self, arg: &Arg, typed: &str) -> Vec<CompletionItem> {
        let placeholder = arg.get_value_names().and_then(<[_]>::first).map(AsRef::as_ref);
        match arg.get_long().or(placeholder).unwrap_or_default() {
            "client" => {
                let any = (self.command.get_name() == "init").then_some("mcp");
                without_descriptions(
                    AgentClient::ALL.into_iter().map(AgentClient::as_str).chain(any),
                )
            }
            "kind" => without_descriptions(NoteKind::ALL.iter().map(|it| it.as_str())),
            "scope" => without_descriptions(["project", "global", "tenant:", "session:"]),
            "status" => without_descriptions(NoteStatus::ALL.iter().map(|it| it.as_str())),
            "strategy" | "condense" => {
                without_descriptions(CondenseStrategy::ALL.map(CondenseStrategy::name))
            }
            "COMMAND" if self.values == 0 => programs_on_path(typed),
            // Errors are ignored: the command itself reports them.
            "ID" => self.note_ids().unwrap_or_default(),
            "key" | "KEY" => self.entry_keys(typed).unwrap_or_default(),
            "SESSION" => {
                let names = self.app().and_then(|app| app.early_exit()?.list()).unwrap_or_default();
                names.into_iter().map(|name| (name.to_string(), String::new())).collect()
            }
            _ => arg
                .get_possible_values()
                .iter()
                .map(|it| (it.get_name().to_owned(), plain_text(it.get_help())))
                .collect(),
        }
    }

    fn app(&self) -> Result<&'static App> {
        App::load_lenient_silently(&self.overrides)
    }

    /// Notes with a status that the current command accepts.
    fn note_ids(&self) -> Result<Vec<CompletionItem>> {
        let app = self.app()?;
        let statuses = match self.command.get_name() {
            "promote" => vec![NoteStatus::Candidate],
            "restore" => vec![NoteStatus::Superseded, NoteStatus::Retired],
            "retire" => vec![NoteStatus::Candidate, NoteStatus::Active, NoteStatus::Superseded],
            _ => Vec::new(),
        };
        let wanted = NoteFilter { statuses, ..NoteFilter::active_in(&app.note_scope(false)) };
        let found = memory_in(&app.settings.home).latest_notes(&wanted, MAX_ITEMS)?;
        Ok(found.into_iter().map(|note| (note.id.to_string(), note.text)).collect())
    }

    fn entry_keys(&self, typed: &str) -> Result<Vec<CompletionItem>> {
        let (app, mut found) = (self.app()?, Vec::new());
        let cache = app.cache();
        let key_prefix = Some(typed.to_owned()).filter(|typed| !typed.is_empty());
        let filter = ScanFilter {
            key_prefix,
            newest: Some(MAX_ITEMS),
            ..ScanFilter::of_scope(&app.scope())
        };
        cache.scan_filtered(&filter, &mut |id, head| {
            let about = head.map(|head| EntryReport::new(id, head, cache.clock().now()).about());
            found.push((id.key.to_string(), about.unwrap_or_default()));
            ScanFlow::Continue(())
        })?;
        Ok(found)
    }
}

fn without_descriptions(words: impl IntoIterator<Item = &'static str>) -> Vec<CompletionItem> {
    words.into_iter().map(|word| (word.to_owned(), String::new())).collect()
}

fn plain_text(styled: Option<&clap::builder::StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default()
}

/// Programs on the PATH whose names start with `typed`.
fn programs_on_path(typed: &str) -> Vec<CompletionItem> {
    let path = env::search_path().unwrap_or_default();
    let files = std::env::split_paths(&path).filter_map(|dir| fs::read_dir(dir).ok()).flatten();
    let name = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok().filter(|name| name.starts_with(typed))?;
        // Other characters would mean something to the shell.
        let is_plain = |c: char| c.is_alphanumeric() || "-_.+@".contains(c);
        let name = Some(name).filter(|name| name.chars().all(is_plain))?;
        let found = fs::metadata(file.path()).ok()?;
        (found.is_file() && found.permissions().mode() & 0o111 != 0).then_some(name)
    };
    let names: BTreeSet<String> = files.flatten().filter_map(name).collect();
    names.into_iter().map(|name| (name, String::new())).collect()
}
