//! Tool calls: before one the few rules that concern it, after it what came of it.

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

/// As much of a call as is looked at for what it is about.
const LOOKED_AT: usize = 2_000;

/// How well a lesson fits the failure that it explains: better than what only shares words.
const LESSON: f64 = 0.9;

/// What is about to be called is compared with the rules.
pub(super) fn calling(here: &Here<'_>, call: &Call) -> Reply {
    let mut reply = Reply::default();
    let touched = touched(here, call);
    tell(here, &candidates(here, call, &touched), &touched, &mut reply);
    reply
}

/// The files that a call is about, from the project's root.
fn touched(here: &Here<'_>, call: &Call) -> Vec<String> {
    files(call).iter().map(|path| here.place().name_of(path)).collect()
}

/// Tells the few rules that really concern a call, if this context does not have them.
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
    // Of two calls at the same time one is told.
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
        // A tool of a server says by its name what it does.
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

/// What a call does, by the names that rules have for it.
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

/// What came of a call. A failure comes with the lesson that explains it; where a client lets
/// nothing be said before a call, rules that concern it come with its result.
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

/// The lesson that explains why a call fails with that error, if there is one.
fn lesson(here: &Here<'_>, call: &Call, error: Option<String>) -> Vec<Candidate> {
    let kind = call.command().and_then(|line| Kind::of(line)).map(|kind| kind.to_string());
    let (Some(error), Some(kind), Some(command)) = (error, kind, call.command()) else {
        return Vec::new();
    };
    let ran = Ran { kind: &kind, command: command.clone(), call: &call.id };
    let found = here.read("a lesson", here.memory.lesson_for(&ran, &error, here.scope()));
    found.map(|note| Candidate { note, score: LESSON }).into_iter().collect()
}

/// All rules: a context may be compacted in the middle of an answer, and Pi and Cursor can be told
/// then with the result of a call only.
fn tell_all(here: &Here<'_>, known: &Given, reply: &mut Reply) {
    let Some(rules) = here.rules(known, Budget::default()) else { return };
    // What can't be written down would come again with every call.
    if here.take_in(|turn| turn.give_all(Some(&rules))).done().is_some_and(|is_new| is_new) {
        reply.tell(rules.text());
    }
}

/// How it ended is not known; that files were changed is. An output with the very error that a
/// lesson is about brings that lesson.
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

/// Calls that were turned down, if they have had no event of their own: one that ran can
/// answer whatever it likes.
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
