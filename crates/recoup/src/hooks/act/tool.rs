//! Tool calls: before one the few rules that concern it, after it what came of it.

use recoup_core::base::text::shortened;
use recoup_core::memory::Given;
use recoup_core::memory::inject::{self, Budget, Candidate, Moment, StaleCheck};
use recoup_core::memory::learn::command::Kind;
use recoup_core::memory::transcript::{Action, Call, Outcome};

use super::{Here, prompt};
use crate::hooks::notice;
use crate::hooks::outcome::{edited, files};
use crate::hooks::reply::Reply;

/// As much of a call as is looked at for what it is about.
const LOOKED_AT: usize = 2_000;

/// What is about to be called is compared with the rules.
pub(super) fn calling(here: &Here<'_>, call: &Call) -> Reply {
    let mut reply = Reply::default();
    tell_what_concerns(here, call, &mut reply);
    reply
}

/// Rules that really concern a call, if this context does not have them.
fn tell_what_concerns(here: &Here<'_>, call: &Call, reply: &mut Reply) {
    let touched: Vec<String> = files(call).iter().map(|path| here.place().name_of(path)).collect();
    let touched: Vec<&str> = touched.iter().map(String::as_str).collect();
    let found = candidates(here, call, &touched);
    if found.is_empty() {
        return;
    }
    let known = here.known().notes;
    let stale = StaleCheck::new(here.project.root());
    let context = here.context_of(&known, Budget::default());
    let moment = Moment { touches: &touched };
    let block = inject::concerning(&found, moment, &context, |note| stale.of(note));
    let Some(block) = block else { return };
    // Of two calls at the same time one is told.
    if here.take_in(|turn| turn.give(&block)).done().is_some_and(|new| new > 0) {
        reply.tell(block.text());
    }
}

fn candidates(here: &Here<'_>, call: &Call, touched: &[&str]) -> Vec<Candidate> {
    let mut found = here.read("rules for files", here.memory.for_files(touched, here.scope()));
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

/// What came of a call. Where a client lets nothing be said before one, rules that concern
/// it come with its result.
pub(super) fn called(here: &Here<'_>, call: &Call, outcome: &Outcome) -> Reply {
    let mut reply = Reply::default();
    let learned = here.take_in(|turn| here.learn(turn, call, outcome)).done().flatten();
    if let Some(line) = learned.as_ref().and_then(notice::learned) {
        reply.notice(&line);
    }
    if here.is_told_after_calls() {
        let known = here.known();
        if known.last_whole.is_none() {
            tell_all(here, &known, &mut reply);
        } else {
            tell_what_concerns(here, call, &mut reply);
        }
    }
    reply
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

/// How it ended is not known; that files were changed is.
pub(super) fn called_somehow(here: &Here<'_>, call: &Call) -> Reply {
    if call.edits() {
        here.take_in(|turn| edited(turn, call, here.place()));
    }
    Reply::default()
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
