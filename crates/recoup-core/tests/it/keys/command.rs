//! The key of a command: everything that is said about it counts, nothing runs
//! into anything else, and what is kept of it gives no value away.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::command::{CommandRecipe, ResolvedExecutable};
use recoup_core::key::{
    KeyRecipe as _, Kind, PartKind, RuleFingerprint, RuleSetFingerprint, parse_rules,
};

fn recipe() -> CommandRecipe {
    CommandRecipe {
        programs: vec![ResolvedExecutable {
            path: "/usr/bin/claude".into(),
            target: "/opt/claude/bin/claude".into(),
        }],
        arguments: ["claude", "-p", "review src"].map(OsString::from).to_vec(),
        directory: "src".into(),
        environment: [("MODEL".to_owned(), Some("opus".into())), ("LANG".to_owned(), None)].into(),
        stdin: None,
        sources: vec!["src/**/*.rs".to_owned()],
        auto_sources: true,
        tty: false,
        rules: None,
        extra: None,
    }
}

fn key(recipe: &CommandRecipe) -> String {
    recipe.key().unwrap().to_string()
}

#[test]
fn the_key_is_the_digest_of_canonical_json() {
    let text = concat!(
        r#"{"args":["claude","-p","review src"],"auto_sources":true,"cwd":"src","#,
        r#""env":{"LANG":null,"MODEL":"opus"},"extra":null,"kind":"command","#,
        r#""programs":[{"path":"/usr/bin/claude","target":"/opt/claude/bin/claude"}],"#,
        r#""sources":["src/**/*.rs"],"stdin":null,"tty":false,"v":2}"#
    );
    assert_eq!(key(&recipe()), Sha256Digest::of(text.as_bytes()).to_hex());
    assert_eq!(CommandRecipe::KIND, Kind::Command);
}

/// Rules of these texts.
fn rules(texts: &[&str]) -> RuleSetFingerprint {
    let rule = |(at, text): (usize, &&str)| RuleFingerprint::new(&format!("note-{at}"), text);
    let digest = Sha256Digest::of(texts.join("\n").as_bytes());
    RuleSetFingerprint { digest, rules: texts.iter().enumerate().map(rule).collect() }
}

#[test]
fn every_field_counts() {
    let changes: [fn(&mut CommandRecipe); 16] = [
        |it| it.programs[0].path = "/bin/claude".into(),
        |it| it.programs[0].target = "/opt/claude-2/bin/claude".into(),
        |it| it.programs.push(it.programs[0].clone()),
        |it| it.auto_sources = false,
        |it| it.arguments.push("".into()),
        |it| it.arguments = vec!["claude".into(), "-p review src".into()],
        |it| it.directory = ".".into(),
        |it| drop(it.environment.insert("MODEL".into(), Some("haiku".into()))),
        |it| drop(it.environment.insert("LANG".into(), Some("".into()))),
        |it| drop(it.environment.remove("LANG")),
        |it| it.stdin = Some(Sha256Digest::of(b"")),
        |it| it.sources.push("Cargo.toml".into()),
        |it| it.tty = true,
        |it| it.rules = Some(rules(&[])),
        |it| it.rules = Some(rules(&["use npm"])),
        |it| it.extra = Some(String::new()),
    ];
    let mut keys = vec![key(&recipe())];
    for change in changes {
        let mut other = recipe();
        change(&mut other);
        keys.push(key(&other));
    }
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn neither_order_nor_number_of_sources_counts() {
    let mut other = recipe();
    other.sources = ["b", "a", "b"].map(String::from).to_vec();
    let mut same = recipe();
    same.sources = ["a", "b"].map(String::from).to_vec();
    assert_eq!((key(&other), other.parts()), (key(&same), same.parts()));
}

#[test]
fn bytes_that_are_no_text_are_told_from_their_hex() {
    let mut odd = recipe();
    odd.arguments = vec![OsStr::from_bytes(b"a\xff").to_owned()];
    odd.directory = Path::new(OsStr::from_bytes(b"\xfe")).to_owned();
    let mut hex = odd.clone();
    hex.arguments = vec![r#"{"hex":"61ff"}"#.into()];
    assert_ne!(key(&odd), key(&hex));
    let previews: Vec<_> = odd.parts().into_iter().filter_map(|part| part.preview).collect();
    assert!(previews.contains(&r"$'a\xff'".to_owned()), "{previews:?}");
}

#[test]
fn parts_have_names_and_never_a_variables_value() {
    let mut full = recipe();
    full.stdin = Some(Sha256Digest::of(b"x"));
    full.tty = true;
    full.extra = Some("v2".into());
    let parts = full.parts();
    let names: Vec<_> = parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "executable", "directory", "env LANG", "env MODEL", "stdin", "sources", "terminal",
            "extra", "arguments"
        ]
    );
    let arguments = parts.last().unwrap();
    assert_eq!(arguments.preview.as_deref(), Some("claude -p 'review src'"));
    let model = &parts[3];
    assert_eq!((&model.preview, model.digest), (&None, Sha256Digest::of(b"set")));
    assert_eq!(parts[2].digest, Sha256Digest::of(b"not set"));
}

#[test]
fn of_rules_neither_words_nor_the_end_of_a_long_list_are_kept() {
    let mut told = recipe();
    told.rules = Some(rules(&["don't use var", "use npm"]));
    let part = told.parts().into_iter().find(|part| part.name == "rules").unwrap();
    assert_eq!(CommandRecipe::part_kind("rules"), PartKind::Rules);
    assert_eq!(part.digest, Sha256Digest::of(b"don't use var\nuse npm"));
    assert_eq!(part.identifying_preview(), None);
    let kept = part.shorten_preview(PartKind::Rules).preview.unwrap();
    assert!(!kept.contains("use"), "{kept}");
    let (rules_again, all) = parse_rules(&kept);
    assert_eq!((Some(rules_again), all), (told.rules.map(|it| it.rules), true));

    let many: Vec<String> = (0..5_000).map(|n| format!("rule {n}")).collect();
    told.rules = Some(rules(&many.iter().map(String::as_str).collect::<Vec<_>>()));
    let part = told.parts().into_iter().find(|part| part.name == "rules").unwrap();
    let (some, all) = {
        let kept = part.shorten_preview(PartKind::Rules).preview.unwrap();
        assert!(kept.len() < 20_000);
        let (some, all) = parse_rules(&kept);
        (some.len(), all)
    };
    assert_eq!((some, all), (700, false));
}

#[test]
fn the_ids_of_rules_are_nobody_elses() {
    let (mut one, mut other) = (recipe(), recipe());
    one.rules = Some(rules(&["use npm"]));
    other.rules = one.rules.clone();
    other.rules.as_mut().unwrap().rules[0].id = "another".into();
    assert_eq!(key(&one), key(&other));
}

fn word() -> impl Strategy<Value = OsString> {
    vec(prop::sample::select(vec![b'a', b' ', b'\'', b'\\', b'$', 0xff]), 0..3)
        .prop_map(OsString::from_vec)
}

proptest! {
    #[test]
    fn different_commands_have_different_keys_and_parts(
        one in (vec(word(), 0..3), word(), btree_map("[AB]", prop::option::of(word()), 0..2)),
        two in (vec(word(), 0..3), word(), btree_map("[AB]", prop::option::of(word()), 0..2)),
    ) {
        type Given = (Vec<OsString>, OsString, BTreeMap<String, Option<OsString>>);
        let made = |(arguments, directory, environment): &Given| CommandRecipe {
            arguments: arguments.clone(),
            directory: directory.into(),
            environment: environment.clone(),
            ..recipe()
        };
        let (a, b) = (made(&one), made(&two));
        prop_assert_eq!(key(&a) == key(&b), one == two);
        if one.2 == two.2 {
            prop_assert_eq!(a.parts() == b.parts(), one == two);
        }
    }
}
