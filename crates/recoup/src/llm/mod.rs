//! Model APIs: their endpoints (provider, URL, key and proxy), the client of conversations, cassettes,
//! and the judge that memory asks. The judge's prompts, and what they mean, are the engine's.
//!
//! Nothing is started, opened or read before a request is really sent: a hook that asks nothing
//! pays nothing.

mod anthropic;
mod cassette;
mod chat;
mod client;
mod http;
mod judge;
mod openai;
pub(crate) mod sse;
mod wire;

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::{Error, Result};
use reqwest::Url;

pub(crate) use cassette::{
    CalledServer, Cassette, CassetteFile, ExchangeBody, ExchangeContent, ExchangeRequest,
    ExchangeResponse, HOLDS_SECRET, HttpExchange, JsonTokens, RecordedExchange, describe_nearest,
    detect_in,
};
pub(crate) use chat::{
    ChatMessage, ChatReply, ChatRequest, ModelName, ModelTool, Reasoning, ReplyBlock, Sampling,
    StopReason, TokenUsage, ToolCallRequest, ToolCallResult,
};
pub(crate) use client::{ChatObserver, ModelCallLimits, ModelClient, ProviderEndpoint};
pub use judge::ModelJudge;

pub use crate::http::ProxySettings;

/// Provider of a model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelProvider {
    /// Anthropic's Messages.
    Anthropic,
    /// Chat completions of `OpenAI`, and of many compatible servers.
    OpenAi,
}

impl ModelProvider {
    /// All providers.
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAi];

    /// Name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Finds a provider by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }

    /// Default URL.
    pub fn default_url(self) -> BaseUrl {
        let url = match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        };
        BaseUrl::parse(url).expect("these two are URLs")
    }

    /// A small model: sorting sentences takes no more.
    pub fn default_model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-haiku-4-5",
            Self::OpenAi => "gpt-4.1-mini",
        }
    }
}

/// Base URL of an API, up to where its own paths begin. HTTPS or this machine only: it receives the
/// user's words and the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Parses and checks a URL.
    pub fn parse(text: &str) -> Result<Self> {
        let refused =
            |why: &str| Err(Error::usage(format!("invalid address of a model API: {why}")));
        let Ok(url) = Url::parse(text) else {
            return refused("expected https://HOST, or http://127.0.0.1:PORT");
        };
        if !url.username().is_empty() || url.password().is_some() {
            return refused(
                "it contains a user name or password; the key is read from an environment variable",
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refused("it contains a ? or a #");
        }
        let url = Self(url);
        match url.0.scheme() {
            "https" => Ok(url),
            "http" if url.is_loopback() => Ok(url),
            "http" => refused(
                "http:// is only allowed for this machine (127.0.0.1, localhost); use https://",
            ),
            _ => refused("expected https://HOST, or http://127.0.0.1:PORT"),
        }
    }

    /// True if the host is this machine.
    pub fn is_loopback(&self) -> bool {
        is_this_machine(&self.0)
    }

    /// True for HTTPS.
    fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }

    fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Host, with the port unless it is the default.
    fn host_and_port(&self) -> String {
        let port = self.0.port().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}{port}", self.host())
    }

    /// URL of `path` below the base.
    fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        url
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

/// True if the host of a URL is this machine.
pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host == "localhost", |address| address.is_loopback())
}

/// API key, never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// None if the text can't be sent in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let sendable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        sendable.then(|| Self(text.to_owned()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// A model, and how to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEndpoint {
    /// Provider whose API is spoken.
    pub provider: ModelProvider,
    /// Base URL.
    pub url: BaseUrl,
    /// Name of the model.
    pub model: String,
    /// API key; a server on this machine may need none.
    pub key: Option<ApiKey>,
    /// Time limit for an answer, to its last byte.
    pub deadline: Duration,
    /// Proxy for HTTPS.
    pub proxy: Option<ProxySettings>,
}

impl ModelEndpoint {
    /// Hash of endpoint and key, which does not reveal them.
    fn fingerprint(&self) -> String {
        let key = self.key.as_ref().map_or("", ApiKey::reveal);
        let all = [self.provider.as_str(), self.url.0.as_str(), &self.model, key].join("\n");
        Sha256Digest::of(all.as_bytes()).to_string()[..16].to_owned()
    }
}
