//! Signs questions. A client of 2026-07-28 gets a question as a response and calls again: its
//! answer counts only if this process asked exactly that.

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::encode_hex;
use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::SystemRandom;

/// HMAC key that lives as long as the process.
#[derive(Debug)]
pub(super) struct ConsentSigner(Key);

/// Facts about a question that the second call cannot know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AskedQuestion {
    /// True if the note was new.
    pub(super) new: bool,
    pub(super) at: Timestamp,
}

/// Hexadecimal digits of a time.
const TIME: usize = 16;

/// Marks for notes that were new, or known, when first asked about.
const MARKS: [(char, bool); 2] = [('n', true), ('k', false)];

impl ConsentSigner {
    /// Generates a key; none if the system has no random numbers.
    pub(super) fn generate() -> Option<Self> {
        Key::generate(HMAC_SHA256, &SystemRandom::new()).ok().map(Self)
    }

    /// Returns the state that the client sends back with an answer about `subject`.
    pub(super) fn sign(&self, subject: &str, asked: AskedQuestion) -> String {
        let mark = if asked.new { 'n' } else { 'k' };
        let head = format!("{mark}{:0TIME$x}", asked.at.as_millis());
        let tag = encode_hex(hmac::sign(&self.0, &message(&head, subject)).as_ref());
        format!("{head}{tag}")
    }

    /// Verifies a state; none if it is not ours, or not about `subject`.
    pub(super) fn verify(&self, state: &str, subject: &str) -> Option<AskedQuestion> {
        let (head, tag) = state.split_at_checked(1 + TIME)?;
        let (mark, at) = head.split_at_checked(1)?;
        let new = MARKS.iter().find(|(known, _)| mark.starts_with(*known))?.1;
        let at = Timestamp::from_millis(i64::from_str_radix(at, 16).ok()?);
        // Constant-time comparison of the signatures.
        hmac::verify(&self.0, &message(head, subject), &decode_hex(tag)?).ok()?;
        Some(AskedQuestion { new, at })
    }
}

fn message(head: &str, subject: &str) -> Vec<u8> {
    format!("recoup/consent/2 {head} {subject}").into_bytes()
}

fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pair = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}
