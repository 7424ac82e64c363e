//! Real processes: this test binary, started again as a helper.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::SystemClock;
use recoup_core::cache::{Cache, CacheOptions, CacheParts, FillOutcome, ResultOrigin};
use recoup_core::store::redis::RedisClaims;
use recoup_core::store::{ClaimRegistry, FileClaims, SqliteStore};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{Counted, compute, made, text, until};
use crate::redis_server::{self, fresh_prefix, target};
use crate::store_contract::stores::PATIENT;
use crate::support::{Faults, id};

/// What a helper does; without it, it is no helper.
const JOB: &str = "RECOUP_TEST_FLIGHT_JOB";
/// Where it does it.
const DIR: &str = "RECOUP_TEST_FLIGHT_DIR";
/// Which server it uses.
const URL: &str = "RECOUP_TEST_FLIGHT_URL";

/// Short, so that nobody waits long for the dead.
const LEASE: Duration = Duration::from_secs(1);

/// Not a test: what the helpers are.
#[test]
fn helper() {
    let Ok(job) = std::env::var(JOB) else { return };
    let place = Place(PathBuf::from(std::env::var_os(DIR).unwrap()));
    match job.as_str() {
        "compute" => {
            place.note("ready");
            let work = || {
                place.note("computed");
                until("it may go on", || place.0.join("go").exists());
                Ok(made("answer"))
            };
            let computed = compute(&place.cache(place.claims()), "key", work).unwrap();
            assert_eq!(text(&computed.body), "answer");
            place.note("done");
        }
        "hold" => {
            let claims = RedisClaims::with_lease(target(&std::env::var(URL).unwrap()), LEASE);
            let _claim = claims.try_claim(&id("a")).unwrap().unwrap();
            place.note("ready");
            thread::sleep(super::PATIENCE);
        }
        other => panic!("no such job: {other}"),
    }
}

/// What the processes of one test share.
struct Place(PathBuf);

impl Place {
    fn claims(&self) -> Arc<FileClaims> {
        Arc::new(FileClaims::at(self.0.join("claims")))
    }

    fn cache(&self, claims: Arc<dyn ClaimRegistry>) -> Cache {
        Cache::from_parts(CacheParts {
            store: Arc::new(SqliteStore::at(self.0.join("cache.db"), PATIENT, Faults::new())),
            clock: Arc::new(SystemClock),
            ledger: None,
            claims,
            options: CacheOptions::default(),
        })
    }

    /// One line more, in one piece.
    fn note(&self, what: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(self.0.join(what));
        file.as_mut().unwrap().write_all(b"x\n").unwrap();
    }

    fn noted(&self, what: &str) -> usize {
        fs::read_to_string(self.0.join(what)).map_or(0, |text| text.lines().count())
    }
}

/// Ended with the test, whichever way that ends.
struct Helper(Child);

impl Helper {
    fn start(job: &str, dir: &Path, url: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "single_flight::processes::helper", "--test-threads=1"])
            .envs([(JOB, job), (URL, url)])
            .env(DIR, dir)
            .stdout(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn ends_well(mut self) -> bool {
        self.0.wait().unwrap().success()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn scene() -> (TempDir, Place) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place(dir.path().to_owned());
    (dir, place)
}

fn claim_files(place: &Place) -> usize {
    fs::read_dir(place.0.join("claims")).map_or(0, Iterator::count)
}

#[test]
fn twenty_processes_cost_one_computation() {
    let (dir, place) = scene();
    let helpers: Vec<_> = (0..20).map(|_| Helper::start("compute", dir.path(), "")).collect();
    until("all have started, and one works", || {
        place.noted("ready") == 20 && place.noted("computed") > 0
    });
    fs::write(dir.path().join("go"), "").unwrap();
    assert!(helpers.into_iter().all(Helper::ends_well));
    assert_eq!((place.noted("computed"), place.noted("done")), (1, 20));
    assert_eq!(claim_files(&place), 0);
}

#[test]
fn a_leader_that_is_killed_hands_over() {
    let (dir, place) = scene();
    let leader = Helper::start("compute", dir.path(), "");
    until("it works", || place.noted("computed") == 1);
    let claims = Counted::over(place.claims());
    let cache = place.cache(claims.clone());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| compute(&cache, "key", || Ok(made("second"))).unwrap());
        claims.wait_for(3);
        assert_eq!(claim_files(&place), 1);
        leader.signal(Signal::KILL);
        let computed = waiter.join().unwrap();
        assert!(
            matches!(computed.how, ResultOrigin::Computed(Ok(FillOutcome::Stored(_)))),
            "{computed:?}"
        );
        assert_eq!(text(&computed.body), "second");
    });
    assert_eq!(claim_files(&place), 0);
}

/// The kernel frees nothing, because it lives; but nobody waits for ever.
#[test]
fn a_leader_that_is_stopped_holds_nobody_up_for_ever() {
    let (dir, place) = scene();
    let leader = Helper::start("compute", dir.path(), "");
    until("it works", || place.noted("computed") == 1);
    leader.signal(Signal::STOP);
    let options = CacheOptions { wait: Duration::from_millis(150), ..CacheOptions::default() };
    let cache = Cache::from_parts(CacheParts {
        store: Arc::new(SqliteStore::at(dir.path().join("cache.db"), PATIENT, Faults::new())),
        clock: Arc::new(SystemClock),
        ledger: None,
        claims: place.claims(),
        options,
    });
    let computed = compute(&cache, "key", || Ok(made("second"))).unwrap();
    assert_eq!(text(&computed.body), "second");
}

#[test]
fn the_lease_of_a_dead_process_expires() {
    let (dir, place) = scene();
    let port = redis_server::shared().port;
    let url = format!("redis://127.0.0.1:{port}/?prefix={}&timeout=30s", fresh_prefix());
    let owner = Helper::start("hold", dir.path(), &url);
    until("it has it", || place.noted("ready") == 1);
    let claims = RedisClaims::with_lease(target(&url), LEASE);
    assert!(claims.try_claim(&id("a")).unwrap().is_none());
    owner.signal(Signal::KILL);
    until("it is free", || claims.try_claim(&id("a")).unwrap().is_some());
}
