//! The state of all files of a project, against `git status` on the same tree.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use recoup_core::cache::{SourceLimits, project_files_state};
use tempfile::TempDir;

use crate::measure::{Figure, Ratio, best, compare};
use crate::report::Report;
use crate::scene::in_clean_environment;

/// Files in the directory that git ignores.
const IGNORED_FILES: usize = 100_000;

/// Rows for both sizes, each as a ratio and as a time.
pub(crate) fn all(wanted: &str, report: &mut Report) {
    for (files, shown, goal) in [(5_000, "5,000", 15), (100_000, "100,000", 150)] {
        let name = format!("sources: project, {shown} files");
        let ratio = format!("{name} / git status");
        if ratio.contains(wanted) {
            let tree = project(files);
            report.add_ratio(ratio, state_against_git_status(tree.path()));
            report.add_figure(name, state(tree.path(), Duration::from_millis(goal)));
        }
    }
}

fn state_against_git_status(dir: &Path) -> Ratio {
    compare(1.0, 20, 1, || git(dir, &["status", "--porcelain"]), || read_state(dir))
}

fn state(dir: &Path, goal: Duration) -> Figure {
    best(goal, 20, || (), |()| read_state(dir))
}

fn read_state(dir: &Path) {
    let limits = SourceLimits { files: 1_000_000, ..SourceLimits::default() };
    black_box(project_files_state(dir, limits).unwrap());
}

/// A checkout of so many files, ten in a directory, of which a few have changed and a few are new.
fn project(files: usize) -> TempDir {
    let dir = TempDir::new().unwrap();
    let write = |name: String, contents: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    };
    let name = |file: usize| {
        format!("packages/p{}/src/module_{}/component_{file}.ts", file / 500, file / 10)
    };
    write(".gitignore".to_owned(), "node_modules/\ntarget/\ndist\n*.log\n.env*\n!.env.example\n");
    (0..files).for_each(|file| write(name(file), &format!("export const value = {file};\n")));
    (0..IGNORED_FILES)
        .for_each(|file| write(format!("node_modules/m{}/{file}.js", file / 100), ""));
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "."]);
    // Late enough that git and we can rely on times.
    sleep(Duration::from_secs(2));
    git(dir.path(), &["status"]);
    for file in 0..5 {
        write(name(file * 97), "export const value = -1;\n");
        write(format!("packages/p1/new_{file}.ts"), "export const value = 1;\n");
    }
    dir
}

fn git(dir: &Path, arguments: &[&str]) {
    let mut command: Command = in_clean_environment("git");
    command.current_dir(dir).args(arguments).stdout(Stdio::null());
    assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success());
}
