//! Much output: it passes in any case, and is kept as far as there is room.

use std::fs;
use std::io::{self, Read as _};
use std::process::Stdio;

use super::{COUNT, exec, runs, words};
use crate::support::{Home, RECOUP, finish};

/// Bytes of all values, the same each time: among millions of truly random ones
/// there is now and then what looks like a secret.
fn noise(len: usize) -> Vec<u8> {
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Some((*state >> 56) as u8)
    };
    let mut state = 1;
    std::iter::from_fn(|| next(&mut state)).take(len).collect()
}

#[test]
fn output_of_any_size_comes_back() {
    let home = Home::new();
    let noise = noise(5_000_000);
    home.write("noise", &noise);
    let sizes = [1, 65_536, (1 << 19) + 1, 1 << 20, (1 << 20) + 1, 5_000_000];
    for size in sizes {
        for _ in 0..2 {
            let script = format!("{COUNT}head -c {size} noise; tail -c {size} noise >&2");
            let output = home.command(&words(&[], &script)).output().unwrap();
            assert!(output.stdout == noise[..size], "{size}");
            assert!(output.stderr == noise[noise.len() - size..], "{size}");
        }
    }
    assert_eq!(runs(&home), sizes.len());
}

/// The most memory that a hit has had when it begins to write, in KiB.
fn peak_of_hit(home: &Home, script: &str) -> u64 {
    let mut command = home.command(&words(&["--only-if-cached"], script));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0]).unwrap();
    // It has more to write than a pipe takes, so it is still there.
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let written = io::copy(&mut out, &mut io::sink()).unwrap();
    assert!(child.wait().unwrap().success() && written > 1 << 20);
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_hit_does_not_hold_in_memory_what_it_gives_out() {
    let home = Home::new();
    let script = |mib: u32| format!("head -c {} /dev/zero; echo err >&2", mib << 20);
    for mib in [2, 26] {
        exec(&home, &[], &script(mib)).expect(0);
    }
    let (small, large) = (peak_of_hit(&home, &script(2)), peak_of_hit(&home, &script(26)));
    assert!(large < small + (12 << 10), "{small} and {large} KiB");
}

#[test]
fn a_hit_needs_no_room_for_a_file() {
    let home = Home::new();
    let script = format!("{COUNT}head -c 3000000 /dev/zero");
    exec(&home, &[], &script).expect(0);
    let mut command = home.command(&words(&[], &script));
    let output = finish(command.env("TMPDIR", home.path("not-there"))).expect(0);
    assert_eq!((output.stdout.len(), output.stderr.as_str()), (3_000_000, ""));
    assert_eq!(runs(&home), 1);
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
        output.stderr.starts_with("recoup: not cached: buffering the output in a temporary file"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_limit_on_the_size_of_files_keeps_it_out_of_the_cache_and_ends_nobody() {
    let home = Home::new();
    let script = format!(
        "ulimit -f 200; exec {RECOUP} exec -- sh -c 'ulimit -f; head -c 3000000 /dev/zero'"
    );
    let output = finish(&mut home.prepared("sh", &["-c", &script])).expect(0);
    assert_eq!(output.stdout.len(), 3_000_004);
    assert!(output.stderr.starts_with("recoup: not cached: "), "{}", output.stderr);
}

/// A hit writes down that it was one: that must not end it either.
#[test]
fn nor_does_it_end_a_hit() {
    let home = Home::new();
    exec(&home, &[], "echo hi").expect(0);
    home.set("key", "{}");
    fs::create_dir_all(home.recoup().join("logs")).unwrap();
    fs::write(home.recoup().join("logs/hits.jsonl"), "x\n".repeat(1 << 20)).unwrap();
    let script =
        format!("ulimit -f 1024; {RECOUP} exec -- sh -c 'echo hi'; {RECOUP} cache get --key key");
    let output = finish(&mut home.prepared("sh", &["-c", &script])).expect(0);
    assert_eq!(output.text(), "hi\n{}\n");
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
    let script = "i=0; while [ $i -lt 40000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let first = exec(&home, &[], script).expect(0);
    let second = exec(&home, &["--only-if-cached"], script).expect(0);
    assert!(first.stdout == second.stdout && first.stderr == second.stderr);
    assert_eq!(first.text().lines().count(), 40000);
}
