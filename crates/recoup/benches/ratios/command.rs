//! Whole commands against the smallest program there is.

use std::time::Duration;

use crate::measure::{Figure, Ratio, best, compare};
use crate::scene::{self, Scene};

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const TRUE: &str = "/bin/true";
const ROUNDS: usize = 500;
const SECOND: Duration = Duration::from_secs(1);

fn get(scene: &Scene, n: usize) {
    let key = scene::id(n).key;
    scene.run(RECOUP, &["cache", "get", "--scope", "global", "--key", key.as_str()]);
}

pub(crate) fn get_against_true() -> Ratio {
    let scene = Scene::with_entries(1_000);
    compare(2.5, ROUNDS, 1, || scene.run(TRUE, &[]), || get(&scene, 500))
}

/// What noting a hit in the ledger and in the hit log adds to it.
pub(crate) fn get_against_unnoted() -> Ratio {
    let scene = Scene::with_entries(1_000);
    let key = scene::id(500).key.to_string();
    let args = ["cache", "--scope", "global", "get", "--key", &key];
    scene.noted_against_unnoted(RECOUP, &args)
}

pub(crate) fn get_flat() -> Ratio {
    let (few, many) = (Scene::with_entries(10), Scene::with_entries(100_000));
    let mut n = 0;
    compare(
        1.2,
        ROUNDS,
        1,
        || get(&few, 5),
        || {
            n = (n + 7_919) % 100_000;
            get(&many, n);
        },
    )
}

/// Agents ask this between two steps of their work.
pub(crate) fn check_against_true() -> Ratio {
    let scene = Scene::with_entries(0);
    let check = || scene.run(RECOUP, &["early-exit", "check", "s"]);
    compare(3.0, ROUNDS, 1, || scene.run(TRUE, &[]), check)
}

/// The same once somebody has won, which exits with 1.
pub(crate) fn check_signaled_against_true() -> Ratio {
    let scene = Scene::with_entries(0);
    scene.run(RECOUP, &["early-exit", "signal", "s", "a"]);
    let check = || scene.run_to(1, RECOUP, &["early-exit", "check", "s"]);
    compare(3.0, ROUNDS, 1, || scene.run(TRUE, &[]), check)
}

fn set(scene: &Scene, n: usize) {
    let (key, body) = (scene::id(n).key, scene::body(n));
    let args = ["cache", "set", "--scope", "global", "--key", key.as_str(), "--condensed", &body];
    scene.run(RECOUP, &args);
}

pub(crate) fn set_against_true() -> Ratio {
    let scene = Scene::with_entries(1_000);
    let mut n = 1_000;
    compare(
        4.0,
        ROUNDS,
        1,
        || scene.run(TRUE, &[]),
        || {
            n += 1;
            set(&scene, n);
        },
    )
}

/// Overwrites, so that few stay few.
pub(crate) fn set_flat() -> Ratio {
    let (few, many) = (Scene::with_entries(10), Scene::with_entries(100_000));
    let mut n = 0;
    let mut m = 0;
    compare(
        1.2,
        ROUNDS,
        1,
        || {
            m = (m + 1) % 10;
            set(&few, m);
        },
        || {
            n = (n + 7_919) % 100_000;
            set(&many, n);
        },
    )
}

/// Compares a command that shows or touches little, among many entries and among few.
fn flat(goal: f64, args: &[&str]) -> Ratio {
    let (few, many) = (Scene::with_questions(10), Scene::with_questions(100_000));
    compare(goal, ROUNDS / 10, 1, || few.run(RECOUP, args), || many.run(RECOUP, args))
}

pub(crate) fn list_flat() -> Ratio {
    flat(1.5, &["cache", "ls", "--scope", "global", "--limit", "20"])
}

pub(crate) fn invalidate_none_flat() -> Ratio {
    flat(1.5, &["cache", "invalidate", "--scope", "global", "--tag", "neither"])
}

pub(crate) fn generate_key_against_true() -> Ratio {
    let scene = Scene::with_entries(0);
    let args = [
        "cache", "generate-key", "--paths", "src/user.ts,src/auth.ts", "--query",
        "Find SQL injection", "--operation", "security-audit",
    ];
    compare(3.0, ROUNDS, 1, || scene.run(TRUE, &[]), || scene.run(RECOUP, &args))
}

/// Half of the entries have the tag.
pub(crate) fn invalidate_many() -> Figure {
    let args = ["cache", "invalidate", "--scope", "global", "--tag", "even"];
    best(SECOND, 3, || Scene::with_entries(100_000), |scene| scene.run(RECOUP, &args))
}

/// Of all entries one has the same paths and operation, and the others have some part in
/// common.
pub(crate) fn explain_among_many() -> Figure {
    let args = [
        "explain", "--scope", "global", "--paths", "src/module_77777.rs", "--query",
        "find what is not checked 7", "--operation", "review",
    ];
    let scene = Scene::with_questions(100_000);
    // A miss, which exits with 1.
    best(SECOND / 10, 20, || (), |()| scene.run_to(1, RECOUP, &args))
}

pub(crate) fn clear_many() -> Figure {
    let args = ["cache", "clear", "--scope", "global", "--yes"];
    best(SECOND * 2, 3, || Scene::with_entries(100_000), |scene| scene.run(RECOUP, &args))
}

/// Everything must go.
pub(crate) fn clean_up_many() -> Figure {
    let args = ["cache", "cleanup", "--scope", "global", "--max-size-mb", "0"];
    best(SECOND, 3, || Scene::with_entries(100_000), |scene| scene.run(RECOUP, &args))
}
