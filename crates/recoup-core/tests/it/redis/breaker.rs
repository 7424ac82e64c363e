//! After repeated faults nobody asks for a while, in any process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::store::{GuardedStore, InMemoryStore, Store, TieredStore};
use tempfile::TempDir;

use super::at_port;
use super::fake::Fake;
use super::proxy::Proxy;
use crate::support::{Faults, START, id, later, record};

/// A server, and the file through which processes tell each other of it.
struct Scene {
    dir: TempDir,
    server: Arc<Fake>,
    clock: ManualClock,
}

impl Scene {
    fn new() -> Self {
        let server = Fake::failing(ErrorKind::Unavailable);
        Self { dir: tempfile::tempdir().unwrap(), server, clock: ManualClock::at(START) }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("breakers/server")
    }

    /// As one process sees it.
    fn process(&self) -> GuardedStore {
        GuardedStore::new(self.server.clone(), Some(self.file()), Arc::new(self.clock.clone()))
    }

    /// How often the server is asked while this is done.
    fn asked_by(&self, act: impl FnOnce()) -> usize {
        let before = self.server.asked();
        act();
        self.server.asked() - before
    }

    fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

fn ask(store: &dyn Store) -> String {
    store.get(&id("a")).map_or_else(|error| error.to_string(), |_| "answered".to_owned())
}

fn open(process: &GuardedStore) {
    for _ in 0..3 {
        assert_eq!(ask(process), "fake:: as told");
    }
}

#[test]
fn after_three_faults_no_process_asks() {
    let scene = Scene::new();
    let (mine, yours) = (scene.process(), scene.process());
    open(&mine);
    let said = "fake:: skipped for another 5 s after 3 errors; last error: as told";
    let asked = scene.asked_by(|| {
        assert_eq!(ask(&mine), said);
        assert_eq!(ask(&yours), said, "one that has never asked");
        for process in [&mine, &scene.process()] {
            let error = process.put(&id("a"), &record("a")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
        }
    });
    assert_eq!(asked, 0);
}

#[test]
fn faults_of_several_processes_are_counted_together() {
    let scene = Scene::new();
    for _ in 0..3 {
        assert_eq!(ask(&scene.process()), "fake:: as told");
    }
    assert_eq!(scene.asked_by(|| assert!(ask(&scene.process()).contains("skipped for"))), 0);
}

#[test]
fn nobody_connects_while_it_is_open() {
    let (scene, proxy) = (Scene::new(), Proxy::saying(b""));
    let process = || {
        let clock = Arc::new(scene.clock.clone());
        GuardedStore::new(at_port(proxy.port), Some(scene.file()), clock)
    };
    let mine = process();
    for _ in 0..3 {
        assert!(!ask(&mine).contains("skipped for"));
    }
    let came = proxy.came();
    assert!(came >= 3);
    for process in [&mine, &process()] {
        assert!((0..50).all(|_| ask(process).contains("skipped for")));
    }
    assert_eq!(proxy.came(), came);
}

#[test]
fn after_the_pause_exactly_one_tries() {
    let scene = Scene::new();
    let processes: Vec<GuardedStore> = (0..4).map(|_| scene.process()).collect();
    open(&processes[0]);
    for pause in [5, 10] {
        scene.pass(pause);
        let asked = scene.asked_by(|| {
            thread::scope(|scope| {
                for process in processes.iter().chain(&processes) {
                    scope.spawn(|| ask(process));
                }
            });
        });
        assert_eq!(asked, 1);
    }
}

#[test]
fn an_answer_closes_it_for_all() {
    let scene = Scene::new();
    let (mine, yours) = (scene.process(), scene.process());
    open(&mine);
    assert!(scene.file().exists() && ask(&yours).contains("skipped for"));
    scene.server.fails(None);
    assert!(ask(&mine).contains("skipped for"), "not before its time");
    scene.pass(5);
    assert_eq!(ask(&mine), "answered");
    assert!(!scene.file().exists());
    assert_eq!(ask(&scene.process()), "answered");
    super::eventually("the others find out", || ask(&yours) == "answered");
    scene.server.fails(Some(ErrorKind::Unavailable));
    assert_eq!(ask(&mine), "fake:: as told", "they are counted from the beginning");
    assert_eq!(ask(&mine), "fake:: as told");
}

#[test]
fn each_failed_try_doubles_the_pause_up_to_a_minute() {
    let scene = Scene::new();
    let process = scene.process();
    open(&process);
    for pause in [5, 10, 20, 40, 60, 60, 60] {
        let said = ask(&process);
        assert!(said.contains(&format!("another {pause} s")), "{said}");
        scene.pass(pause - 1);
        assert_eq!(scene.asked_by(|| assert!(ask(&process).contains("another 1 s"))), 0);
        scene.pass(1);
        assert_eq!(scene.asked_by(|| assert!(ask(&process).contains("as told"))), 1);
    }
}

#[test]
fn what_is_an_answer_does_not_open_it() {
    for kind in [ErrorKind::Corrupt, ErrorKind::Full, ErrorKind::ReadOnly, ErrorKind::Io] {
        let scene = Scene::new();
        scene.server.fails(Some(kind));
        let process = scene.process();
        assert_eq!(scene.asked_by(|| (0..10).for_each(|_| drop(ask(&process)))), 10);
        assert!(!scene.file().exists());
    }
}

/// Whatever is in its place, faults open it and an answer closes it.
#[test]
fn a_file_that_is_not_ours_or_cant_be_written_is_no_trap() {
    let spoil: [fn(&Path); 6] = [
        |file| fs::write(file, "garbage").unwrap(),
        |file| fs::write(file, "").unwrap(),
        |file| fs::write(file, vec![b'x'; 100_000]).unwrap(),
        |file| fs::create_dir(file).unwrap(),
        |file| {
            let state = r#"{"faults":4294967295,"until":9223372036854775807,"last":"x"}"#;
            fs::write(file, state).unwrap();
        },
        |file| {
            fs::remove_dir(file.parent().unwrap()).unwrap();
            fs::write(file.parent().unwrap(), "no directory").unwrap();
        },
    ];
    for (n, spoil) in spoil.into_iter().enumerate() {
        let scene = Scene::new();
        fs::create_dir(scene.file().parent().unwrap()).unwrap();
        spoil(&scene.file());
        let process = scene.process();
        assert_eq!(ask(&process), "fake:: as told", "{n}: the first is asked");
        let asked = scene.asked_by(|| (0..10).for_each(|_| drop(ask(&process))));
        assert!(asked <= 2, "{n}: {asked}");
        scene.pass(60);
        scene.server.fails(None);
        assert_eq!(ask(&process), "answered", "{n}");
        assert_eq!(ask(&process), "answered", "{n}");
    }
}

#[test]
fn a_clock_that_was_set_does_not_keep_it_open() {
    let hour = 3_600_000;
    for now in [Timestamp::from_millis(START.as_millis() - 3_600_000), later(hour)] {
        let scene = Scene::new();
        open(&scene.process());
        scene.server.fails(None);
        let clock = Arc::new(ManualClock::at(now));
        let process = GuardedStore::new(scene.server.clone(), Some(scene.file()), clock);
        assert_eq!(ask(&process), "answered");
    }
}

/// One that was stopped while it held the lock would hold it for ever.
#[test]
fn a_lock_that_is_never_released_is_passed_by() {
    let scene = Scene::new();
    let process = scene.process();
    open(&process);
    let lock = fs::File::open(scene.dir.path().join("breakers/server.lock")).unwrap();
    lock.lock().unwrap();
    scene.pass(5);
    assert_eq!(scene.asked_by(|| drop(ask(&process))), 0, "somebody is about to");
    scene.pass(61);
    assert_eq!(scene.asked_by(|| drop(ask(&process))), 1);
    assert!(scene.asked_by(|| (0..5).for_each(|_| drop(ask(&process)))) == 0);
}

#[test]
fn each_fault_is_told_once() {
    let (scene, faults) = (Scene::new(), Faults::new());
    let front = Arc::new(InMemoryStore::with_capacity(1 << 20));
    let back = Arc::new(scene.process());
    front.put(&id("a"), &record("a")).unwrap();
    let clock = Arc::new(scene.clock.clone());
    let tiers = TieredStore::new(front, back, 0, clock, faults.clone());
    scene.pass(1);
    for n in 1..=5 {
        assert!(tiers.get(&id("a")).unwrap().is_some(), "from the front");
        let told = faults.take();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].2.contains("skipped for"), n > 2, "{told:?}");
        assert!(tiers.get(&id("unknown")).is_err(), "nobody knows");
        assert_eq!(faults.count(), 0, "whoever asked is told");
    }
    let error = tiers.put(&id("a"), &record("b")).unwrap_err().to_string();
    assert_eq!(error.matches("fake:").count(), 1, "{error}");
}
