//! The table of keys: the source for files, variables, `config show`, and the table in
//! docs/src/configuration.md (which a test compares).

use std::path::PathBuf;
use std::time::Duration;

use recoup_core::cache::{FreshnessCheck, Ttl};
use recoup_core::memory::CheckStrength;
use recoup_core::store::StoreUrl;
use serde_json::Value;

use super::configured_value::RawSetting;
use super::env::{self, EnvVar};
use super::problem::ConfigProblem;
use super::value::ScopeChoice;
use super::value::{self, MegabyteSize, SettingContext};
use crate::clients::AgentClient;
use crate::llm::{BaseUrl, ModelProvider};
use crate::mirror::SkillsPlace;

/// A key, and how its values are parsed and shown.
#[derive(Debug)]
pub(super) struct ConfigKey<T> {
    pub(super) info: KeyInfo,
    pub(super) read: fn(&RawSetting, &SettingContext<'_>) -> Result<T, ConfigProblem>,
    pub(super) show: fn(&T) -> Value,
}

/// Properties of a key that do not depend on its type.
#[derive(Debug)]
pub(crate) struct KeyInfo {
    /// Full name, as in a file.
    pub(crate) name: &'static str,
    /// Accepted values, for messages.
    pub(crate) expected: &'static str,
    /// Default, as text of a variable; none if unset.
    pub(crate) default: Option<&'static str>,
    pub(crate) meaning: &'static str,
    pub(crate) variable: EnvVar,
    pub(crate) peer_variable: Option<EnvVar>,
    pub(crate) repository: RepositoryPermission,
}

/// Permission of a repository's file to set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepositoryPermission {
    /// Set it.
    May,
    /// Set it for its own project's entries; if clones share them, only after `recoup trust`.
    MayForItself,
    /// Set it after `recoup trust`.
    AfterTrust,
    /// Only switch it off.
    MaySwitchOff,
    /// Nothing: only the user may set it, whatever is trusted.
    MayNot,
}

/// A key of any type.
pub(crate) trait AnyKey: Sync {
    fn info(&self) -> &KeyInfo;
    /// Parses `raw` and returns the value for display.
    fn read_for_display(
        &self,
        raw: &RawSetting,
        context: &SettingContext<'_>,
    ) -> Result<Value, ConfigProblem>;
}

impl<T> AnyKey for ConfigKey<T> {
    fn info(&self) -> &KeyInfo {
        &self.info
    }

    fn read_for_display(
        &self,
        raw: &RawSetting,
        context: &SettingContext<'_>,
    ) -> Result<Value, ConfigProblem> {
        (self.read)(raw, context).map(|value| (self.show)(&value))
    }
}

/// All keys, in the order of display.
pub(crate) static KEYS: [&dyn AnyKey; 32] = [
    &STORE, &SCOPE, &ENABLED, &MAX_SIZE_MB, &MAX_ENTRIES, &TTL, &FRESHNESS, &MAX_SOURCE_FILES,
    &MAX_SOURCE_MB, &NOTES, &NEAR_STORE, &NEAR_TTL, &EARLY_EXIT_DIR, &LEDGER_ENABLED, &LOG_HITS,
    &JUDGE_ENABLED, &JUDGE_PROVIDER, &JUDGE_MODEL, &JUDGE_URL, &JUDGE_KEY_ENV, &JUDGE_DAILY_TOKENS,
    &JUDGE_DEADLINE, &CAPTURE_HEADLESS, &RECORD_ALLOW, &RECORD_DENY, &RULES_ENFORCE,
    &RULES_ENFORCE_HEADLESS, &REPLAY_ALLOW, &RULES_SYNC, &SKILLS_ENABLED, &SKILLS_PLACE,
    &PEERS_KEEP,
];

/// The key of that name.
pub(super) fn find_key(name: &str) -> Option<&'static KeyInfo> {
    KEYS.iter().map(|key| key.info()).find(|info| info.name == name)
}

pub(super) static STORE: ConfigKey<StoreUrl> = ConfigKey {
    info: KeyInfo {
        name: "store",
        expected: "a URL such as sqlite:PATH, file:DIR, dir:DIR or redis://HOST",
        default: Some("sqlite:cache.db"),
        meaning: "where entries are stored; a relative path starts at the directory of the file \
                  that sets it, the default at ~/.recoup",
        variable: env::STORE,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::store,
    show: |store| store.to_string().into(),
};

pub(super) static SCOPE: ConfigKey<ScopeChoice> = ConfigKey {
    info: KeyInfo {
        name: "scope",
        expected: "project, global, tenant:NAME or session:NAME",
        default: Some("project"),
        meaning: "who shares entries; a file: or dir: store is a scope of its own unless this is set",
        variable: env::SCOPE,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::scope,
    show: |scope| scope.to_string().into(),
};

pub(super) static ENABLED: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "cache.enabled",
        expected: "true or false",
        default: Some("true"),
        meaning: "false: the cache is switched off, nothing is stored or replayed",
        variable: env::ENABLED,
        peer_variable: Some(env::LOA_ENABLED),
        repository: RepositoryPermission::May,
    },
    read: value::boolean,
    show: |enabled| (*enabled).into(),
};

pub(super) static MAX_SIZE_MB: ConfigKey<MegabyteSize> = ConfigKey {
    info: KeyInfo {
        name: "cache.max_size_mb",
        expected: "a number of MB above 0",
        default: Some("100"),
        meaning: "maximum size of the entries of each kind within a scope",
        variable: env::MAX_SIZE_MB,
        peer_variable: Some(env::LOA_MAX_SIZE_MB),
        repository: RepositoryPermission::MayForItself,
    },
    read: value::megabytes,
    show: |size| size.number().clone().into(),
};

pub(super) static MAX_ENTRIES: ConfigKey<u64> = ConfigKey {
    info: KeyInfo {
        name: "cache.max_entries",
        expected: "a whole number above 0",
        default: None,
        meaning: "maximum number of entries of each kind within a scope; by default 5,000 tool calls, and any \
                  number of other entries",
        variable: env::MAX_ENTRIES,
        peer_variable: None,
        repository: RepositoryPermission::MayForItself,
    },
    read: value::count,
    show: |count| (*count).into(),
};

pub(super) static TTL: ConfigKey<Ttl> = ConfigKey {
    info: KeyInfo {
        name: "cache.ttl",
        expected: "a duration such as 12h, 30d, forever or off",
        default: Some("30d"),
        meaning: "how long results are kept unless `set --ttl` says otherwise",
        variable: env::TTL,
        peer_variable: Some(env::LOA_TTL_DAYS),
        repository: RepositoryPermission::May,
    },
    read: value::ttl,
    show: |ttl| ttl.to_string().into(),
};

pub(super) static FRESHNESS: ConfigKey<FreshnessCheck> = ConfigKey {
    info: KeyInfo {
        name: "cache.freshness",
        expected: "auto, mtime or content",
        default: Some("auto"),
        meaning: "what counts as a change of a source. auto: different contents, which are read \
                  only if times or inode differ; mtime: different times or inode, too; content: \
                  as auto, also while a command runs. A dir: store uses mtime unless this is set",
        variable: env::FRESHNESS,
        peer_variable: None,
        repository: RepositoryPermission::May,
    },
    read: value::freshness,
    show: |freshness| value::freshness_name(*freshness).into(),
};

pub(super) static MAX_SOURCE_FILES: ConfigKey<u64> = ConfigKey {
    info: KeyInfo {
        name: "cache.max_source_files",
        expected: "a whole number above 0",
        default: Some("50000"),
        meaning: "maximum number of source files of an entry; a result with more is not stored",
        variable: env::MAX_SOURCE_FILES,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::count,
    show: |count| (*count).into(),
};

pub(super) static MAX_SOURCE_MB: ConfigKey<MegabyteSize> = ConfigKey {
    info: KeyInfo {
        name: "cache.max_source_mb",
        expected: "a number of MB above 0",
        default: Some("2048"),
        meaning: "maximum total size of an entry's source files",
        variable: env::MAX_SOURCE_MB,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::megabytes,
    show: |size| size.number().clone().into(),
};

pub(super) static NOTES: ConfigKey<PathBuf> = ConfigKey {
    info: KeyInfo {
        name: "cache.notes",
        expected: "a path",
        default: None,
        meaning: "the file that `cache set --synthesize` appends to",
        variable: env::NOTES,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::path,
    show: |path| path.display().to_string().into(),
};

pub(super) static NEAR_STORE: ConfigKey<StoreUrl> = ConfigKey {
    info: KeyInfo {
        name: "near.store",
        expected: "sqlite:PATH",
        default: None,
        meaning: "a local store in front of a shared one: it answers first, and alone while the \
                  shared one is unavailable",
        variable: env::NEAR_STORE,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::near_store,
    show: |store| store.to_string().into(),
};

pub(super) static NEAR_TTL: ConfigKey<Ttl> = ConfigKey {
    info: KeyInfo {
        name: "near.ttl",
        expected: "a duration such as 30s",
        default: Some("30s"),
        meaning: "how long the local store answers before the shared one is asked again",
        variable: env::NEAR_TTL,
        peer_variable: None,
        repository: RepositoryPermission::May,
    },
    read: value::ttl,
    show: |ttl| ttl.to_string().into(),
};

pub(super) static EARLY_EXIT_DIR: ConfigKey<PathBuf> = ConfigKey {
    info: KeyInfo {
        name: "early_exit.dir",
        expected: "a path",
        default: None,
        meaning: "where early-exit keeps its sessions, unless the store is a server; by default \
                  ~/.recoup/early-exit or, for a dir: store, early-exit inside it",
        variable: env::EARLY_EXIT_DIR,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::path,
    show: |path| path.display().to_string().into(),
};

pub(super) static LEDGER_ENABLED: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "ledger.enabled",
        expected: "true or false",
        default: Some("true"),
        meaning: "false: look-ups are not counted, and `stats`, `watch` and the order of eviction \
                  ignore them",
        variable: env::LEDGER_ENABLED,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::boolean,
    show: |enabled| (*enabled).into(),
};

pub(super) static LOG_HITS: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "log.hits",
        expected: "true or false",
        default: Some("true"),
        meaning: "whether each hit is logged to ~/.recoup/logs/hits.jsonl",
        variable: env::LOG_HITS,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::boolean,
    show: |enabled| (*enabled).into(),
};

pub(super) static CAPTURE_HEADLESS: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "capture.headless",
        expected: "true or false",
        default: Some("false"),
        meaning: "whether statements in an unattended run (`claude -p` in a script) are \
                  remembered as if a person had made them; otherwise they become candidates",
        variable: env::CAPTURE_HEADLESS,
        peer_variable: None,
        repository: RepositoryPermission::AfterTrust,
    },
    read: value::boolean,
    show: |kept| (*kept).into(),
};

// Only the user decides what leaves the machine, to whom and at whose expense: a repository may only
// switch the judge off.
pub(super) static JUDGE_ENABLED: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "judge.enabled",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: you agree that a model reads statements of yours that may be worth \
                  remembering, without secrets and private parts",
        variable: env::JUDGE_ENABLED,
        peer_variable: None,
        repository: RepositoryPermission::MaySwitchOff,
    },
    read: value::boolean,
    show: |enabled| (*enabled).into(),
};

pub(super) static JUDGE_PROVIDER: ConfigKey<ModelProvider> = ConfigKey {
    info: KeyInfo {
        name: "judge.provider",
        expected: "anthropic or openai",
        default: Some("anthropic"),
        meaning: "the model's API: Anthropic's Messages, or the chat completions of OpenAI and many others",
        variable: env::JUDGE_PROVIDER,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::provider,
    show: |provider| provider.as_str().into(),
};

pub(super) static JUDGE_MODEL: ConfigKey<String> = ConfigKey {
    info: KeyInfo {
        name: "judge.model",
        expected: "a model's name",
        default: None,
        meaning: "the name of the model; by default claude-haiku-4-5 or gpt-4.1-mini",
        variable: env::JUDGE_MODEL,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::word,
    show: |model| model.clone().into(),
};

pub(super) static JUDGE_URL: ConfigKey<BaseUrl> = ConfigKey {
    info: KeyInfo {
        name: "judge.url",
        expected: "https://HOST/PATH, or http://127.0.0.1:PORT/PATH",
        default: None,
        meaning: "the URL of the API, up to /v1/messages or /chat/completions; by default the \
                  provider's own",
        variable: env::JUDGE_URL,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::base_url,
    show: |url| url.to_string().into(),
};

pub(super) static JUDGE_KEY_ENV: ConfigKey<String> = ConfigKey {
    info: KeyInfo {
        name: "judge.key_env",
        expected: "the name of a variable",
        default: None,
        meaning: "the variable that holds the API key; by default ANTHROPIC_API_KEY or OPENAI_API_KEY",
        variable: env::JUDGE_KEY_ENV,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::variable_name,
    show: |name| name.clone().into(),
};

pub(super) static JUDGE_DAILY_TOKENS: ConfigKey<u64> = ConfigKey {
    info: KeyInfo {
        name: "judge.daily_tokens",
        expected: "a whole number above 0",
        default: Some("100000"),
        meaning: "maximum number of tokens per day (UTC), for all processes together",
        variable: env::JUDGE_DAILY_TOKENS,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::count,
    show: |count| (*count).into(),
};

pub(super) static JUDGE_DEADLINE: ConfigKey<Duration> = ConfigKey {
    info: KeyInfo {
        name: "judge.deadline",
        expected: "a duration from 100ms to 5m",
        default: Some("20s"),
        meaning: "maximum time for an answer; agents do not wait for it",
        variable: env::JUDGE_DEADLINE,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::deadline,
    show: |time| value::shown_deadline(*time).into(),
};

// Only the user decides what a rule may stop.
pub(super) static RULES_ENFORCE: ConfigKey<CheckStrength> = ConfigKey {
    info: KeyInfo {
        name: "rules.enforce",
        expected: "off, remind, ask or block",
        default: Some("remind"),
        meaning: "effect of a rule on a call that would break it, if its words give a check: \
                  remind: the agent is given the rule; ask: the client asks you; block: the call \
                  is refused; `recoup memory enforce` sets it for one rule",
        variable: env::RULES_ENFORCE,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::check_strength,
    show: |strength| strength.as_str().into(),
};

pub(super) static RULES_ENFORCE_HEADLESS: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "rules.enforce_headless",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: ask also holds for sub-agents and where no person is present: most clients \
                  then refuse the call; otherwise it is a reminder there",
        variable: env::RULES_ENFORCE_HEADLESS,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::boolean,
    show: |wanted| (*wanted).into(),
};

// Only the user decides what runs without approval.
pub(super) static REPLAY_ALLOW: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "replay.allow",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: the replay of a command needs no approval of its own where the client \
                  would run the command itself without asking",
        variable: env::REPLAY_ALLOW,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::boolean,
    show: |wanted| (*wanted).into(),
};

// Only the user decides where private statements go: a repository may only switch the mirror off.
pub(super) static RULES_SYNC: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "rules.sync",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: rules that hooks do not deliver to Claude Code are written into its own \
                  memory, 30 at most, as files in ~/.claude/projects",
        variable: env::RULES_SYNC,
        peer_variable: None,
        repository: RepositoryPermission::MaySwitchOff,
    },
    read: value::boolean,
    show: |wanted| (*wanted).into(),
};

pub(super) static SKILLS_ENABLED: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "skills.enabled",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: three or more memories on one topic become a skill",
        variable: env::SKILLS_ENABLED,
        peer_variable: None,
        repository: RepositoryPermission::MaySwitchOff,
    },
    read: value::boolean,
    show: |wanted| (*wanted).into(),
};

pub(super) static SKILLS_PLACE: ConfigKey<SkillsPlace> = ConfigKey {
    info: KeyInfo {
        name: "skills.place",
        expected: "project or user",
        default: Some("project"),
        meaning: "project: skills go into the project's .claude/skills, hidden from git; user: \
                  into ~/.claude/skills, only from memories that apply in all projects",
        variable: env::SKILLS_PLACE,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::skills_place,
    show: |place| place.as_str().into(),
};

pub(super) static PEERS_KEEP: ConfigKey<Vec<&'static str>> = ConfigKey {
    info: KeyInfo {
        name: "peers.keep",
        expected: "claude-recall and claude-mem, separated by a comma, or none",
        default: Some("none"),
        meaning: "other memory tools to keep beside recoup: `recoup init` does not ask about them \
                  again",
        variable: env::PEERS_KEEP,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::peers,
    show: |peers| value::peers_in_words(peers).into(),
};

// Clients without hooks whose agents record rules for the user, who alone decides which may.
pub(super) static RECORD_ALLOW: ConfigKey<Vec<AgentClient>> = ConfigKey {
    info: KeyInfo {
        name: "record.allow",
        expected: "cursor, windsurf, vscode, zed, gemini and opencode, separated by commas, or none",
        default: Some("none"),
        meaning: "clients whose agents may record rules on your behalf: what they record as your \
                  words applies at once, in that project, for every client that works there, even \
                  if a web page made them record it; statements that may contradict you or your \
                  team, and all others, become candidates",
        variable: env::RECORD_ALLOW,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::recording_clients,
    show: |clients| value::clients_in_words(clients).into(),
};

pub(super) static RECORD_DENY: ConfigKey<Vec<AgentClient>> = ConfigKey {
    info: KeyInfo {
        name: "record.deny",
        expected: RECORD_ALLOW.info.expected,
        default: Some("none"),
        meaning: "clients whose agents may not record rules: takes precedence over \
                  `record.allow`, and `recoup init` does not ask about them again",
        variable: env::RECORD_DENY,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::recording_clients,
    show: |clients| value::clients_in_words(clients).into(),
};
