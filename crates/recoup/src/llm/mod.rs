//! Model APIs: Anthropic's Messages, and chat completions as `OpenAI` and many others have
//! them. What is asked and what is made of the answers is the engine's business.
//!
//! Nothing here starts, opens or reads anything before a question is really sent: a
//! hook that asks nothing pays nothing.

mod anthropic;
mod client;
mod endpoint;
mod judge;
mod openai;

pub use endpoint::{ApiKey, BaseUrl, Endpoint, Provider, Proxy};
pub use judge::ModelJudge;

use recoup_core::{Error, ErrorKind};

/// What an API answered.
#[derive(Debug, PartialEq, Eq)]
struct Reply {
    /// What the model said; none where it said nothing.
    text: Option<String>,
    /// What that cost, if it was said.
    tokens: Option<u64>,
}

/// What came back is not what the API's documentation says.
fn not_the_api(error: serde_json::Error) -> Error {
    let message = "the answer is not this API's: check judge.url and judge.provider";
    Error::new(ErrorKind::Invalid, message).with_source(error)
}
