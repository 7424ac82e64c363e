//! What the benchmarks work on: a store filled through the library, in a
//! directory that goes away.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use recoup_core::Error;
use recoup_core::base::clock::{Clock, SystemClock};
use recoup_core::entry::{Draft, EntryRecord, RecordedSources};
use recoup_core::key::result::ResultRecipe;
use recoup_core::key::{EntryId, Key, KeyRecipe as _, Kind, Scope};
use recoup_core::store::sqlite::WaitLimits;
use recoup_core::store::{FaultLog, SqliteStore, Store};
use tempfile::TempDir;

use crate::measure::{Ratio, compare};

/// A home with a store of a given size in it.
pub(crate) struct Scene {
    dir: TempDir,
}

/// A fault makes every figure worthless.
#[derive(Debug)]
pub(crate) struct NoFaults;

impl FaultLog for NoFaults {
    fn fault(&self, source: &str, error: &Error) {
        panic!("{source}: {error}");
    }
}

impl Scene {
    /// `entries` results of about 1 KB in the global scope.
    pub(crate) fn with_entries(entries: usize) -> Self {
        let scene = Self { dir: TempDir::new().unwrap() };
        let store = scene.store();
        for n in 0..entries {
            store.put(&id(n), &record(n)).unwrap();
        }
        scene
    }

    /// The same, each the answer to a question whose parts are kept.
    pub(crate) fn with_questions(entries: usize) -> Self {
        let scene = Self { dir: TempDir::new().unwrap() };
        let store = scene.store();
        for n in 0..entries {
            let paths = format!("src/module_{n}.rs");
            let question = ResultRecipe::new(&paths, &format!("find what is unused {n}"), "review");
            let mut record = record(n);
            record.head.header.parts = question.parts();
            store.put(&EntryId::new(Scope::global(), question.key().unwrap()), &record).unwrap();
        }
        scene
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.dir.path().join("cache.db")
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::at(self.db(), WaitLimits::default(), Arc::new(NoFaults))
    }

    /// Runs `program` here and insists on success.
    pub(crate) fn run(&self, program: &str, args: &[&str]) {
        self.run_as(0, program, args, &[]);
    }

    /// Runs `program` here and insists on its exit code.
    pub(crate) fn run_to(&self, code: i32, program: &str, args: &[&str]) {
        self.run_as(code, program, args, &[]);
    }

    /// Runs `program` with more in its environment, and insists on success.
    pub(crate) fn run_with(&self, program: &str, args: &[&str], variables: &[(&str, &str)]) {
        self.run_as(0, program, args, variables);
    }

    fn run_as(&self, code: i32, program: &str, args: &[&str], variables: &[(&str, &str)]) {
        let status = in_clean_environment(program)
            .args(args)
            .env("RECOUP_HOME", self.dir.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{program} {args:?}: {status}");
    }
}

/// A program that is to be measured. Cargo's `LD_LIBRARY_PATH` would make the dynamic linker of
/// the baseline search sixty directories, and flatter every ratio.
pub(crate) fn in_clean_environment(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
    command
}

impl Scene {
    /// A hit with the ledger and the hit log against the same without them. Both have
    /// the variables, so that only what these say differs.
    pub(crate) fn noted_against_unnoted(&self, program: &str, args: &[&str]) -> Ratio {
        let run = |on: &str| {
            let variables = [("RECOUP_LEDGER_ENABLED", on), ("RECOUP_LOG_HITS", on)];
            self.run_with(program, args, &variables);
        };
        compare(1.1, 1_000, 1, || run("false"), || run("true"))
    }
}

/// A result of about 1 KB, good for a day.
pub(crate) fn record(n: usize) -> EntryRecord {
    let tags = vec![if n.is_multiple_of(2) { "even" } else { "odd" }.to_owned()];
    let draft = Draft { ttl: Some(86_400_000), tags, ..Draft::new(Kind::Result, body(n)) };
    draft.seal(RecordedSources::default(), SystemClock.now()).unwrap()
}

/// The `n`th entry.
pub(crate) fn id(n: usize) -> EntryId {
    let digest = recoup_core::base::digest::Sha256Digest::of(&n.to_le_bytes());
    EntryId::new(Scope::global(), Key::from_digest(digest))
}

/// A review of about 1 KB, as agents write them.
pub(crate) fn body(n: usize) -> String {
    let finding = |line: usize| {
        format!(
            r#"{{"id":"F{line}","severity":"high","file":"src/module_{n}.rs","line":{line},"message":"value {} is not checked before use"}}"#,
            n * 31 + line
        )
    };
    let findings: Vec<_> = (1..=9).map(|line| finding(line * 17)).collect();
    format!(r#"{{"verdict":"FAIL","findings":[{}]}}"#, findings.join(","))
}
