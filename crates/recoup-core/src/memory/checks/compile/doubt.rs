//! Doubtful rules: those that hold only sometimes, leave a choice, ask, or tell what happened. They
//! give no check.

use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::{ClauseEnd, tokenize_text};
use crate::memory::shell::is_known_program;

/// True if a rule holds only sometimes, leaves a choice, asks, or tells what happened.
pub(super) fn is_doubtful(text: &str, terms: &[RuleTerm<'_>]) -> bool {
    let is_weak = |it: &RuleTerm<'_>| it.is(WordClasses::HEDGE.or(WordClasses::WEAK));
    let is_once = |pair: &[RuleTerm<'_>]| {
        is_one_of(&pair[0].folded, "this last next one") && pair[1].folded == "time"
    };
    text.trim_end().ends_with(['?', '？'])
        || terms.iter().any(|it| !it.is_code && is_weak(it))
        || terms.split_inclusive(|it| it.ends >= ClauseEnd::Clause).any(is_conditional)
        || terms.windows(2).any(is_once)
        || terms.windows(2).any(negates_twice)
        || lexicon::MEANWHILE.find(&tokenize_text(text)).is_some()
}

/// True for "never not", "don't avoid"; not for "never without --rm" and "never ever".
fn negates_twice(pair: &[RuleTerm<'_>]) -> bool {
    const ONES: &str =
        "without ohne sans sin sem senza except no nunca jamais ne pas nie never не mai";
    let is_apart = pair[0].ends != ClauseEnd::Nothing || pair[0].folded == pair[1].folded;
    pair[0].negates && pair[1].negates && !is_apart && !is_one_of(&pair[1].folded, ONES)
}

/// True for a clause that makes a rule depend on something. A reason may have a condition of its own:
/// "never npm, it breaks when offline".
fn is_conditional(clause: &[RuleTerm<'_>]) -> bool {
    let condition = WordClasses::CONDITION.or(WordClasses::SUBORDINATE);
    let is_act = |it: &RuleTerm<'_>| {
        it.negates
            || it.is_code
            || it.is_flag()
            || it.path().is_some()
            || is_known_program(&it.folded)
            || it.means("forbid push commit")
    };
    let lead =
        WordClasses::LEAD.or(WordClasses::EVEN).or(WordClasses::ONLY).or(WordClasses::EXCLUSION);
    let begins = clause.iter().find(|it| !it.is(lead));
    // "You lost my work with it once": nothing depends on a word that ends its clause.
    let inner = match clause.last() {
        Some(last) if last.is_unspaced() => clause,
        _ => &clause[..clause.len().saturating_sub(1)],
    };
    inner.iter().any(|it| !it.is_code && it.is(condition))
        && (clause.iter().any(is_act) || begins.is_some_and(|it| it.is(condition)))
}
