//! The keys on the server, and the Lua scripts that change them. Each script names the one key that it
//! touches, so that it works on any node of a cluster. All are idempotent, because a request may
//! arrive twice.
//!
//! ```text
//! P:{SCOPE/KEY}              hash: one record. head, at, used, hits, dead, bytes, and its body and
//!                            full result, each in place (body, full) or in frames (frames, fullframes)
//! P:{SCOPE/KEY}:GEN:N        string: the Nth frame of a large body or full result
//! P:used:{SCOPE}:KIND        sorted set: keys by last use, for limits by count
//! P:tally:{SCOPE}            hash: KIND/DAY/WHAT/NAME, how often; KIND/DAY/hit.UNIT/NAME, how much that saved;
//!                            first, the first day whose counts stay
//! P:folded:{SCOPE}           sorted set: names of batches that were counted
//! P:claim:{SCOPE/KEY}        string: the token of the claim's owner; expires unless renewed
//! P:dead                     sorted set: SCOPE/KEY by the time from which it is dead
//! ```
//! The text in braces decides the node of a cluster: a record and its frames are on one, and so are
//! the counts of a scope. Records are authoritative; the sorted sets are only hints for eviction,
//! and may lag behind.

use redis::Cmd;

use crate::key::{EntryId, Key, Kind, Scope};

/// Key names with a common prefix.
#[derive(Debug, Clone)]
pub(super) struct RedisKeys {
    prefix: String,
}

impl RedisKeys {
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    pub(super) fn record(&self, id: &EntryId) -> String {
        format!("{}:{{{id}}}", self.prefix)
    }

    pub(super) fn frame(&self, id: &EntryId, generation: &str, number: u64) -> String {
        format!("{}:{{{id}}}:{generation}:{number}", self.prefix)
    }

    pub(super) fn claim(&self, id: &EntryId) -> String {
        format!("{}:claim:{{{id}}}", self.prefix)
    }

    pub(super) fn used(&self, scope: &Scope, kind: Kind) -> String {
        format!("{}:used:{{{scope}}}:{kind}", self.prefix)
    }

    pub(super) fn tally(&self, scope: &Scope) -> String {
        format!("{}:tally:{{{scope}}}", self.prefix)
    }

    /// A pattern for the counts of all scopes.
    pub(super) fn tally_pattern(&self) -> String {
        format!("{}:tally:{{*}}", self.prefix)
    }

    /// The scope of a key that holds counts.
    pub(super) fn scope_of_tally(&self, name: &[u8]) -> Option<Scope> {
        let name = str::from_utf8(name).ok()?.strip_prefix(&self.prefix)?;
        Scope::parse(name.strip_prefix(":tally:{")?.strip_suffix('}')?).ok()
    }

    pub(super) fn folded(&self, scope: &Scope) -> String {
        format!("{}:folded:{{{scope}}}", self.prefix)
    }

    pub(super) fn dead(&self) -> String {
        format!("{}:dead", self.prefix)
    }

    /// A pattern for the records of a scope, or of all. Neither prefixes nor scopes contain special
    /// characters.
    pub(super) fn pattern(&self, scope: Option<&Scope>) -> String {
        match scope {
            Some(scope) => format!("{}:{{{scope}/*}}", self.prefix),
            None => format!("{}:{{*}}", self.prefix),
        }
    }

    /// The id of a record's key; `None` for other keys.
    pub(super) fn id_of(&self, name: &[u8]) -> Option<EntryId> {
        let name = str::from_utf8(name).ok()?.strip_prefix(&self.prefix)?;
        parse_id(name.strip_prefix(":{")?.strip_suffix('}')?)
    }
}

/// `SCOPE/KEY`
pub(super) fn parse_id(text: &str) -> Option<EntryId> {
    let (scope, key) = text.split_once('/')?;
    Some(EntryId::new(Scope::parse(scope).ok()?, Key::parse(key).ok()?))
}

/// Prelude of scripts that drop large bodies. Frames are named after their record, and on the same
/// node. The frame count may be damaged: 100 missing frames in a row end the loop.
macro_rules! with_frames {
    ($($script:literal)*) => {
        concat!("\
local function forget(run)
  local name, count = string.match(run or '', '^(.*):(%d+)$')
  local gone, n = 0, 0
  while name and n < tonumber(count) and gone < 100 do
    local there = redis.pcall('UNLINK', KEYS[1] .. ':' .. name .. ':' .. n) == 1
    gone = there and 0 or gone + 1
    n = n + 1
  end
end
", $($script,)*)
    };
}

/// Removes a record and its frames, unless the script has returned before. Returns whether it
/// existed, and its size.
macro_rules! removing {
    ($unless:literal) => {
        with_frames!($unless "
local old = redis.pcall('HMGET', KEYS[1], 'bytes', 'frames', 'fullframes')
if old.err then old = {} end
local there = redis.call('UNLINK', KEYS[1])
forget(old[2])
forget(old[3])
return {there, old[1]}")
    };
}

/// Stores a record in place of any previous one, and drops the frames of that. Idempotent. `ARGV`:
/// the expiry (or empty), then the fields and their values.
///
/// A server without room refuses only the first write of a script, so that must be one that needs
/// room.
pub(super) const PUT: &str = with_frames!(
    "\
local old = redis.pcall('HMGET', KEYS[1], 'frames', 'fullframes')
if old.err then old = {} end
local room = redis.pcall('HSET', KEYS[1], 'hits', 0)
if type(room) == 'table' and not string.find(room.err, 'WRONGTYPE') then return room end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
if ARGV[1] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[1]) end
local new = redis.call('HMGET', KEYS[1], 'frames', 'fullframes')
for n = 1, 2 do
  if old[n] and old[n] ~= new[1] and old[n] ~= new[2] then forget(old[n]) end
end
return 1"
);

/// Removes a record.
pub(super) const REMOVE: &str = removing!("");

/// Removes a record, unless it expires after `ARGV[1]`: then it was stored again meanwhile.
pub(super) const REMOVE_DEAD: &str = removing!(
    "\
local dead = redis.pcall('HGET', KEYS[1], 'dead')
if type(dead) == 'string' and (dead == '' or (tonumber(dead) or 0) > tonumber(ARGV[1])) then
  return {-1}
end"
);

/// Removes a record that was found damaged at `ARGV[1]`, unless it was stored later. A value of
/// another type is damaged too.
pub(super) const REMOVE_DAMAGED: &str = removing!(
    "\
local at = redis.pcall('HGET', KEYS[1], 'at')
if type(at) == 'string' and (tonumber(at) or 0) > tonumber(ARGV[1]) then return {0} end"
);

/// Counts `ARGV[1]` hits, the last of them at `ARGV[2]`, if the record exists.
pub(super) const TOUCH: &str = "\
if redis.pcall('HEXISTS', KEYS[1], 'used') ~= 1 then return 0 end
redis.call('HINCRBY', KEYS[1], 'hits', ARGV[1])
if tonumber(ARGV[2]) > (tonumber(redis.call('HGET', KEYS[1], 'used')) or 0) then
  redis.call('HSET', KEYS[1], 'used', ARGV[2])
end
return 1";

/// Takes at most `ARGV[2]` members that expired before `ARGV[1]` out of a sorted set.
pub(super) const TAKE_DEAD: &str = "\
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, member in ipairs(gone) do redis.call('ZREM', KEYS[1], member) end
return gone";

/// Counts a batch once. Keys: the batch names, the counts. `ARGV`: the name, its time, the number
/// of remembered names, the first day whose counts are kept, the maximum number of counts; then
/// triples of a field, its replacement if there are too many, and a count. Drops old counts once a
/// day.
pub(super) const COUNT: &str = "\
if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1]) == 0 then return 0 end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
if redis.call('HGET', KEYS[2], 'first') ~= ARGV[4] then
  redis.call('HSET', KEYS[2], 'first', ARGV[4])
  for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
    local day = tonumber(string.match(field, '^[^/]*/(-?%d+)/') or nil)
    if day and day < tonumber(ARGV[4]) then redis.call('HDEL', KEYS[2], field) end
  end
end
local room = redis.call('HLEN', KEYS[2]) < tonumber(ARGV[5])
for n = 6, #ARGV, 3 do
  local field = ARGV[n]
  if not room and redis.call('HEXISTS', KEYS[2], field) == 0 then field = ARGV[n + 1] end
  redis.call('HINCRBY', KEYS[2], field, ARGV[n + 2])
end
return 1";

/// Takes a claim with the token `ARGV[1]` for `ARGV[2]` milliseconds, unless another owner has it.
/// Returns 1 if it is ours, also when repeated.
pub(super) const CLAIM: &str = "\
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end
return 0";

/// Extends a claim by `ARGV[2]` milliseconds, if the token is still `ARGV[1]`.
pub(super) const EXTEND: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

/// Releases a claim, if the token is still `ARGV[1]`.
pub(super) const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])";

/// An `EVAL` command. The script is sent as text: a few hundred bytes spare every caller a second
/// round trip.
pub(crate) fn eval(script: &str, keys: &[&str]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(script).arg(keys.len());
    for key in keys {
        command.arg(*key);
    }
    command
}
