//! A project that becomes a repository, or gets a remote, keeps what was said there.

#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::project::{Project, ProjectRegistry};
use recoup_core::memory::search::Query;
use recoup_core::memory::{Checkpoint, Memory, NoteScope, Silence, Statement, Status, Wanted};

use super::{Scene, stated};

const REMOTE: &str = "[remote \"origin\"]\n\turl = https://example.com/own/app.git\n";

/// The least that git takes for a repository.
fn make_repository(dir: &Path, config: &str) {
    for part in ["objects", "refs"] {
        fs::create_dir_all(dir.join(".git").join(part)).unwrap();
    }
    fs::write(dir.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(dir.join(".git/config"), config).unwrap();
}

/// The project there, with the id that it claims: nobody else does.
fn find(dir: &Path) -> Project {
    let nobody = tempfile::tempdir().unwrap();
    ProjectRegistry::below(nobody.path()).find(dir, |_| false).unwrap()
}

fn scope(project: &Project) -> NoteScope {
    NoteScope::Project(project.id().clone())
}

fn say(memory: &Memory, project: &Project, text: &str) {
    memory.record(&Statement { scope: scope(project), ..stated(text, None) }).unwrap();
}

fn active(memory: &Memory, project: &Project) -> Vec<String> {
    let wanted = Wanted { scopes: vec![scope(project)], statuses: vec![Status::Active] };
    let mut texts: Vec<String> =
        memory.notes(&wanted).unwrap().into_iter().map(|note| note.text).collect();
    texts.sort();
    texts
}

#[test]
fn what_was_said_in_a_folder_holds_in_its_repository_and_with_its_remote() {
    let scene = Scene::new();
    let (memory, dir) = (scene.memory(), tempfile::tempdir().unwrap());
    let folder = find(dir.path());
    say(&memory, &folder, "use tabs");
    make_repository(dir.path(), "");
    let repository = find(dir.path());
    assert_ne!(folder.id(), repository.id());
    assert_eq!(memory.bring_along(&repository).unwrap(), 1);
    say(&memory, &repository, "never push to main");
    make_repository(dir.path(), REMOTE);
    let published = find(dir.path());
    assert_ne!(repository.id(), published.id());
    assert_eq!(memory.bring_along(&published).unwrap(), 2);
    assert_eq!(active(&memory, &published), ["never push to main", "use tabs"]);
    assert_eq!(active(&memory, &repository), [""; 0]);
    let scopes = [scope(&published)];
    let query = Query { scopes: &scopes, ..Query::new("tabs") };
    assert_eq!(memory.search(&query).unwrap().len(), 1, "search knows where it is now");
    assert_eq!(memory.bring_along(&published).unwrap(), 0, "once");
}

#[test]
fn nothing_comes_from_anywhere_else() {
    let scene = Scene::new();
    let (memory, dir) = (scene.memory(), tempfile::tempdir().unwrap());
    for name in ["one", "two"] {
        make_repository(&dir.path().join(name), "");
    }
    let one = find(&dir.path().join("one"));
    let above = find(dir.path());
    say(&memory, &one, "use tabs");
    say(&memory, &above, "use spaces");
    make_repository(&dir.path().join("two"), REMOTE);
    let two = find(&dir.path().join("two"));
    assert_eq!(memory.bring_along(&two).unwrap(), 0);
    assert_eq!(active(&memory, &two), [""; 0]);
    assert_eq!(active(&memory, &one), ["use tabs"]);
}

#[test]
fn of_what_two_clones_were_told_the_newest_counts_and_the_same_counts_once() {
    let scene = Scene::new();
    let (memory, dir) = (scene.memory(), tempfile::tempdir().unwrap());
    make_repository(dir.path(), "");
    let before = find(dir.path());
    say(&memory, &before, "use npm, not yarn");
    say(&memory, &before, "never push to main");
    scene.clock.advance(Duration::from_mins(1));
    make_repository(dir.path(), REMOTE);
    let after = find(dir.path());
    say(&memory, &after, "use yarn, not npm");
    say(&memory, &after, "never push to main");
    assert_eq!(memory.bring_along(&after).unwrap(), 2);
    assert_eq!(active(&memory, &after), ["never push to main", "use yarn, not npm"]);
    let all = memory.notes(&Wanted::default()).unwrap();
    let old = all.iter().find(|note| note.text == "use npm, not yarn").unwrap();
    assert_eq!(old.status, Status::Superseded);
    assert!(old.superseded_by.is_some());
    assert_eq!(all.iter().filter(|note| note.text == "never push to main").count(), 1);
}

#[test]
fn an_ignored_project_stays_ignored() {
    let scene = Scene::new();
    let (memory, dir) = (scene.memory(), tempfile::tempdir().unwrap());
    make_repository(dir.path(), "");
    memory.ignore(&scope(&find(dir.path()))).unwrap();
    make_repository(dir.path(), REMOTE);
    let after = find(dir.path());
    assert_eq!(memory.silence(&scope(&after)).unwrap(), None);
    memory.bring_along(&after).unwrap();
    assert_eq!(memory.silence(&scope(&after)).unwrap(), Some(Silence::Ignored));
    assert!(memory.heed(&scope(&after)).unwrap());
    memory.bring_along(&after).unwrap();
    assert_eq!(memory.silence(&scope(&after)).unwrap(), None, "what was taken back stays so");
}

#[test]
fn where_work_stands_comes_along() {
    let scene = Scene::new();
    let (memory, dir) = (scene.memory(), tempfile::tempdir().unwrap());
    make_repository(dir.path(), "");
    let before = find(dir.path());
    let checkpoint = Checkpoint { remaining: vec!["docs".into()], ..Checkpoint::default() };
    memory.save_checkpoint(&scope(&before), &checkpoint).unwrap();
    make_repository(dir.path(), REMOTE);
    let after = find(dir.path());
    memory.bring_along(&after).unwrap();
    let found = memory.checkpoint(&scope(&after)).unwrap();
    assert_eq!(found.map(|(it, _)| it.remaining), Some(vec!["docs".to_owned()]));
}
