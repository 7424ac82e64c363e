//! Reasons for not trying a command. A user's settings may start us through another program, which
//! must not be influenced by the repository that we happen to be in.

use std::path::Path;

use recoup_core::memory::hooked::{self, CallForm, RecoupCall};

use super::DoctorContext;
use super::client_program::{expand_home, is_expanded, resolves_into_repository};

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
            Self::OfRepository => "it comes with the repository, or leads there".to_owned(),
            Self::HasHome => {
                "it sets RECOUP_HOME, or drops it: that would be your own memory".to_owned()
            }
            Self::Chooses(name) => format!("what {name} starts depends on the directory"),
            Self::Goes => "it goes to another directory first".to_owned(),
            Self::AsAnother(name) => format!("{name} would start it as another user"),
            Self::Untold => "only the client knows what its path stands for".to_owned(),
        }
    }
}

/// Returns why a call from the user's settings must not be tried, if so. A program that they name
/// by its full path is the user's choice, wherever it is.
pub(super) fn find_skip_reason(
    call: &RecoupCall,
    context: &DoctorContext,
) -> Option<ProbeSkipReason> {
    let words = all_words(call);
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

/// All words of a call, including those of nested command lines.
fn all_words(call: &RecoupCall) -> Vec<String> {
    let mut all = Vec::new();
    match &call.how {
        CallForm::Line(line) => collect_words(line, DEPTH, &mut all),
        CallForm::Words(words) => words.iter().for_each(|word| collect_word(word, DEPTH, &mut all)),
    }
    all
}

fn collect_words(line: &str, depth: usize, all: &mut Vec<String>) {
    for word in hooked::split_commands(line).into_iter().flatten() {
        collect_word(&word, depth, all);
    }
}

fn collect_word(word: &str, depth: usize, all: &mut Vec<String>) {
    all.push(word.to_owned());
    let is_line = word.contains(|c: char| c.is_whitespace() || ";|&()`<>".contains(c));
    if let Some(depth) = depth.checked_sub(1).filter(|_| is_line) {
        collect_words(&word.replace(['`', '<', '>', '(', ')'], " "), depth, all);
    }
}
