//! What an agent is told that works here.

use recoup_core::Result;
use recoup_core::base::text::shortened;
use recoup_core::key::{Rule, Rules};
use recoup_core::memory::NoteId;
use recoup_core::memory::hooked::{Client, has_our_hooks};
use recoup_core::memory::inject::{Block, Budget, told};

use super::app::App;
use crate::config::ClientDirs;
use crate::exec::Program;

/// Room for all rules. Those that do not fit into the text at the beginning of a session
/// may still be given at a prompt, so that every one of them counts.
const ALL: Budget = Budget { tokens: u32::MAX, units: usize::MAX };

/// As much of a rule as names it, in characters.
const NAMED: usize = 80;

impl App {
    /// The rules of this project and of all, as a session begins with them; none where
    /// there are none.
    pub(super) fn rules(&self, budget: Budget) -> Result<Option<Block>> {
        self.memory().block(&self.settings.project, budget)
    }

    /// What a program tells its agent through our hooks, or from what we sync, for its key; none for all others,
    /// of which nothing but the name is looked at.
    pub(super) fn rules_told_by(&self, program: &Program) -> Result<Option<Rules>> {
        let clients = Client::of_command(program.file(), &program.words());
        if clients.is_empty() {
            return Ok(None);
        }
        let (root, cwd) = (self.settings.project.root(), &self.settings.cwd);
        let dirs = ClientDirs::find(cwd);
        let places = dirs.in_project(root, cwd);
        // What is synced is read by the client itself.
        let reads = |client| client == Client::ClaudeCode && self.settings.mirror.is_any();
        if !clients.into_iter().any(|client| reads(client) || has_our_hooks(client, &places)) {
            return Ok(None);
        }
        let (all, start) = (self.rules(ALL)?, self.rules(Budget::default())?);
        let rules = all.iter().flat_map(Block::included);
        let rules = rules.map(|it| Rule::new(it.id.as_str(), &it.line)).collect();
        Ok(Some(Rules { digest: told(all.as_ref(), start.as_ref()), rules }))
    }

    /// The beginning of what a rule says, as memory has it now; none where it is not known
    /// here, or not any more.
    pub(super) fn rule_names(&self) -> impl Fn(&str) -> Option<String> {
        let memory = self.memory();
        move |id| {
            let note = memory.note(&NoteId::parse(id).ok()?).ok()??;
            Some(shortened(&note.text, NAMED).into_owned())
        }
    }
}
