//! The model that memory asks, at a real server: one that answers well, slowly, wrongly,
//! never, and with hostile text. What is asked, what it costs, and who may say so.

mod budget;
mod consent;
mod good_answers;
mod hostile;
mod learn;
mod pauses;
mod slow;
pub(crate) mod tls;
mod wrong_answers;

use std::process::Command;
use std::time::Duration;

use recoup::llm::{ApiKey, BaseUrl, ModelEndpoint, ModelJudge, ModelProvider};
use recoup_core::base::clock::SystemClock;
use recoup_core::memory::judge::account::JudgeAccount;
use serde_json::Value;

use crate::model_server::{self as server, Server};
use crate::support::{Home, Output, finish};

/// Nothing like a real one, so that only its place in the environment makes it secret.
const KEY: &str = "key-of-the-tests-0123456789";

/// `recoup judge test TEXT --json` of a user who has agreed, at this server.
fn asking(home: &Home, server: &Server, provider: &str, text: &str) -> Command {
    let mut command = home.command(&["judge", "test", text, "--json"]);
    command
        .env("RECOUP_JUDGE_ENABLED", "true")
        .env("RECOUP_JUDGE_PROVIDER", provider)
        .env("RECOUP_JUDGE_URL", server.url())
        .env("ANTHROPIC_API_KEY", KEY)
        .env("OPENAI_API_KEY", KEY);
    command
}

fn ask(home: &Home, server: &Server, text: &str) -> Output {
    finish(&mut asking(home, server, "anthropic", text))
}

/// The only verdict.
fn verdict(home: &Home, server: &Server, text: &str) -> Value {
    let output = ask(home, server, text).expect(0);
    let mut all = output.json();
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    all[0].take()
}

fn status(home: &Home, server: &Server) -> Value {
    let mut command = home.command(&["judge", "status", "--json"]);
    command
        .env("RECOUP_JUDGE_ENABLED", "true")
        .env("RECOUP_JUDGE_URL", server.url())
        .env("ANTHROPIC_API_KEY", KEY);
    finish(&mut command).expect(0).json()
}

/// The judge itself, as the worker has it.
fn judge(home: &Home, server: &Server, daily_tokens: u64) -> ModelJudge {
    let endpoint = ModelEndpoint {
        provider: ModelProvider::Anthropic,
        url: BaseUrl::parse(&server.url()).unwrap(),
        model: "some-model".to_owned(),
        key: ApiKey::new(KEY),
        deadline: Duration::from_secs(20),
        proxy: None,
    };
    let account =
        JudgeAccount::at(home.recoup().join("judge.json"), std::sync::Arc::new(SystemClock));
    ModelJudge::new(endpoint, account, daily_tokens)
}
