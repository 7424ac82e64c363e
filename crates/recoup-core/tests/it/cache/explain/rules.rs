//! Which rules an agent is told now, and was not; from what is kept of them, which is
//! not their words.

use std::collections::BTreeMap;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{ComparedSide, PartChange, RuleChanges};
use recoup_core::key::command::{CommandRecipe, ResolvedExecutable};
use recoup_core::key::{RuleFingerprint, RuleSetFingerprint};

use super::{Scene, differs};

/// A command whose agent is told rules of these ids and texts; none where it is not hooked.
fn told(rules: Option<&[(&str, &str)]>) -> CommandRecipe {
    let all = |rules: &[(&str, &str)]| RuleSetFingerprint {
        digest: Sha256Digest::of(format!("{rules:?}").as_bytes()),
        rules: rules.iter().map(|(id, text)| RuleFingerprint::new(id, text)).collect(),
    };
    let (path, target) = ("/bin/claude".into(), "/bin/claude".into());
    CommandRecipe {
        programs: vec![ResolvedExecutable { path, target }],
        arguments: vec!["claude".into()],
        directory: ".".into(),
        environment: BTreeMap::new(),
        stdin: None,
        sources: Vec::new(),
        auto_sources: true,
        tty: false,
        rules: rules.map(all),
        extra: None,
    }
}

#[test]
fn rules_that_are_other_ones_are_told_apart() {
    let scene = Scene::new();
    scene.keep(&told(Some(&[("a", "use npm"), ("b", "use tabs"), ("c", "be brief")])));
    let of = |added: &[(&str, &str)], reworded: &[(&str, &str)], gone: &[(&str, &str)]| {
        let rules = |of: &[(&str, &str)]| {
            of.iter().map(|(id, text)| RuleFingerprint::new(id, text)).collect()
        };
        let (added, reworded, gone) = (rules(added), rules(reworded), rules(gone));
        let changes = RuleChanges { added, gone, reworded, more: false, only: None };
        differs("rules", PartChange::Rules(changes))
    };
    let now = [("a", "use npm"), ("b", "use spaces"), ("d", "test first")];
    assert_eq!(
        scene.differences(&told(Some(&now))),
        of(&[("d", "test first")], &[("b", "use spaces")], &[("c", "be brief")])
    );
    let order = [("c", "be brief"), ("b", "use tabs"), ("a", "use npm")];
    assert_eq!(scene.differences(&told(Some(&order))), of(&[], &[], &[]));
    // Another machine knows the same rules by other ids.
    let elsewhere = [("x", "use npm"), ("y", "use tabs"), ("z", "be brief"), ("d", "test first")];
    assert_eq!(scene.differences(&told(Some(&elsewhere))), of(&[("d", "test first")], &[], &[]));
}

#[test]
fn hooks_that_came_or_went_are_told() {
    let changes = |added: &[&str], gone: &[&str], only| {
        let rules =
            |ids: &[&str]| ids.iter().map(|id| RuleFingerprint::new(id, "use npm")).collect();
        let (added, gone, reworded) = (rules(added), rules(gone), Vec::new());
        let changes = RuleChanges { added, gone, reworded, more: false, only: Some(only) };
        differs("rules", PartChange::Rules(changes))
    };
    let scene = Scene::new();
    scene.keep(&told(None));
    let hooked = told(Some(&[("a", "use npm")]));
    assert_eq!(scene.differences(&hooked), changes(&["a"], &[], ComparedSide::Question));
    assert_eq!(scene.differences(&told(Some(&[]))), changes(&[], &[], ComparedSide::Question));
    let scene = Scene::new();
    scene.keep(&hooked);
    assert_eq!(scene.differences(&told(None)), changes(&[], &["a"], ComparedSide::Entry));
}

#[test]
fn of_more_rules_than_are_kept_none_is_guessed() {
    let scene = Scene::new();
    let texts: Vec<String> = (0..2_000).map(|n| format!("rule {n}")).collect();
    let many: Vec<(&str, &str)> = texts.iter().map(|text| (text.as_str(), text.as_str())).collect();
    scene.keep(&told(Some(&many)));
    let changes = |gone: Vec<RuleFingerprint>| {
        let (added, reworded) = (Vec::new(), Vec::new());
        let changes = RuleChanges { added, gone, reworded, more: true, only: None };
        differs("rules", PartChange::Rules(changes))
    };
    assert_eq!(scene.differences(&told(Some(&many[1..]))), changes(Vec::new()));
    let gone = (1..700).map(|n| RuleFingerprint::new(&texts[n], &texts[n])).collect();
    assert_eq!(scene.differences(&told(Some(&many[..1]))), changes(gone));
}
