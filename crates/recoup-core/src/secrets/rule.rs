//! One kind of secret: how it is recognised, and the proof that it is. The
//! proofs are templates, so that no string in this repository looks like a
//! live secret to the scanners of others: `{a36}` stands for 36 random letters
//! and digits, and a test fills them in.

use std::fmt;
use std::ops::Range;

use super::slot::CredentialSlot;

/// A rule of the table. Its name is shown to people, never what it found.
pub struct SecretRule {
    pub(super) name: &'static str,
    pub(super) literals: &'static [&'static str],
    pub(super) shape: SecretShape,
    pub(super) proof: RuleProof,
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

/// One text that must be found, and one like it that must not.
pub(super) struct RuleProof {
    pub(super) secret: &'static str,
    pub(super) harmless: &'static str,
}

impl SecretRule {
    /// A rule for secrets that are recognised by their shape.
    pub(super) const fn pattern(
        name: &'static str,
        literals: &'static [&'static str],
        pattern: &'static str,
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        Self {
            name,
            literals,
            shape: SecretShape::Pattern(pattern),
            proof: RuleProof { secret, harmless },
        }
    }

    /// A rule for secrets whose only fixed part is inside them.
    pub(super) const fn inner(
        name: &'static str,
        literals: &'static [&'static str],
        (pattern, before): (&'static str, usize),
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        let shape = SecretShape::Inner(pattern, before);
        Self { name, literals, shape, proof: RuleProof { secret, harmless } }
    }

    /// A rule for secrets that only their context reveals.
    pub(super) const fn code(
        name: &'static str,
        literals: &'static [&'static str],
        code: fn(&[u8], usize) -> Option<Range<usize>>,
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        Self {
            name,
            literals,
            shape: SecretShape::Code(code),
            proof: RuleProof { secret, harmless },
        }
    }

    /// A rule for passwords in the command lines of these programs.
    pub(super) const fn slots(
        name: &'static str,
        programs: &'static [&'static str],
        slots: &'static [CredentialSlot],
        [secret, harmless]: [&'static str; 2],
    ) -> Self {
        let shape = SecretShape::Slots(slots);
        Self { name, literals: programs, shape, proof: RuleProof { secret, harmless } }
    }

    /// Name of the rule in findings and in redacted text.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The template of a text that this rule finds.
    pub fn secret(&self) -> &'static str {
        self.proof.secret
    }

    /// The template of a text that looks similar and is left alone.
    pub fn harmless(&self) -> &'static str {
        self.proof.harmless
    }
}

impl fmt::Debug for SecretRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretRule").field("name", &self.name).finish_non_exhaustive()
    }
}
