//! Roles of a rule's words: what is forbidden, what is wanted, and where and when. A small network
//! reads the words in context. It goes on from the layers of the capture tagger, whose vectors of
//! words it shares; `train_checks` writes its weights.
//!
//! ```text
//! in web/ use yarn, never npm     in: web/ | want: yarn | run: npm
//! ```

use std::ops::Range;

use super::terms::{RuleTerm, split_terms};
use crate::memory::capture::tagger;
use crate::memory::capture::tagger::network::{
    NETWORKS, TOKEN_AT, TaggerWeights, TokenVector, WIDTH, bytes_of_parameters, linear, mean_of,
    read_parameters, run_layers, write_parameters,
};
use crate::memory::capture::tagger::tokens::PromptTokens;
use crate::memory::lang::file_kinds::endings_of;
use crate::memory::lang::token::ClauseEnd;
use crate::memory::lang::word_vectors::{DIMENSIONS, TextVector};
use crate::memory::shell::is_known_program;

/// What the words of a rule are for its check.
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
    /// What is wanted in place of what is forbidden.
    Want,
    /// The only one of its kind that may be used.
    Sole,
    /// What a wanted command is for.
    Purpose,
    /// An option that must be given.
    Need,
    /// The command that an option belongs to.
    Of,
    /// The only files that may be changed.
    Only,
    /// Where alone the rule holds.
    In,
    /// What is exempt.
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

/// Number of features that a term may have: its classes, and [`form_features`].
const FEATURES: usize = 128 + 16;
/// First parameter of the vectors of features, and of the head.
const FEATURES_AT: usize = TOKEN_AT;
/// First parameter of the matrix for the meanings of words.
const MEANING_AT: usize = FEATURES_AT + FEATURES * WIDTH;
const HEAD_AT: usize = MEANING_AT + DIMENSIONS * WIDTH;
/// Number of parameters of a network.
pub const PARAMETERS: usize = HEAD_AT + ROLES.len() * (WIDTH + 1);
/// Weight of the English words for a term.
const ENGLISH_WEIGHT: f32 = 0.5;

/// Weights that are part of the program.
static SHIPPED: &[u8] = include_bytes!("roles.bin");

/// Probabilities of a token's roles.
pub type RoleShares = [f32; ROLES.len()];

/// A rule as the networks take it.
#[derive(Debug, Clone)]
pub struct RuleTokens {
    /// Tokens of the rule.
    pub tokens: PromptTokens,
    /// For each network the vectors of the tokens, and without the tokens' own words.
    inputs: [[Vec<TokenVector>; 2]; NETWORKS],
    /// Features of each token, and the meaning of its term.
    features: Vec<Vec<u8>>,
    meanings: Vec<Option<TextVector>>,
    /// Tokens of each term.
    terms: Vec<Range<usize>>,
}

impl RuleTokens {
    /// Reads a rule.
    pub fn of(rule: &str) -> Option<Self> {
        let terms = split_terms(rule);
        Self::of_terms(rule, &terms, TaggerWeights::shipped()?)
    }

    fn of_terms(rule: &str, terms: &[RuleTerm<'_>], tagger: TaggerWeights<'_>) -> Option<Self> {
        let tokens = tagger::read_tokens(rule, &tagger.concepts());
        let count = tokens.tokens.len();
        let whole = tagger.embed_tokens(&tokens, false);
        let form = tagger.embed_tokens(&tokens, true);
        let mut inputs = std::array::from_fn(|at| [whole[at].clone(), form[at].clone()]);
        let mut features = vec![Vec::new(); count];
        let mut meanings = vec![None; count];
        let mut places = Vec::new();
        for (number, term) in terms.iter().enumerate() {
            let touches = |at: &usize| {
                let span = &tokens.tokens[*at].span;
                span.start < term.span.end && span.end > term.span.start
            };
            let from = (0..count).find(touches).unwrap_or(count);
            let to = from + (from..count).take_while(touches).count();
            let own = features_of(terms, number);
            let meaning = TextVector::of(&term.folded);
            for at in from..to {
                features[at].extend(&own);
                meanings[at].clone_from(&meaning);
            }
            for word in &term.english {
                let english = tagger::read_tokens(word, &tagger.concepts());
                for (input, vectors) in inputs.iter_mut().zip(tagger.embed_tokens(&english, false))
                {
                    let Some(vector) = vectors.first() else { continue };
                    for input in input {
                        for sum in &mut input[from..to] {
                            add_scaled(sum, ENGLISH_WEIGHT, vector);
                        }
                    }
                }
            }
            places.push(from..to);
        }
        (count > 0).then_some(Self { tokens, inputs, features, meanings, terms: places })
    }

    /// Vectors that a network begins with; `without_word` tells for which tokens only the form counts.
    pub fn embed(
        &self,
        network: usize,
        parameters: &[f32],
        without_word: impl Fn(usize) -> bool,
    ) -> Vec<TokenVector> {
        let [whole, form] = &self.inputs[network];
        let embed = |at: usize| {
            let mut vector = if without_word(at) { form[at] } else { whole[at] };
            for (row, weight) in self.weighed_rows(at, without_word(at)) {
                add_scaled(&mut vector, weight, &parameters[row..row + WIDTH]);
            }
            vector
        };
        (0..self.features.len()).map(embed).collect()
    }

    /// Rows of parameters that a token's features and meaning add, with their weights.
    pub fn weighed_rows(
        &self,
        at: usize,
        without_word: bool,
    ) -> impl Iterator<Item = (usize, f32)> {
        let features = self.features[at].iter().map(|it| (usize::from(*it), 1.0));
        let meaning = self.meanings[at].as_ref().filter(|_| !without_word);
        let meaning = meaning.into_iter().flat_map(|it| it.numbers().iter().copied().enumerate());
        let meaning = meaning.map(|(number, weight)| (FEATURES + number, weight));
        features.chain(meaning).map(|(row, weight)| (FEATURES_AT + row * WIDTH, weight))
    }
}

fn add_scaled(sum: &mut TokenVector, weight: f32, values: &[f32]) {
    sum.iter_mut().zip(values).for_each(|(sum, it)| *sum += weight * it);
}

/// Numbers of a term's features.
fn features_of(terms: &[RuleTerm<'_>], at: usize) -> Vec<u8> {
    let term = &terms[at];
    let form = form_features(terms, at).into_iter().zip(128..);
    let classes = term.classes.numbers();
    classes.chain(form.filter_map(|(has, number)| has.then_some(number))).collect()
}

/// Features of a term's form and place.
fn form_features(terms: &[RuleTerm<'_>], at: usize) -> [bool; 16] {
    let term = &terms[at];
    let is_ascii = term.text.is_ascii();
    let begins = |sign: &[char]| term.text.starts_with(sign);
    [
        term.is_code,
        term.is_flag(),
        term.path().is_some(),
        is_known_program(&term.folded),
        term.is_tool(),
        endings_of(&term.folded).is_some(),
        term.negates,
        term.ends == ClauseEnd::Clause,
        term.ends == ClauseEnd::Sentence,
        term.is_unknown() && is_ascii,
        term.is_code && is_known_program(term.text.split(' ').next().unwrap_or_default()),
        is_ascii && term.text.contains(['(', '_', '@', '=', ':', '#', '!', '$']),
        begins(&['.', '*']),
        begins(&['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M'])
            || begins(&['N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z']),
        at == 0,
        at + 1 == terms.len(),
    ]
}

/// Place of the head in the parameters.
pub const fn head() -> Range<usize> {
    HEAD_AT..PARAMETERS
}

/// Scores of a token's roles.
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

/// Writes the weights of the networks.
pub fn write_weights(networks: [&[f32]; NETWORKS]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for parameters in networks {
        write_parameters(parameters, &mut bytes);
    }
    bytes
}

/// Returns the probabilities of the roles of each term; `None` without weights.
pub(super) fn read_roles(rule: &str, terms: &[RuleTerm<'_>]) -> Option<Vec<RoleShares>> {
    let rule = RuleTokens::of_terms(rule, terms, TaggerWeights::shipped()?)?;
    let size = bytes_of_parameters(PARAMETERS);
    if SHIPPED.len() != NETWORKS * size {
        return None;
    }
    let readings: [Vec<RoleShares>; NETWORKS] = std::array::from_fn(|network| {
        let parameters = read_parameters(&SHIPPED[network * size..][..size]);
        let mut vectors = rule.embed(network, &parameters, |_| false);
        run_layers(&parameters, &mut vectors);
        vectors.iter().map(|it| shares_of(score_roles(&parameters, it))).collect()
    });
    let nothing: RoleShares = std::array::from_fn(|at| if at == 0 { 1.0 } else { 0.0 });
    let mean = |tokens: &Range<usize>| {
        if tokens.is_empty() {
            return nothing;
        }
        #[expect(clippy::cast_precision_loss, reason = "a term has few tokens")]
        let share = 1.0 / tokens.len() as f32;
        let mut sum = [0.0; ROLES.len()];
        for at in tokens.clone() {
            let both = mean_of(readings.each_ref().map(|it| it[at]));
            sum.iter_mut().zip(both).for_each(|(sum, it)| *sum += share * it);
        }
        sum
    };
    Some(rule.terms.iter().map(mean).collect())
}
/// XXX
pub fn dump(rule: &str) -> Vec<(String, RoleShares)> {
    let terms = split_terms(rule);
    let shares = read_roles(rule, &terms).unwrap();
    terms.iter().map(|t| t.text.to_owned()).zip(shares).collect()
}
