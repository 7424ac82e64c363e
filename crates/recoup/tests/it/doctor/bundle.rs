//! The file for a bug report: nothing that anybody said, typed or named is in it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{EVENTS, RECOUP, doctor, hook, script, settings, write};
use crate::support::{Home, finish};

/// A word that is planted everywhere a person might leave one.
const PRIVATE: &str = "wombat";

/// Whatever holds the word, in any form that a careless program might make of it.
#[track_caller]
fn demand_clean(text: &str, home: &Home) {
    let lower = text.to_lowercase();
    let base64 = ["d29tYmF0", "dvbWJhd", "3b21iYX"];
    assert!(!lower.contains(PRIVATE), "{text}");
    assert!(base64.iter().all(|part| !text.contains(part)), "{text}");
    assert!(!lower.contains("776f6d626174"), "{text}");
    assert!(!text.contains(home.path("").to_str().unwrap()), "{text}");
    for part in home.path("").components().skip(2) {
        let part = part.as_os_str().to_str().unwrap();
        assert!(part.is_empty() || !text.contains(part), "{part} in {text}");
    }
}

/// In what we keep: jobs, ledgers, servers, and things that are none of ours.
fn plant_in_home(home: &Home) {
    let queue = home.recoup().join("queue/wombat");
    fs::create_dir_all(&queue).unwrap();
    fs::write(queue.join("wombat.7.json"), "wombat").unwrap();
    fs::create_dir_all(home.recoup().join("ledger/wombat")).unwrap();
    fs::write(home.recoup().join("ledger/wombat/open.log"), "wombat\n").unwrap();
    fs::create_dir_all(home.recoup().join("breakers")).unwrap();
    let until = 4_000_000_000_000_i64;
    fs::write(
        home.recoup().join("breakers/wombat"),
        json!({"faults": 9, "until": until, "last": "wombat"}).to_string(),
    )
    .unwrap();
    fs::write(home.recoup().join("wombat.txt"), "wombat").unwrap();
    fs::create_dir(home.recoup().join("memory.db.damaged-wombat")).unwrap();
    fs::write(home.recoup().join("judge.json"), json!({"last_failure": [1, "wombat"]}).to_string())
        .unwrap();
}

/// In the settings of clients, with commands that say it wherever they can.
fn plant_in_clients(home: &Home, project: &Path) -> PathBuf {
    let text = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'recoup wombat-1'; exit; }\n\
                cat >/dev/null; echo wombat; echo wombat >&2; exit 3\n";
    let program = script(home, "wombat-bin", text);
    super::claude(home, &settings(&EVENTS, &hook(&program, &["hook", "wombat"], 2)));
    let local = project.join(".claude/settings.local.json");
    fs::create_dir_all(local.parent().unwrap()).unwrap();
    fs::write(&local, settings(&["wombat"], &hook(RECOUP, &["hook"], 2)).to_string()).unwrap();
    write(
        home,
        ".claude.json",
        json!({"mcpServers": {"wombat": {"command": program, "args": ["mcp", "wombat"]}}})
            .to_string(),
    );
    write(home, ".cursor/mcp.json", "{wombat");
    write(
        home,
        ".codex/config.toml",
        "[mcp_servers.wombat]\ncommand = \"/wombat/recoup\"\nargs = [\"mcp\", \"wombat\"]\n",
    );
    program
}

#[test]
fn a_reader_that_has_seen_enough_does_not_cost_the_bundle() {
    let home = Home::new();
    for more in [&[][..], &["--json"]] {
        let bundle = home.path(&format!("bundle-{}.json", more.len()));
        let args = [&["doctor", "--bundle", bundle.to_str().unwrap()], more].concat();
        let mut child =
            home.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("for a bug report: review it"), "{said}");
        let text = fs::read_to_string(&bundle).unwrap();
        let found = serde_json::from_str::<Value>(&text).unwrap();
        assert!(found["findings"].as_array().unwrap().len() > 5, "{text}");
    }
}

#[test]
fn nothing_private_is_in_it_whatever_is_private() {
    let home = Home::new();
    let project = home.path("wombat-project");
    fs::create_dir_all(&project).unwrap();
    home.run_in(&project, &["memory", "add", "use the wombat server"]).expect(0);
    home.run(&["memory", "add", "--universal", "always feed the wombat"]).expect(0);
    home.run(&["cache", "set", "--key", "wombat", "--condensed", "\"wombat\""]).expect(0);
    home.run(&["exec", "--", "echo", "wombat"]).expect(0);
    // What hooks are told, and what they can't read.
    let prompt = json!({"session_id": "wombat", "cwd": project, "hook_event_name": "UserPromptSubmit",
        "prompt": "from now on use wombat", "transcript_path": project.join("wombat.jsonl")});
    home.run_with_stdin(&["hook"], prompt.to_string().as_bytes()).expect(0);
    home.run_with_stdin(&["hook", "--wombat"], b"wombat").expect(0);
    let log = home.recoup().join("logs/hooks.log");
    let line = fs::read_to_string(&log).unwrap();
    let stamp = line.split(' ').next().unwrap();
    let lines =
        format!("{line}{stamp} wombat: wombat /home/wombat\n{stamp} - a hook panicked: wombat\n");
    fs::write(&log, lines).unwrap();
    // A repository that wants to be trusted.
    fs::write(project.join("recoup.toml"), "store = \"sqlite:wombat.db\"\n").unwrap();
    fs::write(project.join("recoup-rules.md"), "# wombat\n").unwrap();
    plant_in_home(&home);
    let program = plant_in_clients(&home, &project);
    // A configuration with secrets, and an environment full of them.
    fs::write(
        home.recoup().join("config.toml"),
        "store = \"redis://wombat:wombat@127.0.0.1:1/0?prefix=wombat\"\n\
         [judge]\nenabled = true\nmodel = \"wombat\"\nkey_env = \"WOMBAT_KEY\"\n",
    )
    .unwrap();

    let mut checked = Vec::new();
    for (name, broken) in [("whole", false), ("broken", true)] {
        if broken {
            fs::write(project.join("recoup.toml"), "wombat = 1\n").unwrap();
            fs::write(home.recoup().join("config.toml"), "wombat = \"wombat\"\n[wombat\n").unwrap();
            fs::write(home.recoup().join("memory.db"), "wombat".repeat(2_000)).unwrap();
        }
        let bundle = home.path(&format!("{name}.json"));
        let mut command = home.command(&["doctor", "--bundle", bundle.to_str().unwrap()]);
        command
            .current_dir(&project)
            .env("WOMBAT_KEY", "sk-ant-wombat")
            .env("ANTHROPIC_API_KEY", "sk-wombat")
            .env("RECOUP_SCOPE", "tenant:wombat")
            .env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display()));
        let said = finish(&mut command).expect(1);
        assert!(said.text().contains(PRIVATE), "a person is told in full: {}", said.text());
        let text = fs::read_to_string(&bundle).unwrap();
        demand_clean(&text, &home);
        assert_eq!(fs::metadata(&bundle).unwrap().mode() & 0o777, 0o600);
        checked.push(serde_json::from_str::<Value>(&text).unwrap());
    }
    // It says enough all the same.
    let whole = &checked[0];
    assert_eq!(whole["recoup"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(whole["system"]["os"], "linux");
    let codes: Vec<&str> = whole["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].as_str().unwrap())
        .collect();
    for code in
        ["withheld", "other-program", "unreachable", "set-aside", "given-up", "faults", "untrusted"]
    {
        assert!(codes.contains(&code), "{code} in {codes:?}");
    }
    let keys: Vec<&Value> =
        whole["configuration"].as_array().unwrap().iter().map(|it| &it[0]).collect();
    assert!(keys.contains(&&json!("store")) && keys.contains(&&json!("judge.model")), "{keys:?}");
    let variables = whole["variables"].as_array().unwrap();
    assert!(variables.contains(&json!("RECOUP_SCOPE")), "{variables:?}");
    assert_eq!(whole["log"]["panicked"], 1);
    assert!(whole["bytes"]["memory.db"].as_u64().unwrap() > 0);
}

#[test]
fn without_a_home_there_is_still_one() {
    let home = Home::new();
    let bundle = home.path("report.json");
    let mut command = home.command(&["doctor", "--bundle", bundle.to_str().unwrap()]);
    command.env_remove("HOME").env_remove("RECOUP_HOME");
    finish(&mut command).expect(1);
    let report: Value = serde_json::from_slice(&fs::read(bundle).unwrap()).unwrap();
    assert_eq!(report["findings"][0]["code"], "no-home");
}

#[test]
fn somebody_elses_file_is_not_written_over() {
    let home = Home::new();
    let mine = home.write("mine", "dear to me");
    let said = doctor(&home, &["--bundle", mine.to_str().unwrap()]);
    said.expect_usage("already exists");
    assert_eq!(fs::read(mine).unwrap(), b"dear to me");
    let nowhere = home.path("no/such/dir/report.json");
    let said = doctor(&home, &["--bundle", nowhere.to_str().unwrap()]).expect(1);
    assert!(said.stderr.contains("cannot write"), "{}", said.stderr);
}
