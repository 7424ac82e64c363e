//! Checks memory and cache: their databases, the snapshots of memory and the time that reading the
//! rules takes, the configured store and the near store in front of it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Clock as _, Stopwatch, SystemClock};
use recoup_core::memory::db::inspect::{NotesFound, inspect};
use recoup_core::memory::recall::inject::{BlockBudget, InjectionContext, RulesBlock};
use recoup_core::memory::{NoteScope, NoteStatus, PauseReason, snapshots_of};
use recoup_core::store::redis::{RedisServerInfo, RedisTarget};
use recoup_core::store::sqlite::{self, DatabaseInspection, DatabaseSoundness, list_set_aside};
use recoup_core::store::{RedisStore, StoreUrl, paused_servers};
use recoup_core::{Error, ErrorKind};
use rustix::fs::{Access, access};

use crate::doctor::DoctorContext;
use crate::doctor::finding::{DoctorFinding, FindingFact, FindingState, RepairAction};
use crate::human;

/// Time limit for reading all pages of a file.
const CACHE_READ_LIMIT: Duration = Duration::from_secs(10);

/// Longer than this, a server makes hits slow.
const SLOW_SERVER: Duration = Duration::from_millis(100);

/// Upper limit for counting the files of a directory.
const MAX_COUNTED_FILES: usize = 100_000;

/// Checks the stores of the cache.
pub(super) fn check_stores(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(settings) = &context.settings else {
        // Another check reports the problem; most users have the default store.
        return check_store(&StoreUrl::Sqlite(context.home.join("cache.db")), context);
    };
    let mut found = check_store(&settings.store, context);
    if !settings.cache.enabled {
        found.push(
            DoctorFinding::warn("off", "the cache is switched off: nothing is stored or returned")
                .remedy(
                    "cache.enabled is false: `recoup config show --origin` shows where it is set",
                ),
        );
    }
    let near = settings.near.as_ref().map(|near| check_store(&near.store, context));
    found.extend(near.into_iter().flatten().map(|found| {
        let what = format!("near store: {}", found.what);
        DoctorFinding { what, ..found }.fact("near", true)
    }));
    let now = SystemClock.now();
    for server in paused_servers(&context.home.join("breakers"), now) {
        let wait = human::long_duration(server.until.millis_since(now));
        let what = format!(
            "a store server is skipped for another {wait} after {} errors; last error: {}",
            server.faults, server.last
        );
        found.push(
            DoctorFinding::warn("breaker-open", what)
                .remedy("recoup retries then; check that the server is running")
                .fact("faults", u64::from(server.faults)),
        );
    }
    found
}

fn check_store(url: &StoreUrl, context: &DoctorContext) -> Vec<DoctorFinding> {
    match url {
        StoreUrl::Sqlite(path) => {
            let database = DatabaseCheck {
                path,
                if_damaged: "`recoup doctor --fix` rebuilds its indexes, or sets the file aside",
                fix: RepairAction::MendCache(path.clone()),
            };
            let first = match sqlite::inspect(path, CACHE_READ_LIMIT) {
                Err(error) => database.unusable_finding(&error, context),
                Ok(None) => database.missing_finding(context),
                Ok(Some((seen, entries))) => {
                    let noun = if entries == 1 { "entry" } else { "entries" };
                    let holds = format!("{} {noun}", human::count(entries));
                    database.usable_finding(&seen, &holds, context).fact("entries", entries)
                }
            };
            let first = first.fact("store", "sqlite");
            [first].into_iter().chain(database.set_aside_finding(context)).collect()
        }
        StoreUrl::File(dir) => vec![check_directory(dir, "file", context)],
        StoreUrl::Dir(dir) => vec![check_directory(dir, "dir", context)],
        StoreUrl::Redis(target) => vec![check_redis(target)],
    }
}

fn check_directory(dir: &Path, store: &'static str, context: &DoctorContext) -> DoctorFinding {
    let shown = context.display_path(dir);
    let found = match fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            DoctorFinding::ok(format!("{shown}: empty, nothing stored yet"))
        }
        Err(error) => DoctorFinding::fail("unusable", format!("{shown}: {error}"))
            .remedy("grant this user read access, or choose another store"),
        Ok(_) if access(dir, Access::WRITE_OK).is_err() => {
            let what = format!("{shown} is read-only for this user: nothing new is stored");
            DoctorFinding::fail("read-only", what)
                .remedy("check its owner and permissions (`ls -ld`)")
        }
        Ok(entries) => {
            let files = entries.take(MAX_COUNTED_FILES).count();
            DoctorFinding::ok(format!("{shown}: {} files", human::count(files as u64)))
                .fact("files", files)
        }
    };
    found.fact("store", store)
}

/// Asks the server without its circuit breaker, which might refuse before the server can answer.
fn check_redis(target: &RedisTarget) -> DoctorFinding {
    let server = match RedisStore::at(target.clone()).server_info() {
        Ok(server) => server,
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::Unavailable => {
                    "check that the server is running, and the URL and password; until then every \
                     look-up is a miss"
                }
                _ => "check the server's message, and whether this user has access",
            };
            return DoctorFinding::fail("unreachable", format!("{target}: {error}"))
                .remedy(remedy)
                .fact("store", "redis");
        }
    };
    let RedisServerInfo { product, version, nodes, is_replica, took } = server;
    let version = version.as_deref().unwrap_or("(unknown version)");
    let nodes_said = if nodes > 1 { format!(", {nodes} nodes") } else { String::new() };
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let time = human::fine_millis(took);
    let what = format!("{target}: {product} {version}{nodes_said}, answers in {time}");
    let found = if is_replica {
        DoctorFinding::fail("read-only", format!("{what}, but it is a read-only replica"))
            .remedy("use the primary's address in the store URL: a replica refuses writes")
    } else if took > SLOW_SERVER {
        DoctorFinding::warn("slow", what)
            .remedy("put a local store in front of it: near.store = \"sqlite:near.db\"")
    } else {
        DoctorFinding::ok(what)
    };
    found
        .fact("version", FindingFact::version(version))
        .fact("nodes", nodes)
        .fact("micros", micros)
        .fact("store", "redis")
}

/// Time limit for reading all pages.
const MEMORY_READ_LIMIT: Duration = Duration::from_secs(15);

/// In milliseconds: the most that a snapshot may lag behind.
const BEHIND: u64 = 3 * DAY;

/// In milliseconds: older notes must be in a snapshot.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Longer than this, people notice at each session start.
const SLOW_RULES: Duration = Duration::from_millis(500);

/// Checks memory.
pub(super) fn check_memory(context: &DoctorContext) -> Vec<DoctorFinding> {
    let path = context.home.join("memory.db");
    let database = DatabaseCheck {
        path: &path,
        if_damaged: "`recoup doctor --fix` sets it aside, and recovers what it can from it and \
                     from the newest snapshot; copy the file first if it is important to you",
        fix: RepairAction::MendMemory,
    };
    let mut found = match inspect(&path, MEMORY_READ_LIMIT) {
        Err(error) => vec![database.unusable_finding(&error, context)],
        Ok(None) => vec![database.missing_finding(context)],
        Ok(Some((seen, notes))) => {
            let counts = &notes.counts;
            let of = |status| counts.iter().find(|(it, _)| *it == status).map_or(0, |(_, n)| *n);
            let all: u64 = counts.iter().map(|(_, count)| count).sum();
            let (active, waiting) = (of(NoteStatus::Active), of(NoteStatus::Candidate));
            let noun = if all == 1 { "note" } else { "notes" };
            let holds = format!("{all} {noun} ({active} active, {waiting} candidates)");
            let mut first = database.usable_finding(&seen, &holds, context);
            for (status, count) in counts {
                first = first.fact(status.as_str(), *count);
            }
            let is_sound =
                first.state == FindingState::Ok && seen.soundness == DatabaseSoundness::Sound;
            let rules = is_sound.then(|| rules_findings(context)).into_iter().flatten();
            [first].into_iter().chain(rules).chain(snapshot_finding(&path, &notes)).collect()
        }
    };
    found.extend(database.set_aside_finding(context));
    found
}

/// Reports the newest snapshot. Warns if it is too old and notes have changed since, or if there is
/// none and notes are older than a day.
fn snapshot_finding(path: &Path, notes: &NotesFound) -> Option<DoctorFinding> {
    let (first, last) = notes.first.zip(notes.last)?;
    let all = snapshots_of(path);
    let outdated = |what: String| {
        DoctorFinding::warn("no-snapshot", what).remedy(
            "the worker and `recoup memory add`, `edit` and `import` take one a day: check the \
             findings about the directory and the worker, and the log of the hooks",
        )
    };
    let found = match all.first() {
        None if SystemClock.now().millis_since(first) <= DAY => return None,
        None => {
            outdated("no snapshot of memory exists, and some notes are older than a day".into())
        }
        Some(newest) => {
            let what = format!("the newest snapshot is from {} ({} kept)", newest.date, all.len());
            if last.millis_since(newest.day()) > BEHIND {
                outdated(format!("{what}, and notes have changed since"))
            } else {
                DoctorFinding::ok(what)
            }
        }
    };
    Some(found.fact("snapshots", all.len()))
}

/// Reads the rules for a session in this project as the hook does, without changing anything.
fn rules_findings(context: &DoctorContext) -> Vec<DoctorFinding> {
    let Some(project) = &context.project else { return Vec::new() };
    let scope = NoteScope::Project(project.id().clone());
    let memory = context.memory_in(&context.home);
    let watch = Stopwatch::start();
    let notes = match memory.rules(&scope, BlockBudget::default()) {
        Ok(notes) => notes,
        Err(error) => {
            let what = format!("can't read the rules: {error}");
            return vec![DoctorFinding::fail("no-rules", what)];
        }
    };
    let given = HashSet::new();
    let context = InjectionContext {
        project: Some(project.id()),
        given: &given,
        budget: BlockBudget::default(),
    };
    let block = RulesBlock::select(&notes, &context, |_| None);
    let took = watch.elapsed();
    let count = block.as_ref().map_or(0, |block| block.included().len());
    let time = human::fine_millis(took);
    let noun = if count == 1 { "rule" } else { "rules" };
    let what = format!("a session started here receives {count} {noun}, read in {time}");
    let first = if took > SLOW_RULES {
        DoctorFinding::warn("slow", what).remedy("the disk is slow, or the machine is very busy")
    } else {
        DoctorFinding::ok(what)
    };
    let mut found = vec![first.fact("rules", count)];
    found.extend(silence_finding(memory.pause_reason(&scope)));
    found
}

fn silence_finding(said: recoup_core::Result<Option<PauseReason>>) -> Option<DoctorFinding> {
    let (what, code, command) = match said.ok().flatten()? {
        PauseReason::Paused(until) => {
            let until = until.map(|it| format!(" until {}", it.to_second_string()));
            let what = format!("memory is paused{}", until.unwrap_or_default());
            (what, "paused", "recoup resume")
        }
        PauseReason::Ignored => {
            let what = "memory is disabled in this project".to_owned();
            (what, "ignored", "recoup resume --project")
        }
    };
    let finding = DoctorFinding::warn(code, format!("{what}: nothing is stored"));
    Some(finding.remedy(format!("to turn it on again: `{command}`")))
}

/// A database under check.
struct DatabaseCheck<'a> {
    path: &'a Path,
    /// Remedy for a damaged database.
    if_damaged: &'static str,
    /// Repair of a damaged database.
    fix: RepairAction,
}

impl DatabaseCheck<'_> {
    /// Reports a database that cannot be opened.
    fn unusable_finding(&self, error: &Error, context: &DoctorContext) -> DoctorFinding {
        let what = format!("{}: {error}", context.display_path(self.path));
        match error.kind() {
            ErrorKind::Corrupt => self.damaged_finding(what),
            ErrorKind::TooNew => DoctorFinding::fail("too-new", what)
                .remedy("upgrade recoup: a newer version has written this file"),
            ErrorKind::Full => DoctorFinding::fail("no-room", what)
                .remedy("free some disk space: even reading needs a little"),
            ErrorKind::Locked => DoctorFinding::warn("locked", what)
                .remedy("another process holds the lock: look for one that hangs"),
            _ => DoctorFinding::fail("unusable", what)
                .remedy("move it away, or check its owner and permissions (`ls -l`)"),
        }
    }

    /// Reports a readable database: damaged, read-only or sound. `holds` describes its content.
    fn usable_finding(
        &self,
        seen: &DatabaseInspection,
        holds: &str,
        context: &DoctorContext,
    ) -> DoctorFinding {
        let DatabaseInspection { version, newest, bytes, soundness } = seen;
        let shown = context.display_path(self.path);
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let found = match soundness {
            DatabaseSoundness::Damaged(why) => {
                let what = format!("{shown} is damaged: {why}");
                self.damaged_finding(what)
            }
            _ if [self.path, dir].iter().any(|it| access(*it, Access::WRITE_OK).is_err()) => {
                let what = format!("{shown} is read-only for this user: nothing new is stored");
                DoctorFinding::fail("read-only", what).remedy(
                    "check the owner and permissions of the file and its directory (`ls -ld`), and \
                     whether the disk is mounted read-only",
                )
            }
            _ => {
                let checked = if *soundness == DatabaseSoundness::Sound {
                    "sound"
                } else {
                    "too large for a full check"
                };
                let size = human::size(*bytes);
                let next = if version < newest {
                    ", migrated to this version at the next write"
                } else {
                    ""
                };
                DoctorFinding::ok(format!("{shown}: {holds}, {size}, {checked}{next}"))
            }
        };
        found.fact("schema", version.unsigned_abs()).fact("bytes", *bytes)
    }

    fn damaged_finding(&self, what: String) -> DoctorFinding {
        DoctorFinding::fail("damaged", what).remedy(self.if_damaged).fix(self.fix.clone())
    }

    /// Reports a missing database, which is fine if it can be created.
    fn missing_finding(&self, context: &DoctorContext) -> DoctorFinding {
        let shown = context.display_path(self.path);
        let there = self.path.ancestors().skip(1).find(|path| path.exists());
        match there {
            Some(dir) if access(dir, Access::WRITE_OK).is_err() => {
                let what = format!(
                    "{shown} does not exist, and {} is not writable",
                    context.display_path(dir)
                );
                DoctorFinding::fail("read-only", what)
                    .remedy("grant this user write access, or set RECOUP_HOME to another directory")
            }
            _ => DoctorFinding::ok(format!("{shown}: empty, nothing stored yet")),
        }
    }

    /// Reports copies that were set aside because of damage.
    fn set_aside_finding(&self, context: &DoctorContext) -> Option<DoctorFinding> {
        let aside: Vec<PathBuf> = list_set_aside(self.path);
        let last = aside.last()?;
        let times =
            if aside.len() == 1 { "once".to_owned() } else { format!("{} times", aside.len()) };
        let what = format!(
            "the database was damaged {times} and set aside; the last copy is {}",
            context.display_path(last)
        );
        Some(
            DoctorFinding::warn("set-aside", what)
                .remedy(
                    "check the disk's health; delete the copies once you are sure that nothing is \
                     missing",
                )
                .fact("set_aside", aside.len()),
        )
    }
}
