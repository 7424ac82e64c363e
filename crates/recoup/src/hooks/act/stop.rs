//! Handles the end of an answer, a context or a session.

use recoup_core::memory::hooked::Client;
use recoup_core::memory::inject::Budget;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::{About, Given, Happened};

use super::{Here, prompt};
use crate::hooks::event::Stop;
use crate::hooks::notice;
use crate::hooks::reply::Reply;
use crate::hooks::worker::job::Why;

/// An answer ended: counts the rules that it cites. Says nothing to the agent, which would go on.
pub(super) fn stopped(here: &Here<'_>, stop: &Stop) -> Reply {
    // Each only if no event has reported it. Notices about them are queued: nobody reads this
    // reply.
    for it in &stop.prompts {
        prompt::prompted(here, it);
    }
    let answer = stop.answer.as_deref();
    let cited = answer.map(citations).unwrap_or_default();
    here.take_in(|turn| {
        let (call, subject) = (stop.turn.as_deref(), stop.failed.as_deref());
        turn.happened(Happened::Stopped, About { subject, call, detail: None })?;
        answer.map_or(Ok(0), |answer| turn.cited(answer, &cited))
    });
    here.read_on(Why::Stop);
    Reply::default()
}

/// A context is about to be compacted.
pub(super) fn compacting(here: &Here<'_>) -> Reply {
    here.take_in(|turn| turn.happened(Happened::Compacted, About::default()));
    here.read_on(Why::Compaction);
    Reply::default()
}

/// A context was compacted, and has lost all deliveries. In Pi the next event delivers the rules
/// again, and no other event could announce that.
pub(super) fn compacted(here: &Here<'_>) -> Reply {
    let taken = here.take_in(|turn| {
        turn.lose()?;
        turn.happened(Happened::Compacted, About { subject: Some("done"), ..About::default() })
    });
    let mut reply = Reply::default();
    if here.event.client == Client::Pi
        && taken.done().is_some()
        && let Some(rules) = here.rules(&Given::default(), Budget::default())
    {
        reply.notice(&notice::reloaded(rules.included().len()));
    }
    reply
}

/// A session ended.
pub(super) fn ended(here: &Here<'_>, how: &str) -> Reply {
    here.take_in(|turn| turn.end(how));
    here.read_on(Why::End);
    Reply::default()
}
