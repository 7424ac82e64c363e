//! Chat completions: <https://platform.openai.com/docs/api-reference/chat>, as `OpenAI` has
//! them, and Ollama, vLLM, llama.cpp, Mistral, Groq and many others.

use recoup_core::Error;
use recoup_core::memory::judge::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::Request;
use super::endpoint::Endpoint;
use super::{Reply, not_the_api};

/// Host that has renamed `max_tokens`, and refuses the old name.
const OPENAI: &str = "api.openai.com";

/// Field of the JSON mode, as named by servers that reject it.
pub(super) const FORMAT: &str = "response_format";

/// Requested format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A JSON object, and the server sees to it.
    Json,
    /// Whatever the model says.
    Any,
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    messages: [Message<'a>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Format {
    r#type: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice {
    message: Spoken,
}

#[derive(Deserialize)]
struct Spoken {
    content: Option<String>,
}

pub(super) fn request(endpoint: &Endpoint, prompt: &Prompt, form: Form) -> Request {
    let (most, own_name) = (Some(prompt.most_output), endpoint.url.host() == OPENAI);
    let question = Question {
        model: &endpoint.model,
        max_tokens: most.filter(|_| !own_name),
        max_completion_tokens: most.filter(|_| own_name),
        messages: [
            Message { role: "system", content: prompt.system },
            Message { role: "user", content: &prompt.user },
        ],
        response_format: (form == Form::Json).then_some(Format { r#type: "json_object" }),
    };
    Request {
        url: endpoint.url.at("chat/completions"),
        headers: &[],
        key_header: ("authorization", "Bearer "),
        body: serde_json::to_vec(&question).expect("text and numbers always serialize"),
    }
}

pub(super) fn reply(body: &[u8]) -> Result<Reply, Error> {
    let Answer { choices, usage } = serde_json::from_slice(body).map_err(not_the_api)?;
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    let parts = || Some(number("prompt_tokens")?.saturating_add(number("completion_tokens")?));
    let text = choices.into_iter().find_map(|choice| choice.message.content);
    Ok(Reply { text, tokens: parts().max(number("total_tokens")) })
}
