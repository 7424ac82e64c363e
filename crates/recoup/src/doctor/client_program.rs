//! The program that a client would start, and whether we may start it too. A user's settings may
//! start us through another program, which must not be influenced by the repository that we happen
//! to be in.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::clients::{CallForm, RecoupCall};
use recoup_core::memory::HookClient;
use recoup_core::memory::shell::split_commands;

use super::{DoctorContext, probe};
use crate::install::{ClientInstallation, InstallLevel, is_program};

/// Time limit for `--version`.
const FOR_VERSION: Duration = Duration::from_secs(3);

/// The version of this program.
pub(super) const OUR_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The program that a client would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientProgram {
    Here(PathBuf),
    /// No such file.
    Missing,
    /// A file that is not executable.
    NotExecutable,
    /// Unknown: the name depends on a shell, the client or the repository.
    Untold,
}

impl ClientProgram {
    /// Description and stable identifier of a program that cannot be started.
    pub(super) fn fault(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Here(_) | Self::Untold => None,
            Self::Missing => Some(("does not exist", "program-missing")),
            Self::NotExecutable => Some(("is not executable", "not-executable")),
        }
    }
}

/// Finds the program that a client starts for a call, as the system would: ours, or the one that
/// starts it. Packages that `npx` would run are not resolved.
pub(super) fn find_program(call: &RecoupCall, context: &DoctorContext) -> ClientProgram {
    let named = match &call.how {
        CallForm::Line(_) => expand_home(call.started(), context),
        CallForm::Words(_) => call.started().to_owned(),
    };
    let is_bare = !named.contains('/');
    if is_expanded(&named) || is_bare && resolves_into_repository(&named, context) {
        return ClientProgram::Untold;
    }
    if is_bare {
        return context
            .places
            .find_program(&named)
            .map_or(ClientProgram::Missing, ClientProgram::Here);
    }
    let path = context.places.root.join(named);
    match (is_program(&path), path.exists()) {
        (true, _) => ClientProgram::Here(path),
        (false, true) => ClientProgram::NotExecutable,
        (false, false) => ClientProgram::Missing,
    }
}

/// Expands the user's home at the start of a word, as a shell does.
fn expand_home(word: &str, context: &DoctorContext) -> String {
    let begins = ["~/", "$HOME/", "${HOME}/"];
    let rest = begins.iter().find_map(|begin| word.strip_prefix(begin));
    rest.map_or_else(
        || word.to_owned(),
        |rest| context.places.dirs.home.join(rest).display().to_string(),
    )
}

/// True if the name is expanded: `$X/recoup`, `~me/recoup`, `${workspaceFolder}/recoup`.
fn is_expanded(name: &str) -> bool {
    name.starts_with('~') || name.contains(['$', '`'])
}

/// Returns the call as we may make it. A call from a repository's files must start a program that
/// this user runs anyway, with the arguments that `init` writes, and never through a shell: clients
/// ask before they trust a repository, and we have not asked.
pub(super) fn permitted_call(
    call: &RecoupCall,
    of: &ClientInstallation,
    context: &DoctorContext,
) -> Result<RecoupCall, ProbeSkipReason> {
    if let Some(why) = find_skip_reason(call, context) {
        return Err(why);
    }
    if belongs_to_user(of, context) {
        return Ok(call.clone());
    }
    let ClientProgram::Here(path) = find_program(call, context) else {
        return Err(ProbeSkipReason::OfRepository);
    };
    let real = path.canonicalize().map_err(|_| ProbeSkipReason::OfRepository)?;
    let is_known = trusted_programs(context).into_iter().any(|known| known == real);
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    // Other arguments could open a port, or write elsewhere.
    let is_as_installed = match args[..] {
        ["mcp" | "hook"] | ["mcp", "--with-hooks"] => true,
        ["hook", "--client", name] => HookClient::ALL.iter().any(|it| it.as_str() == name),
        _ => false,
    };
    (is_known && !call.wrapped && is_as_installed)
        .then(|| RecoupCall::plain(path.display().to_string(), call.args.clone()))
        .ok_or(ProbeSkipReason::OfRepository)
}

/// True if settings are the user's own. A variable such as `CODEX_HOME` may have moved them into
/// the repository: then its authors wrote them.
fn belongs_to_user(of: &ClientInstallation, context: &DoctorContext) -> bool {
    of.level == InstallLevel::User && !context.repository.contains(&of.path)
}

/// True if the PATH leads a name into the repository. A client, unlike us, also searches relative
/// PATH entries.
fn resolves_into_repository(name: &str, context: &DoctorContext) -> bool {
    let search = context.places.search.as_deref().unwrap_or(OsStr::new(""));
    let mut all = std::env::split_paths(search).map(|dir| context.cwd.join(dir).join(name));
    let first = all.find(|path| is_program(path));
    first.is_some_and(|path| context.repository.contains(&path))
}

/// Programs that this user runs anyway: this one, the one on the PATH outside the project, and
/// those in the user's own settings.
fn trusted_programs(context: &DoctorContext) -> Vec<PathBuf> {
    let on_path =
        context.places.find_program("recoup").filter(|path| !context.repository.contains(path));
    let of_user = context.installed.iter().filter(|it| belongs_to_user(it, context));
    let calls = of_user.flat_map(|it| {
        let hooks = it.hooks.iter().map(|hook| &hook.call);
        hooks.chain(it.servers.iter().map(|server| &server.call))
    });
    let ours =
        calls.filter(|call| call.starter.is_none() && find_skip_reason(call, context).is_none());
    let installed = ours.filter_map(|call| match find_program(call, context) {
        ClientProgram::Here(path) => Some(path),
        _ => None,
    });
    let all = context.program.clone().into_iter().chain(on_path).chain(installed);
    all.filter_map(|path| path.canonicalize().ok()).collect()
}

/// Asks a program for its version; none if it does not tell.
pub(super) fn ask_version(program: &Path, context: &DoctorContext) -> Option<String> {
    let same = |ours: &PathBuf| ours.canonicalize().ok() == program.canonicalize().ok();
    if context.program.as_ref().is_some_and(same) {
        return Some(OUR_VERSION.to_owned());
    }
    let mut command = Command::new(program);
    // A version manager's shim chooses by directory: in `/` there is nothing to choose.
    probe::isolate_command(&mut command, Path::new("/"), context);
    command.arg("--version");
    let ran =
        probe::run_to_end(command, b"", FOR_VERSION).ok().filter(|ran| ran.code == Some(0))?;
    let said = String::from_utf8(ran.stdout).ok()?;
    Some(said.trim().strip_prefix("recoup ")?.chars().take(40).collect())
}

/// Programs that start different things in different directories, or download them first.
const LAUNCHERS: [&str; 21] = [
    "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "node", "deno", "mise", "asdf", "volta",
    "direnv", "nix", "devbox", "uv", "uvx", "pipx", "poetry", "make", "cargo",
];

/// Words by which a command changes its directory.
const CHDIR_WORDS: [&str; 5] = ["cd", "pushd", "popd", "-C", "--chdir"];

/// Maximum depth of nested command lines: `sh -c "env A=1 sh -c '…'"`.
const DEPTH: usize = 4;

/// Reason for not trying a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProbeSkipReason {
    /// The command, or a part of it, comes with the repository.
    OfRepository,
    /// The command would write to the user's own memory.
    HasHome,
    /// The named program starts different things in different directories.
    Chooses(String),
    /// The command changes its directory first.
    Goes,
    /// The command runs as another user.
    AsAnother(String),
    /// Only the client knows what the program's name stands for.
    Untold,
}

impl ProbeSkipReason {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::OfRepository => "it is part of the repository, or refers to it".to_owned(),
            Self::HasHome => {
                "it changes RECOUP_HOME, so the test would use your own memory".to_owned()
            }
            Self::Chooses(name) => format!("which program {name} starts depends on the directory"),
            Self::Goes => "it changes the directory first".to_owned(),
            Self::AsAnother(name) => format!("{name} would run it as another user"),
            Self::Untold => "only the client can expand its path".to_owned(),
        }
    }
}

/// Returns why a call from the user's settings must not be tried, if so. A program that they name
/// by its full path is the user's choice, wherever it is.
fn find_skip_reason(call: &RecoupCall, context: &DoctorContext) -> Option<ProbeSkipReason> {
    let mut words = Vec::new();
    match &call.how {
        CallForm::Line(line) => collect_words(line, DEPTH, &mut words),
        CallForm::Words(all) => all.iter().for_each(|word| collect_word(word, DEPTH, &mut words)),
    }
    let has = |word: &str| words.iter().any(|it| it == word);
    let named = |names: &[&str]| {
        let name = |word: &String| Path::new(word).file_name()?.to_str().map(str::to_owned);
        words.iter().filter_map(name).find(|it| names.contains(&it.as_str()))
    };
    let drops =
        || named(&["env"]).is_some() && ["-i", "-", "--ignore-environment"].into_iter().any(has);
    if words.iter().any(|word| word.contains("RECOUP_HOME")) || drops() {
        return Some(ProbeSkipReason::HasHome);
    }
    let is_plain = call.starter.is_none() && !call.wrapped;
    if matches!(call.how, CallForm::Words(_)) && is_expanded(call.started()) {
        return Some(ProbeSkipReason::Untold);
    }
    if is_plain {
        let program = expand_home(&call.program, context);
        return leads_into_repository(&program, context, WordRole::Program)
            .then_some(ProbeSkipReason::OfRepository);
    }
    if let Some(name) = named(&LAUNCHERS) {
        return Some(ProbeSkipReason::Chooses(name));
    }
    if let Some(name) = named(&["sudo", "doas", "su", "runuser"]) {
        return Some(ProbeSkipReason::AsAnother(name));
    }
    if words.iter().any(|word| CHDIR_WORDS.contains(&word.as_str()) || word.starts_with("--chdir="))
    {
        return Some(ProbeSkipReason::Goes);
    }
    let leads = |word: &String| {
        leads_into_repository(&expand_home(word, context), context, WordRole::Anything)
    };
    words.iter().any(leads).then_some(ProbeSkipReason::OfRepository)
}

/// Role of a word in a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordRole {
    /// The program that is called.
    Program,
    /// Unknown.
    Anything,
}

/// True if a word leads into the repository.
fn leads_into_repository(word: &str, context: &DoctorContext, names: WordRole) -> bool {
    if context.repository.is_reached_by_variable(word) {
        return true;
    }
    if !word.contains('/') {
        return resolves_into_repository(word, context);
    }
    let path = Path::new(word);
    match names {
        WordRole::Program if is_expanded(word) => false,
        WordRole::Program => {
            path.is_relative() && context.repository.contains(&context.cwd.join(path))
        }
        WordRole::Anything => {
            let found = context.cwd.join(path);
            context.repository.is_mentioned_in(word.as_bytes())
                || (path.is_absolute() || found.exists()) && context.repository.contains(&found)
        }
    }
}

fn collect_words(line: &str, depth: usize, all: &mut Vec<String>) {
    for command in split_commands(line) {
        for word in command.words.iter().chain(&command.inputs).chain(&command.outputs) {
            collect_word(word, depth, all);
        }
    }
}

fn collect_word(word: &str, depth: usize, all: &mut Vec<String>) {
    all.push(word.to_owned());
    let is_line = word.contains(|c: char| c.is_whitespace() || ";|&()`<>".contains(c));
    if let Some(depth) = depth.checked_sub(1).filter(|_| is_line) {
        collect_words(&word.replace(['`', '<', '>', '(', ')'], " "), depth, all);
    }
}
