//! The receiver of what sources hold: decides about each item, and writes what comes in.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::base::project::ProjectRegistry;
use recoup_core::cache::{Cache, FillOutcome, LookupRequest, PathContext, SinceToken, Ttl};
use recoup_core::entry::Draft;
use recoup_core::key::{EntryId, Key};
use recoup_core::memory::{
    CHECKPOINT_LIFETIME, Memory, Note, NoteId, NoteScope, NoteStatus, Statement, WorkCheckpoint,
    note_from_elsewhere,
};
use recoup_core::{Result, secrets};
use serde::Serialize;

use super::rule_files;
use crate::app::App;
use crate::config::{self, BaseDirs};

/// Most characters of an item's text that are shown.
const MOST_SHOWN: usize = 160;

/// Kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ItemKind {
    /// A statement in another memory.
    Memory,
    /// A statement in a file with rules.
    Rule,
    /// A result.
    Entry,
    /// The state of unfinished work.
    Checkpoint,
}

/// Outcome for an item; in a dry run the one that it would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ItemOutcome {
    /// Came in; a statement counts as a rule.
    Imported,
    /// Came in, and waits for the user.
    Candidate,
    /// A rule of a file, which the user chooses or not.
    Offered,
    /// Known before, and left as it is.
    Known,
    /// Stays out, for a reason.
    LeftOut,
}

/// An item of a source, and its outcome.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ImportedItem {
    pub(crate) kind: ItemKind,
    /// Text or key, shortened, without secrets.
    pub(crate) text: String,
    pub(crate) outcome: ItemOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    #[serde(skip)]
    pub(crate) offered: Option<Box<Statement>>,
}

/// An entry of another program.
pub(super) struct FoundEntry {
    pub(super) key: Key,
    pub(super) draft: Draft,
    pub(super) ttl: Ttl,
    /// Its sources, from the project's root.
    pub(super) sources: Vec<String>,
    /// Time before which the sources must have changed last, if their state is not known.
    pub(super) unchanged_since: Option<Timestamp>,
}

/// Settings of an import.
#[derive(Debug, Clone, Default)]
pub(crate) struct ImportOptions {
    /// True if nothing is written.
    pub(crate) dry_run: bool,
    /// Names that this project has in other programs.
    pub(crate) project_names: Vec<String>,
}

/// Receives the items of one source.
pub(super) struct ImportSink<'a> {
    app: &'a App,
    options: &'a ImportOptions,
    now: Timestamp,
    memory: Memory,
    cache: Option<Cache>,
    items: Vec<ImportedItem>,
    /// Notes that wait to be imported together, with the places of their items.
    notes: Vec<(usize, Note)>,
    seen: HashSet<NoteId>,
    /// Scope of the project that was asked for last, by its name.
    last_project: Option<(String, Result<NoteScope, String>)>,
}

impl<'a> ImportSink<'a> {
    pub(super) fn new(app: &'a App, options: &'a ImportOptions) -> Self {
        Self {
            app,
            options,
            now: SystemClock.now(),
            memory: app.memory(),
            cache: None,
            items: Vec::new(),
            notes: Vec::new(),
            seen: HashSet::new(),
            last_project: None,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Paths of sources count from the project's root in other programs.
    pub(super) fn view_from_root(&self) -> PathContext {
        let root = self.app.settings.project.root().to_owned();
        PathContext { cwd: root.clone(), root }
    }

    pub(super) fn universal(&self) -> NoteScope {
        self.app.note_scope(true)
    }

    /// Scope of the project that another program knows by the name of its directory, or by its
    /// path. The reason if that is not one known project. Without a name it is this project.
    pub(super) fn scope_of_project(&mut self, name: Option<&str>) -> Result<NoteScope, String> {
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(self.app.note_scope(false));
        };
        if let Some((known, scope)) = &self.last_project
            && known == name
        {
            return scope.clone();
        }
        let scope = self.find_scope(name);
        self.last_project = Some((name.to_owned(), scope.clone()));
        scope
    }

    fn find_scope(&self, name: &str) -> Result<NoteScope, String> {
        let settings = &self.app.settings;
        if self.options.project_names.iter().any(|own| own == name) {
            return Ok(self.app.note_scope(false));
        }
        if Path::new(name).is_absolute() {
            let found = config::find_project(&settings.home, Path::new(name));
            return found
                .map(|project| NoteScope::Project(project.id().clone()))
                .map_err(|_| format!("of a project that is gone: {name}"));
        }
        // A worktree is named behind its project.
        let base = name.split('/').next().unwrap_or(name);
        let has_name = |root: &Path| root.file_name().is_some_and(|it| it.to_str() == Some(base));
        let own = &settings.project;
        let mut found = Vec::new();
        for (id, record) in ProjectRegistry::below(&settings.home).all_records() {
            let root = PathBuf::from(record.root);
            // A place may have had other ids before; only its present one counts.
            if has_name(&root) && root != own.root() && root != own.main_root() {
                let project = config::find_project(&settings.home, &root);
                found.push(project.map_or(id, |project| project.id().clone()));
            }
        }
        if has_name(&own.main_root()) {
            found.push(own.id().clone());
        }
        found.sort();
        found.dedup();
        match found.len() {
            1 => Ok(NoteScope::Project(found.remove(0))),
            0 => Err(format!(
                "of the project {name}, which is not known here: import in it, or with --project {name}"
            )),
            _ => Err(format!(
                "several projects here are called {name}: import in the right one with --project {name}"
            )),
        }
    }

    /// Scope of the rules in a file, and the directory that they are about.
    pub(super) fn place_of_rule_file(&self, path: &Path) -> Result<(NoteScope, String)> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let user_home = BaseDirs::find()?.user_home.and_then(|home| home.canonicalize().ok());
        let below_home = user_home.and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned()));
        // `~/.claude/CLAUDE.md` is about all projects.
        if below_home.is_some_and(|it| it.to_string_lossy().starts_with('.')) {
            return Ok((self.universal(), String::new()));
        }
        let dir = path.parent().unwrap_or(&path);
        let own = &self.app.settings.project;
        let project = config::find_project(&self.app.settings.home, dir)?;
        let project = if dir.starts_with(own.root()) { own } else { &project };
        let relative = path.strip_prefix(project.root()).unwrap_or(Path::new(""));
        Ok((NoteScope::Project(project.id().clone()), rule_files::base_directory(relative)))
    }

    fn push(&mut self, kind: ItemKind, text: &str, outcome: ItemOutcome, why: Option<String>) {
        let redacted = secrets::redact(text);
        let mut words = redacted.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((at, _)) = words.char_indices().nth(MOST_SHOWN) {
            words.truncate(at);
            words.push('…');
        }
        self.items.push(ImportedItem { kind, text: words, outcome, why, offered: None });
    }

    pub(super) fn leave_out(&mut self, kind: ItemKind, text: &str, why: &str) {
        self.push(kind, text, ItemOutcome::LeftOut, Some(why.to_owned()));
    }

    /// Adds a statement of another memory.
    pub(super) fn add_note(&mut self, statement: Statement, made: Timestamp) {
        let (kind, text) = (ItemKind::Memory, statement.text.clone());
        match note_from_elsewhere(statement, made.min(self.now)) {
            Err(error) => self.leave_out(kind, &text, &error.to_string()),
            Ok(note) if !self.seen.insert(note.id.clone()) => {
                self.leave_out(kind, &text, "said before in this source");
            }
            Ok(note) => {
                let is_rule = note.status == NoteStatus::Active;
                let outcome = if is_rule { ItemOutcome::Imported } else { ItemOutcome::Candidate };
                self.notes.push((self.items.len(), note));
                self.push(kind, &text, outcome, None);
            }
        }
    }

    /// Adds a statement of a file with rules, for the user to choose.
    pub(super) fn add_rule(&mut self, statement: Statement) -> Result<()> {
        let (kind, text) = (ItemKind::Rule, statement.text.clone());
        match note_from_elsewhere(statement.clone(), self.now) {
            Err(error) => self.leave_out(kind, &text, &error.to_string()),
            Ok(note) if !self.seen.insert(note.id.clone()) => {
                self.leave_out(kind, &text, "said before in this source");
            }
            Ok(note) if self.memory.known_notes(std::slice::from_ref(&note))?.contains(&true) => {
                self.push(kind, &text, ItemOutcome::Known, None);
            }
            Ok(_) => {
                self.push(kind, &text, ItemOutcome::Offered, None);
                if let Some(item) = self.items.last_mut() {
                    item.offered = Some(Box::new(statement));
                }
            }
        }
        Ok(())
    }

    /// Adds a checkpoint, unless it is old or there is one.
    pub(super) fn add_checkpoint(
        &mut self,
        project: Option<&str>,
        checkpoint: &WorkCheckpoint,
        made: Timestamp,
    ) -> Result<()> {
        let kind = ItemKind::Checkpoint;
        let text = checkpoint.remaining.first().or(checkpoint.completed.first());
        let text = text.cloned().unwrap_or_default();
        let scope = match self.scope_of_project(project) {
            Ok(scope) => scope,
            Err(why) => {
                self.leave_out(kind, &text, &why);
                return Ok(());
            }
        };
        let made = made.min(self.now);
        if made <= self.now.before(CHECKPOINT_LIFETIME) {
            self.leave_out(kind, &text, "older than a week");
        } else if self.memory.checkpoint(&scope)?.is_some() {
            self.push(kind, &text, ItemOutcome::Known, None);
        } else if self.options.dry_run
            || self.app.memory_for_writing()?.import_checkpoint(&scope, checkpoint, made)?
        {
            self.push(kind, &text, ItemOutcome::Imported, None);
        } else {
            self.leave_out(kind, &text, "nothing remains to be done");
        }
        Ok(())
    }

    /// Adds an entry, under its own key, to the scope of the command.
    pub(super) fn add_entry(&mut self, shown: &str, found: FoundEntry) -> Result<()> {
        let kind = ItemKind::Entry;
        match self.keep_entry(found)? {
            Ok(outcome) => self.push(kind, shown, outcome, None),
            Err(why) => self.leave_out(kind, shown, &why),
        }
        Ok(())
    }

    fn keep_entry(&mut self, found: FoundEntry) -> Result<Result<ItemOutcome, String>> {
        let cache = match &self.cache {
            Some(cache) => cache.clone(),
            None if self.options.dry_run => self.app.cache(),
            None => self.app.cache_for_writing()?,
        };
        self.cache = Some(cache.clone());
        let FoundEntry { key, draft, ttl, sources, unchanged_since } = found;
        if !cache.enabled() {
            return Ok(Err("the cache is switched off".to_owned()));
        }
        let (id, view) = (EntryId::new(self.app.scope(), key), self.view_from_root());
        let known = cache.peek(&LookupRequest::new(draft.kind, &id, &view));
        if known.entry().is_some() {
            return Ok(Ok(ItemOutcome::Known));
        }
        for body in std::iter::once(&draft.body).chain(&draft.full) {
            if let Some(rule) = secrets::detect_secret(&body.to_bytes()?) {
                return Ok(Err(format!("it contains a secret ({rule})")));
            }
        }
        if self.options.dry_run {
            return Ok(Ok(ItemOutcome::Imported));
        }
        let permit = match cache.permit(&id, &view, &sources) {
            Ok(permit) => permit,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let unchanged = match unchanged_since {
            Some(then) => permit.require_unchanged_since(&SinceToken::at_time(then)),
            None => Ok(permit),
        };
        let filled = match unchanged {
            Ok(permit) => permit.fill(draft, ttl)?,
            Err(refusal) => FillOutcome::Refused(refusal),
        };
        Ok(match filled {
            FillOutcome::Stored(_) => Ok(ItemOutcome::Imported),
            FillOutcome::Off => Err("it lives for no time".to_owned()),
            FillOutcome::Refused(refusal) => Err(refusal.to_string()),
        })
    }

    /// Imports the notes that are new, and returns all items.
    pub(super) fn finish(mut self) -> Result<Vec<ImportedItem>> {
        let (places, notes): (Vec<usize>, Vec<Note>) = self.notes.into_iter().unzip();
        let known = self.memory.known_notes(&notes)?;
        let mut fresh = Vec::new();
        for ((place, note), is_known) in places.into_iter().zip(notes).zip(known) {
            if is_known {
                self.items[place].outcome = ItemOutcome::Known;
            } else {
                fresh.push(note);
            }
        }
        if !self.options.dry_run && !fresh.is_empty() {
            let memory = self.app.memory_for_writing()?;
            memory.import(&fresh)?;
            // Best effort: the notes are stored, and the next command tries again.
            let _ = memory.snapshot_daily();
            let scopes: Vec<NoteScope> = fresh.into_iter().map(|note| note.scope).collect();
            self.app.refresh_mirrors(&scopes);
        }
        Ok(self.items)
    }
}

/// Records a rule of a file that the user has chosen, with the text that they gave it. It is known
/// by its text in the file, also if that was changed.
pub(crate) fn record_rule(app: &App, item: &mut ImportedItem, text: Option<String>) -> Result<()> {
    let Some(offered) = item.offered.take() else { return Ok(()) };
    let now = SystemClock.now();
    let Note { id, .. } = note_from_elsewhere(Statement::clone(&offered), now)?;
    let text = text.unwrap_or_else(|| offered.text.clone());
    let note = Note { id, ..note_from_elsewhere(Statement { text, ..*offered }, now)? };
    let memory = app.memory_for_writing()?;
    item.outcome = ItemOutcome::Known;
    if memory.import(std::slice::from_ref(&note))?.added > 0 {
        // The user's latest word: what contradicts it gives way.
        memory.activate(&note.id, "agreed")?;
        item.outcome = ItemOutcome::Imported;
    }
    Ok(())
}

/// Time of a row: milliseconds since 1970, or seconds in some versions; none is long ago.
pub(super) fn moment(at: Option<i64>) -> Timestamp {
    /// As milliseconds, a time in 1973: these are seconds.
    const LEAST_MILLIS: i64 = 100_000_000_000;
    match at.unwrap_or(0) {
        at if at < LEAST_MILLIS => Timestamp::from_seconds(at.max(0)),
        at => Timestamp::from_millis(at),
    }
}
