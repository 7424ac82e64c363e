//! What a server's errors amount to.

use redis::{ErrorKind as Redis, RedisError, ServerErrorKind};

use crate::error::{Error, ErrorKind};
use crate::secrets;

/// Says what was being done, and what a caller can do about it. A server may repeat what it was
/// sent, so its words are shown without secrets and without `password`.
pub(super) fn explain(error: &RedisError, doing: &str, password: Option<&str>) -> Error {
    let kind = kind_of(error);
    let words = match kind {
        ErrorKind::Full => format!("{doing}: the server has no room left"),
        _ if is_elsewhere(error) => {
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
    // Its words have those of its cause in them.
    Error::new(kind, words).with_source(redacted(&error.to_string(), password))
}

/// Returns a server's message without secrets and without `password`.
fn redacted(said: &str, password: Option<&str>) -> String {
    let said = secrets::redact(said).into_owned();
    match password {
        Some(password) if !password.is_empty() && said.contains(password) => {
            // A short one may be a part of any word, which would show where it was taken out.
            match password.len() {
                ..4 => "the answer repeats the password".to_owned(),
                _ => said.replace(password, &format!("{}password]", secrets::REDACTED)),
            }
        }
        _ => said,
    }
}

/// Said by a node of a cluster to those who don't know that it is one.
fn is_elsewhere(error: &RedisError) -> bool {
    use ServerErrorKind::{Ask, CrossSlot, Moved};
    matches!(error.kind(), Redis::Server(Ask | CrossSlot | Moved))
}

/// Nobody answered in time.
pub(super) fn too_late(doing: &str, after: std::time::Duration) -> Error {
    let message = format!("{doing}: no answer within {} ms", after.as_millis());
    Error::new(ErrorKind::Unavailable, message)
}

fn kind_of(error: &RedisError) -> ErrorKind {
    match error.kind() {
        Redis::Io
        | Redis::AuthenticationFailed
        | Redis::ClusterConnectionNotFound
        // What is not the protocol may be anything that listens there.
        | Redis::Parse
        | Redis::UnexpectedReturnType
        // A cluster whose slots nobody serves, or knows.
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

/// Whether the connection is gone, not the server: one that was idle may have
/// been closed meanwhile, and the next one may well be fine.
pub(super) fn was_dropped(error: &RedisError) -> bool {
    error.is_connection_dropped() || error.is_unrecoverable_error() && !error.is_timeout()
}
