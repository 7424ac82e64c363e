//! A home, a project and a clean environment for each test, and the real
//! program run in them.

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub(crate) const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");

/// A directory that is `HOME`, with `recoup` (`RECOUP_HOME`) and `project` in it.
#[derive(Debug)]
pub(crate) struct Home {
    root: PathBuf,
    _dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("project")).unwrap();
        Self { root, _dir: dir }
    }

    /// A place beneath `HOME`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// `RECOUP_HOME`.
    pub(crate) fn recoup(&self) -> PathBuf {
        self.path("recoup")
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.path("recoup/cache.db")
    }

    /// Writes a file in the project, and the directories above it.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// `recoup`, with nothing in its environment but what it needs.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        self.prepared(RECOUP, args)
    }

    /// Any program in the same surroundings.
    pub(crate) fn prepared<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        args: &[S],
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.root)
            .env("RECOUP_HOME", self.recoup())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr> + Debug>(&self, args: &[S]) -> Output {
        finish(&mut self.command(args))
    }

    pub(crate) fn run_in<S: AsRef<OsStr> + Debug>(&self, dir: &Path, args: &[S]) -> Output {
        finish(self.command(args).current_dir(dir))
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Output {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(stdin).unwrap();
        drop(pipe);
        Output::new(child.wait_with_output().unwrap())
    }

    /// `recoup cache`.
    pub(crate) fn cache(&self, args: &[&str]) -> Output {
        self.run(&[&["cache"], args].concat())
    }

    /// `recoup cache set`, which must succeed.
    pub(crate) fn set(&self, key: &str, body: &str) {
        self.cache(&["set", "--key", key, "--condensed", body]).expect(0);
    }

    pub(crate) fn get(&self, key: &str) -> Output {
        self.cache(&["get", "--key", key])
    }

    /// The database, as another program sees it.
    pub(crate) fn sql(&self) -> Connection {
        Connection::open(self.db()).unwrap()
    }

    /// Makes this many copies of the only entry, under the keys `1`, `2`, ….
    pub(crate) fn multiply(&self, count: usize) {
        let mut sql = self.sql();
        let transaction = sql.transaction().unwrap();
        transaction.execute_batch("CREATE TEMP TABLE copy AS SELECT * FROM entries").unwrap();
        for number in 1..=count {
            transaction.execute("UPDATE temp.copy SET key = ?1", [number.to_string()]).unwrap();
            transaction.execute("INSERT INTO entries SELECT * FROM temp.copy", []).unwrap();
        }
        transaction.commit().unwrap();
    }

    /// Folds the log into the database, so that the file alone has everything.
    pub(crate) fn checkpoint(&self) {
        self.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }

    /// The directories in which damaged databases were set aside.
    pub(crate) fn set_aside(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.recoup()) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_string_lossy().contains(".damaged-")).collect()
    }
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Output {
    Output::new(command.output().unwrap())
}

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    /// Without the advice below.
    pub(crate) stderr: String,
    /// True if `exec` advised to name sources, which it does once for each command without.
    pub(crate) advised_sources: bool,
}

const SOURCE_ADVICE: &str = "recoup: cached, but the files that this command reads are not \
                             watched: name them with --source\n";

impl Output {
    pub(crate) fn new(output: std::process::Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        let without_advice = stderr.replacen(SOURCE_ADVICE, "", 1);
        Self {
            code: output.status.code(),
            stdout: output.stdout,
            advised_sources: without_advice != stderr,
            stderr: without_advice,
        }
    }

    /// Ended with this exit code, which on success comes without complaints.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {:?}\nstderr: {}", self.text(), self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// A hit with this very body and one newline.
    #[track_caller]
    pub(crate) fn expect_hit(self, body: impl AsRef<[u8]>) {
        let this = self.expect(0);
        assert_eq!(this.stderr, "");
        let (newline, rest) = this.stdout.split_last().unwrap();
        assert_eq!(*newline, b'\n');
        assert!(rest == body.as_ref(), "not the body that was stored: {} bytes", this.stdout.len());
    }

    /// A miss: exit 1, and nothing for scripts to mistake for a result.
    #[track_caller]
    pub(crate) fn expect_miss(self) -> Self {
        let this = self.expect(1);
        assert!(this.stdout.is_empty(), "stdout has {} bytes", this.stdout.len());
        this
    }

    /// Wrong usage, which says so in these words.
    #[track_caller]
    pub(crate) fn expect_usage(self, words: &str) {
        let this = self.expect(2);
        assert_eq!(this.text(), "");
        assert!(this.stderr.contains(words), "{}", this.stderr);
    }

    /// A failure, which says so in these words.
    #[track_caller]
    pub(crate) fn expect_failure(self, words: &str) -> Self {
        let this = self.expect(1);
        assert_eq!(this.text(), "");
        assert!(this.stderr.contains(words), "{}", this.stderr);
        this
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap()
    }
}

/// Every path beneath `dir`.
pub(crate) fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The arguments of `recoup cache` for a store at `path`.
pub(crate) fn store(path: &Path) -> OsString {
    let mut url = OsString::from("sqlite:");
    url.push(path);
    url
}

/// recoup as a person starts it, whatever the tests were started without: what `&` in a
/// script, or `nohup`, makes its commands ignore, they pass on to theirs.
pub(crate) fn heeding<S: AsRef<OsStr>>(home: &Home, args: &[S]) -> Command {
    let words = [OsStr::new("--default-signal=INT,QUIT,HUP,TERM"), OsStr::new(RECOUP)];
    let words: Vec<&OsStr> = words.into_iter().chain(args.iter().map(AsRef::as_ref)).collect();
    home.prepared("env", &words)
}
