//! The user's policy for one server: which tools are cached, for how long, from which sources, and
//! what a call makes stale.
//!
//! The first of these that says something counts: `neverCache`, the most specific
//! `toolsCache.PATTERN` with a TTL, the server's `cache`, `readOnlyTools`. Lists, such as `tools/list`,
//! are cached only if `toolsCache` names them: else a server's new version would stay hidden.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use recoup_core::base::text::matches_stars;
use recoup_core::cache::Ttl;

use super::read_only;
use super::tool_list::ToolDefinition;

/// TTL of `readOnlyTools = true`.
pub(crate) const READ_ONLY_TTL: Ttl = Ttl::seconds(60);

/// Methods that list what a server has.
const LIST_METHODS: [&str; 4] =
    ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

/// Name of the policy that holds for all servers.
const ALL_SERVERS: &str = "*";

/// Tool settings of all servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolCacheSettings {
    /// Policies by the server's name; `*` holds for all.
    pub(crate) servers: BTreeMap<String, ServerCachePolicy>,
    /// TTLs of REST tools by name, and of OpenAPI documents as `openapi:NAME`.
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

    /// The policy of a REST tool: its own TTL, also if it declares that it writes. Operations of an
    /// OpenAPI document, which are named `NAME:OPERATION`, have the document's if they only read.
    pub(crate) fn policy_for_rest(&self, tool: &str) -> ServerCachePolicy {
        let of_document = || {
            let (document, _) = tool.rsplit_once(':')?;
            self.rest_tools.get(&format!("openapi:{document}"))
        };
        let rule = ToolCacheRule { ttl: self.rest_tools.get(tool).copied(), ..Default::default() };
        let default_ttl = of_document().copied();
        let tools = BTreeMap::from([(NamePattern::new(tool), rule)]);
        ServerCachePolicy { default_ttl, tools, ..ServerCachePolicy::default() }
    }
}

/// Caching of one server's results.
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
    Keep { ttl: Ttl, sources: Vec<String>, allowed_by: CacheAllowance },
    Pass(NotCachedReason),
}

/// The setting that allows a result to be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheAllowance {
    /// A rule in `toolsCache`.
    Rule,
    /// The server's `cache`: a tool that declares writes drops the result.
    ServerDefault,
    /// `readOnlyTools`: any call that is not read-only drops the result.
    ReadOnly,
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
    /// The method lists what the server has, and `toolsCache` does not name it.
    List,
    /// Its rule has `invalidates` and no TTL.
    Invalidates,
    /// The tool declares that it writes, and only the server's default would cache it.
    DeclaresWrites,
    /// Read-only, but its name says that it tells the time or something random.
    ClockOrRandom,
    /// Read-only, but it reads files or version control, and no sources are given.
    NeedsSources,
}

impl NotCachedReason {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Never => "neverCache names it",
            Self::Off => "its TTL is off",
            Self::NoTtl => "no TTL is configured",
            Self::List => "lists are cached only if toolsCache names them",
            Self::Invalidates => "it makes other results stale",
            Self::DeclaresWrites => "it declares that it writes",
            Self::ClockOrRandom => "it tells the time or something random",
            Self::NeedsSources => "it reads files, and no sources are configured",
        }
    }
}

impl fmt::Display for NotCachedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
        let is_list = tool.is_none() && LIST_METHODS.contains(&name);
        // A pattern for tools, such as `*`, does not name a method.
        let names_it = |pattern: &NamePattern| !is_list || pattern.as_str().contains('/');
        let rules = self.rules_for(name, names_it);
        let sources = rules.iter().find_map(|rule| rule.sources.clone()).unwrap_or_default();
        let keep = |ttl, allowed_by| match ttl {
            Ttl::Off => pass(NotCachedReason::Off),
            ttl => CacheDecision::Keep { ttl, sources: sources.clone(), allowed_by },
        };
        for rule in &rules {
            match rule {
                ToolCacheRule { ttl: Some(ttl), .. } => return keep(*ttl, CacheAllowance::Rule),
                rule if !rule.invalidates.is_empty() => return pass(NotCachedReason::Invalidates),
                _ => {}
            }
        }
        if is_list {
            return pass(NotCachedReason::List);
        }
        if let Some(ttl) = self.default_ttl {
            // A default is meant for reads; a writer is cached only if it is named.
            let writes = ttl != Ttl::Off && tool.is_some_and(|tool| tool.declares_writes);
            return if writes {
                pass(NotCachedReason::DeclaresWrites)
            } else {
                keep(ttl, CacheAllowance::ServerDefault)
            };
        }
        match (self.read_only, tool) {
            (Some(ttl), Some(tool)) if tool.read_only && ttl != Ttl::Off => {
                if read_only::tells_clock_or_chance(name) {
                    pass(NotCachedReason::ClockOrRandom)
                } else if sources.is_empty() && read_only::reads_files(name, &tool.properties) {
                    pass(NotCachedReason::NeedsSources)
                } else {
                    keep(ttl, CacheAllowance::ReadOnly)
                }
            }
            _ => pass(NotCachedReason::NoTtl),
        }
    }

    /// Patterns of what a call of `name` makes stale, from all rules that match it.
    pub(super) fn invalidated_by(&self, name: &str) -> BTreeSet<NamePattern> {
        let rules = self.rules_for(name, |_| true).into_iter();
        rules.flat_map(|rule| rule.invalidates.iter().cloned()).collect()
    }

    /// Patterns in any rule's `invalidates` that match `name`.
    pub(super) fn invalidations_of(&self, name: &str) -> BTreeSet<NamePattern> {
        let all = self.tools.values().flat_map(|rule| &rule.invalidates);
        all.filter(|pattern| pattern.matches(name)).cloned().collect()
    }

    /// Rules that match and count, the most specific first.
    fn rules_for(&self, name: &str, counts: impl Fn(&NamePattern) -> bool) -> Vec<&ToolCacheRule> {
        let matching = |pattern: &NamePattern| pattern.matches(name) && counts(pattern);
        let mut rules: Vec<_> =
            self.tools.iter().filter(|(pattern, _)| matching(pattern)).collect();
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

    /// True if the configuration accepts such a name.
    pub(crate) fn is_valid(text: &str) -> bool {
        !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
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
        matches_stars(&self.0, name)
    }

    /// Names before patterns, then patterns with more letters.
    fn specificity(&self) -> (bool, usize) {
        (!self.is_pattern(), self.0.bytes().filter(|byte| *byte != b'*').count())
    }
}

#[cfg(test)]
mod tests {
    use recoup_core::base::digest::Sha256Digest;

    use super::*;

    fn ttl(text: &str) -> Ttl {
        Ttl::parse("test", text).expect("a TTL")
    }

    fn kept_for(text: &str) -> ToolCacheRule {
        ToolCacheRule { ttl: Some(ttl(text)), ..ToolCacheRule::default() }
    }

    fn policy<'a>(rules: impl IntoIterator<Item = (&'a str, ToolCacheRule)>) -> ServerCachePolicy {
        let tools = rules.into_iter().map(|(name, rule)| (NamePattern::new(name), rule)).collect();
        ServerCachePolicy { tools, ..ServerCachePolicy::default() }
    }

    fn tool(read_only: bool, declares_writes: bool) -> ToolDefinition {
        let schema = Sha256Digest::of(b"schema");
        ToolDefinition { schema, read_only, declares_writes, properties: Vec::new() }
    }

    /// The decision in words: a TTL, `TTL by read-only`, or the reason.
    fn decided(policy: &ServerCachePolicy, name: &str, tool: Option<&ToolDefinition>) -> String {
        match policy.decide(name, tool) {
            CacheDecision::Keep { ttl, allowed_by: CacheAllowance::ReadOnly, .. } => {
                format!("{ttl} by read-only")
            }
            CacheDecision::Keep { ttl, .. } => ttl.to_string(),
            CacheDecision::Pass(reason) => reason.to_string(),
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, matches) in [
            ("search", "search", true),
            ("search", "search_code", false),
            ("search_*", "search_code", true),
            ("search_*", "search_", true),
            ("search_*", "research_code", false),
            ("*", "", true),
            ("*", "resources/read", true),
            ("*_file", "read_file", true),
            ("*_file", "read_file_x", false),
            ("a*b*c", "a_b_b_c", true),
            ("a*b*c", "a_c_b", false),
            ("a*a", "a", false),
            ("a**c", "abc", true),
            ("*é*", "caféine", true),
        ] {
            assert_eq!(NamePattern::new(pattern).matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn the_most_specific_rule_wins_over_the_default() {
        let mut policy = policy([
            ("*", kept_for("1m")),
            ("search_*", kept_for("2m")),
            ("search_code_*", kept_for("off")),
            ("search_code_fast", kept_for("3m")),
        ]);
        policy.default_ttl = Some(ttl("9m"));
        for (name, expected) in [
            ("other", "1m"),
            ("search_notes", "2m"),
            ("search_code_slow", "its TTL is off"),
            ("search_code_fast", "3m"),
        ] {
            assert_eq!(decided(&policy, name, None), expected, "{name}");
        }
        policy.tools.clear();
        assert_eq!(decided(&policy, "other", None), "9m");
        policy.default_ttl = Some(Ttl::Off);
        policy.read_only = Some(READ_ONLY_TTL);
        assert_eq!(decided(&policy, "other", Some(&tool(true, false))), "its TTL is off");
        policy.default_ttl = None;
        assert_eq!(decided(&policy, "other", Some(&tool(true, false))), "1m by read-only");
        assert_eq!(decided(&policy, "other", Some(&tool(false, false))), "no TTL is configured");
        assert_eq!(decided(&policy, "resources/read", None), "no TTL is configured");
        policy.read_only = Some(Ttl::Off);
        assert_eq!(decided(&policy, "other", Some(&tool(true, false))), "no TTL is configured");
    }

    #[test]
    fn lists_are_cached_only_if_they_are_named() {
        let mut policy = policy([("*", kept_for("1m")), ("resources/*", kept_for("2m"))]);
        policy.default_ttl = Some(ttl("9m"));
        let only_named = "lists are cached only if toolsCache names them";
        for (name, expected) in [
            ("tools/list", only_named),
            ("prompts/list", only_named),
            ("resources/list", "2m"),
            ("resources/templates/list", "2m"),
            ("prompts/get", "1m"),
        ] {
            assert_eq!(decided(&policy, name, None), expected, "{name}");
        }
    }

    #[test]
    fn off_and_never_win() {
        let mut policy = policy([("a", kept_for("off")), ("b", kept_for("1h"))]);
        policy.default_ttl = Some(ttl("5m"));
        policy.read_only = Some(READ_ONLY_TTL);
        policy.never.insert(NamePattern::new("b*"));
        for (name, expected) in [("a", "its TTL is off"), ("b", "neverCache names it"), ("c", "5m")]
        {
            assert_eq!(decided(&policy, name, Some(&tool(true, false))), expected, "{name}");
        }
    }

    #[test]
    fn a_default_is_not_meant_for_tools_that_declare_writes() {
        let mut policy = policy([("named", kept_for("1h"))]);
        policy.default_ttl = Some(ttl("5m"));
        let writer = tool(false, true);
        assert_eq!(decided(&policy, "writer", Some(&writer)), "it declares that it writes");
        assert_eq!(decided(&policy, "named", Some(&writer)), "1h");
    }

    #[test]
    fn a_rule_without_a_ttl_leaves_it_to_the_next() {
        let sources =
            ToolCacheRule { sources: Some(vec!["{path}".to_owned()]), ..ToolCacheRule::default() };
        let writes = ToolCacheRule {
            invalidates: vec![NamePattern::new("read_*")],
            ..ToolCacheRule::default()
        };
        let policy = policy([
            ("*", kept_for("5m")),
            ("read_*", sources),
            ("read_now", kept_for("1m")),
            ("write_*", writes),
        ]);
        let kept = |name: &str| match policy.decide(name, None) {
            CacheDecision::Keep { ttl, sources, .. } => (ttl.to_string(), sources.len()),
            CacheDecision::Pass(reason) => (reason.to_string(), 0),
        };
        assert_eq!(kept("read_file"), ("5m".to_owned(), 1));
        assert_eq!(kept("read_now"), ("1m".to_owned(), 1), "sources of the wider rule");
        assert_eq!(kept("write_file"), ("it makes other results stale".to_owned(), 0));
        assert_eq!(policy.invalidated_by("write_file").len(), 1);
        assert!(policy.invalidated_by("read_file").is_empty());
    }

    #[test]
    fn a_servers_own_policy_is_completed_by_the_one_of_all() {
        let mut settings = ToolCacheSettings::default();
        let mut all = policy([("a", kept_for("1m")), ("b", kept_for("2m"))]);
        all.default_ttl = Some(ttl("5m"));
        all.never.insert(NamePattern::new("x"));
        let mut own = policy([("a", kept_for("9m"))]);
        own.never.insert(NamePattern::new("y"));
        settings.servers.insert("*".to_owned(), all.clone());
        settings.servers.insert("own".to_owned(), own);
        let policy = settings.policy_for("own");
        for (name, expected) in
            [("a", "9m"), ("b", "2m"), ("c", "5m"), ("x", "neverCache names it")]
        {
            assert_eq!(decided(&policy, name, None), expected, "{name}");
        }
        assert_eq!(policy.never.len(), 2);
        assert_eq!(settings.policy_for("other"), all);
        assert!(!ToolCacheSettings::default().policy_for("any").caches_anything());
    }
}
