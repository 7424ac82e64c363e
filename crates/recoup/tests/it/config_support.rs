//! A project, a home and an empty environment: what tests of the configuration
//! set the scene with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Directories of its own; the environment is what a test puts there.
pub(crate) struct Scene {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

/// What a command said, with the scene's directory as `[DIR]`.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Scene {
    /// A repository without any configuration.
    pub(crate) fn new() -> Self {
        let scene = Self { dir: tempfile::tempdir().unwrap(), variables: Vec::new() };
        scene.write("project/.git/HEAD", "ref: refs/heads/main\n");
        fs::create_dir_all(scene.path("user")).unwrap();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn user(&self, toml: &str) {
        self.write("home/config.toml", toml);
    }

    pub(crate) fn project(&self, toml: &str) {
        self.write("project/recoup.toml", toml);
    }

    pub(crate) fn loa(&self, yaml: &str) {
        self.write("project/.loa.config.yaml", yaml);
    }

    pub(crate) fn ai_agent(&self, json: &str) {
        self.write("project/.ai-agent.json", json);
    }

    pub(crate) fn env(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        self.run_in("project", args)
    }

    pub(crate) fn run_in(&self, dir: &str, args: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_recoup"))
            .args(args)
            .current_dir(self.path(dir))
            .env_clear()
            .env("HOME", self.path("user"))
            .env("RECOUP_HOME", self.path("home"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&shown(self.dir.path()), "[DIR]")
        };
        Said {
            code: output.status.code().unwrap(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The value that `config show` has for a key.
    pub(crate) fn value(&self, key: &str) -> Value {
        self.value_with(key, &[])
    }

    pub(crate) fn value_with(&self, key: &str, flags: &[&str]) -> Value {
        let said = self.run(&[&["config", "show", "--json"], flags].concat());
        assert_eq!(said.code, 0, "{said:?}");
        let rows: Vec<Value> = serde_json::from_str(&said.out).unwrap();
        rows.into_iter().find(|row| row["key"] == key).unwrap()["value"].take()
    }

    pub(crate) fn trust(&self) {
        let said = self.run(&["trust", "--yes"]);
        assert_eq!(said.code, 0, "{said:?}");
    }

    /// What `config check` complains about; it must complain.
    pub(crate) fn problems(&self) -> String {
        let said = self.run(&["config", "check"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
        said.err
    }
}

fn shown(path: &Path) -> String {
    fs::canonicalize(path).unwrap().display().to_string()
}
