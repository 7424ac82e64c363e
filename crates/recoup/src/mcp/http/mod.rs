//! The server on HTTP, for clients that cannot start a program: on this machine only by default,
//! and only with the token.
//!
//! Web pages can send requests here, too. They do not know the token, and their `Origin` and
//! `Host` (after DNS rebinding) are not ours: each of these suffices to refuse them.

mod bodies;
mod connections;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use recoup_core::Result;
use recoup_core::error::IoContext as _;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use self::connections::HttpConnection;
use self::connections::HttpSessions;
use super::in_flight::InFlightBytes;
use super::server::McpServer;
use super::{LONGEST_MESSAGE, ServerOptions, ServerState, workers};
use crate::http::{bearer_token, is_same_token};

/// URL path of the server.
const PATH: &str = "/mcp";

/// Options of the HTTP server.
#[derive(Debug, Clone)]
pub(crate) struct HttpOptions {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    /// Host names by which others reach this machine.
    pub(crate) hosts: Vec<String>,
}

/// Serves until the process ends; calls `ready` with the URL.
pub(crate) fn serve(
    state: &ServerState,
    options: ServerOptions,
    http: &HttpOptions,
    ready: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(workers::BACKGROUND_THREADS)
        .build()
        .with_context(|| "starting the server".to_owned())?;
    runtime.block_on(async {
        let listening = || format!("listening on {}", http.address);
        let listener = TcpListener::bind(http.address).await.with_context(listening)?;
        let address = listener.local_addr().with_context(listening)?;
        ready(&format!("http://{address}{PATH}"))?;
        connections::serve(listener, router(state, options, http)).await;
        Ok(())
    })
}

fn router(state: &ServerState, options: ServerOptions, http: &HttpOptions) -> Router {
    let (state, sessions) = (state.clone(), HttpSessions::new());
    let service = StreamableHttpService::new(
        move || Ok(McpServer::new(state.clone(), options)),
        sessions.manager.clone(),
        config(http),
    );
    let token: Arc<str> = http.token.as_str().into();
    Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn_with_state(sessions, track_session))
        .layer(middleware::from_fn_with_state(
            Arc::new(InFlightBytes::with_limits(bodies::HTTP_LIMITS)),
            bodies::read,
        ))
        .layer(middleware::from_fn_with_state(token, require_token))
}

/// Tracks the session that a request uses or starts.
async fn track_session(
    State(sessions): State<HttpSessions>,
    request: Request,
    next: Next,
) -> Response {
    sessions.mark_used(request.headers()).await;
    let response = next.run(request).await;
    sessions.mark_used(response.headers()).await;
    response
}

fn config(http: &HttpOptions) -> StreamableHttpServerConfig {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    // A specific address is also a valid host.
    hosts
        .extend(Some(http.address.ip()).filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string()));
    hosts.extend(http.hosts.iter().cloned());
    let origins: Vec<String> = hosts
        .iter()
        .flat_map(|host| {
            let host = match host.parse() {
                Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
                _ => host.clone(),
            };
            [format!("http://{host}:*"), format!("https://{host}:*")]
        })
        .collect();
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(LONGEST_MESSAGE)
}

/// Lets requests with the token through.
async fn require_token(State(token): State<Arc<str>>, request: Request, next: Next) -> Response {
    // Of duplicate headers the SDK would check only one.
    let is_unambiguous = {
        let once = |name| request.headers().get_all(name).iter().count() <= 1;
        let host = request.headers().get(header::HOST).map(header::HeaderValue::as_bytes);
        let named = request.uri().authority().map(|named| named.as_str().as_bytes());
        once(header::HOST) && once(header::ORIGIN) && (named.is_none() || named == host)
    };
    if !is_unambiguous {
        let what = "expected exactly one Host header and at most one Origin header\n";
        return (StatusCode::BAD_REQUEST, what).into_response();
    }
    let given = bearer_token(request.headers());
    if given.is_some_and(|given| is_same_token(given, &token)) {
        let guest = request.extensions().get::<Arc<HttpConnection>>();
        if guest.is_none_or(|guest| guest.admit()) {
            return next.run(request).await;
        }
        return (StatusCode::SERVICE_UNAVAILABLE, "too many connections\n").into_response();
    }
    let mut response = Response::new(Body::from(
        "missing or wrong token, expected: Authorization: Bearer TOKEN (see `recoup mcp --help`)\n",
    ));
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    response
}
