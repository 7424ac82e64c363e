//! The user's policy for one server: which tools are cached, for how long, from which sources, and
//! what a call makes stale.
//!
//! The first of these that says something counts: `neverCache`, the most specific
//! `toolsCache.PATTERN` with a TTL, the server's `cache`, `readOnlyTools`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use recoup_core::cache::Ttl;

use super::read_only;
use super::tool_list::ToolDefinition;

/// TTL of `readOnlyTools = true`.
pub(crate) const READ_ONLY_TTL: Ttl = Ttl::seconds(60);

/// Name of the policy that holds for all servers.
const ALL_SERVERS: &str = "*";

/// Tool settings of all servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolCacheSettings {
    /// Policies by the server's name; `*` holds for all.
    pub(crate) servers: BTreeMap<String, ServerCachePolicy>,
    /// TTLs of REST tools by name.
    pub(crate) rest_tools: BTreeMap<String, Ttl>,
}

impl ToolCacheSettings {
    /// The policy of a server: its own, completed by the one of `*`.
    pub(crate) fn policy_for(&self, server: &str) -> ServerCachePolicy {
        let own = self.servers.get(server).filter(|_| server != ALL_SERVERS);
        let all = self.servers.get(ALL_SERVERS);
        match (own, all) {
            (Some(own), Some(all)) => own.completed_by(all),
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => ServerCachePolicy::default(),
        }
    }
}

/// What is cached of one server's results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ServerCachePolicy {
    /// TTL of tools and methods without one of their own.
    pub(crate) default_ttl: Option<Ttl>,
    /// Rules by name or pattern.
    pub(crate) tools: BTreeMap<NamePattern, ToolCacheRule>,
    /// TTL of tools that declare themselves read-only.
    pub(crate) read_only: Option<Ttl>,
    /// Tools that are never cached.
    pub(crate) never: BTreeSet<NamePattern>,
    /// Variables whose values are part of the server's identity.
    pub(crate) credentials: BTreeSet<String>,
}

/// Settings of one tool or pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolCacheRule {
    /// TTL; that of the next wider rule if `None`.
    pub(crate) ttl: Option<Ttl>,
    /// Files that the result depends on; those of the next wider rule if `None`.
    pub(crate) sources: Option<Vec<String>>,
    /// Tools whose results a call makes stale.
    pub(crate) invalidates: Vec<NamePattern>,
}

impl ToolCacheRule {
    /// This rule, with everything that it does not say from `weaker`.
    pub(crate) fn completed_by(&self, weaker: &Self) -> Self {
        let Self { ttl, sources, invalidates } = self;
        let invalidates = if invalidates.is_empty() { &weaker.invalidates } else { invalidates };
        Self {
            ttl: ttl.or(weaker.ttl),
            sources: sources.clone().or_else(|| weaker.sources.clone()),
            invalidates: invalidates.clone(),
        }
    }
}

/// Decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CacheDecision {
    Keep {
        ttl: Ttl,
        sources: Vec<String>,
        /// True if only `readOnlyTools` allows it, so that any writing call drops it.
        by_read_only: bool,
    },
    Pass(NotCachedReason),
}

/// Why the policy does not allow a result to be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotCachedReason {
    /// `neverCache` names it.
    Never,
    /// Its TTL is `off`.
    Off,
    /// No TTL is given.
    NoTtl,
    /// Its rule has `invalidates` and no TTL.
    Invalidates,
    /// It declares that it writes, and only the server's default would cache it.
    DeclaresWrites,
    /// Read-only, but its name says that it tells the time or something random.
    ClockOrRandom,
    /// Read-only, but it reads files or version control, and no sources are given.
    NeedsSources,
}

impl fmt::Display for NotCachedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "neverCache names it",
            Self::Off => "its TTL is off",
            Self::NoTtl => "no TTL is configured",
            Self::Invalidates => "it makes other results stale",
            Self::DeclaresWrites => "it declares that it writes",
            Self::ClockOrRandom => "it tells the time or something random",
            Self::NeedsSources => "it reads files, and no sources are configured",
        })
    }
}

impl ServerCachePolicy {
    /// True if any result may be cached.
    pub(crate) fn caches_anything(&self) -> bool {
        let is_on = |ttl: Option<Ttl>| ttl.is_some_and(|ttl| ttl != Ttl::Off);
        is_on(self.default_ttl)
            || is_on(self.read_only)
            || self.tools.values().any(|rule| is_on(rule.ttl))
    }

    /// This policy, with everything that it does not say from `wider`.
    fn completed_by(&self, wider: &Self) -> Self {
        let mut tools = wider.tools.clone();
        for (pattern, rule) in &self.tools {
            let weaker = tools.remove(pattern).unwrap_or_default();
            tools.insert(pattern.clone(), rule.completed_by(&weaker));
        }
        Self {
            default_ttl: self.default_ttl.or(wider.default_ttl),
            tools,
            read_only: self.read_only.or(wider.read_only),
            never: self.never.union(&wider.never).cloned().collect(),
            credentials: self.credentials.union(&wider.credentials).cloned().collect(),
        }
    }

    /// Decides about calls of the tool or method `name`; `tool` is its definition, if it is a tool.
    pub(super) fn decide(&self, name: &str, tool: Option<&ToolDefinition>) -> CacheDecision {
        let pass = CacheDecision::Pass;
        if self.never.iter().any(|pattern| pattern.matches(name)) {
            return pass(NotCachedReason::Never);
        }
        let rules = self.rules_for(name);
        let sources = rules.iter().find_map(|rule| rule.sources.clone()).unwrap_or_default();
        let keep = |ttl, by_read_only| match ttl {
            Ttl::Off => pass(NotCachedReason::Off),
            ttl => CacheDecision::Keep { ttl, sources: sources.clone(), by_read_only },
        };
        for rule in &rules {
            match rule {
                ToolCacheRule { ttl: Some(ttl), .. } => return keep(*ttl, false),
                rule if !rule.invalidates.is_empty() => return pass(NotCachedReason::Invalidates),
                _ => {}
            }
        }
        if let Some(ttl) = self.default_ttl {
            // A default is meant for reads; a writer is cached only if it is named.
            let writes = ttl != Ttl::Off && tool.is_some_and(|tool| tool.declares_writes);
            return if writes { pass(NotCachedReason::DeclaresWrites) } else { keep(ttl, false) };
        }
        match (self.read_only, tool) {
            (Some(ttl), Some(tool)) if tool.read_only && ttl != Ttl::Off => {
                if read_only::tells_clock_or_chance(name) {
                    pass(NotCachedReason::ClockOrRandom)
                } else if sources.is_empty() && read_only::reads_files(name, &tool.properties) {
                    pass(NotCachedReason::NeedsSources)
                } else {
                    keep(ttl, true)
                }
            }
            _ => pass(NotCachedReason::NoTtl),
        }
    }

    /// Patterns of what a call of `name` makes stale, from all rules that match it.
    pub(super) fn invalidated_by(&self, name: &str) -> BTreeSet<NamePattern> {
        self.rules_for(name).into_iter().flat_map(|rule| rule.invalidates.iter().cloned()).collect()
    }

    /// Rules that match, the most specific first.
    fn rules_for(&self, name: &str) -> Vec<&ToolCacheRule> {
        let mut rules: Vec<_> =
            self.tools.iter().filter(|(pattern, _)| pattern.matches(name)).collect();
        rules.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.specificity()));
        rules.into_iter().map(|(_, rule)| rule).collect()
    }
}

/// Name of a tool, in which `*` stands for any characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamePattern(String);

impl NamePattern {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it stands for more than one name.
    pub(crate) fn is_pattern(&self) -> bool {
        self.0.contains('*')
    }

    /// True if `name` matches as a whole.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == name };
        let Some(mut name) = name.strip_prefix(first) else { return false };
        let mut pieces: Vec<&str> = rest.split('*').collect();
        let last = pieces.pop().unwrap_or_default();
        for piece in pieces {
            // The first place is always good enough: what follows has the more room.
            let Some(at) = name.find(piece) else { return false };
            name = &name[at + piece.len()..];
        }
        name.ends_with(last)
    }

    /// Names before patterns, then patterns with more letters.
    fn specificity(&self) -> (bool, usize) {
        (!self.is_pattern(), self.0.bytes().filter(|byte| *byte != b'*').count())
    }
}
