//! Reads the new part of a transcript: records what hooks have missed, and evaluates the end of a
//! session.

use std::borrow::Cow;
use std::path::Path;

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::memory::learn::Learned;
use recoup_core::memory::learn::citation::citations;
use recoup_core::memory::learn::trouble::{Sort, troubles};
use recoup_core::memory::transcript::{Action, Call, Entry, EntryKind, steps};
use recoup_core::memory::{About, Happened, NoteScope, Occasion, Turn};

use super::Worker;
use super::job::Why;
use super::untold;
use crate::hooks::mark::Mark;
use crate::hooks::notice;
use crate::hooks::outcome;
use crate::hooks::place::Place;
use crate::hooks::transcript::{Excerpt, Transcript};

/// Entries read at most at once.
const MOST: usize = 400;

/// Why a transcript is read, and whether a person typed its prompts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reason {
    pub(super) why: Why,
    pub(super) by_person: bool,
}

/// New part of a transcript, read once for all its users.
pub(super) struct News {
    /// Entries that may be used, oldest first.
    pub(super) entries: Vec<Entry>,
    /// Number of entries, from the first, that were read before.
    pub(super) known: usize,
    /// Path of the transcript, as its key in memory.
    pub(super) name: String,
    /// Mark of the previous read.
    before: Option<String>,
    /// Mark of this read.
    mark: String,
    /// True if it was read from the start, not from the previous mark.
    pub(super) afresh: bool,
}

impl News {
    /// Entries that were not read before.
    pub(super) fn latest(&self) -> &[Entry] {
        &self.entries[self.known..]
    }
}

impl Worker<'_> {
    /// Records the new part of a transcript.
    pub(super) fn sweep(
        &self,
        occasion: &Occasion,
        place: Place<'_>,
        path: &Path,
        reason: Reason,
    ) -> Result<()> {
        let Some(transcript) = Transcript::open(path, occasion.client)? else { return Ok(()) };
        let news = self.news(&occasion.scope, &transcript, path)?;
        // A sub-agent's tasks and prompts come from its parent agent.
        let is_own = reason.why != Why::SubAgent;
        self.memory.turn(occasion, |turn| {
            let learned = take_in(turn, &news, place)?;
            for line in learned.iter().filter_map(notice::learned) {
                turn.tell(&line)?;
            }
            if is_own { untold::take_in(turn, news.latest(), reason.by_person) } else { Ok(()) }
        })?;
        if is_own {
            self.preserve(occasion, &transcript, &news, reason)?;
            self.save_progress(&occasion.scope, &news)?;
        }
        // Also while memory is paused: that part must not be read later.
        self.memory.sweep(&news.name, &news.mark)?;
        match reason.why {
            Why::SubAgent => Ok(()),
            Why::Compaction => self.extract_later(&news).map(drop),
            Why::Stop | Why::End => self.extract(occasion, &news),
        }
    }

    fn news(&self, scope: &NoteScope, transcript: &Transcript, path: &Path) -> Result<News> {
        let name = path.display().to_string();
        let before = self.memory.swept(&name)?;
        let mut excerpt = match before.as_deref().and_then(|mark| mark.parse().ok()) {
            Some(mark) => transcript.onward(&mark, MOST)?,
            None => Excerpt { anew: true, ..transcript.last(MOST)? },
        };
        let new = self.audible(scope, excerpt.entries.split_off(excerpt.known))?;
        let mut entries = self.audible(scope, excerpt.entries)?;
        let known = entries.len();
        entries.extend(new);
        let (mark, afresh) = (excerpt.mark.to_string(), excerpt.anew);
        Ok(News { entries, known, name, before, mark, afresh })
    }

    /// Before a compaction, keeps doubtful statements since the last one as candidates. At other
    /// times only moves the mark from which there may be any, so that nothing is read twice.
    fn preserve(
        &self,
        occasion: &Occasion,
        transcript: &Transcript,
        news: &News,
        reason: Reason,
    ) -> Result<()> {
        let name = format!("{} before compaction", news.name);
        let from = self.memory.swept(&name)?;
        let is_up_to_date = news.afresh || from == news.before;
        if reason.why != Why::Compaction {
            let is_clear = is_up_to_date && !untold::is_in_doubt(news.latest());
            return if is_clear { self.memory.sweep(&name, &news.mark) } else { Ok(()) };
        }
        let earlier = match from.and_then(|mark| mark.parse::<Mark>().ok()) {
            _ if is_up_to_date => None,
            Some(mark) => Some(transcript.since(&mark, MOST)?),
            None => Some(transcript.last(MOST)?),
        };
        let earlier = earlier.map(|it| self.audible(&occasion.scope, it.entries)).transpose()?;
        let entries = earlier.as_deref().unwrap_or(news.latest());
        self.memory.turn(occasion, |turn| untold::preserve(turn, entries, reason.by_person))?;
        self.memory.sweep(&name, &news.mark)
    }

    /// Drops entries from times when memory was paused, and redacts credentials. An entry without a
    /// time has that of the entry before it.
    fn audible(&self, scope: &NoteScope, entries: Vec<Entry>) -> Result<Vec<Entry>> {
        let (mut heard, mut silent) = (Vec::with_capacity(entries.len()), false);
        for entry in entries {
            if let Some(at) = entry.at {
                silent = self.memory.was_silent(scope, at)?;
            }
            if !silent {
                heard.push(self.without_credentials(entry));
            }
        }
        Ok(heard)
    }

    fn without_credentials(&self, mut entry: Entry) -> Entry {
        let text = match &mut entry.what {
            EntryKind::Prompt(text) | EntryKind::Words(text) | EntryKind::SubAgent(text) => text,
            EntryKind::Outcome(outcome) => &mut outcome.output,
            EntryKind::Call(Call { action: Action::Shell(line), .. }) => {
                *line = line.without(self.hidden);
                return entry;
            }
            EntryKind::Call(Call { action: Action::Plan(plan), .. }) => {
                for task in plan.texts_mut() {
                    *task = self.hidden.redact(task).into_owned();
                }
                return entry;
            }
            _ => return entry,
        };
        if let Cow::Owned(clean) = self.hidden.redact(text) {
            *text = clean;
        }
        entry
    }
}

/// Records outcomes, citations and troubles that hooks may have missed. What a hook has recorded is
/// recognised by its call id, and counts once.
fn take_in(turn: &Turn<'_>, news: &News, place: Place<'_>) -> Result<Vec<Learned>> {
    let mut learned = Vec::new();
    let News { entries, known, .. } = news;
    let known = *known;
    for step in steps(entries).into_iter().filter(|step| step.until >= known) {
        if let Some(outcome) = step.outcome {
            let then = entries[step.until].at.map_or(*turn, |at| turn.at(at));
            learned.extend(outcome::learn(&then, step.call, outcome, place)?);
        }
    }
    for entry in news.latest() {
        if let EntryKind::Words(words) = &entry.what {
            turn.cited(words, &citations(words))?;
        }
    }
    for trouble in troubles(entries).into_iter().filter(|it| it.entries.end > known) {
        if matches!(trouble.sort, Sort::Stuck | Sort::Backtracked | Sort::Repeated) {
            let subject = trouble.kind.map_or(trouble.call, |kind| kind.to_string());
            let print = Digest::of(
                format!("{:?}\n{subject}\n{:?}", trouble.sort, trouble.error).as_bytes(),
            );
            let call = format!("{} {}", turn.session(), &print.to_hex()[..16]);
            let detail = trouble.error.as_deref();
            let of = About { subject: Some(&subject), detail, call: Some(&call) };
            turn.happened(Happened::Trouble, of)?;
        }
    }
    Ok(learned)
}
