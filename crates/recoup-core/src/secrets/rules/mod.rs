//! One kind of secret: how it is recognised, and the proof that it is; and the table of these rules,
//! one file for some families. The order within a family does not matter: a rule is tried where one
//! of its literals occurs.
//!
//! The proofs are templates, so that no string in this repository looks like a live secret to the
//! scanners of others: `{a36}` stands for 36 random letters and digits, and a test fills them in.

mod cloud;
mod commands;
mod forge;
mod generic;
mod prose;
mod service;

use std::fmt;
use std::ops::Range;

use super::slot::CredentialSlot;

/// A rule of the table. Its name is shown to people, never what it found.
pub struct SecretRule {
    pub(super) name: &'static str,
    pub(super) literals: &'static [&'static str],
    pub(super) shape: SecretShape,
    /// A text that must be found.
    secret: &'static str,
    /// A text like it that must not.
    harmless: &'static str,
}

/// Shape of a secret, from the rule's literal on.
pub(super) enum SecretShape {
    /// A regular expression that begins with the literal. The secret is its
    /// first group, or all of it.
    Pattern(&'static str),
    /// Like [`Self::Pattern`], for a literal in the middle of a secret: the expression begins where
    /// the token around it does, at most so many bytes before.
    Inner(&'static str, usize),
    /// Code, where the context decides. Takes the text and the start of the literal, and returns
    /// the range of the secret.
    Code(fn(&[u8], usize) -> Option<Range<usize>>),
    /// Places in the command line of a program, whose name is the literal.
    Slots(&'static [CredentialSlot]),
}

impl SecretRule {
    /// A rule for secrets that are recognised by their shape.
    pub(super) const fn pattern(
        name: &'static str,
        literals: &'static [&'static str],
        pattern: &'static str,
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        Self { name, literals, shape: SecretShape::Pattern(pattern), secret, harmless }
    }

    /// A rule for secrets whose only fixed part is inside them.
    pub(super) const fn inner(
        name: &'static str,
        literals: &'static [&'static str],
        (pattern, before): (&'static str, usize),
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        let shape = SecretShape::Inner(pattern, before);
        Self { name, literals, shape, secret, harmless }
    }

    /// A rule for secrets that only their context reveals.
    pub(super) const fn code(
        name: &'static str,
        literals: &'static [&'static str],
        code: fn(&[u8], usize) -> Option<Range<usize>>,
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        Self { name, literals, shape: SecretShape::Code(code), secret, harmless }
    }

    /// A rule for passwords in the command lines of these programs.
    pub(super) const fn slots(
        name: &'static str,
        programs: &'static [&'static str],
        slots: &'static [CredentialSlot],
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        let shape = SecretShape::Slots(slots);
        Self { name, literals: programs, shape, secret, harmless }
    }

    /// Name of the rule in findings and in redacted text.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The template of a text that this rule finds.
    pub fn secret(&self) -> &'static str {
        self.secret
    }

    /// The template of a text that looks similar and is left alone.
    pub fn harmless(&self) -> &'static str {
        self.harmless
    }
}

impl fmt::Debug for SecretRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretRule").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All families.
const FAMILIES: [&[SecretRule]; 13] = [
    generic::KEY_RULES,
    cloud::CLOUD_RULES,
    cloud::HOSTING_RULES,
    forge::FORGE_RULES,
    service::CHAT_RULES,
    service::PAYMENT_RULES,
    forge::REGISTRY_RULES,
    service::MODEL_RULES,
    service::TELEMETRY_RULES,
    service::SERVICE_RULES,
    generic::GENERIC_RULES,
    commands::RULES,
    prose::RULES,
];

/// Number of rules.
pub(super) const COUNT: usize = {
    let (mut total, mut family) = (0, 0);
    while family < FAMILIES.len() {
        total += FAMILIES[family].len();
        family += 1;
    }
    total
};

/// All rules by number. The pre-filter makes its tables from them at compile time.
pub(super) const RULES: [&SecretRule; COUNT] = {
    let mut all = [&FAMILIES[0][0]; COUNT];
    let (mut number, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut rule = 0;
        while rule < FAMILIES[family].len() {
            all[number] = &FAMILIES[family][rule];
            number += 1;
            rule += 1;
        }
        family += 1;
    }
    all
};

static BY_NUMBER: [&SecretRule; COUNT] = RULES;

/// All rules, with their proofs.
pub fn all_rules() -> impl Iterator<Item = &'static SecretRule> {
    BY_NUMBER.iter().copied()
}

/// The rule with the number that the pre-filter gives.
pub(super) fn rule_by_number(number: usize) -> &'static SecretRule {
    BY_NUMBER[number]
}
