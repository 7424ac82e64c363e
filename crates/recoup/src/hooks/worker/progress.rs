//! Saves a checkpoint from the agent's task list.

use recoup_core::Result;
use recoup_core::memory::NoteScope;
use recoup_core::memory::learn::plan::Tasks;

use super::Worker;
use super::sweep::News;

impl Worker<'_> {
    /// Updates the checkpoint. The task list is stored beside the transcript's mark, so that new
    /// entries only change it.
    pub(super) fn save_progress(&self, scope: &NoteScope, news: &News) -> Result<()> {
        if self.memory.silence(scope)?.is_some() {
            return Ok(());
        }
        let name = format!("{} plan", news.name);
        let known = if news.afresh { None } else { self.memory.swept(&name)? };
        let mut tasks: Tasks =
            known.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
        if !tasks.read_on(&news.entries, news.known) {
            return Ok(());
        }
        let progress = tasks.progress();
        if progress.remaining.is_empty() {
            self.memory.drop_checkpoint(scope)?;
        } else {
            self.memory.save_checkpoint(scope, &progress)?;
        }
        let tasks = serde_json::to_string(&tasks).expect("text always serializes");
        self.memory.sweep(&name, &tasks)
    }
}
