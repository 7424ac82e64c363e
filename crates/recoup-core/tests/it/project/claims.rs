//! Membership in a project that has other checkouts: clones, worktrees and moved checkouts
//! belong to it; one that was unpacked or only points there does not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use recoup_core::base::project::{Project, ProjectRegistry, ProjectStanding};

use super::{Scene, id};

const URL: &str = "https://example.com/own/app.git";
const APART: ProjectStanding = ProjectStanding::Apart { is_told: false };

impl Scene {
    fn registry(&self) -> ProjectRegistry {
        ProjectRegistry::below(&self.path("home"))
    }

    /// The project there, as it stands to what is noted.
    fn settled(&self, name: &str) -> Project {
        self.registry().find(&self.path(name), |_| false).unwrap()
    }

    #[track_caller]
    fn is_apart(&self, name: &str) {
        let found = self.settled(name);
        assert_eq!(found.standing(), APART, "{name}");
        assert_ne!(*found.id(), found.claimed_id(), "{name}");
        assert!(!found.former_ids().contains(&found.claimed_id()), "{name}");
    }

    #[track_caller]
    fn belongs(&self, name: &str) {
        let found = self.settled(name);
        assert_eq!(*found.id(), found.claimed_id(), "{name}: {found:?}");
    }

    /// A repository with that remote, whose project is noted.
    fn noted(&self, name: &str) {
        self.repository(name);
        self.git(&["-C", name, "remote", "add", "origin", URL]);
        self.registry().record(&self.settled(name)).unwrap();
    }

    /// A repository whose commit is no other's.
    fn unrelated(&self, name: &str) {
        self.git(&["init", "-q", name]);
        fs::write(self.path(name).join("other"), name).unwrap();
        self.git(&["-C", name, "add", "."]);
        self.git(&["-C", name, "commit", "-q", "-m", name]);
    }

    /// A clone that names the same remote.
    fn clone_of(&self, name: &str, clone: &str) {
        self.git(&["clone", "-q", name, clone]);
        self.git(&["-C", clone, "remote", "set-url", "origin", URL]);
    }

    /// A copy with all times as they were, as an archive has it.
    fn unpack(&self, name: &str, copy: &str) {
        let copied = Command::new("cp").args(["-a", name, copy]).current_dir(&self.root).status();
        assert!(copied.unwrap().success());
    }
}

#[test]
fn a_clone_that_git_made_belongs_to_its_project() {
    let scene = Scene::new();
    scene.noted("main");
    scene.clone_of("main", "clone");
    assert_eq!(scene.settled("clone").standing(), ProjectStanding::Proven);
    scene.belongs("clone");
    scene.registry().record(&scene.settled("clone")).unwrap();
    assert_eq!(scene.settled("clone").standing(), ProjectStanding::Member);
    assert_eq!(scene.settled("main").standing(), ProjectStanding::Member);
}

#[test]
fn packed_commits_are_found_in_both_object_formats() {
    for format in ["sha1", "sha256"] {
        let scene = Scene::new();
        scene.git(&["init", "-q", "--object-format", format, "main"]);
        fs::write(scene.path("main/file"), "").unwrap();
        scene.git(&["-C", "main", "add", "."]);
        for n in 0..40 {
            let message = format!("commit {n}");
            scene.git(&["-C", "main", "commit", "-q", "--allow-empty", "-m", &message]);
        }
        scene.git(&["-C", "main", "remote", "add", "origin", URL]);
        scene.registry().record(&scene.settled("main")).unwrap();
        scene.git(&["-C", "main", "gc", "-q"]);
        scene.clone_of("main", "clone");
        let loose = fs::read_dir(scene.path("clone/.git/objects")).unwrap();
        let loose: Vec<_> = loose.map(|entry| entry.unwrap().file_name()).collect();
        assert!(loose.iter().all(|name| name.len() > 2), "{loose:?}");
        scene.belongs("clone");
        scene.git(&["-C", "clone", "gc", "-q"]);
        scene.belongs("clone");
    }
}

#[test]
fn what_was_unpacked_stays_apart_until_it_is_confirmed() {
    let scene = Scene::new();
    scene.noted("main");
    scene.unpack("main", "copy");
    scene.is_apart("copy");
    let advice = scene.registry().apart_advice(&scene.settled("copy")).unwrap();
    let main = scene.path("main").display().to_string();
    assert!(advice.contains("example.com/own/app") && advice.contains(&main), "{advice}");
    scene.registry().mark_told(&scene.settled("copy")).unwrap();
    let told = ProjectStanding::Apart { is_told: true };
    assert_eq!(scene.settled("copy").standing(), told);
    let confirmed = scene.registry().confirm(scene.settled("copy")).unwrap();
    assert_eq!(*confirmed.id(), id(&scene.path("main")));
    assert_eq!(scene.settled("copy").standing(), ProjectStanding::Member);
    assert!(scene.registry().withdraw_confirmation(&scene.settled("copy")).unwrap());
    assert_eq!(scene.settled("copy").standing(), told);
}

#[test]
fn every_format_of_the_index_tells_what_git_wrote_here() {
    for version in ["2", "3", "4"] {
        let scene = Scene::new();
        scene.noted("main");
        scene.clone_of("main", "clone");
        // An entry to be added makes it version 3.
        fs::write(scene.path("clone/new"), "").unwrap();
        scene.git(&["-C", "clone", "add", "--intent-to-add", "new"]);
        scene.git(&["-C", "clone", "update-index", "--index-version", version]);
        assert_eq!(scene.settled("clone").standing(), ProjectStanding::Proven, "{version}");
        scene.unpack("clone", "copy");
        scene.is_apart("copy");
    }
}

#[test]
fn a_clone_of_something_else_stays_apart() {
    let scene = Scene::new();
    scene.noted("main");
    scene.unrelated("other");
    scene.clone_of("other", "clone");
    scene.is_apart("clone");
}

#[test]
fn a_worktree_belongs_and_what_only_points_into_a_repository_does_not() {
    let scene = Scene::new();
    scene.noted("main");
    scene.git(&["-C", "main", "worktree", "add", "-q", "../side"]);
    scene.belongs("side");
    let git_file = |name: &str, target: &str| {
        fs::write(scene.dir(name).join(".git"), format!("gitdir: {target}\n")).unwrap();
    };
    git_file("by-worktree", "../main/.git/worktrees/side");
    git_file("by-directory", "../main/.git");
    scene.dir("by-link");
    symlink("../main/.git", scene.path("by-link/.git")).unwrap();
    scene.dir("by-commondir/.git");
    fs::write(scene.path("by-commondir/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(scene.path("by-commondir/.git/commondir"), "../../main/.git\n").unwrap();
    for name in ["by-worktree", "by-directory", "by-link", "by-commondir"] {
        scene.is_apart(name);
        let found = scene.settled(name);
        assert_eq!((found.main_root(), found.git_dir()), (scene.path(name), None));
    }
    // The same without a remote: the repository's own id is claimed.
    scene.git(&["-C", "main", "remote", "remove", "origin"]);
    for name in ["by-worktree", "by-directory", "by-link", "by-commondir"] {
        scene.is_apart(name);
    }
    scene.belongs("side");
}

#[test]
fn a_submodule_knows_its_worktree() {
    let scene = Scene::new();
    scene.noted("part");
    scene.repository("main");
    scene.git(&["-C", "main", "submodule", "--quiet", "add", "../part", "lib"]);
    scene.git(&["-C", "main/lib", "remote", "set-url", "origin", URL]);
    scene.belongs("main/lib");
}

#[test]
fn a_local_path_as_the_remote_is_a_claim_too() {
    let scene = Scene::new();
    scene.repository("main");
    scene.git(&["clone", "-q", "main", "clone"]);
    scene.belongs("clone");
    scene.unpack("clone", "copy");
    scene.is_apart("copy");
    scene.unrelated("other");
    scene.git(&["-C", "other", "remote", "add", "origin", "../main"]);
    scene.is_apart("other");
}

#[test]
fn a_repository_that_was_moved_still_belongs() {
    let scene = Scene::new();
    scene.repository("first");
    scene.git(&["-C", "first", "remote", "add", "origin", URL]);
    scene.unpack("first", "main");
    scene.registry().record(&scene.settled("main")).unwrap();
    fs::rename(scene.path("main"), scene.path("elsewhere")).unwrap();
    scene.belongs("elsewhere");
    scene.is_apart("first");
    scene.registry().record(&scene.settled("elsewhere")).unwrap();
    assert_eq!(scene.settled("elsewhere").standing(), ProjectStanding::Member);
    scene.is_apart("first");
}

#[test]
fn a_true_clone_does_not_join_what_may_be_a_forgery() {
    let scene = Scene::new();
    scene.repository("main");
    scene.git(&["-C", "main", "remote", "add", "origin", URL]);
    scene.unpack("main", "copy");
    assert_eq!(scene.settled("copy").standing(), ProjectStanding::First);
    scene.registry().record(&scene.settled("copy")).unwrap();
    scene.is_apart("main");
    scene.registry().confirm(scene.settled("main")).unwrap();
    scene.clone_of("main", "clone");
    scene.belongs("clone");
}

#[test]
fn what_is_remembered_for_a_project_that_nobody_noted_goes_to_no_archive() {
    let scene = Scene::new();
    scene.repository("main");
    scene.git(&["-C", "main", "remote", "add", "origin", URL]);
    scene.unpack("main", "copy");
    let settle = |name: &str| scene.registry().find(&scene.path(name), |_| true).unwrap();
    assert_eq!(settle("copy").standing(), APART);
    scene.registry().mark_told(&settle("copy")).unwrap();
    assert_eq!(settle("copy").standing(), ProjectStanding::Apart { is_told: true });
    assert_eq!(settle("main").standing(), ProjectStanding::First);
}

#[test]
fn a_note_of_an_earlier_version_has_one_root_that_belongs() {
    let scene = Scene::new();
    scene.repository("main");
    scene.git(&["-C", "main", "remote", "add", "origin", URL]);
    let note = scene.dir("home/projects").join(id(&scene.path("main")).as_str());
    fs::write(&note, scene.path("main").to_str().unwrap()).unwrap();
    assert_eq!(scene.settled("main").standing(), ProjectStanding::Member);
    scene.unpack("main", "copy");
    scene.is_apart("copy");
    scene.clone_of("main", "clone");
    scene.belongs("clone");
    scene.registry().record(&scene.settled("clone")).unwrap();
    assert!(fs::read_to_string(&note).unwrap().starts_with('{'));
    assert_eq!(scene.settled("main").standing(), ProjectStanding::Member);
    assert_eq!(scene.registry().read(&id(&scene.path("main"))).unwrap().root, main_root(&scene));
}

fn main_root(scene: &Scene) -> String {
    Path::new(&scene.path("main")).to_string_lossy().into_owned()
}

#[test]
fn what_is_unpacked_where_a_member_was_is_none() {
    let scene = Scene::new();
    scene.noted("main");
    scene.clone_of("main", "clone");
    scene.registry().record(&scene.settled("clone")).unwrap();
    fs::remove_dir_all(scene.path("clone")).unwrap();
    scene.unrelated("elsewhere");
    scene.git(&["-C", "elsewhere", "remote", "add", "origin", URL]);
    scene.unpack("elsewhere", "clone");
    scene.is_apart("clone");
    // A true clone in the same place is proven again.
    fs::remove_dir_all(scene.path("clone")).unwrap();
    scene.clone_of("main", "clone");
    scene.belongs("clone");
}

#[test]
fn a_clone_without_a_log_is_known_by_its_head() {
    for packed in [false, true] {
        let scene = Scene::new();
        scene.repository("main");
        scene.git(&["-C", "main", "remote", "add", "origin", URL]);
        if packed {
            scene.git(&["-C", "main", "pack-refs", "--all"]);
        }
        fs::remove_dir_all(scene.path("main/.git/logs")).unwrap();
        scene.registry().record(&scene.settled("main")).unwrap();
        scene.clone_of("main", "clone");
        scene.belongs("clone");
    }
}
