//! Projects of prompts: found by the directory in which a prompt was typed, also if that is gone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::project::{Project, ProjectId, ProjectRegistry};
use recoup_core::memory::{NoteScope, PauseReason};

use super::LearnRequest;
use super::prompts::HeardPrompt;
use crate::config::find_project;

/// Project in which something was said.
#[derive(Debug, Clone)]
pub(crate) struct PromptPlace {
    pub(crate) id: ProjectId,
    /// Its root, or the directory that is gone.
    pub(crate) root: PathBuf,
    /// True if neither the directory nor its project is known any more: a rule can't be kept there.
    pub(crate) is_gone: bool,
    /// True if the user wants nothing recorded there.
    pub(super) is_ignored: bool,
    /// The project, if its directory exists.
    pub(crate) project: Option<Project>,
}

impl PromptPlace {
    pub(crate) fn scope(&self) -> NoteScope {
        NoteScope::Project(self.id.clone())
    }

    /// Last part of its path.
    pub(crate) fn name(&self) -> String {
        let name = self.root.file_name().unwrap_or(self.root.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// Id that stands for a project that is not found yet.
pub(super) fn unknown_project() -> ProjectId {
    ProjectId::parse(&"0".repeat(32)).expect("32 digits are an id")
}

/// Finds the projects of directories, each once.
pub(super) struct PlaceFinder<'a> {
    request: &'a LearnRequest<'a>,
    places: Vec<PromptPlace>,
    by_dir: HashMap<PathBuf, usize>,
    /// Recorded roots of projects, and their ids.
    recorded: Option<HashMap<PathBuf, ProjectId>>,
}

impl<'a> PlaceFinder<'a> {
    pub(super) fn new(request: &'a LearnRequest<'a>) -> Self {
        Self { request, places: Vec::new(), by_dir: HashMap::new(), recorded: None }
    }

    pub(super) fn place(&self, at: usize) -> &PromptPlace {
        &self.places[at]
    }

    pub(super) fn into_places(self) -> Vec<PromptPlace> {
        self.places
    }

    /// Index of the project of a prompt. An agent may have gone into a repository inside of the
    /// session's own project: the user speaks about the outer one.
    pub(super) fn find(&mut self, prompt: &HeardPrompt) -> Result<usize> {
        let first = self.find_dir(&prompt.first_cwd, &prompt.session)?;
        let own = self.find_dir(&prompt.cwd, &prompt.session)?;
        let is_inside = self.places[own].root.starts_with(&self.places[first].root);
        Ok(if is_inside { first } else { own })
    }

    fn find_dir(&mut self, dir: &Path, session: &str) -> Result<usize> {
        if let Some(known) = self.by_dir.get(dir) {
            return Ok(*known);
        }
        let (id, root, project) = match self.project_of(dir) {
            Some(project) => (project.id().clone(), project.root().to_owned(), Some(project)),
            // Perhaps a hook has seen the session, or a command the directory.
            None => match self.remembered_id(dir, session)? {
                Some(id) => (id, dir.to_owned(), None),
                None => (gone_id(dir), dir.to_owned(), None),
            },
        };
        let is_gone = project.is_none() && id == gone_id(dir);
        let known = self.places.iter().position(|it| it.id == id);
        let at = known.unwrap_or(self.places.len());
        if known.is_none() {
            let reason = self.request.memory.pause_reason(&NoteScope::Project(id.clone()))?;
            let is_ignored = reason == Some(PauseReason::Ignored);
            self.places.push(PromptPlace { id, root, is_gone, is_ignored, project });
        } else if self.places[at].project.is_none() && project.is_some() {
            // A worktree that exists is better than one that is gone.
            (self.places[at].root, self.places[at].project) = (root, project);
        }
        self.by_dir.insert(dir.to_owned(), at);
        Ok(at)
    }

    /// The project of a directory that exists, or of the repository around one that is gone: a
    /// removed worktree or folder.
    fn project_of(&self, dir: &Path) -> Option<Project> {
        let home = &self.request.home;
        if dir.is_dir() {
            return find_project(home, dir).ok();
        }
        let above = dir.ancestors().find(|it| it.is_dir() && it.parent().is_some())?;
        find_project(home, above).ok().filter(|found| found.git_dir().is_some())
    }

    fn remembered_id(&mut self, dir: &Path, session: &str) -> Result<Option<ProjectId>> {
        if let Some(NoteScope::Project(id)) = self.request.memory.session_scope(session)? {
            return Ok(Some(id));
        }
        let recorded = self.recorded.get_or_insert_with(|| {
            let records = ProjectRegistry::below(&self.request.home).all_records().into_iter();
            records.map(|(id, record)| (PathBuf::from(record.root), id)).collect()
        });
        Ok(recorded.get(dir).cloned())
    }
}

/// Id that stands for a project that is gone.
fn gone_id(dir: &Path) -> ProjectId {
    let path = [b"gone\0", dir.as_os_str().as_encoded_bytes()].concat();
    let digest = Sha256Digest::of(&path).to_hex();
    ProjectId::parse(&digest[..32]).expect("32 digits are an id")
}
