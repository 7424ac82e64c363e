//! The judge that memory asks: a model, within a budget that all processes share. Created only if
//! the user has agreed.

use recoup_core::base::clock::Deadline;
use recoup_core::memory::judge::account::{Account, Fault, FaultSort, Standing, Terms};
use recoup_core::memory::judge::{
    Candidate, Judge, Learning, MOST_CANDIDATES, Prompt, Tail, Undecided, Verdict,
};
use recoup_core::{Error, ErrorKind, Result};

use super::client::Failed;
use super::endpoint::{Endpoint, Provider};
use super::openai::Form;
use super::{Reply, anthropic, client, openai};

/// A model that is asked over HTTP.
#[derive(Debug)]
pub struct ModelJudge {
    endpoint: Endpoint,
    account: Account,
    terms: Terms,
}

impl ModelJudge {
    /// Creates a judge that asks `endpoint`, for at most `daily_tokens`, which `account` counts.
    /// Calls block and have their own runtime: from async code, use a thread for blocking work.
    pub fn new(endpoint: Endpoint, account: Account, daily_tokens: u64) -> Self {
        let terms = Terms {
            daily_tokens,
            fingerprint: endpoint.fingerprint(),
            deadline: endpoint.deadline,
            insists: false,
        };
        Self { endpoint, account, terms }
    }

    /// Ignores a pause after faults, but not the budget: for a person who tests if it answers.
    #[must_use]
    pub fn insisting(mut self) -> Self {
        self.terms.insists = true;
        self
    }

    /// The endpoint that is asked.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Usage so far, and if the model would be asked now.
    pub fn standing(&self) -> Result<Standing> {
        self.account.standing(&self.terms)
    }

    /// Asks the model, and counts the cost whatever the outcome.
    fn ask<T>(&self, prompt: &Prompt, read: impl FnOnce(&str) -> Result<T>) -> Result<T> {
        let reserved = self.account.reserve(&self.terms, prompt.most_tokens())?;
        match self.exchange(prompt) {
            Ok(Reply { text, tokens }) => {
                let silent = || Error::new(ErrorKind::Invalid, "the model said nothing");
                let answer = text.ok_or_else(silent).and_then(|text| read(&text));
                // Best effort: an unsettled reservation stays counted.
                let _ = reserved.answered(tokens, answer.as_ref().err());
                answer
            }
            Err(fault) => {
                let _ = reserved.failed(&fault);
                Err(fault.error)
            }
        }
    }

    fn exchange(&self, prompt: &Prompt) -> Result<Reply, Fault> {
        let endpoint = &self.endpoint;
        let reply = match endpoint.provider {
            Provider::Anthropic => {
                let request = anthropic::request(endpoint, prompt);
                let body = client::post(endpoint, request, endpoint.deadline);
                anthropic::reply(&body.map_err(|failed| failed.fault)?)
            }
            Provider::OpenAi => openai::reply(&self.completion(prompt)?),
        };
        let wrong = |error| Fault { sort: FaultSort::Passing(None), error, may_have_cost: true };
        reply.map_err(wrong)
    }

    /// Some compatible servers reject the JSON mode: then the prompt alone has to ensure JSON.
    fn completion(&self, prompt: &Prompt) -> Result<Vec<u8>, Fault> {
        let deadline = Deadline::after(self.endpoint.deadline);
        let post = |form| {
            let request = openai::request(&self.endpoint, prompt, form);
            client::post(&self.endpoint, request, deadline.remaining())
        };
        let answer = match post(Form::Json) {
            Err(Failed { objection: Some(said), .. }) if said.contains(openai::FORMAT) => {
                post(Form::Any)
            }
            answer => answer,
        };
        answer.map_err(|failed| failed.fault)
    }
}

impl Judge for ModelJudge {
    fn classify(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>> {
        let mut verdicts = Vec::with_capacity(candidates.len());
        for some in candidates.chunks(MOST_CANDIDATES) {
            let said = self.ask(&Prompt::classify(some), |answer| Verdict::parse(answer, some));
            match said {
                Ok(said) => verdicts.extend(said),
                Err(error) if verdicts.is_empty() => return Err(error),
                // Earlier verdicts count.
                Err(_) => break,
            }
        }
        verdicts.resize(candidates.len(), Verdict::Undecided(Undecided::Unsaid));
        Ok(verdicts)
    }

    fn learn(&self, tail: &Tail) -> Result<Vec<Learning>> {
        self.ask(&Prompt::learn(tail), |answer| Learning::parse(answer, tail))
    }
}
