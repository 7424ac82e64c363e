//! The context that all checks share. Parts of it may be missing or broken: checks report that.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clients::{self, AgentClient, ClientDirs, ClientPlaces};
use recoup_core::base::FaultLog;
use recoup_core::base::project::Project;
use recoup_core::memory::Memory;

use super::installed_command::is_same_file;
use crate::app::memory_in;
use crate::config::{
    BaseDirs, FlagOverrides, GatheredConfig, ResolvedSettings, find_client_dirs, find_project,
};
use crate::install::{self, ClientInstallation, RecordedFile, SettingsFile};

/// Everything that checks read: paths, project, configuration and installations.
#[derive(Debug)]
pub(crate) struct DoctorContext {
    /// Working directory at start.
    pub(super) cwd: PathBuf,
    /// Recoup's own directory.
    pub(super) home: PathBuf,
    /// The user's home directory, if there is one.
    pub(super) user_home: Option<PathBuf>,
    /// The running executable, if its path is known.
    pub(super) program: Option<PathBuf>,
    /// The project of the working directory, if it can be determined.
    pub(super) project: Option<Project>,
    /// None if the configuration has a problem.
    pub(super) settings: Option<ResolvedSettings>,
    /// Paths of the clients' files.
    pub(super) places: install::InstallPaths,
    pub(super) installed: Vec<ClientInstallation>,
    /// Recorded installations, or why the record cannot be read.
    pub(super) noted: Result<Vec<RecordedFile>, String>,
    dirs: ClientDirs,
    /// Receives faults that databases recover from.
    pub(super) faults: Arc<dyn FaultLog>,
}

impl DoctorContext {
    /// Collects the context; an error only if there is no directory for our own files.
    pub(super) fn collect(faults: Arc<dyn FaultLog>) -> recoup_core::Result<Self> {
        let BaseDirs { cwd, home, user_home } = BaseDirs::find()?;
        let project = find_project(&home, &cwd).ok();
        let root = project.as_ref().map_or(&*cwd, Project::root);
        let dirs = find_client_dirs(&cwd);
        let mut places = install::InstallPaths::new(dirs.clone(), &home, root);
        places.claude_version = install::ask_claude_code(&places);
        let installed = install::find_installations(&places);
        let noted = install::recorded_files(&places).map_err(|error| error.to_string());
        let mut configuration = GatheredConfig::new(&FlagOverrides::default()).ok();
        let settings = configuration.as_mut().and_then(GatheredConfig::resolve_settings);
        let program = std::env::current_exe().ok();
        Ok(Self {
            cwd,
            home,
            user_home,
            program,
            project,
            settings,
            places,
            installed,
            noted,
            dirs,
            faults,
        })
    }

    /// Formats a path for display, with `~` for the user's home.
    pub(super) fn display_path(&self, path: &Path) -> String {
        match self.user_home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }

    /// True if a path leads to the running executable.
    pub(super) fn is_this_program(&self, path: &Path) -> bool {
        self.program.as_ref().is_some_and(|program| is_same_file(program, path))
    }

    /// True if a file is in the project: then others may share it, and have written it.
    pub(super) fn is_in_project(&self, path: &Path) -> bool {
        let is_inside = |path: &Path| self.places.is_in_project(path);
        is_inside(path) || path.canonicalize().is_ok_and(|path| is_inside(&path))
    }

    /// True if a client would run our hooks, all of its settings taken together.
    pub(super) fn has_our_hooks(&self, client: AgentClient) -> bool {
        clients::has_our_hooks(client, &self.client_places())
    }

    /// True if a client runs our plugin.
    pub(super) fn has_our_plugin(&self, client: AgentClient) -> bool {
        clients::has_our_plugin(client, &self.client_places())
    }

    fn client_places(&self) -> ClientPlaces<'_> {
        let root = self.project.as_ref().map_or(&*self.cwd, Project::root);
        ClientPlaces { dirs: &self.dirs, root, cwd: Some(&self.cwd) }
    }

    /// True if we once wrote to that file for that client.
    pub(super) fn was_installed(&self, slot: &SettingsFile) -> bool {
        let is_it = |it: &RecordedFile| {
            (it.client, it.level) == (slot.client, slot.level) && it.path == slot.path
        };
        self.noted.as_ref().is_ok_and(|noted| noted.iter().any(is_it))
    }

    /// The memory below `home`, which is ours or a sandbox's.
    pub(super) fn memory_in(&self, home: &Path) -> Memory {
        memory_in(home, Arc::clone(&self.faults))
    }
}
