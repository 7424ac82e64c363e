//! The judge that memory asks: a model, within a budget that all processes share. Created only if
//! the user has agreed.

use recoup_core::base::clock::Deadline;
use recoup_core::memory::judge::account::{
    AccountStatus, FaultSort, JudgeAccount, JudgeFault, JudgeTerms,
};
use recoup_core::memory::judge::{
    JudgeCandidate, JudgePrompt, JudgeVerdict, MOST_CANDIDATES, MemoryJudge, SessionLearning,
    SessionTail, UndecidedReason,
};
use recoup_core::{Error, ErrorKind, Result};

use super::client::{self, ApiRequestError};
use super::wire::{self, AnswerFormat, ModelReply};
use super::{ModelEndpoint, ModelProvider};

/// A model that is asked over HTTP.
#[derive(Debug)]
pub struct ModelJudge {
    endpoint: ModelEndpoint,
    account: JudgeAccount,
    terms: JudgeTerms,
}

impl ModelJudge {
    /// Creates a judge that asks `endpoint`, for at most `daily_tokens`, which `account` counts.
    /// Calls block and have their own runtime: from async code, use a thread for blocking work.
    pub fn new(endpoint: ModelEndpoint, account: JudgeAccount, daily_tokens: u64) -> Self {
        let terms = JudgeTerms {
            daily_tokens,
            fingerprint: endpoint.fingerprint(),
            deadline: endpoint.deadline,
            insists: false,
        };
        Self { endpoint, account, terms }
    }

    /// Ignores a pause after faults, but not the budget: for a person who tests if it answers.
    #[must_use]
    pub fn ignoring_pause(mut self) -> Self {
        self.terms.insists = true;
        self
    }

    /// The endpoint that is asked.
    pub fn endpoint(&self) -> &ModelEndpoint {
        &self.endpoint
    }

    /// Usage so far, and if the model would be asked now.
    pub fn standing(&self) -> Result<AccountStatus> {
        self.account.status(&self.terms)
    }

    /// Asks the model, and counts the cost whatever the outcome.
    fn ask<T>(&self, prompt: &JudgePrompt, read: impl FnOnce(&str) -> Result<T>) -> Result<T> {
        let reserved = self.account.reserve(&self.terms, prompt.most_tokens())?;
        match self.request_reply(prompt) {
            Ok(ModelReply { text, tokens }) => {
                let silent = || Error::new(ErrorKind::Invalid, "the model's answer is empty");
                let answer = text.ok_or_else(silent).and_then(|text| read(&text));
                // Best effort: an unsettled reservation stays counted.
                let _ = reserved.settle_answered(tokens, answer.as_ref().err());
                answer
            }
            Err(fault) => {
                let _ = reserved.settle_failed(&fault);
                Err(fault.error)
            }
        }
    }

    fn request_reply(&self, prompt: &JudgePrompt) -> Result<ModelReply, JudgeFault> {
        let endpoint = &self.endpoint;
        let body = match endpoint.provider {
            ModelProvider::Anthropic => {
                let request = wire::anthropic_request(endpoint, prompt);
                client::post(endpoint, request, endpoint.deadline)
            }
            ModelProvider::OpenAi => {
                let deadline = Deadline::after(endpoint.deadline);
                let post = |form| {
                    let request = wire::openai_request(endpoint, prompt, form);
                    client::post(endpoint, request, deadline.remaining())
                };
                match post(AnswerFormat::Json) {
                    // Some compatible servers reject the JSON mode: then the prompt alone has to
                    // ensure JSON.
                    Err(ApiRequestError { objection: Some(said), .. })
                        if said.contains(wire::JSON_MODE_FIELD) =>
                    {
                        post(AnswerFormat::Any)
                    }
                    answer => answer,
                }
            }
        };
        let body = body.map_err(|failed| failed.fault)?;
        let reply = match endpoint.provider {
            ModelProvider::Anthropic => wire::anthropic_reply(&body),
            ModelProvider::OpenAi => wire::openai_reply(&body),
        };
        let wrong =
            |error| JudgeFault { sort: FaultSort::Passing(None), error, may_have_cost: true };
        reply.map_err(wrong)
    }
}

impl MemoryJudge for ModelJudge {
    fn classify(&self, candidates: &[JudgeCandidate]) -> Result<Vec<JudgeVerdict>> {
        let mut verdicts = Vec::with_capacity(candidates.len());
        for some in candidates.chunks(MOST_CANDIDATES) {
            let said =
                self.ask(&JudgePrompt::classify(some), |answer| JudgeVerdict::parse(answer, some));
            match said {
                Ok(said) => verdicts.extend(said),
                Err(error) if verdicts.is_empty() => return Err(error),
                // Earlier verdicts count.
                Err(_) => break,
            }
        }
        verdicts.resize(candidates.len(), JudgeVerdict::Undecided(UndecidedReason::Unsaid));
        Ok(verdicts)
    }

    fn learn(&self, tail: &SessionTail) -> Result<Vec<SessionLearning>> {
        self.ask(&JudgePrompt::learn(tail), |answer| SessionLearning::parse(answer, tail))
    }
}
