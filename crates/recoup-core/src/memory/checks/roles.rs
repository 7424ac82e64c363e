//! Roles of a rule's words: what is forbidden, what is wanted, and where and when. Small networks read
//! the terms in context: residual convolutions as in the capture tagger, over what [`RuleInput`] tells
//! of each term. `train_checks` writes their weights.
//!
//! ```text
//! in web/ use yarn, never npm     in: web/ | want: yarn | run: npm
//!
//! "RCR1" | n: u32 | n words (hash u32) | each network: parameters (scale f32, 64 × i16)…
//! ```

use std::ops::Range;

use super::role_input::{INPUTS, RuleInput, WordTable};
use super::terms::{RuleTerm, split_terms};
use crate::memory::lang::layers::{
    HEADS_AT, TokenVector, WIDTH, bytes_of_parameters, linear, read_parameters, run_layers,
    write_parameters,
};

/// Role of words in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermRole {
    /// Nothing.
    None,
    /// A command that must not be run.
    Run,
    /// An option that must not be given.
    Flag,
    /// A branch that must not be pushed to.
    Push,
    /// A package that must not be added.
    Install,
    /// A library that must not be used in code.
    Import,
    /// Files that must not be changed, created or deleted.
    Change,
    /// Existing files that must not be changed.
    Existing,
    /// Files that must not be created.
    Create,
    /// Files that must not be deleted or moved.
    Delete,
    /// Files that must not be read.
    Read,
    /// Files that must not be committed.
    Commit,
    /// A text that must not be in code.
    Write,
    /// A text that must not be in commit messages.
    Message,
    /// A tool of the agent, or an MCP server, that must not be used.
    Tool,
    /// A host that must not be reached.
    Host,
    /// Thing that is wanted in place of what is forbidden.
    Want,
    /// The only one of its kind that may be used.
    Sole,
    /// Purpose of a wanted command.
    Purpose,
    /// An option that must be given.
    Need,
    /// The command that an option belongs to.
    Of,
    /// The only files that may be changed.
    Only,
    /// Place where alone the rule holds.
    In,
    /// Exception.
    Except,
    /// A condition that no call shows.
    If,
}

use TermRole as R;

/// The roles, with their names in the training rules.
pub const ROLES: [(&str, TermRole); 25] = [
    ("", R::None),
    ("run", R::Run),
    ("flag", R::Flag),
    ("push", R::Push),
    ("install", R::Install),
    ("import", R::Import),
    ("change", R::Change),
    ("existing", R::Existing),
    ("create", R::Create),
    ("delete", R::Delete),
    ("read", R::Read),
    ("commit", R::Commit),
    ("write", R::Write),
    ("message", R::Message),
    ("tool", R::Tool),
    ("host", R::Host),
    ("want", R::Want),
    ("sole", R::Sole),
    ("purpose", R::Purpose),
    ("need", R::Need),
    ("of", R::Of),
    ("only", R::Only),
    ("in", R::In),
    ("except", R::Except),
    ("if", R::If),
];

/// Networks that read each rule; the mean of their opinions counts.
pub const NETWORKS: usize = 3;
/// First parameter of the head.
const HEAD_AT: usize = HEADS_AT;
/// First row of parameters for the inputs of terms; those of words are the last.
pub const INPUTS_AT: usize = HEAD_AT + ROLES.len() * (WIDTH + 1);

const MAGIC: &[u8; 4] = b"RCR1";

/// Weights that are part of the program.
static SHIPPED: &[u8] = include_bytes!("roles.bin");

/// Probabilities of a term's roles.
pub type RoleShares = [f32; ROLES.len()];

/// Weights of the networks, read in place.
#[derive(Debug, Clone, Copy)]
pub struct RoleWeights<'a> {
    words: WordTable<'a>,
    networks: [&'a [u8]; NETWORKS],
}

impl RoleWeights<'static> {
    /// Returns the weights that are part of the program.
    fn shipped() -> Option<Self> {
        Self::read(SHIPPED)
    }
}

impl<'a> RoleWeights<'a> {
    /// Reads weights; none if the bytes have another layout.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (hashes, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let words = WordTable::new(hashes);
        let size = bytes_of_parameters(parameter_count(words));
        if rest.len() != NETWORKS * size {
            return None;
        }
        let networks = std::array::from_fn(|at| &rest[at * size..(at + 1) * size]);
        Some(Self { words, networks })
    }

    /// Writes the words and the parameters of the networks in the layout of the program's weights.
    pub fn write(words: WordTable<'_>, networks: [&[f32]; NETWORKS]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u32::try_from(words.count()).unwrap_or_default().to_le_bytes());
        bytes.extend_from_slice(words.hashes());
        for parameters in networks {
            write_parameters(parameters, &mut bytes);
        }
        bytes
    }
}

/// Number of parameters of a network that knows these words.
pub fn parameter_count(words: WordTable<'_>) -> usize {
    INPUTS_AT + (INPUTS + words.count()) * WIDTH
}

/// Place of the head in the parameters.
pub const fn head() -> Range<usize> {
    HEAD_AT..INPUTS_AT
}

/// Scores of a term's roles.
pub fn score_roles(parameters: &[f32], vector: &TokenVector) -> RoleShares {
    linear(vector, &parameters[head()])
}

/// Probabilities from scores.
pub fn shares_of(scores: RoleShares) -> RoleShares {
    let highest = scores.into_iter().fold(f32::MIN, f32::max);
    let raised = scores.map(|it| (it - highest).exp());
    let sum: f32 = raised.iter().sum();
    raised.map(|it| it / sum)
}

/// Probabilities of the roles of each term, by one network.
pub fn read_by(parameters: &[f32], rule: &RuleInput) -> Vec<RoleShares> {
    let mut vectors: Vec<TokenVector> =
        (0..rule.terms.len()).map(|at| rule.embed(at, parameters, |_| false)).collect();
    if !vectors.is_empty() {
        run_layers(parameters, &mut vectors);
    }
    vectors.iter().map(|it| shares_of(score_roles(parameters, it))).collect()
}

/// Mean of the networks' opinions of each term.
pub fn mean_shares(readings: &[Vec<RoleShares>]) -> Vec<RoleShares> {
    #[expect(clippy::cast_precision_loss, reason = "a few networks")]
    let share = 1.0 / readings.len() as f32;
    let terms = readings.first().map_or(0, Vec::len);
    let mean = |at: usize| {
        std::array::from_fn(|role| readings.iter().map(|it| share * it[at][role]).sum())
    };
    (0..terms).map(mean).collect()
}

/// Returns the probabilities of the roles of each term; `None` without weights.
pub(super) fn read_roles(terms: &[RuleTerm<'_>]) -> Option<Vec<RoleShares>> {
    let weights = RoleWeights::shipped()?;
    let rule = RuleInput::of_terms(terms, weights.words);
    let read = |bytes: &[u8]| read_by(&read_parameters(bytes), &rule);
    Some(mean_shares(&weights.networks.map(read)))
}

/// Places of a rule's terms.
pub fn term_spans(rule: &str) -> Vec<Range<usize>> {
    split_terms(rule).into_iter().map(|it| it.span).collect()
}
