//! `project:files` as a source: the contents of all files that git tracks or does not ignore.

mod laws;
mod odd_indexes;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{
    LookupRequest, MissReason, PathContext, PeekOutcome, SourceLimits, Ttl, project_files_state,
};
use recoup_core::key::Kind;
use tempfile::TempDir;

use super::git_head::{commit, git};
use super::{Scene, set_mtime};
use crate::support::id;

/// A working tree, mostly of a repository.
struct Tree {
    dir: TempDir,
}

impl Tree {
    fn plain() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn repository() -> Self {
        let tree = Self::plain();
        tree.git(&["init", "-q", "-b", "main"]);
        tree
    }

    /// Three files in a commit, of which one is ignored, and an ignored directory.
    fn committed() -> Self {
        let tree = Self::repository();
        tree.write(".gitignore", "*.log\ntarget/\n");
        tree.write("a.txt", "one");
        tree.write("src/b.txt", "two");
        tree.write("src/kept.log", "kept");
        tree.write("target/deep/out.o", "out");
        tree.git(&["add", "."]);
        tree.git(&["add", "-f", "src/kept.log"]);
        commit(tree.root());
        tree
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn git(&self, arguments: &[&str]) {
        git(self.root(), arguments);
    }

    fn write(&self, name: &str, contents: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), contents).unwrap();
    }

    fn state(&self) -> Sha256Digest {
        state(self.root())
    }

    /// Has git compare all files again, late enough that it can rely on their times.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(130));
        self.write("settled", "");
        self.git(&["add", "settled"]);
        self.git(&["status"]);
        self.git(&["rm", "-q", "-f", "settled"]);
    }

    /// True if the state is known without reading a file.
    fn is_known_unread(&self) -> bool {
        let limits = SourceLimits { bytes: 0, ..SourceLimits::default() };
        project_files_state(self.root(), limits).is_some()
    }

    #[track_caller]
    fn assert_changed_by(&self, step: impl FnOnce()) {
        let before = self.state();
        step();
        assert_ne!(self.state(), before);
    }

    #[track_caller]
    fn assert_kept_by(&self, step: impl FnOnce()) {
        let before = self.state();
        step();
        assert_eq!(self.state(), before);
    }
}

#[track_caller]
fn state(dir: &Path) -> Sha256Digest {
    project_files_state(dir, SourceLimits::default()).expect("it has a state")
}

#[test]
fn an_edit_changes_it_until_it_is_taken_back() {
    let tree = Tree::committed();
    for settled in [true, false] {
        if settled {
            tree.settle();
            assert!(tree.is_known_unread());
        }
        let before = tree.state();
        for name in ["a.txt", "src/b.txt", "src/kept.log"] {
            let contents = fs::read_to_string(tree.path(name)).unwrap();
            for edited in [contents.to_uppercase(), format!("{contents} more"), String::new()] {
                tree.write(name, &edited);
                assert_ne!(tree.state(), before, "{name}: {edited:?}");
            }
            tree.write(name, &contents);
            assert_eq!(tree.state(), before, "{name}");
        }
    }
}

#[test]
fn times_staging_and_commits_leave_it() {
    let tree = Tree::committed();
    tree.assert_kept_by(|| set_mtime(&tree.path("a.txt"), SystemTime::UNIX_EPOCH));
    tree.assert_kept_by(|| tree.git(&["status"]));
    tree.assert_changed_by(|| tree.write("a.txt", "another"));
    tree.assert_changed_by(|| tree.write("new.txt", "new"));
    for arguments in [["add", "-N", "."], ["add", "-u", "."], ["add", "-A", "."]] {
        tree.assert_kept_by(|| tree.git(&arguments));
    }
    tree.assert_kept_by(|| commit(tree.root()));
    tree.assert_kept_by(|| tree.settle());
    assert!(tree.is_known_unread());
    tree.assert_kept_by(|| tree.git(&["rm", "-q", "--cached", "a.txt"]));
    tree.git(&["rm", "-q", "--cached", "src/kept.log"]);
    tree.assert_kept_by(|| fs::remove_file(tree.path(".git/index")).unwrap());
}

#[test]
fn untracked_files_count_and_ignored_ones_do_not() {
    let tree = Tree::committed();
    tree.assert_changed_by(|| tree.write("src/new.txt", "new"));
    tree.assert_changed_by(|| tree.write("src/new.txt", "NEW"));
    tree.assert_changed_by(|| fs::remove_file(tree.path("src/new.txt")).unwrap());
    tree.assert_changed_by(|| tree.write("untracked/deep/new.txt", ""));
    tree.assert_kept_by(|| fs::create_dir(tree.path("empty")).unwrap());
    tree.assert_kept_by(|| tree.write("src/new.log", "ignored"));
    tree.assert_kept_by(|| tree.write("target/new.o", "ignored"));
    tree.assert_changed_by(|| tree.write("src/kept.log", "KEPT"));
    tree.assert_changed_by(|| tree.write("src/.gitignore", "!*.log"));
    tree.assert_changed_by(|| tree.write("src/new.log", "no longer ignored"));
    // A tracked file in an ignored directory counts, its neighbours do not.
    tree.assert_changed_by(|| tree.git(&["add", "-f", "target/deep/out.o"]));
    tree.assert_changed_by(|| tree.write("target/deep/out.o", "OUT"));
    tree.assert_kept_by(|| tree.write("target/deep/new.o", ""));
    tree.assert_kept_by(|| tree.write("target/new/new.o", ""));
}

#[test]
fn names_modes_and_links_count() {
    let tree = Tree::committed();
    tree.assert_changed_by(|| fs::remove_file(tree.path("a.txt")).unwrap());
    tree.assert_changed_by(|| fs::rename(tree.path("src/b.txt"), tree.path("b.txt")).unwrap());
    let mode = |mode| {
        fs::set_permissions(tree.path("b.txt"), fs::Permissions::from_mode(mode)).unwrap();
    };
    tree.assert_kept_by(|| mode(0o600));
    tree.assert_changed_by(|| mode(0o700));
    tree.assert_kept_by(|| tree.git(&["add", "."]));
    tree.assert_changed_by(|| mode(0o644));
    let link = |target: &str| {
        let _ = fs::remove_file(tree.path("link"));
        symlink(target, tree.path("link")).unwrap();
    };
    tree.assert_changed_by(|| link("b.txt"));
    tree.assert_changed_by(|| link("c.txt"));
    tree.assert_kept_by(|| tree.git(&["add", "."]));
    tree.assert_kept_by(|| tree.settle());
    assert!(tree.is_known_unread());
    tree.assert_changed_by(|| {
        fs::remove_file(tree.path("link")).unwrap();
        tree.write("link", "c.txt");
    });
    // The files behind a link to a directory are not below it.
    let outside = Tree::plain();
    tree.assert_changed_by(|| symlink(outside.root(), tree.path("outside")).unwrap());
    tree.assert_kept_by(|| outside.write("file", "x"));
    tree.assert_changed_by(|| {
        fs::rename(tree.path("src"), tree.path("elsewhere")).unwrap();
        symlink("elsewhere", tree.path("src")).unwrap();
    });
}

#[test]
fn a_clone_and_a_worktree_with_the_same_contents_have_the_same_state() {
    let tree = Tree::committed();
    let elsewhere = Tree::plain();
    let (clone, worktree) = (elsewhere.path("clone"), elsewhere.path("worktree"));
    git(elsewhere.root(), &["clone", "-q", tree.root().to_str().unwrap(), "clone"]);
    tree.git(&["worktree", "add", "-q", "-b", "side", worktree.to_str().unwrap()]);
    tree.settle();
    assert_eq!(state(&clone), tree.state());
    assert_eq!(state(&worktree), tree.state());
    fs::write(worktree.join("a.txt"), "ONE").unwrap();
    assert_ne!(state(&worktree), tree.state());
    assert_eq!(state(&clone), tree.state());
    // As well as the mere files of it.
    fs::remove_dir_all(clone.join(".git")).unwrap();
    fs::write(clone.join(".gitignore"), "target/\n*.lo\n").unwrap();
    tree.write(".gitignore", "target/\n*.lo\n");
    assert_eq!(state(&clone), tree.state());
}

#[test]
fn a_directory_of_a_repository_has_its_own_state() {
    let tree = Tree::committed();
    let here = || state(&tree.path("src"));
    let before = here();
    tree.write("a.txt", "elsewhere");
    tree.write("src2/b.txt", "elsewhere");
    tree.write("src/new.log", "ignored by a rule above");
    assert_eq!(here(), before);
    tree.write("src/b.txt", "here");
    assert_ne!(here(), before);
    // A directory that is named counts, though a rule ignores it.
    let before = state(&tree.path("target/deep"));
    tree.write("target/deep/out.o", "another");
    assert_ne!(state(&tree.path("target/deep")), before);
}

#[test]
fn where_there_is_no_repository_rules_hold_all_the_same() {
    let tree = Tree::plain();
    tree.write(".gitignore", "*.log\n/build\n");
    tree.write("sub/.gitignore", "!kept.log\n");
    tree.write("sub/a.txt", "a");
    tree.assert_kept_by(|| tree.write("sub/b.log", "ignored"));
    tree.assert_kept_by(|| tree.write("build/b.txt", "ignored"));
    tree.assert_kept_by(|| tree.write(".git/config", "never looked into"));
    tree.assert_changed_by(|| tree.write("sub/kept.log", "kept"));
    tree.assert_changed_by(|| tree.write("sub/a.txt", "A"));
    tree.assert_changed_by(|| tree.write("sub/build/b.txt", "not at the top"));
}

#[test]
fn other_repositories_inside_count_by_their_own_rules() {
    let tree = Tree::committed();
    for (name, is_submodule) in [("module", true), ("nested", false)] {
        let inner = Tree::committed();
        let from = inner.root().to_str().unwrap();
        if is_submodule {
            let arguments = ["-c", "protocol.file.allow=always", "submodule", "-q", "add", from];
            tree.git(&[&arguments[..], &[name]].concat());
        } else {
            tree.git(&["clone", "-q", from, name]);
        }
        let at = |file: &str| format!("{name}/{file}");
        tree.assert_changed_by(|| tree.write(&at("a.txt"), "edited"));
        tree.assert_changed_by(|| tree.write(&at("src/kept.log"), "tracked there, though ignored"));
        tree.assert_changed_by(|| tree.write(&at("new.txt"), "new"));
        tree.assert_kept_by(|| tree.write(&at("new.log"), "ignored"));
        tree.assert_kept_by(|| git(&tree.path(name), &["add", "."]));
        tree.assert_kept_by(|| commit(&tree.path(name)));
        tree.assert_kept_by(|| tree.git(&["add", "."]));
    }
    tree.assert_changed_by(|| tree.write(".gitignore", "*.log\ntarget/\nmodule\n/ignored\n"));
    tree.assert_changed_by(|| tree.write("module/a.txt", "a submodule is tracked"));
    tree.git(&["clone", "-q", tree.root().to_str().unwrap(), "ignored"]);
    tree.assert_kept_by(|| tree.write("ignored/a.txt", "an ignored repository is not"));
}

#[test]
fn a_repository_that_was_made_among_tracked_files_keeps_them() {
    let tree = Tree::committed();
    tree.write("src/.gitignore", "*");
    git(&tree.path("src"), &["init", "-q"]);
    tree.assert_changed_by(|| tree.write("src/kept.log", "tracked outside"));
    tree.write("src/inner.txt", "inner");
    git(&tree.path("src"), &["add", "-f", "inner.txt"]);
    tree.assert_changed_by(|| tree.write("src/inner.txt", "tracked inside"));
    tree.assert_kept_by(|| tree.write("src/ignored.txt", "tracked nowhere"));
}

#[test]
fn limits_and_unreadable_files_are_heeded() {
    let tree = Tree::committed();
    let limited =
        |files, bytes| project_files_state(tree.root(), SourceLimits { files, bytes }).is_some();
    assert!(limited(4, 1_000));
    assert!(!limited(3, 1_000));
    assert!(!limited(4, 10), "they are too young not to be read");
    tree.settle();
    assert!(limited(0, 0), "nothing is read");
    tree.write("b.txt", "eleven bytes");
    assert!(!limited(1, 11));
    assert!(!limited(0, 12));
    assert!(limited(1, 12));
    let missing = tree.path("missing");
    assert_eq!(project_files_state(&missing, SourceLimits::default()), None);
    assert_eq!(project_files_state(&tree.path("a.txt"), SourceLimits::default()), None);
    // Where the tests run as root, everything is readable.
    tree.write("secret", "one");
    let mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(tree.path("secret"), permissions).unwrap();
    };
    mode(0o000);
    tree.assert_changed_by(|| {
        mode(0o600);
        tree.write("secret", "two");
        mode(0o000);
    });
    let pipe = tree.path("pipe");
    tree.assert_kept_by(|| {
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    });
}

#[test]
fn as_a_source_it_makes_entries_stale() {
    let scene = Scene::for_files(true);
    let dir = scene.dir.path();
    git(dir, &["init", "-q"]);
    scene.write("src/a.rs", "one");
    git(dir, &["add", "."]);
    for (source, is_all) in [("project:files", true), ("src/project:files", false)] {
        scene.fill("key", "body", Ttl::Forever, &[source]);
        assert!(scene.hits("key"));
        scene.write("src/a.rs", "two");
        assert!(matches!(scene.miss("key"), MissReason::SourceModified(path) if path == source));
        scene.write("src/a.rs", "one");
        commit(dir);
        assert!(scene.hits("key"), "taken back");
        scene.write("b.rs", "new");
        assert_eq!(scene.hits("key"), !is_all);
        fs::remove_file(scene.path("b.rs")).unwrap();
    }
    // It is the project's, wherever it is asked for.
    scene.fill("key", "body", Ttl::Forever, &["project:files"]);
    let view = PathContext { cwd: scene.path("src"), ..scene.view() };
    let found = scene.cache.peek(&LookupRequest::new(Kind::Result, &id("key"), &view));
    assert!(matches!(found, PeekOutcome::Hit(_)));
    let error = scene.try_permit(&id("key"), &["missing/project:files"]).unwrap_err();
    assert!(error.to_string().contains("project:files"), "{error}");
}
