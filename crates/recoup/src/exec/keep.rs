//! Decides whether a command's output is cached, and for how long, and reads its cost from it: the
//! time, and for clients that print them, tokens and dollars.

use std::fmt;

use recoup_core::Result;
use recoup_core::cache::{FillOutcome, FillRefusal, Permit, Ttl};
use recoup_core::entry::{Body, Draft, ProductionCost, to_micro_dollars};
use recoup_core::key::Kind;
use serde::Deserialize;

use super::record::OutputRecording;
use super::run::{CommandEnd, RunOutcome};
use super::{CacheTarget, ExecReporter};

/// Caching policy of a command.
#[derive(Debug)]
pub(crate) struct KeepPolicy {
    /// TTL of a success.
    pub(crate) ttl: Ttl,
    /// TTL of a failure.
    pub(crate) failures: Ttl,
    /// Time for which a stale result may be served while it is refreshed, in milliseconds.
    pub(crate) grace: u64,
    pub(crate) tags: Vec<String>,
    /// Size limit of an entry, in bytes.
    pub(crate) limit: u64,
    /// True if an earlier result was ignored on request.
    pub(crate) refreshes: bool,
}

impl KeepPolicy {
    /// True if any outcome would be cached.
    pub(crate) fn keeps_anything(&self) -> bool {
        self.ttl != Ttl::Off || self.failures != Ttl::Off
    }

    /// Draft of the entry, as far as it is known before the run.
    pub(crate) fn draft(&self) -> Draft {
        Draft { grace: self.grace, tags: self.tags.clone(), ..Draft::new(Kind::Command, "") }
    }

    /// True if a result with this exit code and age may be served: failures only if they are
    /// wanted.
    pub(super) fn accepts(&self, exit: i32, age: u64) -> bool {
        exit == 0 || self.failures.as_millis().is_none_or(|limit| age < limit)
    }

    /// Exit code and TTL to cache with; none if it is not cached.
    fn ttl_after(&self, end: CommandEnd) -> Option<(i32, Ttl)> {
        let (exit, ttl) = match end {
            CommandEnd::Code(0) => (0, self.ttl),
            CommandEnd::Code(exit) => (exit, self.failures),
            CommandEnd::Signal(_) => return None,
        };
        (ttl != Ttl::Off).then_some((exit, ttl))
    }
}

/// A command that has run, and where its result goes.
pub(super) struct FinishedCommand {
    pub(super) slot: CacheTarget,
    pub(super) end: CommandEnd,
    /// Duration in milliseconds.
    pub(super) took: Option<u64>,
    /// True if it was never cached before.
    pub(super) is_first: bool,
}

impl FinishedCommand {
    /// Fills the permit, or reports why not.
    pub(super) fn fill_permit(
        self,
        permit: Permit,
        outcome: RunOutcome,
        keeping: &KeepPolicy,
        reporter: &dyn ExecReporter,
    ) -> Result<()> {
        let not_cached = |why: &dyn fmt::Display| reporter.note(format_args!("not cached: {why}"));
        let record = match outcome {
            RunOutcome::Whole(record) => record,
            unkept => {
                self.release(permit, unkept.unkept_reason());
                return report_unkept(unkept, reporter);
            }
        };
        let Some((exit, ttl)) = keeping.ttl_after(self.end) else {
            self.release(permit, Some(self.end.to_string()));
            // The next caller gets an earlier success, which the failure leaves in place.
            let CacheTarget { cache, id, .. } = &self.slot;
            if keeping.refreshes && cache.head(id).is_ok_and(|head| head.is_some()) {
                reporter.note(format_args!("the earlier result stays in the cache"));
            }
            return Ok(());
        };
        let cost =
            ProductionCost { millis: self.took, ..reported_cost(&record).unwrap_or_default() };
        let streams_merged = record.streams_merged;
        let body = match record.into_body(exit) {
            Ok(body) => body,
            Err(lost) => {
                match lost.refusal() {
                    Some(refusal) => {
                        permit.release_unkept(Kind::Command, &self.slot.identity, &refusal);
                    }
                    None => permit.release(),
                }
                not_cached(&lost);
                return Ok(());
            }
        };
        // Only said the first time.
        let unwatched = match self.is_first {
            true if self.slot.is_unwatched => {
                Some("the files that this command reads are not watched".to_owned())
            }
            true => permit
                .first_ignored()
                .map(|path| format!("files that git ignores are not watched, such as {path}")),
            false => None,
        };
        match permit.fill(Draft { streams_merged, ..self.draft(body, exit, cost, keeping) }, ttl) {
            Ok(FillOutcome::Stored(_)) => {
                if let Some(unwatched) = unwatched {
                    reporter.note(format_args!("cached, but {unwatched}: name them with --source"));
                }
            }
            Ok(FillOutcome::Off) => {}
            Ok(FillOutcome::Refused(FillRefusal::SourceChanged(reason)))
                if self.slot.is_argument_file(&reason) =>
            {
                not_cached(&format_args!(
                    "{reason} while the command ran; if the command only writes it, use \
                     --no-auto-source"
                ));
            }
            Ok(FillOutcome::Refused(overtaken @ FillRefusal::Overtaken)) => {
                reporter.detail(format_args!("not cached: {overtaken}"));
            }
            Ok(FillOutcome::Refused(FillRefusal::Secret(rule))) => {
                not_cached(&format_args!("it contains a secret ({rule})"));
            }
            Ok(FillOutcome::Refused(refusal)) => not_cached(&refusal),
            Err(error) => reporter.warn(&error.context("not cached")),
        }
        Ok(())
    }

    /// Releases the permit, and records why there is no entry.
    fn release(&self, permit: Permit, why: Option<String>) {
        match why {
            Some(why) => {
                let refusal = FillRefusal::Unkept(why);
                permit.release_unkept(Kind::Command, &self.slot.identity, &refusal);
            }
            None => permit.release(),
        }
    }

    fn draft(&self, body: Body, exit: i32, cost: ProductionCost, keeping: &KeepPolicy) -> Draft {
        Draft {
            identity: self.slot.identity.clone(),
            parts: self.slot.parts.clone(),
            cost,
            body,
            failure: exit != 0,
            withheld: self.slot.withheld.clone(),
            // A failure has no grace period.
            grace: if exit == 0 { keeping.grace } else { 0 },
            ..keeping.draft()
        }
    }
}

/// Reports why the output is not cached, if the user does not know.
fn report_unkept(unkept: RunOutcome, reporter: &dyn ExecReporter) -> Result<()> {
    let why = unkept.unkept_reason();
    match (unkept, why) {
        (RunOutcome::Unwritable(error), _) => return Err(error),
        (RunOutcome::HeldOpen | RunOutcome::Typed, Some(why)) => {
            reporter.note(format_args!("not cached: {why}"));
        }
        (RunOutcome::NotHeard, Some(why)) => reporter.detail(format_args!("not cached: {why}")),
        _ => {}
    }
    Ok(())
}

/// Longer output is not parsed: no client prints that much.
const MAX_PARSED_BYTES: u64 = 8 << 20;

/// Fields of a client's output that tell the cost. Claude Code (`-p --output-format json`) prints an
/// object, or a list or lines that end with it: `{"type":"result","total_cost_usd":…,"usage":{…}}`.
/// Codex (`exec --json`) prints lines, of which `{"type":"turn.completed","usage":{…}}` ends each
/// turn.
#[derive(Debug, Default, Deserialize)]
struct UsageMessage {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

/// Token counts.
#[derive(Debug, Default, Deserialize)]
struct TokenUsage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    /// Claude Code counts these two apart from the rest of the input.
    #[serde(default, rename = "cache_creation_input_tokens")]
    put_in_cache: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    from_cache: u64,
}

/// Cost that a client printed: in output that begins as JSON.
fn reported_cost(record: &OutputRecording) -> Option<ProductionCost> {
    let stdout = record.stdout_up_to(MAX_PARSED_BYTES)?;
    let text = str::from_utf8(&stdout).ok()?.trim();
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    match text.as_bytes().first()? {
        b'{' => match serde_json::from_str::<UsageMessage>(text) {
            Ok(one) => vec![one],
            // Lines of JSON; others are skipped.
            Err(_) => text
                .lines()
                .filter(|line| line.contains("\"result\"") || line.contains("turn.completed"))
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect(),
        },
        b'[' => serde_json::from_str::<Vec<UsageMessage>>(text).ok()?,
        _ => return None,
    }
    .iter()
    .filter_map(cost_of)
    .reduce(|a, b| ProductionCost {
        millis: None,
        input_tokens: sum(a.input_tokens, b.input_tokens),
        output_tokens: sum(a.output_tokens, b.output_tokens),
        micro_dollars: sum(a.micro_dollars, b.micro_dollars),
    })
}

fn cost_of(said: &UsageMessage) -> Option<ProductionCost> {
    let UsageMessage { kind, total_cost_usd, usage } = said;
    let usage = match (kind.as_str(), usage) {
        ("result", Some(usage)) if total_cost_usd.is_some() => usage,
        ("turn.completed", Some(usage)) => usage,
        _ => return None,
    };
    let TokenUsage { input, output, put_in_cache, from_cache } = usage;
    Some(ProductionCost {
        millis: None,
        input_tokens: Some(input.saturating_add(*put_in_cache).saturating_add(*from_cache)),
        output_tokens: Some(*output),
        micro_dollars: total_cost_usd.and_then(to_micro_dollars),
    })
}
