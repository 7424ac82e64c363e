//! Project identity, checked against repositories that the real `git` made.

#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod claims;
mod config;
mod remote;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use recoup_core::base::project::{Project, ProjectId, ProjectOrigin};
use recoup_core::error::ErrorKind;
use tempfile::TempDir;

/// A directory of its own, by its canonical path.
struct Scene {
    root: PathBuf,
    _dir: TempDir,
}

impl Scene {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        Self { root: fs::canonicalize(dir.path()).unwrap(), _dir: dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn dir(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.path(name)).unwrap();
        self.path(name)
    }

    /// Runs `git` here; it must succeed.
    fn git(&self, args: &[&str]) -> String {
        let output = git(&self.root, args);
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A repository with one commit, made by `git`.
    fn repository(&self, name: &str) -> PathBuf {
        self.git(&["init", "-q", name]);
        fs::write(self.path(name).join("file"), name).unwrap();
        self.git(&["-C", name, "add", "."]);
        self.git(&["-C", name, "commit", "-q", "-m", "first"]);
        self.path(name)
    }

    /// The least that is a repository, with this configuration.
    fn configured(&self, config: &[u8]) -> PathBuf {
        self.dir("made/.git/objects");
        self.dir("made/.git/refs");
        fs::write(self.path("made/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(self.path("made/.git/config"), config).unwrap();
        self.path("made")
    }
}

fn git(dir: &Path, args: &[&str]) -> Output {
    const SETTINGS: [&str; 4] = [
        "init.defaultBranch=main", "user.name=Ada", "user.email=ada@example.com",
        "protocol.file.allow=always",
    ];
    let mut command = Command::new("git");
    command.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(args).output().unwrap()
}

fn find(start: &Path) -> Project {
    Project::find(start).unwrap()
}

/// The id that a repository claims.
fn id(start: &Path) -> ProjectId {
    find(start).claimed_id()
}

/// A configuration whose only remote has this URL.
fn origin_is(url: &str) -> String {
    let quoted = url.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("[remote \"origin\"]\n\turl = \"{quoted}\"\n")
}

fn project_with(url: &str) -> Project {
    let scene = Scene::new();
    find(&scene.configured(origin_is(url).as_bytes()))
}

// --- where the root is ---

#[test]
fn a_nested_directory_belongs_to_its_repository() {
    let scene = Scene::new();
    let main = scene.repository("main");
    let nested = find(&scene.dir("main/src/deep"));
    assert_eq!(nested.root(), main);
    assert_eq!(nested.origin(), &ProjectOrigin::GitDir(main.join(".git")));
    assert_eq!(nested, find(&main));
}

#[test]
fn a_folder_without_git_is_its_own_project() {
    let scene = Scene::new();
    let folder = scene.dir("plain");
    assert_eq!(find(&folder).root(), folder);
    assert_eq!(find(&folder).origin(), &ProjectOrigin::Folder(folder.clone()));
    assert_ne!(id(&folder), id(&scene.dir("plain/inner")));
}

#[test]
fn a_marker_file_makes_a_root_where_there_is_no_git() {
    for marker in ["recoup.toml", ".loa.config.yaml"] {
        let scene = Scene::new();
        let nested = scene.dir("outer/inner/src");
        fs::write(scene.path("outer").join(marker), "").unwrap();
        assert_eq!(find(&nested).root(), scene.path("outer"));
        fs::write(scene.path("outer/inner").join(marker), "").unwrap();
        assert_eq!(find(&nested).root(), scene.path("outer/inner"));
        assert_eq!(find(&nested).origin(), &ProjectOrigin::Folder(scene.path("outer/inner")));
    }
}

#[test]
fn git_above_wins_over_a_nearer_marker_file() {
    let scene = Scene::new();
    let main = scene.repository("main");
    fs::write(scene.dir("main/part").join("recoup.toml"), "").unwrap();
    assert_eq!(find(&main.join("part")).root(), main);
}

#[test]
fn what_only_looks_like_a_repository_is_passed_over() {
    let scene = Scene::new();
    let main = scene.repository("main");
    scene.dir("main/empty/.git");
    scene.dir("main/odd/.git/HEAD");
    let files =
        [("text", "hello"), ("gone", "gitdir: ../nowhere\n"), ("bare", "gitdir: "), ("void", "")];
    for (name, content) in files {
        fs::write(scene.dir(&format!("main/{name}")).join(".git"), content).unwrap();
    }
    for name in ["empty", "odd", "text", "gone", "bare", "void"] {
        assert_eq!(find(&main.join(name)).root(), main, "{name}");
    }
}

#[test]
fn an_unreadable_git_directory_is_passed_over() {
    let scene = Scene::new();
    let main = scene.repository("main");
    let locked = scene.dir("main/locked/.git");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(find(&main.join("locked")).root(), main);
}

#[test]
fn a_symbolic_link_leads_to_the_same_project() {
    let scene = Scene::new();
    let main = scene.repository("main");
    symlink(&main, scene.path("link")).unwrap();
    assert_eq!(find(&scene.path("link")), find(&main));
}

#[test]
fn a_directory_that_is_not_utf_8_is_a_project_like_any_other() {
    let scene = Scene::new();
    let [one, other] =
        [b"caf\xe9", b"caf\xe8"].map(|name| scene.root.join(OsStr::from_bytes(name)));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&other).unwrap();
    assert_eq!(find(&one).root(), one);
    assert_ne!(id(&one), id(&other));
}

#[test]
fn a_start_that_is_relative_missing_or_a_file_is_an_error() {
    let scene = Scene::new();
    fs::write(scene.path("file"), "").unwrap();
    assert_eq!(Project::find(Path::new("src")).unwrap_err().kind(), ErrorKind::Usage);
    assert_eq!(Project::find(&scene.path("missing")).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(Project::find(&scene.path("file")).unwrap_err().kind(), ErrorKind::Io);
}

// --- what counts as the same project ---

#[test]
fn worktrees_of_one_repository_agree() {
    let scene = Scene::new();
    let main = scene.repository("main");
    scene.git(&["-C", "main", "worktree", "add", "-q", "../side"]);
    assert_eq!(id(&scene.path("side")), id(&main));
    assert_eq!(find(&scene.dir("side/deep")).root(), scene.path("side"));

    let link = fs::read_to_string(scene.path("side/.git")).unwrap();
    assert!(link.starts_with("gitdir: /"), "{link}");
    fs::write(scene.path("side/.git"), "gitdir: ../main/.git/worktrees/side\r\n").unwrap();
    assert_eq!(id(&scene.path("side")), id(&main), "a relative link");
}

#[test]
fn every_worktree_knows_the_main_one_and_what_they_share() {
    let scene = Scene::new();
    let main = scene.repository("main");
    scene.git(&["-C", "main", "worktree", "add", "-q", "../side"]);
    let side = find(&scene.path("side"));
    assert_eq!((find(&main).main_root(), side.main_root()), (main.clone(), main.clone()));
    let shared = side.git_dir().unwrap().canonicalize().unwrap();
    assert_eq!(shared, main.join(".git"));
    assert_eq!(find(&main).git_index(), main.join(".git/index"));
    assert!(side.git_index().ends_with(".git/worktrees/side/index"));
    let folder = find(&scene.dir("plain"));
    assert_eq!((folder.git_dir(), folder.main_root()), (None, scene.path("plain")));
}

#[test]
fn what_git_tracks_is_known_in_every_version_of_its_index() {
    let scene = Scene::new();
    let main = scene.repository("main");
    let names = ["a", "dir/one", "dir/other", "dir/other.x", "z"];
    for name in names {
        fs::create_dir_all(main.join(name).parent().unwrap()).unwrap();
        fs::write(main.join(name), name).unwrap();
    }
    assert!(find(&main).tracked_names().is_some_and(|it| it.iter().all(|name| *name != b"z")));
    scene.git(&["-C", "main", "add", "."]);
    scene.git(&["-C", "main", "add", "-N", "."]);
    for version in ["2", "3", "4"] {
        scene.git(&["-C", "main", "update-index", "--index-version", version]);
        let tracked = find(&main).tracked_names().unwrap();
        let all: Vec<&str> = tracked.iter().map(|it| str::from_utf8(it).unwrap()).collect();
        assert!(names.iter().all(|name| all.contains(name)), "{version}: {all:?}");
    }
    let index = main.join(".git/index");
    let whole = fs::read(&index).unwrap();
    for len in [0, 11, 40, whole.len() / 2, whole.len() - 1] {
        fs::write(&index, &whole[..len]).unwrap();
        assert_eq!(find(&main).tracked_names(), None, "{len} of {}", whole.len());
    }
    fs::write(&index, &whole).unwrap();
    scene.git(&["-C", "main", "update-index", "--split-index"]);
    assert_eq!(find(&main).tracked_names(), None, "most of it is in another file");
    assert_eq!(find(&scene.dir("plain")).tracked_names(), None);
}

#[test]
fn worktrees_of_a_bare_repository_agree_with_it() {
    let scene = Scene::new();
    scene.repository("main");
    scene.git(&["clone", "-q", "--bare", "main", "hub.git"]);
    scene.git(&["-C", "hub.git", "remote", "remove", "origin"]);
    scene.git(&["-C", "hub.git", "worktree", "add", "-q", "side"]);
    assert_eq!(
        find(&scene.path("hub.git")).origin(),
        &ProjectOrigin::GitDir(scene.path("hub.git"))
    );
    assert_eq!(id(&scene.path("hub.git/side")), id(&scene.path("hub.git")));
    assert_eq!(find(&scene.path("hub.git/side")).main_root(), scene.path("hub.git"));
}

#[test]
fn a_clone_agrees_with_the_local_repository_it_came_from() {
    let scene = Scene::new();
    let main = scene.repository("main");
    scene.git(&["clone", "-q", "main", "clone"]);
    scene.git(&["clone", "-q", "clone", "second"]);
    let by_url = format!("file://{}", main.display()).replace("main", "m%61in");
    scene.git(&["clone", "-q", &by_url, "third"]);
    for clone in ["clone", "second", "third"] {
        assert_eq!(id(&scene.path(clone)), id(&main), "{clone}");
    }
    scene.git(&["-C", "main", "remote", "add", "origin", "git@github.com:Owner/Repo.git"]);
    assert_eq!(
        find(&scene.path("second")).origin(),
        &ProjectOrigin::Remote("github.com/owner/repo".into())
    );
}

#[test]
fn clones_of_a_bare_repository_agree_however_they_name_it() {
    let scene = Scene::new();
    scene.git(&["init", "-q", "--bare", "hub.git"]);
    scene.git(&["clone", "-q", "hub.git", "one"]);
    scene.git(&["init", "-q", "two"]);
    scene.git(&["-C", "two", "remote", "add", "origin", "../hub"]);
    assert_eq!(find(&scene.path("one")).origin(), &ProjectOrigin::GitDir(scene.path("hub.git")));
    assert_eq!(id(&scene.path("one")), id(&scene.path("two")));
}

#[test]
fn a_clone_of_what_is_gone_is_its_own() {
    let scene = Scene::new();
    let main = scene.repository("main");
    scene.git(&["-C", "main", "remote", "add", "origin", "/nowhere/repo.git"]);
    assert_eq!(find(&main).origin(), &ProjectOrigin::GitDir(main.join(".git")));
}

#[test]
fn repositories_that_name_each_other_in_a_circle_agree() {
    let scene = Scene::new();
    for (name, remote) in [("a", "../b"), ("b", "../a"), ("c", "../b"), ("self", ".")] {
        scene.repository(name);
        scene.git(&["-C", name, "remote", "add", "origin", remote]);
    }
    for name in ["a", "b", "c"] {
        assert_eq!(
            find(&scene.path(name)).origin(),
            &ProjectOrigin::GitDir(scene.path("a/.git")),
            "{name}"
        );
    }
    assert_eq!(find(&scene.path("self")).origin(), &ProjectOrigin::GitDir(scene.path("self/.git")));
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let scene = Scene::new();
    let part = scene.repository("part");
    let main = scene.repository("main");
    scene.git(&["-C", "main", "submodule", "--quiet", "add", "../part", "lib"]);
    assert_eq!(find(&main.join("lib")).root(), main.join("lib"));
    assert_eq!(id(&main.join("lib")), id(&part), "a clone of the part");
    scene.git(&["-C", "main/lib", "remote", "remove", "origin"]);
    assert_eq!(
        find(&main.join("lib")).origin(),
        &ProjectOrigin::GitDir(main.join(".git/modules/lib"))
    );
    assert_ne!(id(&main.join("lib")), id(&main));
}

#[test]
fn a_separate_git_directory_is_found() {
    let scene = Scene::new();
    scene.git(&["init", "-q", "--separate-git-dir", "store", "tree"]);
    assert_eq!(find(&scene.dir("tree/src")).root(), scene.path("tree"));
    assert_eq!(find(&scene.path("tree")).origin(), &ProjectOrigin::GitDir(scene.path("store")));
}

#[test]
fn origin_names_the_project_else_the_only_remote() {
    let scene = Scene::new();
    let main = scene.repository("main");
    let add = |name: &str| {
        let url = format!("https://example.com/{name}");
        scene.git(&["-C", "main", "remote", "add", name, &url]);
        find(&main).origin().clone()
    };
    assert_eq!(add("fork"), ProjectOrigin::Remote("example.com/fork".into()));
    assert_eq!(add("other"), ProjectOrigin::GitDir(main.join(".git")));
    assert_eq!(add("origin"), ProjectOrigin::Remote("example.com/origin".into()));
}

// --- ids ---

#[test]
fn an_id_never_changes_from_one_release_to_the_next() {
    let project = project_with("git@github.com:owner/repo.git");
    assert_eq!(project.claimed_id().as_str(), "e9e7282199e8e873b716370dd15d1fc8");
}

#[test]
fn an_id_is_32_lower_case_hexadecimal_digits() {
    let good = "e9e7282199e8e873b716370dd15d1fc8";
    assert_eq!(ProjectId::parse(good).unwrap().to_string(), good);
    for bad in
        ["", &good[1..], &good.to_uppercase(), &good.replace('e', "g"), "é".repeat(16).as_str()]
    {
        assert_eq!(ProjectId::parse(bad).unwrap_err().kind(), ErrorKind::Usage, "{bad}");
    }
}
