//! Journals of runs: each run writes its steps to a file of its own and removes it at the end. What a
//! run that died has left can be resumed.

use std::fs;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::key::Key;
use rustix::process::{Pid, test_kill_process};

/// Directory below our own.
const RUNS_DIR: &str = "runs";

/// The journals of one question.
#[derive(Debug)]
pub(crate) struct RunJournal {
    /// File of this run.
    pub(crate) own: PathBuf,
    /// Files that runs of the same question have left, the latest last.
    unfinished: Vec<PathBuf>,
}

impl RunJournal {
    /// The journals of the question that `inputs` stand for.
    pub(crate) fn find(home: &Path, inputs: &[&[u8]]) -> Self {
        let (dir, name) = (home.join(RUNS_DIR), Key::of(inputs).to_string());
        let own = dir.join(format!("{name}.{}.jsonl", std::process::id()));
        let left = |entry: fs::DirEntry| {
            let file = entry.file_name().into_string().ok()?;
            let process = file.strip_prefix(&name)?.strip_prefix('.')?.strip_suffix(".jsonl")?;
            let process = process.parse().ok().and_then(Pid::from_raw)?;
            let is_over = test_kill_process(process).is_err();
            is_over.then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
        };
        let files = fs::read_dir(&dir).into_iter().flatten().flatten();
        let mut unfinished: Vec<_> = files.filter_map(left).collect();
        unfinished.sort_unstable();
        Self { own, unfinished: unfinished.into_iter().map(|(_, path)| path).collect() }
    }

    /// True if a run of the same question has left one.
    pub(crate) fn has_unfinished(&self) -> bool {
        !self.unfinished.is_empty()
    }

    /// Makes the latest one that was left this run's own; false if there is none. Of two that do so at
    /// once, one gets it.
    pub(crate) fn take_over(&mut self) -> bool {
        while let Some(path) = self.unfinished.pop() {
            if fsx::rename_unsynced(&path, &self.own).is_ok() {
                return true;
            }
        }
        false
    }

    /// Removes them: the question is answered.
    pub(crate) fn remove(&self) -> Result<()> {
        for path in self.unfinished.iter().chain([&self.own]) {
            fsx::remove(path)?;
        }
        Ok(())
    }
}
