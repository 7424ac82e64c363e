//! The two model APIs behind one face: a request of theirs from ours, and our answer from theirs.
//!
//! A stream is put together to the body that the API would have sent without streaming, so that
//! answers are read in one place.

use recoup_core::{Error, ErrorKind};
use serde_json::Value;

use super::chat::{ChatRequest, ReplyBlock, StopReason, TokenUsage};
use super::http::{ApiFault, ApiRequest};
use super::{BaseUrl, ModelProvider, anthropic, openai};

/// Options that servers reject by name, with the words of such an objection. A request without them
/// means the same or nearly so. The order counts where an objection names two.
const REJECTABLE_OPTIONS: [(&str, &str); 11] = [
    ("response_format", "response_format"),
    ("stream_options", "stream_options"),
    ("reasoning_effort", "reasoning_effort"),
    ("reasoning_content", "reasoning_content"),
    ("max_completion_tokens", "max_tokens"),
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("repetition_penalty", "repetition_penalty"),
    ("effort", "thinking"),
    ("thinking", "thinking"),
];

/// How a request is sent, beside what it says.
#[derive(Debug, Default)]
pub(super) struct ChatOptions<'a> {
    pub(super) is_streamed: bool,
    /// Tool that the model has to call.
    pub(super) forced_tool: Option<&'a str>,
    /// Options that the server has rejected. One that has a second form is left out the second time.
    pub(super) rejected: &'a [&'static str],
}

impl ChatOptions<'_> {
    /// Number of times that the server has rejected the option.
    pub(super) fn rejections(&self, option: &str) -> usize {
        self.rejected.iter().filter(|rejected| **rejected == option).count()
    }

    /// Adds an option to the body, if it is given and the server takes it.
    pub(super) fn set<T: Into<Value>>(&self, body: &mut Value, option: &str, value: Option<T>) {
        if let Some(value) = value
            && self.rejections(option) == 0
        {
            body[option] = value.into();
        }
    }
}

/// A whole answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelAnswer {
    pub(super) blocks: Vec<ReplyBlock>,
    pub(super) end: AnswerEnd,
    /// None if the server does not say.
    pub(super) usage: Option<TokenUsage>,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerEnd {
    Stop(StopReason),
    /// The API paused a long turn, which goes on if the answer is sent back.
    Paused,
    /// No reason that is known: the server broke off.
    Cut,
}

/// A streamed answer on its way.
pub(super) trait AnswerStream {
    /// Takes the data of an event.
    fn push(&mut self, data: &str) -> Result<StreamStep, ApiFault>;
}

/// Effect of an event.
#[derive(Debug, PartialEq)]
pub(super) enum StreamStep {
    Nothing,
    /// A piece of the answer's text.
    Text(String),
    /// The end of the answer, which is this body.
    Complete(Value),
}

impl ModelProvider {
    pub(super) fn chat_request(
        self,
        url: &BaseUrl,
        model: &str,
        request: &ChatRequest,
        options: &ChatOptions<'_>,
    ) -> ApiRequest {
        match self {
            Self::Anthropic => anthropic::chat_request(model, request, options),
            Self::OpenAi => openai::chat_request(url, model, request, options),
        }
    }

    pub(super) fn answer_stream(self) -> Box<dyn AnswerStream> {
        match self {
            Self::Anthropic => Box::<anthropic::MessageStream>::default(),
            Self::OpenAi => Box::<openai::CompletionStream>::default(),
        }
    }

    /// Reads the body of a whole answer. One that was cut off is a fault, which may be over soon.
    pub(super) fn read_answer(self, body: &Value) -> Result<ModelAnswer, ApiFault> {
        let answer = match self {
            Self::Anthropic => anthropic::read_message(body),
            Self::OpenAi => openai::read_completion(body),
        };
        let answer = answer.ok_or_else(|| {
            ApiFault::invalid("the answer does not match this API: check its url and provider")
        })?;
        if answer.end == AnswerEnd::Cut {
            let error = Error::new(ErrorKind::Unavailable, "the model's answer was cut off");
            return Err(ApiFault::passing(error, true));
        }
        Ok(answer)
    }
}

/// The option of the request that the server objects to.
pub(super) fn find_rejected_option(request: &ApiRequest, objection: &str) -> Option<&'static str> {
    let is_given = |option: &str| match option {
        "reasoning_content" => {
            let messages = request.body["messages"].as_array();
            messages.is_some_and(|all| all.iter().any(|message| message.get(option).is_some()))
        }
        _ => request.body.get(option).is_some(),
    };
    let rejected =
        |(words, option): &&(&str, &'static str)| objection.contains(*words) && is_given(option);
    REJECTABLE_OPTIONS.iter().find(rejected).map(|(_, option)| *option)
}

/// Arguments of a tool call, from the text in which they came. What is no JSON stays text: the tool
/// says so to the model.
pub(super) fn parse_arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Appends `piece` to the text of a field, which is created if it is missing.
pub(super) fn append_text(object: &mut Value, field: &str, piece: &str) {
    match &mut object[field] {
        Value::String(text) => text.push_str(piece),
        other => *other = Value::String(piece.to_owned()),
    }
}

/// The data of an event as JSON.
pub(super) fn parse_event(data: &str) -> Result<Value, ApiFault> {
    let event: Result<Value, _> = serde_json::from_str(data);
    let event = event.ok().filter(Value::is_object);
    event.ok_or_else(|| ApiFault::invalid("the model's answer has an event that is not JSON"))
}

/// A fault that the server reports in the middle of a stream.
pub(super) fn stream_fault(status: u16, said: &str) -> ApiFault {
    let said = super::http::presentable(said, None);
    let message = format!("the model's answer ended with an error: {said}");
    ApiFault { may_have_cost: true, ..ApiFault::of_status(status, None, message, said) }
}
