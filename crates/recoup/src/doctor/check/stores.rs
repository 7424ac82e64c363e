//! Checks the configured store, and the near store in front of it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::store::redis::{RedisServerInfo, RedisTarget};
use recoup_core::store::{RedisStore, StoreUrl, paused_servers, sqlite};
use rustix::fs::{Access, access};

use super::database::DatabaseCheck;
use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, FindingFact, RepairAction};
use crate::human;

const CHECK: &str = "cache";

/// Time limit for reading all pages of a file.
const TO_READ: Duration = Duration::from_secs(10);

/// Longer than this, a server makes hits slow.
const SLOW: Duration = Duration::from_millis(100);

/// Upper limit for counting the files of a directory.
const MOST: usize = 100_000;

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(settings) = context.settings() else {
        // Another check reports the problem; most users have the default store.
        return check_store(&StoreUrl::Sqlite(context.home.join("cache.db")), context);
    };
    let mut found = check_store(&settings.store, context);
    if !settings.cache.enabled {
        found.push(
            DoctorFinding::warn(
                CHECK,
                "off",
                "the cache is switched off: nothing is kept or given out",
            )
            .remedy("cache.enabled: `recoup config show --origin` tells who said so"),
        );
    }
    let near = settings.near.as_ref().map(|near| check_store(&near.store, context));
    found.extend(near.into_iter().flatten().map(mark_as_near));
    found.extend(find_open_breakers(context));
    found
}

/// Marks a finding as being about the near store.
fn mark_as_near(found: DoctorFinding) -> DoctorFinding {
    DoctorFinding { what: format!("in front of it, {}", found.what), ..found }.fact("near", true)
}

fn check_store(url: &StoreUrl, context: &DoctorContext) -> Vec<DoctorFinding> {
    match url {
        StoreUrl::Sqlite(path) => check_sqlite_file(path, context),
        StoreUrl::File(dir) => vec![check_directory(dir, "file", context)],
        StoreUrl::Dir(dir) => vec![check_directory(dir, "dir", context)],
        StoreUrl::Redis(target) => vec![check_redis(target)],
    }
}

fn check_sqlite_file(path: &Path, context: &DoctorContext) -> Vec<DoctorFinding> {
    let database = DatabaseCheck {
        check: CHECK,
        path,
        if_damaged: "`recoup doctor --fix` makes its indexes anew, or sets it aside",
        fix: RepairAction::MendCache(path.to_owned()),
    };
    let first = match sqlite::inspect(path, TO_READ) {
        Err(error) => database.unusable_finding(&error, context),
        Ok(None) => database.missing_finding(context),
        Ok(Some((seen, entries))) => {
            let noun = if entries == 1 { "entry" } else { "entries" };
            let holds = format!("{} {noun}", human::count(entries));
            database.usable_finding(&seen, &holds, context).fact("entries", entries)
        }
    };
    [first.fact("store", "sqlite")].into_iter().chain(database.set_aside_finding(context)).collect()
}

fn check_directory(dir: &Path, store: &'static str, context: &DoctorContext) -> DoctorFinding {
    let shown = context.display_path(dir);
    let found = match fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            DoctorFinding::ok(CHECK, format!("{shown}: nothing is kept yet"))
        }
        Err(error) => DoctorFinding::fail(CHECK, "unusable", format!("{shown}: {error}"))
            .remedy("let this user read it, or choose another store"),
        Ok(_) if access(dir, Access::WRITE_OK).is_err() => {
            let what = format!("{shown} can be read and not written: nothing new is kept");
            DoctorFinding::fail(CHECK, "read-only", what).remedy("see who owns it (`ls -ld`)")
        }
        Ok(entries) => {
            let files = entries.take(MOST).count();
            DoctorFinding::ok(CHECK, format!("{shown}: {} files", human::count(files as u64)))
                .fact("files", files)
        }
    };
    found.fact("store", store)
}

/// Asks the server without its circuit breaker, which might refuse before the server can answer.
fn check_redis(target: &RedisTarget) -> DoctorFinding {
    let found = match RedisStore::at(target.clone()).server_info() {
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::Unavailable => {
                    "check that it runs, the URL and the password; until then every look-up is a miss"
                }
                _ => "see what the server says, and whether this user may use it",
            };
            DoctorFinding::fail(CHECK, "unreachable", format!("{target}: {error}")).remedy(remedy)
        }
        Ok(server) => answering_server_finding(target, &server),
    };
    found.fact("store", "redis")
}

fn answering_server_finding(target: &RedisTarget, server: &RedisServerInfo) -> DoctorFinding {
    let RedisServerInfo { product, version, nodes, is_replica, took } = server;
    let version = version.as_deref().unwrap_or("(its version is not told)");
    let nodes_said = if *nodes > 1 { format!(", {nodes} nodes") } else { String::new() };
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let time = human::fine_millis(*took);
    let what = format!("{target}: {product} {version}{nodes_said}, answers in {time}");
    let found = if *is_replica {
        DoctorFinding::fail(CHECK, "read-only", format!("{what}, and only has copies"))
            .remedy("name the primary in the store's URL: a replica refuses what is written to it")
    } else if *took > SLOW {
        DoctorFinding::warn(CHECK, "slow", what)
            .remedy("a store in front of it answers at once: near.store = \"sqlite:near.db\"")
    } else {
        DoctorFinding::ok(CHECK, what)
    };
    found
        .fact("version", FindingFact::version(version))
        .fact("nodes", *nodes)
        .fact("micros", micros)
}

/// Reports servers whose circuit breaker is open.
fn find_open_breakers(context: &DoctorContext) -> impl Iterator<Item = DoctorFinding> {
    let now = SystemClock.now();
    paused_servers(&context.home.join("breakers"), now).into_iter().map(move |server| {
        let wait = human::long_duration(server.until.millis_since(now));
        let what = format!(
            "a server is not asked for another {wait}, after {} faults; the last: {}",
            server.faults, server.last
        );
        DoctorFinding::warn(CHECK, "breaker-open", what)
            .remedy("it is asked again by itself then; see that it runs")
            .fact("faults", u64::from(server.faults))
    })
}
