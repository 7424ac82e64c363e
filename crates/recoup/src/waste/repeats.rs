//! Commands and reads that were repeated although nothing had changed, and corrections that were.

use std::collections::HashMap;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;

use super::sums::{WasteKind, WasteSums};
use super::timeline::{SessionTimeline, TimelineAction};
use crate::learn::LearnedRule;

/// Counters of what may have changed something, as they were at one time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ChangeMark {
    /// Commands and calls that may have changed anything.
    calls: u64,
    /// Edits: of all files, or of one.
    edits: u64,
}

/// A run of a command: what it printed, and the state that it left.
struct CommandRun {
    output: Sha256Digest,
    left: ChangeMark,
}

/// A run that has not ended yet.
struct OpenRun<'a> {
    started: Timestamp,
    line: &'a str,
    print: &'a Sha256Digest,
    request: Option<usize>,
    found: ChangeMark,
    left: ChangeMark,
}

/// Commands and reads of a session.
#[derive(Default)]
struct RepeatFinder<'a> {
    now: ChangeMark,
    edits_of: HashMap<&'a str, u64>,
    runs: HashMap<&'a Sha256Digest, CommandRun>,
    open: HashMap<&'a str, OpenRun<'a>>,
    /// Reads, by context, path and input.
    reads: HashMap<(usize, &'a str, u64), ChangeMark>,
    /// The last read of each path, and its context.
    last_reads: HashMap<&'a str, (usize, ChangeMark)>,
}

/// Adds the commands and reads of a session that were repeated.
pub(super) fn find_repeats(timeline: &SessionTimeline, sums: &mut WasteSums<'_>) {
    let mut finder = RepeatFinder::default();
    for event in &timeline.events {
        match &event.action {
            TimelineAction::Command { id, line, print, only_reads, request } => {
                let found = finder.now;
                finder.now.calls += u64::from(!only_reads);
                let (started, left) = (event.at, finder.now);
                let run = OpenRun { started, line, print, request: *request, found, left };
                finder.open.insert(id, run);
            }
            TimelineAction::Outcome { id, output } => {
                finder.end_run(id, output.as_ref(), event.at, timeline, sums);
            }
            TimelineAction::Read { path, print, request } => {
                let edits = finder.edits_of.get(path.as_str()).copied().unwrap_or_default();
                let mark = ChangeMark { edits, ..finder.now };
                let own = finder.reads.insert((event.context, path.as_str(), *print), mark);
                let last = finder.last_reads.insert(path, (event.context, mark));
                let is_others = |(context, seen)| context != event.context && seen == mark;
                let kind = if own == Some(mark) {
                    WasteKind::Reads
                } else if event.context > 0 && last.is_some_and(is_others) {
                    WasteKind::SubAgents
                } else {
                    continue;
                };
                sums.add_call(kind, path, event.at, 0, timeline.request(*request));
            }
            TimelineAction::Edit(paths) => {
                finder.now.edits += 1;
                for path in paths {
                    *finder.edits_of.entry(path).or_default() += 1;
                }
            }
            TimelineAction::Unknown => finder.now.calls += 1,
            // The agent has lost what it had read.
            TimelineAction::Compaction => {
                finder.reads.retain(|(context, ..), _| *context != event.context);
            }
            TimelineAction::Prompt | TimelineAction::Request(_) | TimelineAction::Resume => {}
        }
    }
}

impl RepeatFinder<'_> {
    fn end_run(
        &mut self,
        id: &str,
        output: Option<&Sha256Digest>,
        at: Timestamp,
        timeline: &SessionTimeline,
        sums: &mut WasteSums<'_>,
    ) {
        let Some(run) = self.open.remove(id) else { return };
        let Some(output) = output.copied() else { return };
        let is_same = |before: &CommandRun| before.left == run.found && before.output == output;
        if self.runs.get(run.print).is_some_and(is_same) {
            let millis = at.millis_since(run.started);
            let request = timeline.request(run.request);
            sums.add_call(WasteKind::Commands, run.line, at, millis, request);
        }
        self.runs.insert(run.print, CommandRun { output, left: run.left });
    }
}

/// Rules that the user had to state again: by session and time, their text.
pub(super) struct RepeatedCorrections<'a>(HashMap<(&'a str, Timestamp), &'a str>);

impl<'a> RepeatedCorrections<'a> {
    /// All times but the first of each rule.
    pub(super) fn of(rules: &'a [LearnedRule]) -> Self {
        let again = rules.iter().flat_map(|rule| {
            let text = rule.statement.text.as_str();
            rule.quotes.iter().skip(1).map(move |it| ((it.session.as_str(), it.at), text))
        });
        Self(again.collect())
    }

    /// Adds the turns of a session that a repeated correction began.
    pub(super) fn count_turns(&self, timeline: &SessionTimeline, sums: &mut WasteSums<'_>) {
        let Some(session) = timeline.session.as_deref() else { return };
        let mut turn: Option<(&str, Timestamp)> = None;
        let mut last = None;
        let own = timeline.events.iter().filter(|event| event.context == 0);
        for event in own {
            match event.action {
                TimelineAction::Prompt => {
                    end_turn(turn.take(), last, sums);
                    let text = self.0.get(&(session, event.at));
                    turn = text.map(|text| (*text, event.at));
                }
                TimelineAction::Request(at) => {
                    if let Some((text, _)) = turn {
                        sums.add_request(WasteKind::Corrections, text, &timeline.requests[at]);
                    }
                }
                _ => {}
            }
            last = Some(event.at);
        }
        end_turn(turn, last, sums);
    }
}

fn end_turn(turn: Option<(&str, Timestamp)>, end: Option<Timestamp>, sums: &mut WasteSums<'_>) {
    if let (Some((text, began)), Some(end)) = (turn, end) {
        sums.add_call(WasteKind::Corrections, text, began, end.millis_since(began), None);
    }
}
