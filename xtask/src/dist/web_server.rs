//! The files of a folder, served on loopback: a place to download from, and a registry of npm.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that ends when it is dropped.
pub(super) struct WebServer {
    child: Child,
    port: u16,
}

impl WebServer {
    pub(super) fn start(python: &Path, folder: &Path) -> Result<Self, String> {
        let mut command = Command::new(python);
        command.args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory"]);
        command.arg(folder).arg("0").stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("python3: {error}"))?;
        let mut server = Self { child, port: 0 };
        let mut line = String::new();
        if let Some(said) = server.child.stdout.take() {
            BufReader::new(said).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        // `Serving HTTP on 127.0.0.1 port 40123 (…) ...`
        let port = line.split(" port ").nth(1).and_then(|rest| rest.split(' ').next());
        let port = port.and_then(|port| port.parse().ok());
        server.port = port.ok_or_else(|| format!("python3 -m http.server said: {line}"))?;
        Ok(server)
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
