//! `cargo xtask test`: everything that a change must pass, in the order in
//! which a mistake is found soonest. The first step that fails ends the run,
//! and the last line says how to repeat that step alone.

use std::process::{Command, ExitCode};
use std::time::SystemTime;

use crate::args::Extent;
use crate::failure::Failure;
use crate::process;
use crate::tools::Tools;
use crate::workspace;

/// One cargo command of the run.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    needs: Needs,
}

/// What must be there before a step can say anything about the code.
enum Needs {
    /// A part of the Rust toolchain that may not be installed.
    Component(&'static str),
    /// The programs that tests start.
    Tools,
    /// Cargo alone.
    Nothing,
}

const STEPS: [Step; 5] = [
    Step {
        name: "fmt",
        arguments: &["fmt", "--all", "--check"],
        needs: Needs::Component("rustfmt"),
    },
    Step {
        name: "clippy",
        arguments: &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        needs: Needs::Component("clippy"),
    },
    Step {
        name: "features",
        arguments: &["check", "-p", "recoup-core", "--no-default-features", "--locked"],
        needs: Needs::Nothing,
    },
    Step { name: "test", arguments: &["test", "--workspace", "--locked"], needs: Needs::Tools },
    Step { name: "packages", arguments: &["xtask", "dist", "--debug"], needs: Needs::Nothing },
];

/// The tests that are ignored otherwise: each starts a real client.
const CLIENTS: Step = Step {
    name: "clients",
    // The workspace again, and not one package: the same features, so that
    // nothing is built twice.
    arguments: &[
        "test", "--workspace", "--locked", "--test", "it", "--", "--ignored", "claude_code::",
        "real_clients::",
    ],
    needs: Needs::Tools,
};

/// The packages of the program as it is distributed: its build takes long, as do lintian and cargo's
/// own dry run.
const DISTRIBUTION: Step =
    Step { name: "distribution", arguments: &["xtask", "dist", "--check"], needs: Needs::Nothing };

/// The variable that seeds property tests. A plain `cargo test` takes it from
/// `.cargo/config.toml`.
const SEED: &str = "PROPTEST_RNG_SEED";

/// What the steps have in common.
struct Run {
    tools: Tools,
    /// Seed of the property tests.
    seed: u64,
}

/// Runs all steps. Without a given seed, property tests try new cases each day.
pub(crate) fn run(extent: Extent, seed: Option<u64>) -> Result<ExitCode, Failure> {
    let (line, last) = match extent {
        Extent::Usual => ("cargo xtask tools", &[][..]),
        Extent::Full => ("cargo xtask tools --full", &[CLIENTS, DISTRIBUTION][..]),
    };
    heading("tools", line);
    let run = Run { tools: Tools::bring(extent)?, seed: seed.unwrap_or_else(seed_of_today) };
    for step in STEPS.iter().chain(last) {
        step.run(&run)?;
    }
    eprintln!("xtask: all steps passed");
    Ok(ExitCode::SUCCESS)
}

impl Step {
    fn run(&self, run: &Run) -> Result<(), Failure> {
        let line = self.command_line(run);
        heading(self.name, &line);
        let mut command = workspace::cargo(self.arguments.iter().copied());
        match self.needs {
            Needs::Component(component) => self.demand(component)?,
            Needs::Tools => run.extend(&mut command)?,
            Needs::Nothing => {}
        }
        self.finish(&mut command, &line)
    }

    fn finish(&self, command: &mut Command, line: &str) -> Result<(), Failure> {
        let name = self.name;
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(Failure::Task(format!("step `{name}` failed; to run it alone: {line}"))),
            Err(error) => {
                Err(Failure::Task(format!("step `{name}`: cargo could not be started: {error}")))
            }
        }
    }

    /// `cargo fmt` without rustfmt fails as if the code were badly formatted,
    /// so the component is asked for first.
    fn demand(&self, component: &str) -> Result<(), Failure> {
        let [subcommand, ..] = self.arguments else { return Ok(()) };
        let mut version = workspace::cargo([*subcommand, "--version"]);
        process::capture(&mut version).map(|_| ()).map_err(|_| {
            let name = self.name;
            Failure::Task(format!(
                "step `{name}` needs {component}, which is not installed: \
                 rustup component add {component}"
            ))
        })
    }

    /// What a person types to get the same step.
    fn command_line(&self, run: &Run) -> String {
        let prefix = match self.needs {
            Needs::Component(_) | Needs::Nothing => String::new(),
            Needs::Tools => run.shell_prefix(),
        };
        format!("{prefix}cargo {}", self.arguments.join(" "))
    }
}

impl Run {
    fn extend(&self, command: &mut Command) -> Result<(), Failure> {
        command.env(SEED, self.seed.to_string());
        self.tools.extend(command)
    }

    fn shell_prefix(&self) -> String {
        format!("{SEED}={} {}", self.seed, self.tools.shell_prefix())
    }
}

/// The number of days since 1970: all runs of a day try the same cases.
fn seed_of_today() -> u64 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_epoch.map_or(0, |time| time.as_secs() / (24 * 60 * 60))
}

fn heading(step: &str, line: &str) {
    eprintln!("==> {step}: {line}");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// How the tests say that start a real client.
    const NEEDY: &str = "#[ignore = \"needs the real ";

    /// A filter that fits no test would be a step that always passes, and a test that no filter
    /// fits would never run.
    #[test]
    fn the_clients_step_names_the_tests_that_need_one_and_no_others() {
        let filters = CLIENTS.arguments.iter().filter_map(|argument| argument.strip_suffix("::"));
        let folder = workspace::root().join("crates/recoup/tests/it");
        let entries = fs::read_dir(&folder).expect("the program's tests");
        let entries = entries.map(|entry| entry.expect("an entry").path());
        let needy: BTreeSet<String> = entries
            .filter(|path| mentions(path))
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        assert!(!needy.is_empty());
        assert_eq!(needy, filters.map(str::to_owned).collect());
    }

    /// Whether a file, or one below a folder, has such a test.
    fn mentions(path: &Path) -> bool {
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("a folder");
            return entries
                .map(|entry| entry.expect("an entry").path())
                .any(|path| mentions(&path));
        }
        fs::read_to_string(path).is_ok_and(|text| text.contains(NEEDY))
    }
}
