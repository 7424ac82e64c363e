//! Rules with checks: before a call, the rule that it would break reminds the agent, has the client
//! ask the person, or refuses the call; after a call, it is recorded which rules it kept and broke.
//!
//! Only rules of the user's own, or of a team that the user trusts, ask or refuse. Whatever fails
//! here lets the call pass.

use recoup_core::Result;
use recoup_core::base::text::shorten_text;
use recoup_core::memory::capture::transcript::{CallOutcome, CallStatus, ToolAction, ToolCall};
use recoup_core::memory::checks::CheckedCall;
use recoup_core::memory::lang::one_line;
use recoup_core::memory::recall::inject::RulesBlock;
use recoup_core::memory::{CheckStrength, CheckedRule, EventTransaction, MemoryEventKind, NoteId};
use serde_json::value::RawValue;

use super::HookContext;
use crate::clients::DecisionSupport;
use crate::config::EnforcementSettings;
use crate::hooks::reply::{CallDecision, HookReply};

/// Maximum length of what breaks a rule, in characters.
const MAX_MATTER_CHARS: usize = 200;

/// A rule that a call breaks.
struct BrokenRule {
    rule: CheckedRule,
    /// The part of the call that breaks it, for people.
    what: String,
}

/// Rules that a call breaks, and those that it follows.
#[derive(Default)]
pub(super) struct ComparedRules {
    broken: Vec<BrokenRule>,
    kept: Vec<NoteId>,
}

/// Compares a call with the checks of rules. Only rules that have something in common with it are
/// read.
pub(super) fn compare_rules(context: &HookContext<'_>, call: &ToolCall) -> ComparedRules {
    let mut compared = ComparedRules::default();
    let input = context.event.tool_input.as_deref();
    let Some(input) = input.and_then(|it| serde_json::from_str::<&RawValue>(it).ok()) else {
        return compared;
    };
    let paths = context.project_paths();
    let call = CheckedCall::new(common_tool_name(call), input, paths.root, paths.cwd);
    let found = context.memory.rules_with_check_keys(&call.index_keys(), context.scope());
    for rule in context.read_or_default("reading the checks of rules", found) {
        match rule.check.find_violation(&call) {
            Some(violation) => compared.broken.push(BrokenRule { rule, what: violation.what }),
            None if rule.check.is_followed_by(&call) => compared.kept.push(rule.note.id),
            None => {}
        }
    }
    compared
}

/// Name by which checks know a tool: that of Claude Code's tool that does the same.
fn common_tool_name(call: &ToolCall) -> &str {
    match &call.action {
        ToolAction::Shell(_) => "Bash",
        ToolAction::Write(_) => "Write",
        ToolAction::Read(_) => "Read",
        ToolAction::Edit(_) if call.tool != "MultiEdit" && call.tool != "apply_patch" => "Edit",
        _ => &call.tool,
    }
}

/// A call is about to start: the strongest check that it would break decides. Returns the rules that
/// the agent is reminded of.
pub(super) fn enforce_rules(
    context: &HookContext<'_>,
    call: &ToolCall,
    reply: &mut HookReply,
) -> Vec<NoteId> {
    let broken = compare_rules(context, call).broken;
    if broken.is_empty() {
        return Vec::new();
    }
    let settings = context.enforcement();
    let strength = |it: BrokenRule| (permitted_strength(context, &it.rule, settings), it);
    let permitted: Vec<(CheckStrength, BrokenRule)> = broken.into_iter().map(strength).collect();
    // Recorded before it is told: what memory does not know of, it does not stop. This is also how
    // a pause switches it off.
    let enforced = context
        .record_turn(|transaction| record_enforcement(context, transaction, call, &permitted));
    let Some(enforced) = enforced.into_done() else { return Vec::new() };
    for ((wanted, it), strength) in permitted.iter().zip(&enforced) {
        if strength < wanted {
            let text = &it.rule.note.text;
            reply.add_notice(&format!("a rule refused the same twice, and lets it pass: {text}"));
        }
    }
    let strongest = enforced.iter().max().copied().unwrap_or(CheckStrength::Off);
    let decisive = permitted.iter().zip(&enforced).filter(|(_, it)| **it == strongest);
    let decisive: Vec<&BrokenRule> = decisive.map(|((_, it), _)| it).collect();
    let reason = || decisive.iter().map(|it| it.reason()).collect::<Vec<_>>().join("\n");
    match strongest {
        CheckStrength::Block => reply.decision = Some(CallDecision::Refuse(reason())),
        CheckStrength::Ask => reply.decision = Some(CallDecision::Ask(reason())),
        CheckStrength::Remind if context.event.takes_context() => {
            remind(decisive.iter().copied(), reply);
            return decisive.iter().map(|it| it.rule.note.id.clone()).collect();
        }
        CheckStrength::Remind | CheckStrength::Off => {}
    }
    Vec::new()
}

/// Records what the strongest checks do about a call; returns the strengths that they then have. A
/// rule that has refused the same as often as it may reminds. Others than the strongest are not
/// told, so nothing is recorded of them.
fn record_enforcement(
    context: &HookContext<'_>,
    transaction: &EventTransaction<'_>,
    call: &ToolCall,
    permitted: &[(CheckStrength, BrokenRule)],
) -> Result<Vec<CheckStrength>> {
    let mut enforced = Vec::new();
    for (strength, it) in permitted {
        let passes = *strength == CheckStrength::Block
            && !transaction.record_refusal(&it.rule.note.id, &call.id, &it.what)?;
        enforced.push(if passes { CheckStrength::Remind } else { *strength });
    }
    let strongest = enforced.iter().max().copied();
    let what = match strongest {
        Some(CheckStrength::Ask) => MemoryEventKind::Asked,
        // A client that takes no context yet is reminded with the call's result.
        Some(CheckStrength::Remind) if context.event.takes_context() => MemoryEventKind::Reminded,
        _ => return Ok(enforced),
    };
    for ((_, it), strength) in permitted.iter().zip(&enforced) {
        if Some(*strength) == strongest {
            transaction.record_check_event(what, &it.rule.note.id, &call.id)?;
        }
    }
    Ok(enforced)
}

/// Gives the agent the rules that its call breaks.
fn remind<'r>(broken: impl Iterator<Item = &'r BrokenRule>, reply: &mut HookReply) {
    if let Some(block) = RulesBlock::reminder(broken.map(|it| &it.rule.note)) {
        reply.add_context(block.text());
    }
}

/// Returns the strength that a rule has here: that of the user's choice, as far as the rule is
/// trusted, the client can do it, and somebody is there to be asked.
fn permitted_strength(
    context: &HookContext<'_>,
    rule: &CheckedRule,
    settings: EnforcementSettings,
) -> CheckStrength {
    let chosen = rule.strength.unwrap_or(settings.strength);
    let is_trusted = rule.may_stop_calls();
    let support = context.event.answer().decisions;
    let asks = || {
        let has_person = context.event.agent.is_none() && context.has_person();
        support == DecisionSupport::RefusalOrQuestion && (has_person || settings.asks_headless)
    };
    match chosen {
        CheckStrength::Block if is_trusted && support != DecisionSupport::Unsupported => chosen,
        CheckStrength::Ask if is_trusted && asks() => chosen,
        CheckStrength::Block | CheckStrength::Ask => CheckStrength::Remind,
        CheckStrength::Remind | CheckStrength::Off => chosen,
    }
}

/// A call ended: the rules that it kept and broke, to be recorded with its outcome.
pub(super) fn rules_after_call(
    context: &HookContext<'_>,
    call: &ToolCall,
    outcome: &CallOutcome,
) -> ComparedRules {
    match outcome.ended {
        CallStatus::Succeeded | CallStatus::Failed { .. } => compare_rules(context, call),
        // It did not run, or not to its end.
        CallStatus::Refused | CallStatus::Denied | CallStatus::Interrupted => {
            ComparedRules::default()
        }
    }
}

impl ComparedRules {
    /// True if there is nothing to record.
    pub(super) fn is_empty(&self) -> bool {
        self.broken.is_empty() && self.kept.is_empty()
    }

    /// Records what became of the rules.
    pub(super) fn record(&self, transaction: &EventTransaction<'_>, call: &ToolCall) -> Result<()> {
        for it in &self.broken {
            let id = &it.rule.note.id;
            if transaction.record_check_event(MemoryEventKind::Broke, id, &call.id)?
                && transaction.was_told_before(id, &call.id)?
            {
                transaction.propose_enforcement(id, "a rule was broken after a reminder")?;
            }
        }
        for id in &self.kept {
            transaction.record_check_event(MemoryEventKind::Kept, id, &call.id)?;
        }
        Ok(())
    }

    /// Gives the agent the rules that the call broke, if the client takes context only now.
    pub(super) fn remind_after_call(
        &self,
        context: &HookContext<'_>,
        call: &ToolCall,
        reply: &mut HookReply,
    ) {
        let default = || context.enforcement().strength;
        let is_on =
            |it: &&BrokenRule| it.rule.strength.unwrap_or_else(default) > CheckStrength::Off;
        let reminding: Vec<&BrokenRule> = self.broken.iter().filter(is_on).collect();
        if reminding.is_empty() || !context.is_told_after_calls() {
            return;
        }
        let recorded = context.record_turn(|transaction| {
            reminding.iter().try_for_each(|it| {
                let (what, id) = (MemoryEventKind::Reminded, &it.rule.note.id);
                transaction.record_check_event(what, id, &call.id).map(drop)
            })
        });
        if recorded.into_done().is_some() {
            remind(reminding.into_iter(), reply);
        }
    }
}

impl BrokenRule {
    /// Reason for the person and the agent: the rule, what breaks it, and what to do instead.
    fn reason(&self) -> String {
        let what = one_line(&self.what);
        let what = shorten_text(&what, MAX_MATTER_CHARS);
        let rule = one_line(&self.rule.note.text);
        let instead = match self.rule.check.instead() {
            Some(wanted) => format!("Use {} instead.", one_line(wanted)),
            None => "Find a way that keeps the rule, or ask the user.".to_owned(),
        };
        format!("The user's rule “{rule}” does not allow {what}. {instead}")
    }
}
