//! Which program a client would start, and whether we may start it too.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use recoup_core::memory::hooked::{self, Call};

use super::Around;
use super::probe;
use crate::install::{Installation, Level, is_program};

/// A program says its version at once.
const FOR_VERSION: Duration = Duration::from_secs(3);

/// The version of this program.
pub(super) const OURS: &str = env!("CARGO_PKG_VERSION");

/// What a client would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Program {
    Here(PathBuf),
    /// There is no such file.
    Missing,
    /// There is one, and it can't be run.
    NotExecutable,
}

/// The program that a client starts for a call, as the system would find it: ours, or the one
/// that starts it. What `npx` runs is nowhere before it does.
pub(super) fn program(call: &Call, around: &Around) -> Program {
    let named = call.started();
    if !named.contains('/') {
        return around.places.program(named).map_or(Program::Missing, Program::Here);
    }
    let path = around.places.root.join(named);
    match (is_program(&path), path.exists()) {
        (true, _) => Program::Here(path),
        (false, true) => Program::NotExecutable,
        (false, false) => Program::Missing,
    }
}

/// The call as we may make it. What a repository's files say is run only if it is a program
/// that this user runs anyway, told what we would tell it, and never through a shell: a client
/// asks before it trusts a repository, and nobody has asked here.
pub(super) fn callable(call: &Call, of: &Installation, around: &Around) -> Option<Call> {
    if is_misled(call, around) {
        return None;
    }
    if of.level == Level::User {
        return Some(call.clone());
    }
    let Program::Here(path) = program(call, around) else { return None };
    let real = path.canonicalize().ok()?;
    let is_known = known(around).into_iter().any(|known| known == real);
    (is_known && !call.wrapped && is_as_installed(&call.args))
        .then(|| Call::plain(path.display().to_string(), call.args.clone()))
}

/// Whether a program of ours is told just what `init` writes. With more it may listen to the
/// network, or write where somebody else says.
fn is_as_installed(args: &[String]) -> bool {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["mcp" | "hook"] | ["mcp", "--with-hooks"] => true,
        ["hook", "--client", name] => hooked::Client::ALL.iter().any(|it| it.as_str() == name),
        _ => false,
    }
}

/// Whether a bare name leads into the repository, because a directory of it is on the PATH.
fn is_misled(call: &Call, around: &Around) -> bool {
    let Program::Here(path) = program(call, around) else { return false };
    !call.started().contains('/') && is_of_repository(&path, around)
}

/// Whether a program came with the repository that we were started in: it is not run. Whoever
/// starts us at home, or above, has no repository around.
pub(super) fn is_of_repository(program: &Path, around: &Around) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(&around.places.root);
    if real(&around.places.home).starts_with(&root) {
        return false;
    }
    program.starts_with(&around.places.root) || real(program).starts_with(&root)
}

/// The programs that this user runs anyway: this one, the one on the PATH outside the
/// project, and those in the user's own settings.
fn known(around: &Around) -> Vec<PathBuf> {
    let on_path = around.places.program("recoup").filter(|path| !is_of_repository(path, around));
    let of_user = around.installed.iter().filter(|it| it.level == Level::User);
    let calls = of_user.flat_map(|it| {
        let hooks = it.hooks.iter().map(|hook| &hook.call);
        hooks.chain(it.servers.iter().map(|server| &server.call))
    });
    let ours = calls.filter(|call| call.starter.is_none() && !is_misled(call, around));
    let installed = ours.filter_map(|call| match program(call, around) {
        Program::Here(path) => Some(path),
        _ => None,
    });
    let all = around.program.clone().into_iter().chain(on_path).chain(installed);
    all.filter_map(|path| path.canonicalize().ok()).collect()
}

/// The version that a program says it has; none where it says none.
pub(super) fn version_of(program: &Path, around: &Around) -> Option<String> {
    let same = |ours: &PathBuf| ours.canonicalize().ok() == program.canonicalize().ok();
    if around.program.as_ref().is_some_and(same) {
        return Some(OURS.to_owned());
    }
    let mut command = Command::new(program);
    command.arg("--version").current_dir(&around.cwd);
    let ran = probe::run(command, b"", FOR_VERSION).ok().filter(|ran| ran.code == Some(0))?;
    let said = String::from_utf8(ran.stdout).ok()?;
    Some(said.trim().strip_prefix("recoup ")?.chars().take(40).collect())
}
