//! Random edits, against a reference that asks git for the names and reads every file.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;

use super::{Tree, set_mtime};

const NAMES: [&str; 8] =
    ["a", "b.log", "d/a", "d/b.log", "d/e/a", "ignored/a", "ignored/d/a", "d-e/a"];
const CONTENTS: [&str; 4] = ["one", "two", "three", ""];

#[derive(Debug, Clone)]
enum Step {
    Write(usize, usize),
    Remove(usize),
    Link(usize, usize),
    Execute(usize, bool),
    Touch(usize),
    Ignore(usize),
    Add(usize),
    Git(&'static [&'static str]),
    Settle,
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    let calls: [&'static [&'static str]; 6] = [
        &["add", "."],
        &["add", "-N", "."],
        &["commit", "-q", "--allow-empty", "-a", "-m", "x"],
        &["status"],
        &["rm", "-q", "-r", "-f", "--cached", "--ignore-unmatch", "d"],
        &["update-index", "--index-version", "4"],
    ];
    prop_oneof![
        6 => (name.clone(), 0..CONTENTS.len()).prop_map(|(name, to)| Step::Write(name, to)),
        2 => name.clone().prop_map(Step::Remove),
        1 => (name.clone(), 0..CONTENTS.len() - 1).prop_map(|(name, to)| Step::Link(name, to)),
        1 => (name.clone(), any::<bool>()).prop_map(|(name, on)| Step::Execute(name, on)),
        1 => name.clone().prop_map(Step::Touch),
        1 => (0..3_usize).prop_map(Step::Ignore),
        2 => name.prop_map(Step::Add),
        5 => proptest::sample::select(calls.to_vec()).prop_map(Step::Git),
        2 => Just(Step::Settle),
    ]
}

fn take(tree: &Tree, step: &Step) {
    let clear = |name: &str| {
        let path = tree.path(name);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    match step {
        Step::Write(name, to) => {
            if tree.path(NAMES[*name]).is_symlink() {
                clear(NAMES[*name]);
            }
            tree.write(NAMES[*name], CONTENTS[*to]);
        }
        Step::Remove(name) => drop(clear(NAMES[*name])),
        Step::Link(name, to) => symlink(CONTENTS[*to], clear(NAMES[*name])).unwrap(),
        Step::Execute(name, on) => {
            let mode = fs::Permissions::from_mode(if *on { 0o755 } else { 0o644 });
            let _ = fs::set_permissions(tree.path(NAMES[*name]), mode);
        }
        Step::Touch(name) if tree.path(NAMES[*name]).is_file() => {
            set_mtime(&tree.path(NAMES[*name]), std::time::SystemTime::UNIX_EPOCH);
        }
        Step::Ignore(rules) => {
            tree.write(".gitignore", ["*.log\nignored/\n", "*.log\n!d/b.log\n", "/d/\n"][*rules]);
        }
        Step::Add(name) if tree.path(NAMES[*name]).is_file() => {
            tree.git(&["add", "-f", NAMES[*name]]);
        }
        Step::Touch(_) | Step::Add(_) => {}
        Step::Git(arguments) => tree.git(arguments),
        Step::Settle => tree.settle(),
    }
}

/// Kind and contents of each file that git tracks or does not ignore.
fn reference(dir: &Path) -> BTreeMap<Vec<u8>, (u8, Vec<u8>)> {
    let listed = Command::new("git")
        .current_dir(dir)
        .args(["ls-files", "-z", "-c", "-o", "--exclude-standard"])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .filter_map(|name| {
            let path = dir.join(std::ffi::OsStr::from_bytes(name));
            let meta = fs::symlink_metadata(&path).ok()?;
            let found = if meta.is_symlink() {
                (b'l', fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
            } else {
                (u8::from(meta.permissions().mode() & 0o100 != 0), fs::read(&path).unwrap())
            };
            Some((name.to_vec(), found))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn two_states_are_equal_if_and_only_if_all_files_are(
        steps in proptest::collection::vec(step(), 10..50),
    ) {
        let tree = Tree::repository();
        let (mut states, mut trees) = (HashMap::new(), HashMap::new());
        for step in &steps {
            take(&tree, step);
            let (files, state) = (reference(tree.root()), tree.state());
            let of_files = *states.entry(files.clone()).or_insert(state);
            prop_assert_eq!(of_files, state, "other state for the same files after {:?}", step);
            let of_state = trees.entry(state).or_insert_with(|| files.clone());
            prop_assert_eq!(&*of_state, &files, "same state for other files after {:?}", step);
        }
    }
}
