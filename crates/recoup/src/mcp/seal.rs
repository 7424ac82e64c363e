//! Ties an answer to its question. A client of 2026-07-28 is answered with a question and
//! calls again: what it brings back then counts only if this process asked exactly that.

use recoup_core::base::digest::hex;
use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::SystemRandom;

/// A key that is made with the process, and goes with it.
#[derive(Debug)]
pub(super) struct Seal(Key);

/// The marks of what was new, and of what was known, when it was first asked about.
const MARKS: [(char, bool); 2] = [('n', true), ('k', false)];

impl Seal {
    /// None where the system gives no random numbers.
    pub(super) fn fresh() -> Option<Self> {
        Key::generate(HMAC_SHA256, &SystemRandom::new()).ok().map(Self)
    }

    /// What the client is to bring back with an answer about `subject`; and whether that was
    /// new, which the second call can't tell any more.
    pub(super) fn on(&self, subject: &str, new: bool) -> String {
        let mark = if new { 'n' } else { 'k' };
        format!("{mark}{}", hex(hmac::sign(&self.0, &message(mark, subject)).as_ref()))
    }

    /// Whether `state` is ours and about `subject`; and whether that was new.
    pub(super) fn opened(&self, state: &str, subject: &str) -> Option<bool> {
        let mark = state.chars().next()?;
        let new = MARKS.iter().find(|(known, _)| *known == mark)?.1;
        // The signatures are compared, not the texts, so that no time tells how far one fits.
        let tag = bytes(&state[1..])?;
        hmac::verify(&self.0, &message(mark, subject), &tag).ok().map(|()| new)
    }
}

fn message(mark: char, subject: &str) -> Vec<u8> {
    format!("recoup/consent/1 {mark} {subject}").into_bytes()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}
