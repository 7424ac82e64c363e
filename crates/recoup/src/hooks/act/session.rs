//! A session begins, goes on, or has lost what it was given.

use recoup_core::Result;
use recoup_core::memory::inject::{Block, Budget};
use recoup_core::memory::{Given, Turn};

use super::{Here, Taken, prompt, standing};
use crate::hooks::event::How;
use crate::hooks::notice;
use crate::hooks::reply::Reply;

/// Rules go into the context: all of them, or what is new since it was last given any. A
/// fork has what the session has that it comes from, as far as that is known.
pub(super) fn began(here: &Here<'_>, how: How) -> Reply {
    let known = match how {
        _ if how.is_empty() => Given::default(),
        How::Fork => here.known_to_fork(),
        _ => here.known(),
    };
    let stands = how.is_empty().then(|| standing::text(here)).flatten();
    let block = here.rules(&known, standing::beside(stands.as_deref()));
    let has_reader = here.has_reader();
    // The agent is told, whether that can be written down or not.
    let told = here.take_in(|turn| {
        begin(turn, how, &known)?;
        turn.give_all(block.as_ref())?;
        if has_reader { turn.told() } else { Ok(Vec::new()) }
    });
    here.catch_up();
    let mut reply = Reply::default();
    told.done().unwrap_or_default().iter().for_each(|line| reply.notice(line));
    if how == How::Startup
        && let Some(line) = (here.around.team)(&here.project).advice()
    {
        reply.notice(&line);
    }
    tell_rules(&mut reply, how, block.as_ref());
    if let Some(stands) = stands {
        reply.tell(&stands);
    }
    reply
}

/// A fork has what it comes from; what is new, cleared or compacted has nothing.
fn begin(turn: &Turn<'_>, how: How, known: &Given) -> Result<()> {
    if how.is_empty() {
        turn.lose()?;
    }
    turn.begin(how.as_str())?;
    if how == How::Fork {
        turn.knows(&known.notes)?;
    }
    Ok(())
}

fn tell_rules(reply: &mut Reply, how: How, block: Option<&Block>) {
    let Some(block) = block else { return };
    reply.tell(block.text());
    if how == How::Compact {
        reply.notice(&notice::reloaded(block.included().len()));
    }
}

/// A session begins, and nothing can be said yet.
pub(super) fn opened(here: &Here<'_>, how: How) -> Reply {
    here.take_in(|turn| begin(turn, how, &Given::default()));
    Reply::default()
}

/// An answer begins: the rules that this context does not have, and what concerns the prompt.
pub(super) fn starting(here: &Here<'_>, text: &str) -> Reply {
    let mut known = here.known();
    let is_new = known.last_whole.is_none();
    let stands = is_new.then(|| standing::text(here)).flatten();
    let rules = here.rules(&known, standing::beside(stands.as_deref()));
    known.notes.extend(rules.iter().flat_map(Block::included).map(|rule| rule.id.clone()));
    let found = prompt::fitting(here, text);
    let some = prompt::concerning(here, &found, &known.notes, Budget::default());
    let mut reply = Reply::default();
    if !is_new && rules.is_none() && some.is_none() {
        return reply;
    }
    let taken = here.take_in(|turn| {
        turn.give_all(rules.as_ref())?;
        some.as_ref().map_or(Ok(0), |some| turn.give(some))
    });
    // What can't be written down would come again with every prompt.
    if is_new || matches!(taken, Taken::Done(_)) {
        rules.iter().chain(&some).for_each(|block| reply.tell(block.text()));
        if let Some(stands) = stands {
            reply.tell(&stands);
        }
    }
    reply
}
