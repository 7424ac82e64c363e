//! A project that becomes a repository, or gets a remote, keeps what was said there.

#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::project::{Project, ProjectRegistry};
use recoup_core::memory::recall::search::SearchQuery;
use recoup_core::memory::{
    Memory, NoteFilter, NoteScope, NoteStatus, PauseReason, Statement, WorkCheckpoint,
};

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
    let wanted = NoteFilter { scopes: vec![scope(project)], statuses: vec![NoteStatus::Active] };
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
    assert_eq!(memory.move_from_former_ids(&repository).unwrap(), 1);
    say(&memory, &repository, "never push to main");
    make_repository(dir.path(), REMOTE);
    let published = find(dir.path());
    assert_ne!(repository.id(), published.id());
    assert_eq!(memory.move_from_former_ids(&published).unwrap(), 2);
    assert_eq!(active(&memory, &published), ["never push to main", "use tabs"]);
    assert_eq!(active(&memory, &repository), [""; 0]);
    let scopes = [scope(&published)];
    let query = SearchQuery { scopes: &scopes, ..SearchQuery::new("tabs") };
    assert_eq!(memory.search(&query).unwrap().len(), 1, "search knows where it is now");
    assert_eq!(memory.move_from_former_ids(&published).unwrap(), 0, "once");
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
    assert_eq!(memory.move_from_former_ids(&two).unwrap(), 0);
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
    assert_eq!(memory.move_from_former_ids(&after).unwrap(), 2);
    assert_eq!(active(&memory, &after), ["never push to main", "use yarn, not npm"]);
    let all = memory.notes(&NoteFilter::default()).unwrap();
    let old = all.iter().find(|note| note.text == "use npm, not yarn").unwrap();
    assert_eq!(old.status, NoteStatus::Superseded);
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
    assert_eq!(memory.pause_reason(&scope(&after)).unwrap(), None);
    memory.move_from_former_ids(&after).unwrap();
    assert_eq!(memory.pause_reason(&scope(&after)).unwrap(), Some(PauseReason::Ignored));
    assert!(memory.unignore(&scope(&after)).unwrap());
    memory.move_from_former_ids(&after).unwrap();
    assert_eq!(memory.pause_reason(&scope(&after)).unwrap(), None, "what was taken back stays so");
}

#[test]
fn where_work_stands_comes_along() {
    let scene = Scene::new();
    let (memory, dir) = (scene.memory(), tempfile::tempdir().unwrap());
    make_repository(dir.path(), "");
    let before = find(dir.path());
    let checkpoint = WorkCheckpoint { remaining: vec!["docs".into()], ..WorkCheckpoint::default() };
    memory.save_checkpoint(&scope(&before), &checkpoint).unwrap();
    make_repository(dir.path(), REMOTE);
    let after = find(dir.path());
    memory.move_from_former_ids(&after).unwrap();
    let found = memory.checkpoint(&scope(&after)).unwrap();
    assert_eq!(found.map(|(it, _)| it.remaining), Some(vec!["docs".to_owned()]));
}
