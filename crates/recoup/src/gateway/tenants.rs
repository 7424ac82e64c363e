//! Callers of the gateway: the local user, a tenant with a token, or whoever has a credential. Entries are shared
//! within a tenant and never beyond.

use std::collections::HashMap;
use std::fmt;

use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::{Sha256Digest, encode_hex};
use recoup_core::base::name::{SafeName, machine_fingerprint};
use recoup_core::key::Scope;
use recoup_core::secrets::SecretValues;
use recoup_core::{Error, Result};
use ring::hmac;

use super::GatewayRefusal;
use crate::config::{DailyBudget, GatewaySettings, TenantSettings, env};
use crate::http::is_same_token;

/// Header with a token of the gateway, beside the credential of the provider.
pub(super) const TOKEN_HEADER: &str = "recoup-token";
const API_KEY_HEADER: &str = "x-api-key";
/// Headers in which APIs expect their keys.
const KEY_HEADERS: [&str; 3] = ["authorization", API_KEY_HEADER, "api-key"];

/// Credentials of a request, which must not be recorded.
pub(super) fn credentials_of(headers: &HeaderMap) -> SecretValues {
    let is_secret = |name: &HeaderName| is_credential(name) || name == TOKEN_HEADER;
    let values = headers.iter().filter(|(name, _)| is_secret(name));
    SecretValues::of_values(values.map(|(_, value)| token_in(value).as_bytes().to_vec()))
}

/// The callers that are let in.
pub(super) struct TenantTable {
    tenants: Vec<(TenantSettings, String)>,
    /// Token for callers without a tenant of their own.
    shared_token: Option<String>,
    /// Makes fingerprints of credentials.
    fingerprint_key: hmac::Key,
}

impl fmt::Debug for TenantTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tenants.iter().map(|(tenant, _)| tenant.name.as_str());
        f.debug_list().entries(names).finish()
    }
}

/// A caller.
#[derive(Debug, Clone)]
pub(super) struct GatewayCaller {
    pub(super) scope: Scope,
    /// Number of the tenant in the configuration.
    pub(super) tenant: Option<usize>,
    /// Headers with a token of ours: they are not sent.
    pub(super) token_headers: Vec<HeaderName>,
    /// True if it has no key of its own, so that the gateway's key is sent.
    pub(super) sends_gateway_key: bool,
}

impl GatewayCaller {
    /// Name of the tenant, for people.
    pub(super) fn name(&self) -> &str {
        self.scope.as_str().strip_prefix("tenant:").unwrap_or_default()
    }
}

impl TenantTable {
    /// Reads the tokens from the environment. An error if one is missing, or if others could reach the
    /// gateway without one.
    pub(super) fn new(settings: &GatewaySettings, fingerprint_key: &[u8]) -> Result<Self> {
        let token = |tenant: &TenantSettings| {
            let name = &tenant.token_env;
            let value = env::named_variable(name).filter(|token| token.len() >= MIN_TOKEN);
            let missing = || {
                Error::usage(format!(
                    "gateway.tenants.{}: the variable {name} has no token of at least {MIN_TOKEN} \
                     characters",
                    tenant.name
                ))
            };
            Ok((tenant.clone(), value.ok_or_else(missing)?))
        };
        let tenants = settings.tenants.iter().map(token).collect::<Result<Vec<_>>>()?;
        let shared_token = env::gateway_token()?.filter(|_| settings.takes_token);
        let mut tokens: Vec<&String> =
            tenants.iter().map(|(_, token)| token).chain(&shared_token).collect();
        tokens.sort_unstable();
        if tokens.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::usage("two tenants of the gateway have the same token"));
        }
        if shared_token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN) {
            let message = format!("RECOUP_GATEWAY_TOKEN needs at least {MIN_TOKEN} characters");
            return Err(Error::usage(message));
        }
        if tenants.is_empty() && shared_token.is_none() && !settings.listen.ip().is_loopback() {
            return Err(Error::usage(format!(
                "{} can be reached from other machines: define tenants with tokens \
                 ([gateway.tenants.NAME]), or set RECOUP_GATEWAY_TOKEN",
                settings.listen
            )));
        }
        let fingerprint_key = hmac::Key::new(hmac::HMAC_SHA256, fingerprint_key);
        Ok(Self { tenants, shared_token, fingerprint_key })
    }

    /// True if a token is needed.
    pub(super) fn needs_token(&self) -> bool {
        !self.tenants.is_empty() || self.shared_token.is_some()
    }

    /// Identifies a caller; none if a token is needed and missing or wrong.
    pub(super) fn identify(&self, headers: &HeaderMap) -> Option<GatewayCaller> {
        if !self.needs_token() {
            return Some(GatewayCaller {
                scope: local_scope(),
                tenant: None,
                token_headers: Vec::new(),
                sends_gateway_key: false,
            });
        }
        // A token in place of a key never leaves this machine, whichever header lets the caller in.
        let credentials = headers.iter().filter(|(name, _)| is_credential(name));
        let (tokens, others): (Vec<_>, Vec<_>) =
            credentials.partition(|(_, value)| self.knows_token(token_in(value)));
        let token_headers: Vec<HeaderName> =
            tokens.iter().map(|(name, _)| (*name).clone()).collect();
        let has_key = others.iter().any(|(name, _)| KEY_HEADERS.contains(&name.as_str()));
        let sends_gateway_key = !token_headers.is_empty() && !has_key;
        let named = headers.get(TOKEN_HEADER);
        let given = named.into_iter().chain(tokens.iter().map(|(_, value)| *value));
        given.map(token_in).find_map(|token| {
            let is_it = |(_, known): &(TenantSettings, String)| is_same_token(token, known);
            let tenant = self.tenants.iter().position(is_it);
            let scope = match tenant {
                Some(at) => Scope::tenant(&self.tenants[at].0.name),
                None if self.knows_token(token) => self.scope_of_credentials(&others)?,
                None => return None,
            };
            let token_headers = token_headers.clone();
            Some(GatewayCaller { scope, tenant, token_headers, sends_gateway_key })
        })
    }

    /// Budget of a caller's tenant; none if it has no tenant.
    pub(super) fn budget_of(&self, caller: &GatewayCaller) -> Option<DailyBudget> {
        Some(self.tenants.get(caller.tenant?)?.0.budget)
    }

    fn knows_token(&self, text: &str) -> bool {
        let mut known = self.tenants.iter().map(|(_, token)| token).chain(&self.shared_token);
        known.any(|token| is_same_token(text, token))
    }

    /// Scope of a caller's credentials, which does not reveal them. Callers without any share a scope.
    fn scope_of_credentials(&self, credentials: &[(&HeaderName, &HeaderValue)]) -> Option<Scope> {
        let mut context = hmac::Context::with_key(&self.fingerprint_key);
        for (name, value) in credentials {
            context.update(name.as_str().as_bytes());
            context.update(&(value.len() as u64).to_be_bytes());
            context.update(value.as_bytes());
        }
        let name = format!("key-{}", encode_hex(&context.sign().as_ref()[..8]));
        SafeName::parse("tenant", &name).ok().map(|name| Scope::tenant(&name))
    }
}

/// True if a header tells one caller from another. Providers have names of their own for their keys.
fn is_credential(name: &HeaderName) -> bool {
    let name = name.as_str();
    let is_ours = name.starts_with("recoup-");
    let names_key = ["authorization", "auth", "key", "token", "secret", "cookie"];
    !is_ours && name != "idempotency-key" && names_key.iter().any(|word| name.ends_with(word))
}

/// A token as a header has it: `Bearer TOKEN`, or alone.
fn token_in(value: &HeaderValue) -> &str {
    let text = value.to_str().unwrap_or_default();
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => text,
    }
}

/// Requests of each tenant in the current minute.
#[derive(Debug, Default)]
pub(super) struct RateTable {
    minutes: Mutex<HashMap<Scope, (i64, u32)>>,
}

impl RateTable {
    /// Counts a request; refuses one above the tenant's limit.
    pub(super) fn admit(
        &self,
        caller: &GatewayCaller,
        tenants: &TenantTable,
        now: Timestamp,
    ) -> Result<(), GatewayRefusal> {
        let settings = caller.tenant.and_then(|at| tenants.tenants.get(at));
        let limit = settings.and_then(|(settings, _)| settings.requests_per_minute);
        let Some(limit) = limit else { return Ok(()) };
        let mut minutes = self.minutes.lock();
        let (minute, count) = minutes.entry(caller.scope.clone()).or_default();
        let now_millis = now.as_millis();
        let now = now_millis / 60_000;
        if *minute != now {
            (*minute, *count) = (now, 0);
        }
        *count += 1;
        if *count <= limit {
            return Ok(());
        }
        let message = format!(
            "the limit of {limit} requests per minute is used up; try again in the next one"
        );
        let left = 60 - now_millis.rem_euclid(60_000) / 1000;
        let refusal = GatewayRefusal::new(StatusCode::TOO_MANY_REQUESTS, message);
        Err(refusal.retry_after(left))
    }
}

/// Shortest token: a guess must not find it.
const MIN_TOKEN: usize = 16;

/// Scope of the local user: of this machine and account, also on a store that others use.
pub(super) fn local_scope() -> Scope {
    static SCOPE: std::sync::LazyLock<Scope> = std::sync::LazyLock::new(|| {
        let user = rustix::process::getuid().as_raw();
        let seed = format!("recoup gateway {} {user}", machine_fingerprint());
        let name = format!("local-{}", &Sha256Digest::of(seed.as_bytes()).to_hex()[..12]);
        SafeName::parse("tenant", &name).map_or_else(|_| Scope::global(), |it| Scope::tenant(&it))
    });
    SCOPE.clone()
}
