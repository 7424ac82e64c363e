//! Indexes that are written in other ways, or say other things than usual.

use std::fs;
use std::process::Command;

use recoup_core::cache::{SourceLimits, project_files_state};

use super::{Tree, commit, set_mtime};

/// Edits of each kind are seen, and what is no change is none.
#[track_caller]
fn assert_changes_are_seen(tree: &Tree) {
    tree.assert_changed_by(|| tree.write("a.txt", "ONE"));
    tree.assert_changed_by(|| tree.write("src/kept.log", "KEPT"));
    tree.assert_changed_by(|| tree.write("src/new.txt", "new"));
    tree.assert_kept_by(|| tree.write("src/new.log", "ignored"));
    tree.assert_kept_by(|| tree.git(&["add", "."]));
    tree.assert_changed_by(|| tree.write("a.txt", "one"));
}

#[test]
fn every_version_is_read() {
    for version in ["2", "3", "4"] {
        let tree = Tree::committed();
        tree.assert_kept_by(|| tree.git(&["update-index", "--index-version", version]));
        tree.assert_kept_by(|| tree.settle());
        assert!(tree.is_known_unread(), "{version}");
        assert_changes_are_seen(&tree);
    }
}

#[test]
fn a_split_index_is_read_for_its_names() {
    let tree = Tree::committed();
    tree.settle();
    tree.assert_kept_by(|| tree.git(&["update-index", "--split-index"]));
    assert_changes_are_seen(&tree);
    tree.write("more.log", "ignored");
    tree.assert_changed_by(|| tree.git(&["add", "-f", "more.log"]));
    tree.assert_changed_by(|| tree.write("more.log", "tracked"));
    tree.assert_changed_by(|| tree.write("src/kept.log", "in the older half"));
}

#[test]
fn a_repository_of_sha256_has_its_own_ids() {
    let tree = Tree::plain();
    tree.git(&["init", "-q", "--object-format=sha256"]);
    tree.write("a.txt", "one");
    tree.write("src/kept.log", "kept");
    tree.write(".gitignore", "*.log\n");
    tree.assert_changed_by(|| tree.git(&["add", "-f", "src/kept.log"]));
    tree.assert_kept_by(|| tree.git(&["add", "."]));
    tree.assert_kept_by(|| commit(tree.root()));
    tree.assert_kept_by(|| tree.settle());
    assert!(tree.is_known_unread());
    assert_changes_are_seen(&tree);
}

#[test]
fn files_that_git_does_not_compare_are_read() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let tree = Tree::committed();
        tree.settle();
        tree.assert_kept_by(|| tree.git(&["update-index", flag, "a.txt"]));
        tree.assert_kept_by(|| tree.settle());
        assert!(!tree.is_known_unread(), "{flag}");
        tree.assert_changed_by(|| tree.write("a.txt", "ONE"));
        tree.assert_kept_by(|| tree.git(&["status"]));
        tree.assert_changed_by(|| tree.write("a.txt", "TWO"));
    }
}

#[test]
fn a_sparse_checkout_is_what_is_checked_out() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let tree = Tree::committed();
        tree.write("other/c.txt", "three");
        tree.write("other/deep/d.txt", "four");
        tree.git(&["add", "."]);
        commit(tree.root());
        let whole = tree.state();
        tree.git(&["sparse-checkout", "set", "--cone", index, "src"]);
        assert!(!tree.path("other").exists());
        assert_ne!(tree.state(), whole);
        tree.assert_kept_by(|| tree.settle());
        assert_changes_are_seen(&tree);
        // What is there in spite of it counts, ignored or not.
        tree.assert_changed_by(|| tree.write("other/deep/d.txt", "again"));
        tree.assert_changed_by(|| tree.write("other/deep/d.txt", "AGAIN"));
        fs::remove_dir_all(tree.path("other")).unwrap();
        tree.git(&["checkout", "-q", "-f", "HEAD"]);
        tree.git(&["sparse-checkout", "disable"]);
        tree.git(&["reset", "-q", "--hard"]);
        assert_eq!(tree.state(), whole);
    }
}

#[test]
fn a_conflict_is_what_is_in_the_file() {
    let tree = Tree::committed();
    tree.git(&["checkout", "-q", "-b", "side"]);
    tree.write("a.txt", "side");
    tree.git(&["commit", "-q", "-a", "-m", "side"]);
    tree.git(&["checkout", "-q", "main"]);
    tree.write("a.txt", "main");
    tree.git(&["commit", "-q", "-a", "-m", "main"]);
    tree.settle();
    let merge = Command::new("git").current_dir(tree.root()).args(["merge", "-q", "side"]).output();
    assert!(!merge.unwrap().status.success(), "a conflict");
    assert!(!tree.is_known_unread());
    let conflict = fs::read_to_string(tree.path("a.txt")).unwrap();
    tree.assert_changed_by(|| tree.write("a.txt", "solved"));
    tree.assert_kept_by(|| tree.git(&["add", "a.txt"]));
    tree.assert_changed_by(|| tree.write("a.txt", &conflict));
}

#[test]
fn an_edit_in_the_same_instant_is_seen() {
    let tree = Tree::repository();
    for turn in 0..30 {
        let name = format!("file-{turn}");
        tree.write(&name, "one");
        let before = tree.state();
        tree.git(&["add", "."]);
        tree.write(&name, "two");
        let after = tree.state();
        assert_ne!(after, before);
        // Before it is compared again, and afterwards.
        tree.git(&["status"]);
        assert_eq!(tree.state(), after);
        tree.write(&name, "one");
        assert_eq!(tree.state(), before);
    }
}

#[test]
fn a_file_that_keeps_its_time_is_seen() {
    let tree = Tree::committed();
    tree.settle();
    let before = fs::metadata(tree.path("a.txt")).unwrap().modified().unwrap();
    tree.assert_changed_by(|| {
        tree.write("a.txt", "ONE");
        set_mtime(&tree.path("a.txt"), before);
    });
}

#[test]
fn an_index_that_is_not_understood_is_no_state() {
    let tree = Tree::committed();
    let index = tree.path(".git/index");
    let written = fs::read(&index).unwrap();
    for len in [0, 4, 11, written.len() / 2, written.len() - 1] {
        fs::write(&index, &written[..len]).unwrap();
        assert_eq!(project_files_state(tree.root(), SourceLimits::default()), None, "{len}");
    }
    fs::write(&index, [b"DIRC\0\0\0\x05", &written[8..]].concat()).unwrap();
    assert_eq!(project_files_state(tree.root(), SourceLimits::default()), None);
    fs::write(&index, &written).unwrap();
    tree.state();
}

/// Git stores the same object for several contents of the same size.
#[test]
fn contents_that_git_converts_are_read() {
    for (file, line) in [
        (".gitattributes", "*.txt filter=same"),
        (".git/info/attributes", "src/*\tdiff filter=same"),
        ("src/.gitattributes", "b.txt ident filter=same"),
    ] {
        let tree = Tree::committed();
        tree.git(&["config", "filter.same.clean", "sed s/[0-9]/N/"]);
        tree.write(file, line);
        tree.write("src/b.txt", "result 1");
        tree.git(&["add", "."]);
        tree.settle();
        tree.assert_changed_by(|| {
            tree.write("src/b.txt", "result 2");
            tree.git(&["add", "."]);
            tree.settle();
        });
    }
}

#[test]
fn a_pointer_and_its_file_differ() {
    let tree = Tree::repository();
    tree.write(".gitattributes", "*.bin filter=lfs\n");
    tree.git(&["config", "filter.lfs.clean", "echo pointer"]);
    tree.git(&["config", "filter.lfs.smudge", "cat"]);
    tree.write("a.bin", "a large file");
    tree.git(&["add", "."]);
    commit(tree.root());
    tree.settle();
    assert!(tree.is_known_unread());
    tree.assert_changed_by(|| {
        fs::remove_file(tree.path("a.bin")).unwrap();
        tree.git(&["checkout", "-q", "."]);
        tree.settle();
    });
}
