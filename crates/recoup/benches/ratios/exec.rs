//! `recoup exec` against the bare command, and a large replay against a program
//! that does the least there is to do.

use std::io::Write as _;

use sha2::{Digest as _, Sha256};

use crate::measure::{Ratio, compare};
use crate::scene::Scene;

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const TRUE: &str = "/bin/true";
const ROUNDS: usize = 500;

/// What the other side of the large replay is called by.
const BASELINE: &str = "--read-verify-write";
const LARGE: usize = 100_000_000;

pub(crate) fn hit_against_true() -> Ratio {
    let scene = Scene::with_entries(1_000);
    let args = ["exec", "--scope", "global", "--", TRUE];
    scene.run(RECOUP, &args);
    compare(4.0, ROUNDS, 1, || scene.run(TRUE, &[]), || scene.run(RECOUP, &args))
}

/// What noting a hit in the ledger and in the hit log adds to it.
pub(crate) fn hit_against_unnoted() -> Ratio {
    let scene = Scene::with_entries(1_000);
    let args = ["exec", "--scope", "global", "--", TRUE];
    scene.run(RECOUP, &args);
    scene.noted_against_unnoted(RECOUP, &args)
}

/// A new command each time, without what it takes by itself.
pub(crate) fn miss_against_true() -> Ratio {
    let scene = Scene::with_entries(1_000);
    let mut n = 0;
    let whole = compare(
        6.0,
        ROUNDS,
        1,
        || scene.run(TRUE, &[]),
        || {
            n += 1;
            let extra = n.to_string();
            scene.run(RECOUP, &["exec", "--scope", "global", "--key-extra", &extra, "--", TRUE]);
        },
    );
    Ratio { subject: whole.subject.saturating_sub(whole.baseline), ..whole }
}

/// No byte may be given out before all are verified: both sides read everything,
/// verify it, and then write it.
pub(crate) fn replay_against_reading() -> Ratio {
    let scene = Scene::with_entries(0);
    let file = scene.db().with_file_name("output");
    let bytes: Vec<u8> = (0..LARGE / 8)
        .flat_map(|n| (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .collect();
    std::fs::write(&file, &bytes).unwrap();
    let (file, digest) = (file.to_str().unwrap(), hex(&Sha256::digest(&bytes)));
    let ours = std::env::current_exe().unwrap();
    let ours = ours.to_str().unwrap();
    let args = ["exec", "--scope", "global", "--", "cat", file];
    scene.run(RECOUP, &args);
    let check = ["exec", "--scope", "global", "--only-if-cached", "--", "cat", file];
    compare(
        1.5,
        20,
        1,
        || scene.run(ours, &[BASELINE, file, &digest]),
        || scene.run(RECOUP, &check),
    )
}

pub(crate) fn is_baseline() -> bool {
    std::env::args().nth(1).is_some_and(|arg| arg == BASELINE)
}

/// Reads a file, verifies its digest, and writes it to stdout.
pub(crate) fn be_the_baseline() {
    let args: Vec<String> = std::env::args().skip(2).collect();
    let bytes = std::fs::read(&args[0]).unwrap();
    assert_eq!(hex(&Sha256::digest(&bytes)), args[1]);
    std::io::stdout().write_all(&bytes).unwrap();
}

fn hex(bytes: &[u8]) -> String {
    recoup_core::base::digest::encode_hex(bytes)
}
