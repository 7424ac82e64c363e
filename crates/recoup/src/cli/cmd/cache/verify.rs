//! `recoup cache verify`.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use recoup_core::cache::DamagedEntry;
use recoup_core::store::sqlite::{self, DatabaseInspection, DatabaseSoundness, WaitLimits};
use recoup_core::store::{SqliteStore, StoreUrl};
use recoup_core::{ErrorKind, Result};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::failure::FaultPrinter;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Time limit for checking the pages of the database.
const INSPECT_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Remove damaged entries, and repair a damaged database
    #[arg(long)]
    repair: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct VerifyReport {
    entries: usize,
    damaged: Vec<DamagedRow>,
    /// The damage to the database itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<String>,
    repaired: bool,
}

#[derive(Serialize)]
struct DamagedRow {
    key: String,
    damage: String,
}

impl VerifyArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let database = find_database_damage(app)?;
        if let Some((store, _)) = database.as_ref().filter(|_| self.repair) {
            store.repair()?;
        }
        let database = database.map(|(_, why)| why);
        let cache = app.cache_without_near_tier();
        let mut progress = ui::ProgressDisplay::new("Verifying");
        let verified = cache.verify(&app.scope(), &mut |done, all| progress.show(done, all))?;
        progress.finish();
        let is_sound = verified.damaged.is_empty() && database.is_none();
        let repaired = self.repair && !is_sound;
        if repaired {
            cache.repair(&verified.damaged)?;
        }
        let row = |found: &DamagedEntry| DamagedRow {
            key: found.id.key.to_string(),
            damage: found.damage.to_string(),
        };
        let damaged: Vec<DamagedRow> = verified.damaged.iter().map(row).collect();
        let report = VerifyReport { entries: verified.entries, damaged, database, repaired };
        if self.json {
            ui::json(&report)?;
        } else {
            for DamagedRow { key, damage } in &report.damaged {
                ui::warn(format_args!("{key}: {damage}"));
            }
            if let Some(why) = &report.database {
                let now = if repaired {
                    "it was repaired or set aside"
                } else {
                    "use --repair to repair it"
                };
                ui::warn(format_args!("the database is damaged: {why}; {now}"));
            }
            let what_now = match (report.damaged.len(), repaired) {
                (0, _) => "no damage found".to_owned(),
                (count, true) => format!("{count} damaged and removed"),
                (count, false) => format!("{count} damaged; use --repair to remove them"),
            };
            ui::say(format_args!("{} entries: {what_now}", report.entries));
        }
        let sound = is_sound || repaired;
        Ok(if sound { CommandAnswer::Yes } else { CommandAnswer::No })
    }
}

/// The database behind this cache and its damage, if any: an index that has lost rows hides
/// entries, and a broken trigger fails every write.
fn find_database_damage(app: &App) -> Result<Option<(SqliteStore, String)>> {
    let StoreUrl::Sqlite(path) = &app.settings.store else { return Ok(None) };
    let why = match sqlite::inspect(path, INSPECT_TIMEOUT) {
        Ok(Some((DatabaseInspection { soundness: DatabaseSoundness::Damaged(why), .. }, _))) => why,
        Err(error) if error.kind() == ErrorKind::Corrupt => error.to_string(),
        Ok(_) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some((SqliteStore::at(path, WaitLimits::default(), Arc::new(FaultPrinter)), why)))
}
