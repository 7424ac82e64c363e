//! Folding of event batches. The counts of a scope and the batch's name are written atomically, so
//! each batch counts once; updates of single records follow and may be lost in a crash: they only
//! affect the eviction order.

use std::collections::{HashMap, HashSet};

use redis::{Cmd, Value};

use super::RedisShared;
use super::read::{self, ReplyFields};
use super::scripts::{self, eval};
use super::write::{BATCH, remove_by};
use crate::entry::{CostSavings, EntryEventKind, EventBatch, EventTally};
use crate::error::Result;
use crate::key::{Kind, Scope};
use crate::store::tallies::{BatchSums, OTHER_NAMES, REMEMBERED_BATCHES, TallyAmount, TallyKey};

/// From this many counts in a scope on, new names are counted as others.
const FIELDS: usize = 50_000;
/// Upper bound of a count: the server would refuse to add more.
const MOST: u64 = 1 << 60;

/// Names of the savings, in the order of [`CostSavings::to_array`].
const UNITS: [&str; 4] =
    ["hit.millis", "hit.input_tokens", "hit.output_tokens", "hit.micro_dollars"];

pub(super) fn fold(shared: &RedisShared, batch: &EventBatch) -> Result<()> {
    let sums = BatchSums::of(batch);
    let news = count_batch(shared, batch, &sums)?;
    let served: Vec<_> = sums.served.iter().filter(|(id, _)| news.contains(&id.scope)).collect();
    let records = served.iter().map(|(id, (hits, last))| {
        let mut command = eval(scripts::TOUCH, &[&shared.keys.record(id)]);
        command.arg(*hits).arg(last.as_millis());
        command
    });
    send_in_batches(shared, &records.collect::<Vec<_>>())?;
    // Updates the last use of a record in the list of whichever kind has it.
    let lists = served.iter().flat_map(|(id, (_, last))| {
        Kind::ALL.into_iter().map(move |kind| {
            let mut command = redis::cmd("ZADD");
            command.arg(shared.keys.used(&id.scope, kind)).arg("XX").arg("GT");
            command.arg(last.as_millis()).arg(id.key.as_str());
            command
        })
    });
    send_in_batches(shared, &lists.collect::<Vec<_>>())?;
    let damaged = sums.damaged.iter().filter(|(id, _)| news.contains(&id.scope));
    let damaged: Vec<_> = damaged.map(|(id, at)| ((*id).clone(), Some(*at))).collect();
    remove_by(shared, &damaged, scripts::REMOVE_DAMAGED).map(drop)
}

/// Counts the batch, and returns the scopes in which it was new.
fn count_batch<'a>(
    shared: &RedisShared,
    batch: &EventBatch,
    sums: &BatchSums<'a>,
) -> Result<HashSet<&'a Scope>> {
    let mut scopes: HashMap<&Scope, Vec<TallyField>> = HashMap::new();
    // `KIND/DAY/WHAT/NAME` for counts, `KIND/DAY/hit.UNIT/NAME` for savings.
    for (TallyKey { scope, kind, day, what, by }, amount) in &sums.counts {
        let others = if by.is_empty() { "" } else { OTHER_NAMES };
        let field = |word: &str, count: u64| TallyField {
            name: format!("{kind}/{day}/{word}/{by}"),
            crowded: format!("{kind}/{day}/{word}/{others}"),
            count: count.min(MOST),
        };
        let saved = UNITS.into_iter().zip(amount.saved.to_array()).filter(|(_, sum)| *sum > 0);
        let fields = scopes.entry(*scope).or_default();
        fields.push(field(what.as_str(), amount.count));
        fields.extend(saved.map(|(unit, sum)| field(unit, sum)));
    }
    let commands = scopes.iter().map(|(scope, counts)| {
        let keys = [&*shared.keys.folded(scope), &*shared.keys.tally(scope)];
        let mut command = eval(scripts::COUNT, &keys);
        let newest = batch.events.iter().map(|event| event.at.as_millis()).max().unwrap_or(0);
        command.arg(batch.name.as_str()).arg(newest).arg(REMEMBERED_BATCHES);
        command.arg(sums.first_day()).arg(FIELDS);
        for TallyField { name, crowded, count } in counts {
            command.arg(name).arg(crowded).arg(*count);
        }
        command
    });
    let answers = shared.pool.query_numbers("cannot update the counts", commands.collect())?;
    let new = scopes.keys().zip(answers).filter(|(_, answer)| *answer == 1);
    Ok(new.map(|(scope, _)| *scope).collect())
}

/// One count: its field, and the one to use if there are too many already.
struct TallyField {
    name: String,
    crowded: String,
    count: u64,
}

fn send_in_batches(shared: &RedisShared, commands: &[Cmd]) -> Result<()> {
    for commands in commands.chunks(BATCH) {
        shared.pool.query_numbers("cannot update the counts", commands.to_vec())?;
    }
    Ok(())
}

/// The tallies of one scope, or of all that have counts.
pub(super) fn tallies(shared: &RedisShared, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
    let scopes =
        scope.map_or_else(|| read::scopes_with_counts(shared), |one| Ok(vec![one.clone()]));
    let mut tallies = Vec::new();
    for scope in scopes? {
        let mut command = redis::cmd("HGETALL");
        command.arg(shared.keys.tally(&scope));
        let mut fields = match shared.pool.query_one("cannot read the counts", command)? {
            Value::Map(pairs) => {
                ReplyFields::of(Value::Array(pairs.into_iter().flat_map(|(k, v)| [k, v]).collect()))
            }
            other => ReplyFields::of(other),
        };
        let mut sums: HashMap<TallyCounter, TallyAmount> = HashMap::new();
        while let Some(field) = fields.text() {
            let count = fields.number().unwrap_or(0).max(0).cast_unsigned();
            if let Some((counter, amount)) = counter_of(&field, count) {
                sums.entry(counter).or_default().add(amount);
            }
        }
        for ((kind, day, what, by), TallyAmount { count, saved }) in sums {
            tallies.push(EventTally { scope: scope.clone(), kind, day, what, by, count, saved });
        }
    }
    Ok(tallies)
}

type TallyCounter = (Kind, i64, EntryEventKind, String);

/// `None` for kinds and events of a later version. Fields of an earlier one have no name.
fn counter_of(field: &str, sum: u64) -> Option<(TallyCounter, TallyAmount)> {
    let mut parts = field.splitn(4, '/');
    let kind = Kind::from_name(parts.next()?)?;
    let day = parts.next()?.parse().ok()?;
    let word = parts.next()?;
    let by = parts.next().unwrap_or_default().to_owned();
    if let Some(unit) = UNITS.into_iter().position(|unit| unit == word) {
        let mut saved = [0; 4];
        saved[unit] = sum;
        let amount = TallyAmount { count: 0, saved: CostSavings::from_array(saved) };
        return Some(((kind, day, EntryEventKind::Hit, by), amount));
    }
    let amount = TallyAmount { count: sum, saved: CostSavings::default() };
    Some(((kind, day, EntryEventKind::from_name(word)?, by), amount))
}
