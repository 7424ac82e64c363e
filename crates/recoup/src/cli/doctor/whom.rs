//! Which program a client would start, and whether we may start it too.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use recoup_core::memory::hooked::{self, Call, How};

use super::Around;
use super::probe;
use super::withheld::{Withheld, why_not};
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
    /// A shell, the client or the repository makes something else of that name.
    Untold,
}

/// The program that a client starts for a call, as the system would find it: ours, or the one
/// that starts it. What `npx` runs is nowhere before it does.
pub(super) fn program(call: &Call, around: &Around) -> Program {
    let named = match &call.how {
        How::Line(_) => with_home(call.started(), around),
        How::Words(_) => call.started().to_owned(),
    };
    let is_bare = !named.contains('/');
    if is_expanded(&named) || is_bare && is_misled(&named, around) {
        return Program::Untold;
    }
    if is_bare {
        return around.places.program(&named).map_or(Program::Missing, Program::Here);
    }
    let path = around.places.root.join(named);
    match (is_program(&path), path.exists()) {
        (true, _) => Program::Here(path),
        (false, true) => Program::NotExecutable,
        (false, false) => Program::Missing,
    }
}

/// A word as a shell reads it, as far as that is about the user's home.
pub(super) fn with_home(word: &str, around: &Around) -> String {
    let begins = ["~/", "$HOME/", "${HOME}/"];
    let rest = begins.iter().find_map(|begin| word.strip_prefix(begin));
    rest.map_or_else(|| word.to_owned(), |rest| around.places.home.join(rest).display().to_string())
}

/// Whether a name stands for another: `$X/recoup`, `~me/recoup`, `${workspaceFolder}/recoup`.
pub(super) fn is_expanded(name: &str) -> bool {
    name.starts_with('~') || name.contains(['$', '`'])
}

/// The call as we may make it. What a repository's files say is run only if it is a program
/// that this user runs anyway, told what we would tell it, and never through a shell: a client
/// asks before it trusts a repository, and nobody has asked here.
pub(super) fn callable(call: &Call, of: &Installation, around: &Around) -> Result<Call, Withheld> {
    if let Some(why) = why_not(call, around) {
        return Err(why);
    }
    if is_of_user(of, around) {
        return Ok(call.clone());
    }
    let Program::Here(path) = program(call, around) else { return Err(Withheld::OfRepository) };
    let real = path.canonicalize().map_err(|_| Withheld::OfRepository)?;
    let is_known = known(around).into_iter().any(|known| known == real);
    (is_known && !call.wrapped && is_as_installed(&call.args))
        .then(|| Call::plain(path.display().to_string(), call.args.clone()))
        .ok_or(Withheld::OfRepository)
}

/// Whether settings are the user's own. A variable may have moved them into the repository
/// (`CODEX_HOME`): then they are what its authors wrote.
fn is_of_user(of: &Installation, around: &Around) -> bool {
    of.level == Level::User && !around.repository.has(&of.path)
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

/// Whether a name leads into the repository: a client that is started there finds it so.
/// Unlike us it also looks where the PATH says something relative.
pub(super) fn is_misled(name: &str, around: &Around) -> bool {
    let search = around.places.search.as_deref().unwrap_or(OsStr::new(""));
    let mut all = std::env::split_paths(search).map(|dir| around.cwd.join(dir).join(name));
    let first = all.find(|path| is_program(path));
    first.is_some_and(|path| around.repository.has(&path))
}

/// The programs that this user runs anyway: this one, the one on the PATH outside the
/// project, and those in the user's own settings.
fn known(around: &Around) -> Vec<PathBuf> {
    let on_path = around.places.program("recoup").filter(|path| !around.repository.has(path));
    let of_user = around.installed.iter().filter(|it| is_of_user(it, around));
    let calls = of_user.flat_map(|it| {
        let hooks = it.hooks.iter().map(|hook| &hook.call);
        hooks.chain(it.servers.iter().map(|server| &server.call))
    });
    let ours = calls.filter(|call| call.starter.is_none() && why_not(call, around).is_none());
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
    // It may be one that chooses another by the directory: there is nothing to choose there.
    probe::take_away(&mut command, Path::new("/"), around);
    command.arg("--version");
    let ran = probe::run(command, b"", FOR_VERSION).ok().filter(|ran| ran.code == Some(0))?;
    let said = String::from_utf8(ran.stdout).ok()?;
    Some(said.trim().strip_prefix("recoup ")?.chars().take(40).collect())
}
