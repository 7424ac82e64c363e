//! The gateway as its clients feel it: hits beside those of nginx and LiteLLM under the same load, what a
//! miss adds to the upstream's own answer, the first byte of a replayed stream, and what it takes in
//! memory. The soak takes five minutes, and runs only if it is asked for: `cargo xtask bench -- soak`.

mod http;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::measure::{Figure, Ratio, Size};
use crate::report::Report;
use crate::scene::in_clean_environment;
use http::{API_PATH, Connection, TOKEN, question, start_upstream};

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const NGINX_ROW: &str = "gateway: a hit / nginx's, under load";
const LITELLM_ROW: &str = "gateway: a hit / LiteLLM's, under load";
const MEDIAN_ROW: &str = "gateway: what a miss adds to an answer, median";
const SLOWEST_ROW: &str = "gateway: the same, 99th percentile";
const REPLAY_ROW: &str = "gateway: first byte of a replayed stream, median";
const STREAMS_ROW: &str = "gateway: memory with 1,000 slow streams";
const SOAK_ROW: &str = "gateway: soak, added by minutes 2 to 5";
/// Length of an answer, and of one in the soak, which fill the memory tier within its first minute.
const ANSWER: usize = 2_048;
const SOAK_ANSWER: usize = 20_480;
const ROUNDS: usize = 5;
const MISSES: usize = 4_000;
const STREAMS: usize = 1_000;
/// LiteLLM needs half a minute on a busy machine.
const START_LIMIT: Duration = Duration::from_mins(3);

/// All benchmarks of the gateway whose name has `wanted` in it.
pub(crate) fn all(wanted: &str, report: &mut Report) {
    let is_wanted = |rows: &[&str]| rows.iter().any(|row| row.contains(wanted));
    if is_wanted(&[NGINX_ROW]) {
        compare_load(NGINX_ROW, 1.0, 64, Peer::start_nginx, report);
    }
    if is_wanted(&[LITELLM_ROW]) {
        compare_load(LITELLM_ROW, 0.05, 8, Peer::start_litellm, report);
    }
    if is_wanted(&[MEDIAN_ROW, SLOWEST_ROW]) {
        let [median, slowest] = added_by_misses();
        report.add_figure(MEDIAN_ROW, median);
        report.add_figure(SLOWEST_ROW, slowest);
    }
    if is_wanted(&[REPLAY_ROW]) {
        report.add_figure(REPLAY_ROW, first_byte_of_replay());
    }
    if is_wanted(&[STREAMS_ROW]) {
        report.add_size(STREAMS_ROW, memory_with_streams());
    }
    if wanted.contains("soak") {
        soak(report);
    }
}

/// Time per hit under load, turn by turn.
fn compare_load(
    row: &str,
    goal: f64,
    connections: usize,
    start: fn(SocketAddr) -> Option<Peer>,
    report: &mut Report,
) {
    let upstream = start_upstream(ANSWER);
    let load =
        Load { connections, seconds: 3, question: question("0", false, false), new_every: None };
    let Some(peer) = start(upstream).filter(|_| is_on_path("wrk")) else {
        println!("skipped, because a program for it is not on the PATH: {row}");
        return;
    };
    let ours = Peer::start_recoup(upstream);
    let (mut theirs, mut mine) = (Vec::new(), Vec::new());
    // The first round only warms up.
    for round in 0..=ROUNDS {
        let pair = [load.put_on(peer.address), load.put_on(ours.address)];
        if round > 0 {
            theirs.push(pair[0]);
            mine.push(pair[1]);
        }
    }
    let (head, _) = Connection::open(ours.address).ask(&load.question);
    assert!(head.contains("hit; "), "{head}");
    report.add_ratio(
        row,
        Ratio { baseline: percentile(&mut theirs, 50), subject: percentile(&mut mine, 50), goal },
    );
}

/// Median and 99th percentile of a miss, less those of the upstream's own answer.
fn added_by_misses() -> [Figure; 2] {
    let upstream = start_upstream(ANSWER);
    let ours = Peer::start_recoup(upstream);
    let (mut direct, mut proxied) = (Connection::open(upstream), Connection::open(ours.address));
    let (mut theirs, mut mine) = (Vec::new(), Vec::new());
    for number in 0..MISSES {
        let question = question(&format!("{number:08}"), false, false);
        theirs.push(direct.ask(&question).1);
        let (head, took) = proxied.ask(&question);
        assert!(head.contains("miss; "), "{head}");
        mine.push(took);
    }
    [(50, Duration::from_micros(300)), (99, Duration::from_millis(1))].map(|(rank, goal)| {
        let time = percentile(&mut mine, rank).saturating_sub(percentile(&mut theirs, rank));
        Figure { time, goal }
    })
}

fn first_byte_of_replay() -> Figure {
    let ours = Peer::start_recoup(start_upstream(ANSWER));
    let question = question("0", true, false);
    let mut client = Connection::open(ours.address);
    client.ask(&question);
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..1_000 {
        let start = Instant::now();
        client.send(&question);
        let (head, len) = client.read_head().unwrap();
        times.push(start.elapsed());
        client.read_body(len);
        assert!(head.contains("hit; "), "{head}");
    }
    Figure { time: percentile(&mut times, 50), goal: Duration::from_millis(1) }
}

/// Peak of the memory while so many clients read a stream each, none of them the same.
fn memory_with_streams() -> Size {
    let ours = Peer::start_recoup(start_upstream(ANSWER));
    let clients: Vec<Connection> = (0..STREAMS)
        .map(|number| {
            let mut client = Connection::open(ours.address);
            client.send(&question(&format!("{number:08}"), true, true));
            client
        })
        .collect();
    for mut client in clients {
        let (head, len) = client.read_head().unwrap();
        assert!(head.contains("miss; "), "{head}");
        client.read_body(len);
    }
    Size { bytes: ours.memory("VmHWM:"), goal: 200 << 20 }
}

/// Five minutes of hits and some misses. The gateway must not hold more at the end than after the first
/// minute.
fn soak(report: &mut Report) {
    if !is_on_path("wrk") {
        println!("skipped, because a program for it is not on the PATH: {SOAK_ROW}");
        return;
    }
    let ours = Peer::start_recoup(start_upstream(SOAK_ANSWER));
    let question = question("NUMBER", false, false);
    let load = Load { connections: 16, seconds: 60, question, new_every: Some(20) };
    let states = [(); 5].map(|()| {
        let time = load.put_on(ours.address);
        // What belongs to connections goes with them.
        thread::sleep(Duration::from_secs(2));
        let state = (ours.memory("VmRSS:"), ours.handles());
        println!("soak: {} KB, {} handles, {time:?} per request", state.0 >> 10, state.1);
        state
    });
    let [(before, handles), .., (after, more)] = states;
    assert!(more <= handles, "{handles} handles became {more}");
    report.add_size(SOAK_ROW, Size { bytes: after.saturating_sub(before), goal: 8 << 20 });
}

fn percentile(times: &mut [Duration], rank: usize) -> Duration {
    times.sort_unstable();
    times[times.len() * rank / 100]
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Load by wrk.
struct Load {
    connections: usize,
    seconds: u64,
    question: String,
    /// One of so many questions is new.
    new_every: Option<usize>,
}

impl Load {
    /// Time per request.
    fn put_on(&self, address: SocketAddr) -> Duration {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("request.json");
        fs::write(&file, &self.question).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ratios/gateway/load.lua");
        let mut wrk = in_clean_environment("wrk");
        wrk.args(["--threads", "1", "--timeout", "30s", "--connections"]);
        wrk.arg(self.connections.to_string()).args(["--duration", &format!("{}s", self.seconds)]);
        wrk.arg("--script").arg(script).arg(format!("http://{address}{API_PATH}"));
        wrk.env("REQUEST", &file).env("TOKEN", TOKEN);
        if let Some(number) = self.new_every {
            wrk.env("NEW_EVERY", number.to_string());
        }
        let output = wrk.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("bench: "));
        let numbers: Vec<u64> = line
            .unwrap_or_else(|| panic!("{output:?}"))
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [requests, micros, failed] = numbers[..] else { panic!("{text}") };
        assert!(failed == 0 && requests > 0, "{text}");
        Duration::from_nanos(micros * 1_000 / requests)
    }
}

/// A program that answers questions, with its own directory; it ends with the benchmark.
struct Peer {
    child: Child,
    address: SocketAddr,
    _home: TempDir,
}

impl Peer {
    /// The gateway, as it is by default, and with a duration.
    fn start_recoup(upstream: SocketAddr) -> Self {
        let home = TempDir::new().unwrap();
        let config = format!(
            "[gateway]\nttl = \"1h\"\n[gateway.upstreams.openai]\nurl = \"http://{upstream}\"\n"
        );
        fs::write(home.path().join("config.toml"), config).unwrap();
        let mut command = in_clean_environment(RECOUP);
        command.args(["gateway", "--listen", "127.0.0.1:0"]).current_dir(home.path());
        command.env("RECOUP_HOME", home.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().strip_prefix("http://").unwrap().parse().unwrap();
        Self { child, address, _home: home }
    }

    /// nginx as Debian sets it up, access log included, with a cache for POST; none if it is not there.
    fn start_nginx(upstream: SocketAddr) -> Option<Self> {
        Self::start("nginx", |home, port| {
            let config = home.join("nginx.conf");
            let dir = home.display();
            let text = format!(
                "user root; worker_processes auto; daemon off; pid {dir}/pid;\n\
                 events {{ worker_connections 768; }}\n\
                 http {{\n\
                   sendfile on; tcp_nopush on; access_log {dir}/access.log;\n\
                   client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;\n\
                   fastcgi_temp_path {dir}/fastcgi; uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;\n\
                   proxy_cache_path {dir}/cache keys_zone=answers:10m;\n\
                   server {{\n\
                     listen 127.0.0.1:{port}; client_body_buffer_size 64k;\n\
                     location / {{\n\
                       proxy_pass http://{upstream}; proxy_cache answers; proxy_cache_methods POST;\n\
                       proxy_cache_key $request_uri$request_body; proxy_cache_valid 200 1h;\n\
                     }}\n\
                   }}\n\
                 }}\n"
            );
            fs::write(&config, text).unwrap();
            let mut command = in_clean_environment("nginx");
            command.arg("-p").arg(home).arg("-c").arg(config).arg("-e").arg(home.join("error.log"));
            command
        })
    }

    /// LiteLLM's proxy with its cache in memory; none if it is not there.
    fn start_litellm(upstream: SocketAddr) -> Option<Self> {
        Self::start("litellm", |home, port| {
            let config = home.join("config.yaml");
            let text = format!(
                "model_list:\n- model_name: bench\n  litellm_params:\n    model: openai/bench\n    \
                 api_base: http://{upstream}/v1\n    api_key: none\n\
                 litellm_settings:\n  cache: true\n  cache_params: {{ type: local, mode: default_on }}\n\
                 general_settings:\n  master_key: {TOKEN}\n"
            );
            fs::write(&config, text).unwrap();
            let mut command = in_clean_environment("litellm");
            command.arg("--config").arg(config).args([
                "--host",
                "127.0.0.1",
                "--port",
                &port.to_string(),
            ]);
            command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("HOME", home);
            command
        })
    }

    fn start(program: &str, command: impl Fn(&Path, u16) -> Command) -> Option<Self> {
        if !is_on_path(program) {
            return None;
        }
        let home = TempDir::new().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = command(home.path(), address.port());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let peer = Self { child, address, _home: home };
        let limit = Instant::now() + START_LIMIT;
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < limit, "{program} did not start");
            thread::sleep(Duration::from_millis(100));
        }
        Some(peer)
    }

    /// A line of what the system says about its memory.
    fn memory(&self, name: &str) -> u64 {
        let status = fs::read_to_string(self.proc().join("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    }

    /// How many files and sockets it holds.
    fn handles(&self) -> usize {
        fs::read_dir(self.proc().join("fd")).unwrap().count()
    }

    fn proc(&self) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // A signal that lets it end its own children.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-s", "TERM", &id]).status();
        let limit = Instant::now() + Duration::from_secs(10);
        while Instant::now() < limit && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
