//! Saves a checkpoint from the agent's task list.

use recoup_core::Result;
use recoup_core::memory::NoteScope;
use recoup_core::memory::learn::plan::TaskList;

use super::MemoryWorker;
use super::sweep::TranscriptUpdate;

impl MemoryWorker<'_> {
    /// Updates the checkpoint. The task list is stored beside the transcript's mark, so that new
    /// entries only change it.
    pub(super) fn save_progress(&self, scope: &NoteScope, news: &TranscriptUpdate) -> Result<()> {
        if self.memory.pause_reason(scope)?.is_some() {
            return Ok(());
        }
        let name = format!("{} plan", news.name);
        let known = if news.afresh { None } else { self.memory.transcript_position(&name)? };
        let mut tasks: TaskList =
            known.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
        if !tasks.apply_entries(&news.entries, news.known) {
            return Ok(());
        }
        let progress = tasks.to_checkpoint();
        if progress.remaining.is_empty() {
            self.memory.drop_checkpoint(scope)?;
        } else {
            self.memory.save_checkpoint(scope, &progress)?;
        }
        let tasks = serde_json::to_string(&tasks).expect("text always serializes");
        self.memory.store_transcript_position(&name, &tasks)
    }
}
