//! Ties an answer to its question. A client of 2026-07-28 is answered with a question and
//! calls again: what it brings back then counts only if this process asked exactly that.

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::hex;
use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::SystemRandom;

/// A key that is made with the process, and goes with it.
#[derive(Debug)]
pub(super) struct Seal(Key);

/// What the second call can't tell any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// Whether it was about something new.
    pub(super) new: bool,
    /// When that was.
    pub(super) at: Timestamp,
}

/// How many digits a time has.
const TIME: usize = 16;

/// The marks of what was new, and of what was known, when it was first asked about.
const MARKS: [(char, bool); 2] = [('n', true), ('k', false)];

impl Seal {
    /// None where the system gives no random numbers.
    pub(super) fn fresh() -> Option<Self> {
        Key::generate(HMAC_SHA256, &SystemRandom::new()).ok().map(Self)
    }

    /// What the client is to bring back with an answer about `subject`.
    pub(super) fn on(&self, subject: &str, asked: Asked) -> String {
        let mark = if asked.new { 'n' } else { 'k' };
        let head = format!("{mark}{:0TIME$x}", asked.at.as_millis());
        let tag = hex(hmac::sign(&self.0, &message(&head, subject)).as_ref());
        format!("{head}{tag}")
    }

    /// What was known when `state` was given out; none where it is not ours, or not about
    /// `subject`.
    pub(super) fn opened(&self, state: &str, subject: &str) -> Option<Asked> {
        let (head, tag) = state.split_at_checked(1 + TIME)?;
        let (mark, at) = head.split_at_checked(1)?;
        let new = MARKS.iter().find(|(known, _)| mark.starts_with(*known))?.1;
        let at = Timestamp::from_millis(i64::from_str_radix(at, 16).ok()?);
        // The signatures are compared, not the texts, so that no time tells how far one fits.
        hmac::verify(&self.0, &message(head, subject), &bytes(tag)?).ok()?;
        Some(Asked { new, at })
    }
}

fn message(head: &str, subject: &str) -> Vec<u8> {
    format!("recoup/consent/2 {head} {subject}").into_bytes()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}
