//! Sub-agents and tasks in the background.

use std::path::Path;

use recoup_core::memory::inject::Budget;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::transcript::Notification;
use recoup_core::memory::{About, Given, Happened};

use super::Here;
use crate::hooks::reply::Reply;
use crate::hooks::worker::job::Why;

/// A sub-agent started. It sees nothing that was delivered to its parent, so it gets all rules.
pub(super) fn began(here: &Here<'_>) -> Reply {
    // Without a name there is no context to record deliveries for.
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

/// A sub-agent ended. Its own transcript is queued for reading.
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

/// A background task completed, failed or was killed.
pub(super) fn task(here: &Here<'_>, task: &Notification) -> Reply {
    let call = once(&task.id, &task.status);
    here.take_in(|turn| {
        let (subject, detail) = (Some(&*task.status), Some(&*task.summary));
        turn.happened(Happened::Task, About { subject, call: Some(&call), detail })
    });
    Reply::default()
}

/// Key of a task's end, so that it counts once, whichever event reports it.
fn once(task: &str, status: &str) -> String {
    format!("{task}/{status}")
}
