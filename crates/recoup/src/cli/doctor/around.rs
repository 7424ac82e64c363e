//! The context that all checks share. Parts of it may be missing or broken: checks report that.

use std::path::{Path, PathBuf};

use recoup_core::base::project::{Project, ProjectRegistry};
use recoup_core::memory::hooked;

use super::repository::Repository;
use crate::config::show::{Layer, said};
use crate::config::trust::Verdict;
use crate::config::{ClientDirs, Gathered, Overrides, Places, Settings, find_project};
use crate::install::{self, Installation, Noted, Slot};

/// Everything that checks read: paths, project, configuration and installations.
#[derive(Debug)]
pub(in crate::cli) struct Around {
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
    /// The repository around the project, and the variables that lead into it.
    pub(super) repository: Repository,
    pub(super) configuration: Configuration,
    /// Paths of the clients' files.
    pub(super) places: install::Places,
    pub(super) installed: Vec<Installation>,
    /// Recorded installations, or why the record cannot be read.
    pub(super) noted: Result<Vec<Noted>, String>,
    dirs: ClientDirs,
}

/// State of the configuration, readable or not.
#[derive(Debug, Default)]
pub(super) struct Configuration {
    /// None if the configuration has a problem.
    pub(super) settings: Option<Settings>,
    /// Problems that stop commands.
    pub(super) problems: Vec<String>,
    /// Problems in the repository's files, which are ignored as a result.
    pub(super) ignored: Vec<String>,
    /// Advice about a checkout that is kept separate from the project that it claims.
    pub(super) unconfirmed: Option<String>,
    /// Warnings about settings in the repository's files that need trust.
    pub(super) warnings: Vec<String>,
    /// Keys that are set, each with its layer.
    pub(super) said: Vec<(&'static str, Layer)>,
    /// Number of repository files with settings that need trust and lack it.
    pub(super) untrusted: usize,
}

impl Around {
    /// Collects the context; an error only if there is no directory for our own files.
    pub(in crate::cli) fn find() -> recoup_core::Result<Self> {
        let Places { cwd, home, user_home } = Places::find()?;
        let project = find_project(&home, &cwd).ok();
        let root = project.as_ref().map_or(&*cwd, Project::root);
        let dirs = ClientDirs::find(&cwd);
        let mut places = dirs.for_install(&home, root);
        places.claude_version = install::ask_claude_code(&places);
        let installed = install::installed(&places);
        let noted = install::noted(&places).map_err(|error| error.to_string());
        let configuration = Configuration::read();
        let program = std::env::current_exe().ok();
        let repository = Repository::around(root, &places.home);
        Ok(Self {
            cwd,
            home,
            user_home,
            program,
            project,
            repository,
            configuration,
            places,
            installed,
            noted,
            dirs,
        })
    }

    /// Formats a path for display, with `~` for the user's home.
    pub(super) fn shown(&self, path: &Path) -> String {
        match self.user_home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }

    /// True if a client would run our hooks, all of its settings taken together.
    pub(super) fn has_our_hooks(&self, client: hooked::Client) -> bool {
        let root = self.project.as_ref().map_or(&*self.cwd, Project::root);
        hooked::has_our_hooks(client, &self.dirs.in_project(root, &self.cwd))
    }

    /// True if we once wrote to that file for that client.
    pub(super) fn was_put_in(&self, slot: &Slot) -> bool {
        let is_it =
            |it: &Noted| (it.client, it.level) == (slot.client, slot.level) && it.path == slot.path;
        self.noted.as_ref().is_ok_and(|noted| noted.iter().any(is_it))
    }

    /// The settings, if they can be read.
    pub(super) fn settings(&self) -> Option<&Settings> {
        self.configuration.settings.as_ref()
    }
}

impl Configuration {
    fn read() -> Self {
        let mut gathered = match Gathered::new(&Overrides::default()) {
            Ok(gathered) => gathered,
            Err(error) => return Self { problems: vec![error.to_string()], ..Self::default() },
        };
        let said = said(&gathered);
        let is_untrusted = |verdict: &Verdict| *verdict != Verdict::Trusted;
        let untrusted = gathered.delicate.iter().filter(|it| is_untrusted(&it.verdict)).count();
        let settings = gathered.settings();
        let ignored = gathered.left_out.iter().map(ToString::to_string).collect();
        let mut problems: Vec<String> = gathered.problems.iter().map(ToString::to_string).collect();
        if let Some(Err(error)) = settings.as_ref().map(Settings::demand_within_project) {
            problems.push(error.to_string());
        }
        let registry = ProjectRegistry::below(&gathered.places.home);
        let unconfirmed = registry.advice(&gathered.project);
        let warnings = settings.as_ref().and_then(|_| gathered.untrusted()).into_iter().collect();
        Self { settings, problems, ignored, unconfirmed, warnings, said, untrusted }
    }
}
