//! Runs a program out of sight, and boils a failure down to the one line that
//! a person needs.

use std::process::{Command, ExitCode, ExitStatus, Output, Stdio};

/// What `command` wrote to stdout, or why it failed, in one line.
pub(crate) fn capture(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().display().to_string();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program} could not be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{program}: {}", reason(&output)))
}

/// The exit code of a program whose answer is ours. None means that a signal
/// ended it: a failure like any other.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// apt marks its errors with `E:`, npm begins with a code; other programs say
/// the essential thing last.
fn reason(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .clone()
        .find(|line| line.starts_with("E:") || line.starts_with("npm error code"))
        .or_else(|| lines.next_back())
        .map_or_else(|| output.status.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<String, String> {
        capture(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn success_gives_what_was_printed() {
        assert_eq!(shell("echo out; echo err >&2"), Ok("out\n".into()));
    }

    #[test]
    fn failure_gives_the_line_that_says_why() {
        assert_eq!(shell("echo 'W: a\nE: b\nE: c\nthe end' >&2; exit 100"), Err("sh: E: b".into()));
        assert_eq!(
            shell("echo 'npm error code EX\nnpm error A complete log is elsewhere' >&2; exit 1"),
            Err("sh: npm error code EX".into())
        );
        assert_eq!(shell("echo 'a\nb' >&2; exit 1"), Err("sh: b".into()));
        assert_eq!(shell("exit 3"), Err("sh: exit status: 3".into()));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = capture(&mut Command::new("no-such-program")).expect_err("it does not exist");
        assert!(error.starts_with("no-such-program could not be started"), "{error}");
    }
}
