//! Configuration from defaults, files, the environment and flags.
//!
//! `GatheredConfig` has all values with their problems; [`ResolvedSettings`] has the result, with nothing left to
//! interpret. Loading has no side effects.

mod clients;
mod commands;
mod configured_value;
mod definitions;
mod document;
pub(crate) mod env;
mod faulty;
mod files;
mod gateway;
mod gather;
mod judge;
mod keys;
mod node_reader;
mod origin;
mod places;
pub(crate) mod prices;
mod problem;
mod providers;
mod resolve;
pub(crate) mod show;
mod tools;
pub(crate) mod trust;
mod value;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recoup_core::base::clock::SystemClock;
use recoup_core::base::project::{Project, ProjectRegistry, ProjectStanding};
use recoup_core::cache::{CacheLimits, CacheOptions, FreshnessCheck, SourceLimits, Ttl};
use recoup_core::key::Scope;
use recoup_core::memory::{CheckStrength, Memory, WaitLimits};
use recoup_core::store::StoreUrl;
use recoup_core::{Error, Result};

use crate::clients::AgentClient;
use crate::jobs::HookLog;
use crate::mirror::MirrorSettings;
use crate::toolbox::ToolCacheSettings;
pub(crate) use clients::{ask_client_settings, find_client_dirs};
pub(crate) use commands::{CommandPattern, CommandRule, CommandSettings};
pub(crate) use definitions::{
    AgentSettings, SERVER_DEFINITION_KEYS, describe_server, expand_own_server, read_server,
    snake_case,
};
pub(crate) use document::{ConfigNode, ConfigValue, DocumentError, YamlSource, read_yaml};
pub use env::{EnvVar, VARIABLES};
pub(crate) use files::mentions_commands;
pub use gateway::GatewaySettings;
pub(crate) use gateway::{
    DailyBudget, GatewayCacheRule, GatewayLimits, TenantSettings, UpstreamSettings,
};
pub(crate) use gather::{GatheredConfig, SensitiveFile};
pub use judge::{JudgeSettings, JudgeUnreadyReason};
pub(crate) use node_reader::{NodeProblem, NodeReader};
pub(crate) use origin::ConfigFile;
pub(crate) use places::BaseDirs;
pub use prices::PriceTable;
pub(crate) use prices::TokenPrice;
pub(crate) use problem::{ConfigProblem, nearest_name, unknown_key_message};
pub(crate) use providers::ProviderDefinition;
pub use value::{MegabyteSize, megabytes_in_bytes};
pub(crate) use value::{clients_in_words, is_variable_name, peers_in_words};

/// True if there is a key of that name.
pub(crate) fn is_known_key(key: &str) -> bool {
    keys::find_key(key).is_some()
}

/// The project that the directory `start` belongs to, with its registered ID.
pub(crate) fn find_project(home: &Path, start: &Path) -> Result<Project> {
    let found = Project::find(start)?;
    let (clock, log) = (Arc::new(SystemClock), Arc::new(HookLog::below(home)));
    // Opened only if a project claims an id that is not registered yet.
    let memory = Memory::at(home.join("memory.db"), WaitLimits::default(), clock, log);
    Ok(memory.settle_project(&ProjectRegistry::below(home), found))
}

/// Problems that the user's own file would have with this text; messages call it `shown`.
pub(crate) fn problems_of_user_file(text: &str, shown: &str) -> Vec<ConfigProblem> {
    files::read_text(ConfigFile::User, text.to_owned(), shown).problems
}

/// Values from flags, which override everything.
#[derive(Debug, Clone, Default)]
pub struct FlagOverrides {
    /// `--store`
    pub store: Option<String>,
    /// `--scope`
    pub scope: Option<String>,
}

/// Resolved settings of a command.
#[derive(Debug, Clone)]
pub struct ResolvedSettings {
    /// Working directory at start.
    pub cwd: PathBuf,
    /// Recoup's own directory.
    pub home: PathBuf,
    /// Project of the working directory.
    pub project: Project,
    /// Store of the entries.
    pub store: StoreUrl,
    /// Near store in front of it.
    pub near: Option<NearStoreSettings>,
    /// Scope of the entries.
    pub scope: Scope,
    /// Limits and freshness of the entries.
    pub cache: CacheSettings,
    /// Directory of early-exit sessions, if set.
    pub early_exit_dir: Option<PathBuf>,
    /// Records of look-ups and hits.
    pub usage_log: UsageLogSettings,
    /// Settings of the judge.
    pub judge: JudgeSettings,
    /// True if statements in a headless run count as a person's.
    pub keeps_headless: bool,
    /// Effect of rules that have a check.
    pub(crate) enforcement: EnforcementSettings,
    /// Rules and skills to mirror for Claude Code.
    pub mirror: MirrorSettings,
    /// Other memory programs that stay.
    pub kept_peers: Vec<&'static str>,
    /// Clients without hooks whose agents may record rules, or may not.
    pub(crate) recording: RecordingClients,
    /// Mirror settings without the repository's values.
    pub users_mirror: MirrorSettings,
    /// Prices of tokens.
    pub prices: PriceTable,
    /// Caching of tool calls, by server.
    pub(crate) tools: ToolCacheSettings,
    /// Providers, servers and variables of agents.
    pub(crate) agents: AgentSettings,
    /// Commands of agents that are answered from the cache.
    pub(crate) commands: CommandSettings,
    /// Settings of the gateway.
    pub gateway: GatewaySettings,
    /// Warnings about faulty settings that were ignored.
    pub left_out: Vec<String>,
    /// Other messages for the user, such as ignored settings.
    pub warnings: Vec<String>,
}

/// The user's decisions about clients without hooks whose agents record rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordingClients {
    /// Clients that may record.
    pub(crate) allowed: Vec<AgentClient>,
    /// Clients that may not.
    pub(crate) denied: Vec<AgentClient>,
}

/// A near store: local, in front of a shared one.
#[derive(Debug, Clone)]
pub struct NearStoreSettings {
    /// Location of the near store.
    pub store: StoreUrl,
    /// Time for which it answers before the shared store is asked again.
    pub ttl: Ttl,
}

/// Records of the use of entries.
#[derive(Debug, Clone, Copy)]
pub struct UsageLogSettings {
    /// True if look-ups are counted.
    pub ledger: bool,
    /// True if each hit is written to a log.
    pub hits: bool,
}

/// Settings of the cache.
#[derive(Debug, Clone)]
pub struct CacheSettings {
    /// If false, nothing is stored or returned.
    pub enabled: bool,
    /// Size limit of each kind within a scope.
    pub max_size: MegabyteSize,
    /// Entry limit of each kind within a scope; none for no limit.
    pub max_entries: Option<u64>,
    /// Default time to live.
    pub ttl: Ttl,
    /// Definition of a source's change.
    pub freshness: FreshnessCheck,
    /// Upper limit for source files of an entry.
    pub max_source_files: u64,
    /// Upper limit for their total size.
    pub max_source_size: MegabyteSize,
    /// The file that `cache set --synthesize` appends to.
    pub notes: Option<PathBuf>,
}

/// Effect of rules on calls that would break them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnforcementSettings {
    /// Strength of rules for which the user has chosen none.
    pub(crate) strength: CheckStrength,
    /// True if the client also asks about calls of sub-agents and where no person is present.
    pub(crate) asks_headless: bool,
}

impl Default for EnforcementSettings {
    fn default() -> Self {
        Self { strength: CheckStrength::Remind, asks_headless: false }
    }
}

impl ResolvedSettings {
    /// Loads the settings from all layers.
    pub fn load(overrides: &FlagOverrides) -> Result<Self> {
        let mut gathered = GatheredConfig::new(overrides)?;
        gathered.resolve_settings().ok_or_else(|| problem::as_error(&gathered.problems))
    }

    /// Loads the settings without faulty values, for commands that protect the user and must always
    /// work.
    pub fn load_lenient(overrides: &FlagOverrides) -> Result<Self> {
        let mut gathered = GatheredConfig::new(overrides)?;
        gathered.leave_out_all_faulty();
        gathered.resolve_settings().ok_or_else(|| problem::as_error(&gathered.problems))
    }
}

impl ResolvedSettings {
    /// Refuses a path inside the project that leads out of it: the user trusted the name, and a
    /// change in the repository could make it a link.
    pub(crate) fn demand_within_project(&self) -> Result<()> {
        let near = self.near.as_ref().and_then(|near| near.store.path());
        let paths = [
            ("store", self.store.path()),
            ("near.store", near),
            ("cache.notes", self.cache.notes.as_deref()),
            ("early_exit.dir", self.early_exit_dir.as_deref()),
        ];
        let root = self.project.root();
        for (key, path) in paths {
            let is_inside = |path: &&Path| path.starts_with(root) && !path.starts_with(&self.home);
            let Some(path) = path.filter(is_inside) else { continue };
            let is_dangling = path.is_symlink() && !path.exists();
            // A path that does not exist yet is where its directory is.
            let real = path.ancestors().find_map(|part| part.canonicalize().ok());
            if is_dangling || real.is_none_or(|real| !real.starts_with(root)) {
                return Err(Error::usage(format!(
                    "{key}: {} is inside the project, but a symbolic link leads out of it; give the real path",
                    path.display()
                )));
            }
        }
        Ok(())
    }
}

impl CacheSettings {
    /// Options for the engine.
    pub fn options(&self) -> CacheOptions {
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
        let limits = CacheLimits { max_entries: *max_entries, max_bytes: Some(max_size.bytes()) };
        let sources = SourceLimits {
            files: usize::try_from(*max_source_files).unwrap_or(usize::MAX),
            bytes: max_source_size.bytes(),
        };
        let (enabled, freshness) = (*enabled, *freshness);
        CacheOptions { enabled, limits, freshness, sources, ..CacheOptions::default() }
    }
}

impl GatheredConfig {
    /// Resolves the settings; none if there are problems, all of which are then in `problems`.
    pub(crate) fn resolve_settings(&mut self) -> Option<ResolvedSettings> {
        let store = self.resolve(&keys::STORE);
        if let Some(StoreUrl::Dir(_)) = store {
            // Users of this format expect what its protocol specifies.
            self.set_built_in(keys::FRESHNESS.info.name, "mtime");
        }
        let (near_store, near_ttl) =
            (self.resolve(&keys::NEAR_STORE), self.resolve(&keys::NEAR_TTL));
        let scope = self.resolve_scope(store.as_ref());
        if let Some(scope) = &scope {
            self.set_scope(scope, store.as_ref());
        }
        let (cache, early_exit_dir) = (self.resolve_cache(), self.resolve(&keys::EARLY_EXIT_DIR));
        let (ledger, hits) = (self.resolve(&keys::LEDGER_ENABLED), self.resolve(&keys::LOG_HITS));
        let judge = self.resolve_judge();
        let keeps_headless = self.resolve(&keys::CAPTURE_HEADLESS);
        let enforcement = self.resolve_enforcement();
        let mirror = self.resolve_mirror();
        let kept_peers = self.resolve(&keys::PEERS_KEEP);
        let recording = self.resolve_recording();
        let allows_replays = self.resolve(&keys::REPLAY_ALLOW);
        self.problems.sort_by_key(|problem| problem.order);
        if !self.problems.is_empty() {
            return None;
        }
        Some(ResolvedSettings {
            cwd: self.places.cwd.clone(),
            home: self.places.home.clone(),
            project: self.project.clone(),
            store: store?,
            near: near_store.zip(near_ttl).map(|(store, ttl)| NearStoreSettings { store, ttl }),
            scope: scope?,
            cache: cache?,
            early_exit_dir,
            usage_log: UsageLogSettings { ledger: ledger?, hits: hits? },
            judge: judge?,
            keeps_headless: keeps_headless?,
            enforcement: enforcement?,
            mirror: mirror?,
            kept_peers: kept_peers?,
            recording: recording?,
            users_mirror: self.resolve_users_mirror(),
            prices: PriceTable::new(self.prices.clone()),
            tools: tools::merge(self.tools.iter()),
            agents: self.agent_settings(),
            commands: CommandSettings {
                rules: tools::command_rules(self.tools.iter()),
                allows_replays: allows_replays?,
            },
            gateway: self.gateway.clone().unwrap_or_default(),
            left_out: self.left_out_warnings(),
            // Advice that was given once is repeated only on request.
            warnings: match self.project.standing() {
                ProjectStanding::Apart { is_told: true } => {
                    self.untrusted_warning().into_iter().collect()
                }
                _ => self.notices(),
            },
        })
    }

    /// Providers, servers and variables of agents.
    pub(crate) fn agent_settings(&self) -> AgentSettings {
        let (root, user_home) = (self.project.root(), self.places.user_home.as_deref());
        tools::merge_definitions(self.tools.iter(), root, user_home)
    }

    fn resolve_recording(&mut self) -> Option<RecordingClients> {
        let (allowed, denied) =
            (self.resolve(&keys::RECORD_ALLOW), self.resolve(&keys::RECORD_DENY));
        let (mut allowed, denied) = (allowed?, denied?);
        allowed.retain(|client| !denied.contains(client));
        Some(RecordingClients { allowed, denied })
    }

    /// Messages about valid settings: a separate checkout, files not trusted yet.
    pub(crate) fn notices(&self) -> Vec<String> {
        let registry = ProjectRegistry::below(&self.places.home);
        registry.apart_advice(&self.project).into_iter().chain(self.untrusted_warning()).collect()
    }

    fn resolve_enforcement(&mut self) -> Option<EnforcementSettings> {
        let strength = self.resolve(&keys::RULES_ENFORCE);
        let headless = self.resolve(&keys::RULES_ENFORCE_HEADLESS);
        Some(EnforcementSettings { strength: strength?, asks_headless: headless? })
    }

    fn resolve_mirror(&mut self) -> Option<MirrorSettings> {
        let (rules, skills) =
            (self.resolve(&keys::RULES_SYNC), self.resolve(&keys::SKILLS_ENABLED));
        let place = self.resolve(&keys::SKILLS_PLACE);
        Some(MirrorSettings {
            rules: rules?,
            skills: Some(place?).filter(|_| skills == Some(true)),
        })
    }

    fn resolve_users_mirror(&self) -> MirrorSettings {
        let (rules, skills) =
            (self.user_value(&keys::RULES_SYNC), self.user_value(&keys::SKILLS_ENABLED));
        let place = self.user_value(&keys::SKILLS_PLACE);
        MirrorSettings {
            rules: rules == Some(true),
            skills: place.filter(|_| skills == Some(true)),
        }
    }

    /// Resolves the scope. A store without scopes is a scope of its own, unless the user names one:
    /// then that is a directory in it.
    fn resolve_scope(&mut self, store: Option<&StoreUrl>) -> Option<Scope> {
        let said = self.counting_values(keys::SCOPE.info.name).any(|given| !given.is_built_in());
        let choice = self.resolve(&keys::SCOPE)?;
        match store {
            Some(store) if store.is_own_scope() && !said => Some(Scope::global()),
            _ => Some(choice.resolve(&self.project)),
        }
    }

    fn resolve_cache(&mut self) -> Option<CacheSettings> {
        // Resolve all before the first `?`, so that every problem is found.
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

    /// All problems, and notices for the user.
    pub(crate) fn check(mut self) -> (Vec<ConfigProblem>, Vec<String>) {
        let notices = self.resolve_settings().map(|_| self.notices()).unwrap_or_default();
        let mut problems = self.problems;
        problems.extend(self.left_out);
        problems.sort_by_key(|problem| problem.order);
        (problems, notices)
    }
}
