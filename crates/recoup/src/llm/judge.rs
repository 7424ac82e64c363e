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

use serde_json::Value;

use super::chat::{ChatMessage, ChatRequest, ModelTool, ReplyBlock, Sampling};
use super::http::{AnswerPiece, ApiFault, ApiFaultSort, ApiTarget, HttpTransport};
use super::wire::{ChatOptions, find_rejected_option};
use super::{ModelEndpoint, ModelProvider};

/// The tool that takes the answer.
const TOOL: &str = "report";
/// Maximum size of an answer; expected are some kilobytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

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
        match self.request_answer(prompt) {
            Ok((answer, tokens)) => {
                let said = answer
                    .ok_or_else(|| Error::new(ErrorKind::Invalid, "the model's answer is empty"));
                let answer = said.and_then(|text| read(&text));
                // Best effort: an unsettled reservation stays counted.
                let _ = reserved.settle_answered(tokens, answer.as_ref().err());
                answer
            }
            Err(ApiFault { sort, error, may_have_cost }) => {
                let sort = match (sort, error.kind()) {
                    (ApiFaultSort::Passing(wait), _) => FaultSort::Passing(wait),
                    (ApiFaultSort::Lasting, ErrorKind::Unavailable) => FaultSort::Lasting,
                    // Another answer may be one, and a fault of ours may be over.
                    _ => FaultSort::Passing(None),
                };
                let fault = JudgeFault { sort, error, may_have_cost };
                let _ = reserved.settle_failed(&fault);
                Err(fault.error)
            }
        }
    }

    /// The model's text and the tokens used, each if there is any. Anthropic's API is asked for the
    /// input of a tool, so that the answer is JSON of our shape; the other one has a JSON mode.
    fn request_answer(
        &self,
        prompt: &JudgePrompt,
    ) -> Result<(Option<String>, Option<u64>), ApiFault> {
        let ModelEndpoint { provider, url, model, key, deadline, proxy } = &self.endpoint;
        let tool = ModelTool {
            name: TOOL.to_owned(),
            description: "Takes the JSON object that is the answer.".to_owned(),
            input_schema: prompt.schema.clone(),
        };
        let has_tool = *provider == ModelProvider::Anthropic;
        let question = ChatRequest {
            system: prompt.system.to_owned(),
            messages: vec![ChatMessage::User(prompt.user.clone())],
            tools: has_tool.then_some(tool).into_iter().collect(),
            sampling: Sampling::default(),
            max_output_tokens: prompt.most_output,
            reasoning: None,
            prompt_cache: false,
            wants_json: !has_tool,
        };
        let target =
            ApiTarget { url, key: key.as_ref(), proxy: proxy.as_ref(), url_setting: "judge.url" };
        let (transport, end) = (HttpTransport::default(), Deadline::after(*deadline));
        let mut rejected = Vec::new();
        let body = loop {
            let options = ChatOptions {
                is_streamed: false,
                forced_tool: has_tool.then_some(TOOL),
                rejected: &rejected,
            };
            let mut request = provider.chat_request(url, model, &question, &options);
            request.max_bytes = MAX_ANSWER_BYTES;
            let exchange = transport.post(target, &request)?;
            match exchange.next(end.remaining()) {
                Some(Ok(AnswerPiece::Whole(body))) => break body,
                Some(Ok(_)) => break Vec::new(),
                Some(Err(fault)) => match &fault.sort {
                    ApiFaultSort::Rejected(said) => match find_rejected_option(&request, said) {
                        Some(option) => rejected.push(option),
                        None => return Err(fault),
                    },
                    _ => return Err(fault),
                },
                None => {
                    let (host, time) = (url.host_and_port(), deadline.as_millis());
                    let message =
                        format!("{host} did not answer within {time} ms (judge.deadline)");
                    let error = Error::new(ErrorKind::Unavailable, message);
                    return Err(ApiFault::passing(error, true));
                }
            }
        };
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let answer = provider.read_answer(&body)?;
        let called = answer.blocks.iter().find_map(|block| match block {
            ReplyBlock::ToolCall(call) => Some(call.arguments.to_string()),
            _ => None,
        });
        let spoken = || {
            answer.blocks.iter().find_map(|block| match block {
                ReplyBlock::Text { text } => Some(text.clone()),
                _ => None,
            })
        };
        let tokens = answer.usage.map(|usage| usage.input.saturating_add(usage.output));
        Ok((called.or_else(spoken), tokens))
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
