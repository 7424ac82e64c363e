//! Agent files as tools: each file of the served directories is one. A call is answered from the
//! cache or by a run, as `recoup run` does it. It may take minutes, so the client hears of its
//! progress and can cancel it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use recoup_core::base::FaultLog;
use recoup_core::base::text::shorten_text;
use recoup_core::{Error, Result, secrets};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject,
    ProgressNotificationParam, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::in_flight::InFlightRequest;
use super::server::{COPIES_PER_ANSWER, McpServer, failure};
use super::workers::EngineAccess;
use super::{ConfigStrictness, McpServices, tools};
use crate::agents::{
    AgentFile, AgentQuestion, AgentRunner, AnswerOrigin, FormatKind, RunHooks, RunObserver,
    RunOptions, ToolPermission, agent_spec, find_agent_files, load_agent, prompt_of,
};
use crate::app::App;
use crate::llm::ModelTool;
use crate::toolbox::{HIT_AGE, HIT_KEY, NamePattern};

/// Messages that wait to be sent; further ones are dropped.
const WAITING_MESSAGES: usize = 32;

/// Limit of a message about progress, in characters.
const MESSAGE_CHARS: usize = 300;

/// An agent file that is served as a tool.
#[derive(Debug)]
pub(super) struct AgentTool {
    file: PathBuf,
    pub(super) listing: Tool,
    permission: Arc<ToolPermission>,
}

impl AgentTool {
    /// The agents of some directories. Files with problems are reported and left out. An error if two
    /// tools have the same name.
    pub(super) fn load_all(
        app: &App,
        dirs: &[PathBuf],
        allowed: Vec<NamePattern>,
    ) -> Result<Vec<Arc<Self>>> {
        let allows_writing = !allowed.is_empty();
        let permission = Arc::new(ToolPermission::new(allowed, None));
        let warn = |error: &Error| app.faults.fault("agents", error);
        let mut served: Vec<Arc<Self>> = Vec::new();
        for dir in dirs {
            let dir = app.settings.cwd.join(dir);
            let files = find_agent_files(&dir, |notice| warn(&Error::usage(notice)));
            if !dir.exists() {
                return Err(Error::usage(format!(
                    "--agents: no such directory: {}",
                    dir.display()
                )));
            }
            if files.is_empty() {
                warn(&Error::usage(format!("--agents: no agent files in {}", dir.display())));
            }
            for file in files {
                // Problems name the file as the user would.
                let file = file.strip_prefix(&app.settings.cwd).unwrap_or(&file);
                let agent = match load_agent(app, file) {
                    Ok(agent) => agent,
                    Err(error) => {
                        warn(&error.context("not served"));
                        continue;
                    }
                };
                let (name, path) = (&agent.tool_name, agent.path.display());
                if served.iter().any(|other| other.file == agent.path) {
                    continue;
                }
                let owner = match served.iter().find(|other| other.listing.name == *name) {
                    Some(other) => Some(other.file.display().to_string()),
                    None => tools::find(name).map(|_| "recoup itself".to_owned()),
                };
                if let Some(owner) = owner {
                    return Err(Error::usage(format!(
                        "{path}: the tool {name} is already served by {owner}; give one of them \
                         another name"
                    )));
                }
                agent.notices.iter().for_each(|notice| warn(&Error::usage(notice.as_str())));
                let annotations = ToolAnnotations::new()
                    .read_only(!may_write(&agent, allows_writing))
                    .open_world(true);
                let ModelTool { name, description, input_schema } = agent_spec(&agent);
                let input = Arc::new(tools::object(input_schema));
                let listing = Tool::new(name, description, input)
                    .with_title(agent.name.clone())
                    .with_annotations(annotations);
                let permission = Arc::clone(&permission);
                served.push(Arc::new(Self { file: agent.path.clone(), listing, permission }));
            }
        }
        Ok(served)
    }

    /// Answers a call. The file is read anew: it may have been edited since the server was started.
    fn answer(
        &self,
        app: &App,
        arguments: JsonObject,
        observer: &CallObserver,
    ) -> Result<CallToolResult> {
        let prompt = prompt_of(&Value::Object(arguments))?;
        let agent = load_agent(app, &self.file)?;
        let options =
            RunOptions { permission: Arc::clone(&self.permission), ..RunOptions::default() };
        let runner = AgentRunner::new(app, app.model_client(None)?, None, options, observer);
        let question = AgentQuestion { prompt: Some(prompt), parent_ttl: None, is_root: true };
        let prepared = runner.prepare(&agent, &question)?;
        let answer = runner.answer_prepared(&prepared)?;
        // The protocol demands an object.
        let data = Some(agent.output.kind).filter(|kind| *kind == FormatKind::Json);
        let data = data.and_then(|_| serde_json::from_str(&answer.text).ok());
        let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
        result.structured_content = data.filter(Value::is_object);
        if let AnswerOrigin::Cached { age_millis, .. } = answer.origin {
            let mut meta = MetaObject::new();
            meta.insert(HIT_AGE.to_owned(), age_millis.into());
            meta.insert(HIT_KEY.to_owned(), prepared.slot.id().key.as_str().into());
            result.meta = Some(meta);
        }
        Ok(result)
    }
}

/// True if an agent, or one that it may ask, can change anything. Tools that are not read-only are
/// refused unless the user allows some.
fn may_write(agent: &AgentFile, allows_writing: bool) -> bool {
    let AgentFile { tools, servers, outputs, hooks, .. } = agent;
    let has_tools = !tools.is_empty() || !servers.is_empty();
    let has_effects = !outputs.is_empty() || *hooks != RunHooks::default();
    has_effects
        || (has_tools && allows_writing)
        || agent.referred_agents().any(|other| may_write(other, allows_writing))
}

impl McpServer {
    /// Calls an agent, and tells the client about its progress if it wants to know.
    pub(super) async fn call_agent(
        &self,
        agent: Arc<AgentTool>,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (sender, mut messages) = mpsc::channel::<String>(WAITING_MESSAGES);
        let token = context.meta.get_progress_token();
        let observer = CallObserver {
            messages: token.is_some().then_some(sender),
            cancelled: context.ct.clone(),
            leaving: self.state.leaving.clone(),
            faults: Arc::clone(&self.state.faults),
        };
        let run = move |services: &McpServices| agent.answer(services.app, arguments, &observer);
        let run =
            self.run_on_engine(EngineAccess::RunsAgent, ConfigStrictness::Strict, context, run);
        // Ends when the run drops the observer.
        let progress = async {
            let Some(token) = token else { return };
            let mut count = 0.0;
            while let Some(message) = messages.recv().await {
                count += 1.0;
                let progress = ProgressNotificationParam::new(token.clone(), count);
                // A client that has left gets no answer either.
                let _ = context.peer.notify_progress(progress.with_message(message)).await;
            }
        };
        let (answered, ()) = tokio::join!(run, progress);
        let result = answered?.unwrap_or_else(|error| failure(&error));
        if let Some(burden) = InFlightRequest::from_extensions(&context.extensions) {
            let texts = result.content.iter().filter_map(|block| block.as_text());
            burden.set_response_bytes(
                COPIES_PER_ANSWER * texts.map(|it| it.text.len()).sum::<usize>(),
            );
        }
        Ok(result.into())
    }
}

/// Follows the run of a call.
struct CallObserver {
    /// None if the client does not want to know.
    messages: Option<mpsc::Sender<String>>,
    cancelled: CancellationToken,
    leaving: CancellationToken,
    faults: Arc<dyn FaultLog>,
}

impl RunObserver for CallObserver {
    fn text(&self, _: &str) {}

    fn restarted(&self) {}

    fn notice(&self, line: fmt::Arguments<'_>) {
        self.detail(line);
    }

    fn detail(&self, line: fmt::Arguments<'_>) {
        if let Some(messages) = self.messages.as_ref().filter(|_| !self.is_cancelled()) {
            let line = line.to_string();
            let line = secrets::redact(&line);
            let _ = messages.try_send(shorten_text(&line, MESSAGE_CHARS).into_owned());
        }
    }

    fn warn(&self, error: &Error) {
        self.faults.fault("agents", error);
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled() || self.leaving.is_cancelled()
    }
}
