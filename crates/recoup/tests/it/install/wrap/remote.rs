//! Servers at a URL: a stdio entry that starts the proxy, with its headers in variables.

use serde_json::{Value, json};

use super::{CURSOR, Machine};

const SECRET: &str = "Bearer zq81-kfu3-plmn";

/// The client's file, the path of its servers, an entry before, and the entry afterwards.
fn entries(program: &str) -> Vec<(&'static str, &'static str, Value, Value)> {
    let url = "https://x.example/mcp";
    let header = "Authorization=RECOUP_PROXY_HEADER_1";
    let flags = ["--header-env", header, "--url-env", "RECOUP_PROXY_URL"];
    let args = json!([&["mcp", "proxy", "--name", "x"], &flags[..]].concat());
    let words = [&[json!(program)], args.as_array().unwrap().as_slice()].concat();
    let headers = json!({"Authorization": SECRET});
    let env = |was: &str| {
        json!({
            "RECOUP_PROXY_HEADER_1": SECRET,
            "RECOUP_PROXY_URL": url,
            "RECOUP_PROXY_ENTRY": was,
        })
    };
    vec![
        (
            ".claude.json",
            "mcpServers",
            json!({"type": "sse", "url": url, "headers": headers}),
            json!({"type": "stdio", "command": program, "args": args, "env": env("url sse")}),
        ),
        (
            CURSOR,
            "mcpServers",
            json!({"url": url, "headers": headers}),
            json!({"command": program, "args": args, "env": env("url")}),
        ),
        (
            ".codeium/windsurf/mcp_config.json",
            "mcpServers",
            json!({"serverUrl": url, "headers": headers, "disabledTools": []}),
            json!({"command": program, "args": args, "env": env("serverUrl"), "disabledTools": []}),
        ),
        (
            ".config/Code/User/mcp.json",
            "servers",
            json!({"type": "http", "url": url, "headers": headers}),
            json!({"type": "stdio", "command": program, "args": args, "env": env("url http")}),
        ),
        (
            ".config/zed/settings.json",
            "context_servers",
            json!({"url": url, "headers": headers}),
            json!({"command": program, "args": args, "env": env("url")}),
        ),
        (
            ".gemini/settings.json",
            "mcpServers",
            json!({"httpUrl": url, "headers": headers, "timeout": 5}),
            json!({"command": program, "args": args, "env": env("httpUrl"), "timeout": 5}),
        ),
        (
            ".pi/agent/mcp.json",
            "mcpServers",
            json!({"url": url, "headers": headers}),
            json!({"command": program, "args": args, "env": env("url")}),
        ),
        (
            ".config/opencode/opencode.json",
            "mcp",
            json!({"type": "remote", "url": url, "headers": headers, "enabled": true}),
            json!({
                "type": "local",
                "command": words,
                "environment": env("url remote"),
                "enabled": true,
            }),
        ),
    ]
}

#[test]
fn urls_and_headers_become_variables() {
    for index in 0..8 {
        let machine = Machine::new();
        let (path, at, before, after) = entries(&machine.program()).swap_remove(index);
        let text = serde_json::to_string_pretty(&json!({ at: {"x": before} })).unwrap();
        machine.write(path, &text);
        let output = machine.wrap(&[]);
        assert_eq!(machine.json(path)[at]["x"], after, "{path}");
        let shown = [output.text(), output.stderr.clone()].concat();
        assert!(!shown.contains("zq81"), "{path}: {shown}");
        machine.unwrap(&[]);
        assert_eq!(machine.text(path), text, "{path}");
        // Without anything but the entry.
        machine.wrap(&[]);
        std::fs::remove_dir_all(machine.home.recoup()).unwrap();
        let output = machine.unwrap(&[]);
        assert_eq!(machine.json(path)[at]["x"], before, "{path}");
        let shown = [output.text(), output.stderr.clone()].concat();
        assert!(!shown.contains("zq81"), "{path}: {shown}");
    }
}

#[test]
fn codex_has_three_kinds_of_headers() {
    let path = ".codex/config.toml";
    let before = "[mcp_servers.x]\nurl = \"https://x.example/mcp\" # there\nbearer_token_env_var = \"TOKEN\"\nhttp_headers = { \"X-A\" = \"zq81\" }\nstartup_timeout_sec = 5\n\n[mcp_servers.x.env_http_headers]\nX-B = \"B_VALUE\"\n\n[z]\na = 1\n";
    let machine = Machine::new();
    machine.write(path, before);
    let output = machine.wrap(&[]);
    assert!(!output.text().contains("zq81"), "{}", output.text());
    let after = format!(
        "[mcp_servers.x]\nstartup_timeout_sec = 5\nenv_vars = [\"TOKEN\", \"B_VALUE\"]\ncommand = \"{}\"\nargs = [\"mcp\", \"proxy\", \"--name\", \"x\", \"--header-env\", \"X-A=RECOUP_PROXY_HEADER_1\", \"--header\", \"Authorization: Bearer ${{TOKEN}}\", \"--header-env\", \"X-B=B_VALUE\", \"--url-env\", \"RECOUP_PROXY_URL\"]\n\n[mcp_servers.x.env]\nRECOUP_PROXY_HEADER_1 = \"zq81\"\nRECOUP_PROXY_URL = \"https://x.example/mcp\"\n\n[z]\na = 1\n",
        machine.program()
    );
    assert_eq!(machine.text(path), after);
    machine.unwrap(&[]);
    assert_eq!(machine.text(path), before);
    machine.wrap(&[]);
    std::fs::remove_dir_all(machine.home.recoup()).unwrap();
    machine.unwrap(&[]);
    let back = "[mcp_servers.x]\nstartup_timeout_sec = 5\nurl = \"https://x.example/mcp\"\nbearer_token_env_var = \"TOKEN\"\n\n[mcp_servers.x.http_headers]\nX-A = \"zq81\"\n\n[mcp_servers.x.env_http_headers]\nX-B = \"B_VALUE\"\n\n[z]\na = 1\n";
    assert_eq!(machine.text(path), back);
}

/// What is written is compared with what was there before it is written: here it must be possible.
#[test]
fn codex_may_have_a_url_in_any_form_of_a_table() {
    let url = "url = 'https://x.example/mcp'";
    for (before, back) in [
        (format!("mcp_servers = {{ x = {{ {url} }} }}\n"), "\"https://x.example/mcp\""),
        (format!("mcp_servers = {{ x.{url}, x.http_headers.A = 'b', y.{url} }}\n"), "A = \"b\""),
        (format!("[mcp_servers]\nx.{url}\nx.http_headers = {{ A = 'b' }}\n"), "A = \"b\""),
        (
            format!("[mcp_servers.x]\n{url}\nenv.K = 'v'\n[mcp_servers.x.http_headers]\nA = 'b'\n"),
            "A = \"b\"",
        ),
        (format!("mcp_servers.x.{url}\nmcp_servers.x.env_http_headers.A = 'B'\n"), "A = \"B\""),
    ] {
        let machine = Machine::new();
        machine.write(".codex/config.toml", &before);
        machine.wrap(&[]);
        let wrapped = machine.text(".codex/config.toml");
        assert!(wrapped.contains("\"proxy\"") && !wrapped.contains("url ="), "{wrapped}");
        machine.unwrap(&[]);
        assert_eq!(machine.text(".codex/config.toml"), before);
        machine.wrap(&[]);
        std::fs::remove_dir_all(machine.home.recoup()).unwrap();
        machine.unwrap(&[]);
        let text = machine.text(".codex/config.toml");
        assert!(text.contains(back) && !text.contains("RECOUP_PROXY"), "{text}");
        assert!(!text.contains("proxy") && !text.contains("env_vars"), "{text}");
    }
}

#[test]
fn what_a_proxy_could_not_reach_is_left_alone() {
    let machine = Machine::new();
    let url = "https://x.example/mcp";
    let before = json!({"mcpServers": {
        "login": {"url": url, "oauth": {"clientId": "x"}},
        "helper": {"type": "http", "url": url, "headersHelper": "/x"},
        "socket": {"type": "ws", "url": "wss://x.example"},
        "strange": {"url": url, "headers": {"A": 1}},
    }});
    machine.write(CURSOR, before.to_string());
    let output = machine.wrap(&[]);
    assert_eq!(machine.json(CURSOR), before);
    assert_eq!(output.stderr.matches("is left alone: ").count(), 4, "{}", output.stderr);
}

/// Other users see command lines; and what is printed ends up in bug reports.
#[test]
fn no_part_of_a_url_is_on_a_command_line_or_shown() {
    for url in [
        "https://x.example/api/s/zq81kfu3plmn77aa/mcp",
        "https://me:zq81kfu3@x.example/mcp",
        "https://x.example/mcp?a=1&api_key=zq81kfu3",
    ] {
        let machine = Machine::new();
        let servers = json!({"mcpServers": {"x": {"url": url}}}).to_string();
        machine.write(CURSOR, &servers);
        let dry = machine.run(&["mcp", "wrap", "-n"]).expect(0);
        let json = machine.run(&["mcp", "wrap", "-n", "--json"]).expect(0);
        let output = machine.wrap(&[]);
        let entry = &machine.json(CURSOR)["mcpServers"]["x"];
        assert_eq!(entry["env"]["RECOUP_PROXY_URL"], url);
        assert!(!entry["args"].to_string().contains("x.example"), "{entry}");
        for output in [dry, json, output, machine.unwrap(&[])] {
            let shown = [output.text(), output.stderr.clone()].concat();
            assert!(!shown.contains("zq81"), "{url}: {shown}");
        }
        assert_eq!(machine.text(CURSOR), servers);
    }
}

#[test]
fn a_server_without_headers_may_need_a_login() {
    let machine = Machine::new();
    machine.write(CURSOR, r#"{"mcpServers": {"x": {"url": "https://x.example/mcp"}}}"#);
    let output = machine.wrap(&[]);
    let note = "“x” has no headers: if its client logs in there itself";
    assert!(output.stderr.contains(note), "{}", output.stderr);
}

#[test]
fn variables_of_the_entry_stay() {
    let machine = Machine::new();
    let entry = json!({"url": "http://127.0.0.1:1/mcp", "env": {"A": "1"}, "headers": {"B": "2", "C": "3"}});
    machine.write(CURSOR, json!({"mcpServers": {"x": entry}}).to_string());
    machine.wrap(&[]);
    let expected = json!({
        "A": "1",
        "RECOUP_PROXY_HEADER_1": "2",
        "RECOUP_PROXY_HEADER_2": "3",
        "RECOUP_PROXY_URL": "http://127.0.0.1:1/mcp",
        "RECOUP_PROXY_ENTRY": "url",
    });
    assert_eq!(machine.json(CURSOR)["mcpServers"]["x"]["env"], expected);
    std::fs::remove_dir_all(machine.home.recoup()).unwrap();
    machine.unwrap(&[]);
    assert_eq!(machine.json(CURSOR)["mcpServers"]["x"], entry);
}
