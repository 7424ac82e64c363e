//! The MCP proxy beside the server behind it: the fastest of the real ones, which reads a file.

use std::process::Command;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use crate::mcp::Client;
use crate::measure::{Figure, Ratio, Size, compare, medians};
use crate::scene::in_clean_environment;

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const SERVER: &str = "mcp-server-filesystem";
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
