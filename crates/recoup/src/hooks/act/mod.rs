//! Event handlers, one file per group of events.
//!
//! A hook must never be in the way: what can't be read counts as absent, and what can't be written
//! is dropped. Both are logged.

mod agent;
mod prompt;
mod session;
mod standing;
mod stop;
mod tool;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::clock::SystemClock;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectRegistry, ProjectStanding};
use recoup_core::memory::hooked::Client;
use recoup_core::memory::inject::{Block, Budget, Context};
use recoup_core::memory::learn::Learned;
use recoup_core::memory::transcript::{Call, Outcome};
use recoup_core::memory::{Given, Memory, NoteId, NoteScope, Occasion, Turn, Waits};
use recoup_core::{Error, Result};

use super::event::{Event, EventKind, WireFormat};
use super::headless::nobody_is_there;
use super::outcome;
use super::place::Place;
use super::reply::Reply;
use super::worker;
use super::worker::job::{self, Job, Origin, Why};
use super::worker::queue::Queue;
use super::{Surroundings, claude_code, pi};

/// Time to wait for a write of the user's statements.
const FOR_WORDS: Duration = Duration::from_millis(2_500);
/// Time to wait for other writes: the client waits for us.
const FOR_THE_REST: Duration = Duration::from_secs(1);
/// Time to wait for a read, needed only while the database is created or moved.
const TO_READ: Duration = Duration::from_millis(150);

/// Handles an event.
pub(super) fn on(event: &Event, around: &Surroundings<'_>) -> Reply {
    let here = match Here::of(event, around) {
        Ok(here) => here,
        Err(error) => {
            around.log.fault(event.client, "a project was not found", &error);
            return Reply::default();
        }
    };
    match &event.what {
        EventKind::Began(how) => session::began(&here, *how),
        EventKind::Opened(how) => session::opened(&here, *how),
        EventKind::Starting(prompt) => session::starting(&here, prompt),
        EventKind::Prompt(prompt) => prompt::prompted(&here, prompt),
        EventKind::Calling(call) => tool::calling(&here, call),
        EventKind::Called(call, outcome) => tool::called(&here, call, outcome),
        EventKind::CalledSomehow(call, output) => tool::called_somehow(&here, call, output),
        EventKind::Batch(calls) => tool::batch(&here, calls),
        EventKind::Task(task) => agent::task(&here, task),
        EventKind::AgentBegan => agent::began(&here),
        EventKind::AgentDone { sort, answer, transcript } => {
            agent::done(&here, sort, answer.as_deref(), transcript.as_deref())
        }
        EventKind::Compacting => stop::compacting(&here),
        EventKind::Compacted => stop::compacted(&here),
        EventKind::Stopped(stop) => stop::stopped(&here, stop),
        EventKind::Ended(how) => stop::ended(&here, how),
    }
}

/// Context of one event: project, memory, session.
struct Here<'a> {
    event: &'a Event,
    around: &'a Surroundings<'a>,
    memory: &'static Memory,
    project: Project,
    /// The client's working directory.
    cwd: PathBuf,
    occasion: Occasion,
    /// True if a person is present; determined once, before anything is written.
    has_person: OnceCell<bool>,
}

/// Finds the project that the client works in. Its directory may be gone (a removed worktree): then
/// it is the session's project, at what is left of the path.
fn project(event: &Event, around: &Surroundings<'_>, memory: &Memory) -> Result<Project> {
    let cwd = around.cwd.join(&event.cwd);
    let find = |dir: &Path| Project::find(dir).map(|found| settled(found, around, memory));
    let gone = match find(&cwd) {
        Err(error) => error,
        Ok(found) => return Ok(of_session(event, found, around, memory)),
    };
    // The root directory is no project.
    let above = cwd.ancestors().filter(|dir| dir.parent().is_some());
    let above = above.chain([around.cwd.as_path()]).find_map(|dir| find(dir).ok());
    let above = above.ok_or(gone)?;
    Ok(match memory.session_scope(&event.session) {
        Ok(Some(NoteScope::Project(id))) if id != *above.id() => {
            Project::remembered(id, above.root().to_owned())
        }
        _ => above,
    })
}

/// Returns the session's own project if the agent has gone into a repository inside of it: the user
/// speaks about the outer one.
fn of_session(
    event: &Event,
    found: Project,
    around: &Surroundings<'_>,
    memory: &Memory,
) -> Project {
    let begins = matches!(event.what, EventKind::Began(_) | EventKind::Opened(_));
    let outer = if begins { None } else { found.enclosing() };
    let outer = outer.map(|outer| settled(outer, around, memory));
    let Some(outer) = outer.filter(|outer| outer.id() != found.id()) else { return found };
    match memory.session_scope(&event.session) {
        Ok(Some(NoteScope::Project(id))) if id == *outer.id() => outer,
        _ => found,
    }
}

/// Resolves the project's id as recorded.
fn settled(found: Project, around: &Surroundings<'_>, memory: &Memory) -> Project {
    memory.settle_project(&ProjectRegistry::below(&around.home), found)
}

/// Result of a write to memory.
enum Taken<T> {
    /// Written.
    Done(T),
    /// Skipped: memory is paused.
    Silent,
    /// Failed.
    Failed(Error),
}

impl<T> Taken<T> {
    fn done(self) -> Option<T> {
        match self {
            Self::Done(it) => Some(it),
            Self::Silent | Self::Failed(_) => None,
        }
    }
}

impl<'a> Here<'a> {
    fn of(event: &'a Event, around: &'a Surroundings<'a>) -> Result<Self> {
        let write = if let EventKind::Prompt(_) = event.what { FOR_WORDS } else { FOR_THE_REST };
        let (path, log) = (around.home.join("memory.db"), Arc::new(around.log.clone()));
        let waits = Waits { read: TO_READ, write };
        // Never closed: the process ends first.
        let memory: &'static Memory =
            Box::leak(Box::new(Memory::at(path, waits, Arc::new(SystemClock), log)));
        let project = project(event, around, memory)?;
        let occasion = Occasion {
            client: event.client,
            session: event.session.clone(),
            context: event.context(),
            scope: NoteScope::Project(project.id().clone()),
        };
        let cwd = around.cwd.join(&event.cwd);
        let has_person = OnceCell::new();
        let here = Self { event, around, memory, project, cwd, occasion, has_person };
        if event.begins_something() {
            match memory.bring_along(&here.project) {
                Ok(0) => {}
                Ok(_) => here.record_project(),
                Err(error) => here.fault("what was said before was not brought along", &error),
            }
        }
        Ok(here)
    }

    fn scope(&self) -> &NoteScope {
        &self.occasion.scope
    }

    /// Unwraps a read; a failure is logged and counts as nothing found.
    fn read<T: Default>(&self, doing: &str, read: Result<T>) -> T {
        read.unwrap_or_else(|error| {
            self.fault(doing, &error);
            T::default()
        })
    }

    fn fault(&self, doing: &str, error: &Error) {
        self.around.log.fault(self.event.client, &format!("{}: {doing}", self.event.name), error);
    }

    /// Runs `act` in one transaction.
    fn take_in<T>(&self, act: impl FnMut(&Turn<'_>) -> Result<T>) -> Taken<T> {
        let done = fsx::ensure_private_dir(&self.around.home)
            .and_then(|()| self.memory.turn(&self.occasion, act));
        match done {
            Ok(Some(done)) => {
                self.record_project();
                Taken::Done(done)
            }
            Ok(None) => Taken::Silent,
            Err(error) => {
                self.fault("nothing was written down", &error);
                Taken::Failed(error)
            }
        }
    }

    /// Registers this checkout with its project, if that is new.
    fn record_project(&self) {
        if let ProjectStanding::First | ProjectStanding::Proven = self.project.standing()
            && let Err(error) = ProjectRegistry::below(&self.around.home).record(&self.project)
        {
            self.fault("the project was not noted", &error);
        }
    }

    /// Returns the advice about a checkout that stays apart, once.
    fn apart_advice(&self) -> Option<String> {
        if self.project.standing() != (ProjectStanding::Apart { is_told: false }) {
            return None;
        }
        let registry = ProjectRegistry::below(&self.around.home);
        let advice = registry.advice(&self.project)?;
        if self.has_reader()
            && let Err(error) = registry.mark_told(&self.project)
        {
            self.fault("what was said about the project was not noted", &error);
        }
        Some(advice)
    }

    fn known(&self) -> Given {
        self.known_to(&self.occasion.context)
    }

    /// Notes that a fork has from its parent session; its own if the parent is unknown.
    fn known_to_fork(&self) -> Given {
        let parent = match &self.event.parent {
            Some(parent) => pi::session_file::session_id(parent),
            None => self.event.transcript.as_deref().and_then(claude_code::fork::parent),
        };
        match parent {
            Some(parent) if parent != self.occasion.session => self.known_to(&parent),
            _ => self.known(),
        }
    }

    fn known_to(&self, context: &str) -> Given {
        self.read("what was given", self.memory.given(context))
    }

    /// Rules that a context does not have: all of them, or those added since it was last given all.
    /// Rules left out for lack of room then do not count as new.
    fn rules(&self, known: &Given, budget: Budget) -> Option<Block> {
        let found = match known.last_whole {
            None => self.memory.rules(self.scope(), budget),
            Some(last) => self.memory.rules_since(last, self.scope()),
        };
        let notes = self.read("the rules", found);
        Block::in_project(&notes, &self.project, &known.notes, budget)
    }

    fn context_of<'c>(&'c self, given: &'c HashSet<NoteId>, budget: Budget) -> Context<'c> {
        Context { project: Some(self.project.id()), given, budget }
    }

    /// Records the outcome of a call.
    fn learn(&self, turn: &Turn<'_>, call: &Call, outcome: &Outcome) -> Result<Option<Learned>> {
        outcome::learn(turn, call, outcome, self.place())
    }

    /// Queues a job for the worker; returns false if that failed.
    fn later(&self, what: job::JobKind) -> bool {
        let from = Origin::of(&self.occasion, self.project.root(), self.cwd.clone());
        let queue = Queue::of(&self.around.home, self.project.id());
        // Also start a worker if the queue is full.
        let left = queue.put(&Job::new(from, what), &SystemClock);
        let is_left = left.is_ok();
        if is_left {
            self.record_project();
        }
        for done in [left, worker::start(&queue, &self.project)] {
            if let Err(error) = done {
                self.fault("something was not left to the worker", &error);
            }
        }
        is_left
    }

    /// Starts a worker if jobs are waiting.
    fn catch_up(&self) {
        let queue = Queue::of(&self.around.home, self.project.id());
        if queue.is_empty().is_ok_and(|empty| !empty)
            && let Err(error) = worker::start(&queue, &self.project)
        {
            self.fault("the worker was not started", &error);
        }
    }

    /// True if a person is present, whether or not this event is shown to them. May read a file, so
    /// call it before any transaction.
    fn has_person(&self) -> bool {
        *self.has_person.get_or_init(|| !nobody_is_there(self.event, &self.around.entry))
    }

    /// True if context can reach the agent only with a call's result, not before the call.
    fn is_told_after_calls(&self) -> bool {
        self.event.client == Client::Pi || self.event.format == WireFormat::Cursor
    }

    /// True if a person will see a notice in this reply.
    fn has_reader(&self) -> bool {
        self.event.heard && self.has_person()
    }

    /// Queues reading of the session's transcript, if there is one.
    fn read_on(&self, why: Why) {
        if let Some(transcript) = &self.event.transcript {
            self.read_on_in(transcript, why);
        }
    }

    /// Queues reading of a transcript.
    fn read_on_in(&self, transcript: &Path, why: Why) {
        let transcript = self.around.cwd.join(transcript);
        // A sub-agent's prompts come from an agent.
        let by_person = why != Why::SubAgent && !prompt::is_tentative(self);
        self.later(job::JobKind::Sweep { transcript, why, by_person });
    }

    fn place(&self) -> Place<'_> {
        Place { root: self.project.root(), cwd: &self.cwd }
    }
}
