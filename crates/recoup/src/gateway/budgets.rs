//! Tokens and dollars that each tenant has spent today, and the budgets that they have. Days are those
//! of UTC. The count is in a file, so that it survives a restart and gateways of one home share it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::StatusCode;
use parking_lot::Mutex;
use recoup_core::Result;
use recoup_core::base::clock::{Deadline, Timestamp};
use recoup_core::base::fsx::{self, FileLock};
use serde::{Deserialize, Serialize};

use super::GatewayRefusal;
use crate::config::DailyBudget;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
const FILE: &str = "gateway-spend.json";
const MAX_FILE: u64 = 1 << 20;
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// Tokens and millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TokenSpend {
    pub(super) tokens: u64,
    pub(super) micro_dollars: u64,
}

impl std::ops::AddAssign for TokenSpend {
    fn add_assign(&mut self, more: Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.micro_dollars = self.micro_dollars.saturating_add(more.micro_dollars);
    }
}

/// Spending by tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct TenantSpends(BTreeMap<String, TokenSpend>);

impl TenantSpends {
    fn add(&mut self, more: Self) {
        for (tenant, spend) in more.0 {
            *self.0.entry(tenant).or_default() += spend;
        }
    }
}

/// One day, as it is in the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct DaySpend {
    /// Days since 1970.
    day: i64,
    tenants: TenantSpends,
}

/// Tokens and dollars that were spent today.
#[derive(Debug)]
pub(super) struct SpendTable {
    path: PathBuf,
    state: Mutex<SpendState>,
}

#[derive(Debug, Default)]
struct SpendState {
    today: DaySpend,
    /// Not in the file yet.
    pending: TenantSpends,
}

impl SpendTable {
    /// The count that is kept in this directory.
    pub(super) fn open(dir: &Path, now: Timestamp) -> Self {
        let path = dir.join(FILE);
        let mut state = SpendState { today: read_day(&path), ..SpendState::default() };
        state.turn_to(now);
        Self { path, state: Mutex::new(state) }
    }

    /// Counts a request.
    pub(super) fn add(&self, tenant: &str, spend: TokenSpend, now: Timestamp) {
        let mut state = self.state.lock();
        state.turn_to(now);
        let spend = TenantSpends([(tenant.to_owned(), spend)].into());
        state.today.tenants.add(spend.clone());
        state.pending.add(spend);
    }

    /// Adds what is not in the file yet to it, and takes over what others have spent.
    pub(super) fn save(&self, now: Timestamp) -> Result<()> {
        let pending = {
            let mut state = self.state.lock();
            state.turn_to(now);
            std::mem::take(&mut state.pending)
        };
        if pending.0.is_empty() {
            return Ok(());
        }
        let saved = self.add_to_file(&pending, now);
        let mut own = self.state.lock();
        let mut today = match saved {
            Ok(today) => today,
            Err(error) => {
                // It goes with the next attempt.
                own.pending.add(pending);
                return Err(error);
            }
        };
        today.tenants.add(own.pending.clone());
        own.today = today;
        Ok(())
    }

    /// Adds to the count in the file, and returns all of it.
    fn add_to_file(&self, pending: &TenantSpends, now: Timestamp) -> Result<DaySpend> {
        let _lock =
            FileLock::acquire(&fsx::with_suffix(&self.path, ".lock"), Deadline::after(LOCK_WAIT))?;
        let mut state = SpendState { today: read_day(&self.path), ..SpendState::default() };
        state.turn_to(now);
        state.today.tenants.add(pending.clone());
        fsx::write_unsynced(&self.path, &serde_json::to_vec(&state.today).unwrap_or_default())?;
        Ok(state.today)
    }

    /// Refuses a request of a tenant whose budget for today is spent.
    pub(super) fn admit(
        &self,
        tenant: &str,
        budget: DailyBudget,
        now: Timestamp,
    ) -> Result<(), GatewayRefusal> {
        if budget == DailyBudget::default() {
            return Ok(());
        }
        let spent = {
            let mut state = self.state.lock();
            state.turn_to(now);
            state.today.tenants.0.get(tenant).copied().unwrap_or_default()
        };
        let tokens = budget.tokens.filter(|most| spent.tokens >= *most);
        let dollars = budget.micro_dollars.filter(|most| spent.micro_dollars >= *most);
        let used_up = match (tokens, dollars) {
            (Some(most), _) => format!("{most} tokens"),
            (None, Some(most)) => format!("${}.{:02}", most / 1_000_000, most % 1_000_000 / 10_000),
            (None, None) => return Ok(()),
        };
        let left = DAY_MILLIS - now.as_millis().rem_euclid(DAY_MILLIS);
        let message = format!(
            "the budget of {used_up} for today is used up; it begins anew at 00:00 UTC, and cached \
             answers are still served"
        );
        let refusal = GatewayRefusal::new(StatusCode::TOO_MANY_REQUESTS, message);
        Err(refusal.retry_after(left / 1000 + 1))
    }
}

impl SpendState {
    /// Begins a new day.
    fn turn_to(&mut self, now: Timestamp) {
        let day = now.as_millis().div_euclid(DAY_MILLIS);
        if self.today.day != day {
            *self = Self { today: DaySpend { day, ..DaySpend::default() }, ..Self::default() };
        }
    }
}

/// The count in the file; nothing if there is none, or if it is damaged.
fn read_day(path: &Path) -> DaySpend {
    let bytes = fsx::read_regular(path, MAX_FILE).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spend(tokens: u64) -> TokenSpend {
        TokenSpend { tokens, micro_dollars: tokens * 3 }
    }

    #[test]
    fn what_could_not_be_written_is_written_later() {
        let dir = tempfile::tempdir().expect("a directory");
        let noon = Timestamp::from_millis(20_000 * DAY_MILLIS + DAY_MILLIS / 2);
        let home = dir.path().join("home");
        let table = SpendTable::open(&home, noon);
        table.add("red", spend(60), noon);
        table.save(noon).expect_err("there is no such directory");
        fsx::ensure_private_dir(&home).expect("created");
        table.save(noon).expect("saved");
        assert_eq!(read_day(&home.join(FILE)).tenants.0["red"], spend(60));
    }

    #[test]
    fn gateways_of_one_home_share_a_budget_that_begins_anew_each_day() {
        let dir = tempfile::tempdir().expect("a directory");
        let noon = Timestamp::from_millis(20_000 * DAY_MILLIS + DAY_MILLIS / 2);
        let budget = DailyBudget { tokens: Some(100), micro_dollars: None };
        let [one, two] = [(); 2].map(|()| SpendTable::open(dir.path(), noon));
        one.add("red", spend(60), noon);
        one.save(noon).expect("saved");
        two.add("red", spend(50), noon);
        assert!(two.admit("red", budget, noon).is_ok(), "it knows its own only");
        two.save(noon).expect("saved");
        assert!(two.admit("red", budget, noon).is_err());
        assert!(two.admit("blue", budget, noon).is_ok());
        assert!(SpendTable::open(dir.path(), noon).admit("red", budget, noon).is_err());
        let tomorrow = noon.plus_millis(DAY_MILLIS.unsigned_abs());
        assert!(two.admit("red", budget, tomorrow).is_ok());
        two.add("red", spend(10), tomorrow);
        two.save(tomorrow).expect("saved");
        assert_eq!(read_day(&dir.path().join(FILE)).tenants.0["red"], spend(10));
    }
}
