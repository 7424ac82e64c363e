//! The names of all sessions, from the server's own key space.

use redis::Value;

use crate::base::name::SafeName;
use crate::error::Result;
use crate::store::redis::RedisPool;

/// Keys that the server examines for one answer.
const STEP: usize = 1_000;

pub(super) fn sessions(line: &RedisPool, prefix: &str) -> Result<Vec<SafeName>> {
    let mut names = Vec::new();
    line.scan("listing the sessions", &format!("{prefix}{{*}}"), STEP, &mut |keys| {
        names.extend(keys.iter().filter_map(|key| session_of(key, prefix)));
        Ok(true)
    })?;
    // A key may occur twice.
    names.sort();
    names.dedup();
    Ok(names)
}

fn session_of(key: &Value, prefix: &str) -> Option<SafeName> {
    let Value::BulkString(key) = key else { return None };
    let key = str::from_utf8(key).ok()?.strip_prefix(prefix)?;
    SafeName::parse("session", key.strip_prefix('{')?.strip_suffix('}')?).ok()
}
