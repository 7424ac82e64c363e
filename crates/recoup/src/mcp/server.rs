//! The server as the SDK sees it: name, capabilities and request handlers. The engine blocks, so
//! its work runs on threads that may.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use recoup_core::base::text::shorten_text;
use recoup_core::{Result, secrets};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::consent::{self, ConsentReply, ConsentResult};
use super::in_flight::InFlightRequest;
use super::resources::ResourceWatch;
use super::tools::{self, ConsentProposal, ToolAnswer, ToolOutcome, ToolSet};
use super::workers::{EngineAccess, MemoryUpkeep};
use super::{ConfigStrictness, McpServices, ServerOptions, ServerState, prompts, resources};

/// Time that a client may cache a list, in milliseconds: it changes only with the program.
const LIST_TTL: u64 = 60 * 60 * 1000;

/// Limit of an error message, in characters.
const MOST_SAID: usize = 1_000;

/// Copies of an answer's text in memory until it is read: text and data.
pub(super) const COPIES_PER_ANSWER: usize = 2;

/// Server of one connection.
#[derive(Debug)]
pub(super) struct McpServer {
    pub(super) state: ServerState,
    options: ServerOptions,
    /// Subscriptions of a client with an older protocol.
    followed: Mutex<BTreeMap<String, ResourceSubscription>>,
}

/// A subscription to a resource, which ends when this is dropped.
#[derive(Debug)]
struct ResourceSubscription {
    _until: DropGuard,
    _listening: OwnedSemaphorePermit,
}

impl McpServer {
    pub(super) fn new(state: ServerState, options: ServerOptions) -> Self {
        Self { state, options, followed: Mutex::default() }
    }

    /// Runs work with the engine, on a thread that may block.
    pub(super) async fn run_on_engine<T: Send + 'static>(
        &self,
        access: EngineAccess,
        strictness: ConfigStrictness,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&McpServices) -> Result<T> + Send + 'static,
    ) -> Result<Result<T>, ErrorData> {
        let turn = self.state.turns.acquire(access, context).await?;
        let state = self.state.clone();
        let done =
            self.state.threads.run_job(turn, move || work(state.services(strictness)?)).await;
        // A panic. Its message stays unsaid: it may quote the arguments.
        Ok(done.unwrap_or_else(|| {
            let what =
                "internal error in Recoup: the call was not completed; other arguments may work";
            Err(recoup_core::Error::new(recoup_core::ErrorKind::Io, what))
        }))
    }

    /// True if somebody can be asked and there is need: with hooks, what the user has just said is
    /// known already.
    fn may_ask(&self, proposal: &ConsentProposal, context: &RequestContext<RoleServer>) -> bool {
        let ServerOptions { with_hooks, may_ask, .. } = self.options;
        may_ask && !consent::is_unattended(context) && !(with_hooks && proposal.just_said)
    }

    /// Registers a subscription before anything is awaited, so that a cancellation from now on
    /// takes effect. The token ends with the subscription.
    fn register_subscription(&self, uri: &str) -> Result<CancellationToken, ErrorData> {
        let mut followed = self.followed.lock();
        // A repeated subscription replaces the first.
        followed.remove(uri);
        let listening = self.state.reserve_listener()?;
        let token = CancellationToken::new();
        let until = token.clone().drop_guard();
        followed
            .insert(uri.to_owned(), ResourceSubscription { _until: until, _listening: listening });
        Ok(token)
    }

    /// Result of a call, after asking the user if needed.
    async fn settle_outcome(
        &self,
        outcome: ToolOutcome,
        brought: &ConsentReply,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut proposal = match outcome {
            ToolOutcome::Asks(proposal) if self.may_ask(&proposal, context) => proposal,
            outcome => return Ok(result(Ok(outcome.without_asking()), context).into()),
        };
        let writes = EngineAccess::Writes;
        let done = match consent::ask(&mut proposal, brought, &self.state, context).await {
            ConsentResult::Pending(request) => return Ok(request.into()),
            ConsentResult::Unanswered => Ok(proposal.unasked),
            ConsentResult::Yes => {
                self.run_on_engine(writes, ConfigStrictness::Strict, context, move |services| {
                    proposal.carry_out(services)
                })
                .await?
            }
            ConsentResult::No => {
                self.run_on_engine(writes, ConfigStrictness::Strict, context, move |services| {
                    proposal.decline(services)
                })
                .await?
            }
        };
        Ok(result(done, context).into())
    }
}

fn result(done: Result<ToolAnswer>, context: &RequestContext<RoleServer>) -> CallToolResult {
    match done {
        Ok(answer) => {
            // Counts until the client has read it.
            if let Some(burden) = InFlightRequest::from_extensions(&context.extensions) {
                burden.set_response_bytes(COPIES_PER_ANSWER * answer.text.len());
            }
            success(answer)
        }
        Err(error) => failure(&error),
    }
}

/// Result of a call that failed.
pub(super) fn failure(error: &recoup_core::Error) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error_text(error))])
}

fn success(answer: ToolAnswer) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
    result.structured_content = Some(answer.data);
    result
}

/// Reports a failure as a protocol error, where a result cannot carry it.
pub(super) fn internal_error(error: &recoup_core::Error) -> ErrorData {
    ErrorData::internal_error(error_text(error), None)
}

/// Error message without secrets: paths and names in it may be anything.
fn error_text(error: &recoup_core::Error) -> String {
    shorten_text(&secrets::redact(&error.to_string()), MOST_SAID).into_owned()
}

/// Refuses cursors: every list has one page.
fn reject_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => {
            Err(ErrorData::invalid_params("invalid cursor: the list has only one page", None))
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("recoup", env!("CARGO_PKG_VERSION")).with_title("Recoup");
        if self.options.tools == ToolSet::Nothing {
            let capabilities = ServerCapabilities::builder().enable_tools().build();
            return ServerConfig::new(capabilities).with_server_info(name);
        }
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(prompts::instructions(self.options.with_hooks))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        reject_cursor(request)?;
        let agents = self.state.agents.iter().map(|agent| agent.listing.clone());
        // Agents are the user's own.
        let scope = if agents.len() == 0 { CacheScope::Public } else { CacheScope::Private };
        let tools = tools::list(self.options).iter().cloned().chain(agents).collect();
        let mut list = ListToolsResult::with_all_items(tools);
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL), Some(scope));
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let agents = self.state.agents.iter().map(|agent| &agent.listing);
        let mut listed = tools::list(self.options).iter().chain(agents);
        let listed = listed.find(|tool| tool.name == name).cloned();
        listed.or_else(|| tools::find(name).map(|tool| tool.to_listing(self.options)))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let agents = &self.state.agents;
        if let Some(agent) = agents.iter().find(|agent| agent.listing.name == request.name) {
            let arguments = request.arguments.take().unwrap_or_default();
            return self.call_agent(Arc::clone(agent), arguments, &context).await;
        }
        let Some(tool) = tools::find(&request.name) else {
            let what = format!("Unknown tool: {}", tools::safe_name(&request.name));
            return Err(ErrorData::invalid_params(what, None));
        };
        let brought = ConsentReply::take_from(&mut request);
        let arguments = request.arguments.take().unwrap_or_default();
        // None if a script runs the client.
        let is_attended = self.options.may_ask && !consent::is_unattended(&context);
        let client = context.client_info().filter(|_| is_attended).map(|client| client.name);
        let work = move |services: &McpServices| {
            let outcome = tool.call(services, arguments)?;
            match client {
                Some(client) => outcome.record_if_allowed(services, &client),
                None => Ok(outcome),
            }
        };
        match self.run_on_engine(tool.access(), tool.config_strictness(), &context, work).await? {
            Ok(outcome) => {
                if tool.access() == EngineAccess::Writes {
                    MemoryUpkeep::run_if_due(&self.state);
                }
                self.settle_outcome(outcome, &brought, &context).await
            }
            Err(error) => Ok(result(Err(error), &context).into()),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        reject_cursor(request)?;
        let mut list = ListResourcesResult::with_all_items(resources::list());
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL), Some(CacheScope::Public));
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        reject_cursor(request)?;
        let mut list = ListResourceTemplatesResult::with_all_items(resources::templates());
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL), Some(CacheScope::Public));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let work = move |services: &McpServices| resources::read(services, &request.uri);
        let read = self
            .run_on_engine(EngineAccess::Reads, ConfigStrictness::Strict, &context, work)
            .await?;
        match read.map_err(|error| internal_error(&error))? {
            Some(read) => Ok(read.into()),
            None => Err(resources::not_found_error(&uri)),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = request.uri;
        if !resources::is_subscribable(&uri) {
            return Err(resources::not_found_error(&uri));
        }
        let token = self.register_subscription(&uri)?;
        let watch = token.run_until_cancelled(ResourceWatch::new(self.state.clone(), uri)).await;
        let Some(mut watch) = watch else { return Ok(()) };
        let peer = context.peer.clone();
        tokio::spawn(token.run_until_cancelled_owned(async move {
            loop {
                watch.wait_for_change().await;
                if peer.notify_resource_updated(watch.update_notification()).await.is_err() {
                    return;
                }
            }
        }));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.followed.lock().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let wanted = requested.resource_subscriptions.iter().flatten();
        let known: Vec<String> =
            wanted.filter(|uri| resources::is_subscribable(uri)).cloned().collect();
        let mut accepted = SubscriptionFilter::new();
        accepted.resource_subscriptions = (!known.is_empty()).then_some(known);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let _listening = self.state.reserve_listener()?;
        let mut following = tokio::task::JoinSet::new();
        // Each once, even if named repeatedly.
        let followed: BTreeSet<&String> =
            context.accepted().resource_subscriptions.iter().flatten().collect();
        for uri in followed {
            let (sink, state, uri) = (context.sink().clone(), self.state.clone(), uri.clone());
            following.spawn(async move {
                let mut watch = ResourceWatch::new(state, uri.clone()).await;
                loop {
                    watch.wait_for_change().await;
                    if sink.notify_resource_updated(uri.clone()).await.is_err() {
                        return;
                    }
                }
            });
        }
        // Lasts as long as the client likes, so it must not count as work in flight.
        if let Some(burden) =
            InFlightRequest::from_extensions(&context.request_context().extensions)
        {
            burden.set_request_bytes(0);
        }
        self.state.leaving.run_until_cancelled(context.cancelled()).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        reject_cursor(request)?;
        let mut list = ListPromptsResult::with_all_items(prompts::list());
        (list.ttl_ms, list.cache_scope) = (Some(LIST_TTL), Some(CacheScope::Public));
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::find(&request)?;
        let work = move |services: &McpServices| prompt.make(services);
        let made = self
            .run_on_engine(EngineAccess::Reads, ConfigStrictness::Strict, &context, work)
            .await?;
        made.map(Into::into).map_err(|error| internal_error(&error))
    }

    /// Nothing to complete; the SDK's default would answer all the same.
    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(unknown_request_error(&request))
    }
}

/// The methods of this server; others are unknown, whatever their parameters are.
const METHODS: [&str; 9] = [
    "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
    "resources/templates/list", "subscriptions/listen", "prompts/list", "prompts/get",
];

/// Methods that 2026-07-28 no longer has.
const OLDER: [&str; 4] = ["initialize", "ping", "resources/subscribe", "resources/unsubscribe"];

/// Error for such a request.
pub(super) fn unknown_request_error(request: &CustomRequest) -> ErrorData {
    let method = request.method.as_str();
    let meta = request.params.as_ref().and_then(|params| params.get("_meta"));
    let version = meta.and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"));
    let is_modern = version
        .and_then(Value::as_str)
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28.as_str());
    if METHODS.contains(&method) || (OLDER.contains(&method) && !is_modern) {
        let what = format!("{method}: the parameters are missing or have the wrong type");
        return ErrorData::new(ErrorCode::INVALID_PARAMS, what, None);
    }
    not_found(method)
}

fn not_found(method: &str) -> ErrorData {
    let what = format!("no such method: {}", tools::safe_name(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
}

/// Id and method of a message.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
}

/// Response to an HTTP request whose method the given version lacks; none for all other messages.
/// The SDK would serve some of them as older versions do.
pub(super) fn unknown_method_response(version: Option<&str>, message: &[u8]) -> Option<Value> {
    version.filter(|version| *version >= ProtocolVersion::V_2026_07_28.as_str())?;
    let MessageHead { id, method } = serde_json::from_slice(message).ok()?;
    let (id, method) = (id?, method?);
    let error = (!METHODS.contains(&&*method)).then(|| not_found(&method))?;
    Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}
