//! The scan of a text: from literal to literal, and at each to its rules. A finding has the rule
//! and the place, never the secret.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::boundary;
use super::placeholder;
use super::prefilter;
use super::rule::{SecretRule, SecretShape};
use super::rules;
use super::slot;
use super::token_run;

/// Most bytes behind a literal that a pattern sees. The longest secrets that patterns describe are
/// a few hundred bytes; longer ones are cut there.
const REACH: usize = 1024;

/// Place of a secret, and the rule that found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFinding {
    /// The name of the rule.
    pub rule: &'static str,
    /// Range of the secret, in bytes.
    pub range: Range<usize>,
}

/// The findings in a text, from left to right, none touching another.
#[derive(Clone)]
pub struct SecretFindings<'a> {
    text: &'a [u8],
    at: usize,
    /// End of the last finding.
    free: usize,
    encoded: EncodedSearch,
}

/// Progress of the search for encoded secrets.
#[derive(Clone)]
enum EncodedSearch {
    /// Nothing is decoded: this is decoded text.
    Off,
    /// From here on.
    From(usize),
    /// The next one is known.
    Found(SecretFinding),
}

/// The first secret in `text`, if there is one.
pub fn scan(text: &[u8]) -> Option<SecretFinding> {
    scan_literals(text).or_else(|| {
        token_run::next_encoded_secret(text, 0).map(|(rule, range)| SecretFinding { rule, range })
    })
}

/// All secrets in `text`.
pub fn scan_all(text: &[u8]) -> SecretFindings<'_> {
    SecretFindings { text, at: 0, free: 0, encoded: EncodedSearch::From(0) }
}

/// The first secret that is not encoded.
pub(super) fn scan_literals(text: &[u8]) -> Option<SecretFinding> {
    SecretFindings { text, at: 0, free: 0, encoded: EncodedSearch::Off }.next()
}

impl Iterator for SecretFindings<'_> {
    type Item = SecretFinding;

    fn next(&mut self) -> Option<SecretFinding> {
        self.advance_encoded_search();
        while let Some(at) = prefilter::next_literal(self.text, self.at) {
            match self.find_at(at) {
                None => self.at = at + 1,
                Some(finding) => {
                    if let EncodedSearch::Found(encoded) = &self.encoded
                        && encoded.range.start < finding.range.end
                    {
                        break;
                    }
                    self.free = finding.range.end;
                    self.at = self.free.max(at + 1);
                    return Some(finding);
                }
            }
        }
        let EncodedSearch::Found(finding) =
            std::mem::replace(&mut self.encoded, EncodedSearch::Off)
        else {
            self.at = self.text.len();
            return None;
        };
        self.encoded = EncodedSearch::From(finding.range.end);
        self.free = finding.range.end;
        self.at = self.free;
        Some(finding)
    }
}

impl SecretFindings<'_> {
    /// Looks for the next encoded secret behind the last finding.
    fn advance_encoded_search(&mut self) {
        let from = match &self.encoded {
            EncodedSearch::From(from) => self.free.max(*from),
            EncodedSearch::Found(finding) if finding.range.start < self.free => {
                self.free.max(finding.range.end)
            }
            EncodedSearch::Off | EncodedSearch::Found(_) => return,
        };
        self.encoded = match token_run::next_encoded_secret(self.text, from) {
            None => EncodedSearch::Off,
            Some((rule, range)) => EncodedSearch::Found(SecretFinding { rule, range }),
        };
    }

    /// The finding of the rules at `at`, unless it begins inside the last one.
    fn find_at(&self, at: usize) -> Option<SecretFinding> {
        prefilter::rules_at(self.text, at).find_map(|(number, len)| {
            let rule = rules::rule_by_number(number);
            let range = match_rule(rule, number, self.text, at, len)?;
            // A mark of ours is never a secret, or redacting would not end.
            let mark = placeholder::is_marked(&self.text[range.clone()]);
            (range.start >= self.free && !mark).then_some(SecretFinding { rule: rule.name, range })
        })
    }
}

/// Shows the place only: the text may hold secrets.
impl std::fmt::Debug for SecretFindings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Findings").field("at", &self.at).finish_non_exhaustive()
    }
}

fn match_rule(
    rule: &SecretRule,
    number: usize,
    text: &[u8],
    at: usize,
    len: usize,
) -> Option<Range<usize>> {
    let (pattern, start) = match rule.shape {
        SecretShape::Code(code) => return code(text, at),
        SecretShape::Slots(slots) => return slot::find_in_slots(slots, text, at, len),
        SecretShape::Pattern(pattern) => {
            (pattern, boundary::is_word_start(text, at).then_some(at)?)
        }
        SecretShape::Inner(pattern, before) => (pattern, token_start(text, at, before)),
    };
    let range = match_pattern(compiled_pattern(number, pattern), text, start)?;
    let secret = &text[range.clone()];
    let real = range.end > at
        && boundary::is_word_end(text, range.end)
        && !placeholder::lacks_variety(secret)
        && !placeholder::is_stand_in(secret);
    real.then_some(range)
}

fn token_start(text: &[u8], at: usize, before: usize) -> usize {
    let part = |&&byte: &&u8| boundary::is_word(byte) || byte == b'~' || byte == b'.';
    at - text[..at].iter().rev().take(before).take_while(part).count()
}

fn match_pattern(regex: &Regex, text: &[u8], at: usize) -> Option<Range<usize>> {
    let reach = text.len().min(at + REACH);
    let groups = regex.captures(&text[at..reach])?;
    let secret = groups.get(1).or_else(|| groups.get(0))?;
    Some(at + secret.start()..at + secret.end())
}

/// Compiles a pattern when its literal is first seen: all of them would take longer than most
/// commands live.
fn compiled_pattern(number: usize, pattern: &str) -> &'static Regex {
    static COMPILED: [OnceLock<Regex>; rules::COUNT] = [const { OnceLock::new() }; rules::COUNT];
    COMPILED[number].get_or_init(|| {
        RegexBuilder::new(&format!(r"\A(?:{pattern})"))
            .unicode(false)
            .build()
            .expect("a test compiles every pattern of the table")
    })
}
