//! `recoup complete`: the words that may come next on a command line. The scripts of
//! `recoup completions` call it, so that they know flags, values, ids and keys as they are now.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use clap::{Arg, Args, Command};
use recoup_core::Result;
use recoup_core::condense::Strategy;
use recoup_core::memory::{NoteKind, Status, Wanted};
use recoup_core::store::{Filter, Flow};

use super::cache::report::Report;
use crate::cli::app::{App, memory_in};
use crate::cli::{Answer, Ended, definition, ui};
use crate::config::{Overrides, env};
use crate::install::Client;

/// Maximum number of ids and keys to offer, newest first.
const MOST: usize = 1_000;

/// Maximum width of a description, in columns.
const ABOUT: usize = 60;

/// Offer what may stand in place of the last word.
#[derive(Debug, Args)]
pub(in crate::cli) struct CompleteArgs {
    /// The words behind `recoup`
    #[arg(value_name = "WORD", last = true)]
    words: Vec<OsString>,
}

/// A completion and its description.
type Candidate = (String, String);

impl CompleteArgs {
    /// Prints each completion on a line, with its description after a tab.
    pub(in crate::cli) fn run(self) -> Ended {
        let mut root = definition();
        root.build();
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        let Some((last, before)) = words.split_last() else { return Ok(Answer::Yes) };
        let mut cursor = Cursor::new(&root);
        for word in before {
            cursor.pass(word);
        }
        let line = |(word, about): Candidate| format!("{word}\t{}\n", ui::fitted(&about, ABOUT));
        ui::data(&[cursor.candidates(last).into_iter().map(line).collect::<String>().as_bytes()])?;
        Ok(Answer::Yes)
    }
}

/// Parser state after the words that were read so far.
struct Cursor<'a> {
    command: &'a Command,
    /// The flag whose value comes next.
    flag: Option<&'a Arg>,
    /// The positional argument that comes next, and the number of its values so far.
    positional: usize,
    values: usize,
    /// True after `--`, and within a command to run.
    flags_are_over: bool,
    overrides: Overrides,
}

impl<'a> Cursor<'a> {
    fn new(command: &'a Command) -> Self {
        let overrides = Overrides::default();
        Self { command, flag: None, positional: 0, values: 0, flags_are_over: false, overrides }
    }

    fn pass(&mut self, word: &str) {
        // Bash makes three words of `--flag=value`.
        if self.flag.is_some() && word == "=" {
            return;
        }
        if let Some(flag) = self.flag.take() {
            self.pass_value(flag, word);
        } else if self.flags_are_over {
            self.pass_positional(word);
        } else if word == "--" {
            self.flags_are_over = true;
            let last = self.command.get_positionals().position(Arg::is_last_set);
            self.positional = last.unwrap_or(self.positional);
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            match (self.flag_named(name), value) {
                (Some(flag), Some(value)) => self.pass_value(flag, value),
                (flag, _) => self.flag = flag,
            }
        } else if !word.starts_with('-') {
            match self.command.find_subcommand(word) {
                Some(command) => (self.command, self.positional, self.values) = (command, 0, 0),
                None => self.pass_positional(word),
            }
        }
    }

    fn pass_value(&mut self, flag: &Arg, value: &str) {
        match flag.get_long() {
            Some("store") => self.overrides.store = Some(value.to_owned()),
            Some("scope") => self.overrides.scope = Some(value.to_owned()),
            _ => {}
        }
    }

    fn pass_positional(&mut self, word: &str) {
        let Some(arg) = self.expected() else { return };
        self.flags_are_over |= arg.is_trailing_var_arg_set();
        match arg.get_num_args() {
            // Another command begins.
            _ if word == "---" => self.values = 0,
            Some(count) if count.max_values() > 1 => self.values += 1,
            _ => self.positional += 1,
        }
    }

    fn expected(&self) -> Option<&'a Arg> {
        self.command.get_positionals().nth(self.positional)
    }

    /// Finds a flag by its long name, if it needs a value.
    fn flag_named(&self, name: &str) -> Option<&'a Arg> {
        let needs_value = |arg: &Arg| arg.get_num_args().is_some_and(|it| it.min_values() > 0);
        self.command.get_opts().find(|arg| arg.get_long() == Some(name) && needs_value(arg))
    }

    fn candidates(&self, typed: &str) -> Vec<Candidate> {
        let (flag, prefix, typed) = match typed.split_once('=') {
            _ if self.flag.is_some() => (self.flag, String::new(), typed),
            Some((name, value)) if !self.flags_are_over => {
                (self.flag_named(name.trim_start_matches('-')), format!("{name}="), value)
            }
            _ => (None, String::new(), typed),
        };
        let mut all = match (flag, self.expected()) {
            (Some(flag), _) => self.values_of(flag, typed),
            (None, _) if typed.starts_with('-') && !self.flags_are_over => self.flags(),
            (None, Some(arg)) => [self.commands(), self.values_of(arg, typed)].concat(),
            (None, None) => [self.commands(), self.flags()].concat(),
        };
        all.retain(|(word, _)| word.starts_with(typed));
        all.into_iter().map(|(word, about)| (format!("{prefix}{word}"), about)).collect()
    }

    /// Subcommands of the current command.
    fn commands(&self) -> Vec<Candidate> {
        if self.flags_are_over || self.positional + self.values > 0 {
            return Vec::new();
        }
        let shown = self.command.get_subcommands().filter(|it| !it.is_hide_set());
        shown.map(|it| (it.get_name().to_owned(), text(it.get_about()))).collect()
    }

    fn flags(&self) -> Vec<Candidate> {
        let shown = self.command.get_arguments().filter(|it| !it.is_hide_set());
        let named = |it: &Arg| Some((format!("--{}", it.get_long()?), text(it.get_help())));
        shown.filter_map(named).collect()
    }

    /// Possible values of an argument, by its name; empty if only the user can know them.
    fn values_of(&self, arg: &Arg, typed: &str) -> Vec<Candidate> {
        let placeholder = arg.get_value_names().and_then(<[_]>::first).map(AsRef::as_ref);
        match arg.get_long().or(placeholder).unwrap_or_default() {
            "client" => {
                let any = (self.command.get_name() == "init").then_some("mcp");
                plain(Client::ALL.into_iter().map(Client::as_str).chain(any))
            }
            "kind" => plain(NoteKind::ALL.iter().map(|it| it.as_str())),
            "scope" => plain(["project", "global", "tenant:", "session:"]),
            "status" => plain(Status::ALL.iter().map(|it| it.as_str())),
            "strategy" | "condense" => plain(Strategy::ALL.map(Strategy::name)),
            "COMMAND" if self.values == 0 => programs(typed),
            // Errors are ignored: the command itself reports them.
            "ID" => self.ids().unwrap_or_default(),
            "key" | "KEY" => self.keys(typed).unwrap_or_default(),
            "SESSION" => self.sessions().unwrap_or_default(),
            _ => arg
                .get_possible_values()
                .iter()
                .map(|it| (it.get_name().to_owned(), text(it.get_help())))
                .collect(),
        }
    }

    fn app(&self) -> Result<&'static App> {
        App::load_lenient_untold(&self.overrides)
    }

    /// Notes with a status that the current command accepts.
    fn ids(&self) -> Result<Vec<Candidate>> {
        let app = self.app()?;
        let statuses = match self.command.get_name() {
            "promote" => vec![Status::Candidate],
            "restore" => vec![Status::Superseded, Status::Retired],
            "retire" => vec![Status::Candidate, Status::Active, Status::Superseded],
            _ => Vec::new(),
        };
        let wanted = Wanted { statuses, ..Wanted::active_in(&app.note_scope(false)) };
        let mut found = Vec::new();
        memory_in(&app.settings.home).each_note(&wanted, MOST, |note| {
            found.push((note.id.to_string(), note.text.clone()));
            Ok::<(), recoup_core::Error>(())
        })?;
        Ok(found)
    }

    fn keys(&self, typed: &str) -> Result<Vec<Candidate>> {
        let (app, mut found) = (self.app()?, Vec::new());
        let cache = app.cache();
        let key_prefix = Some(typed.to_owned()).filter(|typed| !typed.is_empty());
        let filter = Filter { key_prefix, newest: Some(MOST), ..Filter::of_scope(&app.scope()) };
        cache.scan_filtered(&filter, &mut |id, head| {
            let about = head.map(|head| Report::new(id, head, cache.clock().now()).about());
            found.push((id.key.to_string(), about.unwrap_or_default()));
            Flow::Continue(())
        })?;
        Ok(found)
    }

    fn sessions(&self) -> Result<Vec<Candidate>> {
        let names = self.app()?.early_exit()?.list()?;
        Ok(names.into_iter().map(|name| (name.to_string(), String::new())).collect())
    }
}

fn plain(words: impl IntoIterator<Item = &'static str>) -> Vec<Candidate> {
    words.into_iter().map(|word| (word.to_owned(), String::new())).collect()
}

fn text(styled: Option<&clap::builder::StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default()
}

/// Programs on the PATH whose names start with `typed`.
fn programs(typed: &str) -> Vec<Candidate> {
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
