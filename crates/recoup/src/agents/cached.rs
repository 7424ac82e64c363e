//! The cache of agents' answers: [`AnswerSlot::look_up_answer`] before an agent runs, and
//! [`AnswerSlot::keep_answer`] after it. Nothing else reads or writes answers.

use std::time::Duration;

use recoup_core::cache::{
    Cache, CacheMode, FillOutcome, FillRefusal, LookupExplanation, LookupRequest, MissReason,
    Outcome, PathContext, Permit, Ttl, WaitPolicy,
};
use recoup_core::entry::{Body, Draft, Entry, ProducerIdentity};
use recoup_core::key::{EntryId, KeyPart, Kind};
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, ErrorKind, Result};

use super::answer::{AgentAnswer, AnswerOrigin, RunCost};
use super::observer::RunObserver;
use super::output::AnswerCheck;

/// How long to wait for another run that works on the same answer.
const MAX_WAIT: Duration = Duration::from_mins(10);

/// The place of an answer in the cache, and the conditions for its use.
#[derive(Debug)]
pub(crate) struct AnswerSlot {
    pub(super) cache: Cache,
    pub(super) kind: Kind,
    pub(super) id: EntryId,
    pub(super) identity: ProducerIdentity,
    pub(super) parts: Vec<KeyPart>,
    pub(super) paths: PathContext,
    pub(super) sources: Vec<String>,
    pub(super) tags: Vec<String>,
    /// Off if answers are not cached.
    pub(super) ttl: Ttl,
    pub(super) mode: CacheMode,
    pub(super) max_age: Option<Ttl>,
    /// Values that must not be stored.
    pub(super) withheld: SecretValues,
}

/// Result of a look-up.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a run")]
pub(super) enum AnswerLookup {
    Hit(AgentAnswer),
    /// The agent runs; its answer is kept only with a permit.
    Run(Option<Permit>),
}

impl AnswerSlot {
    /// Id of the entry.
    pub(crate) fn id(&self) -> &EntryId {
        &self.id
    }

    /// Looks up the answer, which has to pass `check`. While another run works on the same one, this waits for it. An error of
    /// kind `Absent` if only a cached answer is wanted, and there is none.
    pub(super) fn look_up_answer(
        &self,
        check: Option<&AnswerCheck>,
        observer: &dyn RunObserver,
    ) -> Result<AnswerLookup> {
        let announce = || {
            let agent = self.identity.name.as_deref().unwrap_or("the agent");
            observer.notice(format_args!("waiting for another run of {agent} that asks the same"));
        };
        let wait =
            WaitPolicy { wait: Some(MAX_WAIT), leaders: None, on_long_wait: Some(&announce) };
        let outcome = match self.cache.lookup(&self.request(self.mode, wait)) {
            Ok(Outcome::Hit(entry) | Outcome::Stale(entry, _)) => match self.read_answer(&entry) {
                Ok(answer) if check.is_none_or(|check| check.read(&answer.text).is_ok()) => {
                    return Ok(AnswerLookup::Hit(answer));
                }
                _ if self.mode == CacheMode::OnlyIfCached => {
                    Ok(Outcome::Bypass(MissReason::Absent))
                }
                // Damaged, or of another shape under the user's own key: it is replaced.
                _ => self.cache.lookup(&self.request(CacheMode::Refresh, wait)),
            },
            outcome => outcome,
        };
        let reason = match outcome {
            Ok(Outcome::Miss(permit, MissReason::Unavailable(error))) => {
                observer.warn(&error);
                // A store that could not answer is not asked to store anything.
                permit.release();
                MissReason::Absent
            }
            Ok(Outcome::Miss(permit, _)) => return Ok(AnswerLookup::Run(Some(permit))),
            Ok(Outcome::Bypass(reason)) => reason,
            Ok(Outcome::Hit(_) | Outcome::Stale(..)) => MissReason::Absent,
            Err(error) if error.kind() == ErrorKind::Usage => return Err(error),
            Err(error) => {
                observer.warn(&error.context("the answer is not cached"));
                MissReason::Absent
            }
        };
        if self.mode == CacheMode::OnlyIfCached {
            let message = format!("not in the cache: {reason}");
            return Err(Error::new(ErrorKind::Absent, message));
        }
        Ok(AnswerLookup::Run(None))
    }

    /// Keeps an answer with the conversation that led to it. Never fails the run: there is an answer.
    pub(super) fn keep_answer(
        &self,
        permit: Permit,
        answer: &AgentAnswer,
        observer: &dyn RunObserver,
    ) {
        let AnswerOrigin::Fresh(history) = &answer.origin else { return permit.release() };
        let empty = answer.text.trim().is_empty().then(|| "it is empty".to_owned());
        if let Some(why) = empty.or_else(|| answer.missing.clone()) {
            observer.detail(format_args!("the answer is not cached: {why}"));
            let refusal = FillRefusal::Unkept(why);
            return permit.release_unkept(self.kind, &self.identity, &refusal);
        }
        let history = serde_json::to_vec(history).expect("messages always serialize");
        let draft = Draft {
            full: Some(Body::from(history)),
            identity: self.identity.clone(),
            parts: self.parts.clone(),
            tags: self.tags.clone(),
            cost: answer.paid.to_production_cost(),
            withheld: self.withheld.clone(),
            ..Draft::new(self.kind, answer.text.clone())
        };
        match permit.fill(draft, self.ttl) {
            Ok(FillOutcome::Stored(_) | FillOutcome::Off) => {}
            Ok(FillOutcome::Refused(refusal)) => {
                observer.notice(format_args!("the answer is not cached: {refusal}"));
            }
            Err(error) => observer.warn(&error.context("the answer is not cached")),
        }
    }

    /// Explains how a look-up would end.
    pub(crate) fn explain(&self) -> LookupExplanation {
        self.cache.explain(&self.request(self.mode, WaitPolicy::default()))
    }

    fn request<'a>(&'a self, mode: CacheMode, wait_policy: WaitPolicy<'a>) -> LookupRequest<'a> {
        // Without a TTL, nothing is served either.
        let mode = if self.ttl == Ttl::Off && mode != CacheMode::OnlyIfCached {
            CacheMode::Bypass
        } else {
            mode
        };
        LookupRequest {
            identity: Some(&self.identity),
            parts: &self.parts,
            sources: &self.sources,
            ttl: self.ttl.as_millis().filter(|ttl| *ttl > 0),
            max_age: self.max_age.and_then(Ttl::as_millis),
            withheld: Some(&self.withheld),
            mode,
            wait_policy,
            ..LookupRequest::new(self.kind, &self.id, &self.paths)
        }
    }

    fn read_answer(&self, entry: &Entry) -> Result<AgentAnswer> {
        let header = &entry.head().header;
        let text = String::from_utf8(entry.body().to_bytes()?.into()).map_err(|error| {
            Error::new(ErrorKind::Corrupt, "the cached answer is not text").with_source(error)
        })?;
        let age_millis = self.cache.clock().now().millis_since(header.created);
        Ok(AgentAnswer {
            text,
            origin: AnswerOrigin::Cached { age_millis, saved: header.cost },
            paid: RunCost::default(),
            missing: None,
        })
    }
}
