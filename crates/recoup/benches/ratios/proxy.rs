//! The MCP proxy beside the server behind it: the fastest of the real ones, which reads a file.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mcp::Client;
use crate::measure::{Figure, Ratio, Size, compare, medians};
use crate::report::Report;
use crate::scene::in_clean_environment;

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const SERVER: &str = "mcp-server-filesystem";
/// The crate that caches tool calls too. It speaks HTTP only.
const PEER: &str = "mcp-proxy";
const PEER_ROWS: [&str; 2] = ["proxy: a hit / mcp-proxy's", "proxy: a miss / mcp-proxy's"];
const CALLS: usize = 100_000;
/// Of so many calls one is a miss.
const MISS_EVERY: usize = 100;

/// A home, and a file that the server reads.
struct Scene {
    home: TempDir,
    files: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { home: TempDir::new().unwrap(), files: TempDir::new().unwrap() };
        let config = "[mcpServers.files]\ncache = \"1h\"\n";
        std::fs::write(scene.home.path().join("config.toml"), config).unwrap();
        std::fs::write(scene.files.path().join("a.txt"), "some lines\n".repeat(20)).unwrap();
        scene
    }

    fn direct(&self) -> Client {
        self.start(in_clean_environment(SERVER).env("PATH", path()).arg(self.files.path()))
    }

    fn proxied(&self) -> Client {
        let mut command = in_clean_environment(RECOUP);
        command.args(["mcp", "proxy", "--name", "files", "--", SERVER]).arg(self.files.path());
        self.start(command.env("PATH", path()).env("RECOUP_HOME", self.home.path()))
    }

    fn start(&self, command: &mut Command) -> Client {
        let mut client = Client::start(command.current_dir(self.files.path()));
        client.notify("notifications/initialized");
        client.request("tools/list", &json!({}));
        client
    }

    /// Reads the file; each number makes another call.
    fn read(&self, client: &mut Client, number: usize) {
        let path = self.files.path().join("a.txt");
        client.call("read_text_file", &json!({ "path": path, "head": number + 1 }));
    }
}

fn path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// A call that the cache answers, beside the server's own answer.
pub(crate) fn hit_against_server() -> Ratio {
    let scene = Scene::new();
    let (mut direct, mut proxied) = (scene.direct(), scene.proxied());
    scene.read(&mut proxied, 0);
    compare(0.2, 1_000, 1, || scene.read(&mut direct, 0), || scene.read(&mut proxied, 0))
}

/// The server's own call, beside the same through the proxy, which keeps the result.
pub(crate) fn miss() -> Figure {
    let scene = Scene::new();
    let (mut direct, mut proxied) = (scene.direct(), scene.proxied());
    let (mut asked, mut missed) = (0, 0);
    let mut ask = || {
        asked += 1;
        scene.read(&mut direct, asked);
    };
    let mut pass = || {
        missed += 1;
        scene.read(&mut proxied, missed);
    };
    let times = medians(1_000, &mut [&mut ask, &mut pass]);
    Figure { time: times[1].saturating_sub(times[0]), goal: Duration::from_micros(300) }
}

/// From the start of the proxy to the end of a server that does nothing.
pub(crate) fn start_against_true() -> Ratio {
    let home = TempDir::new().unwrap();
    let run_true = || assert!(in_clean_environment("/bin/true").status().unwrap().success());
    let run_proxy = || {
        let mut command = in_clean_environment(RECOUP);
        command.args(["mcp", "proxy", "--", "/bin/true"]).env("RECOUP_HOME", home.path());
        assert!(command.current_dir(home.path()).status().unwrap().success());
    };
    compare(4.0, 300, 1, run_true, run_proxy)
}

/// Memory that the second half of 100,000 calls adds. It must not add handles.
pub(crate) fn growth() -> Size {
    let scene = Scene::new();
    let mut proxied = scene.proxied();
    let mut run = |calls: std::ops::Range<usize>| {
        for n in calls {
            scene.read(&mut proxied, if n % MISS_EVERY == 0 { n } else { 1 });
        }
        (proxied.resident(), proxied.handles())
    };
    let ((before, handles), (after, more)) = (run(0..CALLS / 2), run(CALLS / 2..CALLS));
    assert!(more <= handles, "{handles} handles became {more}");
    Size { bytes: after.saturating_sub(before), goal: 1 << 20 }
}

/// Hits and misses beside those of the other proxy, on the same calls.
pub(crate) fn against_peer(wanted: &str, report: &mut Report) {
    let chosen = PEER_ROWS.map(|name| name.contains(wanted));
    if !chosen.contains(&true) {
        return;
    }
    let scene = Scene::new();
    let Some(mut peer) = Peer::start(&scene) else {
        println!("skipped, because {PEER} is not on the PATH: {}", PEER_ROWS.join(", "));
        return;
    };
    let mut ours = scene.proxied();
    for (is_miss, name) in PEER_ROWS.into_iter().enumerate().filter(|(row, _)| chosen[*row]) {
        let (mut theirs_asked, mut ours_asked) = (0, 0);
        let theirs = || {
            theirs_asked += is_miss;
            peer.read(&scene, theirs_asked);
        };
        let us = || {
            ours_asked += is_miss;
            scene.read(&mut ours, ours_asked);
        };
        report.add_ratio(name, compare(1.0, 1_000, 1, theirs, us));
    }
}

/// The other proxy, in front of the same server, and a connection to it.
struct Peer {
    child: Child,
    stream: BufReader<TcpStream>,
    session: String,
    _config: TempDir,
}

impl Peer {
    /// Starts and greets it; none if it is not there.
    fn start(scene: &Scene) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = TempDir::new().unwrap();
        let path_of_config = config.path().join("proxy.toml");
        let text = format!(
            "[proxy]\nname = \"peer\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\
             [[backends]]\nname = \"files\"\ntransport = \"stdio\"\ncommand = {SERVER:?}\n\
             args = [\"{}\"]\n[backends.cache]\ntool_ttl_seconds = 3600\n",
            scene.files.path().display()
        );
        std::fs::write(&path_of_config, text).unwrap();
        let mut command = in_clean_environment(PEER);
        command.env("PATH", path()).env("RUST_LOG", "warn").arg("-c").arg(path_of_config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().ok()?;
        let connect = || {
            std::thread::sleep(Duration::from_millis(100));
            TcpStream::connect(("127.0.0.1", port)).ok()
        };
        let stream = (0..100).find_map(|_| connect()).expect("it listens within 10 s");
        stream.set_nodelay(true).unwrap();
        let (stream, session) = (BufReader::new(stream), String::new());
        let mut peer = Self { child, stream, session, _config: config };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                             "clientInfo": { "name": "bench", "version": "1" } });
        let request = |method: &str, params: &Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        peer.post(&request("initialize", &params));
        peer.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        peer.post(&request("tools/list", &json!({})));
        Some(peer)
    }

    /// The same call as [`Scene::read`].
    fn read(&mut self, scene: &Scene, number: usize) {
        let arguments = json!({ "path": scene.files.path().join("a.txt"), "head": number + 1 });
        let params = json!({ "name": "files/read_text_file", "arguments": arguments });
        let answer = self
            .post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["result"]["content"].is_array(), "{answer}");
    }

    fn post(&mut self, message: &Value) -> Vec<u8> {
        let body = message.to_string();
        let request = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{}Content-Length: {}\r\n\r\n{body}",
            self.session,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut len = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                if line.trim_end().is_empty() {
                    break;
                }
                continue;
            };
            match name {
                "content-length" => len = value.parse().unwrap(),
                "mcp-session-id" => self.session = format!("Mcp-Session-Id: {value}\r\n"),
                _ => {}
            }
        }
        let mut body = vec![0; len];
        self.stream.read_exact(&mut body).unwrap();
        body
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
