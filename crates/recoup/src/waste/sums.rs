//! Sums of what was paid for twice, by kind and subject, in time, tokens and dollars.

use std::collections::BTreeMap;

use recoup_core::base::clock::Timestamp;
use recoup_core::entry::CostSavings;

use super::timeline::TimedRequest;
use crate::config::PriceTable;
use crate::config::prices::anthropic_input;
use crate::transcripts::usage::RequestUsage;

/// Kind of work that was paid for twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WasteKind {
    Commands,
    Reads,
    SubAgents,
    Corrections,
    PromptCache,
}

impl WasteKind {
    pub(crate) const ALL: [Self; 5] =
        [Self::Commands, Self::Reads, Self::SubAgents, Self::Corrections, Self::PromptCache];

    /// Causes of a lost prompt cache.
    pub(super) const OTHER_MODEL: &str = "another model";
    pub(super) const COMPACTION: &str = "the conversation was compacted";
    pub(super) const PAUSE: &str = "a pause of 5 minutes or longer";
    pub(super) const LONG_PAUSE: &str = "a pause of an hour or longer";
    pub(super) const RESUME: &str = "the session was resumed";
    pub(super) const UNKNOWN: &str = "unknown: other tools, instructions or files, or the provider";

    /// Name in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Reads => "reads",
            Self::SubAgents => "sub_agents",
            Self::Corrections => "corrections",
            Self::PromptCache => "prompt_cache",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Commands => "Commands that ran again, and printed the same, with nothing changed",
            Self::Reads => "Files that were read again in the same context, unchanged",
            Self::SubAgents => "Files that a sub-agent read again, unchanged",
            Self::Corrections => "Corrections that you had to repeat, and the turns that followed",
            Self::PromptCache => "Prompts that the provider's cache had lost",
        }
    }

    /// The command that helps, and how.
    pub(crate) fn remedy(self) -> (&'static str, &'static str) {
        match self {
            Self::Commands => (
                "recoup suggest",
                "answers such commands from the cache: it saves their time, not the request",
            ),
            Self::Reads => (
                "recoup memory add 'do not read a file again that has not changed'",
                "gives agents this rule",
            ),
            Self::SubAgents => (
                "recoup init",
                "sets up the MCP server through which agents share what they have found",
            ),
            Self::Corrections => ("recoup learn", "keeps what you have said as rules"),
            Self::PromptCache => (
                "recoup memory checkpoint",
                "a new session that begins with a checkpoint has a short prompt; \
                 `recoup explain --prompt-cache` names the part that changed",
            ),
        }
    }
}

/// Times and costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WastedWork {
    pub(crate) times: u64,
    pub(crate) cost: CostSavings,
    /// Requests whose model has no known price.
    pub(crate) unpriced: u64,
}

impl WastedWork {
    pub(crate) fn add(&mut self, other: &Self) {
        let CostSavings { millis, input_tokens, output_tokens, micro_dollars } = other.cost;
        let cost = &mut self.cost;
        self.times += other.times;
        self.unpriced += other.unpriced;
        cost.millis = cost.millis.saturating_add(millis);
        cost.input_tokens = cost.input_tokens.saturating_add(input_tokens);
        cost.output_tokens = cost.output_tokens.saturating_add(output_tokens);
        cost.micro_dollars = cost.micro_dollars.saturating_add(micro_dollars);
    }
}

/// Sums by kind and subject.
#[derive(Debug)]
pub(crate) struct WasteSums<'a> {
    prices: &'a PriceTable,
    since: Timestamp,
    by_subject: BTreeMap<(WasteKind, String), WastedWork>,
    /// All requests of the period.
    pub(crate) all: WastedWork,
}

impl<'a> WasteSums<'a> {
    pub(super) fn new(prices: &'a PriceTable, since: Timestamp) -> Self {
        Self { prices, since, by_subject: BTreeMap::new(), all: WastedWork::default() }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.all.add(&other.all);
        for (subject, work) in other.by_subject {
            self.by_subject.entry(subject).or_default().add(&work);
        }
    }

    /// Subjects of a kind, the most expensive first.
    pub(crate) fn subjects(&self, kind: WasteKind) -> Vec<(&str, WastedWork)> {
        let own = self.by_subject.iter().filter(|((of, _), _)| *of == kind);
        let mut own: Vec<_> = own.map(|((_, subject), work)| (subject.as_str(), *work)).collect();
        own.sort_by_key(|(_, work)| {
            let CostSavings { micro_dollars, millis, input_tokens, .. } = work.cost;
            std::cmp::Reverse((micro_dollars, millis, input_tokens, work.times))
        });
        own
    }

    /// Counts one time, with its share of the request that asked for it.
    pub(super) fn add_call(
        &mut self,
        kind: WasteKind,
        subject: &str,
        at: Timestamp,
        millis: u64,
        request: Option<&TimedRequest>,
    ) {
        let calls = request.map_or(1, |request| request.calls.max(1));
        let mut work = request.map_or_else(WastedWork::default, |it| self.priced(&it.usage));
        let cost = &mut work.cost;
        cost.input_tokens /= calls;
        cost.output_tokens /= calls;
        cost.micro_dollars /= calls;
        cost.millis = millis;
        work.times = 1;
        self.add(kind, subject, at, &work);
    }

    /// Adds the cost of a request to a subject that is counted elsewhere.
    pub(super) fn add_request(&mut self, kind: WasteKind, subject: &str, request: &TimedRequest) {
        let work = self.priced(&request.usage);
        self.add(kind, subject, request.at, &work);
    }

    /// Counts tokens that were paid in full, or written again, instead of read from the cache.
    pub(super) fn add_cache_write(&mut self, cause: &str, tokens: u64, request: &TimedRequest) {
        let usage = &request.usage;
        let written = tokens.min(usage.cache_written);
        let is_for_hour = usage.written_for_hour.saturating_mul(2) > usage.cache_written;
        let paid = RequestUsage {
            fresh_input: tokens - written,
            cache_written: written,
            written_for_hour: if is_for_hour { written } else { 0 },
            model: usage.model.clone(),
            ..RequestUsage::default()
        };
        let read = RequestUsage {
            cache_read: tokens,
            model: usage.model.clone(),
            ..RequestUsage::default()
        };
        let (mut work, instead) = (self.priced(&paid), self.priced(&read));
        let cost = &mut work.cost;
        cost.micro_dollars = cost.micro_dollars.saturating_sub(instead.cost.micro_dollars);
        work.times = 1;
        self.add(WasteKind::PromptCache, cause, request.at, &work);
    }

    /// Adds a request to the total of the period.
    pub(super) fn add_to_total(&mut self, request: &TimedRequest) {
        if request.at >= self.since {
            let work = WastedWork { times: 1, ..self.priced(&request.usage) };
            self.all.add(&work);
        }
    }

    fn add(&mut self, kind: WasteKind, subject: &str, at: Timestamp, work: &WastedWork) {
        if at >= self.since {
            self.by_subject.entry((kind, subject.to_owned())).or_default().add(work);
        }
    }

    /// Tokens and dollars of a request. What other providers than Anthropic take for cached input
    /// differs from model to model: it counts in full.
    fn priced(&self, usage: &RequestUsage) -> WastedWork {
        let model = usage.model.as_deref().unwrap_or_default();
        let price = self.prices.price_of(model);
        let input = if model.to_lowercase().contains("claude") {
            let RequestUsage { fresh_input, cache_read, cache_written, written_for_hour, .. } =
                *usage;
            anthropic_input(fresh_input, cache_read, cache_written, written_for_hour)
        } else {
            usage.prompt()
        };
        let cost = CostSavings {
            input_tokens: usage.prompt(),
            output_tokens: usage.output,
            micro_dollars: price.map_or(0, |price| price.cost(input, usage.output)),
            ..CostSavings::default()
        };
        WastedWork { cost, unpriced: u64::from(price.is_none()), times: 0 }
    }
}
