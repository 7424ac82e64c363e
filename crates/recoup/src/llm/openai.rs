//! Chat completions: <https://platform.openai.com/docs/api-reference/chat>, as `OpenAI` has
//! them, and Ollama, vLLM, llama.cpp, Mistral, Groq and many others.

use recoup_core::Error;
use recoup_core::memory::judge::JudgePrompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::ApiRequest;
use super::endpoint::ModelEndpoint;
use super::{ModelReply, unexpected_answer_error};

/// Host that has renamed `max_tokens`, and refuses the old name.
const OPENAI_HOST: &str = "api.openai.com";

/// Field of the JSON mode, as named by servers that reject it.
pub(super) const JSON_MODE_FIELD: &str = "response_format";

/// Requested format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerFormat {
    /// A JSON object, and the server sees to it.
    Json,
    /// Whatever the model says.
    Any,
}

#[derive(Serialize)]
struct OpenAiRequest<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    messages: [OpenAiMessage<'a>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<OpenAiResponseFormat>,
}

#[derive(Serialize)]
struct OpenAiMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct OpenAiResponseFormat {
    r#type: &'static str,
}

#[derive(Deserialize)]
struct OpenAiResponse {
    choices: Vec<OpenAiChoice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct OpenAiChoice {
    message: OpenAiReplyMessage,
}

#[derive(Deserialize)]
struct OpenAiReplyMessage {
    content: Option<String>,
}

pub(super) fn build_request(
    endpoint: &ModelEndpoint,
    prompt: &JudgePrompt,
    form: AnswerFormat,
) -> ApiRequest {
    let (most, own_name) = (Some(prompt.most_output), endpoint.url.host() == OPENAI_HOST);
    let question = OpenAiRequest {
        model: &endpoint.model,
        max_tokens: most.filter(|_| !own_name),
        max_completion_tokens: most.filter(|_| own_name),
        messages: [
            OpenAiMessage { role: "system", content: prompt.system },
            OpenAiMessage { role: "user", content: &prompt.user },
        ],
        response_format: (form == AnswerFormat::Json)
            .then_some(OpenAiResponseFormat { r#type: "json_object" }),
    };
    ApiRequest {
        url: endpoint.url.join("chat/completions"),
        headers: &[],
        key_header: ("authorization", "Bearer "),
        body: serde_json::to_vec(&question).expect("text and numbers always serialize"),
    }
}

pub(super) fn parse_reply(body: &[u8]) -> Result<ModelReply, Error> {
    let OpenAiResponse { choices, usage } =
        serde_json::from_slice(body).map_err(unexpected_answer_error)?;
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    let parts = || Some(number("prompt_tokens")?.saturating_add(number("completion_tokens")?));
    let text = choices.into_iter().find_map(|choice| choice.message.content);
    Ok(ModelReply { text, tokens: parts().max(number("total_tokens")) })
}
