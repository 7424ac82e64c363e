//! Handles a prompt: records its statements, notes a repeated request, and delivers notes about the
//! matter.

use std::collections::HashSet;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::memory::capture::{PromptReading, read_prompt};
use recoup_core::memory::db::retract::{RetractionKind, parse_retraction};
use recoup_core::memory::guard::private_text::{PublicText, without_private};
use recoup_core::memory::recall::inject;
use recoup_core::memory::recall::inject::{BlockBudget, RulesBlock, ScoredNote, StaleCheck};
use recoup_core::memory::{
    EventDetails, EventTransaction, Note, NoteId, RecordOutcome, RetractionOutcome, Statement,
};
use recoup_core::{Error, Result, secrets};

use super::{HookContext, WriteOutcome};
use crate::hooks::event::UserPrompt;
use crate::hooks::notice;
use crate::hooks::reply::HookReply;
use crate::hooks::user_statement;
use crate::jobs::{JudgeQuestion, WorkerJobKind};
use crate::transcripts::wire;

/// A prompt as classified, before memory is read.
struct ParsedPrompt {
    /// Text without its private parts.
    text: PublicText,
    /// Its statements are tentative if no person is present.
    reading: PromptReading,
    /// Request to retract what was just remembered.
    retraction: Option<RetractionKind>,
    /// Digest of the prompt and its turn, so that it counts once.
    once: Option<String>,
    /// Digest of the prompt's words, to recognise it in the transcript.
    print: String,
    /// True if a person said it.
    has_person: bool,
}

/// Result of recording a prompt.
#[derive(Default)]
struct PromptOutcome {
    /// Queued notices of the worker, for the person.
    told: Vec<String>,
    recorded: Vec<RecordOutcome>,
    /// Notes that the user has retracted.
    retracted: Vec<Note>,
    /// Words of retractions that name no note.
    unknown: Vec<String>,
    /// True if a statement was refused because of a secret.
    has_secret: bool,
    block: Option<RulesBlock>,
}

pub(super) fn on_prompt(context: &HookContext<'_>, prompt: &UserPrompt) -> HookReply {
    let text = PublicText::new(&prompt.text);
    // A script can't retract what a person said.
    let retraction =
        parse_retraction(&without_private(&prompt.text)).filter(|_| !is_tentative(context));
    let mut reading = match retraction {
        Some(_) => PromptReading::default(),
        None => read_prompt(&text, context.scope()),
    };
    let tentative = is_tentative(context);
    reading.statements.iter_mut().for_each(|it| it.tentative = tentative);
    // Recognised by a digest, which is not readable.
    let session = &context.occasion.session;
    let digest = |turn| wire::text_digest(&format!("{session}\n{turn}\n{}", prompt.text));
    let heard = ParsedPrompt {
        once: prompt.turn.as_ref().map(digest),
        print: user_statement::prompt_digest(text.as_str()),
        has_person: context.has_person(),
        text,
        reading,
        retraction,
    };
    let found = find_related_notes(context, heard.text.as_str());
    match context.record_turn(|transaction| record_prompt(context, transaction, &heard, &found)) {
        WriteOutcome::Done(Some(came)) => {
            // The user is told that it will be remembered, but waiting for the disk would take
            // long.
            if !came.recorded.is_empty() {
                context.queue_job(WorkerJobKind::Sync);
            }
            queue_judge_job(context, &heard.reading, &came.recorded);
            came.reply()
        }
        WriteOutcome::Failed(error) => queue_statements(context, heard, &error),
        WriteOutcome::Done(None) | WriteOutcome::Silent => HookReply::default(),
    }
}

/// Records a prompt; none if another event has reported it.
fn record_prompt(
    context: &HookContext<'_>,
    transaction: &EventTransaction<'_>,
    heard: &ParsedPrompt,
    found: &[ScoredNote],
) -> Result<Option<PromptOutcome>> {
    let is_repeated = heard.once.is_none() && context.event.may_be_repeated();
    if is_repeated && transaction.is_repeated_prompt(&heard.print)? {
        return Ok(None);
    }
    let of =
        EventDetails { call: heard.once.as_deref(), subject: Some(&heard.print), detail: None };
    let re_ask = heard.reading.re_ask.then_some(heard.text.as_str());
    let recorded =
        user_statement::record_prompt(transaction, of, re_ask, &heard.reading.statements)?;
    let Some(recorded) = recorded else { return Ok(None) };
    let mut retracted = heard.retraction.map_or(Ok(Vec::new()), |how| transaction.retract(how))?;
    // A script can't retract what a person said.
    let named = if is_tentative(context) { &[][..] } else { &heard.reading.retractions[..] };
    let RetractionOutcome { retired, unknown } = transaction.retract_named(named)?;
    retracted.extend(retired);
    let has_secret = heard.has_person && heard.reading.withheld;
    let mut came =
        PromptOutcome { recorded, retracted, unknown, has_secret, ..PromptOutcome::default() };
    if context.event.heard {
        // Notes about the prompt that this context does not have, without those that the prompt
        // superseded.
        let takes_context = context.event.takes_context() && !context.gets_rules_with_prompts();
        if takes_context && !found.is_empty() {
            let mut known = transaction.delivered_notes()?;
            let superseded = came.recorded.iter().flat_map(RecordOutcome::instead_of);
            known.extend(superseded.map(|note| note.id.clone()));
            came.block = related_block(context, found, &known, BlockBudget::default());
            transaction.mark_delivered(came.block.iter().flat_map(RulesBlock::ids))?;
        }
        let has_reader = heard.has_person && context.shows_notices();
        came.told = if has_reader { transaction.take_notices()? } else { Vec::new() };
    } else if heard.has_person {
        came.notice_lines().iter().try_for_each(|line| transaction.add_notice(line))?;
    }
    Ok(Some(came))
}

impl PromptOutcome {
    /// Returns the notices for the person.
    fn notice_lines(&self) -> Vec<String> {
        let secret = self.has_secret.then(|| notice::SECRET.to_owned());
        let retracted = self.retracted.iter().map(notice::retracted);
        let retracted =
            retracted.chain(self.unknown.iter().map(|it| notice::nothing_to_retract(it)));
        let recorded = self.recorded.iter().filter_map(notice::remembered);
        retracted.chain(recorded).chain(secret).collect()
    }

    fn reply(&self) -> HookReply {
        let mut reply = HookReply::default();
        self.told.iter().chain(&self.notice_lines()).for_each(|line| reply.add_notice(line));
        if let Some(block) = &self.block {
            reply.add_context(block.text());
        }
        reply
    }
}

/// Memory can't be written now: leaves the statements to the worker. The user is told, also if that
/// fails.
fn queue_statements(context: &HookContext<'_>, heard: ParsedPrompt, why: &Error) -> HookReply {
    let mut reply = HookReply::default();
    let ParsedPrompt { reading, once, print, retraction, .. } = heard;
    let said = reading.statements;
    if retraction.is_some() {
        reply.add_notice(&notice::not_retracted(why));
    }
    if said.is_empty() {
        return reply;
    }
    // A candidate is not worth a notice.
    let text = said.iter().find(|said| said.lasting).map(|said| said.text.clone());
    // Reading whether memory is paused may work all the same.
    if context.memory.pause_reason(context.scope()).is_ok_and(|silence| silence.is_some()) {
        return reply;
    }
    let what = WorkerJobKind::Remember { at: SystemClock.now(), once, print: Some(print), said };
    let kept = what.is_retried_after(why) && context.queue_job(what);
    if let Some(text) = text {
        let line = if kept {
            notice::remembered_later(&text, why)
        } else {
            notice::not_remembered(&text, why)
        };
        reply.add_notice(&line);
    }
    reply
}

/// Queues each possible statement for the model, if the user has agreed to that. Its verdict "no
/// statement" is final.
fn queue_judge_job(context: &HookContext<'_>, reading: &PromptReading, recorded: &[RecordOutcome]) {
    let is_doubtful = |note: &Note| reading.doubtful().any(|it| it.text == note.text);
    let kept = recorded.iter().filter_map(|it| match it {
        RecordOutcome::Stored { note, .. } if !is_doubtful(note) => {
            Some(JudgeQuestion::about_note(note))
        }
        _ => None,
    });
    let clean = |text: &String| secrets::redact(text).into_owned();
    let doubtful = reading.doubtful().map(|it| {
        let (text, quote) = (clean(&it.text), it.quote.as_ref().map(clean));
        JudgeQuestion::Doubtful(Statement { text, quote, ..it.clone() })
    });
    let asked: Vec<JudgeQuestion> = kept.chain(doubtful).collect();
    if !asked.is_empty() && context.services.settings().is_some_and(|it| it.judge.enabled) {
        context.queue_job(WorkerJobKind::Judge { asked });
    }
}

pub(super) fn is_tentative(context: &HookContext<'_>) -> bool {
    !context.has_person() && !context.services.settings().is_some_and(|it| it.keeps_headless)
}

/// Finds notes about the matter of a text, without a lock.
pub(super) fn find_related_notes(context: &HookContext<'_>, text: &str) -> Vec<ScoredNote> {
    context.read_or_default(
        "finding related notes",
        context.memory.related_notes(text, context.scope()),
    )
}

/// Makes a block of at most three candidates.
pub(super) fn related_block(
    context: &HookContext<'_>,
    found: &[ScoredNote],
    known: &HashSet<NoteId>,
    budget: BlockBudget,
) -> Option<RulesBlock> {
    let stale = StaleCheck::new(context.project.root());
    let context = context.inject_context(known, budget);
    inject::select_concerning(found, &[], &context, |note| stale.missing_in_note(note))
}
