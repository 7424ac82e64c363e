//! Carries out the user's decisions about what was found: keeps a rule with the times and sessions in
//! which it was stated, or remembers that it is not wanted.

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::{Memory, Note, NoteScope, Statement};

use super::{LearnFindings, LearnedRule};

/// Most times of which memory keeps the date.
const MOST_DATES: usize = 50;

/// Keeps a rule where it was stated, or everywhere. Returns its notes, each with those that it
/// replaced.
pub(crate) fn keep_rule(
    memory: &Memory,
    rule: &LearnedRule,
    findings: &LearnFindings,
    everywhere: bool,
) -> Result<Vec<(Note, Vec<Note>)>> {
    if everywhere || rule.is_universal {
        return keep_in(memory, rule, NoteScope::Universal, None).map(|kept| vec![kept]);
    }
    let places = rule.places.iter();
    places.map(|at| keep_in(memory, rule, findings.places[*at].scope(), Some(*at))).collect()
}

fn keep_in(
    memory: &Memory,
    rule: &LearnedRule,
    scope: NoteScope,
    place: Option<usize>,
) -> Result<(Note, Vec<Note>)> {
    let there = rule.quotes.iter().filter(|it| place.is_none_or(|place| it.place == place));
    let there: Vec<_> = there.collect();
    let latest = there.last().map(|it| it.text.clone());
    let said: Vec<(Timestamp, String)> =
        there.iter().map(|it| (it.at, it.session.clone())).collect();
    // The first date and the latest ones.
    let skipped = said.len().saturating_sub(MOST_DATES);
    let dates: Vec<_> =
        said.iter().take(1).chain(said.iter().skip(skipped.max(1))).cloned().collect();
    let statement = Statement { scope, quote: latest, ..rule.statement.clone() };
    memory.record_earlier(&statement, &dates)
}

/// Remembers that the user does not want a rule, so that it is not offered again.
pub(crate) fn decline_rule(
    memory: &Memory,
    rule: &LearnedRule,
    findings: &LearnFindings,
) -> Result<()> {
    let scopes: Vec<NoteScope> = if rule.is_universal {
        vec![NoteScope::Universal]
    } else {
        rule.places.iter().map(|at| findings.places[*at].scope()).collect()
    };
    for scope in scopes {
        memory.decline_earlier(&Statement { scope, ..rule.statement.clone() })?;
    }
    Ok(())
}
