//! What the server does in one step. Each script names the one key that it
//! touches, so that it works on any node of a cluster.

use redis::Cmd;

/// Puts a record in place of any that was there. Gives the frames of that one,
/// which nobody needs any more.
/// `ARGV`: when it expires (or empty), then the fields and their values.
pub(super) const PUT: &str = "\
local old = redis.pcall('HMGET', KEYS[1], 'frames', 'fullframes')
if old.err then old = {false, false} end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
if ARGV[1] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[1]) end
return old";

/// Removes a record. Gives whether it was there, its size, and its frames.
pub(super) const REMOVE: &str = "\
local old = redis.pcall('HMGET', KEYS[1], 'bytes', 'frames', 'fullframes')
if old.err then old = {false, false, false} end
return {redis.call('UNLINK', KEYS[1]), old[1], old[2], old[3]}";

/// The same, unless it is to live beyond `ARGV[1]`: it was stored anew meanwhile.
pub(super) const REMOVE_DEAD: &str = "\
local dead = redis.pcall('HGET', KEYS[1], 'dead')
if type(dead) == 'string' and (dead == '' or tonumber(dead) > tonumber(ARGV[1])) then
  return {-1, false, false, false}
end
local old = redis.pcall('HMGET', KEYS[1], 'bytes', 'frames', 'fullframes')
if old.err then old = {false, false, false} end
return {redis.call('UNLINK', KEYS[1]), old[1], old[2], old[3]}";

/// The same, if it was stored at `ARGV[1]` or before: it was found damaged then.
/// What is no record at all is damaged too.
pub(super) const REMOVE_DAMAGED: &str = "\
local at = redis.pcall('HGET', KEYS[1], 'at')
if type(at) == 'string' and (tonumber(at) or 0) > tonumber(ARGV[1]) then
  return {0, false, false, false}
end
local old = redis.pcall('HMGET', KEYS[1], 'bytes', 'frames', 'fullframes')
if old.err then old = {false, false, false} end
return {redis.call('UNLINK', KEYS[1]), old[1], old[2], old[3]}";

/// Counts `ARGV[1]` hits, the last of them at `ARGV[2]`, for a record that is there.
pub(super) const TOUCH: &str = "\
if redis.pcall('HEXISTS', KEYS[1], 'used') ~= 1 then return 0 end
redis.call('HINCRBY', KEYS[1], 'hits', ARGV[1])
if tonumber(ARGV[2]) > (tonumber(redis.call('HGET', KEYS[1], 'used')) or 0) then
  redis.call('HSET', KEYS[1], 'used', ARGV[2])
end
return 1";

/// Takes at most `ARGV[2]` members whose time was up at `ARGV[1]` out of a sorted set.
pub(super) const TAKE_DEAD: &str = "\
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, member in ipairs(gone) do redis.call('ZREM', KEYS[1], member) end
return gone";

/// Counts a batch of that name once. Keys: the names, the counts.
/// `ARGV`: the name, its place in time, how many are remembered, then fields and counts.
pub(super) const COUNT: &str = "\
if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1]) == 0 then return 0 end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
for n = 4, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[n], ARGV[n + 1]) end
return 1";

/// `EVAL` of a script, its keys still to come. By its text: the server knows it
/// by hash, and the few hundred bytes spare every caller a second question.
pub(super) fn eval(script: &str, keys: &[&str]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(script).arg(keys.len());
    for key in keys {
        command.arg(*key);
    }
    command
}
