//! Sub-agents and tasks in the background.

use std::path::Path;

use recoup_core::memory::inject::Budget;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::transcript::Notification;
use recoup_core::memory::{About, Given, Happened};

use super::Here;
use crate::hooks::reply::Reply;
use crate::hooks::worker::job::Why;

/// A sub-agent sees nothing of what its parent was given.
pub(super) fn began(here: &Here<'_>) -> Reply {
    // One without a name is always another, and the session's own context is not its.
    let is_named = here.event.agent.is_some();
    let known = if is_named { here.known() } else { Given::default() };
    let block = here.rules(&known, Budget::default());
    if is_named {
        here.take_in(|turn| turn.give_all(block.as_ref()));
    }
    let mut reply = Reply::default();
    if let Some(block) = &block {
        reply.tell(block.text());
    }
    reply
}

/// A sub-agent has given its answer. What happened in it is in a transcript of its own.
pub(super) fn done(
    here: &Here<'_>,
    sort: &str,
    answer: Option<&str>,
    transcript: Option<&Path>,
) -> Reply {
    let cited = answer.map(citations).unwrap_or_default();
    let call = here.event.agent.as_ref().map(|agent| once(agent, "completed"));
    here.take_in(|turn| {
        let of = About { subject: Some("completed"), call: call.as_deref(), detail: Some(sort) };
        turn.happened(Happened::Task, of)?;
        answer.map_or(Ok(0), |answer| turn.cited(answer, &cited))
    });
    if let Some(transcript) = transcript {
        here.read_on_in(transcript, Why::SubAgent);
    }
    Reply::default()
}

/// Completed, failed or killed.
pub(super) fn task(here: &Here<'_>, task: &Notification) -> Reply {
    let call = once(&task.id, &task.status);
    here.take_in(|turn| {
        let (subject, detail) = (Some(&*task.status), Some(&*task.summary));
        turn.happened(Happened::Task, About { subject, call: Some(&call), detail })
    });
    Reply::default()
}

/// One end of a task is told once, by whatever event.
fn once(task: &str, status: &str) -> String {
    format!("{task}/{status}")
}
