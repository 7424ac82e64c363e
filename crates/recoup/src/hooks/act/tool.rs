//! Handles tool calls: delivers rules that concern a call before it, records its outcome after it.

use recoup_core::base::text::shortened;
use recoup_core::memory::Given;
use recoup_core::memory::inject::{self, Budget, Candidate, Moment, StaleCheck};
use recoup_core::memory::learn::Ran;
use recoup_core::memory::learn::command::Kind;
use recoup_core::memory::learn::failure::{error_line, failure};
use recoup_core::memory::transcript::{Action, Call, Outcome};

use super::{Here, prompt};
use crate::hooks::notice;
use crate::hooks::outcome::{edited, files};
use crate::hooks::reply::Reply;

/// Length of a call that is searched for its matter, in characters.
const LOOKED_AT: usize = 2_000;

/// Score of a lesson that explains a failure: above what only shares words.
const LESSON: f64 = 0.9;

/// A call is about to start: delivers the rules that concern it.
pub(super) fn calling(here: &Here<'_>, call: &Call) -> Reply {
    let mut reply = Reply::default();
    let touched = touched(here, call);
    tell(here, &candidates(here, call, &touched), &touched, &mut reply);
    reply
}

/// Files that a call names, relative to the project.
fn touched(here: &Here<'_>, call: &Call) -> Vec<String> {
    files(call).iter().map(|path| here.place().name_of(path)).collect()
}

/// Delivers the few candidates that concern a call, unless this context has them.
fn tell(here: &Here<'_>, found: &[Candidate], touched: &[String], reply: &mut Reply) {
    if found.is_empty() {
        return;
    }
    let touched: Vec<&str> = touched.iter().map(String::as_str).collect();
    let known = here.known().notes;
    let stale = StaleCheck::new(here.project.root());
    let context = here.context_of(&known, Budget::default());
    let moment = Moment { touches: &touched };
    let block = inject::concerning(found, moment, &context, |note| stale.of(note));
    let Some(block) = block else { return };
    // Of two simultaneous calls only one gets it.
    if here.take_in(|turn| turn.give(&block)).done().is_some_and(|new| new > 0) {
        reply.tell(block.text());
    }
}

fn candidates(here: &Here<'_>, call: &Call, touched: &[String]) -> Vec<Candidate> {
    let touched: Vec<&str> = touched.iter().map(String::as_str).collect();
    let mut found = here.read("rules for files", here.memory.for_files(&touched, here.scope()));
    let about = match &call.action {
        Action::Shell(line) => shortened(line, LOOKED_AT).into_owned(),
        Action::Edit(_) | Action::Write(_) => touched.join(" "),
        // An MCP tool's name says what it does.
        Action::Other if call.tool.starts_with("mcp__") => call.tool.replace("__", " "),
        _ => return found,
    };
    let by_words = prompt::fitting(here, &about);
    let deeds = deeds(call);
    let by_deed = here.read("rules for deeds", here.memory.for_deeds(&deeds, here.scope()));
    for candidate in by_words.into_iter().chain(by_deed) {
        if found.iter().all(|other| other.note.id != candidate.note.id) {
            found.push(candidate);
        }
    }
    found
}

/// Names of what a call does, as rules use them.
fn deeds(call: &Call) -> Vec<&'static str> {
    match &call.action {
        Action::Shell(line) => {
            let kind = Kind::of(shortened(line, LOOKED_AT).as_ref());
            kind.and_then(|kind| kind.sub().map(inject::deeds)).unwrap_or_default()
        }
        Action::Other => inject::deeds(&call.tool),
        _ => Vec::new(),
    }
}

/// A call ended: records its outcome, and delivers the lesson that explains a failure. Clients that
/// take no context before a call get the rules that concern it now.
pub(super) fn called(here: &Here<'_>, call: &Call, outcome: &Outcome) -> Reply {
    let mut reply = Reply::default();
    let learned = here.take_in(|turn| here.learn(turn, call, outcome)).done().flatten();
    if let Some(line) = learned.as_ref().and_then(notice::learned) {
        reply.notice(&line);
    }
    let mut found = lesson(here, call, failure(call, outcome).map(|it| it.error));
    let touched = touched(here, call);
    if here.is_told_after_calls() {
        let known = here.known();
        if known.last_whole.is_none() {
            tell_all(here, &known, &mut reply);
            return reply;
        }
        found.extend(candidates(here, call, &touched));
    }
    tell(here, &found, &touched, &mut reply);
    reply
}

/// Finds the lesson that explains why a call failed with that error.
fn lesson(here: &Here<'_>, call: &Call, error: Option<String>) -> Vec<Candidate> {
    let kind = call.command().and_then(|line| Kind::of(line)).map(|kind| kind.to_string());
    let (Some(error), Some(kind), Some(command)) = (error, kind, call.command()) else {
        return Vec::new();
    };
    let ran = Ran { kind: &kind, command: command.clone(), call: &call.id };
    let found = here.read("a lesson", here.memory.lesson_for(&ran, &error, here.scope()));
    found.map(|note| Candidate { note, score: LESSON }).into_iter().collect()
}

/// Delivers all rules: a context may be compacted in the middle of an answer, and then Pi and
/// Cursor take context only with a call's result.
fn tell_all(here: &Here<'_>, known: &Given, reply: &mut Reply) {
    let Some(rules) = here.rules(known, Budget::default()) else { return };
    // A delivery that can't be recorded would be repeated with every call.
    if here.take_in(|turn| turn.give_all(Some(&rules))).done().is_some_and(|is_new| is_new) {
        reply.tell(rules.text());
    }
}

/// A call ended with unknown outcome: records the files that it changed. An output with the error
/// that a lesson is about delivers that lesson.
pub(super) fn called_somehow(here: &Here<'_>, call: &Call, output: &str) -> Reply {
    let mut reply = Reply::default();
    if call.edits() {
        here.take_in(|turn| edited(turn, call, here.place()));
    }
    let output = call.command().map(|command| command.hide_in(output));
    let error = output.and_then(|output| error_line(&output));
    tell(here, &lesson(here, call, error), &[], &mut reply);
    reply
}

/// A batch ended: records refused calls that had no event of their own. One that ran could have
/// printed the text of a refusal itself.
pub(super) fn batch(here: &Here<'_>, calls: &[(Call, Outcome)]) -> Reply {
    if !calls.is_empty() {
        here.take_in(|turn| {
            for (call, outcome) in calls {
                if !turn.has_run(&call.id)? {
                    here.learn(turn, call, outcome)?;
                }
            }
            Ok(())
        });
    }
    Reply::default()
}
