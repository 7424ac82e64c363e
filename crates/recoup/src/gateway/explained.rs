//! Explanations of requests: would one be answered from the cache? Nothing is sent.

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request};
use recoup_core::base::name::SafeName;
use recoup_core::cache::{Cache, LookupExplanation, LookupRequest, LookupVerdict, Ttl};
use recoup_core::key::Scope;
use recoup_core::{Error, Result};
use serde_json::Value;

use super::directives::CacheDirectives;
use super::endpoint::ApiEndpoint;
use super::plan::{ApiRequest, CachePlan, NO_TTL};
use super::{read_form, route, tenants};
use crate::config::{GatewaySettings, UpstreamSettings};

/// A request as a person describes it.
#[derive(Debug)]
pub(crate) struct DescribedRequest {
    /// Path at the gateway: `/v1/messages`.
    pub(crate) path: String,
    /// `NAME: VALUE`
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) tenant: Option<String>,
}

impl DescribedRequest {
    /// Explains a look-up of this request; the inner error says why it would pass by the cache.
    pub(crate) fn explain(
        self,
        settings: &GatewaySettings,
        cache: &Cache,
    ) -> Result<Result<LookupExplanation, String>> {
        let headers = self.headers()?;
        let method = if self.path.ends_with("/models") { Method::GET } else { Method::POST };
        let mut request = Request::new(());
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        *request.uri_mut() = self
            .path
            .parse()
            .map_err(|_| Error::usage(format!("--path: {:?} is no path", self.path)))?;
        let (head, ()) = request.into_parts();
        let name = |upstream: &UpstreamSettings| upstream.name.clone();
        let Some((upstream, path)) = route::find_upstream(&settings.upstreams, |it| it, &head)
        else {
            let names: Vec<String> = settings.upstreams.iter().map(name).collect();
            return Err(Error::usage(format!(
                "--path: no upstream for {}: expected /v1/… or /NAME/v1/… with a NAME of {}",
                self.path,
                names.join(", ")
            )));
        };
        let Some(endpoint) = ApiEndpoint::of(upstream.api, &head.method, path.path()) else {
            return Ok(Err("not an endpoint whose answers are cached".to_owned()));
        };
        let scope = match &self.tenant {
            Some(name) => Scope::tenant(&SafeName::parse("--tenant", name)?),
            None => tenants::local_scope(),
        };
        let body = Bytes::from(self.body);
        let request = ApiRequest {
            endpoint,
            upstream,
            method: &head.method,
            path: path.path(),
            query: path.query(),
            headers: &head.headers,
            body: &body,
        };
        let directives = CacheDirectives::read(&head.headers).map_err(Error::usage)?;
        let has_list = |body: Value| body["input"].as_array().is_some_and(|it| it.len() > 1);
        if endpoint == ApiEndpoint::Embeddings && serde_json::from_slice(&body).is_ok_and(has_list)
        {
            let reason = "each text of a list is looked up by itself: explain one of them";
            return Ok(Err(reason.to_owned()));
        }
        // A gateway may have been started with a duration that is not in the configuration.
        let with_ttl = CacheDirectives { ttl: Some(Ttl::Forever), ..directives };
        let planned = CachePlan::of(&request, directives, settings, &scope);
        let (plan, reason) = match planned {
            Ok(plan) => (plan, None),
            Err(reason) if reason.text == NO_TTL => {
                match CachePlan::of(&request, with_ttl, settings, &scope) {
                    Ok(plan) => (plan, Some(NO_TTL.to_owned())),
                    Err(reason) => return Ok(Err(reason.text)),
                }
            }
            Err(reason) => return Ok(Err(reason.text)),
        };
        let explain = |lookup: LookupRequest<'_>| {
            cache.explain(&LookupRequest { parts: &plan.parts, ..lookup })
        };
        let mut explained = explain(plan.lookup());
        if explained.verdict == LookupVerdict::Miss
            && let Some(other) =
                plan.other_forms().find(|other| read_form(cache, &plan, other).is_some())
        {
            explained = explain(plan.lookup_of(&other));
        }
        Ok(match reason {
            Some(reason) if explained.verdict == LookupVerdict::Miss => Err(reason),
            _ => Ok(explained),
        })
    }

    fn headers(&self) -> Result<HeaderMap> {
        let header = |line: &String| {
            let wrong = || Error::usage(format!("--header: expected NAME: VALUE (got {line:?})"));
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
            let value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
            Ok((name, value))
        };
        self.headers.iter().map(header).collect()
    }
}
