//! Handles sessions that begin, are resumed, or have lost their context.

use recoup_core::Result;
use recoup_core::memory::inject::{Block, Budget};
use recoup_core::memory::{Given, Turn};

use super::{Here, Taken, prompt, standing};
use crate::hooks::event::{How, WireFormat};
use crate::hooks::notice;
use crate::hooks::pi::session_file;
use crate::hooks::reply::Reply;

/// A session began: delivers all rules, or those that are new since the last delivery. A fork has
/// what its parent session has, as far as that is known.
pub(super) fn began(here: &Here<'_>, how: How) -> Reply {
    // Cursor reports a new conversation once, but to every hook that it finds, at the same time:
    // what one of them has delivered is not lost.
    let is_told_twice = here.event.format == WireFormat::Cursor;
    let known = match how {
        _ if how.is_empty() && !is_told_twice => Given::default(),
        How::Fork => here.known_to_fork(),
        _ => here.known(),
    };
    let stands = how.is_empty().then(|| standing::text(here)).flatten();
    let block = here.rules(&known, standing::beside(stands.as_deref()));
    let has_reader = here.has_reader();
    // The agent gets the rules even if the delivery can't be recorded.
    let told = here.take_in(|turn| {
        if how.is_empty() {
            turn.give_checkpoint()?;
            if !is_told_twice {
                turn.lose()?;
            }
        }
        let is_repeated = !turn.give_all(block.as_ref())? && is_told_twice;
        if !is_repeated {
            begin(turn, how, &known)?;
        }
        Ok((is_repeated, if has_reader { turn.told()? } else { Vec::new() }))
    });
    here.catch_up();
    let mut reply = Reply::default();
    let (is_repeated, told) = told.done().unwrap_or_default();
    for line in &told {
        reply.notice(line);
    }
    if is_repeated {
        return reply;
    }
    if how == How::Startup {
        let advice = [here.apart_advice(), (here.around.team)(&here.project).advice()];
        advice.iter().flatten().for_each(|line| reply.notice(line));
    }
    tell_rules(&mut reply, how, block.as_ref());
    if let Some(stands) = stands {
        reply.tell(&stands);
    }
    reply
}

/// Records the beginning. A fork has the notes of its parent.
fn begin(turn: &Turn<'_>, how: How, known: &Given) -> Result<()> {
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

/// A session began, but nothing can be delivered yet.
pub(super) fn opened(here: &Here<'_>, how: How) -> Reply {
    let how = how_by_file(here, how);
    let known = if how == How::Fork { here.known_to_fork() } else { Given::default() };
    here.take_in(|turn| {
        if how.is_empty() {
            turn.lose()?;
        }
        begin(turn, how, &known)
    });
    Reply::default()
}

/// Corrects how a Pi session began. Pi says `startup` also for `--continue`, `--session` and
/// `--fork`; but its session file exists only after the first answer.
fn how_by_file(here: &Here<'_>, how: How) -> How {
    let is_written = || here.event.transcript.as_deref().is_some_and(session_file::is_written);
    match how {
        How::Startup | How::Fork if !is_written() => How::Startup,
        // A fork that was reported before has its own deliveries.
        How::Startup | How::Fork if here.known().last_whole.is_some() => How::Resume,
        How::Startup if here.event.parent.is_some() => How::Fork,
        How::Startup => How::Resume,
        how => how,
    }
}

/// An answer begins: delivers missing rules, and notes about the prompt.
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
        if is_new {
            turn.give_checkpoint()?;
        }
        turn.give_all(rules.as_ref())?;
        some.as_ref().map_or(Ok(0), |some| turn.give(some))
    });
    // A delivery that can't be recorded would be repeated with every prompt.
    if is_new || matches!(taken, Taken::Done(_)) {
        rules.iter().chain(&some).for_each(|block| reply.tell(block.text()));
        if let Some(stands) = stands {
            reply.tell(&stands);
        }
    }
    reply
}
