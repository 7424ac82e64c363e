//! Server information.

use std::time::Duration;

use redis::Value;

use super::RedisStore;
use crate::base::clock::Stopwatch;
use crate::error::Result;

/// A server's description of itself, and its response time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisServerInfo {
    /// `redis`, or the name of a compatible product.
    pub product: String,
    /// Its version, if we are permitted to ask.
    pub version: Option<String>,
    /// Number of cluster nodes that hold keys; 1 for a single server.
    pub nodes: usize,
    /// True for a replica, which refuses writes.
    pub is_replica: bool,
    /// Response time over an established connection.
    pub took: Duration,
}

impl RedisStore {
    /// Asks the server for its description. Writes nothing, and bypasses the circuit breaker.
    pub fn server_info(&self) -> Result<RedisServerInfo> {
        const DOING: &str = "asking the server what it is";
        let line = &self.shared.line;
        let nodes = line.with_connection(DOING, |link, _| link.primaries())?;
        let count = nodes.len().max(1);
        let node = nodes.into_iter().next().unwrap_or_default();
        let (took, said) = line.with_connection(DOING, move |link, deadline| {
            let watch = Stopwatch::start();
            link.run_at(&node, &redis::cmd("PING"), deadline)?;
            // Not every user may run INFO.
            let said = link.run_at(&node, &redis::cmd("INFO"), deadline).unwrap_or(Value::Nil);
            Ok((watch.elapsed(), said))
        })?;
        Ok(parse_info(&said, count, took))
    }
}

fn parse_info(said: &Value, nodes: usize, took: Duration) -> RedisServerInfo {
    let text: String = redis::from_redis_value_ref(said).unwrap_or_default();
    let field = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let value = lines.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)?;
        Some(value.trim().to_owned())
    };
    let product = field("server_name").unwrap_or_else(|| "redis".to_owned());
    let version = field(&format!("{product}_version")).or_else(|| field("redis_version"));
    RedisServerInfo {
        product,
        version,
        nodes,
        is_replica: field("role").is_some_and(|role| role == "slave"),
        took,
    }
}
