//! Lua scripts. All are idempotent, because a request may arrive twice.

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
pub(super) const WINNER: &str = with_winner!("if w then return {w, has and 1 or 0} end return {}");

/// Returns the winner's name, the time of its election and its result; empty without a winner.
pub(super) const ANSWER: &str = with_winner!(
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
pub(super) const ELECT: &str = with_winner!(
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
pub(super) const CONFIRM: &str = "\
local found = redis.call('HMGET', KEYS[1], 'token', 'winner')
if not found[1] then return false end
if found[1] ~= ARGV[1] then return found[2] end
redis.call('HSET', KEYS[1], 'claim', '')
return false";

/// Registers an agent in the field `ARGV[1]`, and keeps the session for `ARGV[2]` milliseconds from
/// now.
pub(super) const REGISTER: &str = "\
redis.call('HSET', KEYS[1], ARGV[1], redis.call('TIME')[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1";

/// Writes `ARGV[3]` to the field `ARGV[1]`, and keeps the session for `ARGV[2]` milliseconds from
/// now.
pub(super) const WRITE: &str = "\
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1";

/// Returns the winner or nil, then the names of all fields; empty if there is no session.
pub(super) const STATUS: &str = with_winner!(
    "\
local fields = redis.call('HKEYS', KEYS[1])
if #fields == 0 then return {} end
table.insert(fields, 1, w)
return fields"
);
