//! The line that says what is wrong, tool by tool.

use proptest::prelude::*;
use recoup_core::memory::learn::failure::{MOST_LINE, error_line};

#[track_caller]
fn says(output: &str, expected: &str) {
    assert_eq!(error_line(output).as_deref(), Some(expected));
}

#[test]
fn rustc_and_cargo() {
    says(
        "   Compiling x v0.1.0\nwarning: unused variable: `error`\n --> src/lib.rs:1:1\n\nerror[E0308]: mismatched types\n --> src/main.rs:4:18\n  |\n4 |     let x: u32 = \"a\";\n\nerror: aborting due to 1 previous error\n\nerror: could not compile `x` (bin \"x\") due to 1 previous error",
        "error[E0308]: mismatched types (src/main.rs:4:18)",
    );
    says(
        "running 1 test\ntest tests::adds ... FAILED\n\nfailures:\n\n---- tests::adds stdout ----\n\nthread 'tests::adds' panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1`\n\ntest result: FAILED. 0 passed; 1 failed\n\nerror: test failed, to rerun pass `--lib`",
        "thread 'tests::adds' panicked at src/lib.rs:9:9: assertion `left == right` failed",
    );
    says(
        "thread 'one' (28099) panicked at src/lib.rs:2:18:\nboom",
        "thread 'one' panicked at src/lib.rs:2:18: boom",
    );
    says("error: no bin target named `x`\n", "error: no bin target named `x`");
}

#[test]
fn npm() {
    says(
        "npm ERR! Missing script: \"tst\"\nnpm ERR! \nnpm ERR! A complete log of this run can be found in:\nnpm ERR!     /home/u/.npm/_logs/x-debug.log",
        "Missing script: \"tst\"",
    );
    says(
        "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\nnpm error While resolving: x@1.0.0\nnpm error A complete log of this run can be found in: /x",
        "ERESOLVE unable to resolve dependency tree",
    );
    says(
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/left-padd - Not found\nnpm error 404\nnpm error A complete log of this run can be found in: /x",
        "404 Not Found - GET https://registry.example/left-padd - Not found",
    );
}

#[test]
fn python() {
    says(
        "============ FAILURES ============\n____ test_add ____\n\n    def test_add():\n>       assert add(1, 2) == 4\nE       assert 3 == 4\nE        +  where 3 = add(1, 2)\n\ntests/test_a.py:5: AssertionError\n====== short test summary info ======\nFAILED tests/test_a.py::test_add - assert 3 == 4\n=== 1 failed in 0.02s ===",
        "FAILED tests/test_a.py::test_add - assert 3 == 4",
    );
    says(
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import x\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\nModuleNotFoundError: No module named 'requests'",
        "ModuleNotFoundError: No module named 'requests'",
    );
    says(
        "Traceback (most recent call last):\n  File \"a.py\", line 3\nsubprocess.CalledProcessError: Command 'x' failed: no",
        "subprocess.CalledProcessError: Command 'x' failed: no",
    );
    says(
        "  File \"a/bad.py\", line 7\n    def f(:\n          ^\nSyntaxError: invalid syntax",
        "SyntaxError: invalid syntax (a/bad.py:7)",
    );
    says(
        "E   ImportError: cannot import name 'x' from 'y'",
        "ImportError: cannot import name 'x' from 'y'",
    );
}

#[test]
fn javascript() {
    says(
        "FAIL src/a.test.js\n  ● adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 4\n    Received: 3\n\n      at Object.<anonymous> (src/a.test.js:3:20)\n\nTests:       1 failed, 1 total\nnpm ERR! Test failed.  See above for more details.",
        "● adds: expect(received).toBe(expected) // Object.is equality",
    );
    says(
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/b.ts(1,1): error TS1005: ';' expected.",
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
    );
    says(
        "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module './x'\nRequire stack:\n- /a/b.js\n    at Module._resolveFilename (node:internal:1)\n\nNode.js v20.1.0",
        "Error: Cannot find module './x'",
    );
    says(
        "/a/x.js\n  12:5  error  'y' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)",
        "12:5 error 'y' is not defined no-undef",
    );
    says(
        " FAIL  test/a.test.ts > adds\nAssertionError: expected 3 to be 4 // Object.is equality\n ❯ test/a.test.ts:5:20",
        "AssertionError: expected 3 to be 4 // Object.is equality",
    );
}

#[test]
fn go() {
    says(
        "# example.com/x\n./main.go:5:2: undefined: foo\n./main.go:9:2: undefined: bar",
        "./main.go:5:2: undefined: foo",
    );
    says(
        "--- FAIL: TestAdd (0.00s)\n    add_test.go:9: got 3, want 4\nFAIL\nexit status 1\nFAIL\texample.com/x\t0.3s",
        "--- FAIL: TestAdd (0.00s): add_test.go:9: got 3, want 4",
    );
    says(
        "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:",
        "panic: runtime error: index out of range [3] with length 3",
    );
}

#[test]
fn c_and_make() {
    says(
        "gcc -c main.c\nmain.c: In function 'main':\nmain.c:5:10: error: 'x' undeclared (first use in this function)\nmake: *** [Makefile:3: main.o] Error 1",
        "main.c:5:10: error: 'x' undeclared (first use in this function)",
    );
    says(
        "main.c:1:10: fatal error: zlib.h: No such file or directory\ncompilation terminated.",
        "main.c:1:10: fatal error: zlib.h: No such file or directory",
    );
    says(
        "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `foo'\ncollect2: error: ld returned 1 exit status",
        "a.c:(.text+0x5): undefined reference to `foo'",
    );
    says(
        "make: *** No rule to make target 'tset'.  Stop.",
        "make: *** No rule to make target 'tset'. Stop.",
    );
    says("make: *** [Makefile:2: test] Error 2", "make: *** [Makefile:2: test] Error 2");
}

#[test]
fn git_and_docker() {
    says(
        "fatal: not a git repository (or any of the parent directories): .git",
        "fatal: not a git repository (or any of the parent directories): .git",
    );
    says(
        "To github.com:a/b.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.com:a/b.git'\nhint: Updates were rejected",
        "! [rejected] main -> main (fetch first)",
    );
    says(
        "Auto-merging a.txt\nCONFLICT (content): Merge conflict in a.txt\nAutomatic merge failed; fix conflicts and then commit the result.",
        "CONFLICT (content): Merge conflict in a.txt",
    );
    says(
        "#9 [build 3/5] RUN npm ci\n#9 1.204 npm error code EUSAGE\n#9 1.210 sh: 1: tsc: not found\n#9 ERROR: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1\n------\nERROR: failed to solve: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1",
        "sh: 1: tsc: not found",
    );
    says(
        "docker: Error response from daemon: pull access denied for x.",
        "docker: Error response from daemon: pull access denied for x.",
    );
}

#[test]
fn java() {
    says(
        "Exception in thread \"main\" java.lang.IllegalStateException: start\n\tat a.B.main(B.java:3)\nCaused by: java.io.IOException: disk\n\tat a.C.x(C.java:9)\nCaused by: java.net.ConnectException: Connection refused by db:5432\n\t... 3 more",
        "Caused by: java.net.ConnectException: Connection refused by db:5432",
    );
    says(
        "Foo.java:3: error: cannot find symbol\n  symbol: class Bar\n1 error",
        "Foo.java:3: error: cannot find symbol",
    );
    says(
        "[INFO] BUILD FAILURE\n[ERROR] /x/Foo.java:[3,5] cannot find symbol\n[ERROR] Failed to execute goal compile: Compilation failure -> [Help 1]\n[ERROR] Re-run Maven using the -X switch",
        "[ERROR] /x/Foo.java:[3,5] cannot find symbol",
    );
    says(
        "FAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not resolve all files for configuration ':app'.\n\n* Try:\n> Run with --stacktrace",
        "* What went wrong: Could not resolve all files for configuration ':app'.",
    );
}

#[test]
fn shells_and_the_rest() {
    says("bash: line 1: foo: command not found", "bash: line 1: foo: command not found");
    says(
        "psql: error: connection to server failed: FATAL:  role \"x\" does not exist",
        "psql: error: connection to server failed: FATAL: role \"x\" does not exist",
    );
    says(
        "curl: (7) Failed to connect to localhost port 3000",
        "curl: (7) Failed to connect to localhost port 3000",
    );
    says("starting\nsomething odd happened\n\n", "something odd happened");
    assert_eq!(error_line("  \n \n"), None);
}

#[test]
fn colours_and_progress_are_gone() {
    says("\u{1b}[31m\u{1b}[1merror\u{1b}[0m: it broke\r\n", "error: it broke");
    says("10%\r50%\r100% error: late\n", "100% error: late");
    says("\u{1b}]0;title\u{7}fatal: no", "fatal: no");
}

#[test]
fn secrets_are_redacted_and_paths_kept() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let line = error_line(&format!(
        "fatal: could not read from https://x:{token}@github.com/a/b in src/net/fetch.rs"
    ))
    .unwrap();
    assert!(!line.contains(&token), "{line}");
    assert!(line.contains("src/net/fetch.rs"), "{line}");
    let cut = error_line(&format!("error: {} {token}", "x".repeat(MOST_LINE - 20))).unwrap();
    assert!(!cut.contains("ghp_a1B2"), "half a secret is one: {cut}");
}

proptest! {
    #[test]
    fn any_output_gives_one_short_line(output in "(?s).{0,400}") {
        if let Some(line) = error_line(&output) {
            prop_assert!(line.chars().count() <= MOST_LINE + 1);
            prop_assert!(!line.contains(char::is_control));
        }
    }
}
