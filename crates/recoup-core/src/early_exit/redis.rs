//! Sessions on a Redis server, for agents on several machines.
//!
//! ```text
//! P:exit:{S}     hash: winner, token, until, at, claim;
//!                `agent:A` its registration time; `result:A` its result
//! ```
//! A session is one key: every script is atomic on one node of a cluster, and the session expires
//! by itself some time after its last activity. Leases use the server's clock, so that those of the
//! machines need not agree. All scripts are idempotent, because a request may arrive twice.

use std::thread;
use std::time::Duration;

use redis::{Cmd, Value};

use super::{
    ElectionBid, ElectionOutcome, SESSION_RETENTION, SessionStatus, SessionStore, SessionWatch,
    SessionWinner, WinnerAnswer,
};
use crate::base::clock::{SystemClock, Timestamp};
use crate::base::name::SafeName;
use crate::base::name::fresh_id;
use crate::error::{Error, ErrorKind, Result};
use crate::store::redis::{RedisPool, RedisTarget, eval};

/// Maximum size of a result: a server has to answer within its deadline.
const MAX_RESULT: usize = 16 << 20;
/// Keys that the server examines for one answer when sessions are listed.
const LIST_STEP: usize = 1_000;
/// The first and the longest pause between two polls.
const STEPS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(50));

/// Sessions on one server.
#[derive(Debug)]
pub struct RedisSessions {
    line: RedisPool,
    prefix: String,
    kept: Duration,
}

impl RedisSessions {
    /// The sessions at `target`. No connection is made before the first use.
    pub fn at(target: RedisTarget) -> Self {
        Self::with_retention(target, SESSION_RETENTION)
    }

    /// The sessions at `target`, which expire this long after their last activity.
    pub fn with_retention(target: RedisTarget, kept: Duration) -> Self {
        let prefix = format!("{}:exit:", target.prefix());
        Self { line: RedisPool::new(target), prefix, kept }
    }

    fn key(&self, session: &SafeName) -> String {
        format!("{}{{{session}}}", self.prefix)
    }

    fn script(&self, script: &str, session: &SafeName) -> Cmd {
        eval(script, &[&self.key(session)])
    }

    fn query(&self, doing: &str, command: Cmd) -> Result<Value> {
        self.line.query_one(doing, command).map_err(|error| self.with_server_url(error))
    }

    /// Runs a write command, which servers answer with a number.
    fn write(&self, doing: &str, command: Cmd) -> Result<Vec<i64>> {
        self.line.query_numbers(doing, vec![command]).map_err(|error| self.with_server_url(error))
    }

    /// Adds the server's URL to an error.
    fn with_server_url(&self, error: Error) -> Error {
        error.context(self.line.target().to_string())
    }

    /// Runs an election command, twice if necessary: it is idempotent.
    fn vote(&self, session: &SafeName, agent: &SafeName, command: &Cmd) -> Result<ElectionOutcome> {
        let ask = || self.query("cannot signal", command.clone());
        let answer = match ask() {
            Err(error) if error.kind() == ErrorKind::Unavailable => ask(),
            answer => answer,
        };
        let answer = answer.map_err(|error| match error.kind() {
            ErrorKind::Unavailable => error.context(format!(
                "unknown whether {agent} has won: when the server is back, run `recoup early-exit \
                 check {session} --json`, or signal again with the same name"
            )),
            _ => error,
        })?;
        if answer == Value::Okay {
            return Err(self.with_server_url(RedisPool::not_redis_error("cannot signal")));
        }
        match reply_text(answer) {
            None => Ok(ElectionOutcome::Won),
            Some(winner) => Ok(ElectionOutcome::Lost(parse_agent(&winner)?)),
        }
    }

    fn kept_millis(&self) -> u64 {
        u64::try_from(self.kept.as_millis()).unwrap_or(u64::MAX).max(1)
    }
}

impl SessionStore for RedisSessions {
    fn winner(&self, session: &SafeName) -> Result<Option<SessionWinner>> {
        let command = self.script(WINNER, session);
        let mut answer = reply_values(self.query("cannot look up the winner", command)?);
        let Some(agent) = answer.next().and_then(reply_text) else { return Ok(None) };
        let has_result = answer.next() == Some(Value::Int(1));
        Ok(Some(SessionWinner { agent: parse_agent(&agent)?, has_result }))
    }

    fn answer(&self, session: &SafeName) -> Result<Option<WinnerAnswer>> {
        let command = self.script(ANSWER, session);
        let mut answer = reply_values(self.query("cannot read the winner's result", command)?);
        let Some(agent) = answer.next().and_then(reply_text) else { return Ok(None) };
        let at = answer.next().and_then(reply_text).and_then(|millis| millis.parse().ok());
        let result = answer.next().and_then(|value| match value {
            Value::BulkString(result) => Some(result),
            _ => None,
        });
        let at = at.map(Timestamp::from_millis);
        Ok(Some(WinnerAnswer { agent: parse_agent(&agent)?, at, result }))
    }

    fn elect(&self, session: &SafeName, bid: ElectionBid<'_>) -> Result<ElectionOutcome> {
        bid.result.map_or(Ok(()), refuse_large)?;
        let token = fresh_id(&SystemClock);
        let mut command = self.script(ELECT, session);
        command.arg(bid.agent.as_str()).arg(&token).arg(self.kept_millis());
        command.arg(bid.lease.map_or(String::new(), |lease| lease.to_string()));
        if let Some(result) = bid.result {
            command.arg(result);
        }
        let elected = self.vote(session, bid.agent, &command)?;
        if elected != ElectionOutcome::Won || bid.result.is_some() {
            return Ok(elected);
        }
        // Without a confirmation, an agent whose answer was lost can be elected again: only a
        // confirmed election is final.
        let mut command = self.script(CONFIRM, session);
        self.vote(session, bid.agent, command.arg(&token))
    }

    fn register(&self, session: &SafeName, agent: &SafeName) -> Result<()> {
        let mut command = self.script(REGISTER, session);
        command.arg(format!("agent:{agent}")).arg(self.kept_millis());
        self.write("cannot register the agent", command).map(drop)
    }

    fn write_result(&self, session: &SafeName, agent: &SafeName, result: &[u8]) -> Result<()> {
        refuse_large(result)?;
        let mut command = self.script(WRITE, session);
        command.arg(format!("result:{agent}")).arg(self.kept_millis()).arg(result);
        self.write("cannot write the result", command).map(drop)
    }

    fn status(&self, session: &SafeName) -> Result<Option<SessionStatus>> {
        let command = self.script(STATUS, session);
        let mut answer = reply_values(self.query("cannot read the session", command)?);
        let Some(winner) = answer.next() else { return Ok(None) };
        let fields: Vec<String> = answer.filter_map(reply_text).collect();
        let winner = reply_text(winner).map(|winner| parse_agent(&winner)).transpose()?;
        let (agents, results) = (agent_names(&fields, "agent:"), agent_names(&fields, "result:"));
        Ok(Some(SessionStatus { winner, agents, results }))
    }

    fn list(&self) -> Result<Vec<SafeName>> {
        let mut names = Vec::new();
        let pattern = format!("{}{{*}}", self.prefix);
        let scanned =
            self.line.scan("cannot list the sessions", &pattern, LIST_STEP, &mut |keys| {
                names.extend(keys.iter().filter_map(|key| {
                    let Value::BulkString(key) = key else { return None };
                    let key = str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?;
                    SafeName::parse("session", key.strip_prefix('{')?.strip_suffix('}')?).ok()
                }));
                Ok(true)
            });
        scanned.map_err(|error| self.with_server_url(error))?;
        // A key may occur twice.
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn remove(&self, session: &SafeName) -> Result<bool> {
        let mut command = redis::cmd("UNLINK");
        command.arg(self.key(session));
        Ok(self.write("cannot remove the session", command)? == [1])
    }

    fn watch<'a>(&'a self, _: &'a SafeName) -> Box<dyn SessionWatch + 'a> {
        Box::new(BackoffWatch(STEPS.0))
    }
}

/// Polls with growing pauses.
#[derive(Debug)]
struct BackoffWatch(Duration);

impl SessionWatch for BackoffWatch {
    fn arm(&mut self) {}

    fn wait(&mut self, at_most: Duration) {
        thread::sleep(self.0.min(at_most));
        self.0 = (self.0 * 3 / 2).min(STEPS.1);
    }
}

fn refuse_large(result: &[u8]) -> Result<()> {
    if result.len() <= MAX_RESULT {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Invalid,
        format!(
            "the result has {} bytes, more than the limit of {MAX_RESULT} on a server; condense \
             it, or store it elsewhere and write its location",
            result.len()
        ),
    ))
}

fn reply_values(answer: Value) -> std::vec::IntoIter<Value> {
    answer.into_sequence().unwrap_or_default().into_iter()
}

fn reply_text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn parse_agent(text: &str) -> Result<SafeName> {
    let damaged = |_| Error::new(ErrorKind::Corrupt, format!("invalid agent name {text:?}"));
    SafeName::parse("agent", text).map_err(damaged)
}

/// The agent names in the fields with that prefix, sorted.
fn agent_names(fields: &[String], sort: &str) -> Vec<SafeName> {
    let names = fields.iter().filter_map(|field| field.strip_prefix(sort));
    let mut names: Vec<SafeName> = names.filter_map(|text| parse_agent(text).ok()).collect();
    names.sort();
    names
}

/// Prelude that finds the current winner: `w` is its name or false, `has` is true if it has a
/// result, `now` the server's time.
macro_rules! with_winner {
    ($($script:literal)*) => {
        concat!("\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('HMGET', KEYS[1], 'winner', 'until', 'token', 'claim')
local w, till, token, claim = found[1], found[2], found[3], found[4]
local has = w and redis.call('HEXISTS', KEYS[1], 'result:' .. w) == 1
if w and not has and till ~= '' and (tonumber(till) or 0) <= now then w = false end
", $($script,)*)
    };
}

/// Returns the winner's name, and 1 if it has a result; empty without a winner.
const WINNER: &str = with_winner!("if w then return {w, has and 1 or 0} end return {}");

/// Returns the winner's name, the time of its election and its result; empty without a winner.
const ANSWER: &str = with_winner!(
    "\
if not w then return {} end
local more = redis.call('HMGET', KEYS[1], 'at', 'result:' .. w)
return {w, more[1], more[2]}"
);

/// Elects `ARGV[1]`, unless there is a winner, whose name is the answer then. `ARGV`: the agent, a
/// unique token, how long the session is kept, the lease (or empty), and optionally the result.
///
/// Repeated with the same token, it is the same election. Without a result it is a claim until the
/// winner confirms it: if the answer got lost, the same agent may claim its place with another
/// token. All fields are written at once, so that a server without room refuses all of them.
const ELECT: &str = with_winner!(
    "\
if token == ARGV[2] then return false end
if w and (w ~= ARGV[1] or has or claim ~= '1') then return w end
local till = ''
if ARGV[4] ~= '' then till = string.format('%.0f', now + tonumber(ARGV[4])) end
local fields = {'winner', ARGV[1], 'token', ARGV[2], 'until', till, 'at', string.format('%.0f', now),
  'claim', ARGV[5] and '' or '1'}
if ARGV[5] then
  fields[#fields + 1] = 'result:' .. ARGV[1]
  fields[#fields + 1] = ARGV[5]
end
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return false"
);

/// Confirms the claim with the token `ARGV[1]`, unless another agent has taken its place, whose
/// name is the answer then. A missing session counts as confirmed.
const CONFIRM: &str = "\
local found = redis.call('HMGET', KEYS[1], 'token', 'winner')
if not found[1] then return false end
if found[1] ~= ARGV[1] then return found[2] end
redis.call('HSET', KEYS[1], 'claim', '')
return false";

/// Registers an agent in the field `ARGV[1]`, and keeps the session for `ARGV[2]` milliseconds from
/// now.
const REGISTER: &str = "\
redis.call('HSET', KEYS[1], ARGV[1], redis.call('TIME')[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1";

/// Writes `ARGV[3]` to the field `ARGV[1]`, and keeps the session for `ARGV[2]` milliseconds from
/// now.
const WRITE: &str = "\
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1";

/// Returns the winner or nil, then the names of all fields; empty if there is no session.
const STATUS: &str = with_winner!(
    "\
local fields = redis.call('HKEYS', KEYS[1])
if #fields == 0 then return {} end
table.insert(fields, 1, w)
return fields"
);
