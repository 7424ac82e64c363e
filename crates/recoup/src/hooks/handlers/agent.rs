//! Sub-agents and tasks in the background.

use std::path::Path;

use recoup_core::memory::inject::BlockBudget;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::transcript::TaskNotification;
use recoup_core::memory::{ContextDeliveries, EventDetails, MemoryEventKind};

use super::HookContext;
use crate::hooks::reply::HookReply;
use crate::jobs::SweepReason;

/// A sub-agent started. It sees nothing that was delivered to its parent, so it gets all rules.
pub(super) fn on_agent_start(here: &HookContext<'_>) -> HookReply {
    // Without a name there is no context to record deliveries for.
    let is_named = here.event.agent.is_some();
    let known = if is_named { here.deliveries() } else { ContextDeliveries::default() };
    let block = here.undelivered_rules(&known, BlockBudget::default());
    if is_named {
        here.record_turn(|turn| turn.deliver_all(block.as_ref()));
    }
    let mut reply = HookReply::default();
    if let Some(block) = &block {
        reply.add_context(block.text());
    }
    reply
}

/// A sub-agent ended. Its own transcript is queued for reading.
pub(super) fn on_agent_end(
    here: &HookContext<'_>,
    sort: &str,
    answer: Option<&str>,
    transcript: Option<&Path>,
) -> HookReply {
    let cited = answer.map(citations).unwrap_or_default();
    let call = here.event.agent.as_ref().map(|agent| task_end_key(agent, "completed"));
    here.record_turn(|turn| {
        let of =
            EventDetails { subject: Some("completed"), call: call.as_deref(), detail: Some(sort) };
        turn.record_event(MemoryEventKind::Task, of)?;
        answer.map_or(Ok(0), |answer| turn.record_citations(answer, &cited))
    });
    if let Some(transcript) = transcript {
        here.queue_sweep(transcript, SweepReason::SubAgent);
    }
    HookReply::default()
}

/// A background task completed, failed or was killed.
pub(super) fn on_task_end(here: &HookContext<'_>, task: &TaskNotification) -> HookReply {
    let call = task_end_key(&task.id, &task.status);
    here.record_turn(|turn| {
        let (subject, detail) = (Some(&*task.status), Some(&*task.summary));
        turn.record_event(
            MemoryEventKind::Task,
            EventDetails { subject, call: Some(&call), detail },
        )
    });
    HookReply::default()
}

/// Key of a task's end, so that it counts once, whichever event reports it.
fn task_end_key(task: &str, status: &str) -> String {
    format!("{task}/{status}")
}
