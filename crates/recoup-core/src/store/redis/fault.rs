//! Mapping of server errors to ours.

use redis::{ErrorKind as Redis, RedisError, ServerErrorKind};

use crate::error::{Error, ErrorKind};
use crate::secrets;

/// Adds what was being done, and what a caller can do about it. A server may repeat what it was
/// sent, so secrets and `password` are redacted.
pub(super) fn explain(error: &RedisError, doing: &str, password: Option<&str>) -> Error {
    let kind = kind_of(error);
    let words = match kind {
        ErrorKind::Full => format!("{doing}: the server has no room left"),
        _ if is_cluster_redirect(error) => {
            format!("{doing}: another node has that key; the URL of a cluster is redis+cluster://…")
        }
        _ if error.kind() == Redis::Parse => {
            return Error::new(kind, format!("{doing}: what answers there does not speak Redis"));
        }
        _ if error.kind() == Redis::ClusterConnectionNotFound => {
            format!("{doing}: no cluster answers there; the URL of a single server is redis://…")
        }
        _ => doing.to_owned(),
    };
    // The message includes that of its cause.
    Error::new(kind, words).with_source(redacted(&error.to_string(), password))
}

/// Redacts secrets and `password` in a server's message.
fn redacted(said: &str, password: Option<&str>) -> String {
    let said = secrets::redact(said).into_owned();
    match password {
        Some(password) if !password.is_empty() && said.contains(password) => {
            // A short password may be a part of any word, which would reveal it by its position.
            match password.len() {
                ..4 => "the answer repeats the password".to_owned(),
                _ => said.replace(password, &format!("{}password]", secrets::REDACTED)),
            }
        }
        _ => said,
    }
}

/// True if a cluster node redirects a client that does not know about the cluster.
fn is_cluster_redirect(error: &RedisError) -> bool {
    use ServerErrorKind::{Ask, CrossSlot, Moved};
    matches!(error.kind(), Redis::Server(Ask | CrossSlot | Moved))
}

/// The error for a missed deadline.
pub(super) fn timeout_error(doing: &str, after: std::time::Duration) -> Error {
    let message = format!("{doing}: no answer within {} ms", after.as_millis());
    Error::new(ErrorKind::Unavailable, message)
}

fn kind_of(error: &RedisError) -> ErrorKind {
    match error.kind() {
        Redis::Io
        | Redis::AuthenticationFailed
        | Redis::ClusterConnectionNotFound
        // Anything may listen there if it does not speak the protocol.
        | Redis::Parse
        | Redis::UnexpectedReturnType
        // A cluster whose slots are not served or not known.
        | Redis::Client
        | Redis::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::TryAgain
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask,
        ) => ErrorKind::Unavailable,
        Redis::Server(ServerErrorKind::ReadOnly) => ErrorKind::ReadOnly,
        _ => kind_of_code(error.code().unwrap_or_default()),
    }
}

fn kind_of_code(code: &str) -> ErrorKind {
    match code {
        "OOM" => ErrorKind::Full,
        "WRONGTYPE" => ErrorKind::Corrupt,
        "NOAUTH" | "WRONGPASS" | "BUSY" | "UNBLOCKED" => ErrorKind::Unavailable,
        "MISCONF" | "NOREPLICAS" => ErrorKind::ReadOnly,
        _ => ErrorKind::Io,
    }
}

/// True if the connection is gone but not the server: an idle connection may have been closed, and
/// the next one may be fine.
pub(super) fn was_dropped(error: &RedisError) -> bool {
    error.is_connection_dropped() || error.is_unrecoverable_error() && !error.is_timeout()
}
