//! Which clients call us, by their settings.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use recoup::clients;
use recoup::clients::{
    AgentClient, ClientDirs, ClientPlaces, clients_of_command, has_our_hooks, hooks_disabled_by,
};
use recoup_core::memory::HookClient;
use serde_json::json;

struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn has(&self, client: AgentClient) -> bool {
        let (home, root) = (self.dir.path().join("home"), self.dir.path().join("project"));
        let dirs = ClientDirs::below(&home);
        has_our_hooks(client, &ClientPlaces { dirs: &dirs, root: &root, cwd: None })
    }
}

fn string_form(command: &str) -> String {
    let command = serde_json::to_string(command).unwrap();
    format!(
        r#"{{"model":"x","hooks":{{"SessionStart":[{{"matcher":"","hooks":[{{"type":"command","command":{command},"timeout":5}}]}}]}}}}"#
    )
}

fn hook(json: &str) -> String {
    format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{json}]}}]}}}}"#)
}

#[test]
fn programs_are_known_by_the_name_of_their_file() {
    for (program, client) in [
        ("claude", Some(HookClient::ClaudeCode)),
        ("/usr/local/bin/claude", Some(HookClient::ClaudeCode)),
        ("./codex", Some(HookClient::Codex)),
        ("/opt/pi/pi", Some(HookClient::Pi)),
        ("/usr/bin/qwen", Some(HookClient::QwenCode)),
        ("gemini", Some(HookClient::Gemini)),
        ("claude-helper", None),
        ("pip", None),
        ("/claude/", Some(HookClient::ClaudeCode)),
        ("..", None),
        ("", None),
    ] {
        assert_eq!(HookClient::of_program(Path::new(program)), client, "{program}");
    }
}

#[test]
fn the_readme_has_every_client() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let table = clients::clients_in_markdown();
    assert!(fs::read_to_string(readme).unwrap().contains(&table), "it should have\n{table}");
}

#[test]
fn each_settings_file_of_claude_code_counts() {
    for path in [
        "home/.claude/settings.json", "project/.claude/settings.json",
        "project/.claude/settings.local.json",
    ] {
        let scene = Scene::new().with(path, string_form("recoup hook"));
        assert!(scene.has(AgentClient::ClaudeCode), "{path}");
        assert!(!scene.has(AgentClient::Codex), "{path}");
    }
    assert!(!Scene::new().has(AgentClient::ClaudeCode));
}

#[test]
fn commands_for_a_shell_that_call_us() {
    for command in [
        "recoup hook", "/usr/bin/recoup hook", "~/.cargo/bin/recoup hook --client claude",
        "\"$HOME/.local/bin/recoup\" hook", "'/opt/my tools/recoup' hook",
        "/opt/my\\ tools/recoup hook", "RECOUP_HOME=/tmp/x recoup hook", "exec recoup hook",
        "cd /tmp && recoup hook || true", "command -v recoup >/dev/null; recoup hook",
        "  recoup   hook  ",
    ] {
        let scene = Scene::new().with("home/.claude/settings.json", string_form(command));
        assert!(scene.has(AgentClient::ClaudeCode), "{command}");
    }
}

#[test]
fn commands_for_a_shell_that_do_not() {
    for command in [
        "", "recoup", "recoup memory list", "recoup-old hook", "my-recoup hook",
        "echo recoup hook", "node hook.js", "'recoup hook'", "recoup; hook", "recoup --quiet hook",
        "echo \"a; recoup hook\"", "'unclosed recoup hook",
    ] {
        let scene = Scene::new().with("home/.claude/settings.json", string_form(command));
        assert!(!scene.has(AgentClient::ClaudeCode), "{command}");
    }
}

#[test]
fn the_exec_form_needs_no_shell() {
    for (json, ours) in [
        (r#"{"type":"command","command":"/a b/recoup","args":["hook"]}"#, true),
        (r#"{"command":"recoup","args":["hook","--x"]}"#, true),
        (r#"{"type":"command","command":"recoup","args":["memory"]}"#, false),
        (r#"{"type":"command","command":"recoup hook","args":[]}"#, false),
        (r#"{"type":"command","command":"recoup","args":[]}"#, false),
        (r#"{"type":"prompt","command":"recoup hook"}"#, false),
        (r#"{"type":"command"}"#, false),
        (r#"{"type":"command","command":7}"#, false),
    ] {
        let scene = Scene::new().with("project/.claude/settings.json", hook(json));
        assert_eq!(scene.has(AgentClient::ClaudeCode), ours, "{json}");
    }
}

#[test]
fn whoever_switches_all_hooks_off_has_none() {
    let off = r#"{"disableAllHooks": true}"#;
    let on = r#"{"disableAllHooks": false}"#;
    let user = || Scene::new().with("home/.claude/settings.json", string_form("recoup hook"));
    assert!(!user().with("project/.claude/settings.json", off).has(AgentClient::ClaudeCode));
    let both = user()
        .with("project/.claude/settings.json", off)
        .with("project/.claude/settings.local.json", on);
    assert!(both.has(AgentClient::ClaudeCode));
}

/// One answer for whoever asks: which file switches them off, and for whom.
#[test]
fn the_strongest_file_that_says_so_switches_hooks_off() {
    let off = r#"{"disableAllHooks": true}"#;
    let on = r#"{"disableAllHooks": false}"#;
    let by = |scene: &Scene, client, in_project: bool| {
        let (home, root) = (scene.dir.path().join("home"), scene.dir.path().join("project"));
        let dirs = ClientDirs::below(&home);
        let path = hooks_disabled_by(client, &dirs, in_project.then_some(&*root))?;
        Some(path.strip_prefix(scene.dir.path()).unwrap().display().to_string())
    };
    let scene = Scene::new().with("home/.claude/settings.json", off);
    let user = Some("home/.claude/settings.json".to_owned());
    assert_eq!(by(&scene, AgentClient::ClaudeCode, false), user);
    assert_eq!(by(&scene, AgentClient::ClaudeCode, true), user);
    let scene = scene.with("project/.claude/settings.json", on);
    assert_eq!(by(&scene, AgentClient::ClaudeCode, false), user, "elsewhere it is off");
    assert_eq!(by(&scene, AgentClient::ClaudeCode, true), None);
    let scene = scene.with("project/.claude/settings.local.json", off);
    let local = Some("project/.claude/settings.local.json".to_owned());
    assert_eq!(by(&scene, AgentClient::ClaudeCode, true), local);

    let codex = Some("home/.codex/config.toml".to_owned());
    for switch in ["hooks = false", "codex_hooks = false", "hooks = false\ncodex_hooks = true"] {
        let text = format!("[features]\n{switch}\n");
        let scene = Scene::new().with("home/.codex/config.toml", text);
        assert_eq!(by(&scene, AgentClient::Codex, true), codex, "{switch}");
        let scene = scene.with("project/.codex/config.toml", "features.hooks = true\n");
        assert_eq!(by(&scene, AgentClient::Codex, true), None, "{switch}");
        assert_eq!(by(&scene, AgentClient::Codex, false), codex, "{switch}");
    }
}

#[test]
fn a_call_of_ours_is_known_whatever_starts_it() {
    let hook = |command: &str, args: Option<&[&str]>| {
        let mut hook = json!({"type": "command", "command": command});
        if let Some(args) = args {
            hook["args"] = json!(args);
        }
        clients::call_in_hook(&hook)
    };
    for (call, started, wrapped) in [
        (hook("/x/recoup hook --client codex", None), "/x/recoup", false),
        (hook("recoup", Some(&["hook"])), "recoup", false),
        (hook("recoup", Some(&["hook", "--client", "pi"])), "recoup", false),
        (hook("recoup", Some(&["hook", "--more"])), "recoup", true),
        (hook("recoup hook 2>>/tmp/log", None), "recoup", true),
        (hook("cd /x && recoup hook", None), "recoup", true),
        (hook("npx", Some(&["-y", "recoup", "hook"])), "npx", true),
        (hook("/usr/bin/env A=1 timeout 5 recoup hook", None), "/usr/bin/env", true),
        (hook("sh", Some(&["-c", "cd /x; exec recoup hook"])), "sh", true),
        (clients::call_in_notify(&json!({"notify": ["recoup", "hook"]})), "recoup", false),
        (
            clients::call_in_notify(&json!({"notify": ["sh", "-c", "recoup hook \"$1\""]})),
            "sh",
            true,
        ),
        (
            clients::call_in_server(&json!({"command": "recoup", "args": ["mcp", "--x"]})),
            "recoup",
            false,
        ),
        (clients::call_in_server(&json!({"command": ["/x/recoup", "mcp"]})), "/x/recoup", false),
        (
            clients::call_in_server(&json!({"command": "npx", "args": ["-y", "recoup", "mcp"]})),
            "npx",
            true,
        ),
    ] {
        let call = call.unwrap();
        assert_eq!((call.started(), call.wrapped), (started, wrapped), "{call:?}");
    }
    for other in [
        clients::call_in_notify(&json!({"notify": ["notify-send", "recoup", "hook"]})),
        clients::call_in_notify(&json!({"notify": "recoup hook"})),
        clients::call_in_server(&json!({"command": "docker", "args": ["run", "recoup", "mcp"]})),
        clients::call_in_server(&json!({"url": "https://recoup.example/mcp"})),
        hook("npx", Some(&["recoup", "mcp"])),
    ] {
        assert_eq!(other, None);
    }
}

#[test]
fn a_moved_directory_takes_the_place_of_the_usual_one() {
    let scene = Scene::new()
        .with("home/.claude/settings.json", string_form("recoup hook"))
        .with("moved/settings.json", "{}");
    let home = scene.dir.path().join("home");
    let root = scene.dir.path().join("project");
    let moved = scene.dir.path().join("moved");
    let dirs = ClientDirs::below(&home).with_moved(AgentClient::ClaudeCode, moved.clone());
    let places = ClientPlaces { dirs: &dirs, root: &root, cwd: None };
    assert!(!has_our_hooks(AgentClient::ClaudeCode, &places));
    fs::write(moved.join("settings.json"), string_form("recoup hook")).unwrap();
    assert!(has_our_hooks(AgentClient::ClaudeCode, &places));
}

#[test]
fn codex_has_a_file_for_its_hooks() {
    for path in ["home/.codex/hooks.json", "project/.codex/hooks.json"] {
        let scene = Scene::new().with(path, string_form("recoup hook"));
        assert!(scene.has(AgentClient::Codex), "{path}");
        assert!(!scene.has(AgentClient::ClaudeCode), "{path}");
    }
}

#[test]
fn codex_has_hooks_among_its_settings_too() {
    let tables = |command: &str| {
        format!(
            "model = 'x'\n[[hooks.Stop]]\nmatcher = ''\n[[hooks.Stop.hooks]]\ntype = 'command'\n{command}\ntimeout = 5\n[hooks.state.'a:b']\nenabled = true\n"
        )
    };
    for (command, ours) in [
        ("command = 'recoup hook'", true),
        ("command = \"'/opt/my tools/recoup' hook\"", true),
        ("command = '/opt/my tools/recoup'\nargs = ['hook', '--x']", true),
        ("command = 'recoup'\nargs = ['memory']", false),
        ("command = 'recoup-old hook'", false),
        ("command = 7", false),
    ] {
        for path in ["home/.codex/config.toml", "project/.codex/config.toml"] {
            let scene = Scene::new().with(path, tables(command));
            assert_eq!(scene.has(AgentClient::Codex), ours, "{path} {command}");
            assert!(!scene.has(AgentClient::ClaudeCode), "{path}");
        }
    }
    let inline =
        r#"hooks = { Stop = [{ hooks = [{ type = "command", command = "recoup hook" }] }] }"#;
    assert!(Scene::new().with("home/.codex/config.toml", inline).has(AgentClient::Codex));
}

#[test]
fn what_is_broken_in_codex_says_no_and_hides_nothing_else() {
    let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let contents: [&[u8]; 8] = [
        b"",
        b"hooks",
        b"hooks = 1",
        b"[hooks]\nStop = 'recoup hook'",
        b"[[hooks]]\ncommand = 'recoup hook'",
        b"\xff\xfe",
        b"[hooks]\n[hooks]",
        deep.as_bytes(),
    ];
    for content in contents {
        let scene = Scene::new().with("home/.codex/config.toml", content);
        assert!(!scene.has(AgentClient::Codex));
        let scene = scene.with("home/.codex/hooks.json", string_form("recoup hook"));
        assert!(scene.has(AgentClient::Codex));
    }
}

const EXTENSION: &str = r#"import { spawn } from "node:child_process"; spawn("recoup", ["hook"]);"#;

#[test]
fn pi_has_extensions() {
    for path in [
        "home/.pi/agent/extensions/recoup.ts", "home/.pi/agent/extensions/memory.js",
        "project/.pi/extensions/recoup.ts", "project/.pi/extensions/recoup/index.ts",
    ] {
        assert!(Scene::new().with(path, EXTENSION).has(AgentClient::Pi), "{path}");
        for other in ["// nothing yet", "the recoups of hooks", "recoup memory", "a hook", "\0"] {
            assert!(!Scene::new().with(path, other).has(AgentClient::Pi), "{path} {other}");
        }
        assert!(!Scene::new().with(path, EXTENSION).has(AgentClient::ClaudeCode), "{path}");
    }
    for path in [
        "home/.pi/agent/extensions/README.md",
        "home/.pi/agent/extensions/x/node_modules/recoup/index.js",
        "home/.pi/agent/recoup.ts",
        "home/.pi/extensions/recoup.ts",
    ] {
        assert!(!Scene::new().with(path, EXTENSION).has(AgentClient::Pi), "{path}");
    }
}

/// Whoever only says where the program is does not call it.
#[test]
fn an_extension_with_our_line_alone_calls_nobody() {
    let line = "const PROGRAM = process.env.RECOUP_BIN ?? \"recoup\";\n";
    let path = "project/.pi/extensions/recoup.ts";
    assert!(!Scene::new().with(path, line).has(AgentClient::Pi));
    assert_eq!(clients::extension_program(line), None);
    let whole = format!("{line}{EXTENSION}");
    assert!(Scene::new().with(path, &whole).has(AgentClient::Pi));
    assert_eq!(&whole[clients::extension_program(&whole).unwrap()], "\"recoup\"");
    assert_eq!(clients::extension_program(EXTENSION), None, "somebody's own");
}

#[test]
fn pi_lists_extensions_in_its_settings() {
    for (settings, list) in [
        ("home/.pi/agent/settings.json", r#"["../../my/tool.ts"]"#),
        ("home/.pi/agent/settings.json", r#"["~/my/tool.ts"]"#),
        ("home/.pi/agent/settings.json", r#"["~/other.ts", "+~/my"]"#),
        ("home/.pi/agent/settings.json", r#"["~/my/*.ts", "!~/my/x.ts"]"#),
        ("project/.pi/settings.json", r#"["../../home/my"]"#),
    ] {
        let scene = Scene::new().with("home/my/tool.ts", EXTENSION);
        assert!(!scene.has(AgentClient::Pi));
        let scene = scene.with(settings, format!(r#"{{"extensions": {list}}}"#));
        assert!(scene.has(AgentClient::Pi), "{settings} {list}");
    }
    for list in ["[]", "3", "[null, 7]", r#"["!~/my/tool.ts"]"#, r#"["~/nowhere"]"#, "["] {
        let scene = Scene::new()
            .with("home/my/tool.ts", EXTENSION)
            .with("home/.pi/agent/settings.json", format!(r#"{{"extensions": {list}}}"#));
        assert!(!scene.has(AgentClient::Pi), "{list}");
    }
    let package = Scene::new()
        .with("home/my/src/deep/tool.ts", EXTENSION)
        .with("home/my/package.json", r#"{"pi": {"extensions": ["./src/deep/tool.ts", "."]}}"#)
        .with("home/.pi/agent/settings.json", r#"{"extensions": ["~/my"]}"#);
    assert!(package.has(AgentClient::Pi));
}

#[test]
fn settings_on_the_way_to_the_root_count() {
    let scene = Scene::new().with("project/a/.claude/settings.json", string_form("recoup hook"));
    let (home, root) = (scene.dir.path().join("home"), scene.dir.path().join("project"));
    let from = |cwd: &str| {
        let cwd = root.join(cwd);
        let dirs = ClientDirs::below(&home);
        let places = ClientPlaces { dirs: &dirs, root: &root, cwd: Some(&cwd) };
        has_our_hooks(AgentClient::ClaudeCode, &places)
    };
    assert!(!scene.has(AgentClient::ClaudeCode));
    assert!(from("a"));
    assert!(from("a/b/c"));
    assert!(!from("b"));
    assert!(!from(""));
    // Which of them a client reads depends on its version: one that has hooks is enough.
    let scene = scene.with("project/.claude/settings.json", r#"{"disableAllHooks": true}"#);
    assert!(from("a/b") && !scene.has(AgentClient::ClaudeCode));
}

#[test]
fn a_command_is_a_client_behind_wrappers_too() {
    use AgentClient::{ClaudeCode, Codex, CopilotCli, Droid, Gemini, KimiCode, Pi, QwenCode};
    let of = |program: &str, words: &[&str]| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        clients_of_command(Path::new(program), &words)
    };
    for (words, clients) in [
        (&["claude", "-p", "ask codex"][..], &[ClaudeCode][..]),
        (&["./node_modules/.bin/codex", "exec"], &[Codex]),
        (&["env", "-i", "A=1", "claude"], &[ClaudeCode]),
        (&["/usr/bin/env", "pi"], &[Pi]),
        (&["timeout", "60", "nice", "/opt/claude", "-p", "x"], &[ClaudeCode]),
        (&["npx", "-y", "@anthropic-ai/claude-code@2.1", "-p"], &[ClaudeCode]),
        (&["bunx", "@openai/codex"], &[Codex]),
        (&["node", "/l/node_modules/@mariozechner/pi-coding-agent/cli.js"], &[Pi]),
        (&["sh", "-c", "cd src && claude -p x | codex exec -"], &[ClaudeCode, Codex]),
        (&["bash", "-c", "claude&&claude"], &[ClaudeCode]),
        (&["qwen", "-p", "x"], &[QwenCode]),
        (&["npx", "@github/copilot@1.0", "-p", "x"], &[CopilotCli]),
        (&["sh", "-c", "droid exec x; kimi -p x"], &[Droid, KimiCode]),
        (&["bunx", "@google/gemini-cli"], &[Gemini]),
        (&["npx", "/home/droid/x", "copilot/y"], &[]),
        (&["echo", "claude"], &[]),
        (&["git", "commit", "-m", "pi"], &[]),
        (&["npx", "@openai/codex-tools"], &[]),
        (&["sh", "review.sh"], &[]),
        (&["env"], &[]),
        (&[""], &[]),
        (&[], &[]),
    ] {
        assert_eq!(of("/bin/x", words), clients, "{words:?}");
    }
    let behind = "/l/node_modules/@anthropic-ai/claude-code/cli.js";
    assert_eq!(of(behind, &["cc", "-p"]), [ClaudeCode], "a link by another name");
    assert_eq!(of("/opt/codex", &["assistant"]), [Codex]);
}

#[test]
fn what_is_broken_says_no() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let blanks = usize::try_from(clients::LARGEST).unwrap();
    let huge = format!("{}{}", " ".repeat(blanks), string_form("recoup hook"));
    let contents: [&[u8]; 10] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        br#"{"hooks": []}"#,
        br#"{"hooks": {"Stop": {}}}"#,
        br#"{"hooks": {"Stop": [1, null, {"hooks": 3}, {"hooks": [null]}]}}"#,
        deep.as_bytes(),
        huge.as_bytes(),
    ];
    for content in contents {
        let scene = Scene::new().with("home/.claude/settings.json", content);
        assert!(!scene.has(AgentClient::ClaudeCode));
    }
    let scene = Scene::new().with("home/.claude/settings.json/inside", "x");
    assert!(!scene.has(AgentClient::ClaudeCode), "a directory in its place");
}

#[test]
fn a_byte_order_mark_and_a_link_do_no_harm() {
    let content = format!("\u{feff}{}", string_form("recoup hook"));
    let scene = Scene::new().with("dotfiles/settings.json", content);
    fs::create_dir_all(scene.dir.path().join("home/.claude")).unwrap();
    std::os::unix::fs::symlink(
        scene.dir.path().join("dotfiles/settings.json"),
        scene.dir.path().join("home/.claude/settings.json"),
    )
    .unwrap();
    assert!(scene.has(AgentClient::ClaudeCode));
}
