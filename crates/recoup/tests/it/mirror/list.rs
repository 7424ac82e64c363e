//! The list of what was written: as earlier releases wrote it, and with several processes at once.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{RULES, SKILLS, Scene, on_testing};
use crate::support::tree;

/// Changes every place on the list.
fn edit_places(scene: &Scene, edit: impl Fn(&mut Value)) {
    let path = scene.home.recoup().join("mirrors.json");
    let mut list: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    list["places"].as_array_mut().unwrap().iter_mut().for_each(edit);
    fs::write(&path, list.to_string()).unwrap();
}

/// The fields that a list must have, and those that came later.
#[test]
fn a_list_without_later_fields_is_read() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let all = || [tree(&scene.home.path(".claude")), tree(&scene.home.project())].concat();
    on_testing(&scene);
    let before = all();
    scene.sync();
    edit_places(&scene, |place| drop(place.as_object_mut().unwrap().remove("lines")));
    assert_eq!(scene.sync()["changes"], json!([]));
    edit_places(&scene, |place| {
        drop(place.as_object_mut().unwrap().remove("lines"));
        place["others"] = json!(["/nowhere"]);
    });
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert_eq!(all(), before);
}

/// One that was interrupted has both digests on the list, and either file on disk.
#[test]
fn either_version_of_a_file_is_ours() {
    for is_old in [true, false] {
        let scene = Scene::asking(&[RULES]);
        let id = scene.add("use pnpm");
        scene.sync();
        let file = scene.memory().join(format!("recoup-{id}.md"));
        let old = fs::read(&file).unwrap();
        edit_places(&scene, |place| {
            let digests = place["files"][format!("recoup-{id}.md")].as_array_mut().unwrap();
            digests.insert(usize::from(is_old), json!("0".repeat(64)));
        });
        scene.run(&["memory", "edit", &id, "use", "bun"]).expect(0);
        assert_ne!(fs::read(&file).unwrap(), old);
        assert_eq!(scene.sync()["left"], json!([]));
    }
}

#[test]
fn several_at_once_leave_one_whole_state() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let all = || [tree(&scene.home.path(".claude")), tree(&scene.home.project())].concat();
    on_testing(&scene);
    let before = all();
    let start = |args: &[&str]| {
        let mut command = scene.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let sync: &[&str] = &["memory", "sync"];
    let remove: &[&str] = &["memory", "sync", "--remove"];
    let children: Vec<_> = [sync, remove, sync, sync, remove, sync].map(start).into();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    scene.sync();
    let report = scene.sync();
    assert_eq!((&report["changes"], &report["left"]), (&json!([]), &json!([])), "{report}");
    assert_eq!(scene.index().matches("](recoup-").count(), 3, "{}", scene.index());
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert_eq!(all(), before);
}
