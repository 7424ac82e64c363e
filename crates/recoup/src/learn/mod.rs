//! Rules that the user has stated to agents before, found in the transcripts of their clients.
//!
//! ```text
//! transcripts ──► prompts (two threads) ──► replayed into an empty memory ──► groups, ranked
//!             ──► without what memory knows ──► the user takes what is right
//! ```
//!
//! Prompts are heard as by the hooks. The replay follows changes of mind and retractions as memory
//! itself does. Nothing is sent anywhere, and memory is only read until the user takes something.

pub(crate) mod decide;
pub(crate) mod groups;
mod places;
mod prompts;
mod replay;

use std::path::PathBuf;
use std::sync::Arc;

use recoup_core::Result;
use recoup_core::base::FaultLog;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::project::ProjectId;
use recoup_core::memory::Memory;
use recoup_core::secrets::SecretValues;

use crate::transcripts::find::TranscriptSource;
use groups::gather_rules;
pub(crate) use groups::{LearnFindings, LearnedRule};
use places::PlaceFinder;

/// Transcripts and options of a search for rules.
pub(crate) struct LearnRequest<'a> {
    /// Recoup's own directory.
    pub(crate) home: PathBuf,
    /// The user's memory.
    pub(crate) memory: &'a Memory,
    /// Transcripts that are read.
    pub(crate) sources: &'a [TranscriptSource],
    /// Earlier prompts do not count.
    pub(crate) since: Timestamp,
    /// Only this project, if one is given.
    pub(crate) project: Option<ProjectId>,
    /// Credentials to redact.
    pub(crate) hidden: &'a SecretValues,
    /// True if prompts of scripts count, too.
    pub(crate) keeps_headless: bool,
    pub(crate) faults: Arc<dyn FaultLog>,
}

/// Finds rules in transcripts. `progress` is told how many of how many bytes were read.
pub(crate) fn find_rules(
    request: &LearnRequest<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<LearnFindings> {
    let heard = prompts::read_prompts(request, progress);
    let mut finder = PlaceFinder::new(request);
    let mut prompts = Vec::new();
    for mut prompt in heard.prompts {
        let place = finder.find(&prompt)?;
        let at = finder.place(place);
        let is_wanted = request.project.as_ref().is_none_or(|id| *id == at.id);
        // Nothing is recorded there, now or at that time.
        if !is_wanted || at.is_ignored || request.memory.was_paused(&at.scope(), prompt.at)? {
            continue;
        }
        prompt.place = place;
        prompts.push(prompt);
    }
    let places = finder.into_places();
    let replayed = replay::replay_prompts(&prompts, &places, Arc::clone(&request.faults))?;
    let mut findings = gather_rules(request.memory, &replayed, &prompts, places)?;
    findings.files = request.sources.len();
    findings.amount = heard.amount;
    Ok(findings)
}
