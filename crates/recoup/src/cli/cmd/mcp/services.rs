//! Services of the MCP server: settings, memory and cache.

use std::sync::Arc;

use recoup_core::Result;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::ids;
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{Cache, LookupExplanation, PathContext};
use recoup_core::key::Scope;
use recoup_core::memory::{ForgetReport, Memory, NoteId, NoteScope};
use serde_json::Value;

use crate::cli::app::AppContext;
use crate::cli::explain::ExplainReport;
use crate::cli::failure::FaultPrinter;
use crate::cli::projects::ProjectNames;
use crate::cli::ui;
use crate::config::FlagOverrides;
use crate::install::AgentClient;
use crate::mcp::{ConfigStrictness, ServerServices};

#[derive(Debug)]
pub(super) struct AppMcpServices {
    app: &'static AppContext,
    memory: Memory,
    cache: Cache,
    session: String,
}

impl AppMcpServices {
    pub(super) fn open(
        overrides: &FlagOverrides,
        care: ConfigStrictness,
    ) -> Result<Box<dyn ServerServices>> {
        let app = match care {
            ConfigStrictness::Strict => AppContext::open(overrides, Arc::new(FaultPrinter))?,
            ConfigStrictness::Lenient => AppContext::load_lenient_silently(overrides)?,
        };
        // On stderr, which clients hide or keep in a log.
        app.report_warnings();
        let session = ids::fresh_id(&SystemClock);
        Ok(Box::new(Self { app, memory: app.memory(), cache: app.cache(), session }))
    }
}

impl ServerServices for AppMcpServices {
    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn cache(&self) -> &Cache {
        &self.cache
    }

    fn prepare_memory(&self) -> Result<()> {
        self.app.prepare_memory()
    }

    fn prepare_cache(&self) -> Result<()> {
        self.app.prepare_cache()
    }

    fn forget(&self, id: &NoteId) -> Result<ForgetReport> {
        self.app.forget(std::slice::from_ref(id))
    }

    fn notify_changed(&self, scope: &NoteScope) {
        self.app.refresh_mirrors(std::slice::from_ref(scope));
    }

    fn session(&self) -> &str {
        &self.session
    }

    fn recording_client(&self, client: &str) -> Option<&'static str> {
        let allowed = &self.app.settings.recording.allowed;
        AgentClient::of_mcp_name(client).filter(|it| allowed.contains(it)).map(AgentClient::as_str)
    }

    fn project(&self) -> &Project {
        &self.app.settings.project
    }

    fn project_name(&self, project: &ProjectId) -> String {
        if project == self.app.settings.project.id() {
            return self.app.settings.project.root().display().to_string();
        }
        let names = ProjectNames::read(&self.app.settings.home);
        names.root(&Scope::project(project)).map_or_else(|| project.to_string(), str::to_owned)
    }

    fn scope(&self) -> Scope {
        self.app.scope()
    }

    fn view(&self) -> PathContext {
        self.app.view()
    }

    fn ttl(&self) -> Ttl {
        self.app.settings.cache.ttl
    }

    fn explain(&self, explanation: &LookupExplanation) -> (Value, Vec<String>) {
        let report = ExplainReport::new(explanation);
        let data = serde_json::to_value(&report).expect("our own reports always serialize");
        let lines = report.lines().iter().map(|line| ui::printable(line).into_owned()).collect();
        (data, lines)
    }
}
