//! What is counted and who waits, over processes that share one file.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::ManualClock;
use recoup_core::memory::judge::account::{FaultSort, JudgeAccount, JudgeFault, JudgeTerms};
use recoup_core::{Error, ErrorKind};
use tempfile::TempDir;

use crate::support::START;

struct Scene {
    dir: TempDir,
    clock: ManualClock,
}

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

impl Scene {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), clock: ManualClock::at(START) }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("deep/judge.json")
    }

    /// As another process would have it.
    fn account(&self) -> JudgeAccount {
        JudgeAccount::at(self.file(), Arc::new(self.clock.clone()))
    }

    fn tokens(&self) -> u64 {
        self.account().status(&terms()).unwrap().tokens
    }

    /// Asks, and is answered at this cost.
    fn ask(&self, tokens: u64, cost: Option<u64>) -> Result<(), Error> {
        self.account().reserve(&terms(), tokens)?.settle_answered(cost, None)
    }

    fn fail(&self, sort: FaultSort) {
        let fault = fault(sort, false);
        self.account().reserve(&terms(), 1).unwrap().settle_failed(&fault).unwrap();
    }
}

fn terms() -> JudgeTerms {
    JudgeTerms {
        daily_tokens: 1_000,
        fingerprint: "one".to_owned(),
        deadline: Duration::from_secs(20),
        insists: false,
    }
}

fn fault(sort: FaultSort, may_have_cost: bool) -> JudgeFault {
    JudgeFault { sort, error: Error::new(ErrorKind::Unavailable, "it is away"), may_have_cost }
}

#[test]
fn a_question_costs_what_it_really_cost() {
    let scene = Scene::new();
    scene.ask(600, Some(100)).unwrap();
    assert_eq!(scene.tokens(), 100);
    scene.ask(600, None).unwrap();
    assert_eq!(scene.tokens(), 700, "as much as it can where nobody says");
    assert_eq!(scene.account().status(&terms()).unwrap().questions, 2);
}

#[test]
fn what_is_on_its_way_counts_and_what_was_never_settled_is_spent() {
    let scene = Scene::new();
    let (account, terms) = (scene.account(), terms());
    let first = account.reserve(&terms, 600).unwrap();
    let refused = account.reserve(&terms, 600).unwrap_err().to_string();
    assert!(refused.contains("600 of 1000 tokens are used"), "{refused}");
    drop(first);
    assert_eq!(scene.tokens(), 600);
}

#[test]
fn the_next_day_begins_at_nothing() {
    let scene = Scene::new();
    scene.ask(1_000, None).unwrap();
    let refused = scene.ask(1, None).unwrap_err().to_string();
    assert!(refused.contains("not asked before tomorrow"), "{refused}");
    scene.clock.advance(DAY);
    assert_eq!(scene.tokens(), 0);
    scene.ask(1_000, None).unwrap();
}

#[test]
fn a_clock_that_is_set_back_frees_nothing() {
    let scene = Scene::new();
    scene.ask(1_000, None).unwrap();
    let earlier = ManualClock::at(recoup_core::base::clock::Timestamp::from_millis(
        START.as_millis() - 3_600_000 * 20,
    ));
    let account = JudgeAccount::at(scene.file(), Arc::new(earlier));
    assert!(account.reserve(&terms(), 1).is_err());
}

#[test]
fn a_damaged_file_has_nothing_left_until_tomorrow() {
    let scene = Scene::new();
    scene.ask(10, Some(10)).unwrap();
    for damage in ["", "{", "[1,2]", "\0\0\0"] {
        fs::write(scene.file(), damage).unwrap();
        assert!(scene.ask(1, None).is_err(), "{damage:?}");
        let standing = scene.account().status(&terms()).unwrap();
        assert_eq!(standing.tokens, 1_000);
        assert!(standing.last_failure.unwrap().1.contains("damaged"));
    }
    scene.clock.advance(DAY);
    scene.ask(1_000, Some(7)).unwrap();
    assert_eq!(scene.tokens(), 7);
}

#[test]
fn where_it_can_not_be_counted_nothing_is_asked() {
    let scene = Scene::new();
    fs::write(scene.dir.path().join("deep"), "a file where the directory should be").unwrap();
    assert!(scene.ask(1, None).is_err());
}

#[test]
fn many_at_once_never_take_more_than_there_is() {
    let scene = Scene::new();
    let taken: u64 = thread::scope(|scope| {
        let many: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let (account, terms) = (scene.account(), terms());
                    let take = || account.reserve(&terms, 70).is_ok();
                    (0..4).filter(|_| take()).count() as u64
                })
            })
            .collect();
        many.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!((taken, scene.tokens()), (14, 980));
}

#[test]
fn after_a_fault_nobody_asks_for_a_while_and_then_one_does() {
    let scene = Scene::new();
    scene.fail(FaultSort::Passing(None));
    let refused = scene.ask(1, None).unwrap_err().to_string();
    assert!(refused.contains("not asked before"), "{refused}");
    scene.clock.advance(Duration::from_secs(15));
    let (account, terms) = (scene.account(), terms());
    let trial = account.reserve(&terms, 1).unwrap();
    assert!(scene.ask(1, None).is_err(), "somebody is finding out");
    trial.settle_answered(Some(1), None).unwrap();
    scene.ask(1, Some(1)).unwrap();
}

#[test]
fn pauses_grow_with_each_fault_and_end_with_an_answer() {
    let scene = Scene::new();
    let pause = || {
        let until = scene.account().status(&terms()).unwrap().paused_until.unwrap();
        until.millis_since(recoup_core::base::clock::Clock::now(&scene.clock))
    };
    let mut most = 15_000;
    for _ in 0..12 {
        scene.fail(FaultSort::Passing(None));
        assert!((most / 2..=most).contains(&pause()), "{most}: {}", pause());
        most = (most * 2).min(3_600_000);
        scene.clock.advance(HOUR);
    }
    scene.ask(1, Some(1)).unwrap();
    scene.fail(FaultSort::Passing(None));
    assert!(pause() <= 15_000);
    scene.clock.advance(HOUR);
    scene.fail(FaultSort::Passing(Some(600_000)));
    assert!((600_000..=660_000).contains(&pause()), "{}", pause());
}

#[test]
fn a_refusal_stops_it_for_an_hour_or_until_something_is_changed() {
    let scene = Scene::new();
    scene.fail(FaultSort::Lasting);
    scene.clock.advance(HOUR / 2);
    assert!(scene.ask(1, None).is_err());
    let changed = JudgeTerms { fingerprint: "another key".to_owned(), ..terms() };
    scene.account().reserve(&changed, 1).unwrap().settle_answered(Some(1), None).unwrap();
    assert!(scene.ask(1, None).is_err(), "the old one is still refused");
    scene.clock.advance(HOUR / 2);
    scene.ask(1, Some(1)).unwrap();
}

#[test]
fn whoever_insists_passes_over_the_pause_and_not_over_the_budget() {
    let scene = Scene::new();
    scene.fail(FaultSort::Lasting);
    let insisting = JudgeTerms { insists: true, ..terms() };
    scene.account().reserve(&insisting, 1_000).unwrap().settle_answered(Some(1_000), None).unwrap();
    assert!(scene.account().reserve(&insisting, 1).is_err());
}

#[test]
fn a_fault_that_may_have_cost_something_has_cost_it() {
    let scene = Scene::new();
    let spent = |may_have_cost| {
        let insisting = JudgeTerms { insists: true, ..terms() };
        let account = scene.account();
        let fault = fault(FaultSort::Passing(None), may_have_cost);
        account.reserve(&insisting, 100).unwrap().settle_failed(&fault).unwrap();
        scene.tokens()
    };
    assert_eq!((spent(false), spent(true)), (0, 100));
}

#[test]
fn the_last_failure_is_told_without_secrets() {
    let scene = Scene::new();
    let secret = ["ghp", "_", &"x9Kq2".repeat(8)[..36]].concat();
    let error = Error::new(ErrorKind::Unavailable, format!("it said {secret} {}", "x".repeat(999)));
    let fault = JudgeFault { sort: FaultSort::Lasting, error, may_have_cost: false };
    scene.account().reserve(&terms(), 1).unwrap().settle_failed(&fault).unwrap();
    let (_, words) = scene.account().status(&terms()).unwrap().last_failure.unwrap();
    assert!(words.starts_with("it said [redacted") && words.len() < 320, "{words}");
    assert!(!fs::read_to_string(scene.file()).unwrap().contains("x9Kq2"));
}

#[test]
fn a_question_that_the_budget_refuses_moves_no_pause() {
    let scene = Scene::new();
    scene.fail(FaultSort::Passing(None));
    scene.clock.advance(HOUR);
    let paused = |scene: &Scene| scene.account().status(&terms()).unwrap().paused_until;
    assert_eq!(paused(&scene), None, "it is over");
    let refused = scene.ask(5_000, None).unwrap_err().to_string();
    assert!(refused.contains("of 1000 tokens"), "{refused}");
    assert_eq!(paused(&scene), None, "nobody was asked");
    scene.ask(100, Some(100)).unwrap();
}
