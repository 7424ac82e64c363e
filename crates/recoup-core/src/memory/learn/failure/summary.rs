//! Summaries of test runners.

use crate::memory::learn::contains_any;
use std::sync::LazyLock;

use regex::Regex;

/// Summary lines of known test runners that report failures.
const FAILED_SUMMARIES: [&str; 16] = [
    // `test result: FAILED. 3 passed; 1 failed; …`, and nextest's `Summary […] 5 tests run: …`.
    r"^\s*test result: FAILED",
    r"^\s*Summary \[.*tests run:.*[1-9][0-9]*\s+failed",
    // Jest: `Tests:       1 failed, 4 passed, 5 total`. Vitest: `Tests  1 failed | 3 passed (4)`.
    r"^\s*(Tests|Test Suites):.*[1-9][0-9]*\s+failed.* total",
    r"^\s*(Tests|Test Files)  .*[1-9][0-9]*\s+failed.*\)$",
    // Mocha: `  1 failing`, alone on its line.
    r"^ \s*[1-9][0-9]*\s+failing$",
    // Go: `FAIL` alone or with a package and a time, `--- FAIL: TestAdd (0.00s)`.
    r"^FAIL(\t(.*[\t ])?[0-9][^\t ]*s|\t.*failed\])?$",
    r"^\s*--- FAIL: .*s\)$",
    // pytest: `===== 1 failed, 2 passed in 0.12s =====`, with or without the bars.
    r"^[\s=]*([0-9].*)?[1-9][0-9]*\s+(failed|errors?).* in [0-9].*s",
    // rspec: `5 examples, 1 failure`. ExUnit: `3 tests, 1 failure`. Minitest: `5 runs, 1 failures`.
    r"^\s*[0-9]+\s+(examples?|tests?|runs?),.*[1-9][0-9]*\s+(failure|failed|errors)",
    // Gradle: `5 tests completed, 1 failed`.
    r"^\s*[0-9]+\s+tests completed,.*[1-9][0-9]*\s+(failure|failed|errors)",
    // Maven: `Tests run: 5, Failures: 1, Errors: 0, Skipped: 0`.
    r"Tests run:.*(Failures|Errors):\s*[1-9]",
    // .NET: `Failed!  - Failed:     1, Passed:     3, …`.
    r"^\s*Failed!.*Failed:\s*[1-9]|^\s*Test Run Failed\.$",
    // `unittest`, `PHPUnit`, Node's own runner, Deno and Bun.
    r"^\s*FAILED \(.*(failures|errors)=",
    r"^\s*Tests: .*Assertions: .*(Failures|Errors):\s*[1-9]",
    r"^\s*(#|ℹ) fail\s+[1-9]",
    r"^\s*FAILED \| .*[1-9][0-9]*\s+failed",
];

/// True if a line is the summary of a known test runner, and reports failures.
pub(super) fn is_failed_summary(line: &str) -> bool {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = FAILED_SUMMARIES.join("|").replace(r"\s", "[ \t]");
        Regex::new(&pattern).expect("the patterns are valid")
    });
    // Few lines have any of these words, and only those are worth the pattern.
    contains_any(line, &["ail", "AIL", "rror"]) && PATTERN.is_match(line.trim_end())
}
