//! What `recoup init` writes, read by the programs that it is for: Codex, Gemini CLI, opencode
//! and Pi, each in the version that is written down. Claude Code has a module of its own.
//!
//! Ignored otherwise, because they are large and come from the npm registry:
//! `cargo xtask test --full` brings them and runs these too.

mod codex;
mod gemini;
mod opencode;
mod pi;
mod plugin_of_codex;

use std::ffi::OsString;
use std::process::Command;

use crate::install::Machine;
use crate::support::{Output, finish};

const RULE: &str = "Never use var in JavaScript.";

/// A program in a home of its own, beside a recoup that is installed there.
struct Client {
    program: &'static str,
    machine: Machine,
}

/// Where what leads out of the machine ends.
const NOWHERE: &str = "http://127.0.0.1:9";

impl Client {
    /// The one that `xtask` installs: another version's settings would say nothing.
    fn new(program: &'static str, wanted: &str) -> Self {
        let this = Self { program, machine: Machine::new() };
        let there = this.run(&["--version"]).expect(0).text();
        assert!(
            there.split_whitespace().any(|word| word == wanted),
            "{program} {wanted} is needed, on the PATH is {there:?}: `cargo xtask test --full` \
             brings it"
        );
        this
    }

    /// The program as its user starts it in the project. Nothing but loopback is reached.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.machine.home.prepared(self.program, args);
        let mut path = OsString::from(self.machine.path("bin"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.env("PATH", path).env("NO_PROXY", "127.0.0.1,localhost");
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY"] {
            command.env(proxy, NOWHERE);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    /// What it says of its servers, wherever it says it.
    fn servers(&self) -> String {
        let said = self.run(&["mcp", "list"]).expect(0);
        said.text() + &said.stderr
    }

    /// Puts the proxy in front of the client's servers.
    fn wrap(&self, client: &str) {
        let wrapped = self.machine.run(&["mcp", "wrap", "--yes", "--client", client]).expect(0);
        assert!(wrapped.stderr.contains("behind the proxy"), "{}", wrapped.stderr);
    }

    fn remember_the_rule(&self) {
        self.machine.run(&["memory", "add", RULE]).expect(0);
    }

    fn project(&self) -> String {
        self.machine.home.project().display().to_string()
    }
}

/// The one version of a package in a manifest of `xtask/clients`.
fn pinned(manifest: &str, package: &str) -> String {
    let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap();
    let kinds = ["dependencies", "optionalDependencies"];
    let version = kinds.iter().find_map(|kind| manifest[kind][package].as_str());
    version.unwrap_or_else(|| panic!("no {package} in {manifest}")).to_owned()
}
