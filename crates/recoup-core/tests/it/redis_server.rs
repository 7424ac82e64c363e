//! Real servers of the tests' own, on free loopback ports. Each ends with the
//! process that started it, however that ends: a shell holds it, and lets go
//! when its standard input closes.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use recoup_core::store::redis::RedisTarget;
use redis::{Client, Connection, ConnectionLike as _};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Longer than any test needs, so that a loaded machine fails none.
const PATIENT: Duration = Duration::from_secs(30);

/// Starts the program with the rest of its arguments, and ends it when nobody
/// holds the other end of the pipe any more.
const KEEPER: &str = r#""$@" >"$LOG" 2>&1 & server=$!; read -r _; kill -9 $server; wait"#;

#[derive(Debug)]
pub(crate) struct Server {
    keeper: Child,
    pub(crate) port: u16,
    pub(crate) dir: TempDir,
}

impl Server {
    /// A server that keeps nothing on disk.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(options: &[&str]) -> Self {
        Self::start_program("redis-server", options)
    }

    pub(crate) fn start_program(program: &str, options: &[&str]) -> Self {
        Self::start_on(program, free_port(), options)
    }

    pub(crate) fn start_on(program: &str, port: u16, options: &[&str]) -> Self {
        let server = Self::launch(program, port, options);
        let until = Instant::now() + PATIENT;
        while server.try_connect().is_none() {
            let log = || std::fs::read_to_string(server.dir.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "{program} did not start: {}", log());
            thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// Does not wait for it: one with a password or TLS answers nobody here.
    pub(crate) fn launch(program: &str, port: u16, options: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper", program, "--port", &port.to_string()])
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(["--enable-debug-command", "yes", "--daemonize", "no"])
            .arg("--dir")
            .arg(dir.path())
            .args(options)
            .env("LOG", dir.path().join("log"))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("sh: {error}"));
        Self { keeper, port, dir }
    }

    /// As a store's URL, with a key prefix of its own.
    pub(crate) fn target(&self, prefix: &str) -> RedisTarget {
        target(&format!("redis://127.0.0.1:{}/?prefix={prefix}&timeout=30s", self.port))
    }

    pub(crate) fn connect(&self) -> Connection {
        self.try_connect().expect("the server answers")
    }

    fn try_connect(&self) -> Option<Connection> {
        let client = Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let mut connection = client.get_connection_with_timeout(Duration::from_secs(5)).ok()?;
        connection.req_command(&redis::cmd("PING")).ok()?;
        Some(connection)
    }

    /// Its process, which is not the keeper's.
    pub(crate) fn pid(&self) -> Pid {
        let info: String = redis::cmd("INFO").arg("server").query(&mut self.connect()).unwrap();
        let pid = info.lines().find_map(|line| line.strip_prefix("process_id:")).unwrap();
        Pid::from_raw(pid.trim().parse().unwrap()).unwrap()
    }

    pub(crate) fn signal(pid: Pid, signal: Signal) {
        kill_process(pid, signal).unwrap();
    }

    /// Ends it at once, and waits until it is gone.
    pub(crate) fn kill(mut self) -> u16 {
        self.stop();
        self.port
    }

    fn stop(&mut self) {
        if let Some(mut held) = self.keeper.stdin.take() {
            let _ = held.write_all(b"\n");
        }
        let _ = self.keeper.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn target(url: &str) -> RedisTarget {
    RedisTarget::parse(url, "/".as_ref(), None).unwrap()
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// One server for all tests that only need some server.
pub(crate) fn shared() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(Server::start)
}

/// The same with Valkey.
pub(crate) fn shared_valkey() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(|| Server::start_program("valkey-server", &[]))
}

/// A prefix that no other test has.
pub(crate) fn fresh_prefix() -> String {
    static COUNT: Mutex<u32> = Mutex::new(0);
    let mut count = COUNT.lock().unwrap();
    *count += 1;
    format!("test-{count}")
}

/// Three nodes that share all slots, and any number of replicas of the first.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Server>,
    pub(crate) replicas: Vec<Server>,
}

const SLOTS: [(u16, u16); 3] = [(0, 5_460), (5_461, 10_922), (10_923, 16_383)];

impl Cluster {
    pub(crate) fn start(replicas: usize) -> Self {
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"];
        let start = |_| {
            let bus = free_port().to_string();
            Server::start_with(&[&options[..], &["--cluster-port", &bus]].concat())
        };
        let nodes: Vec<Server> = (0..3).map(start).collect();
        let replicas: Vec<Server> = (0..replicas).map(start).collect();
        for (node, (first, last)) in nodes.iter().zip(SLOTS) {
            let mut command = redis::cmd("CLUSTER");
            command.arg("ADDSLOTSRANGE").arg(first).arg(last).exec(&mut node.connect()).unwrap();
        }
        for (n, other) in nodes.iter().chain(&replicas).skip(1).enumerate() {
            let mut epoch = redis::cmd("CLUSTER");
            epoch.arg("SET-CONFIG-EPOCH").arg(n + 2).exec(&mut other.connect()).unwrap();
            let bus = config(other, "cluster-port");
            let mut meet = redis::cmd("CLUSTER");
            meet.arg("MEET").arg("127.0.0.1").arg(other.port).arg(bus);
            meet.exec(&mut nodes[0].connect()).unwrap();
        }
        let cluster = Self { nodes, replicas };
        cluster.wait_for("every node knows all", |node| {
            let known = info(node, "cluster_known_nodes");
            known == (cluster.nodes.len() + cluster.replicas.len()).to_string()
        });
        let first: String =
            redis::cmd("CLUSTER").arg("MYID").query(&mut cluster.nodes[0].connect()).unwrap();
        for replica in &cluster.replicas {
            let mut command = redis::cmd("CLUSTER");
            command.arg("REPLICATE").arg(&first).exec(&mut replica.connect()).unwrap();
        }
        cluster.wait_for("all slots are served", |node| info(node, "cluster_state") == "ok");
        cluster
    }

    pub(crate) fn wait_for(&self, what: &str, holds: impl Fn(&Server) -> bool) {
        let until = Instant::now() + PATIENT;
        while !self.nodes.iter().chain(&self.replicas).all(&holds) {
            assert!(Instant::now() < until, "{what}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn target(&self, prefix: &str) -> RedisTarget {
        let nodes: Vec<_> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        target(&format!("redis+cluster://{}/?prefix={prefix}&timeout=30s", nodes.join(",")))
    }

    /// One cluster for all tests that only need some cluster.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(0))
    }
}

pub(crate) fn info(node: &Server, name: &str) -> String {
    let info: String = redis::cmd("CLUSTER").arg("INFO").query(&mut node.connect()).unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_default().trim().to_owned()
}

fn config(node: &Server, name: &str) -> String {
    let mut command = redis::cmd("CONFIG");
    let (_, value): (String, String) =
        command.arg("GET").arg(name).query(&mut node.connect()).unwrap();
    value
}
