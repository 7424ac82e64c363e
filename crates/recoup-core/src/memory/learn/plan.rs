//! Progress of work, from an agent's own task list.

use serde::{Deserialize, Serialize};

use crate::memory::capture::transcript::{
    CallStatus, PlanChange, ToolAction, ToolStep, TranscriptEntry, tool_steps,
};
use crate::memory::db::WorkCheckpoint;
use crate::memory::guard::private_text::without_private;
use crate::secrets;

/// Maximum number of tasks; the oldest are dropped.
const MOST: usize = 200;

/// Task list, as far as a transcript was read. It is stored between readings, because old tasks are
/// marked as done by their number alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskList(Vec<PlannedTask>);

/// One task of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PlannedTask {
    id: String,
    text: String,
    done: bool,
}

impl TaskList {
    /// Applies new entries; the first `known` were read before. Returns true if the list has
    /// changed. Lists of sub-agents are ignored.
    pub fn apply_entries(&mut self, entries: &[TranscriptEntry], known: usize) -> bool {
        let mut is_new = false;
        let own = |step: &&ToolStep<'_>| {
            step.agent.is_none()
                && step.until >= known
                && step.outcome.is_none_or(|outcome| outcome.ended == CallStatus::Succeeded)
        };
        for step in tool_steps(entries).iter().filter(own) {
            if let ToolAction::Plan(plan) = &step.call.action {
                is_new |= self.apply_change(plan, step);
            }
        }
        let more = self.0.len().saturating_sub(MOST);
        self.0.drain(..more);
        is_new
    }

    /// Returns the completed and the remaining tasks.
    pub fn to_checkpoint(&self) -> WorkCheckpoint {
        let texts = |done: bool| {
            let these = self.0.iter().filter(|task| task.done == done);
            these.map(|task| task.text.clone()).collect::<Vec<_>>()
        };
        WorkCheckpoint {
            completed: texts(true),
            remaining: texts(false),
            ..WorkCheckpoint::default()
        }
    }

    fn apply_change(&mut self, plan: &PlanChange, step: &ToolStep<'_>) -> bool {
        match plan {
            PlanChange::Whole(all) => {
                let task =
                    |(text, done): &(String, bool)| PlannedTask::new(String::new(), text, *done);
                self.0 = all.iter().map(task).collect();
                true
            }
            // The outcome has its number, so it is added once that is there.
            PlanChange::Add(text) => step.outcome.is_some_and(|outcome| {
                // `Task #3 created`
                let digits = outcome.output.chars().skip_while(|c| !c.is_ascii_digit());
                let number: String = digits.take_while(char::is_ascii_digit).collect();
                let next = (self.0.len() + 1).to_string();
                let id = if number.is_empty() { next } else { number };
                self.0.retain(|task| task.id != id);
                self.0.push(PlannedTask::new(id, text, false));
                true
            }),
            PlanChange::Mark { id, done } => {
                let is_known = self.0.iter().any(|task| task.id == *id);
                match done {
                    Some(done) => {
                        self.0.iter_mut().filter(|it| it.id == *id).for_each(|it| it.done = *done);
                    }
                    None => self.0.retain(|task| task.id != *id),
                }
                is_known
            }
        }
    }
}

impl PlannedTask {
    /// Creates a task, without text that must not be kept.
    fn new(id: String, text: &str, done: bool) -> Self {
        Self { id, text: secrets::redact(&without_private(text)).into_owned(), done }
    }
}
