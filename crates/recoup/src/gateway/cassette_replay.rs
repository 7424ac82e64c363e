//! `--replay`: requests are answered from a cassette, and nobody is asked.

use std::path::Path;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use parking_lot::Mutex;
use recoup_core::key::Kind;
use recoup_core::key::model_request::TextNormaliser;
use recoup_core::{Error, Result};

use super::body::AnswerBody;
use super::exchanges::ExchangeIdentity;
use super::recording::RecordedAnswer;
use super::refusal::GatewayRefusal;
use super::report::{CacheReport, CacheStatus};
use super::response::translate;
use crate::llm::{
    CassetteFile, ExchangeRequest, ExchangeResponse, HttpExchange, ModelProvider, describe_nearest,
};

/// Answers from a cassette.
#[derive(Debug)]
pub(crate) struct CassetteReplay {
    file: CassetteFile,
    normalisers: Vec<TextNormaliser>,
    known: Vec<KnownExchange>,
    use_counts: Mutex<ReplayCounts>,
}

/// A recorded exchange.
#[derive(Debug)]
struct KnownExchange {
    /// Place in the file, from 0.
    at: usize,
    identity: ExchangeIdentity,
}

/// Use of a cassette so far.
#[derive(Debug, Default)]
struct ReplayCounts {
    /// True for each known exchange that was used.
    used: Vec<bool>,
    /// Requests that were not found.
    missed: usize,
}

/// Result of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplaySummary {
    pub(crate) recorded: usize,
    pub(crate) unused: usize,
    pub(crate) missed: usize,
}

impl CassetteReplay {
    pub(crate) fn open(path: &Path, normalisers: &[TextNormaliser]) -> Result<Self> {
        let file = CassetteFile::read(path)?.whole()?;
        let http = |(at, exchange): (usize, &crate::llm::RecordedExchange)| {
            let identity = ExchangeIdentity::of(&exchange.http()?.request, normalisers);
            Some(KnownExchange { at, identity })
        };
        let known: Vec<_> = file.exchanges.iter().enumerate().filter_map(http).collect();
        if known.is_empty() && !file.exchanges.is_empty() {
            let message =
                format!("{} was recorded by a run: use `recoup run --replay`", path.display());
            return Err(Error::usage(message));
        }
        let counts = ReplayCounts { used: vec![false; known.len()], missed: 0 };
        let (normalisers, use_counts) = (normalisers.to_vec(), Mutex::new(counts));
        Ok(Self { file, normalisers, known, use_counts })
    }

    /// Upstreams of the recorded requests, with the APIs that they speak.
    pub(crate) fn upstreams(&self) -> Vec<(String, ModelProvider)> {
        let of = |exchange: &HttpExchange| {
            let ExchangeRequest { upstream, api, .. } = &exchange.request;
            let api = ModelProvider::parse(api.as_ref().unwrap_or(upstream))?;
            Some((upstream.clone(), api))
        };
        let exchanges = self.file.exchanges.iter().filter_map(|it| it.http());
        exchanges.filter_map(of).collect()
    }

    /// Answers a request: in the form that it asks for, or from another one where that is exact. Recorded answers
    /// come in their order, then the last one again.
    pub(super) fn answer(
        &self,
        request: &ExchangeRequest,
    ) -> Result<Response<AnswerBody>, GatewayRefusal> {
        let asked = ExchangeIdentity::of(request, &self.normalisers);
        let mut counts = self.use_counts.lock();
        let same: Vec<usize> = (0..self.known.len())
            .filter(|number| self.known[*number].identity.question == asked.question)
            .collect();
        let has_form = |number: &&usize| self.known[**number].identity.form == asked.form;
        let in_form = pick(same.iter().filter(has_form), &counts.used);
        let found = in_form.map(|number| (number, self.recorded(number))).or_else(|| {
            let made = |number: &&usize| self.translated(**number, &asked).is_some();
            let number = pick(same.iter().filter(made), &counts.used)?;
            Some((number, self.translated(number, &asked)?))
        });
        let Some((number, recorded)) = found else {
            counts.missed += 1;
            return Err(self.refuse(request, &asked));
        };
        counts.used[number] = true;
        let RecordedAnswer { headers, body, .. } = recorded;
        let mut response = Response::new(AnswerBody::whole(body));
        *response.status_mut() = StatusCode::from_u16(self.status(number)).unwrap_or_default();
        *response.headers_mut() = headers;
        let name = self.file.path.file_name().unwrap_or_default().to_string_lossy();
        let reason = format!("replay of number {} of {name}", self.known[number].at + 1);
        let report = CacheReport::unserved(CacheStatus::Hit, None, reason);
        response.extensions_mut().insert(report);
        Ok(response)
    }

    /// Refuses a request that can't be recorded either.
    pub(super) fn refuse_upgrade(&self) -> GatewayRefusal {
        self.use_counts.lock().missed += 1;
        GatewayRefusal::not_recorded("upgraded connections are not recorded".to_owned())
    }

    fn refuse(&self, request: &ExchangeRequest, asked: &ExchangeIdentity) -> GatewayRefusal {
        let known = self.known.iter().map(|known| (known.at + 1, known.identity.parts.clone()));
        let why = describe_nearest(Kind::ModelRequest, known, &asked.parts);
        let (path, what) = (self.file.path.display(), request.describe());
        GatewayRefusal::not_recorded(format!(
            "{path} has no recording of this request ({what}): {why}. To record all of them again: recoup gateway --record {path}"
        ))
    }

    fn exchange(&self, number: usize) -> Option<&HttpExchange> {
        self.file.exchanges[self.known[number].at].http()
    }

    fn status(&self, number: usize) -> u16 {
        self.exchange(number).map_or(200, |exchange| exchange.response.status)
    }

    fn recorded(&self, number: usize) -> RecordedAnswer {
        let response = self.exchange(number).map(|exchange| &exchange.response);
        let mut headers = HeaderMap::new();
        for (name, value) in response.iter().flat_map(|response| &response.headers) {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                headers.append(name, value);
            }
        }
        let body = response.map(ExchangeResponse::to_bytes).unwrap_or_default().into();
        RecordedAnswer { headers, events: Vec::new(), body }
    }

    /// The answer in the form that is asked for; none if it can't be made of the recorded one.
    fn translated(&self, number: usize, asked: &ExchangeIdentity) -> Option<RecordedAnswer> {
        if self.status(number) != 200 {
            // Errors have the same form for both.
            return Some(self.recorded(number));
        }
        translate(asked.endpoint?, &self.recorded(number), &asked.form)
    }

    pub(crate) fn summary(&self) -> ReplaySummary {
        let counts = self.use_counts.lock();
        let unused = counts.used.iter().filter(|is_used| !**is_used).count();
        ReplaySummary { recorded: self.known.len(), unused, missed: counts.missed }
    }

    /// Notes which exchanges were used, for `recoup cassette prune`.
    pub(crate) fn note_used(&self, home: &Path) -> Result<()> {
        let counts = self.use_counts.lock();
        let used = self.known.iter().zip(&counts.used).filter(|(_, is_used)| **is_used);
        self.file.note_used(home, used.map(|(known, _)| known.at + 1).collect())
    }
}

/// The first that was not used yet, otherwise the last.
fn pick<'a>(numbers: impl Iterator<Item = &'a usize> + Clone, used: &[bool]) -> Option<usize> {
    let next = numbers.clone().find(|number| !used[**number]);
    next.or_else(|| numbers.last()).copied()
}
