//! Finds the program that a client would start, and decides whether we may start it too.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use recoup_core::memory::hooked::{self, Call, How};

use super::Around;
use super::probe;
use super::withheld::{Withheld, why_not};
use crate::install::{Installation, Level, is_program};

/// Time limit for `--version`.
const FOR_VERSION: Duration = Duration::from_secs(3);

/// The version of this program.
pub(super) const OURS: &str = env!("CARGO_PKG_VERSION");

/// The program that a client would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Program {
    Here(PathBuf),
    /// No such file.
    Missing,
    /// A file that is not executable.
    NotExecutable,
    /// Unknown: the name depends on a shell, the client or the repository.
    Untold,
}

/// Finds the program that a client starts for a call, as the system would: ours, or the one that
/// starts it. Packages that `npx` would run are not resolved.
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

/// Expands the user's home at the start of a word, as a shell does.
pub(super) fn with_home(word: &str, around: &Around) -> String {
    let begins = ["~/", "$HOME/", "${HOME}/"];
    let rest = begins.iter().find_map(|begin| word.strip_prefix(begin));
    rest.map_or_else(|| word.to_owned(), |rest| around.places.home.join(rest).display().to_string())
}

/// True if the name is expanded: `$X/recoup`, `~me/recoup`, `${workspaceFolder}/recoup`.
pub(super) fn is_expanded(name: &str) -> bool {
    name.starts_with('~') || name.contains(['$', '`'])
}

/// Returns the call as we may make it. A call from a repository's files must start a program that
/// this user runs anyway, with the arguments that `init` writes, and never through a shell: clients
/// ask before they trust a repository, and we have not asked.
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

/// True if settings are the user's own. A variable such as `CODEX_HOME` may have moved them into
/// the repository: then its authors wrote them.
fn is_of_user(of: &Installation, around: &Around) -> bool {
    of.level == Level::User && !around.repository.has(&of.path)
}

/// True if the arguments are exactly those that `init` writes. Others could open a port, or write
/// elsewhere.
fn is_as_installed(args: &[String]) -> bool {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["mcp" | "hook"] | ["mcp", "--with-hooks"] => true,
        ["hook", "--client", name] => hooked::Client::ALL.iter().any(|it| it.as_str() == name),
        _ => false,
    }
}

/// True if the PATH leads a name into the repository. A client, unlike us, also searches relative
/// PATH entries.
pub(super) fn is_misled(name: &str, around: &Around) -> bool {
    let search = around.places.search.as_deref().unwrap_or(OsStr::new(""));
    let mut all = std::env::split_paths(search).map(|dir| around.cwd.join(dir).join(name));
    let first = all.find(|path| is_program(path));
    first.is_some_and(|path| around.repository.has(&path))
}

/// Programs that this user runs anyway: this one, the one on the PATH outside the project, and
/// those in the user's own settings.
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

/// Asks a program for its version; none if it does not tell.
pub(super) fn version_of(program: &Path, around: &Around) -> Option<String> {
    let same = |ours: &PathBuf| ours.canonicalize().ok() == program.canonicalize().ok();
    if around.program.as_ref().is_some_and(same) {
        return Some(OURS.to_owned());
    }
    let mut command = Command::new(program);
    // A version manager's shim chooses by directory: in `/` there is nothing to choose.
    probe::take_away(&mut command, Path::new("/"), around);
    command.arg("--version");
    let ran = probe::run(command, b"", FOR_VERSION).ok().filter(|ran| ran.code == Some(0))?;
    let said = String::from_utf8(ran.stdout).ok()?;
    Some(said.trim().strip_prefix("recoup ")?.chars().take(40).collect())
}
