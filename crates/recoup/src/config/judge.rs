//! Settings of the judge: consent, and what is needed to ask the model.

use std::fmt;
use std::time::Duration;

use recoup_core::Result;

use super::gather::GatheredConfig;
use super::{env, keys};
use crate::llm::{ApiKey, BaseUrl, ModelEndpoint, ModelProvider};

/// Settings of the judge.
#[derive(Debug, Clone)]
pub struct JudgeSettings {
    /// True if the user has consented.
    pub enabled: bool,
    /// API of the provider.
    pub provider: ModelProvider,
    /// Name of the model.
    pub model: String,
    /// Base URL of the API.
    pub url: BaseUrl,
    /// Environment variable that has the API key.
    pub key_env: String,
    /// Token budget for each day.
    pub daily_tokens: u64,
    /// Time limit for an answer.
    pub deadline: Duration,
}

/// Reason for not asking the judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeUnreadyReason {
    /// The user has not consented, or not in this project.
    NotAgreed,
    /// The variable with the key is not set.
    NoKey(String),
}

impl fmt::Display for JudgeUnreadyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAgreed => f.write_str("no model is asked: judge.enabled is false"),
            Self::NoKey(variable) => write!(f, "no model is asked: no API key in {variable}"),
        }
    }
}

impl JudgeSettings {
    /// The endpoint to ask. The key is read only if the user has consented.
    pub fn endpoint(&self) -> Result<Result<ModelEndpoint, JudgeUnreadyReason>> {
        if !self.enabled {
            return Ok(Err(JudgeUnreadyReason::NotAgreed));
        }
        let key = env::api_key(&self.key_env)?;
        if key.is_none() && !self.url.is_loopback() {
            return Ok(Err(JudgeUnreadyReason::NoKey(self.key_env.clone())));
        }
        Ok(Ok(self.endpoint_with_key(key)))
    }

    /// The endpoint without a key: for accounting, not for requests.
    pub fn without_key(&self) -> ModelEndpoint {
        self.endpoint_with_key(None)
    }

    fn endpoint_with_key(&self, key: Option<ApiKey>) -> ModelEndpoint {
        ModelEndpoint {
            provider: self.provider,
            url: self.url.clone(),
            model: self.model.clone(),
            key,
            deadline: self.deadline,
            proxy: env::proxy(),
        }
    }
}

impl GatheredConfig {
    pub(super) fn resolve_judge(&mut self) -> Option<JudgeSettings> {
        // Resolve all before the first `?`, so that every problem is found.
        let enabled = self.resolve(&keys::JUDGE_ENABLED);
        let provider = self.resolve(&keys::JUDGE_PROVIDER);
        let (model, url) = (self.resolve(&keys::JUDGE_MODEL), self.resolve(&keys::JUDGE_URL));
        let key_env = self.resolve(&keys::JUDGE_KEY_ENV);
        let daily_tokens = self.resolve(&keys::JUDGE_DAILY_TOKENS);
        let deadline = self.resolve(&keys::JUDGE_DEADLINE);
        let provider = provider?;
        Some(JudgeSettings {
            enabled: enabled?,
            provider,
            model: model.unwrap_or_else(|| provider.default_model().to_owned()),
            url: url.unwrap_or_else(|| provider.default_url()),
            key_env: key_env.unwrap_or_else(|| env::key_variable(provider).to_owned()),
            daily_tokens: daily_tokens?,
            deadline: deadline?,
        })
    }
}
