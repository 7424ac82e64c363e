//! Much output: it passes in any case, and is kept as far as there is room.

use std::fs;

use super::{COUNT, exec, runs, words};
use crate::support::{Home, finish};

#[test]
fn output_of_any_size_comes_back() {
    let home = Home::new();
    for size in [1, 65_536, (1 << 19) + 1, 1 << 20, (1 << 20) + 1, 5_000_000] {
        let script = format!("head -c {size} /dev/urandom; head -c {size} /dev/urandom >&2");
        let run = || home.command(&words(&[], &script)).output().unwrap();
        let (first, second) = (run(), run());
        assert_eq!((first.stdout.len(), first.stderr.len()), (size, size));
        assert!(first.stdout == second.stdout && first.stderr == second.stderr, "{size}");
    }
}

#[test]
fn output_beyond_the_limit_passes_and_is_not_kept() {
    let home = Home::new();
    let script = format!("{COUNT}head -c 3000000 /dev/zero");
    for _ in 0..2 {
        let mut command = home.command(&words(&[], &script));
        let output = finish(command.env("RECOUP_CACHE_MAX_SIZE_MB", "1")).expect(0);
        assert_eq!(output.stdout.len(), 3_000_000);
        assert_eq!(
            output.stderr,
            "recoup: not cached: its output is larger than the limit of 1 MiB (cache.max_size_mb)\n"
        );
    }
    assert_eq!(runs(&home), 2);
}

#[test]
fn without_room_to_set_it_aside_it_passes_and_is_not_kept() {
    let home = Home::new();
    let script = format!("{COUNT}head -c 3000000 /dev/zero");
    let mut command = home.command(&words(&[], &script));
    let output = finish(command.env("TMPDIR", home.path("not-there"))).expect(0);
    assert_eq!(output.stdout.len(), 3_000_000);
    assert!(
        output.stderr.starts_with("recoup: not cached: setting output aside"),
        "{}",
        output.stderr
    );
}

#[test]
fn nothing_is_left_where_it_was_set_aside() {
    let home = Home::new();
    let temp = home.path("tmp");
    fs::create_dir(&temp).unwrap();
    let mut command = home.command(&words(&[], "head -c 3000000 /dev/zero"));
    finish(command.env("TMPDIR", &temp)).expect(0);
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0);
}

#[test]
fn much_of_both_by_turns_comes_back() {
    let home = Home::new();
    let script = "i=0; while [ $i -lt 2000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let first = exec(&home, &[], script).expect(0);
    let second = exec(&home, &["--only-if-cached"], script).expect(0);
    assert!(first.stdout == second.stdout && first.stderr == second.stderr);
    assert_eq!(first.text().lines().count(), 2000);
}
