//! The application below its edges: settings, and what is opened by them, each on first use.
//!
//! Commands, hooks and the MCP server work through an [`App`]. It prints nothing: what must
//! be told is returned, or goes to the fault log that it was opened with.

pub(crate) mod disk;
pub(crate) mod explain;
mod forget;
mod mirrors;
mod models;
pub(crate) mod projects;
mod rules;
pub(crate) mod tools;

use std::path::Path;
use std::sync::Arc;

use recoup_core::base::FaultLog;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectId, ProjectRegistry, ProjectStanding};
use recoup_core::cache::{Cache, CacheParts, PathContext};
use recoup_core::early_exit::EarlyExit;
use recoup_core::key::Scope;
use recoup_core::ledger::{AppendMode, HitLog, Ledger};
use recoup_core::memory::judge::account::JudgeAccount;
use recoup_core::memory::{Memory, NoteScope, WaitLimits};
use recoup_core::store::{
    DirectoryStore, FileClaims, InMemoryStore, Store, StoreContext, StoreUrl, TieredStore,
};
use recoup_core::{Error, Result};

use crate::clients::AgentClient;
use crate::config::{FlagOverrides, JudgeUnreadyReason, NearStoreSettings, ResolvedSettings};
use crate::llm::{ModelEndpoint, ModelJudge};
pub(crate) use mirrors::{
    leftover_warnings, problem_warnings, refresh_mirrors, remove_all_mirrors,
    remove_unwanted_mirrors,
};
use projects::ProjectNames;

/// Bytes of the gateway's memory tier, and the time for which it answers before the store is asked
/// again: purges of other instances count after that.
const GATEWAY_MEMORY: u64 = 64 << 20;
const GATEWAY_MEMORY_MILLIS: u64 = 1_500;

/// The directory of early-exit's sessions.
const EARLY_EXIT_DIR: &str = "early-exit";

/// Context of one command or server. Leaked on purpose: the process ends first, and closing a
/// database that is about to be closed anyway only takes time.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) settings: ResolvedSettings,
    /// Receives faults after which the work goes on, and warnings.
    pub(crate) faults: Arc<dyn FaultLog>,
}

impl App {
    /// Loads the settings; opens nothing else.
    pub(crate) fn open(
        overrides: &FlagOverrides,
        faults: Arc<dyn FaultLog>,
    ) -> Result<&'static Self> {
        let settings = ResolvedSettings::load(overrides)?;
        settings.demand_within_project()?;
        Ok(Box::leak(Box::new(Self { settings, faults })))
    }

    /// Skips faulty settings, for commands that protect the user.
    pub(crate) fn open_lenient(
        overrides: &FlagOverrides,
        faults: Arc<dyn FaultLog>,
    ) -> Result<&'static Self> {
        let settings = ResolvedSettings::load_lenient(overrides)?;
        Ok(Box::leak(Box::new(Self { settings, faults })))
    }

    /// Tells the fault log which settings are ignored, and other warnings about them.
    pub(crate) fn report_warnings(&self) {
        for warning in self.settings.left_out.iter().chain(&self.settings.warnings) {
            self.faults.fault("configuration", &Error::usage(warning.as_str()));
        }
    }

    /// Records that the advice about a checkout that stays apart was given.
    pub(crate) fn mark_apart_advice_told(&self) {
        let ResolvedSettings { home, project, .. } = &self.settings;
        if project.standing() == (ProjectStanding::Apart { is_told: false }) && home.is_dir() {
            // Best effort: an unrecorded warning is only repeated.
            let _ = self.registry().mark_told(project);
        }
    }

    fn registry(&self) -> ProjectRegistry {
        ProjectRegistry::below(&self.settings.home)
    }

    /// The scope that was asked for.
    pub(crate) fn scope(&self) -> Scope {
        self.settings.scope.clone()
    }

    /// Root and working directory from which source files are resolved.
    pub(crate) fn view(&self) -> PathContext {
        let root = self.settings.project.root().to_owned();
        PathContext { root, cwd: self.settings.cwd.clone() }
    }

    /// The cache, for reading.
    pub(crate) fn cache(&self) -> Cache {
        self.assemble_cache(self.store(), AppendMode::AtOnce)
    }

    /// The cache of a long-lived process. Events are appended several at a time, the last ones by
    /// [`Cache::flush_events`].
    pub(crate) fn cache_of_server(&self) -> Cache {
        self.assemble_cache(self.store(), AppendMode::Together)
    }

    /// The cache of the gateway: that of a server, with a memory tier in front of everything.
    pub(crate) fn cache_of_gateway(&self) -> Cache {
        let around = self.store_context();
        let front = Arc::new(InMemoryStore::with_capacity(GATEWAY_MEMORY));
        let (clock, faults) = (around.clock, around.faults);
        let store = TieredStore::new(front, self.store(), GATEWAY_MEMORY_MILLIS, clock, faults);
        self.assemble_cache(Arc::new(store), AppendMode::Together)
    }

    /// A cache that nothing is read from, for a gateway that replays.
    pub(crate) fn cache_in_memory(&self) -> Cache {
        let store = InMemoryStore::with_capacity(GATEWAY_MEMORY);
        self.assemble_cache(Arc::new(store), AppendMode::Together)
    }

    /// The cache without the near tier, for commands that inspect the store itself.
    pub(crate) fn cache_without_near_tier(&self) -> Cache {
        self.assemble_cache(self.settings.store.open(&self.store_context()), AppendMode::AtOnce)
    }

    fn assemble_cache(&self, store: Arc<dyn Store>, appends: AppendMode) -> Cache {
        let ResolvedSettings { home, store: url, cache: options, .. } = &self.settings;
        let claims_dir = home.join("claims").join(url.fingerprint());
        let cache = Cache::from_parts(CacheParts {
            store,
            clock: Arc::new(SystemClock),
            ledger: self.ledger(appends),
            claims: url.claims(&self.store_context(), Arc::new(FileClaims::at(claims_dir))),
            options: options.options(),
        });
        // Leaked on purpose, like `App`.
        std::mem::forget(cache.clone());
        cache
    }

    fn ledger(&self, appends: AppendMode) -> Option<Ledger> {
        let usage_log = self.settings.usage_log;
        let hits = usage_log.hits.then(|| HitLog::in_dir(self.settings.home.join("logs")));
        // Each store has its own: hits in one must not count for another.
        let dir = self.settings.home.join("ledger").join(self.settings.store.fingerprint());
        usage_log.ledger.then(|| Ledger::open(dir, hits, appends))
    }

    fn store(&self) -> Arc<dyn Store> {
        let around = self.store_context();
        let store = self.settings.store.open(&around);
        let Some(NearStoreSettings { store: near, ttl }) = &self.settings.near else {
            return store;
        };
        let max_age = ttl.as_millis().unwrap_or(u64::MAX);
        let front = near.open_as_front_tier(&around);
        Arc::new(TieredStore::new(front, store, max_age, around.clock, around.faults))
    }

    fn store_context(&self) -> StoreContext {
        StoreContext {
            clock: Arc::new(SystemClock),
            faults: Arc::clone(&self.faults),
            breakers: Some(self.settings.home.join("breakers")),
        }
    }

    /// Early-exit sessions, stored next to the cache: on its server, in its directory, or else in a
    /// local directory.
    pub(crate) fn early_exit(&self) -> Result<EarlyExit> {
        let ResolvedSettings { store, early_exit_dir, home, .. } = &self.settings;
        let dir = match (early_exit_dir, store) {
            (Some(dir), _) => dir.clone(),
            (None, StoreUrl::Dir(store)) => {
                let dir = store.join(EARLY_EXIT_DIR);
                // Symbolic links below such a store are not followed.
                fsx::is_real_dir(&dir)?;
                dir
            }
            (None, _) => home.join(EARLY_EXIT_DIR),
        };
        Ok(EarlyExit::open(store, &dir, Arc::new(SystemClock)))
    }

    /// Like [`Self::early_exit`], and creates the directory.
    pub(crate) fn early_exit_for_writing(&self) -> Result<EarlyExit> {
        match (&self.settings.early_exit_dir, &self.settings.store) {
            (Some(_), _) | (None, StoreUrl::Redis(_)) => {}
            (None, StoreUrl::Dir(dir)) if dir.join(EARLY_EXIT_DIR).is_dir() => {}
            (None, StoreUrl::Dir(dir)) => {
                DirectoryStore::at(dir, Arc::clone(&self.faults)).hide_from_git()?;
            }
            (None, _) => fsx::ensure_private_dir(&self.settings.home)?,
        }
        self.early_exit()
    }

    /// The cache, for writing; creates our home directory, private.
    pub(crate) fn cache_for_writing(&self) -> Result<Cache> {
        self.prepare_cache()?;
        Ok(self.cache())
    }

    /// Creates the directory that the cache writes to, and records the project.
    pub(crate) fn prepare_cache(&self) -> Result<()> {
        let near = self.settings.near.as_ref().map(|near| &near.store);
        let mut paths = [Some(&self.settings.store), near].into_iter().flatten();
        let home = &self.settings.home;
        if paths.any(|store| store.path().is_some_and(|path| path.starts_with(home))) {
            fsx::ensure_private_dir(home)?;
        }
        if self.scope() == Scope::project(self.settings.project.id()) {
            self.record_project(&self.settings.project);
        }
        Ok(())
    }

    /// Records that a checkout belongs to its project.
    pub(crate) fn record_project(&self, project: &Project) {
        // Best effort: the next command tries again.
        let _ = self.registry().record(project);
    }

    /// Memory, for reading. Notes from before the project had its repository or remote are moved to
    /// its current id.
    pub(crate) fn memory(&self) -> Memory {
        let memory = memory_in(&self.settings.home, Arc::clone(&self.faults));
        // On a read-only home they stay under the old id.
        if memory.move_from_former_ids(&self.settings.project).is_ok_and(|moved| moved > 0) {
            self.record_project(&self.settings.project);
        }
        memory
    }

    /// Memory, for writing; creates our home directory, private.
    pub(crate) fn memory_for_writing(&self) -> Result<Memory> {
        self.prepare_memory()?;
        Ok(self.memory())
    }

    /// Creates the directory that memory writes to, and records the project.
    pub(crate) fn prepare_memory(&self) -> Result<()> {
        fsx::ensure_private_dir(&self.settings.home)?;
        self.record_project(&self.settings.project);
        Ok(())
    }

    /// The model that memory may ask, or the reason why there is none. Opens and sends nothing.
    pub(crate) fn judge(&self) -> Result<Result<ModelJudge, JudgeUnreadyReason>> {
        Ok(self.settings.judge.endpoint()?.map(|endpoint| self.judge_at(endpoint)))
    }

    /// Like [`Self::judge`], and creates our home directory, where usage is counted.
    pub(crate) fn judge_for_asking(&self) -> Result<Result<ModelJudge, JudgeUnreadyReason>> {
        let judge = self.judge()?;
        if judge.is_ok() {
            fsx::ensure_private_dir(&self.settings.home)?;
        }
        Ok(judge)
    }

    /// A judge for reading the usage counters only.
    pub(crate) fn judge_without_key(&self) -> ModelJudge {
        self.judge_at(self.settings.judge.without_key())
    }

    fn judge_at(&self, endpoint: ModelEndpoint) -> ModelJudge {
        let account =
            JudgeAccount::at(self.settings.home.join("judge.json"), Arc::new(SystemClock));
        ModelJudge::new(endpoint, account, self.settings.judge.daily_tokens)
    }

    /// Scope of a note recorded here: this project, or all projects.
    pub(crate) fn note_scope(&self, universal: bool) -> NoteScope {
        if universal {
            return NoteScope::Universal;
        }
        NoteScope::Project(self.settings.project.id().clone())
    }

    /// Name of any project for people: its path, or its id.
    pub(crate) fn project_name(&self, project: &ProjectId) -> String {
        if project == self.settings.project.id() {
            return self.settings.project.root().display().to_string();
        }
        let names = ProjectNames::read(&self.settings.home);
        names.root(&Scope::project(project)).map_or_else(|| project.to_string(), str::to_owned)
    }

    /// Returns the client behind an MCP client's name, if the user allows its agents to record
    /// rules.
    pub(crate) fn recording_client(&self, client: &str) -> Option<&'static str> {
        let allowed = &self.settings.recording.allowed;
        AgentClient::of_mcp_name(client).filter(|it| allowed.contains(it)).map(AgentClient::as_str)
    }
}

/// Memory below our home directory `home`.
pub(crate) fn memory_in(home: &Path, faults: Arc<dyn FaultLog>) -> Memory {
    Memory::at(home.join("memory.db"), WaitLimits::default(), Arc::new(SystemClock), faults)
}
