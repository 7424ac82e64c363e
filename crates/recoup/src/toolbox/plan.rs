//! The cache of one server's results: what it knows of the server, and the plan for each call.

use std::sync::Arc;

use parking_lot::Mutex;
use recoup_core::base::FaultLog;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{Cache, CacheMode, LookupExplanation, LookupRequest, PathContext, Ttl};
use recoup_core::entry::{Draft, ProducerIdentity};
use recoup_core::key::tool::{ServerFingerprint, ToolArguments, ToolCallRecipe};
use recoup_core::key::{EntryId, Key, KeyPart, KeyRecipe as _, Kind, Scope};
use recoup_core::secrets::SecretValues;
use recoup_core::store::{EntrySelection, ScanFilter, ScanFlow};
use recoup_core::{Error, Result};
use serde_json::value::RawValue;

use super::call::CachedCall;
use super::call_log::CallLog;
use super::identity::{DirectoryView, ServerIdentity};
use super::params::{CallTarget, RawMembers, TOOLS_CALL};
use super::pass_reason::PassReason;
use super::policy::{
    CacheAllowance, CacheDecision, NamePattern, NotCachedReason, ServerCachePolicy,
};
use super::read_only::file_properties;
use super::sources::{self, ReadingPlaces};
use super::ticket::CallTicket;
use super::tool_list::{ToolDefinition, ToolList};
use super::upkeep::{StaleDrop, StoreUpkeep};
use super::writes::{StaleResults, WriteTracker};

/// Argument that models add for people to read.
const REASON: &str = "reason";
/// Method that lists the tools.
pub(super) const TOOLS_LIST: &str = "tools/list";
/// Method that reads a resource.
const RESOURCES_READ: &str = "resources/read";
/// Sort of the remembered lists that the cache itself needs.
pub(super) const KNOWN_TOOLS: &str = "mcp tool list";
/// How long a remembered list of tools counts.
const LIST_TTL: Ttl = Ttl::days(1);
/// Prefix of the tags by which stale results are found.
pub(crate) const TOOL_TAG: &str = "mcp:";
/// Digits of the server's digest in tags.
const TAG_DIGITS: usize = 16;

/// The parts of a [`ToolCache`].
#[derive(Debug)]
pub(crate) struct ToolCacheParts {
    pub(crate) cache: Cache,
    pub(crate) scope: Scope,
    /// The project's root and the server's working directory, for sources.
    pub(crate) paths: PathContext,
    /// The name that the user gave the server.
    pub(crate) name: String,
    pub(crate) server: ServerIdentity,
    /// Protocol in the keys: `mcp` or `rest`.
    pub(crate) protocol: &'static str,
    pub(crate) policy: ServerCachePolicy,
    /// True if other users or machines read the same entries.
    pub(crate) is_shared: bool,
    /// How far the cache may be used.
    pub(crate) mode: CacheMode,
    /// Limit on the age of results that are served.
    pub(crate) max_age: Option<Ttl>,
    /// Values that must not be stored.
    pub(crate) withheld: SecretValues,
    pub(crate) call_log: CallLog,
    pub(crate) faults: Arc<dyn FaultLog>,
}

/// The cache of one server's results. Clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct ToolCache {
    pub(super) inner: Arc<ToolCacheState>,
}

#[derive(Debug)]
pub(super) struct ToolCacheState {
    pub(super) parts: ToolCacheParts,
    pub(super) writes: WriteTracker,
    /// Tag of all entries of this server, whatever the roots.
    tag: String,
    roots: Mutex<RootsState>,
    pub(super) tools: Mutex<KnownTools>,
    pub(super) upkeep: StoreUpkeep,
}

#[derive(Debug, Default)]
pub(super) struct KnownTools {
    pub(super) list: ToolList,
    /// True once the remembered list was looked for, or is outdated.
    pub(super) is_recalled: bool,
}

/// The client's roots, as far as the server has asked for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum RootsState {
    /// The server has not asked.
    #[default]
    NotAsked,
    Known(Vec<String>),
    /// They have changed, and the server has not asked again: nothing is cached.
    Unknown,
}

/// Plan for a call, and the ticket that ends it.
#[derive(Debug)]
pub(crate) struct CallPlan {
    /// To be given to [`ToolCache::finished`] when the call is over.
    pub(crate) ticket: CallTicket,
    pub(crate) route: CallRoute,
}

/// Way of a call.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it for a call")]
pub(crate) enum CallRoute {
    /// To the server; its answer is not cached.
    Pass(PassReason),
    /// Through the cache.
    Cached(CachedCall),
}

impl ToolCache {
    pub(crate) fn new(parts: ToolCacheParts) -> Self {
        // Checkouts share some entries, so a write in one drops them for all.
        let server = parts.server.fingerprint(&parts.name, None, DirectoryView::InProject);
        let digest = server.digest.to_hex();
        let tag = format!("{TOOL_TAG}{}", &digest[..TAG_DIGITS]);
        let inner = ToolCacheState {
            parts,
            tag,
            writes: WriteTracker::default(),
            roots: Mutex::default(),
            tools: Mutex::default(),
            upkeep: StoreUpkeep::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sets the client's roots, which are part of the server's identity.
    pub(crate) fn set_roots(&self, roots: RootsState) {
        *self.inner.roots.lock() = roots;
    }

    /// The server's fingerprint; none while the roots are unknown.
    pub(super) fn fingerprint(&self, view: DirectoryView) -> Option<ServerFingerprint> {
        let ToolCacheParts { server, name, .. } = &self.inner.parts;
        match &*self.inner.roots.lock() {
            RootsState::NotAsked => Some(server.fingerprint(name, None, view)),
            RootsState::Known(roots) => Some(server.fingerprint(name, Some(roots), view)),
            RootsState::Unknown => None,
        }
    }

    /// The directories in which the server may look for a relative path.
    fn reading_places(&self) -> ReadingPlaces {
        let ToolCacheParts { server, paths, .. } = &self.inner.parts;
        let roots = match &*self.inner.roots.lock() {
            RootsState::Known(roots) => roots.clone(),
            RootsState::NotAsked | RootsState::Unknown => Vec::new(),
        };
        ReadingPlaces::new(&paths.cwd, server.command(), &roots)
    }

    /// Learns from an answer of the server to `tools/list`; other methods teach nothing.
    pub(crate) fn learn_list(&self, method: &str, params: Option<&RawValue>, result: &RawValue) {
        if method != TOOLS_LIST {
            return;
        }
        let remembered = {
            let mut known = self.inner.tools.lock();
            known.is_recalled = true;
            let is_complete = known.list.learn_page(params, result);
            is_complete.then(|| known.list.to_remembered())
        };
        if let Some(list) = remembered.filter(|_| self.inner.parts.policy.caches_anything()) {
            self.remember_soon(list);
        }
    }

    /// True if the server's tools are known, from this session or remembered.
    pub(crate) fn knows_tools(&self) -> bool {
        self.with_tools(ToolList::is_complete)
    }

    /// Plans a call. Call it once for each request, when it arrives: what a call that writes makes
    /// stale is served no more from here on, and dropped now and again when its ticket ends.
    pub(crate) fn plan(&self, method: &str, params: Option<&RawValue>) -> CallPlan {
        let (target, never) = match CallTarget::read(method, params) {
            Ok(read) => read,
            Err(reason) => {
                let mut ticket = CallTicket::new(self, method);
                ticket.passed = Some(reason.clone());
                ticket.is_logged = reason != PassReason::Method;
                return CallPlan { ticket, route: CallRoute::Pass(reason) };
            }
        };
        let tool = if target.is_tool { self.definition(&target.name) } else { None };
        let stale = self.made_stale_by(&target, tool.as_ref());
        if !stale.is_empty() {
            self.inner.writes.begin(&stale);
            self.drop_soon(StaleDrop { stale: stale.clone(), is_marked: true, is_end: false });
        }
        let (digest, route) = match never {
            Some(PassReason::LongArguments) => (None, Err(PassReason::LongArguments)),
            never => {
                let arguments = read_arguments(&target, tool.as_ref());
                let raw = || Sha256Digest::of(target.arguments.unwrap_or_default().as_bytes());
                let digest = arguments.as_ref().map_or_else(|_| raw(), ToolArguments::digest);
                let route = match never {
                    Some(reason) => Err(reason),
                    None => self.route(&target, tool.as_ref(), arguments),
                };
                (Some(digest), route)
            }
        };
        let mut ticket = CallTicket::new(self, &target.name);
        ticket.stale = stale;
        ticket.arguments = digest;
        ticket.passed = route.as_ref().err().cloned();
        ticket.read_only = tool.as_ref().and_then(ToolDefinition::declared_read_only);
        ticket.file_arguments =
            tool.as_ref().map_or_else(Vec::new, |tool| file_properties(&tool.properties));
        CallPlan { ticket, route: route.map_or_else(CallRoute::Pass, CallRoute::Cached) }
    }

    /// Explains how a call of a tool would be answered; an error is the reason why it is not cached.
    /// Changes nothing, also for a tool that writes.
    pub(crate) fn explain(&self, params: &RawValue) -> Result<LookupExplanation, PassReason> {
        let (target, never) = CallTarget::read(TOOLS_CALL, Some(params))?;
        if let Some(reason) = never {
            return Err(reason);
        }
        let tool = self.definition(&target.name);
        let arguments = read_arguments(&target, tool.as_ref());
        Ok(self.route(&target, tool.as_ref(), arguments)?.explain())
    }

    fn route(
        &self,
        target: &CallTarget<'_>,
        tool: Option<&ToolDefinition>,
        arguments: Result<ToolArguments>,
    ) -> Result<CachedCall, PassReason> {
        let ToolCacheParts { cache, scope, policy, mode, name: server_name, .. } =
            &self.inner.parts;
        if !cache.enabled() || *mode == CacheMode::Bypass {
            return Err(PassReason::Disabled);
        }
        let (ttl, sources, allowed_by) = match policy.decide(&target.name, tool) {
            CacheDecision::Keep { ttl, sources, allowed_by } => (ttl, sources, allowed_by),
            // A tool that is not listed yet may be read-only.
            CacheDecision::Pass(NotCachedReason::NoTtl)
                if target.is_tool && tool.is_none() && policy.read_only.is_some() =>
            {
                return Err(PassReason::UnlistedTool);
            }
            CacheDecision::Pass(reason) => return Err(PassReason::Policy(reason)),
        };
        if target.is_tool && tool.is_none() {
            return Err(PassReason::UnlistedTool);
        }
        let view =
            if sources.is_empty() { DirectoryView::Absolute } else { DirectoryView::InProject };
        let server = self.fingerprint(view).ok_or(PassReason::RootsUnknown)?;
        let by_read_only = allowed_by == CacheAllowance::ReadOnly;
        if by_read_only
            && sources.is_empty()
            && sources::mention_files(target.arguments, &self.reading_places())
        {
            return Err(PassReason::Policy(NotCachedReason::NeedsSources));
        }
        let no_key = |error: Error| PassReason::Arguments(error.to_string());
        let recipe = ToolCallRecipe {
            protocol: self.inner.parts.protocol,
            schema: tool.map(|tool| tool.schema),
            tool: target.name.clone(),
            arguments: arguments.map_err(no_key)?,
            server,
        };
        let key = recipe.key().map_err(no_key)?;
        let sources =
            sources::expand_templates(&sources, target.arguments, || self.reading_places())
                .map_err(PassReason::Sources)?;
        let mut tags = vec![self.inner.tag.clone(), self.tag(&target.name)];
        let named = policy.invalidations_of(&target.name).into_iter().map(StaleResults::Named);
        let mut dropped_by: Vec<StaleResults> = named.collect();
        match allowed_by {
            CacheAllowance::Rule => {}
            CacheAllowance::ServerDefault => {
                tags.push(self.server_default_tag());
                dropped_by.push(StaleResults::ServerDefault);
            }
            CacheAllowance::ReadOnly => {
                tags.push(self.read_only_tag());
                dropped_by.push(StaleResults::ReadOnly);
            }
        }
        let uri = resource_uri(target);
        tags.extend(uri.as_deref().map(|uri| self.resource_tag(uri)));
        let is_list = !target.is_tool && target.name == TOOLS_LIST;
        let call = CachedCall {
            cache: self.clone(),
            server: recipe.server.digest,
            view,
            id: EntryId::new(scope.clone(), key),
            parts: recipe.parts(),
            identity: ProducerIdentity {
                name: Some(recipe.tool),
                namespace: Some(server_name.clone()),
                hash: recipe.schema.map(|schema| schema.to_hex()),
            },
            is_tool: target.is_tool,
            list_params: is_list.then(|| target.arguments.unwrap_or("{}").to_owned()),
            ttl,
            sources,
            tags,
            allowed_by,
            dropped_by,
            uri,
        };
        if self.inner.writes.is_under_way(|stale| call.is_made_stale_by(stale)) {
            return Err(PassReason::WriteUnderWay);
        }
        Ok(call)
    }

    /// Results that a call makes stale.
    fn made_stale_by(
        &self,
        target: &CallTarget<'_>,
        tool: Option<&ToolDefinition>,
    ) -> Vec<StaleResults> {
        if !target.is_tool {
            return Vec::new();
        }
        let policy = &self.inner.parts.policy;
        let named = policy.invalidated_by(&target.name).into_iter().map(StaleResults::Named);
        let mut stale: Vec<StaleResults> = named.collect();
        // A tool that is not known may write.
        if policy.read_only.is_some_and(|ttl| ttl != Ttl::Off)
            && !tool.is_some_and(|tool| tool.read_only)
        {
            stale.push(StaleResults::ReadOnly);
        }
        if policy.default_ttl.is_some_and(|ttl| ttl != Ttl::Off)
            && tool.is_some_and(|tool| tool.declares_writes)
        {
            stale.push(StaleResults::ServerDefault);
        }
        stale
    }

    /// Drops what a notification of the server concerns.
    pub(crate) fn server_changed(&self, notification: &str, params: Option<&RawValue>) {
        let named = |names: &[&str]| -> Vec<StaleResults> {
            names.iter().map(|name| StaleResults::Named(NamePattern::new(*name))).collect()
        };
        let stale = match notification {
            "notifications/tools/list_changed" => {
                let mut known = self.inner.tools.lock();
                known.list.forget();
                known.is_recalled = true;
                named(&[TOOLS_LIST])
            }
            "notifications/prompts/list_changed" => named(&["prompts/list", "prompts/get"]),
            "notifications/resources/list_changed" => {
                named(&["resources/list", "resources/templates/list", RESOURCES_READ])
            }
            "notifications/resources/updated" => {
                let params = params.and_then(|params| RawMembers::read(params.get()));
                match params.and_then(|params| params.parse::<String>("uri")) {
                    Some(uri) => with_parents(&uri).map(StaleResults::Resource).collect(),
                    None => named(&[RESOURCES_READ]),
                }
            }
            _ => return,
        };
        self.inner.writes.begin(&stale);
        self.drop_soon(StaleDrop { stale, is_marked: false, is_end: true });
    }

    /// Drops everything, also what calls in flight would keep. Call it before the server is told
    /// something that can't be read, and may be a call that writes.
    pub(crate) fn note_unknown_write(&self) {
        if !self.inner.parts.policy.caches_anything() {
            return;
        }
        let stale = vec![StaleResults::Everything];
        self.inner.writes.begin(&stale);
        self.drop_soon(StaleDrop { stale, is_marked: false, is_end: true });
    }

    /// Drops entries from the store.
    pub(super) fn try_drop(&self, stale: &StaleResults) -> Result<()> {
        match stale {
            StaleResults::Everything => self.drop_tagged(&self.inner.tag),
            StaleResults::ReadOnly => self.drop_tagged(&self.read_only_tag()),
            StaleResults::ServerDefault => self.drop_tagged(&self.server_default_tag()),
            StaleResults::Resource(uri) => self.drop_tagged(&self.resource_tag(uri)),
            StaleResults::Named(name) if !name.is_pattern() => {
                self.drop_tagged(&self.tag(name.as_str()))
            }
            StaleResults::Named(pattern) => {
                let names = self.cached_names()?;
                let matching = names.iter().filter(|name| pattern.matches(name));
                matching.map(|name| self.tag(name)).try_for_each(|tag| self.drop_tagged(&tag))
            }
        }
    }

    fn drop_tagged(&self, tag: &str) -> Result<()> {
        let ToolCacheParts { cache, scope, .. } = &self.inner.parts;
        cache.invalidate(scope, &EntrySelection::default().with_tag(tag)).map(drop)
    }

    /// Names of the tools and methods with entries.
    fn cached_names(&self) -> Result<Vec<String>> {
        let ToolCacheParts { cache, scope, .. } = &self.inner.parts;
        let filter = ScanFilter {
            kind: Some(Kind::Tool),
            selection: Some(EntrySelection::default().with_tag(&self.inner.tag)),
            ..ScanFilter::of_scope(scope)
        };
        let mut names = std::collections::BTreeSet::new();
        cache.scan_filtered(&filter, &mut |_, head| {
            names.extend(head.ok().and_then(|head| head.header.identity.name.clone()));
            ScanFlow::Continue(())
        })?;
        Ok(names.into_iter().collect())
    }

    fn tag(&self, name: &str) -> String {
        format!("{}:{name}", self.inner.tag)
    }

    /// Tag of all entries of this server.
    pub(super) fn tag_of_server(&self) -> &str {
        &self.inner.tag
    }

    fn read_only_tag(&self) -> String {
        self.tag("read-only")
    }

    fn server_default_tag(&self) -> String {
        self.tag("server-default")
    }

    fn resource_tag(&self, uri: &str) -> String {
        let digest = Sha256Digest::of(uri.as_bytes()).to_hex();
        self.tag(&format!("uri:{}", &digest[..TAG_DIGITS]))
    }

    fn definition(&self, tool: &str) -> Option<ToolDefinition> {
        self.with_tools(|list| list.get(tool).cloned())
    }

    /// Calls `look` with the list of tools; a list of an earlier session if there is none yet.
    fn with_tools<T>(&self, look: impl FnOnce(&ToolList) -> T) -> T {
        let mut known = self.inner.tools.lock();
        if !known.is_recalled {
            known.is_recalled = true;
            if let Some(list) = self.recall_list() {
                known.list = list;
            }
        }
        look(&known.list)
    }

    fn list_id(&self, sort: &str) -> Option<EntryId> {
        let server = self.fingerprint(DirectoryView::Absolute)?;
        let key = Key::of([sort, &server.digest.to_hex()]);
        Some(EntryId::new(self.inner.parts.scope.clone(), key))
    }

    fn recall_list(&self) -> Option<ToolList> {
        let policy = &self.inner.parts.policy;
        let list = policy.caches_anything().then(|| self.recall(KNOWN_TOOLS)).flatten()?;
        ToolList::from_remembered(&list)
    }

    /// Reads a remembered list of that sort.
    pub(super) fn recall(&self, sort: &str) -> Option<Vec<u8>> {
        let ToolCacheParts { cache, paths, .. } = &self.inner.parts;
        let id = self.list_id(sort)?;
        let found = cache.peek(&LookupRequest::new(Kind::Tool, &id, paths)).entry()?;
        found.body().to_bytes().ok().map(|body| body.to_vec())
    }

    /// Remembers a list for later sessions, unless it is the remembered one.
    pub(super) fn remember_list(&self, sort: &str, list: Vec<u8>) -> Result<()> {
        let ToolCacheParts { cache, paths, name, mode, .. } = &self.inner.parts;
        let is_read = matches!(mode, CacheMode::Use | CacheMode::Refresh);
        let Some(id) = self.list_id(sort).filter(|_| is_read && cache.enabled()) else {
            return Ok(());
        };
        if self.recall(sort).is_some_and(|known| known == list) {
            return Ok(());
        }
        let draft = Draft {
            identity: ProducerIdentity {
                name: Some(TOOLS_LIST.to_owned()),
                namespace: Some(name.clone()),
                hash: None,
            },
            parts: vec![KeyPart::shown("tool", "known tools")],
            tags: vec![self.inner.tag.clone(), self.tag(TOOLS_LIST)],
            ..Draft::new(Kind::Tool, list)
        };
        cache.permit(&id, paths, &[])?.fill(draft, LIST_TTL).map(drop)
    }

    /// Reports a fault after which the call goes on.
    pub(super) fn report(&self, error: &Error) {
        let ToolCacheParts { faults, name, .. } = &self.inner.parts;
        faults.fault(&format!("the tool cache of {name}"), error);
    }
}

/// The arguments that count.
fn read_arguments(target: &CallTarget<'_>, tool: Option<&ToolDefinition>) -> Result<ToolArguments> {
    // An argument of that name that the tool declares is not for people.
    let declares_reason =
        tool.is_some_and(|tool| tool.properties.iter().any(|name| name == REASON));
    let ignored: &[&str] = match (target.is_tool, declares_reason) {
        (true, true) => &[],
        (true, false) => &[REASON],
        (false, _) => &["_meta"],
    };
    ToolArguments::read(target.arguments, ignored)
}

fn resource_uri(target: &CallTarget<'_>) -> Option<String> {
    if target.is_tool || target.name != RESOURCES_READ {
        return None;
    }
    RawMembers::read(target.arguments?)?.parse("uri")
}

/// The URI, and those that it is below: a resource may list others.
fn with_parents(uri: &str) -> impl Iterator<Item = String> {
    let cuts = uri.match_indices('/').flat_map(|(at, _)| [&uri[..at], &uri[..=at]]);
    let parents: std::collections::BTreeSet<&str> = cuts.chain([uri]).collect();
    parents.into_iter().map(str::to_owned).collect::<Vec<_>>().into_iter()
}
