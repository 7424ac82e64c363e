//! Checks the configured store, and the near store in front of it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::store::redis::{Server, Target};
use recoup_core::store::{Redis, StoreUrl, pausing, sqlite};
use rustix::fs::{Access, access};

use super::database::Database;
use crate::cli::doctor::Around;
use crate::cli::doctor::finding::{Fact, Finding, Fix};
use crate::cli::human;

const CHECK: &str = "cache";

/// Time limit for reading all pages of a file.
const TO_READ: Duration = Duration::from_secs(10);

/// Longer than this, a server makes hits slow.
const SLOW: Duration = Duration::from_millis(100);

/// Upper limit for counting the files of a directory.
const MOST: usize = 100_000;

pub(super) fn find(around: &Around) -> Vec<Finding> {
    let Some(settings) = around.settings() else {
        // Another check reports the problem; most users have the default store.
        return store(&StoreUrl::Sqlite(around.home.join("cache.db")), around);
    };
    let mut found = store(&settings.store, around);
    if !settings.cache.enabled {
        found.push(
            Finding::warn(CHECK, "off", "the cache is switched off: nothing is kept or given out")
                .remedy("cache.enabled: `recoup config show --origin` tells who said so"),
        );
    }
    let near = settings.near.as_ref().map(|near| store(&near.store, around));
    found.extend(near.into_iter().flatten().map(in_front));
    found.extend(left_alone(around));
    found
}

/// Marks a finding as being about the near store.
fn in_front(found: Finding) -> Finding {
    Finding { what: format!("in front of it, {}", found.what), ..found }.fact("near", true)
}

fn store(url: &StoreUrl, around: &Around) -> Vec<Finding> {
    match url {
        StoreUrl::Sqlite(path) => file(path, around),
        StoreUrl::File(dir) => vec![directory(dir, "file", around)],
        StoreUrl::Dir(dir) => vec![directory(dir, "dir", around)],
        StoreUrl::Redis(target) => vec![server(target)],
    }
}

fn file(path: &Path, around: &Around) -> Vec<Finding> {
    let database = Database {
        check: CHECK,
        path,
        if_damaged: "`recoup doctor --fix` makes its indexes anew, or sets it aside",
        fix: Fix::MendCache(path.to_owned()),
    };
    let first = match sqlite::inspect(path, TO_READ) {
        Err(error) => database.unusable(&error, around),
        Ok(None) => database.not_there(around),
        Ok(Some((seen, entries))) => {
            let noun = if entries == 1 { "entry" } else { "entries" };
            let holds = format!("{} {noun}", human::count(entries));
            database.usable(&seen, &holds, around).fact("entries", entries)
        }
    };
    [first.fact("store", "sqlite")].into_iter().chain(database.set_asides(around)).collect()
}

fn directory(dir: &Path, store: &'static str, around: &Around) -> Finding {
    let shown = around.shown(dir);
    let found = match fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Finding::ok(CHECK, format!("{shown}: nothing is kept yet"))
        }
        Err(error) => Finding::fail(CHECK, "unusable", format!("{shown}: {error}"))
            .remedy("let this user read it, or choose another store"),
        Ok(_) if access(dir, Access::WRITE_OK).is_err() => {
            let what = format!("{shown} can be read and not written: nothing new is kept");
            Finding::fail(CHECK, "read-only", what).remedy("see who owns it (`ls -ld`)")
        }
        Ok(entries) => {
            let files = entries.take(MOST).count();
            Finding::ok(CHECK, format!("{shown}: {} files", human::count(files as u64)))
                .fact("files", files)
        }
    };
    found.fact("store", store)
}

/// Asks the server without its circuit breaker, which might refuse before the server can answer.
fn server(target: &Target) -> Finding {
    let found = match Redis::at(target.clone()).server() {
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::Unavailable => {
                    "check that it runs, the URL and the password; until then every look-up is a miss"
                }
                _ => "see what the server says, and whether this user may use it",
            };
            Finding::fail(CHECK, "unreachable", format!("{target}: {error}")).remedy(remedy)
        }
        Ok(server) => answering(target, &server),
    };
    found.fact("store", "redis")
}

fn answering(target: &Target, server: &Server) -> Finding {
    let Server { product, version, nodes, is_replica, took } = server;
    let version = version.as_deref().unwrap_or("(its version is not told)");
    let nodes_said = if *nodes > 1 { format!(", {nodes} nodes") } else { String::new() };
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let time = human::fine(*took);
    let what = format!("{target}: {product} {version}{nodes_said}, answers in {time}");
    let found = if *is_replica {
        Finding::fail(CHECK, "read-only", format!("{what}, and only has copies"))
            .remedy("name the primary in the store's URL: a replica refuses what is written to it")
    } else if *took > SLOW {
        Finding::warn(CHECK, "slow", what)
            .remedy("a store in front of it answers at once: near.store = \"sqlite:near.db\"")
    } else {
        Finding::ok(CHECK, what)
    };
    found.fact("version", Fact::version(version)).fact("nodes", *nodes).fact("micros", micros)
}

/// Reports servers whose circuit breaker is open.
fn left_alone(around: &Around) -> impl Iterator<Item = Finding> {
    let now = SystemClock.now();
    pausing(&around.home.join("breakers"), now).into_iter().map(move |server| {
        let wait = human::long(server.until.millis_since(now));
        let what = format!(
            "a server is not asked for another {wait}, after {} faults; the last: {}",
            server.faults, server.last
        );
        Finding::warn(CHECK, "breaker-open", what)
            .remedy("it is asked again by itself then; see that it runs")
            .fact("faults", u64::from(server.faults))
    })
}
