//! Servers that are shell scripts, a server on HTTP, and the ones of the registries.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail as tests do")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::base::clock::Stopwatch;
use recoup_core::secrets::SecretValues;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::toolbox::ServerAddress;

const LIMIT: Duration = Duration::from_secs(20);

/// A server in the language of the shell. `$log` has a line for each message; `answer JSON` answers
/// the message. The cases come first, and may answer in another way.
pub(crate) fn shell_server(dir: &Path, cases: &str) -> ServerAddress {
    let script = format!(
        r#"log="{}"
answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
text() {{ answer "{{\"content\":[{{\"type\":\"text\",\"text\":\"$1\"}}]}}"; }}
echo start >> "$log"
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$log"
  id=${{line#*\"id\":}}; id=${{id%%,*}}
  case "$line" in
    {cases}
    *'"method":"initialize"'*) answer '{{"protocolVersion":"2025-11-25","capabilities":{{}}}}' ;;
    *'"method":"tools/list"'*) answer '{{"tools":[{{"name":"look","description":"Looks.","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}}}},{{"name":"write","inputSchema":{{"type":"object"}}}}]}}' ;;
    *'"method":"tools/call"'*) text "call $(grep -c tools/call "$log")" ;;
  esac
done
"#,
        dir.join("log").display()
    );
    let words = ["sh", "-c", &script].map(str::to_owned).to_vec();
    ServerAddress::Command { words, env: BTreeMap::new(), cwd: None }
}

/// The lines of a server's log.
pub(crate) fn logged(dir: &Path) -> Vec<String> {
    let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// Answers HTTP requests, one after the other: `answer` gets the head and the body, and returns the
/// status line's end, further headers and the body.
pub(crate) fn http_server(
    answer: impl Fn(&str, &str) -> (String, String) + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut line) = (String::new(), String::new());
            while reader.read_line(&mut line).is_ok_and(|len| len > 2) {
                head.push_str(&std::mem::take(&mut line));
            }
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            let mut body = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut body).unwrap();
            let (status, body) = answer(&head, &String::from_utf8(body).unwrap());
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

fn connect(dir: &Path, address: ServerAddress) -> McpConnection {
    McpConnection::new(McpServerOptions {
        name: "test".to_owned(),
        address,
        root: dir.to_owned(),
        proxy: None,
        withheld: SecretValues::of_values([b"hunter2-hunter2".to_vec()]),
        withheld_variables: Vec::new(),
        on_notification: Arc::new(|_, _| {}),
    })
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn look(connection: &McpConnection, timeout: Duration) -> Result<String, String> {
    let params = raw(&json!({ "name": "look", "arguments": {} }));
    match connection.call("tools/call", &params, timeout, &|| false) {
        Ok(RpcAnswer::Result(result)) => {
            let result: Value = serde_json::from_str(result.get()).unwrap();
            Ok(result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
        }
        Ok(RpcAnswer::Error { code, message }) => Err(format!("{message} ({code})")),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_server_starts_with_the_first_call_and_ends_with_the_connection() {
    let dir = TempDir::new().unwrap();
    let connection = connect(dir.path(), shell_server(dir.path(), ""));
    assert!(logged(dir.path()).is_empty());
    assert_eq!(look(&connection, LIMIT).unwrap(), "call 1");
    assert_eq!(look(&connection, LIMIT).unwrap(), "call 2");
    assert_eq!(connection.list_tools(LIMIT, &|| false).unwrap().len(), 2);
    let log = logged(dir.path());
    assert!(log[1].contains("\"name\":\"recoup\"") && log[2].contains("notifications/initialized"));
    assert_eq!(log.iter().filter(|line| *line == "start").count(), 1);
    let took = Stopwatch::start();
    drop(connection);
    assert!(took.elapsed() < Duration::from_secs(2));
}

#[test]
fn lists_have_pages_and_a_server_without_tools_has_none() {
    let dir = TempDir::new().unwrap();
    let pages = r#"*'"cursor":"2"'*) answer '{"tools":[{"name":"c"}]}' ;;
        *tools/list*) answer '{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"2"}' ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), pages));
    assert_eq!(connection.list_tools(LIMIT, &|| false).unwrap().len(), 3);
    let none = r#"*tools/list*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"?"}}\n' "$id" ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), none));
    assert!(connection.list_tools(LIMIT, &|| false).unwrap().is_empty());
    let endless = r#"*tools/list*) answer '{"tools":[],"nextCursor":"x"}' ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), endless));
    let error = connection.list_tools(LIMIT, &|| false).unwrap_err().to_string();
    assert!(error.contains("more than 100 pages"), "{error}");
}

#[test]
fn a_server_may_ask_for_roots_and_ping_and_is_refused_anything_else() {
    let dir = TempDir::new().unwrap();
    let asks = r#"*initialized*) printf '%s\n' '{"jsonrpc":"2.0","id":"p","method":"ping"}' '{"jsonrpc":"2.0","id":"r","method":"roots/list"}' '{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{}}' ;;"#;
    let ServerAddress::Command { words, env, .. } = shell_server(dir.path(), asks) else {
        panic!()
    };
    std::fs::create_dir(dir.path().join("docs")).unwrap();
    let cwd = Some("docs".into());
    let connection = connect(dir.path(), ServerAddress::Command { words, env, cwd });
    look(&connection, LIMIT).unwrap();
    let deadline = recoup_core::base::clock::Deadline::after(LIMIT);
    let answer = |id: &str| {
        let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\"");
        logged(dir.path()).into_iter().find(|line| line.starts_with(&begin))
    };
    while answer("s").is_none() && !deadline.has_passed() {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(answer("p").unwrap().contains("\"result\":{}"));
    let roots = answer("r").unwrap();
    assert!(roots.contains(&format!("file://{}/docs/", dir.path().display())), "{roots}");
    assert!(answer("s").unwrap().contains("-32601"));
}

#[test]
fn a_server_without_a_directory_of_its_own_keeps_to_its_arguments() {
    let dir = TempDir::new().unwrap();
    let connection = connect(dir.path(), shell_server(dir.path(), ""));
    look(&connection, LIMIT).unwrap();
    let greeting = logged(dir.path()).into_iter().find(|line| line.contains("initialize")).unwrap();
    assert!(greeting.contains("\"capabilities\":{}"), "{greeting}");
}

#[test]
fn a_silent_server_is_given_up_and_told_so() {
    let dir = TempDir::new().unwrap();
    let silent = r#"*'"name":"look"'*) echo 'connecting with hunter2-hunter2' >&2 ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), silent));
    let error = look(&connection, Duration::from_millis(300)).unwrap_err();
    assert!(
        error.starts_with("MCP server test tools/call was not answered within 300 ms"),
        "{error}"
    );
    assert!(error.contains("it wrote: connecting with") && !error.contains("hunter2"), "{error}");
    assert_eq!(connection.list_tools(LIMIT, &|| false).unwrap().len(), 2, "it goes on");
    let told = logged(dir.path()).into_iter().find(|line| line.contains("notifications/cancelled"));
    assert!(told.unwrap().contains("\"requestId\":2"));
}

#[test]
fn a_cancelled_call_ends_at_once() {
    let dir = TempDir::new().unwrap();
    let silent = r#"*'"name":"look"'*) ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), silent));
    connection.list_tools(LIMIT, &|| false).unwrap();
    let took = Stopwatch::start();
    let params = raw(&json!({ "name": "look" }));
    let error = connection.call("tools/call", &params, LIMIT, &|| true).unwrap_err();
    assert!(error.to_string().contains("was cancelled"), "{error}");
    assert!(took.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_server_that_dies_says_why_and_starts_again_a_few_times() {
    let dir = TempDir::new().unwrap();
    let dies = r#"*'"name":"look"'*) echo 'out of luck' >&2; exit 3 ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), dies));
    for _ in 0..3 {
        let error = look(&connection, LIMIT).unwrap_err();
        assert!(error.contains("ended with exit code 3 before it answered tools/call"), "{error}");
        assert!(error.ends_with("it wrote: out of luck"), "{error}");
    }
    assert!(look(&connection, LIMIT).unwrap_err().contains("it does not run any more"));
    assert_eq!(logged(dir.path()).iter().filter(|line| *line == "start").count(), 3);
}

#[test]
fn banners_floods_and_batches_do_no_harm() {
    let dir = TempDir::new().unwrap();
    let noisy = r#"*'"method":"initialize"'*) echo 'Welcome!'; echo '{not json'; head -c 2000000 /dev/zero | tr '\0' 'x' >&2
          printf '[{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05"}}]\n' "$id" ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), noisy));
    assert_eq!(look(&connection, LIMIT).unwrap(), "call 1");
}

#[test]
fn what_is_no_server_is_named() {
    let dir = TempDir::new().unwrap();
    let command = |words: &[&str], cwd: Option<&str>| ServerAddress::Command {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        env: BTreeMap::new(),
        cwd: cwd.map(Into::into),
    };
    let odd = r#"*'"method":"initialize"'*) answer '{"protocolVersion":"1999-01-01"}' ;;"#;
    let refuses = r#"*'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":5,"message":"no licence"}}\n' "$id" ;;"#;
    for (address, expected) in [
        (command(&["recoup-no-such-program"], None), "the server can't be started"),
        (command(&["true"], Some("nowhere")), "its directory does not exist"),
        (command(&["sh", "-c", "echo bad flag >&2; exit 2"], None), "ended with exit code 2"),
        (shell_server(dir.path(), odd), "not known: \"1999-01-01\""),
        (shell_server(dir.path(), refuses), "refused to start: no licence (code 5)"),
        (
            ServerAddress::Http {
                url: "http://127.0.0.1:1/mcp".to_owned(),
                headers: BTreeMap::new(),
            },
            "no connection",
        ),
    ] {
        let error = look(&connect(dir.path(), address), LIMIT).unwrap_err();
        assert!(error.starts_with("MCP server test") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_large_call_to_a_server_that_does_not_read_is_given_up_too() {
    let dir = TempDir::new().unwrap();
    let deaf = r#"*'"method":"tools/list"'*) answer '{"tools":[]}'; sleep 600 ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), deaf));
    connection.list_tools(LIMIT, &|| false).unwrap();
    let params = raw(&json!({ "name": "look", "arguments": { "x": "x".repeat(1 << 20) } }));
    let limit = Duration::from_millis(200);
    assert!(connection.call("tools/call", &params, limit, &|| false).is_err());
    drop(connection);
}

#[test]
fn calls_run_at_the_same_time() {
    let dir = TempDir::new().unwrap();
    let slow = r#"*'"method":"tools/call"'*) (sleep 0.5; text "$id") & ;;"#;
    let connection = connect(dir.path(), shell_server(dir.path(), slow));
    connection.list_tools(LIMIT, &|| false).unwrap();
    let took = Stopwatch::start();
    let answers = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let answer = look(&connection, LIMIT).unwrap();
                answers.lock().push(answer);
            });
        }
    });
    let mut answers = answers.into_inner();
    answers.sort();
    answers.dedup();
    assert_eq!(answers.len(), 8);
    assert!(took.elapsed() < Duration::from_secs(3), "{:?}", took.elapsed());
}

#[test]
fn a_server_on_http_is_spoken_to_with_its_headers() {
    let dir = TempDir::new().unwrap();
    let url = http_server(|head, body| {
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let result = match message["method"].as_str() {
            _ if !head.to_ascii_lowercase().contains("x-key: k") => {
                return ("401 Unauthorized\r\nwww-authenticate: Bearer".to_owned(), String::new());
            }
            Some("initialize") => json!({ "protocolVersion": "2025-11-25" }),
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "over HTTP" }] }),
            _ => return ("202 Accepted".to_owned(), String::new()),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        ("200 OK\r\ncontent-type: application/json".to_owned(), answer.to_string())
    });
    let address = |headers: &[(&str, &str)]| ServerAddress::Http {
        url: url.clone(),
        headers: headers.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
    };
    let connection = connect(dir.path(), address(&[("X-Key", "k")]));
    assert_eq!(look(&connection, LIMIT).unwrap(), "over HTTP");
    let error = look(&connect(dir.path(), address(&[])), LIMIT).unwrap_err();
    assert!(
        error.contains("401 Unauthorized") && error.contains("headers of the server"),
        "{error}"
    );
}

#[test]
fn real_servers_list_their_tools_and_answer() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().to_str().unwrap();
    std::fs::write(dir.path().join("a.txt"), "found").unwrap();
    for (words, tool, arguments, expected) in [
        (&["mcp-server-everything"][..], "echo", json!({ "message": "hi" }), "hi"),
        (
            &["mcp-server-filesystem", root],
            "read_text_file",
            json!({ "path": format!("{root}/a.txt") }),
            "found",
        ),
        (&["mcp-server-memory"], "read_graph", json!({}), "entities"),
        (&["mcp-server-git"], "git_status", json!({ "repo_path": root }), ""),
        (&["mcp-server-time"], "get_current_time", json!({ "timezone": "UTC" }), "UTC"),
        (&["mcp-server-fetch"], "fetch", json!({ "url": "http://127.0.0.1:1/" }), ""),
    ] {
        let memory = dir.path().join("memory.json").display().to_string();
        let env = BTreeMap::from([("MEMORY_FILE_PATH".to_owned(), memory)]);
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let connection = connect(dir.path(), ServerAddress::Command { words, env, cwd: None });
        let tools = connection.list_tools(LIMIT, &|| false).unwrap();
        assert!(tools.iter().any(|it| it.get().contains(&format!("\"{tool}\""))), "{tool}");
        let params = raw(&json!({ "name": tool, "arguments": arguments }));
        let answer = connection.call("tools/call", &params, LIMIT, &|| false).unwrap();
        let RpcAnswer::Result(result) = answer else { panic!("{tool}: {answer:?}") };
        assert!(result.get().contains(expected), "{tool}: {result}");
    }
}
