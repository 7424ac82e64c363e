//! Services of the MCP server: settings, memory and cache.

use recoup_core::Result;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::ids;
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{Cache, Explanation, View};
use recoup_core::key::Scope;
use recoup_core::memory::{Forgotten, Memory, NoteId, NoteScope};
use serde_json::Value;

use crate::cli::app::App;
use crate::cli::explain::Report;
use crate::cli::projects::Names;
use crate::cli::ui;
use crate::config::Overrides;
use crate::install::Client;
use crate::mcp::{ConfigCare, Surroundings};

#[derive(Debug)]
pub(super) struct Around {
    app: &'static App,
    memory: Memory,
    cache: Cache,
    session: String,
}

impl Around {
    pub(super) fn open(overrides: &Overrides, care: ConfigCare) -> Result<Box<dyn Surroundings>> {
        let app = match care {
            ConfigCare::Strict => App::load_untold(overrides)?,
            ConfigCare::Lenient => App::load_lenient_untold(overrides)?,
        };
        // On stderr, which clients hide or keep in a log.
        app.settings.left_out.iter().chain(&app.settings.warnings).for_each(ui::warn);
        let session = ids::fresh(&SystemClock);
        Ok(Box::new(Self { app, memory: app.memory(), cache: app.cache(), session }))
    }
}

impl Surroundings for Around {
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

    fn forget(&self, id: &NoteId) -> Result<Forgotten> {
        self.app.forget(std::slice::from_ref(id))
    }

    fn changed(&self, scope: &NoteScope) {
        self.app.refresh_mirrors(std::slice::from_ref(scope));
    }

    fn session(&self) -> &str {
        &self.session
    }

    fn may_record(&self, client: &str) -> Option<&'static str> {
        let allowed = &self.app.settings.recording.allowed;
        Client::of_mcp_name(client).filter(|it| allowed.contains(it)).map(Client::as_str)
    }

    fn project(&self) -> &Project {
        &self.app.settings.project
    }

    fn name_of(&self, project: &ProjectId) -> String {
        if project == self.app.settings.project.id() {
            return self.app.settings.project.root().display().to_string();
        }
        let names = Names::read(&self.app.settings.home);
        names.root(&Scope::project(project)).map_or_else(|| project.to_string(), str::to_owned)
    }

    fn scope(&self) -> Scope {
        self.app.scope()
    }

    fn view(&self) -> View {
        self.app.view()
    }

    fn ttl(&self) -> Ttl {
        self.app.settings.cache.ttl
    }

    fn explain(&self, explanation: &Explanation) -> (Value, Vec<String>) {
        let report = Report::new(explanation);
        let data = serde_json::to_value(&report).expect("our own reports always serialize");
        let lines = report.lines().iter().map(|line| ui::printable(line).into_owned()).collect();
        (data, lines)
    }
}
