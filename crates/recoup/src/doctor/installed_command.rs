//! An installed command, compared as text with what `recoup init` would write for this program.
//! Nothing is run: whoever wrote the settings may have written anything.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::DoctorContext;
use super::finding::DoctorFinding;
use super::fix::{init_command, offer_reinstall};
use crate::clients::{CallForm, RecoupCall};
use crate::install::{ClientInstallation, is_program};

/// A command in a client's settings, by the program that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InstalledCommand {
    /// This program.
    Ours,
    /// Another file of our name.
    Other(PathBuf),
    /// No such file.
    Missing,
    /// A file that is not executable.
    NotExecutable,
    /// More than we would write, or a name that only its reader can resolve.
    Own(String),
}

impl InstalledCommand {
    /// Classifies a command.
    pub(super) fn of(call: &RecoupCall, context: &DoctorContext) -> Self {
        let places = &context.places;
        let named = match &call.how {
            CallForm::Line(_) => expand_home(call.started(), &places.dirs.home),
            CallForm::Words(_) => call.started().to_owned(),
        };
        if named.starts_with('~') || named.contains(['$', '`']) {
            return Self::Own("only the client can expand its path".to_owned());
        }
        let found = if named.contains('/') {
            Some(places.root.join(&named))
        } else {
            places.find_program(&named)
        };
        match (found, &call.starter) {
            (None, _) => Self::Missing,
            (Some(path), _) if !path.exists() => Self::Missing,
            (Some(path), _) if !is_program(&path) => Self::NotExecutable,
            (_, Some(starter)) => Self::Own(format!("recoup is started by {starter}")),
            _ if call.wrapped => Self::Own("it is more than `recoup init` writes".to_owned()),
            (Some(path), None) if context.is_this_program(&path) => Self::Ours,
            (Some(path), None) => Self::Other(path),
        }
    }
}

/// Expands the user's home at the start of a word, as a shell does.
fn expand_home(word: &str, home: &Path) -> String {
    let begins = ["~/", "$HOME/", "${HOME}/"];
    let rest = begins.iter().find_map(|begin| word.strip_prefix(begin));
    rest.map_or_else(|| word.to_owned(), |rest| home.join(rest).display().to_string())
}

/// Reports a command that does not start this program. `name` is the client's, or a server's.
pub(super) fn find_command_fault(
    name: &str,
    call: &RecoupCall,
    of: &ClientInstallation,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let shown = context.places.display_path(&of.path);
    let unusable = |code, why: &str| {
        let what = format!("{name}: {} {why}; it is named in {shown}", call.started());
        let finding = DoctorFinding::fail(code, what);
        if call.wrapped {
            finding.remedy("this command was written by hand: correct it there")
        } else {
            offer_reinstall(finding, of, context, "sets it to this program")
        }
    };
    let finding = match InstalledCommand::of(call, context) {
        InstalledCommand::Ours => return None,
        InstalledCommand::Missing => unusable("program-missing", "does not exist"),
        InstalledCommand::NotExecutable => unusable("not-executable", "is not executable"),
        InstalledCommand::Other(path) => {
            let this = context.program.as_deref().unwrap_or(Path::new("recoup"));
            let (other, this) = (context.display_path(&path), context.display_path(this));
            let what = format!("{name}: {shown} names {other}, but this program is {this}");
            let init = init_command(of.client, of.level);
            DoctorFinding::warn("other-program", what)
                .remedy(format!("keep only one of them; `{init}` sets it to this program"))
        }
        InstalledCommand::Own(why) => {
            let what = format!("{name}: its command is your own, and was not tested: {why}");
            DoctorFinding::skipped("withheld", what).remedy(format!("check it yourself in {shown}"))
        }
    };
    Some(finding.about(of))
}

/// True if both paths lead to one file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    identity(one).is_some_and(|it| identity(other) == Some(it))
}
