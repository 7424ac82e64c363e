//! Model APIs: Anthropic's Messages, and chat completions as `OpenAI` and many others have them.
//! Prompts, and the interpretation of answers, are the engine's.
//!
//! Nothing is started, opened or read before a request is really sent: a hook that asks nothing
//! pays nothing.

mod anthropic;
mod client;
mod endpoint;
mod judge;
mod openai;

pub use endpoint::{ApiKey, BaseUrl, ModelEndpoint, ModelProvider, ProxySettings};
pub use judge::ModelJudge;

use recoup_core::{Error, ErrorKind};

/// Answer of a model API.
#[derive(Debug, PartialEq, Eq)]
struct ModelReply {
    /// Text of the model, if any.
    text: Option<String>,
    /// Number of tokens used, if reported.
    tokens: Option<u64>,
}

/// Error for an answer that does not match the API's documentation.
fn unexpected_answer_error(error: serde_json::Error) -> Error {
    let message = "the answer is not this API's: check judge.url and judge.provider";
    Error::new(ErrorKind::Invalid, message).with_source(error)
}
