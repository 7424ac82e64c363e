//! Rules that agents in this project are given.

use std::ffi::OsString;
use std::path::Path;

use crate::clients::{AgentClient, ClientPlaces, clients_of_command, has_our_hooks};
use recoup_core::Result;
use recoup_core::base::text::shorten_text;
use recoup_core::key::{RuleFingerprint, RuleSetFingerprint};
use recoup_core::memory::NoteId;
use recoup_core::memory::recall::inject::{BlockBudget, RulesBlock, rules_digest};

use super::App;
use crate::config::find_client_dirs;

/// Budget for all rules: those that do not fit at the start of a session may still be given at a
/// prompt, so all of them count.
const UNLIMITED: BlockBudget = BlockBudget { tokens: u32::MAX, units: usize::MAX };

/// Length of a rule's name, in characters.
const MAX_NAME_CHARS: usize = 80;

impl App {
    /// The rules of this project and universal ones, as a session begins with them.
    pub(crate) fn rules(&self, budget: BlockBudget) -> Result<Option<RulesBlock>> {
        self.memory().rules_block(&self.settings.project, budget)
    }

    /// Rules that a program, run with `words`, gives its agent through our hooks or mirrors, for its key; none for
    /// other programs, which are known by their names.
    pub(crate) fn rules_for_program(
        &self,
        program: &Path,
        words: &[OsString],
    ) -> Result<Option<RuleSetFingerprint>> {
        let clients = clients_of_command(program, words);
        if clients.is_empty() {
            return Ok(None);
        }
        let (root, cwd) = (self.settings.project.root(), &self.settings.cwd);
        let dirs = find_client_dirs(cwd);
        let places = ClientPlaces { dirs: &dirs, root, cwd: Some(cwd) };
        // The client itself reads the mirrors.
        let reads = |client| client == AgentClient::ClaudeCode && self.settings.mirror.is_any();
        if !clients.into_iter().any(|client| reads(client) || has_our_hooks(client, &places)) {
            return Ok(None);
        }
        let (all, start) = (self.rules(UNLIMITED)?, self.rules(BlockBudget::default())?);
        let rules = all.iter().flat_map(RulesBlock::included);
        let rules = rules.map(|it| RuleFingerprint::new(it.id.as_str(), &it.line)).collect();
        Ok(Some(RuleSetFingerprint { digest: rules_digest(all.as_ref(), start.as_ref()), rules }))
    }

    /// Looks up the beginning of a rule's current text by its id.
    pub(crate) fn rule_names(&self) -> impl Fn(&str) -> Option<String> {
        let memory = self.memory();
        move |id| {
            let note = memory.note(&NoteId::parse(id).ok()?).ok()??;
            Some(shorten_text(&note.text, MAX_NAME_CHARS).into_owned())
        }
    }
}
