//! What the server does in one step. Whatever is sent may arrive twice, and must do
//! no harm then.

/// Whether there is a winner that counts: `w` is its name, `has` whether it has a
/// result, `now` the time of the server.
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

/// The name, and whether there is a result; empty where nobody has won.
pub(super) const WINNER: &str = with_winner!("if w then return {w, has and 1 or 0} end return {}");

/// The name, when that was, and the result; empty where nobody has won.
pub(super) const ANSWER: &str = with_winner!(
    "\
if not w then return {} end
local more = redis.call('HMGET', KEYS[1], 'at', 'result:' .. w)
return {w, more[1], more[2]}"
);

/// Elects `ARGV[1]`, unless somebody has won: then that one's name is the answer.
/// `ARGV`: the agent, a token of its own, how long the session is kept, the lease (or
/// empty), and the result if there is one.
///
/// Asked twice with the same token, it is the same election. Without a result it is a
/// claim until its winner confirms it: one whose answer got lost never does, and the
/// same agent may claim its place with another token. All is written at once, so that a
/// server without room refuses all of it.
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

/// Makes the claim with the token `ARGV[1]` good, unless another has taken its place:
/// then that one's name is the answer. Nobody can have taken what is not there.
pub(super) const CONFIRM: &str = "\
local found = redis.call('HMGET', KEYS[1], 'token', 'winner')
if not found[1] then return false end
if found[1] ~= ARGV[1] then return found[2] end
redis.call('HSET', KEYS[1], 'claim', '')
return false";

/// Notes in the field `ARGV[1]` that an agent takes part; the session is kept for
/// `ARGV[2]` milliseconds from now.
pub(super) const REGISTER: &str = "\
redis.call('HSET', KEYS[1], ARGV[1], redis.call('TIME')[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1";

/// Puts `ARGV[3]` into the field `ARGV[1]`, likewise.
pub(super) const WRITE: &str = "\
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1";

/// The winner or nothing, and then the names of all fields; empty where there is no
/// session.
pub(super) const STATUS: &str = with_winner!(
    "\
local fields = redis.call('HKEYS', KEYS[1])
if #fields == 0 then return {} end
table.insert(fields, 1, w)
return fields"
);
