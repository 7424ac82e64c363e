//! Where work stands.

use recoup_core::memory::Checkpoint;

use super::{Scene, project};

fn remaining(what: &str) -> Checkpoint {
    Checkpoint { remaining: vec![what.to_owned()], ..Checkpoint::default() }
}

#[test]
fn a_project_has_one_checkpoint_and_the_next_replaces_it() {
    let scene = Scene::new();
    let memory = scene.memory();
    assert_eq!(memory.checkpoint(&project('a')).unwrap(), None);
    for what in ["write the tests", "write the docs"] {
        assert!(memory.save_checkpoint(&project('a'), &remaining(what)).unwrap());
    }
    let (found, _) = memory.checkpoint(&project('a')).unwrap().unwrap();
    assert_eq!(found, remaining("write the docs"));
    assert_eq!(memory.checkpoint(&project('b')).unwrap(), None);
    assert!(memory.drop_checkpoint(&project('a')).unwrap());
    assert!(!memory.drop_checkpoint(&project('a')).unwrap());
}

#[test]
fn what_is_private_or_secret_is_not_kept_and_nothing_while_paused() {
    let scene = Scene::new();
    let memory = scene.memory();
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = format!("push with {token} <private>before the merger</private> today");
    memory.save_checkpoint(&project('a'), &remaining(&text)).unwrap();
    let (found, _) = memory.checkpoint(&project('a')).unwrap().unwrap();
    assert!(!found.remaining[0].contains(&token) && !found.remaining[0].contains("merger"));
    assert!(found.remaining[0].starts_with("push with"), "{found:?}");
    assert!(memory.save_checkpoint(&project('a'), &Checkpoint::default()).is_err());
    memory.pause(None).unwrap();
    assert!(!memory.save_checkpoint(&project('a'), &remaining("x")).unwrap());
}
