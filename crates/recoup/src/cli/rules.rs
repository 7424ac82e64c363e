//! Rules that agents in this project are given.

use recoup_core::Result;
use recoup_core::base::text::shortened;
use recoup_core::key::{Rule, Rules};
use recoup_core::memory::NoteId;
use recoup_core::memory::hooked::{Client, has_our_hooks};
use recoup_core::memory::inject::{Block, Budget, told};

use super::app::App;
use crate::config::ClientDirs;
use crate::exec::Program;

/// Budget for all rules: those that do not fit at the start of a session may still be given at a
/// prompt, so all of them count.
const ALL: Budget = Budget { tokens: u32::MAX, units: usize::MAX };

/// Length of a rule's name, in characters.
const NAMED: usize = 80;

impl App {
    /// The rules of this project and universal ones, as a session begins with them.
    pub(super) fn rules(&self, budget: Budget) -> Result<Option<Block>> {
        self.memory().block(&self.settings.project, budget)
    }

    /// Rules that a program gives its agent through our hooks or mirrors, for its key; none for
    /// other programs, which are known by their names.
    pub(super) fn rules_told_by(&self, program: &Program) -> Result<Option<Rules>> {
        let clients = Client::of_command(program.file(), &program.words());
        if clients.is_empty() {
            return Ok(None);
        }
        let (root, cwd) = (self.settings.project.root(), &self.settings.cwd);
        let dirs = ClientDirs::find(cwd);
        let places = dirs.in_project(root, cwd);
        // The client itself reads the mirrors.
        let reads = |client| client == Client::ClaudeCode && self.settings.mirror.is_any();
        if !clients.into_iter().any(|client| reads(client) || has_our_hooks(client, &places)) {
            return Ok(None);
        }
        let (all, start) = (self.rules(ALL)?, self.rules(Budget::default())?);
        let rules = all.iter().flat_map(Block::included);
        let rules = rules.map(|it| Rule::new(it.id.as_str(), &it.line)).collect();
        Ok(Some(Rules { digest: told(all.as_ref(), start.as_ref()), rules }))
    }

    /// Looks up the beginning of a rule's current text by its id.
    pub(super) fn rule_names(&self) -> impl Fn(&str) -> Option<String> {
        let memory = self.memory();
        move |id| {
            let note = memory.note(&NoteId::parse(id).ok()?).ok()??;
            Some(shortened(&note.text, NAMED).into_owned())
        }
    }
}
