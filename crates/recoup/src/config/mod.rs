//! What is meant, from what was said: built-in values, files, the environment,
//! flags.
//!
//! `Gathered` is what was said, with its problems; [`Settings`] is what it
//! amounts to, with nothing left to interpret. Loading has no side effects.

mod clients;
mod document;
pub(crate) mod env;
mod expand;
mod faulty;
mod files;
mod gather;
mod given;
mod judge;
mod keys;
mod origin;
mod places;
pub(crate) mod prices;
mod problem;
mod redis;
mod resolve;
mod scope;
pub(crate) mod show;
pub(crate) mod trust;
mod value;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recoup_core::base::clock::SystemClock;
use recoup_core::base::project::{Project, ProjectRegistry, ProjectStanding};
use recoup_core::cache::{Freshness, Limits, Options, SourceLimits, Ttl};
use recoup_core::key::Scope;
use recoup_core::memory::{Memory, Waits};
use recoup_core::store::StoreUrl;
use recoup_core::{Error, Result};

use crate::hooks::Log;
use crate::install::Client;
use crate::mirror::Wants;
pub(crate) use clients::ClientDirs;
pub use env::{EnvVar, VARIABLES};
pub(crate) use gather::{Delicate, Gathered};
pub use judge::{JudgeSettings, Unready};
pub(crate) use origin::File;
pub(crate) use places::Places;
pub use prices::Prices;
pub(crate) use problem::Problem;
pub use value::{Megabytes, megabytes_in_bytes};
pub(crate) use value::{clients_in_words, peers_in_words};

/// Whether there is a key of that name.
pub(crate) fn knows(key: &str) -> bool {
    keys::find(key).is_some()
}

/// The project that the directory `start` belongs to, with the id that counts for it.
pub(crate) fn find_project(home: &Path, start: &Path) -> Result<Project> {
    let found = Project::find(start)?;
    let (clock, log) = (Arc::new(SystemClock), Arc::new(Log::below(home)));
    // Opened only if a project claims an id that is not registered yet.
    let memory = Memory::at(home.join("memory.db"), Waits::default(), clock, log);
    Ok(memory.settle_project(&ProjectRegistry::below(home), found))
}

/// What is wrong with the user's own file if it has this text; `shown` is what people call it.
pub(crate) fn problems_of_user_file(text: &str, shown: &str) -> Vec<Problem> {
    files::of_text(File::User, text.to_owned(), shown).problems
}

/// What flags say. They win over everything.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--store`
    pub store: Option<String>,
    /// `--scope`
    pub scope: Option<String>,
}

/// What a command works with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the command was started.
    pub cwd: PathBuf,
    /// Our own directory.
    pub home: PathBuf,
    /// The project that the command was started in.
    pub project: Project,
    /// Where entries are kept.
    pub store: StoreUrl,
    /// What answers in front of that.
    pub near: Option<Near>,
    /// Who shares them.
    pub scope: Scope,
    /// How they are kept.
    pub cache: CacheSettings,
    /// Where sessions of early-exit are kept, if that was said.
    pub early_exit_dir: Option<PathBuf>,
    /// What is noted of their use.
    pub notes: NoteSettings,
    /// The model that memory asks.
    pub judge: JudgeSettings,
    /// What is said in a run without a person counts as said by one.
    pub keeps_headless: bool,
    /// What is put where Claude Code reads it.
    pub mirror: Wants,
    /// Other programs that remember, and stay.
    pub kept_peers: Vec<&'static str>,
    /// Clients without hooks whose agents may record rules, or may not.
    pub(crate) recording: RecordingClients,
    /// The same without what the repository says.
    pub users_mirror: Wants,
    /// What tokens cost.
    pub prices: Prices,
    /// Faulty settings that were left out.
    pub left_out: Vec<String>,
    /// Other messages for the user, such as ignored settings.
    pub warnings: Vec<String>,
}

/// Clients without hooks about which the user has said whether their agents may record rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordingClients {
    /// Their agents may.
    pub(crate) allowed: Vec<Client>,
    /// They may not.
    pub(crate) denied: Vec<Client>,
}

/// A store of this machine's own in front of a shared one.
#[derive(Debug, Clone)]
pub struct Near {
    /// Where it is.
    pub store: StoreUrl,
    /// For how long it answers before the other is asked again.
    pub ttl: Ttl,
}

/// What is noted of the use of entries.
#[derive(Debug, Clone, Copy)]
pub struct NoteSettings {
    /// Look-ups are counted.
    pub ledger: bool,
    /// Each hit is a line in a log.
    pub hits: bool,
}

/// How entries are kept.
#[derive(Debug, Clone)]
pub struct CacheSettings {
    /// Off: nothing is given out, and nothing kept.
    pub enabled: bool,
    /// How much is kept of each kind within a scope.
    pub max_size: Megabytes,
    /// How many; none is as many as there are.
    pub max_entries: Option<u64>,
    /// For how long, unless told otherwise.
    pub ttl: Ttl,
    /// What counts as a change of a source.
    pub freshness: Freshness,
    /// How many source files an entry may have.
    pub max_source_files: u64,
    /// How large all of them together may be.
    pub max_source_size: Megabytes,
    /// The file that `cache set --synthesize` appends to.
    pub notes: Option<PathBuf>,
}

impl Settings {
    /// Reads everything that has a say.
    pub fn load(overrides: &Overrides) -> Result<Self> {
        let mut gathered = Gathered::new(overrides)?;
        gathered.settings().ok_or_else(|| problem::as_error(&gathered.problems))
    }

    /// The same without anything that is faulty, for commands that protect the user: they
    /// work whatever a file or a variable says.
    pub fn load_lenient(overrides: &Overrides) -> Result<Self> {
        let mut gathered = Gathered::new(overrides)?;
        gathered.leave_out_all_faulty();
        gathered.settings().ok_or_else(|| problem::as_error(&gathered.problems))
    }
}

impl Settings {
    /// A path inside the project must not lead out of it: the user agreed to the
    /// name, and whoever changes the repository could make it a link.
    pub(crate) fn demand_within_project(&self) -> Result<()> {
        let near = self.near.as_ref().and_then(|near| near.store.path());
        let paths = [
            ("store", self.store.path()),
            ("near.store", near),
            ("cache.notes", self.cache.notes.as_deref()),
            ("early_exit.dir", self.early_exit_dir.as_deref()),
        ];
        for (key, path) in paths {
            if let Some(path) = path.filter(|path| self.leads_out(path)) {
                return Err(Error::usage(format!(
                    "{key}: {} is inside the project, and a link leads out of it; name the place itself",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    fn leads_out(&self, path: &Path) -> bool {
        let root = self.project.root();
        let inside = path.starts_with(root) && !path.starts_with(&self.home);
        // What is not there yet is where its directory is.
        let real = || path.ancestors().find_map(|part| part.canonicalize().ok());
        let dangling = || path.is_symlink() && !path.exists();
        inside && (dangling() || real().is_none_or(|real| !real.starts_with(root)))
    }
}

impl CacheSettings {
    /// As the engine takes them.
    pub fn options(&self) -> Options {
        let Self {
            enabled,
            max_size,
            max_entries,
            ttl: _,
            freshness,
            max_source_files,
            max_source_size,
            notes: _,
        } = self;
        let limits = Limits { max_entries: *max_entries, max_bytes: Some(max_size.bytes()) };
        let sources = SourceLimits {
            files: usize::try_from(*max_source_files).unwrap_or(usize::MAX),
            bytes: max_source_size.bytes(),
        };
        let (enabled, freshness) = (*enabled, *freshness);
        Options { enabled, limits, freshness, sources, ..Options::default() }
    }
}

impl Gathered {
    /// What it amounts to; none when there are problems, all of which are then known.
    pub(crate) fn settings(&mut self) -> Option<Settings> {
        let store = self.resolve(&keys::STORE);
        if let Some(StoreUrl::Dir(_)) = store {
            // Whoever uses this format expects what its protocol says.
            self.set_built_in(keys::FRESHNESS.info.name, "mtime");
        }
        let (near_store, near_ttl) =
            (self.resolve(&keys::NEAR_STORE), self.resolve(&keys::NEAR_TTL));
        let scope = self.scope(store.as_ref());
        if let Some(scope) = &scope {
            self.set_scope(scope, store.as_ref());
        }
        let (cache, early_exit_dir) = (self.cache(), self.resolve(&keys::EARLY_EXIT_DIR));
        let (ledger, hits) = (self.resolve(&keys::LEDGER_ENABLED), self.resolve(&keys::LOG_HITS));
        let judge = self.judge();
        let keeps_headless = self.resolve(&keys::CAPTURE_HEADLESS);
        let mirror = self.mirror();
        let kept_peers = self.resolve(&keys::peers::KEEP);
        let recording = self.recording();
        self.problems.sort_by_key(|problem| problem.order);
        if !self.problems.is_empty() {
            return None;
        }
        Some(Settings {
            cwd: self.places.cwd.clone(),
            home: self.places.home.clone(),
            project: self.project.clone(),
            store: store?,
            near: near_store.zip(near_ttl).map(|(store, ttl)| Near { store, ttl }),
            scope: scope?,
            cache: cache?,
            early_exit_dir,
            notes: NoteSettings { ledger: ledger?, hits: hits? },
            judge: judge?,
            keeps_headless: keeps_headless?,
            mirror: mirror?,
            kept_peers: kept_peers?,
            recording: recording?,
            users_mirror: self.users_mirror(),
            prices: Prices::new(self.prices.clone()),
            left_out: self.left_out_warnings(),
            // What the user has been told is said again only where they ask.
            warnings: match self.project.standing() {
                ProjectStanding::Apart { is_told: true } => self.untrusted().into_iter().collect(),
                _ => self.notices(),
            },
        })
    }

    fn recording(&mut self) -> Option<RecordingClients> {
        let (allowed, denied) =
            (self.resolve(&keys::record::ALLOW), self.resolve(&keys::record::DENY));
        let (mut allowed, denied) = (allowed?, denied?);
        allowed.retain(|client| !denied.contains(client));
        Some(RecordingClients { allowed, denied })
    }

    /// Returns messages about sound settings: a checkout that stays apart, files not trusted yet.
    pub(crate) fn notices(&self) -> Vec<String> {
        let registry = ProjectRegistry::below(&self.places.home);
        registry.advice(&self.project).into_iter().chain(self.untrusted()).collect()
    }

    fn mirror(&mut self) -> Option<Wants> {
        let (rules, skills) =
            (self.resolve(&keys::mirror::RULES_SYNC), self.resolve(&keys::mirror::SKILLS_ENABLED));
        let place = self.resolve(&keys::mirror::SKILLS_PLACE);
        Some(Wants { rules: rules?, skills: Some(place?).filter(|_| skills == Some(true)) })
    }

    fn users_mirror(&self) -> Wants {
        let (rules, skills) =
            (self.users(&keys::mirror::RULES_SYNC), self.users(&keys::mirror::SKILLS_ENABLED));
        let place = self.users(&keys::mirror::SKILLS_PLACE);
        Wants { rules: rules == Some(true), skills: place.filter(|_| skills == Some(true)) }
    }

    /// A directory whose format has no scopes is one of its own, unless the user
    /// names one: then that is a directory in it.
    fn scope(&mut self, store: Option<&StoreUrl>) -> Option<Scope> {
        let said = self.counting(keys::SCOPE.info.name).any(|given| !given.is_built_in());
        let choice = self.resolve(&keys::SCOPE)?;
        match store {
            Some(store) if store.is_own_scope() && !said => Some(Scope::global()),
            _ => Some(choice.resolve(&self.project)),
        }
    }

    fn cache(&mut self) -> Option<CacheSettings> {
        // All are read before any is asked for, so that every problem is found.
        let (enabled, ttl) = (self.resolve(&keys::ENABLED), self.resolve(&keys::TTL));
        let max_size = self.resolve(&keys::MAX_SIZE_MB);
        let max_entries = self.resolve(&keys::MAX_ENTRIES);
        let (freshness, notes) = (self.resolve(&keys::FRESHNESS), self.resolve(&keys::NOTES));
        let max_source_files = self.resolve(&keys::MAX_SOURCE_FILES);
        let max_source_size = self.resolve(&keys::MAX_SOURCE_MB);
        Some(CacheSettings {
            enabled: enabled?,
            max_size: max_size?,
            max_entries,
            ttl: ttl?,
            freshness: freshness?,
            max_source_files: max_source_files?,
            max_source_size: max_source_size?,
            notes,
        })
    }

    /// Everything that is wrong, and what a person should know.
    pub(crate) fn check(mut self) -> (Vec<Problem>, Vec<String>) {
        let notices = self.settings().map(|_| self.notices()).unwrap_or_default();
        let mut problems = self.problems;
        problems.extend(self.left_out);
        problems.sort_by_key(|problem| problem.order);
        (problems, notices)
    }
}
