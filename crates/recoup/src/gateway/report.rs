//! Outcome of a request, as the header `Recoup-Cache`, the access log and the metrics say it.

use std::fmt;

use hyper::Response;
use hyper::header::HeaderValue;
use recoup_core::key::Key;
use tokio::time::Instant;

use super::meter::{MeteredBody, TokenCell};

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CacheStatus {
    Hit,
    Stale,
    Miss,
    Bypass,
}

impl CacheStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Stale => "stale",
            Self::Miss => "miss",
            Self::Bypass => "bypass",
        }
    }
}

/// Outcome of a request, with its reason and what it saved.
#[derive(Debug, Clone)]
pub(super) struct CacheReport {
    pub(super) status: CacheStatus,
    pub(super) reason: Option<String>,
    pub(super) key: Option<Key>,
    /// Age of the served answer in seconds.
    pub(super) age: Option<u64>,
    pub(super) saved_tokens: u64,
    pub(super) saved_micro_dollars: Option<u64>,
    /// Tokens of the answer, once they are known.
    pub(super) tokens: TokenCell,
    /// Times at which this request's upstream was asked, and began to answer.
    pub(super) upstream_call: Option<(Instant, Instant)>,
}

impl CacheReport {
    /// A report without an answer from the cache.
    pub(super) fn unserved(
        status: CacheStatus,
        key: Option<Key>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            status,
            reason: Some(reason.into()),
            key,
            age: None,
            saved_tokens: 0,
            saved_micro_dollars: None,
            tokens: TokenCell::default(),
            upstream_call: None,
        }
    }

    /// Adds that the upstream was asked at that time, and gives this answer now.
    pub(super) fn asked_at(self, asked: Instant, answer: &Response<MeteredBody>) -> Self {
        let (upstream_call, tokens) = (Some((asked, Instant::now())), answer.body().tokens());
        Self { tokens, upstream_call, ..self }
    }

    /// Value of the header.
    pub(super) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.to_string())
            .unwrap_or_else(|_| HeaderValue::from_static(self.status.as_str()))
    }
}

impl fmt::Display for CacheReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.status.as_str())?;
        if let Some(key) = &self.key {
            write!(f, "; key={key}")?;
        }
        if let Some(age) = self.age {
            write!(f, "; age={age}; saved-tokens={}", self.saved_tokens)?;
        }
        if let Some(saved) = self.saved_micro_dollars {
            write!(f, "; saved-usd={}.{:06}", saved / 1_000_000, saved % 1_000_000)?;
        }
        match &self.reason {
            // As RFC 9110 quotes text.
            Some(reason) => {
                let quoted = reason.replace('\\', "\\\\").replace('"', "\\\"");
                write!(
                    f,
                    "; reason=\"{}\"",
                    quoted.replace(|c: char| !(' '..='~').contains(&c), "?")
                )
            }
            None => Ok(()),
        }
    }
}
