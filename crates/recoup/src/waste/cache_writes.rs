//! Parts of prompts that a provider's cache had, and that were written again or paid in full.

use std::collections::HashMap;

use recoup_core::base::clock::Timestamp;

use super::sums::{WasteKind, WasteSums};
use super::timeline::{SessionTimeline, TimedRequest, TimelineAction};

/// Times for which Anthropic's cache keeps a part, in milliseconds.
const FIVE_MINUTES: u64 = 5 * 60 * 1_000;
const ONE_HOUR: u64 = 12 * FIVE_MINUTES;

/// Fewest tokens that are worth counting: shorter prompts are not cached.
const FEWEST_TOKENS: u64 = 2_048;

/// Events of a context since its last request.
#[derive(Default)]
struct ContextState<'a> {
    last: Option<&'a TimedRequest>,
    /// Time of the last prompt or outcome: about when the next request starts.
    fed: Option<Timestamp>,
    is_compacted: bool,
    is_resumed: bool,
}

/// Adds the requests of a session that lost what was cached for the one before.
pub(super) fn find_cache_writes(timeline: &SessionTimeline, sums: &mut WasteSums<'_>) {
    let mut contexts: HashMap<usize, ContextState<'_>> = HashMap::new();
    for event in &timeline.events {
        let state = contexts.entry(event.context).or_default();
        match event.action {
            TimelineAction::Prompt | TimelineAction::Outcome { .. } => state.fed = Some(event.at),
            TimelineAction::Compaction => state.is_compacted = true,
            TimelineAction::Resume => state.is_resumed = true,
            TimelineAction::Request(at) => {
                let request = &timeline.requests[at];
                if let Some((cause, tokens)) = state.lost_part(request) {
                    sums.add_cache_write(cause, tokens, request);
                }
                *state = ContextState { last: Some(request), ..ContextState::default() };
            }
            _ => {}
        }
    }
}

impl ContextState<'_> {
    /// Cause and tokens, if a request lost more than half of what was cached: providers look a few
    /// blocks back only.
    fn lost_part(&self, request: &TimedRequest) -> Option<(&'static str, u64)> {
        let last = self.last?;
        let (before, now) = (&last.usage, &request.usage);
        let cached = before.cache_read.saturating_add(before.cache_written);
        if cached < FEWEST_TOKENS || now.cache_read >= cached.div_ceil(2) {
            return None;
        }
        let paid = now.fresh_input.saturating_add(now.cache_written);
        let tokens = (cached - now.cache_read).min(paid);
        let idle = self.fed.unwrap_or(request.at).millis_since(last.at);
        let kept = if before.written_for_hour > 0 { ONE_HOUR } else { FIVE_MINUTES };
        let cause = if before.model != now.model {
            WasteKind::OTHER_MODEL
        } else if self.is_compacted {
            WasteKind::COMPACTION
        } else if idle >= ONE_HOUR {
            WasteKind::LONG_PAUSE
        } else if idle >= kept {
            WasteKind::PAUSE
        } else if self.is_resumed {
            WasteKind::RESUME
        } else {
            WasteKind::UNKNOWN
        };
        (tokens >= FEWEST_TOKENS).then_some((cause, tokens))
    }
}
