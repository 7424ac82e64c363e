//! Tests that stay red while the agent edits.

use std::collections::HashMap;

use super::{AgentTrouble, ToolAttempt, TroubleKind};
use crate::memory::learn::command::CommandKind;
use crate::memory::transcript::CallStatus;

/// Number of failures that count as stuck.
const TIMES: usize = 3;

const RUNNERS: [&str; 14] = [
    "pytest",
    "jest",
    "vitest",
    "mocha",
    "rspec",
    "phpunit",
    "tox",
    "nox",
    "ctest",
    "playwright",
    "cypress",
    "ava",
    "karma",
    "unittest",
];

/// Failures of one kind of test.
#[derive(Default)]
struct FailureStreak {
    from: usize,
    times: usize,
    edited: bool,
    /// Index of the trouble that was reported: later failures extend it.
    told: Option<usize>,
}

/// Finds kinds of tests that failed three times with an edit before each new failure. The trouble
/// reaches to the last failure.
pub(super) fn find_stuck_tests(tried: &[ToolAttempt<'_>]) -> Vec<AgentTrouble> {
    let mut rows: HashMap<(Option<&str>, &CommandKind), FailureStreak> = HashMap::new();
    let mut found: Vec<AgentTrouble> = Vec::new();
    for it in tried {
        if changes_files(it) {
            for row in rows.values_mut() {
                row.edited = true;
            }
        }
        let Some(kind) = it.kind.as_ref().filter(|kind| is_test(kind)) else { continue };
        let key = (it.step.agent, kind);
        if it.failure.is_none() {
            // Stopped or denied calls tell nothing about the tests.
            if it.step.outcome.is_some_and(|outcome| outcome.ended == CallStatus::Succeeded) {
                rows.remove(&key);
            }
            continue;
        }
        let row = rows.entry(key).or_default();
        if row.times == 0 {
            *row = FailureStreak { from: it.step.at, times: 1, ..FailureStreak::default() };
        } else if std::mem::take(&mut row.edited) {
            row.times += 1;
        }
        if row.times < TIMES {
            continue;
        }
        let trouble = it.to_trouble(TroubleKind::Stuck, row.from);
        if let Some(at) = row.told {
            found[at] = trouble;
        } else {
            row.told = Some(found.len());
            found.push(trouble);
        }
    }
    found
}

/// True if a command of that kind runs tests.
fn is_test(kind: &CommandKind) -> bool {
    let names_tests = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| matches!(word, "test" | "tests" | "spec" | "specs" | "e2e" | "nextest"))
    };
    RUNNERS.contains(&kind.program())
        || names_tests(kind.program())
        || kind.sub().is_some_and(names_tests)
}

/// True if a call changed files, and was not refused.
fn changes_files(tried: &ToolAttempt<'_>) -> bool {
    let done = tried.step.outcome.is_some_and(|outcome| outcome.ended == CallStatus::Succeeded);
    let by_shell = tried.step.call.command().is_some_and(|line| {
        [
            "sed -i",
            "perl -pi",
            "git apply",
            "git checkout",
            "patch -p",
            "cat >",
            "tee ",
            "apply_patch",
        ]
        .iter()
        .any(|words| line.contains(words))
    });
    done && (tried.step.call.edits() || by_shell)
}
