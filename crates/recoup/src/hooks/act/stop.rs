//! An answer, a context or a session comes to its end.

use recoup_core::memory::hooked::Client;
use recoup_core::memory::inject::Budget;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::{About, Given, Happened};

use super::{Here, prompt};
use crate::hooks::event::Stop;
use crate::hooks::notice;
use crate::hooks::reply::Reply;
use crate::hooks::worker::job::Why;

/// The rules that an answer cites are counted. Nothing is said to the agent: it would go on.
pub(super) fn stopped(here: &Here<'_>, stop: &Stop) -> Reply {
    // Each only if no event has told of it. What there is to say about them is noted there:
    // nobody would hear it now.
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

/// Before a context is compacted.
pub(super) fn compacting(here: &Here<'_>) -> Reply {
    here.take_in(|turn| turn.happened(Happened::Compacted, About::default()));
    here.read_on(Why::Compaction);
    Reply::default()
}

/// A context was compacted: what it was given is gone. In Pi it has its rules again with the next
/// thing that the agent is told, and no other event says so.
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
