//! What is remembered, where Claude Code reads it by itself: the built program, and files
//! as they are afterwards.

mod deleted_files;
mod forget;
mod links;
mod list;
mod off;
mod places;
mod reach;
mod rules;
mod skills;
mod withdraw;
mod worker;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Home, Output, RECOUP, finish, tree};

/// A home with a Claude Code in it, and what its user has asked for.
struct Scene {
    home: Home,
    asked: Vec<(&'static str, &'static str)>,
}

const RULES: (&str, &str) = ("RECOUP_RULES_SYNC", "true");
const SKILLS: (&str, &str) = ("RECOUP_SKILLS_ENABLED", "true");
const USERS: (&str, &str) = ("RECOUP_SKILLS_PLACE", "user");

impl Scene {
    fn asking(asked: &[(&'static str, &'static str)]) -> Self {
        let home = Home::new();
        fs::create_dir(home.path(".claude")).unwrap();
        Self { home, asked: asked.to_vec() }
    }

    /// The same with a repository as its project.
    fn in_git(asked: &[(&'static str, &'static str)]) -> Self {
        let scene = Self::asking(asked);
        git(&scene.home.project(), &["init", "-q"]);
        scene
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        command.envs(self.asked.iter().copied());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    fn run_in(&self, dir: &Path, args: &[&str]) -> Output {
        finish(self.command(args).current_dir(dir))
    }

    /// `recoup init` for Claude Code.
    fn init(&self, args: &[&str]) {
        let program = self.home.path("bin/recoup");
        fs::create_dir(program.parent().unwrap()).unwrap();
        symlink(RECOUP, &program).unwrap();
        let program = program.to_str().unwrap();
        let init = ["init", "--client", "claude-code", "--yes", "--program", program];
        self.run(&[&init, args].concat()).expect(0);
    }

    fn add(&self, text: &str) -> String {
        let output = self.run(&["memory", "add", "--json", "--", text]).expect(0);
        output.json()["id"].as_str().unwrap().to_owned()
    }

    fn sync(&self) -> Value {
        self.run(&["memory", "sync", "--json"]).expect(0).json()
    }

    /// Claude Code's own memory of the project at `root`.
    fn memory_of(&self, root: &Path) -> PathBuf {
        let dashed = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = root.to_str().unwrap().chars().map(dashed).collect();
        self.home.path(".claude/projects").join(name).join("memory")
    }

    fn memory(&self) -> PathBuf {
        self.memory_of(&self.home.project())
    }

    fn index(&self) -> String {
        fs::read_to_string(self.memory().join("MEMORY.md")).unwrap()
    }

    fn skills(&self) -> PathBuf {
        self.home.project().join(".claude/skills")
    }

    /// Everything of ours that a client could read has none of these words.
    #[track_caller]
    fn assert_nowhere(&self, words: &str) {
        for root in [self.home.path(".claude"), self.home.project()] {
            for file in tree(&root).into_iter().filter(|path| path.is_file()) {
                let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
                assert!(!text.contains(words), "{} has it:\n{text}", file.display());
            }
        }
    }
}

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args);
    let output = command.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Takes a lock of ours, as another process would.
fn hold(path: &Path) -> fs::File {
    let file = fs::File::options().create(true).append(true).open(path).unwrap();
    file.lock().unwrap();
    file
}

/// The paths that were written, or removed, by their last two names.
fn paths(report: &Value, did: &str) -> Vec<String> {
    let changes = report["changes"].as_array().unwrap().iter();
    let paths =
        changes.filter(|it| it["did"] == did).map(|it| PathBuf::from(it["path"].as_str().unwrap()));
    let mut names: Vec<String> =
        paths.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Three on testing.
fn on_testing(scene: &Scene) -> [String; 3] {
    ["use vitest", "put tests in `__tests__/`", "never mock the clock in a test"]
        .map(|it| scene.add(it))
}

#[test]
fn nothing_is_put_anywhere_before_it_is_asked_for() {
    let scene = Scene::asking(&[]);
    on_testing(&scene);
    let output = scene.run(&["memory", "sync"]).expect(0);
    assert_eq!(output.text(), "");
    assert!(output.stderr.contains("rules sync and skills are off"), "{}", output.stderr);
    scene.assert_nowhere("vitest");
    assert!(!scene.home.recoup().join("mirrors.json").exists());
}

#[test]
fn a_repository_can_only_say_no() {
    let scene = Scene::asking(&[]);
    scene.home.write("recoup.toml", "[rules]\nsync = true\n[skills]\nenabled = true\n");
    scene.add("use tabs");
    let output = scene.run(&["memory", "sync"]);
    assert!(output.stderr.contains("a repository may only switch this off"), "{}", output.stderr);
    assert!(!scene.memory().exists());

    let scene = Scene::asking(&[]);
    fs::create_dir_all(scene.home.recoup()).unwrap();
    fs::write(scene.home.recoup().join("config.toml"), "[rules]\nsync = true\n").unwrap();
    scene.add("use tabs");
    scene.sync();
    assert!(scene.memory().exists());
    scene.home.write("recoup.toml", "[rules]\nsync = false\n");
    scene.sync();
    assert!(!scene.memory().exists());
}

#[test]
fn a_dry_run_says_it_and_does_nothing() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    let before = tree(&scene.home.path(""));
    let output = scene.run(&["memory", "sync", "--dry-run"]).expect(0);
    assert!(output.text().contains("SKILL.md") && output.text().contains("MEMORY.md"));
    assert!(output.stderr.contains("Nothing was changed"), "{}", output.stderr);
    let after: Vec<PathBuf> =
        tree(&scene.home.path("")).into_iter().filter(|it| !before.contains(it)).collect();
    assert_eq!(after, [] as [PathBuf; 0]);
}

#[test]
fn while_memory_is_paused_nothing_is_synced() {
    for pause in [&["pause"][..], &["pause", "--project"]] {
        let scene = Scene::asking(&[RULES, SKILLS]);
        on_testing(&scene);
        scene.run(pause).expect(0);
        let report = scene.sync();
        assert_eq!(report["changes"].as_array().unwrap().len(), 0, "{report}");
        assert!(report["remarks"][0].as_str().unwrap().contains("nothing is synced"), "{report}");
        scene.assert_nowhere("vitest");
    }
}
