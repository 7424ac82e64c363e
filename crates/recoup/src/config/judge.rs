//! The model that memory asks: whether the user has agreed to it, and what it takes to ask.

use std::fmt;
use std::time::Duration;

use recoup_core::Result;

use super::gather::Gathered;
use super::{env, keys};
use crate::llm::{ApiKey, BaseUrl, Endpoint, Provider};

/// What was said about it.
#[derive(Debug, Clone)]
pub struct JudgeSettings {
    /// The user has agreed.
    pub enabled: bool,
    /// Whose API it has.
    pub provider: Provider,
    /// Which model.
    pub model: String,
    /// Where it is.
    pub url: BaseUrl,
    /// The variable that has the key.
    pub key_env: String,
    /// Tokens for each day.
    pub daily_tokens: u64,
    /// How long an answer may take.
    pub deadline: Duration,
}

/// Why nobody is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unready {
    /// The user has not agreed, or not in this project.
    NotAgreed,
    /// The variable with the key is not set.
    NoKey(String),
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAgreed => f.write_str("no model is asked: judge.enabled is false"),
            Self::NoKey(variable) => write!(f, "no model is asked: there is no key in {variable}"),
        }
    }
}

impl JudgeSettings {
    /// Who is asked. The key is looked for only where the user has agreed.
    pub fn endpoint(&self) -> Result<Result<Endpoint, Unready>> {
        if !self.enabled {
            return Ok(Err(Unready::NotAgreed));
        }
        let key = env::api_key(&self.key_env)?;
        if key.is_none() && !self.url.is_loopback() {
            return Ok(Err(Unready::NoKey(self.key_env.clone())));
        }
        Ok(Ok(self.addressed(key)))
    }

    /// Who would be asked: for counting, and with nothing that could be sent.
    pub fn without_key(&self) -> Endpoint {
        self.addressed(None)
    }

    fn addressed(&self, key: Option<ApiKey>) -> Endpoint {
        Endpoint {
            provider: self.provider,
            url: self.url.clone(),
            model: self.model.clone(),
            key,
            deadline: self.deadline,
            proxy: env::proxy(),
        }
    }
}

impl Gathered {
    pub(super) fn judge(&mut self) -> Option<JudgeSettings> {
        // All are read before any is asked for, so that every problem is found.
        let enabled = self.resolve(&keys::judge::ENABLED);
        let provider = self.resolve(&keys::judge::PROVIDER);
        let (model, url) = (self.resolve(&keys::judge::MODEL), self.resolve(&keys::judge::URL));
        let key_env = self.resolve(&keys::judge::KEY_ENV);
        let daily_tokens = self.resolve(&keys::judge::DAILY_TOKENS);
        let deadline = self.resolve(&keys::judge::DEADLINE);
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
