//! Handles the end of an answer, a context or a session.

use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::inject::BlockBudget;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::{ContextDeliveries, EventDetails, MemoryEventKind};

use super::{HookContext, prompt};
use crate::hooks::event::AnswerEnd;
use crate::hooks::notice;
use crate::hooks::reply::HookReply;
use crate::jobs::SweepReason;

/// An answer ended: counts the rules that it cites. Says nothing to the agent, which would go on.
pub(super) fn on_answer_end(here: &HookContext<'_>, stop: &AnswerEnd) -> HookReply {
    // Each only if no event has reported it. Notices about them are queued: nobody reads this
    // reply.
    for it in &stop.prompts {
        prompt::on_prompt(here, it);
    }
    let answer = stop.answer.as_deref();
    let cited = answer.map(citations).unwrap_or_default();
    here.record_turn(|turn| {
        let (call, subject) = (stop.turn.as_deref(), stop.failed.as_deref());
        turn.record_event(MemoryEventKind::Stopped, EventDetails { subject, call, detail: None })?;
        answer.map_or(Ok(0), |answer| turn.record_citations(answer, &cited))
    });
    here.queue_session_sweep(SweepReason::Stop);
    HookReply::default()
}

/// A context is about to be compacted.
pub(super) fn before_compaction(here: &HookContext<'_>) -> HookReply {
    here.record_turn(|turn| turn.record_event(MemoryEventKind::Compacted, EventDetails::default()));
    here.queue_session_sweep(SweepReason::Compaction);
    HookReply::default()
}

/// A context was compacted, and has lost all deliveries. In Pi the next event delivers the rules
/// again, and no other event could announce that.
pub(super) fn after_compaction(here: &HookContext<'_>) -> HookReply {
    let taken = here.record_turn(|turn| {
        turn.forget_deliveries()?;
        turn.record_event(
            MemoryEventKind::Compacted,
            EventDetails { subject: Some("done"), ..EventDetails::default() },
        )
    });
    let mut reply = HookReply::default();
    if here.event.client == HookClient::Pi
        && taken.into_done().is_some()
        && let Some(rules) =
            here.undelivered_rules(&ContextDeliveries::default(), BlockBudget::default())
    {
        reply.add_notice(&notice::reloaded(rules.included().len()));
    }
    reply
}

/// A session ended.
pub(super) fn on_session_end(here: &HookContext<'_>, how: &str) -> HookReply {
    here.record_turn(|turn| turn.end_session(how));
    here.queue_session_sweep(SweepReason::End);
    HookReply::default()
}
