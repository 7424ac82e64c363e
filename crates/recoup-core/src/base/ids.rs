//! Unique identifiers.

use super::clock::Clock;

/// Crockford's alphabet: no letter that reads like a digit, and in ASCII order.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 26 characters that sort by time: 48 bits of milliseconds, then 80 random ones
/// (the layout of a ULID). A valid [`Name`](super::name::Name), safe in a path.
///
/// Unique, not secret: unsuitable for values that must be unguessable.
pub fn fresh_id(clock: &dyn Clock) -> String {
    let millis = u128::from(clock.now().as_millis().max(0).cast_unsigned() & 0xffff_ffff_ffff);
    let random = fastrand::u128(..) & ((1 << 80) - 1);
    encode((millis << 80) | random)
}

fn encode(value: u128) -> String {
    (0..26).rev().map(|place| char::from(ALPHABET[(value >> (place * 5)) as usize & 31])).collect()
}
