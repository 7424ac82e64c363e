//! Files that the work writes: later look-ups miss if they were changed or removed.

use std::fs;

use recoup_core::cache::{FillOutcome, FillRefusal, MissReason, Ttl};

use super::Scene;
use crate::support::{draft, id};

/// Stores a result whose work reads `in.txt` and writes below `out`.
fn fill(scene: &Scene, outputs: &[&str], work: impl FnOnce()) -> recoup_core::Result<FillOutcome> {
    scene.write("in.txt", "in");
    let permit = scene.permit(&id("key"), &["in.txt"]);
    work();
    let outputs: Vec<String> = outputs.iter().map(|&it| it.to_owned()).collect();
    permit.with_outputs(&outputs)?.fill(draft("body"), Ttl::Forever)
}

fn write_outputs(scene: &Scene) {
    scene.write("out/a.txt", "a");
    scene.write("out/deep/b.txt", "b");
}

#[test]
fn outputs_are_recorded_as_they_are_after_the_work() {
    for outputs in [&["out/a.txt", "out/deep/b.txt"][..], &["out"], &["out/**"], &["out/dir:tree"]]
    {
        let scene = Scene::for_files(true);
        // Another state before the work is no reason against it.
        scene.write("out/a.txt", "before");
        let filled = fill(&scene, outputs, || write_outputs(&scene)).unwrap();
        assert!(matches!(filled, FillOutcome::Stored(_)), "{outputs:?}: {filled:?}");
        assert!(scene.hits("key"), "{outputs:?}");
        scene.write("out/deep/b.txt", "changed");
        assert!(matches!(scene.miss("key"), MissReason::SourceModified(_)), "{outputs:?}");
        fs::remove_file(scene.path("out/deep/b.txt")).unwrap();
        scene.miss("key");
        let is_each = outputs.len() == 2;
        let filled = fill(&scene, outputs, || write_outputs(&scene)).unwrap();
        assert!(matches!(filled, FillOutcome::Stored(_)), "{outputs:?}: {filled:?}");
        scene.write("out/new.txt", "new");
        assert_eq!(scene.hits("key"), is_each, "{outputs:?}");
        fs::remove_file(scene.path("out/new.txt")).unwrap();
        scene.write("in.txt", "changed");
        scene.miss("key");
    }
}

#[test]
fn a_result_without_sources_has_its_outputs() {
    let scene = Scene::for_files(true);
    scene.write("a.txt", "a");
    let permit = scene.permit(&id("key"), &[]).with_outputs(&["a.txt".to_owned()]).unwrap();
    let _ = permit.fill(draft("body"), Ttl::Forever).unwrap();
    assert!(scene.hits("key"));
    fs::remove_file(scene.path("a.txt")).unwrap();
    assert!(matches!(scene.miss("key"), MissReason::SourceMissing(path) if path == "a.txt"));
}

#[test]
fn an_output_that_is_missing_is_an_error() {
    let scene = Scene::for_files(true);
    let error = fill(&scene, &["out"], || {}).unwrap_err();
    assert!(error.to_string().contains("out"), "{error}");
}

#[test]
fn a_source_that_changed_is_a_refusal_though_it_is_an_output_too() {
    let scene = Scene::for_files(true);
    let filled = fill(&scene, &["in.txt"], || scene.write("in.txt", "changed")).unwrap();
    let FillOutcome::Refused(FillRefusal::SourceChanged(_)) = filled else {
        panic!("{filled:?}");
    };
}
