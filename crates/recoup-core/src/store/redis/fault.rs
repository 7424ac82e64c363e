//! What a server's errors amount to.

use redis::{ErrorKind as Redis, RedisError, ServerErrorKind};

use crate::error::{Error, ErrorKind};

/// Says what was being done, and what a caller can do about it. Nothing that the
/// server or the client library says holds a password.
pub(super) fn explain(error: &RedisError, doing: &str) -> Error {
    let kind = kind_of(error);
    let words = match (kind, error.kind()) {
        (ErrorKind::Full, _) => format!("{doing}: the server has no room left"),
        (_, Redis::Parse) => {
            return Error::new(kind, format!("{doing}: what answers there does not speak Redis"));
        }
        _ => doing.to_owned(),
    };
    // As text: the library's errors name themselves as their own cause.
    Error::new(kind, words).with_source(error.to_string())
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
        | Redis::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::TryAgain
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask,
        ) => ErrorKind::Unavailable,
        _ => kind_of_code(error.code().unwrap_or_default()),
    }
}

fn kind_of_code(code: &str) -> ErrorKind {
    match code {
        "OOM" => ErrorKind::Full,
        "WRONGTYPE" => ErrorKind::Corrupt,
        "NOAUTH" | "WRONGPASS" => ErrorKind::Unavailable,
        _ => ErrorKind::Io,
    }
}

/// Whether the connection is gone, not the server: one that was idle may have
/// been closed meanwhile, and the next one may well be fine.
pub(super) fn was_dropped(error: &RedisError) -> bool {
    error.is_connection_dropped() || error.is_unrecoverable_error() && !error.is_timeout()
}
