//! Handles sessions that begin, are resumed, or have lost their context.

use recoup_core::Result;
use recoup_core::memory::inject::{BlockBudget, RulesBlock};
use recoup_core::memory::{ContextDeliveries, EventTransaction};

use super::{HookContext, WriteOutcome, prompt, standing};
use crate::config::trust;
use crate::hooks::event::{SessionStartKind, WireFormat};
use crate::hooks::notice;
use crate::hooks::pi::session_file;
use crate::hooks::reply::HookReply;

/// A session began: delivers all rules, or those that are new since the last delivery. A fork has
/// what its parent session has, as far as that is known.
pub(super) fn on_session_start(here: &HookContext<'_>, how: SessionStartKind) -> HookReply {
    // Cursor reports a new conversation once, but to every hook that it finds, at the same time:
    // what one of them has delivered is not lost.
    let is_told_twice = here.event.format == WireFormat::Cursor;
    let known = match how {
        _ if how.has_empty_context() && !is_told_twice => ContextDeliveries::default(),
        SessionStartKind::Fork => here.deliveries_to_fork(),
        _ => here.deliveries(),
    };
    let stands = how.has_empty_context().then(|| standing::checkpoint_text(here)).flatten();
    let block = here.undelivered_rules(&known, standing::budget_beside(stands.as_deref()));
    let has_reader = here.has_reader();
    // The agent gets the rules even if the delivery can't be recorded.
    let told = here.record_turn(|turn| {
        if how.has_empty_context() {
            turn.mark_checkpoint_delivered()?;
            if !is_told_twice {
                turn.forget_deliveries()?;
            }
        }
        let is_repeated = !turn.deliver_all(block.as_ref())? && is_told_twice;
        if !is_repeated {
            record_start(turn, how, &known)?;
        }
        Ok((is_repeated, if has_reader { turn.take_notices()? } else { Vec::new() }))
    });
    here.start_worker_if_needed();
    let mut reply = HookReply::default();
    let (is_repeated, told) = told.into_done().unwrap_or_default();
    for line in &told {
        reply.add_notice(line);
    }
    if is_repeated {
        return reply;
    }
    if how == SessionStartKind::Startup {
        let team = trust::team_state(&here.services.places.home, &here.project);
        let advice = [here.apart_advice(), team.advice()];
        advice.iter().flatten().for_each(|line| reply.add_notice(line));
    }
    tell_rules(&mut reply, how, block.as_ref());
    if let Some(stands) = stands {
        reply.add_context(&stands);
    }
    reply
}

/// Records the beginning. A fork has the notes of its parent.
fn record_start(
    turn: &EventTransaction<'_>,
    how: SessionStartKind,
    known: &ContextDeliveries,
) -> Result<()> {
    turn.begin_session(how.as_str())?;
    if how == SessionStartKind::Fork {
        turn.mark_delivered(&known.notes)?;
    }
    Ok(())
}

fn tell_rules(reply: &mut HookReply, how: SessionStartKind, block: Option<&RulesBlock>) {
    let Some(block) = block else { return };
    reply.add_context(block.text());
    if how == SessionStartKind::Compact {
        reply.add_notice(&notice::reloaded(block.included().len()));
    }
}

/// A session began, but nothing can be delivered yet.
pub(super) fn on_session_open(here: &HookContext<'_>, how: SessionStartKind) -> HookReply {
    let how = correct_start_kind(here, how);
    let known = if how == SessionStartKind::Fork {
        here.deliveries_to_fork()
    } else {
        ContextDeliveries::default()
    };
    here.record_turn(|turn| {
        if how.has_empty_context() {
            turn.forget_deliveries()?;
        }
        record_start(turn, how, &known)
    });
    HookReply::default()
}

/// Corrects how a Pi session began. Pi says `startup` also for `--continue`, `--session` and
/// `--fork`; but its session file exists only after the first answer.
fn correct_start_kind(here: &HookContext<'_>, how: SessionStartKind) -> SessionStartKind {
    let is_written = || here.event.transcript.as_deref().is_some_and(session_file::is_written);
    match how {
        SessionStartKind::Startup | SessionStartKind::Fork if !is_written() => {
            SessionStartKind::Startup
        }
        // A fork that was reported before has its own deliveries.
        SessionStartKind::Startup | SessionStartKind::Fork
            if here.deliveries().last_whole.is_some() =>
        {
            SessionStartKind::Resume
        }
        SessionStartKind::Startup if here.event.parent.is_some() => SessionStartKind::Fork,
        SessionStartKind::Startup => SessionStartKind::Resume,
        how => how,
    }
}

/// An answer begins: delivers missing rules, and notes about the prompt.
pub(super) fn on_answer_start(here: &HookContext<'_>, text: &str) -> HookReply {
    let mut known = here.deliveries();
    let is_new = known.last_whole.is_none();
    let stands = is_new.then(|| standing::checkpoint_text(here)).flatten();
    let rules = here.undelivered_rules(&known, standing::budget_beside(stands.as_deref()));
    known.notes.extend(rules.iter().flat_map(RulesBlock::included).map(|rule| rule.id.clone()));
    let found = prompt::find_candidates(here, text);
    let some = prompt::candidate_block(here, &found, &known.notes, BlockBudget::default());
    let mut reply = HookReply::default();
    if !is_new && rules.is_none() && some.is_none() {
        return reply;
    }
    let taken = here.record_turn(|turn| {
        if is_new {
            turn.mark_checkpoint_delivered()?;
        }
        turn.deliver_all(rules.as_ref())?;
        some.as_ref().map_or(Ok(0), |some| turn.deliver(some))
    });
    // A delivery that can't be recorded would be repeated with every prompt.
    if is_new || matches!(taken, WriteOutcome::Done(_)) {
        rules.iter().chain(&some).for_each(|block| reply.add_context(block.text()));
        if let Some(stands) = stands {
            reply.add_context(&stands);
        }
    }
    reply
}
