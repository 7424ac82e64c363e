//! The command line of `cargo xtask`, matched by hand: a few tasks, hardly
//! an option, so a parser crate would cost more to build than it saves.

use std::ffi::OsString;

use crate::failure::Failure;

/// What `cargo xtask help` prints.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask TASK

Tasks:
  test [--full] [--seed N]
                     all checks that a change must pass: tools, fmt, clippy, tests;
                     --full also drives the real Claude Code, Codex, Gemini CLI,
                     opencode and Pi, from the npm registry; --seed repeats the random
                     cases of an earlier run, which printed its seed
  bench [-- ARGS]    print the table of speed ratios; ARGS go to the benchmark
  dist [--check]     build the program for distribution (static, with full optimization) and its
                     packages: a tarball with its installer, a Python wheel, npm packages, a Debian
                     package; --check also installs each where nothing else is, and runs lintian,
                     `cargo publish --dry-run` and `cargo deny`
  dist --debug       package the program of the tests, and install each package (a step of `test`)
  eval secrets       accuracy of secret detection, with every error
  eval retrieval     quality of memory search, against plain BM25; --verbose lists misses
  eval memory        changes of mind, retractions, scopes, ends, refusals; --verbose lists errors
  eval checks        rules that become checks of tool calls; --verbose lists errors
  eval capture       what is heard in labelled prompts: precision, recall, spans and time, by form
                     and language; --working skips the frozen half, --errors lists the errors of
                     the working half
  picture            draw the README's picture of `recoup tour` anew
  tools [--full]     install the programs that tests need, and print where they are
  help               print this text";

/// One thing to do, as understood from the command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Test(Extent, Option<u64>),
    /// With the arguments for the benchmark itself.
    Bench(Vec<OsString>),
    Dist(Packaging),
    Eval(Subject),
    Picture,
    Tools(Extent),
    Help,
}

/// How much is tested, and brought for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What every change must pass.
    Usual,
    /// That, and what needs large programs from the npm registry.
    Full,
}

/// Which program is packaged, and how far its packages are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packaging {
    /// The program as it is distributed, unchecked.
    Unchecked,
    /// The same, with every check.
    Checked,
    /// The program of the tests, installed from each package.
    Debug,
}

/// What can be evaluated against a corpus.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Secrets,
    /// With what was missed, where that is wanted.
    Retrieval {
        verbose: bool,
    },
    /// Changes of mind, retractions, scopes, ends and refusals; with errors of the working half.
    Memory {
        verbose: bool,
    },
    /// Checks that are compiled from rules; with errors of the working half.
    Checks {
        verbose: bool,
    },
    /// Statements heard in prompts.
    Capture(Prompts),
}

/// Which prompts are read, and of which errors are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompts {
    /// Errors of the working half, figures of the frozen one.
    Both,
    /// Errors of the frozen half as well.
    BothWithErrors,
    /// The frozen half is not even opened.
    Working,
}

/// Reads the arguments after `cargo xtask`.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Task, Failure> {
    let mut arguments = arguments;
    let Some(task) = arguments.next() else {
        return Err(usage("no task given"));
    };
    let task = match task.to_str() {
        Some("test") => return test(arguments),
        Some("bench") => return bench(arguments),
        Some("eval") => return eval(arguments),
        Some("dist") => return dist(arguments),
        Some("picture") => Task::Picture,
        Some("tools") => return extent(arguments).map(Task::Tools),
        Some("help" | "--help" | "-h") => Task::Help,
        _ => return Err(usage(&format!("unknown task `{}`", task.display()))),
    };
    nothing_more(arguments).map(|()| task)
}

fn extent(arguments: impl Iterator<Item = OsString>) -> Result<Extent, Failure> {
    let (full, rest) = flag(arguments, "--full");
    let extent = if full { Extent::Full } else { Extent::Usual };
    nothing_more(rest).map(|()| extent)
}

fn dist(arguments: impl Iterator<Item = OsString>) -> Result<Task, Failure> {
    let (check, rest) = flag(arguments, "--check");
    let (debug, rest) = flag(rest, "--debug");
    let packaging = match (check, debug) {
        (true, true) => return Err(usage("--check and --debug do not go together")),
        (true, false) => Packaging::Checked,
        (false, true) => Packaging::Debug,
        (false, false) => Packaging::Unchecked,
    };
    nothing_more(rest).map(|()| Task::Dist(packaging))
}

fn test(arguments: impl Iterator<Item = OsString>) -> Result<Task, Failure> {
    let (full, rest) = flag(arguments, "--full");
    let (has_seed, mut rest) = flag(rest, "--seed");
    let seed = match has_seed.then(|| rest.next()).map(Option::unwrap_or_default) {
        None => None,
        Some(seed) => match seed.to_str().and_then(|seed| seed.parse().ok()) {
            None => return Err(usage(&format!("--seed `{}`: not a number", seed.display()))),
            number => number,
        },
    };
    let extent = if full { Extent::Full } else { Extent::Usual };
    nothing_more(rest).map(|()| Task::Test(extent, seed))
}

fn bench(mut arguments: impl Iterator<Item = OsString>) -> Result<Task, Failure> {
    match arguments.next() {
        None => Ok(Task::Bench(Vec::new())),
        Some(dashes) if dashes == "--" => Ok(Task::Bench(arguments.collect())),
        Some(other) => Err(unexpected(&other)),
    }
}

fn eval(mut arguments: impl Iterator<Item = OsString>) -> Result<Task, Failure> {
    let subject = match arguments.next() {
        Some(subject) if subject == "secrets" => Subject::Secrets,
        Some(subject) if subject == "retrieval" => return retrieval(arguments),
        Some(subject) if subject == "memory" => {
            let (verbose, rest) = flag(arguments, "--verbose");
            return nothing_more(rest).map(|()| Task::Eval(Subject::Memory { verbose }));
        }
        Some(subject) if subject == "checks" => {
            let (verbose, rest) = flag(arguments, "--verbose");
            return nothing_more(rest).map(|()| Task::Eval(Subject::Checks { verbose }));
        }
        Some(subject) if subject == "capture" => {
            return prompts(arguments).map(|which| Task::Eval(Subject::Capture(which)));
        }
        Some(other) => {
            return Err(usage(&format!("unknown evaluation `{}`", other.display())));
        }
        None => {
            return Err(usage(
                "no subject given: `eval secrets`, `eval retrieval`, `eval memory`, `eval checks` or `eval capture`",
            ));
        }
    };
    nothing_more(arguments).map(|()| Task::Eval(subject))
}

fn retrieval(arguments: impl Iterator<Item = OsString>) -> Result<Task, Failure> {
    let (verbose, rest) = flag(arguments, "--verbose");
    nothing_more(rest).map(|()| Task::Eval(Subject::Retrieval { verbose }))
}

/// Whether `name` comes next, and what comes after it.
fn flag(
    arguments: impl Iterator<Item = OsString>,
    name: &str,
) -> (bool, impl Iterator<Item = OsString>) {
    let mut arguments = arguments.peekable();
    (arguments.next_if(|argument| argument == name).is_some(), arguments)
}

fn prompts(mut arguments: impl Iterator<Item = OsString>) -> Result<Prompts, Failure> {
    let which = match arguments.next() {
        None => Prompts::Both,
        Some(option) if option == "--errors" => Prompts::BothWithErrors,
        Some(option) if option == "--working" => Prompts::Working,
        Some(other) => return Err(unexpected(&other)),
    };
    nothing_more(arguments).map(|()| which)
}

fn nothing_more(mut arguments: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    arguments.next().map_or(Ok(()), |argument| Err(unexpected(&argument)))
}

fn unexpected(argument: &OsString) -> Failure {
    usage(&format!("unexpected argument `{}`", argument.display()))
}

fn usage(problem: &str) -> Failure {
    Failure::Usage(format!("{problem}\n\n{USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, Failure> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn every_task_is_understood() {
        for (flag, extent) in [("", Extent::Usual), (" --full", Extent::Full)] {
            assert_eq!(parsed(&format!("test{flag}")), Ok(Task::Test(extent, None)));
            assert_eq!(parsed(&format!("test{flag} --seed 7")), Ok(Task::Test(extent, Some(7))));
            assert_eq!(parsed(&format!("tools{flag}")), Ok(Task::Tools(extent)));
        }
        assert_eq!(parsed("eval secrets"), Ok(Task::Eval(Subject::Secrets)));
        for (line, verbose) in [("eval retrieval", false), ("eval retrieval --verbose", true)] {
            assert_eq!(parsed(line), Ok(Task::Eval(Subject::Retrieval { verbose })));
        }
        for (line, verbose) in [("eval checks", false), ("eval checks --verbose", true)] {
            assert_eq!(parsed(line), Ok(Task::Eval(Subject::Checks { verbose })));
        }
        for (line, which) in [
            ("eval capture", Prompts::Both),
            ("eval capture --errors", Prompts::BothWithErrors),
            ("eval capture --working", Prompts::Working),
        ] {
            assert_eq!(parsed(line), Ok(Task::Eval(Subject::Capture(which))));
        }
        for (line, packaging) in [
            ("dist", Packaging::Unchecked),
            ("dist --check", Packaging::Checked),
            ("dist --debug", Packaging::Debug),
        ] {
            assert_eq!(parsed(line), Ok(Task::Dist(packaging)));
        }
        assert_eq!(parsed("picture"), Ok(Task::Picture));
        assert_eq!(parsed("bench"), Ok(Task::Bench(Vec::new())));
        for help in ["help", "--help", "-h"] {
            assert_eq!(parsed(help), Ok(Task::Help));
        }
    }

    #[test]
    fn what_follows_the_dashes_belongs_to_the_benchmark() {
        let expected = vec!["--quick".into(), "--".into(), "get".into()];
        assert_eq!(parsed("bench -- --quick -- get"), Ok(Task::Bench(expected)));
    }

    #[test]
    fn anything_else_is_wrong_usage_and_is_named() {
        let wrong = [
            ("", "no task given"),
            ("tset", "unknown task `tset`"),
            ("test --fast", "unexpected argument `--fast`"),
            ("test --seed", "--seed ``: not a number"),
            ("test --seed x", "--seed `x`: not a number"),
            ("test --full --full", "unexpected argument `--full`"),
            ("dist --check --debug", "--check and --debug do not go together"),
            ("dist now", "unexpected argument `now`"),
            ("bench --quick", "unexpected argument `--quick`"),
            ("eval", "no subject given"),
            ("eval speed", "unknown evaluation `speed`"),
            ("eval secrets now", "unexpected argument `now`"),
            ("eval secrets --verbose", "unexpected argument `--verbose`"),
            ("eval retrieval now", "unexpected argument `now`"),
            ("eval capture --frozen", "unexpected argument `--frozen`"),
            ("eval capture --errors now", "unexpected argument `now`"),
        ];
        for (line, problem) in wrong {
            let Err(Failure::Usage(text)) = parsed(line) else { panic!("`{line}` was accepted") };
            assert!(text.starts_with(problem), "`{line}`: {text}");
            assert!(text.ends_with(USAGE));
        }
    }
}
