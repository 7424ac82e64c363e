//! What is a failure, and what only looks like one.

use recoup_core::memory::capture::transcript::{CallOutcome, CallStatus, ToolAction, ToolCall};
use recoup_core::memory::learn::failure::{CallFailure, detect_failure};

use super::shell;

fn run(line: &str, ended: CallStatus, output: &str) -> Option<CallFailure> {
    detect_failure(&shell(line), &CallOutcome::new("call", ended, output))
}

fn unflagged(line: &str, output: &str) -> Option<String> {
    run(line, CallStatus::Succeeded, output).map(|it| it.error)
}

#[test]
fn a_non_zero_exit_is_a_failure_with_its_error() {
    let ended = CallStatus::Failed { exit: Some(2) };
    let found = run("ls /x", ended, "ls: cannot access '/x': No such file or directory").unwrap();
    assert_eq!(found.exit, Some(2));
    assert_eq!(found.error, "ls: cannot access '/x': No such file or directory");
}

#[test]
fn a_failure_without_output_says_its_code() {
    let found = run("make x", CallStatus::Failed { exit: Some(3) }, "").unwrap();
    assert_eq!(found.error, "exit code 3, without a word");
}

#[test]
fn a_listing_that_contains_the_word_error_is_no_failure() {
    let listing = "src/error.rs\nsrc/errors/mod.rs\nERROR_CODES.md\nfailed_tests.log";
    for line in ["ls src", "find . -name '*error*'", "git ls-files"] {
        assert_eq!(run(line, CallStatus::Succeeded, listing), None, "{line}");
    }
    let code = "return Err(Error::new(\"error: it failed\"));\npanic!(\"FAILED\")";
    assert_eq!(run("cat src/error.rs", CallStatus::Succeeded, code), None);
}

#[test]
fn a_log_that_is_shown_is_no_failure() {
    let log = "test result: FAILED. 1 passed; 1 failed; 0 ignored\nTests:  1 failed, 2 total";
    for line in [
        "cat ci.log", "tail -50 ci.log", "grep FAILED ci.log", "gh run view 1 --log",
        "git show HEAD",
    ] {
        assert_eq!(run(line, CallStatus::Succeeded, log), None, "{line}");
    }
}

#[test]
fn what_never_ran_or_was_stopped_has_not_failed() {
    for ended in [CallStatus::Refused, CallStatus::Denied, CallStatus::Interrupted] {
        assert_eq!(run("npm test", ended, "error: no"), None, "{ended:?}");
    }
    assert_eq!(run("npm test", CallStatus::Failed { exit: Some(130) }, "^C"), None);
}

#[test]
fn nothing_found_is_an_answer() {
    let one = CallStatus::Failed { exit: Some(1) };
    for line in
        ["grep -rn foo src", "rg foo", "diff a b", "which foo", "git diff --exit-code", "test -f x"]
    {
        assert_eq!(run(line, one, "< a\n> b"), None, "{line}");
    }
    let ended = CallStatus::Failed { exit: Some(2) };
    assert!(run("grep foo x", ended, "grep: x: No such file or directory").is_some());
}

#[test]
fn tests_that_fail_behind_a_pipe_are_failures() {
    let cases = [
        (
            "cargo test 2>&1 | tail -5",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured",
        ),
        (
            "cargo nextest run || true",
            "     Summary [   0.3s] 5 tests run: 4 passed, 1 failed, 0 skipped",
        ),
        ("pytest | tail", "========= 1 failed, 2 passed in 0.12s ========="),
        ("pytest -q | tail -1", "1 failed, 2 passed in 0.12s"),
        ("pytest || true", "======= 2 errors in 1.20s ======="),
        ("npx jest | tail", "Tests:       1 failed, 4 passed, 5 total"),
        ("npx vitest run | tail", " Tests  1 failed | 3 passed (4)"),
        ("go test ./... | tail", "FAIL\texample.com/x\t0.312s"),
        ("go test -v ./... | grep -A2 FAIL", "--- FAIL: TestAdd (0.00s)"),
        ("npx mocha | tail", "  3 passing (12ms)\n  1 failing"),
        ("bundle exec rspec | tail", "5 examples, 1 failure"),
        ("mvn test | tail", "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0"),
        ("./gradlew test | tail", "5 tests completed, 1 failed"),
        (
            "dotnet test | tail",
            "Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4",
        ),
        ("python -m unittest 2>&1 | tail", "FAILED (failures=1)"),
        ("node --test | tail", "# fail 1"),
        ("vendor/bin/phpunit | tail", "Tests: 3, Assertions: 3, Failures: 1."),
        ("mix test | tail", "3 tests, 1 failure"),
    ];
    for (line, output) in cases {
        assert!(unflagged(line, output).is_some(), "{line}: {output}");
    }
}

#[test]
fn tests_that_pass_are_none() {
    let cases = [
        ("cargo test", "test result: ok. 3 passed; 0 failed; 0 ignored"),
        ("cargo nextest run", "     Summary [   0.3s] 5 tests run: 5 passed, 0 skipped"),
        ("pytest", "========= 3 passed, 1 warning in 0.12s ========="),
        ("pytest", "= 3 passed, 1 xfailed in 0.12s ="),
        ("npx jest", "Tests:       5 passed, 5 total"),
        ("npx vitest run", " Tests  4 passed (4)"),
        ("go test ./...", "ok  \texample.com/x\t0.312s\nPASS"),
        ("npx mocha", "  3 passing (12ms)"),
        ("bundle exec rspec", "5 examples, 0 failures"),
        ("mvn test", "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0"),
        ("dotnet test", "Passed!  - Failed:     0, Passed:     4, Skipped:     0"),
        ("node --test", "# pass 3\n# fail 0"),
        ("npm run report", "we had 1 failed login in 3 attempts"),
        ("cargo test", "test handles_error_1_failed ... ok\ntest result: ok. 1 passed; 0 failed"),
        ("npm run build", "0 errors, 0 failed"),
    ];
    for (line, output) in cases {
        assert_eq!(unflagged(line, output), None, "{line}: {output}");
    }
}

#[test]
fn only_a_command_has_tests() {
    let call = ToolCall::new("call", "mcp__ci__status", ToolAction::Other, b"{}");
    let outcome =
        CallOutcome::new("call", CallStatus::Succeeded, "test result: FAILED. 1 passed; 1 failed");
    assert_eq!(detect_failure(&call, &outcome), None);
    let outcome =
        CallOutcome::new("call", CallStatus::Failed { exit: None }, "Error: no such build");
    assert_eq!(detect_failure(&call, &outcome).unwrap().error, "Error: no such build");
}
