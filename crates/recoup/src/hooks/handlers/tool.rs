//! Handles tool calls: delivers rules that concern a call before it, records its outcome after it.
//! Likewise sub-agents and tasks in the background.

use std::path::Path;

use recoup_core::base::text::shorten_text;
use recoup_core::memory::capture::transcript::{
    CallOutcome, TaskNotification, ToolAction, ToolCall,
};
use recoup_core::memory::learn::CompletedCommand;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::learn::failure::{detect_failure, error_line};
use recoup_core::memory::recall::inject;
use recoup_core::memory::recall::inject::{BlockBudget, RulesBlock, ScoredNote, StaleCheck};
use recoup_core::memory::shell::CommandKind;
use recoup_core::memory::{ContextDeliveries, EventDetails, MemoryEventKind};

use super::{HookContext, checks, prompt, replay};
use crate::hooks::notice;
use crate::hooks::outcome::{call_files, record_edits, record_outcome};
use crate::hooks::reply::HookReply;
use crate::jobs::SweepReason;

/// Length of a call that is searched for its matter, in characters.
const MAX_SEARCHED_CHARS: usize = 2_000;

/// Score of a lesson that explains a failure: above what only shares words.
const LESSON_SCORE: f64 = 0.9;

/// A call is about to start: delivers the rules that concern it.
pub(super) fn before_call(context: &HookContext<'_>, call: &ToolCall) -> HookReply {
    let mut reply = HookReply::default();
    let reminded = checks::enforce_rules(context, call, &mut reply);
    // A decision is all that the client takes, so nothing else counts as delivered.
    if reply.decision.is_some() {
        return reply;
    }
    replay::replace_call(context, call, &mut reply);
    if context.event.takes_context() {
        let touched = touched_files(context, call);
        let mut found = find_notes_for_call(context, call, &touched);
        found.retain(|it| !reminded.contains(&it.note.id));
        deliver_related(context, &found, &touched, &mut reply);
    }
    reply
}

/// Files that a call names, relative to the project.
fn touched_files(context: &HookContext<'_>, call: &ToolCall) -> Vec<String> {
    call_files(call).iter().map(|path| context.project_paths().project_path(path)).collect()
}

/// Delivers the few candidates that concern a call, unless this context has them.
fn deliver_related(
    context: &HookContext<'_>,
    found: &[ScoredNote],
    touched: &[String],
    reply: &mut HookReply,
) {
    if found.is_empty() || !context.event.takes_context() {
        return;
    }
    let touched: Vec<&str> = touched.iter().map(String::as_str).collect();
    let known = context.deliveries().notes;
    let stale = StaleCheck::new(context.project.root());
    let within = context.inject_context(&known, BlockBudget::default());
    let block =
        inject::select_concerning(found, &touched, &within, |note| stale.missing_in_note(note));
    let Some(block) = block else { return };
    // Of two simultaneous calls only one gets it.
    if context
        .record_turn(|transaction| transaction.mark_delivered(block.ids()))
        .into_done()
        .is_some_and(|new| new > 0)
    {
        reply.add_context(block.text());
    }
}

fn find_notes_for_call(
    context: &HookContext<'_>,
    call: &ToolCall,
    touched: &[String],
) -> Vec<ScoredNote> {
    let touched: Vec<&str> = touched.iter().map(String::as_str).collect();
    let mut found = context.read_or_default(
        "reading the rules for files",
        context.memory.rules_for_files(&touched, context.scope()),
    );
    let about = match &call.action {
        ToolAction::Shell(line) => shorten_text(line, MAX_SEARCHED_CHARS).into_owned(),
        ToolAction::Edit(_) | ToolAction::Write(_) => touched.join(" "),
        // An MCP tool's name says what it does.
        ToolAction::Other if call.tool.starts_with("mcp__") => call.tool.replace("__", " "),
        _ => return found,
    };
    let by_words = prompt::find_related_notes(context, &about);
    // Names of what a call does, as rules use them.
    let actions = match &call.action {
        ToolAction::Shell(_) => {
            let kind = CommandKind::of(&about);
            kind.and_then(|kind| kind.sub().map(inject::named_actions)).unwrap_or_default()
        }
        ToolAction::Other => inject::named_actions(&call.tool),
        _ => Vec::new(),
    };
    let by_action = context.read_or_default(
        "reading the rules for actions",
        context.memory.rules_for_actions(&actions, context.scope()),
    );
    for candidate in by_words.into_iter().chain(by_action) {
        if found.iter().all(|other| other.note.id != candidate.note.id) {
            found.push(candidate);
        }
    }
    found
}

/// A call ended: records its outcome, and delivers the lesson that explains a failure. Clients that
/// take no context before a call get the rules that concern it now.
pub(super) fn after_call(
    context: &HookContext<'_>,
    call: &ToolCall,
    outcome: &CallOutcome,
) -> HookReply {
    let mut reply = HookReply::default();
    if replay::is_replay(call) {
        return reply;
    }
    replay::keep_output(context, call);
    let compared = checks::rules_after_call(context, call, outcome);
    let learned = context
        .record_turn(|transaction| {
            compared.record(transaction, call)?;
            record_outcome(transaction, call, outcome, context.project_paths())
        })
        .into_done()
        .flatten();
    if let Some(line) = learned.as_ref().and_then(notice::learned) {
        reply.add_notice(&line);
    }
    compared.remind_after_call(context, call, &mut reply);
    let mut found = find_lesson(context, call, detect_failure(call, outcome).map(|it| it.error));
    let touched = touched_files(context, call);
    if context.is_told_after_calls() {
        let known = context.deliveries();
        // A context may be compacted in the middle of an answer, and then such a client takes
        // context only with a call's result.
        if known.last_whole.is_none() {
            // A delivery that can't be recorded would be repeated with every call.
            if let Some(rules) = context.undelivered_rules(&known, BlockBudget::default())
                && context
                    .record_turn(|transaction| transaction.deliver_all(rules.ids()))
                    .into_done()
                    == Some(true)
            {
                reply.add_context(rules.text());
            }
            return reply;
        }
        found.extend(find_notes_for_call(context, call, &touched));
    }
    deliver_related(context, &found, &touched, &mut reply);
    reply
}

/// Finds the lesson that explains why a call failed with that error.
fn find_lesson(
    context: &HookContext<'_>,
    call: &ToolCall,
    error: Option<String>,
) -> Vec<ScoredNote> {
    let kind = call.command().and_then(|line| CommandKind::of(line)).map(|kind| kind.to_string());
    let (Some(error), Some(kind), Some(command)) = (error, kind, call.command()) else {
        return Vec::new();
    };
    let ran = CompletedCommand { kind: &kind, command: command.clone(), call: &call.id };
    let found = context.read_or_default(
        "reading the lesson",
        context.memory.lesson_for(&ran, &error, context.scope()),
    );
    found.map(|note| ScoredNote { note, score: LESSON_SCORE }).into_iter().collect()
}

/// A call ended with unknown outcome: records the files that it changed. An output with the error
/// that a lesson is about delivers that lesson.
pub(super) fn after_call_of_unknown_outcome(
    context: &HookContext<'_>,
    call: &ToolCall,
    output: &str,
) -> HookReply {
    let mut reply = HookReply::default();
    let compared = checks::compare_rules(context, call);
    if call.edits() || !compared.is_empty() {
        context.record_turn(|transaction| {
            compared.record(transaction, call)?;
            record_edits(transaction, call, context.project_paths())
        });
    }
    let output = call.command().map(|command| command.hide_values_in(output));
    let error = output.and_then(|output| error_line(&output));
    deliver_related(context, &find_lesson(context, call, error), &[], &mut reply);
    reply
}

/// A batch ended: records refused calls that had no event of their own. One that ran could have
/// printed the text of a refusal itself.
pub(super) fn after_batch(
    context: &HookContext<'_>,
    calls: &[(ToolCall, CallOutcome)],
) -> HookReply {
    if !calls.is_empty() {
        context.record_turn(|transaction| {
            for (call, outcome) in calls {
                if !transaction.has_run(&call.id)? {
                    record_outcome(transaction, call, outcome, context.project_paths())?;
                }
            }
            Ok(())
        });
    }
    HookReply::default()
}

/// A sub-agent started. It sees nothing that was delivered to its parent, so it gets all rules.
pub(super) fn on_agent_start(context: &HookContext<'_>) -> HookReply {
    // Without a name there is no context to record deliveries for.
    let is_named = context.event.agent.is_some();
    let known = if is_named { context.deliveries() } else { ContextDeliveries::default() };
    let block = context.undelivered_rules(&known, BlockBudget::default());
    if is_named {
        context.record_turn(|transaction| {
            transaction.deliver_all(block.iter().flat_map(RulesBlock::ids))
        });
    }
    let mut reply = HookReply::default();
    if let Some(block) = &block {
        reply.add_context(block.text());
    }
    reply
}

/// A sub-agent ended. Its own transcript is queued for reading.
pub(super) fn on_agent_end(
    context: &HookContext<'_>,
    sort: &str,
    answer: Option<&str>,
    transcript: Option<&Path>,
) -> HookReply {
    let cited = answer.map(citations).unwrap_or_default();
    let call = context.event.agent.as_ref().map(|agent| task_end_key(agent, "completed"));
    context.record_turn(|transaction| {
        let of =
            EventDetails { subject: Some("completed"), call: call.as_deref(), detail: Some(sort) };
        transaction.record_event(MemoryEventKind::Task, of)?;
        answer.map_or(Ok(0), |answer| transaction.record_citations(answer, &cited))
    });
    if let Some(transcript) = transcript {
        context.queue_sweep(transcript, SweepReason::SubAgent);
    }
    HookReply::default()
}

/// A background task completed, failed or was killed.
pub(super) fn on_task_end(context: &HookContext<'_>, task: &TaskNotification) -> HookReply {
    let call = task_end_key(&task.id, &task.status);
    context.record_turn(|transaction| {
        let (subject, detail) = (Some(&*task.status), Some(&*task.summary));
        transaction.record_event(
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
