//! Work that was paid for twice, by what the clients' transcripts say: commands, reads, sub-agents,
//! repeated corrections, and parts of prompts that a provider's cache had lost.
//!
//! ```text
//! transcripts of a session ──► timeline ──► repeats, cache writes ──► sums, by kind and subject
//! ```
//!
//! In doubt nothing is counted: what may have changed something ends all claims before it.

mod cache_writes;
mod repeats;
mod sums;
mod timeline;

use std::collections::BTreeMap;
use std::path::PathBuf;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::project::ProjectId;

use crate::config::{PriceTable, find_project};
use crate::learn::LearnedRule;
use crate::transcripts::find::TranscriptSource;
use crate::transcripts::parallel::{ParallelReader, ReadAmount, read_groups};
use repeats::{RepeatedCorrections, find_repeats};
pub(crate) use sums::{WasteKind, WasteSums, WastedWork};
use timeline::SessionTimeline;

/// Transcripts and options of a search for waste.
pub(crate) struct WasteRequest<'a> {
    /// Recoup's own directory.
    pub(crate) home: PathBuf,
    pub(crate) sources: &'a [TranscriptSource],
    /// Earlier events do not count.
    pub(crate) since: Timestamp,
    /// Only this project, if one is given.
    pub(crate) project: Option<ProjectId>,
    pub(crate) prices: &'a PriceTable,
    /// Rules that the user has stated more than once.
    pub(crate) repeated: &'a [LearnedRule],
}

/// Finds what was paid for twice. `progress` is told how many of how many bytes were read.
pub(crate) fn find_waste<'a>(
    request: &WasteRequest<'a>,
    progress: &mut dyn FnMut(u64, u64),
) -> (WasteSums<'a>, ReadAmount) {
    let corrections = RepeatedCorrections::of(request.repeated);
    let read = |group: &[&TranscriptSource], reader: &mut ParallelReader<'_>| {
        let timeline = SessionTimeline::read(group, reader);
        let mut sums = WasteSums::new(request.prices, request.since);
        if !is_wanted(request, &timeline) {
            return sums;
        }
        timeline.requests.iter().for_each(|request| sums.add_to_total(request));
        find_repeats(&timeline, &mut sums);
        corrections.count_turns(&timeline, &mut sums);
        cache_writes::find_cache_writes(&timeline, &mut sums);
        sums
    };
    let mut all = WasteSums::new(request.prices, request.since);
    let groups = group_by_session(request.sources);
    let amount = read_groups(&groups, read, |sums| all.merge(sums), progress);
    (all, amount)
}

fn is_wanted(request: &WasteRequest<'_>, timeline: &SessionTimeline) -> bool {
    let Some(wanted) = &request.project else { return true };
    let project = timeline.cwd.as_ref().and_then(|cwd| find_project(&request.home, cwd).ok());
    project.is_some_and(|project| project.id() == wanted)
}

/// The files of each session: its own, and those of its sub-agents.
fn group_by_session(sources: &[TranscriptSource]) -> Vec<Vec<&TranscriptSource>> {
    let mut groups: BTreeMap<PathBuf, Vec<&TranscriptSource>> = BTreeMap::new();
    for source in sources {
        let session = source.parent_path().unwrap_or_else(|| source.path.clone());
        groups.entry(session).or_default().push(source);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    for group in &mut groups {
        group.sort_by_key(|it| it.is_sub_agent());
    }
    groups
}
