//! Summaries of test runners.

/// True if a line is the summary of a known test runner, and reports failures.
pub(super) fn is_failed_summary(line: &str) -> bool {
    let text = line.trim();
    let starts = |any: &[&str]| any.iter().any(|start| text.starts_with(start));
    let failed = || has_positive_count(text, &["failed"]);
    let failures_or_errors = || {
        has_positive_number_after(text, "Failures:") || has_positive_number_after(text, "Errors:")
    };
    // `test result: FAILED. 3 passed; 1 failed; …`, and nextest's `Summary […] 5 tests run: …`.
    text.starts_with("test result: FAILED")
        || (text.starts_with("Summary [") && text.contains("tests run:") && failed())
        // Jest: `Tests:       1 failed, 4 passed, 5 total`.
        || (starts(&["Tests:", "Test Suites:"]) && text.contains(" total") && failed())
        // Vitest: `Tests  1 failed | 3 passed (4)`.
        || (starts(&["Tests  ", "Test Files  "]) && text.ends_with(')') && failed())
        || is_go_or_mocha_summary(line)
        || is_counted_summary(text)
        // Maven: `Tests run: 5, Failures: 1, Errors: 0, Skipped: 0`.
        || (text.contains("Tests run:") && failures_or_errors())
        // .NET: `Failed!  - Failed:     1, Passed:     3, …`.
        || (text.starts_with("Failed!") && has_positive_number_after(text, "Failed:"))
        || text == "Test Run Failed."
        // `unittest`, `PHPUnit`, Node's own runner, Deno and Bun.
        || (text.starts_with("FAILED (") && (text.contains("failures=") || text.contains("errors=")))
        || (text.starts_with("Tests: ") && text.contains("Assertions: ") && failures_or_errors())
        || (starts(&["# fail ", "ℹ fail "]) && has_positive_number_after(text, "fail"))
        || (text.starts_with("FAILED | ") && failed())
}

/// True if a positive number stands in front of one of `words`: `3 failed,`.
fn has_positive_count(text: &str, words: &[&str]) -> bool {
    let mut before = "";
    for word in text.split_ascii_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if words.contains(&bare)
            && let Ok(number) = before.parse::<u64>()
        {
            return number > 0;
        }
        before = word.trim_matches(|c: char| !c.is_ascii_digit());
    }
    false
}

/// True if a positive number follows `word`: `Failures: 1`.
fn has_positive_number_after(text: &str, word: &str) -> bool {
    let Some((_, rest)) = text.split_once(word) else { return false };
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u64>().is_ok_and(|number| number > 0)
}

/// Go: `FAIL` alone or with a package and a time, `--- FAIL: TestAdd (0.00s)`. Mocha: `  1 failing`,
/// alone on its line.
fn is_go_or_mocha_summary(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let number = words.next().and_then(|word| word.parse::<u64>().ok());
    let is_mocha = line.starts_with(' ')
        && number.is_some_and(|it| it > 0)
        && words.next() == Some("failing")
        && words.next().is_none();
    is_mocha
        || line == "FAIL"
        || line.strip_prefix("FAIL\t").is_some_and(|rest| {
            let end = rest.rsplit(['\t', ' ']).next().unwrap_or("");
            end.ends_with('s') && end.starts_with(|c: char| c.is_ascii_digit())
                || rest.ends_with("failed]")
        })
        || (line.trim_start().starts_with("--- FAIL: ") && line.ends_with("s)"))
}

/// `===== 1 failed, 2 passed in 0.12s =====`, with or without the bars (pytest), `5 examples, 1
/// failure` (rspec), `3 tests, 1 failure` (`ExUnit`), `5 runs, 7 assertions, 1 failures` (minitest),
/// `5 tests completed, 1 failed` (Gradle).
fn is_counted_summary(text: &str) -> bool {
    let plain = text.trim_matches('=').trim();
    let is_timed = plain.split_once(" in ").is_some_and(|(_, time)| {
        time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('s')
    });
    if is_timed
        && plain.starts_with(|c: char| c.is_ascii_digit())
        && has_positive_count(plain, &["failed", "error", "errors"])
    {
        return true;
    }
    let begins = text.split_ascii_whitespace().take(2).collect::<Vec<_>>();
    let [number, what] = begins[..] else { return false };
    let things = ["example,", "examples,", "test,", "tests,", "run,", "runs,", "tests"];
    number.parse::<u64>().is_ok()
        && things.contains(&what)
        && (what != "tests" || text.contains("tests completed,"))
        && has_positive_count(text, &["failure", "failures", "failed", "errors"])
}
