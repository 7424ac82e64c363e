//! Description of a client: how it is found, which files it reads, and what goes into them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::AgentClient;

/// Everything that Recoup knows about one client.
#[derive(Debug)]
pub(crate) struct ClientSpec {
    pub(crate) client: AgentClient,
    /// Name on the command line and in files.
    pub(crate) name: &'static str,
    /// Product name.
    pub(crate) title: &'static str,
    /// Other names that people type.
    pub(crate) aliases: &'static [&'static str],
    /// Programs that start it.
    pub(crate) programs: &'static [&'static str],
    /// Packages that it is fetched or run from.
    pub(crate) packages: &'static [&'static str],
    /// Directory of the user's settings.
    pub(crate) dir: UserDir,
    /// Further directories that show that it is installed.
    pub(crate) other_dirs: &'static [UserDir],
    /// Files that it reads; of one level, the one with the highest precedence first.
    pub(crate) files: &'static [FileSpec],
    /// Folders of the transcripts that we can read, below the directory of its settings.
    pub(crate) transcripts: &'static [&'static str],
    /// None if it only has MCP servers.
    pub(crate) hooks: Option<HookSpec>,
    /// Advice for the user after an installation.
    pub(crate) advice: Option<&'static str>,
    pub(crate) tested: TestedWith,
}

/// A directory of the user, by the variable or the base directory that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserDir {
    /// Below the home directory.
    Home(&'static str),
    /// Below `~/.config`, or `XDG_CONFIG_HOME`.
    Config(&'static str),
    /// As above, but on macOS below the home directory.
    ConfigOrMacHome(&'static str, &'static str),
}

/// Evidence that an entry of the table is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestedWith {
    /// Driven by the tests with real clients, in this version.
    Version(&'static str),
    /// Driven by hand against a scripted model, in this version; its recorded payloads are tests.
    Recorded(&'static str),
    /// Known from its documentation only.
    Documentation,
}

/// Reach of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InstallLevel {
    /// Everything that this user does.
    User,
    /// One project.
    Project,
}

impl InstallLevel {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    /// Name in files and messages.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A settings file of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileSpec {
    pub(crate) level: InstallLevel,
    pub(crate) dir: FileDir,
    /// Path below the directory.
    pub(crate) path: &'static str,
    pub(crate) content: FileContent,
    pub(crate) role: FileRole,
    /// True if the file is one person's, wherever it lies. Otherwise a project's file is shared,
    /// and must not hold a path of this machine.
    pub(crate) personal: bool,
    /// File beside it that takes its place if it exists; if it is for hooks, only if it has any.
    pub(crate) alternative: Option<(&'static str, FileContent)>,
}

/// Directory that a settings file is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileDir {
    /// The client's own directory of the user.
    Client,
    /// The home directory or, if a variable moves the client's directory, that one.
    HomeOrMoved,
    /// The project's root.
    Root,
}

/// Role of a settings file in an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRole {
    /// We add our entries.
    Installed,
    /// We only look for our entries: the file belongs to a team, or is another way to the same end.
    Read,
}

/// Content that a settings file has, as far as it concerns us.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileContent {
    /// Commands for events, in the object at this path: `{EVENT: [{"hooks": [HOOK…]}…]…}`.
    Hooks(&'static [&'static str], JsonDialect),
    /// Commands for events, in TOML: `[[hooks]]` with the event as a field.
    TomlHooks,
    /// Servers, in the object at this path.
    Servers(&'static [&'static str], ServerEntryShape, JsonDialect),
    /// Servers in TOML, as Codex has them; its hooks may be there, too.
    TomlServers,
    /// A program in the client's own language: Pi's extension.
    Extension,
}

/// Stands for the project's root in the path of an object.
pub(crate) const PROJECT_ROOT: &str = "{root}";

/// Extensions of JSON that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonDialect {
    /// None.
    Strict,
    /// Comments and trailing commas.
    Comments,
}

impl JsonDialect {
    pub(crate) fn with_comments(comments: bool) -> Self {
        if comments { Self::Comments } else { Self::Strict }
    }
}

/// Layout of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEntryShape {
    /// `{"command": …, "args": […]}`
    Plain,
    /// `Plain` with `"type": "stdio"`.
    Typed,
    /// `Plain` with `"source": "custom"`.
    Custom,
    /// `{"type": "local", "command": [PROGRAM, ARGUMENT…], "enabled": true}`
    Local,
    /// `Plain` with `"type": "local"` and `"tools": ["*"]`.
    LocalWithTools,
}

/// Hooks of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookSpec {
    pub(crate) events: &'static [EventSpec],
    pub(crate) command: HookCommandForm,
    /// Arguments of our program.
    pub(crate) args: &'static [&'static str],
    pub(crate) off_switch: Option<OffSwitch>,
    pub(crate) answer: AnswerSpec,
    /// Version that a file with hooks has to name.
    pub(crate) file_version: Option<u64>,
    /// Payloads as the client sent them, by event, in the order of a session. `doctor` sends them
    /// to this program.
    pub(crate) recorded: &'static [(&'static str, &'static str)],
}

/// Answers that a client reads from a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnswerSpec {
    pub(crate) layout: AnswerLayout,
    /// Events at which text reaches the agent, and does nothing else.
    pub(crate) context_events: &'static [&'static str],
    pub(crate) decisions: DecisionSupport,
    /// True if a hook before a call may change its input.
    pub(crate) changes_calls: bool,
}

/// Decisions about a call that a client takes from a hook before the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecisionSupport {
    /// None: a rule can only be a reminder.
    Unsupported,
    /// A refusal, whose reason the agent gets.
    Refusal,
    /// A refusal, or a question to the person.
    RefusalOrQuestion,
}

/// Layout of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerLayout {
    /// `{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}, "systemMessage": …}`
    Nested,
    /// `{"additionalContext": …}`; a notice is not shown.
    Flat,
    /// Text alone: everything printed reaches the agent, JSON too.
    Text,
    /// Cursor's: `{"continue": true, "additional_context": …, "user_message": …}`
    Cursor,
    /// Our own extensions': `{"context": …, "notice": …}`, of any length.
    Extension,
}

impl AnswerSpec {
    /// True if text reaches the agent at this event. Cursor writes the same names with a small first
    /// letter.
    pub(crate) fn takes_context_at(&self, event: &str) -> bool {
        self.context_events.iter().any(|it| it.eq_ignore_ascii_case(event))
    }
}

/// An event that we use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventSpec {
    pub(crate) name: &'static str,
    /// Time limit of the hook, in the client's unit: seconds or milliseconds.
    pub(crate) timeout: u64,
    /// First version that supports the event, if not all do.
    pub(crate) since: Option<ClientVersion>,
}

/// How a hook names its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookCommandForm {
    /// A program in `command` and a list in `args`, since this version: starts no shell. Older
    /// versions get a shell line.
    ExecSince(ClientVersion),
    /// A shell line in `command`; `args` is not supported.
    Shell,
}

/// A setting that disables all hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OffSwitch {
    /// Its path, and older ones.
    pub(crate) paths: &'static [&'static [&'static str]],
    /// Its value if hooks are disabled.
    pub(crate) off: bool,
    /// As people read about it: the setting, and the file that it is in.
    pub(crate) setting: &'static str,
    pub(crate) place: &'static str,
    /// False if flags of the client may enable hooks again: then a key still counts the rules.
    pub(crate) is_final: bool,
}

/// A client's version, such as 2.1.139.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClientVersion(pub(crate) u32, pub(crate) u32, pub(crate) u32);

impl ClientVersion {
    /// Parses the first word of a client's output: `2.1.139 (Claude Code)`.
    pub(crate) fn parse(said: &str) -> Option<Self> {
        let numbers: Result<Vec<u32>, _> =
            said.split_whitespace().next()?.split('.').map(str::parse).collect();
        match numbers.ok()?[..] {
            [major, minor, patch] => Some(Self(major, minor, patch)),
            _ => None,
        }
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl FileSpec {
    /// A file in the client's own directory of the user.
    pub(crate) const fn user(path: &'static str, content: FileContent) -> Self {
        Self {
            level: InstallLevel::User,
            dir: FileDir::Client,
            path,
            content,
            role: FileRole::Installed,
            personal: true,
            alternative: None,
        }
    }

    /// A file in the project.
    pub(crate) const fn project(path: &'static str, content: FileContent) -> Self {
        Self {
            level: InstallLevel::Project,
            dir: FileDir::Root,
            personal: false,
            ..Self::user(path, content)
        }
    }

    pub(crate) const fn personal(self) -> Self {
        Self { personal: true, ..self }
    }

    pub(crate) const fn only_read(self) -> Self {
        Self { role: FileRole::Read, ..self }
    }

    pub(crate) const fn or_if_present(self, path: &'static str, content: FileContent) -> Self {
        Self { alternative: Some((path, content)), ..self }
    }
}

impl FileContent {
    /// True if the client may have hooks there.
    pub(crate) fn has_hooks(&self) -> bool {
        !matches!(self, Self::Servers(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_word() {
        let parse = ClientVersion::parse;
        assert_eq!(parse("2.1.139 (Claude Code)\n"), Some(ClientVersion(2, 1, 139)));
        assert!(parse("2.1.139 (Claude Code)") > parse("2.1.99 (Claude Code)"));
        for none in ["", "claude 2.1.139", "2.1", "2.1.139.1", "2.1.x", "v2.1.139", "2.1.-1"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
