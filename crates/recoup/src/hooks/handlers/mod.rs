//! Event handlers, one file per group of events.
//!
//! A hook must never be in the way: what can't be read counts as absent, and what can't be written
//! is dropped. Both are logged.

mod checks;
mod prompt;
mod replay;
mod session;
mod tool;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::clock::SystemClock;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectRegistry, ProjectStanding};
use recoup_core::memory::recall::inject::{BlockBudget, InjectionContext, RulesBlock};
use recoup_core::memory::{
    ContextDeliveries, EventOrigin, EventTransaction, Memory, NoteId, NoteScope, WaitLimits,
};
use recoup_core::{Error, Result};

use super::HookServices;
use super::event::{HookEvent, HookEventKind, is_headless_event};
use super::outcome::ProjectPaths;
use super::reply::{HookReply, shows_notice};
use super::worker;
use crate::config::EnforcementSettings;
use crate::jobs::{JobOrigin, JobQueue, SweepReason, WorkerJob, WorkerJobKind};
use crate::transcripts::{claude_code, pi};

/// Time to wait for a write of the user's statements.
const STATEMENT_WRITE_WAIT: Duration = Duration::from_millis(2_500);
/// Time to wait for other writes: the client waits for us.
const WRITE_WAIT: Duration = Duration::from_secs(1);
/// Time to wait for a read, needed only while the database is created or moved.
const READ_WAIT: Duration = Duration::from_millis(150);

/// Handles an event.
pub(super) fn handle_event(event: &HookEvent, services: &HookServices<'_>) -> HookReply {
    let context = match HookContext::open(event, services) {
        Ok(context) => context,
        Err(error) => {
            services.log.log_error(event.client, "the project was not found", &error);
            return HookReply::default();
        }
    };
    match &event.what {
        HookEventKind::Began(how) => session::on_session_start(&context, *how),
        HookEventKind::Opened(how) => session::on_session_open(&context, *how),
        HookEventKind::Starting(prompt) => session::on_answer_start(&context, prompt),
        HookEventKind::Prompt(prompt) => {
            let mut reply = prompt::on_prompt(&context, prompt);
            if context.gets_rules_with_prompts() {
                let rules = session::on_answer_start(&context, &prompt.text);
                rules.context.iter().for_each(|text| reply.add_context(text));
            }
            reply
        }
        HookEventKind::Calling(call) => tool::before_call(&context, call),
        HookEventKind::Called(call, outcome) => tool::after_call(&context, call, outcome),
        HookEventKind::CalledSomehow(call, output) => {
            tool::after_call_of_unknown_outcome(&context, call, output)
        }
        HookEventKind::Batch(calls) => tool::after_batch(&context, calls),
        HookEventKind::Task(task) => tool::on_task_end(&context, task),
        HookEventKind::AgentBegan => tool::on_agent_start(&context),
        HookEventKind::AgentDone { sort, answer, transcript } => {
            tool::on_agent_end(&context, sort, answer.as_deref(), transcript.as_deref())
        }
        HookEventKind::Compacting => session::before_compaction(&context),
        HookEventKind::Compacted => session::after_compaction(&context),
        HookEventKind::Stopped(stop) => session::on_answer_end(&context, stop),
        HookEventKind::Ended(how) => session::on_session_end(&context, how),
    }
}

/// Context of one event: project, memory, session.
struct HookContext<'a> {
    event: &'a HookEvent,
    services: &'a HookServices<'a>,
    memory: &'static Memory,
    project: Project,
    /// The client's working directory.
    cwd: PathBuf,
    occasion: EventOrigin,
    /// True if a person is present; determined once, before anything is written.
    has_person: OnceCell<bool>,
}

/// Finds the project that the client works in. Its directory may be gone (a removed worktree): then
/// it is the session's project, at what is left of the path.
fn find_project(
    event: &HookEvent,
    services: &HookServices<'_>,
    memory: &Memory,
) -> Result<Project> {
    let cwd = services.places.cwd.join(&event.cwd);
    let find = |dir: &Path| Project::find(dir).map(|found| settled(found, services, memory));
    let gone = match find(&cwd) {
        Err(error) => error,
        Ok(found) => {
            // The agent may have gone into a repository inside of the session's own project: the
            // user speaks about the outer one.
            let begins = matches!(event.what, HookEventKind::Began(_) | HookEventKind::Opened(_));
            let outer = if begins { None } else { found.enclosing_repository() };
            let outer = outer.map(|outer| settled(outer, services, memory));
            if let Some(outer) = outer.filter(|outer| outer.id() != found.id())
                && let Ok(Some(NoteScope::Project(id))) = memory.session_scope(&event.session)
                && id == *outer.id()
            {
                return Ok(outer);
            }
            return Ok(found);
        }
    };
    // The root directory is no project.
    let above = cwd.ancestors().filter(|dir| dir.parent().is_some());
    let above = above.chain([services.places.cwd.as_path()]).find_map(|dir| find(dir).ok());
    let above = above.ok_or(gone)?;
    Ok(match memory.session_scope(&event.session) {
        Ok(Some(NoteScope::Project(id))) if id != *above.id() => {
            Project::from_remembered_id(id, above.root().to_owned())
        }
        _ => above,
    })
}

/// Resolves the project's id as recorded.
fn settled(found: Project, services: &HookServices<'_>, memory: &Memory) -> Project {
    memory.settle_project(&ProjectRegistry::below(&services.places.home), found)
}

/// Result of a write to memory.
enum WriteOutcome<T> {
    /// Written.
    Done(T),
    /// Skipped: memory is paused.
    Silent,
    /// Failed.
    Failed(Error),
}

impl<T> WriteOutcome<T> {
    fn into_done(self) -> Option<T> {
        match self {
            Self::Done(it) => Some(it),
            Self::Silent | Self::Failed(_) => None,
        }
    }
}

impl<'a> HookContext<'a> {
    fn open(event: &'a HookEvent, services: &'a HookServices<'a>) -> Result<Self> {
        let write = if let HookEventKind::Prompt(_) = event.what {
            STATEMENT_WRITE_WAIT
        } else {
            WRITE_WAIT
        };
        let (path, log) = (services.places.home.join("memory.db"), Arc::new(services.log.clone()));
        let waits = WaitLimits { read: READ_WAIT, write };
        // Never closed: the process ends first.
        let memory: &'static Memory =
            Box::leak(Box::new(Memory::at(path, waits, Arc::new(SystemClock), log)));
        let project = find_project(event, services, memory)?;
        let occasion = EventOrigin {
            client: event.client,
            session: event.session.clone(),
            context: event.context_id(),
            scope: NoteScope::Project(project.id().clone()),
        };
        let cwd = services.places.cwd.join(&event.cwd);
        let has_person = OnceCell::new();
        let context = Self { event, services, memory, project, cwd, occasion, has_person };
        if event.begins_session_or_turn() {
            match memory.move_from_former_ids(&context.project) {
                Ok(0) => {}
                Ok(_) => context.record_project(),
                Err(error) => {
                    context.log_error("notes under the project's former id were not moved", &error);
                }
            }
        }
        Ok(context)
    }

    fn scope(&self) -> &NoteScope {
        &self.occasion.scope
    }

    /// Unwraps a read; a failure is logged and counts as nothing found.
    fn read_or_default<T: Default>(&self, doing: &str, read: Result<T>) -> T {
        read.unwrap_or_else(|error| {
            self.log_error(doing, &error);
            T::default()
        })
    }

    fn log_error(&self, doing: &str, error: &Error) {
        self.services.log.log_error(
            self.event.client,
            &format!("{}: {doing}", self.event.name),
            error,
        );
    }

    /// Runs `act` in one transaction.
    fn record_turn<T>(
        &self,
        act: impl FnMut(&EventTransaction<'_>) -> Result<T>,
    ) -> WriteOutcome<T> {
        let done = fsx::ensure_private_dir(&self.services.places.home)
            .and_then(|()| self.memory.transact(&self.occasion, act));
        match done {
            Ok(Some(done)) => {
                self.record_project();
                WriteOutcome::Done(done)
            }
            Ok(None) => WriteOutcome::Silent,
            Err(error) => {
                self.log_error("nothing was written down", &error);
                WriteOutcome::Failed(error)
            }
        }
    }

    /// Registers this checkout with its project, if that is new.
    fn record_project(&self) {
        if let ProjectStanding::First | ProjectStanding::Proven = self.project.standing()
            && let Err(error) =
                ProjectRegistry::below(&self.services.places.home).record(&self.project)
        {
            self.log_error("the project was not recorded", &error);
        }
    }

    /// Returns the advice about a checkout that stays apart, once.
    fn apart_advice(&self) -> Option<String> {
        if self.project.standing() != (ProjectStanding::Apart { is_told: false }) {
            return None;
        }
        let registry = ProjectRegistry::below(&self.services.places.home);
        let advice = registry.apart_advice(&self.project)?;
        if self.has_reader()
            && let Err(error) = registry.mark_told(&self.project)
        {
            self.log_error("the notice about the project was not recorded", &error);
        }
        Some(advice)
    }

    fn deliveries(&self) -> ContextDeliveries {
        self.deliveries_to(&self.occasion.context)
    }

    /// Notes that a fork has from its parent session; its own if the parent is unknown.
    fn deliveries_to_fork(&self) -> ContextDeliveries {
        let parent = match &self.event.parent {
            Some(parent) => pi::session_id(parent),
            None => self.event.transcript.as_deref().and_then(claude_code::parent_session),
        };
        match parent {
            Some(parent) if parent != self.occasion.session => self.deliveries_to(&parent),
            _ => self.deliveries(),
        }
    }

    fn deliveries_to(&self, context: &str) -> ContextDeliveries {
        self.read_or_default("reading the deliveries", self.memory.deliveries_to(context))
    }

    /// Rules that a context does not have: all of them, or those added since it was last given all.
    /// Rules left out for lack of room then do not count as new.
    fn undelivered_rules(
        &self,
        known: &ContextDeliveries,
        budget: BlockBudget,
    ) -> Option<RulesBlock> {
        let found = match known.last_whole {
            None => self.memory.rules(self.scope(), budget),
            Some(last) => self.memory.rules_since(last, self.scope()),
        };
        let notes = self.read_or_default("reading the rules", found);
        RulesBlock::in_project(&notes, &self.project, &known.notes, budget)
    }

    fn inject_context<'c>(
        &'c self,
        given: &'c HashSet<NoteId>,
        budget: BlockBudget,
    ) -> InjectionContext<'c> {
        InjectionContext { project: Some(self.project.id()), given, budget }
    }

    /// Queues a job for the worker; returns false if that failed.
    fn queue_job(&self, what: WorkerJobKind) -> bool {
        let from = JobOrigin::of(&self.occasion, self.project.root(), self.cwd.clone());
        let queue = JobQueue::of(&self.services.places.home, self.project.id());
        // Also start a worker if the queue is full.
        let left = queue.put(&WorkerJob::new(from, what), &SystemClock);
        let is_left = left.is_ok();
        if is_left {
            self.record_project();
        }
        for done in [left, worker::start(&queue, &self.project)] {
            if let Err(error) = done {
                self.log_error("something was not left to the worker", &error);
            }
        }
        is_left
    }

    /// Starts a worker if jobs are waiting.
    fn start_worker_if_needed(&self) {
        let queue = JobQueue::of(&self.services.places.home, self.project.id());
        if queue.is_empty().is_ok_and(|empty| !empty)
            && let Err(error) = worker::start(&queue, &self.project)
        {
            self.log_error("the worker was not started", &error);
        }
    }

    /// Effect of rules with checks, by the settings; the default if these can't be read.
    fn enforcement(&self) -> EnforcementSettings {
        self.services.settings().map_or_else(EnforcementSettings::default, |it| it.enforcement)
    }

    /// True if a person is present, whether or not this event is shown to them. May read a file, so
    /// call it before any transaction.
    fn has_person(&self) -> bool {
        *self.has_person.get_or_init(|| !is_headless_event(self.event))
    }

    /// True if context can reach the agent with this call's result, but could not before the call.
    fn is_told_after_calls(&self) -> bool {
        self.event.takes_context() && !self.event.answer().takes_context_at("PreToolUse")
    }

    /// True if context can reach the agent with this prompt, but could not at the session's start.
    fn gets_rules_with_prompts(&self) -> bool {
        self.event.takes_context() && !self.event.answer().takes_context_at("SessionStart")
    }

    /// True if a notice in this reply is shown.
    fn shows_notices(&self) -> bool {
        self.event.heard && shows_notice(self.event.answer().layout, &self.event.name)
    }

    /// True if a person will see a notice in this reply.
    fn has_reader(&self) -> bool {
        self.shows_notices() && self.has_person()
    }

    /// Queues reading of the session's transcript, if there is one.
    fn queue_session_sweep(&self, why: SweepReason) {
        if let Some(transcript) = &self.event.transcript {
            self.queue_sweep(transcript, why);
        }
    }

    /// Queues reading of a transcript.
    fn queue_sweep(&self, transcript: &Path, why: SweepReason) {
        let transcript = self.services.places.cwd.join(transcript);
        // A sub-agent's prompts come from an agent.
        let by_person = why != SweepReason::SubAgent && !prompt::is_tentative(self);
        self.queue_job(WorkerJobKind::Sweep { transcript, why, by_person });
    }

    fn project_paths(&self) -> ProjectPaths<'_> {
        ProjectPaths { root: self.project.root(), cwd: &self.cwd }
    }
}
