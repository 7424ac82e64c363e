//! The only place that reads the environment. Every variable is declared here,
//! once, and `recoup config env` lists them from here. Which key of the
//! configuration a variable stands for is in `keys.rs`.
#![expect(clippy::disallowed_methods, reason = "this is the one place that asks")]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use recoup_core::error::IoContext as _;
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, Result};

use crate::llm::{ApiKey, ModelProvider, ProxySettings};

/// An environment variable that Recoup reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name.
    pub name: &'static str,
    /// Description for the user.
    pub meaning: &'static str,
}

const fn var(name: &'static str, meaning: &'static str) -> EnvVar {
    EnvVar { name, meaning }
}

pub(super) const HOME: EnvVar = var("HOME", "the user's home directory");
pub(super) const RECOUP_HOME: EnvVar =
    var("RECOUP_HOME", "where recoup keeps its files (default: ~/.recoup)");
pub(super) const STORE: EnvVar =
    var("RECOUP_STORE", "where entries are kept (default: sqlite:~/.recoup/cache.db)");
pub(super) const NEAR_STORE: EnvVar =
    var("RECOUP_NEAR_STORE", "a local store in front of a shared one");
pub(super) const NEAR_TTL: EnvVar = var(
    "RECOUP_NEAR_TTL",
    "how long the local store answers without asking the shared one (default: 30s)",
);
pub(super) const SCOPE: EnvVar = var("RECOUP_SCOPE", "who shares entries (default: project)");
pub(super) const ENABLED: EnvVar =
    var("RECOUP_CACHE_ENABLED", "false: the cache is switched off, nothing is stored or replayed");
pub(super) const MAX_SIZE_MB: EnvVar = var(
    "RECOUP_CACHE_MAX_SIZE_MB",
    "maximum size of the entries of each kind in a scope, in MB (default: 100)",
);
pub(super) const MAX_ENTRIES: EnvVar = var(
    "RECOUP_CACHE_MAX_ENTRIES",
    "maximum number of entries of each kind in a scope (default: 5000 tool calls, otherwise no limit)",
);
pub(super) const TTL: EnvVar = var("RECOUP_CACHE_TTL", "how long results are kept (default: 30d)");
pub(super) const FRESHNESS: EnvVar =
    var("RECOUP_CACHE_FRESHNESS", "what counts as a change of a source: auto, mtime or content");
pub(super) const MAX_SOURCE_FILES: EnvVar = var(
    "RECOUP_CACHE_MAX_SOURCE_FILES",
    "maximum number of source files of an entry (default: 50000)",
);
pub(super) const MAX_SOURCE_MB: EnvVar = var(
    "RECOUP_CACHE_MAX_SOURCE_MB",
    "maximum size of an entry's source files, in MB (default: 2048)",
);
pub(super) const NOTES: EnvVar =
    var("RECOUP_CACHE_NOTES", "the file that `cache set --synthesize` appends to");
pub(super) const EARLY_EXIT_DIR: EnvVar =
    var("RECOUP_EARLY_EXIT_DIR", "where early-exit keeps its sessions, on this machine");
pub(super) const LOA_ENABLED: EnvVar =
    var("LOA_CACHE_ENABLED", "same as RECOUP_CACHE_ENABLED, which takes precedence");
pub(super) const LOA_MAX_SIZE_MB: EnvVar =
    var("LOA_CACHE_MAX_SIZE_MB", "same as RECOUP_CACHE_MAX_SIZE_MB, which takes precedence");
pub(super) const LOA_TTL_DAYS: EnvVar =
    var("LOA_CACHE_TTL_DAYS", "same as RECOUP_CACHE_TTL, which takes precedence; in days");
pub(super) const LEDGER_ENABLED: EnvVar = var(
    "RECOUP_LEDGER_ENABLED",
    "false: look-ups are not counted, and `recoup watch` does not show them",
);
pub(super) const LOG_HITS: EnvVar =
    var("RECOUP_LOG_HITS", "false: hits are not written to ~/.recoup/logs (default: true)");
const GATEWAY_TOKEN: EnvVar =
    var("RECOUP_GATEWAY_TOKEN", "a token that clients of `gateway` must send");
const MCP_TOKEN: EnvVar =
    var("RECOUP_MCP_TOKEN", "the token that clients of `mcp --http` must send");
pub(super) const CLAUDE_CONFIG_DIR: EnvVar =
    var("CLAUDE_CONFIG_DIR", "where Claude Code keeps its settings (default: ~/.claude)");
pub(super) const CODEX_HOME: EnvVar =
    var("CODEX_HOME", "where Codex keeps its settings (default: ~/.codex)");
pub(super) const PI_CODING_AGENT_DIR: EnvVar =
    var("PI_CODING_AGENT_DIR", "where Pi keeps its settings (default: ~/.pi/agent)");
pub(super) const KIMI_CODE_HOME: EnvVar =
    var("KIMI_CODE_HOME", "where Kimi Code keeps its settings (default: ~/.kimi-code)");
pub(super) const COPILOT_HOME: EnvVar =
    var("COPILOT_HOME", "where Copilot CLI keeps its settings (default: ~/.copilot)");
pub(super) const GEMINI_CLI_HOME: EnvVar =
    var("GEMINI_CLI_HOME", "where Gemini CLI keeps its directory .gemini (default: ~)");
const XDG_CONFIG_HOME: EnvVar = var(
    "XDG_CONFIG_HOME",
    "where VS Code, Zed and opencode keep their settings (default: ~/.config)",
);
pub(super) const JUDGE_ENABLED: EnvVar = var(
    "RECOUP_JUDGE_ENABLED",
    "true: a model, the judge, may read statements that may be worth remembering",
);
pub(super) const JUDGE_PROVIDER: EnvVar =
    var("RECOUP_JUDGE_PROVIDER", "the judge's API: anthropic or openai (default: anthropic)");
pub(super) const JUDGE_MODEL: EnvVar = var("RECOUP_JUDGE_MODEL", "the judge's model");
pub(super) const JUDGE_URL: EnvVar = var("RECOUP_JUDGE_URL", "the URL of the judge's API");
pub(super) const JUDGE_KEY_ENV: EnvVar =
    var("RECOUP_JUDGE_KEY_ENV", "the variable that holds the judge's API key");
pub(super) const JUDGE_DAILY_TOKENS: EnvVar = var(
    "RECOUP_JUDGE_DAILY_TOKENS",
    "maximum number of tokens that the judge may use per day (default: 100000)",
);
pub(super) const JUDGE_DEADLINE: EnvVar =
    var("RECOUP_JUDGE_DEADLINE", "maximum time for an answer of the judge (default: 20s)");
const ANTHROPIC_API_KEY: EnvVar =
    var("ANTHROPIC_API_KEY", "API key for the provider anthropic, of agents and the judge");
const OPENAI_API_KEY: EnvVar =
    var("OPENAI_API_KEY", "API key for the provider openai, of agents and the judge");
pub(super) const OPENROUTER_API_KEY: EnvVar =
    var("OPENROUTER_API_KEY", "API key for the provider openrouter, of agents");
pub(super) const ANTHROPIC_BASE_URL: EnvVar =
    var("ANTHROPIC_BASE_URL", "the URL of the provider anthropic, for agents");
pub(super) const OPENAI_BASE_URL: EnvVar =
    var("OPENAI_BASE_URL", "the URL of the provider openai, for agents");
const HTTPS_PROXY: EnvVar = var("HTTPS_PROXY", "the proxy for requests to models");
const NO_PROXY: EnvVar = var("NO_PROXY", "hosts that are reached without the proxy");
pub(super) const RULES_ENFORCE: EnvVar =
    var("RECOUP_RULES_ENFORCE", "effect of rules with a check: off, remind, ask or block");
pub(super) const RULES_ENFORCE_HEADLESS: EnvVar =
    var("RECOUP_RULES_ENFORCE_HEADLESS", "true: ask also holds where no person is present");
pub(super) const REPLAY_ALLOW: EnvVar =
    var("RECOUP_REPLAY_ALLOW", "true: replays of commands need no approval of their own");
const BASH_MAX_OUTPUT_LENGTH: EnvVar = var(
    "BASH_MAX_OUTPUT_LENGTH",
    "from which length Claude Code cuts the output of commands: it is not kept then",
);
const RECOUP: EnvVar = var("RECOUP", "off: no command of an agent is answered from the cache");
pub(super) const RULES_SYNC: EnvVar =
    var("RECOUP_RULES_SYNC", "true: rules are written into Claude Code's own memory");
pub(super) const SKILLS_ENABLED: EnvVar =
    var("RECOUP_SKILLS_ENABLED", "true: three or more memories on one topic become a skill");
pub(super) const SKILLS_PLACE: EnvVar =
    var("RECOUP_SKILLS_PLACE", "where skills go: project or user (default: project)");
pub(super) const PEERS_KEEP: EnvVar =
    var("RECOUP_PEERS_KEEP", "other memory tools to keep beside recoup: claude-recall, claude-mem");
pub(super) const RECORD_ALLOW: EnvVar = var(
    "RECOUP_RECORD_ALLOW",
    "clients whose agents may record rules for you, such as cursor, zed",
);
pub(super) const RECORD_DENY: EnvVar = var(
    "RECOUP_RECORD_DENY",
    "clients whose agents may not record rules: `recoup init` does not ask again",
);
pub(super) const CAPTURE_HEADLESS: EnvVar = var(
    "RECOUP_CAPTURE_HEADLESS",
    "true: statements in unattended runs are remembered as if a person had made them",
);
const NO_COLOR: EnvVar = var("NO_COLOR", "when set, output has no colours");

/// Set only by our own processes for their children: the entries that they are working on.
const WORKING_ON: EnvVar =
    var("RECOUP_WORKING_ON", "entries that the parent processes are computing");

/// All documented variables.
pub const VARIABLES: [EnvVar; 56] = [
    RECOUP_HOME, STORE, SCOPE, ENABLED, MAX_SIZE_MB, MAX_ENTRIES, TTL, FRESHNESS, MAX_SOURCE_FILES,
    MAX_SOURCE_MB, NOTES, NEAR_STORE, NEAR_TTL, EARLY_EXIT_DIR, LEDGER_ENABLED, LOG_HITS,
    MCP_TOKEN, GATEWAY_TOKEN, JUDGE_ENABLED, JUDGE_PROVIDER, JUDGE_MODEL, JUDGE_URL, JUDGE_KEY_ENV,
    JUDGE_DAILY_TOKENS, JUDGE_DEADLINE, ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY,
    ANTHROPIC_BASE_URL, OPENAI_BASE_URL, HTTPS_PROXY, NO_PROXY, CAPTURE_HEADLESS, RECORD_ALLOW,
    RECORD_DENY, RULES_ENFORCE, RULES_ENFORCE_HEADLESS, REPLAY_ALLOW, RECOUP,
    BASH_MAX_OUTPUT_LENGTH, RULES_SYNC, SKILLS_ENABLED, SKILLS_PLACE, PEERS_KEEP, LOA_ENABLED,
    LOA_MAX_SIZE_MB, LOA_TTL_DAYS, CLAUDE_CONFIG_DIR, CODEX_HOME, PI_CODING_AGENT_DIR,
    KIMI_CODE_HOME, COPILOT_HOME, GEMINI_CLI_HOME, XDG_CONFIG_HOME, HOME, NO_COLOR,
];

/// The variable as a path; none if empty.
pub(super) fn path(variable: &EnvVar) -> Option<PathBuf> {
    std::env::var_os(variable.name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's home as other programs find it: without the variable, from the system.
pub(super) fn user_home() -> Option<PathBuf> {
    path(&HOME).or_else(std::env::home_dir).filter(|home| !home.as_os_str().is_empty())
}

/// The variable as text; none if empty.
pub(super) fn text(variable: &EnvVar) -> Result<Option<String>> {
    match std::env::var_os(variable.name).filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(value) => value
            .into_string()
            .map(Some)
            .map_err(|_| Error::usage(format!("{}: not valid UTF-8", variable.name))),
    }
}

/// The value of a variable that a configuration file names as `${NAME}`, possibly empty; none if it
/// is unset or not UTF-8.
pub(crate) fn named_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The unchanged value of a variable that the user named on the command line.
pub(crate) fn verbatim(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The token for `mcp --http`, if there is one.
pub(crate) fn mcp_token() -> Result<Option<String>> {
    text(&MCP_TOKEN)
}

/// Names of our variables that are set, without values.
pub(crate) fn set_variables() -> Vec<&'static str> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    VARIABLES.iter().map(|variable| variable.name).filter(is_set).collect()
}

/// Length from which Claude Code cuts the output of commands, if the user has set it.
pub(crate) fn claude_code_output_limit() -> Option<usize> {
    std::env::var(BASH_MAX_OUTPUT_LENGTH.name).ok()?.parse().ok()
}

/// True if no command of an agent is to be answered from the cache.
pub(crate) fn is_replay_off() -> bool {
    std::env::var_os(RECOUP.name).is_some_and(|value| value == "off")
}

/// Values of variables that must not be stored, judging by their names.
pub(crate) fn credentials() -> SecretValues {
    let bytes = |(name, value): (OsString, OsString)| (name.into_vec(), value.into_vec());
    SecretValues::of_credentials(std::env::vars_os().map(bytes))
}

/// Returns the variable to set for children that work on `id`; none if a parent process already
/// works on it, and waiting for it would be a deadlock.
pub(crate) fn begin_work_on(id: &str) -> Option<(&'static str, String)> {
    let others = std::env::var(WORKING_ON.name).unwrap_or_default();
    let known = others.split_whitespace().any(|other| other == id);
    (!known).then(|| (WORKING_ON.name, format!("{others} {id}").trim_start().to_owned()))
}

/// The default variable for a provider's key.
pub(super) fn key_variable(provider: ModelProvider) -> &'static str {
    match provider {
        ModelProvider::Anthropic => ANTHROPIC_API_KEY.name,
        ModelProvider::OpenAi => OPENAI_API_KEY.name,
    }
}

/// The key in that variable: none if unset, an error that does not repeat the value if malformed.
pub(crate) fn api_key(name: &str) -> Result<Option<ApiKey>> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let key = value.to_str().and_then(ApiKey::new);
    let wrong = || {
        Error::usage(format!("{name}: not a valid API key: it has spaces or non-ASCII characters"))
    };
    key.map(Some).ok_or_else(wrong)
}

/// Variables for a command whose model APIs are at `url`. A replay needs no keys, but SDKs do not start without.
pub(crate) fn api_variables(url: &str, is_replay: bool) -> Vec<(&'static str, OsString)> {
    let mut variables = vec![
        (ANTHROPIC_BASE_URL.name, url.into()),
        (OPENAI_BASE_URL.name, format!("{url}/v1").into()),
    ];
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    for key in [ANTHROPIC_API_KEY.name, OPENAI_API_KEY.name] {
        if is_replay && !is_set(key) {
            variables.push((key, "replayed".into()));
        }
    }
    // A proxy for the network does not know this machine's address.
    for name in [NO_PROXY.name, "no_proxy"] {
        let mut except = std::env::var_os(name).unwrap_or_default();
        if name == NO_PROXY.name || !except.is_empty() {
            except.push(if except.is_empty() { "127.0.0.1" } else { ",127.0.0.1" });
            variables.push((name, except));
        }
    }
    variables
}

/// The token of the gateway for callers without a tenant of their own.
pub(crate) fn gateway_token() -> Result<Option<String>> {
    text(&GATEWAY_TOKEN)
}

/// The HTTPS proxy from the usual variables; lower case takes precedence, as with curl.
pub(crate) fn proxy() -> Option<ProxySettings> {
    let first = |names: &[&str]| {
        let text = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
        names.iter().find_map(text)
    };
    let url = first(&["https_proxy", HTTPS_PROXY.name, "all_proxy", "ALL_PROXY"])?;
    Some(ProxySettings { url, except: first(&["no_proxy", NO_PROXY.name]) })
}

/// How Claude Code was started, as it tells its child processes.
pub(crate) fn claude_code_entrypoint() -> Option<String> {
    named_variable("CLAUDE_CODE_ENTRYPOINT")
}

/// Directory in which Claude Code was started, as it tells its hooks.
pub(crate) fn claude_code_project() -> Option<PathBuf> {
    verbatim("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The XDG configuration directory, if set. A relative path does not count.
pub(crate) fn config_home() -> Option<PathBuf> {
    path(&XDG_CONFIG_HOME).filter(|path| path.is_absolute())
}

/// The PATH.
pub(crate) fn search_path() -> Option<OsString> {
    verbatim("PATH")
}

pub(super) fn current_dir() -> Result<PathBuf> {
    std::env::current_dir().with_context(|| "finding the working directory".to_owned())
}
