//! The table of clients. A new client is one entry here, with its fixtures.

use super::AgentClient;
use super::spec::{
    AnswerLayout, AnswerSpec, ClientSpec, ClientVersion, DecisionSupport, EventSpec, FileContent,
    FileDir, FileSpec, HookCommandForm, HookSpec, JsonDialect, OffSwitch, PROJECT_ROOT,
    ServerEntryShape, TestedWith, UserDir,
};
use FileContent::{Extension, Hooks, Servers, TomlHooks, TomlServers};
use JsonDialect::{Comments, Strict};
use ServerEntryShape::{Custom, Local, LocalWithTools, Plain, Typed};

/// Recorded payloads of a client, by event: `"DIRECTORY", EVENT = "FILE"`.
macro_rules! recorded {
    ($dir:literal, $($event:ident = $file:literal),+ $(,)?) => {
        &[$((
            stringify!($event),
            include_str!(concat!("../../tests/fixtures/", $dir, "/", $file, ".json")),
        )),+]
    };
}

/// Time limit of a hook: ample; without a timeout of its own, a hook at a session's end is cut
/// short.
const SECONDS: u64 = 10;
const MILLIS: u64 = SECONDS * 1_000;

const HOOKS: FileContent = Hooks(&["hooks"], Strict);
const HOOKS_WITH_COMMENTS: FileContent = Hooks(&["hooks"], Comments);
const PLAIN_SERVERS: FileContent = Servers(&["mcpServers"], Plain, Comments);
const TYPED_SERVERS: FileContent = Servers(&["mcpServers"], Typed, Strict);

/// Claude Code's switch, which others have taken over.
const DISABLE_ALL_HOOKS: OffSwitch = OffSwitch {
    paths: &[&["disableAllHooks"]],
    off: true,
    setting: "`disableAllHooks`",
    place: "its settings",
    is_final: true,
};

/// All clients, those with hooks first.
pub(crate) static CLIENTS: [ClientSpec; AgentClient::COUNT] = [
    CLAUDE_CODE, CODEX, PI, QWEN_CODE, COPILOT_CLI, DROID, KIMI_CODE, GEMINI, CURSOR, WINDSURF,
    VS_CODE, ZED, OPENCODE,
];

/// A client without anything: what most entries leave as it is.
const NONE: ClientSpec = ClientSpec {
    client: AgentClient::ClaudeCode,
    name: "",
    title: "",
    aliases: &[],
    programs: &[],
    packages: &[],
    dir: UserDir::Home(""),
    other_dirs: &[],
    files: &[],
    transcripts: &[],
    hooks: None,
    advice: None,
    tested: TestedWith::Documentation,
};

/// Claude Code: hooks in its settings, servers in a file of its own.
///
/// A project's `.mcp.json` and `settings.json` belong to everybody who works there; the path of a
/// program on this machine is one person's. So a project's server is where `claude mcp add` puts
/// it.
const CLAUDE_CODE: ClientSpec = ClientSpec {
    client: AgentClient::ClaudeCode,
    name: "claude-code",
    title: "Claude Code",
    aliases: &["claude"],
    programs: &["claude"],
    packages: &["@anthropic-ai/claude-code"],
    dir: UserDir::Home(".claude"),
    files: &[
        FileSpec::user("settings.json", HOOKS),
        FileSpec { dir: FileDir::HomeOrMoved, ..FileSpec::user(".claude.json", TYPED_SERVERS) },
        FileSpec::project(".claude/settings.local.json", HOOKS).personal(),
        FileSpec {
            dir: FileDir::HomeOrMoved,
            ..FileSpec::project(
                ".claude.json",
                Servers(&["projects", PROJECT_ROOT, "mcpServers"], Typed, Strict),
            )
            .personal()
        },
        FileSpec::project(".claude/settings.json", HOOKS).only_read(),
        FileSpec::project(".mcp.json", TYPED_SERVERS).only_read(),
    ],
    transcripts: &["projects"],
    hooks: Some(HookSpec {
        // The first versions that support each, as published on npm. A version that does not know
        // an event skips the whole settings file.
        events: &[
            event("SessionStart", 1, 0, 62),
            event("UserPromptSubmit", 1, 0, 53),
            event("PreToolUse", 1, 0, 48),
            event("PostToolUse", 1, 0, 48),
            event("PostToolUseFailure", 2, 0, 56),
            event("PostToolBatch", 2, 1, 118),
            event("SubagentStart", 2, 0, 44),
            event("SubagentStop", 1, 0, 48),
            event("PreCompact", 1, 0, 48),
            event("Stop", 1, 0, 48),
            event("StopFailure", 2, 1, 78),
            event("SessionEnd", 1, 0, 85),
        ],
        // Older versions drop `args`, and run the program bare.
        command: HookCommandForm::ExecSince(ClientVersion(2, 1, 139)),
        args: &["hook"],
        off_switch: Some(DISABLE_ALL_HOOKS),
        // At `Stop` and `SubagentStop` it would make the agent go on.
        answer: AnswerSpec {
            layout: AnswerLayout::Nested,
            context_events: &[
                "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse",
                "PostToolUseFailure", "PostToolBatch", "SubagentStart",
            ],
            decisions: DecisionSupport::RefusalOrQuestion,
            changes_calls: true,
        },
        file_version: None,
        recorded: recorded! {
            "claude-code",
            SessionStart = "SessionStart-startup",
            UserPromptSubmit = "UserPromptSubmit",
            PreToolUse = "PreToolUse-Bash",
            PostToolUse = "PostToolUse-Bash",
            PostToolUseFailure = "PostToolUseFailure-Bash",
            PostToolBatch = "PostToolBatch",
            SubagentStart = "SubagentStart",
            SubagentStop = "SubagentStop",
            PreCompact = "PreCompact-manual",
            Stop = "Stop",
            StopFailure = "StopFailure",
            SessionEnd = "SessionEnd-other",
        },
    }),
    tested: TestedWith::Version("2.1.325"),
    ..NONE
};

/// Codex: hooks in `hooks.json`, servers in `config.toml`. Its hooks run once the user has approved
/// them in Codex. `notify` would only repeat what the hooks report.
const CODEX: ClientSpec = ClientSpec {
    client: AgentClient::Codex,
    name: "codex",
    title: "Codex",
    programs: &["codex"],
    packages: &["@openai/codex"],
    dir: UserDir::Home(".codex"),
    files: &[
        FileSpec::user("hooks.json", HOOKS),
        FileSpec::user("config.toml", TomlServers),
        FileSpec::project(".codex/hooks.json", HOOKS),
        FileSpec::project(".codex/config.toml", TomlServers),
    ],
    transcripts: &["sessions", "archived_sessions"],
    hooks: Some(HookSpec {
        events: &[
            any_version("SessionStart"),
            any_version("UserPromptSubmit"),
            any_version("PreToolUse"),
            any_version("PostToolUse"),
            any_version("SubagentStart"),
            any_version("SubagentStop"),
            any_version("PreCompact"),
            any_version("Stop"),
            // It allows a hook no more there.
            timed("SessionEnd", 3),
        ],
        command: HookCommandForm::Shell,
        args: &["hook", "--client", "codex"],
        off_switch: Some(OffSwitch {
            // The second is the older name.
            paths: &[&["features", "hooks"], &["features", "codex_hooks"]],
            off: false,
            setting: "`hooks = false` under [features]",
            place: "its config.toml",
            is_final: false,
        }),
        // It rejects fields that an event does not have.
        answer: AnswerSpec {
            layout: AnswerLayout::Nested,
            context_events: &[
                "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart",
            ],
            decisions: DecisionSupport::Refusal,
            changes_calls: false,
        },
        file_version: None,
        recorded: recorded! {
            "codex",
            SessionStart = "SessionStart-startup",
            UserPromptSubmit = "UserPromptSubmit",
            PreToolUse = "PreToolUse",
            PostToolUse = "PostToolUse",
            PreCompact = "PreCompact-auto",
            Stop = "Stop",
            SessionEnd = "SessionEnd-other",
        },
    }),
    advice: Some("it asks once whether new hooks may run: allow them there"),
    tested: TestedWith::Version("0.166.0"),
    ..NONE
};

/// Pi: an extension that calls our hooks, and servers in a file of their own. In a project, both
/// count once Pi's user trusts it. Older versions have no servers, and ignore that file.
const PI: ClientSpec = ClientSpec {
    client: AgentClient::Pi,
    name: "pi",
    title: "Pi",
    programs: &["pi"],
    packages: &["@mariozechner/pi-coding-agent", "@earendil-works/pi-coding-agent"],
    dir: UserDir::Home(".pi/agent"),
    files: &[
        FileSpec::user("extensions/recoup.ts", Extension),
        FileSpec::user("mcp.json", Servers(&["mcpServers"], Plain, Strict)),
        FileSpec::project(".pi/extensions/recoup.ts", Extension),
        FileSpec::project(".pi/mcp.json", Servers(&["mcpServers"], Plain, Strict)),
    ],
    transcripts: &["sessions"],
    hooks: Some(HookSpec {
        events: &[],
        command: HookCommandForm::Shell,
        args: &["hook", "--client", "pi"],
        off_switch: None,
        answer: AnswerSpec {
            layout: AnswerLayout::Extension,
            context_events: &["before_agent_start", "tool_result"],
            decisions: DecisionSupport::RefusalOrQuestion,
            changes_calls: true,
        },
        file_version: None,
        // As our extension sends them.
        recorded: recorded! {
            "pi",
            session_start = "session_start",
            input = "input",
            before_agent_start = "before_agent_start",
            tool_result = "tool_result",
            agent_end = "agent_end",
            session_shutdown = "session_shutdown",
        },
    }),
    tested: TestedWith::Version("1.5.0"),
    ..NONE
};

/// Hooks with Claude Code's names, as a shell line. None is set before a call: only Copilot CLI
/// takes context there, and denies the call if the program is gone.
const SHELL_HOOKS: HookSpec = HookSpec {
    events: &[
        any_version("SessionStart"),
        any_version("UserPromptSubmit"),
        any_version("PostToolUse"),
        any_version("PostToolUseFailure"),
        any_version("Stop"),
        any_version("SessionEnd"),
    ],
    command: HookCommandForm::Shell,
    args: &[],
    off_switch: None,
    answer: AnswerSpec {
        layout: AnswerLayout::Nested,
        context_events: &["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"],
        decisions: DecisionSupport::Unsupported,
        changes_calls: false,
    },
    file_version: None,
    recorded: &[],
};

/// Qwen Code: hooks and servers in one file. It ends a headless run without `SessionEnd`.
const QWEN_CODE: ClientSpec = ClientSpec {
    client: AgentClient::QwenCode,
    name: "qwen",
    title: "Qwen Code",
    aliases: &["qwen-code"],
    programs: &["qwen"],
    packages: &["@qwen-code/qwen-code"],
    dir: UserDir::Home(".qwen"),
    files: &[
        FileSpec::user("settings.json", HOOKS_WITH_COMMENTS),
        FileSpec::user("settings.json", PLAIN_SERVERS),
        FileSpec::project(".qwen/settings.json", HOOKS_WITH_COMMENTS),
        FileSpec::project(".qwen/settings.json", PLAIN_SERVERS),
    ],
    hooks: Some(HookSpec {
        // From 1,000 on, every version reads milliseconds.
        events: &[
            timed("SessionStart", MILLIS),
            timed("UserPromptSubmit", MILLIS),
            timed("PostToolUse", MILLIS),
            timed("PostToolUseFailure", MILLIS),
            timed("Stop", MILLIS),
            timed("SessionEnd", MILLIS),
        ],
        args: &["hook", "--client", "qwen"],
        recorded: recorded! {
            "qwen",
            SessionStart = "SessionStart-startup",
            UserPromptSubmit = "UserPromptSubmit",
            PostToolUse = "PostToolUse-run_shell_command",
            PostToolUseFailure = "PostToolUseFailure-run_shell_command-failing-command",
            Stop = "Stop",
            SessionEnd = "SessionEnd-prompt_input_exit",
        },
        off_switch: Some(DISABLE_ALL_HOOKS),
        ..SHELL_HOOKS
    }),
    tested: TestedWith::Recorded("0.24.4"),
    ..NONE
};

/// GitHub Copilot CLI: a file of our own among its hooks. In a trusted project it runs Claude Code's
/// hooks as well.
const COPILOT_CLI: ClientSpec = ClientSpec {
    client: AgentClient::CopilotCli,
    name: "copilot",
    title: "Copilot CLI",
    aliases: &["copilot-cli", "github-copilot"],
    programs: &["copilot"],
    packages: &["@github/copilot"],
    dir: UserDir::Home(".copilot"),
    files: &[
        FileSpec::user("hooks/recoup.json", HOOKS),
        FileSpec::user("mcp-config.json", Servers(&["mcpServers"], LocalWithTools, Strict)),
        FileSpec::project(".github/hooks/recoup.json", HOOKS),
        FileSpec::project(".github/mcp.json", Servers(&["mcpServers"], LocalWithTools, Strict)),
        FileSpec::project(".claude/settings.json", HOOKS).only_read(),
    ],
    hooks: Some(HookSpec {
        args: &["hook", "--client", "copilot"],
        recorded: recorded! {
            "copilot",
            SessionStart = "SessionStart-new",
            UserPromptSubmit = "UserPromptSubmit",
            PostToolUse = "PostToolUse-Bash",
            PostToolUseFailure = "PostToolUseFailure-Read-missing-file",
            Stop = "Stop",
            SessionEnd = "SessionEnd-complete",
        },
        off_switch: Some(OffSwitch { place: "its hooks file", ..DISABLE_ALL_HOOKS }),
        answer: AnswerSpec { layout: AnswerLayout::Flat, ..SHELL_HOOKS.answer },
        file_version: Some(1),
        ..SHELL_HOOKS
    }),
    tested: TestedWith::Recorded("1.0.102"),
    ..NONE
};

/// Factory Droid: if both files of a folder have hooks, only those in `hooks.json` run. It reports no
/// failure.
const DROID: ClientSpec = ClientSpec {
    client: AgentClient::Droid,
    name: "droid",
    title: "Factory Droid",
    aliases: &["factory", "factory-droid"],
    programs: &["droid"],
    packages: &["@factory/cli"],
    dir: UserDir::Home(".factory"),
    files: &[
        FileSpec::user("settings.json", HOOKS).or_if_present("hooks.json", Hooks(&[], Strict)),
        FileSpec::user("mcp.json", TYPED_SERVERS),
        FileSpec::project(".factory/settings.json", HOOKS)
            .or_if_present(".factory/hooks.json", Hooks(&[], Strict)),
        FileSpec::project(".factory/mcp.json", TYPED_SERVERS),
    ],
    hooks: Some(HookSpec {
        events: &[
            any_version("SessionStart"),
            any_version("UserPromptSubmit"),
            any_version("PostToolUse"),
            any_version("Stop"),
            any_version("SessionEnd"),
        ],
        args: &["hook", "--client", "droid"],
        recorded: recorded! {
            "droid",
            SessionStart = "SessionStart-startup",
            PostToolUse = "PostToolUse-Execute",
            Stop = "Stop",
            SessionEnd = "SessionEnd-other",
        },
        off_switch: Some(OffSwitch {
            paths: &[&["hooksDisabled"], &["hooks", "hooksDisabled"]],
            off: true,
            setting: "`hooksDisabled`",
            place: "the file with its hooks",
            is_final: true,
        }),
        ..SHELL_HOOKS
    }),
    tested: TestedWith::Recorded("0.225.2"),
    ..NONE
};

/// Kimi Code: hooks of the user alone, in TOML. One event that a version does not know, and none of
/// them runs: these are the oldest. Only a prompt's answer reaches the agent.
const KIMI_CODE: ClientSpec = ClientSpec {
    client: AgentClient::KimiCode,
    name: "kimi",
    title: "Kimi Code",
    aliases: &["kimi-code"],
    programs: &["kimi"],
    packages: &["@moonshot-ai/kimi-code"],
    dir: UserDir::Home(".kimi-code"),
    files: &[
        FileSpec::user("config.toml", TomlHooks),
        FileSpec::user("mcp.json", Servers(&["mcpServers"], Plain, Strict)),
        FileSpec::project(".kimi-code/mcp.json", Servers(&["mcpServers"], Plain, Strict)),
    ],
    hooks: Some(HookSpec {
        events: &[
            any_version("SessionStart"),
            any_version("UserPromptSubmit"),
            any_version("PostToolUse"),
            any_version("PostToolUseFailure"),
            any_version("Stop"),
        ],
        args: &["hook", "--client", "kimi"],
        recorded: recorded! {
            "kimi",
            SessionStart = "SessionStart-startup",
            UserPromptSubmit = "UserPromptSubmit",
            PostToolUse = "PostToolUse-Bash",
            PostToolUseFailure = "PostToolUseFailure-Bash-failing-command",
            Stop = "Stop",
        },
        answer: AnswerSpec {
            layout: AnswerLayout::Text,
            context_events: &["UserPromptSubmit"],
            decisions: DecisionSupport::Unsupported,
            changes_calls: false,
        },
        ..SHELL_HOOKS
    }),
    tested: TestedWith::Recorded("2.1.0"),
    ..NONE
};

/// Gemini CLI: Claude Code's hooks under other names. `PreCompress` comes before every request, so
/// nothing tells of a compaction.
const GEMINI: ClientSpec = ClientSpec {
    client: AgentClient::Gemini,
    name: "gemini",
    title: "Gemini CLI",
    aliases: &["gemini-cli"],
    programs: &["gemini"],
    packages: &["@google/gemini-cli"],
    dir: UserDir::Home(".gemini"),
    files: &[
        FileSpec::user("settings.json", HOOKS_WITH_COMMENTS),
        FileSpec::user("settings.json", PLAIN_SERVERS),
        FileSpec::project(".gemini/settings.json", HOOKS_WITH_COMMENTS),
        FileSpec::project(".gemini/settings.json", PLAIN_SERVERS),
    ],
    hooks: Some(HookSpec {
        events: &[
            timed("SessionStart", MILLIS),
            timed("BeforeAgent", MILLIS),
            timed("AfterTool", MILLIS),
            timed("AfterAgent", MILLIS),
            timed("SessionEnd", MILLIS),
        ],
        args: &["hook", "--client", "gemini"],
        recorded: recorded! {
            "gemini",
            SessionStart = "SessionStart-startup",
            BeforeAgent = "BeforeAgent",
            AfterTool = "AfterTool-run_shell_command",
            AfterAgent = "AfterAgent",
            SessionEnd = "SessionEnd-exit",
        },
        off_switch: Some(OffSwitch {
            paths: &[&["hooksConfig", "enabled"]],
            off: false,
            setting: "`hooksConfig.enabled: false`",
            place: "its settings",
            is_final: true,
        }),
        answer: AnswerSpec {
            layout: AnswerLayout::Nested,
            context_events: &["SessionStart", "BeforeAgent", "AfterTool"],
            decisions: DecisionSupport::Unsupported,
            changes_calls: false,
        },
        ..SHELL_HOOKS
    }),
    advice: Some("it starts servers only in folders that you trust there"),
    tested: TestedWith::Version("0.61.0"),
    ..NONE
};

const CURSOR: ClientSpec = ClientSpec {
    client: AgentClient::Cursor,
    name: "cursor",
    title: "Cursor",
    programs: &["cursor", "cursor-agent"],
    dir: UserDir::Home(".cursor"),
    files: &[
        FileSpec::user("mcp.json", PLAIN_SERVERS),
        FileSpec::project(".cursor/mcp.json", PLAIN_SERVERS),
    ],
    ..NONE
};

/// Windsurf, called Devin Desktop since June 2026. Cascade still reads that file, and so does the
/// agent that replaces Cascade, which keeps its own settings in `~/.config/devin`.
const WINDSURF: ClientSpec = ClientSpec {
    client: AgentClient::Windsurf,
    name: "windsurf",
    title: "Windsurf",
    programs: &["windsurf"],
    dir: UserDir::Home(".codeium/windsurf"),
    other_dirs: &[UserDir::Config("devin")],
    files: &[FileSpec::user("mcp_config.json", PLAIN_SERVERS)],
    ..NONE
};

/// VS Code, in the default profile.
const VS_CODE: ClientSpec = ClientSpec {
    client: AgentClient::VsCode,
    name: "vscode",
    title: "VS Code",
    aliases: &["code", "vs-code"],
    programs: &["code"],
    dir: UserDir::ConfigOrMacHome("Code/User", "Library/Application Support/Code/User"),
    files: &[
        FileSpec::user("mcp.json", Servers(&["servers"], Typed, Comments)),
        FileSpec::project(".vscode/mcp.json", Servers(&["servers"], Typed, Comments)),
    ],
    ..NONE
};

/// Zed. On macOS it ignores `XDG_CONFIG_HOME`. Older versions require the source of a server, newer
/// ones ignore it.
const ZED: ClientSpec = ClientSpec {
    client: AgentClient::Zed,
    name: "zed",
    title: "Zed",
    programs: &["zed", "zeditor"],
    dir: UserDir::ConfigOrMacHome("zed", ".config/zed"),
    files: &[
        FileSpec::user("settings.json", Servers(&["context_servers"], Custom, Comments)),
        FileSpec::project(".zed/settings.json", Servers(&["context_servers"], Custom, Comments)),
    ],
    ..NONE
};

const OPENCODE: ClientSpec = ClientSpec {
    client: AgentClient::OpenCode,
    name: "opencode",
    title: "opencode",
    programs: &["opencode"],
    packages: &["opencode-ai"],
    dir: UserDir::Config("opencode"),
    files: &[
        FileSpec::user("opencode.json", OPENCODE_SERVERS)
            .or_if_present("opencode.jsonc", OPENCODE_SERVERS),
        FileSpec::project("opencode.json", OPENCODE_SERVERS)
            .or_if_present("opencode.jsonc", OPENCODE_SERVERS),
    ],
    tested: TestedWith::Version("1.18.18"),
    ..NONE
};

const OPENCODE_SERVERS: FileContent = Servers(&["mcp"], Local, Comments);

const fn event(name: &'static str, major: u32, minor: u32, patch: u32) -> EventSpec {
    EventSpec { since: Some(ClientVersion(major, minor, patch)), ..any_version(name) }
}

const fn any_version(name: &'static str) -> EventSpec {
    timed(name, SECONDS)
}

const fn timed(name: &'static str, timeout: u64) -> EventSpec {
    EventSpec { name, timeout, since: None }
}
