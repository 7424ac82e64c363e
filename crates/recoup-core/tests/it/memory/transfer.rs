//! Export and import: what goes out comes back the same.

use proptest::prelude::*;
use recoup_core::ErrorKind;
use recoup_core::memory::{
    NoteFilter, NoteImportReport, NoteKind, NoteSource, NoteStatus, Statement, export_notes,
    parse_export,
};

use super::{Scene, project, stated};

fn all(scene: &Scene) -> String {
    export_notes(&scene.memory().notes(&NoteFilter::default()).unwrap())
}

fn statement() -> impl Strategy<Value = Statement> {
    let text = "[a-zA-Z0-9 äß\u{4e2d}\u{6587}\"'<>{}/._-]{0,60}";
    let topic = prop::option::of("[a-z ]{1,10}");
    let paths = prop::option::of("[a-z*/.]{1,10}");
    let sources = prop::sample::select(NoteSource::ALL.to_vec());
    let kinds = prop::sample::select(NoteKind::ALL.to_vec());
    (text, topic, paths, sources, kinds, any::<bool>()).prop_map(
        |(text, topic, paths, source, kind, here)| {
            let statement = stated(&format!("x{text}"), topic.as_deref());
            let scope = if here { project('a') } else { statement.scope.clone() };
            let quote = Some(text);
            Statement { paths, source, kind, scope, quote, ..statement }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_out_comes_back_the_same(
        statements in prop::collection::vec(statement(), 0..12),
    ) {
        let (one, other) = (Scene::new(), Scene::new());
        for statement in statements {
            one.pass();
            let _ = one.memory().record(&statement);
        }
        let exported = all(&one);
        let notes = parse_export(&exported).unwrap().notes;
        let imported = other.memory().import(&notes).unwrap();
        prop_assert_eq!(imported, NoteImportReport { added: notes.len(), known: 0 });
        prop_assert_eq!(all(&other), exported.clone());
        let again = other.memory().import(&notes).unwrap();
        prop_assert_eq!(again, NoteImportReport { added: 0, known: notes.len() });
        prop_assert_eq!(all(&other), exported);
    }
}

#[test]
fn what_is_known_stays_as_it_is() {
    let (one, other) = (Scene::new(), Scene::new());
    one.say("Use tabs.", Some("indentation"));
    let ours = other.say("use tabs", Some("indentation")).note().clone();
    let imported = other.memory().import(&parse_export(&all(&one)).unwrap().notes).unwrap();
    assert_eq!(imported, NoteImportReport { added: 0, known: 1 });
    assert_eq!(other.find("use tabs"), ours);
}

#[test]
fn what_is_no_export_is_refused_and_a_bad_line_is_skipped_and_named() {
    let scene = Scene::new();
    scene.say("use tabs", None);
    let good = all(&scene);
    let newer = good.replace("\"version\":1", "\"version\":9");
    assert_eq!(parse_export(&newer).unwrap_err().kind(), ErrorKind::TooNew);
    for bad in ["", "{}", "[]", "use tabs", "\u{0}"] {
        assert!(parse_export(bad).unwrap_err().to_string().contains("line 1"), "{bad:?}");
    }
    let other = Scene::new();
    other.say("use vitest", None);
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let broken = [
        good.replace("\"kind\":\"preference\"", "\"kind\":\"rule\""),
        good.replace("\"status\":", "\"state\":"),
        good.replace("use tabs", &token),
    ];
    for bad in broken {
        let good_line = all(&other).lines().nth(1).unwrap().to_owned();
        let parsed = parse_export(&format!("{bad}{good_line}\n")).unwrap();
        let [skipped] = &parsed.skipped[..] else { panic!("{parsed:?}") };
        assert_eq!((skipped.line, parsed.notes.len()), (2, 1), "the other line is taken");
        assert!(!skipped.why.is_empty() && !skipped.why.contains(&token), "{skipped:?}");
    }
}

#[test]
fn what_comes_in_is_checked_like_what_is_said() {
    let scene = Scene::new();
    scene.say("use pnpm", Some("package manager"));
    let lines = export_notes(&scene.memory().notes(&NoteFilter::default()).unwrap());
    let changed = |from: &str, to: &str| {
        let line = lines.lines().nth(1).unwrap().replace(from, to);
        let id = scene.find("use pnpm").id.to_string();
        let line = line.replace(&id, recoup_core::memory::NoteId::fresh().as_str());
        parse_export(&format!("{}\n{line}\n", lines.lines().next().unwrap())).map(|it| it.notes)
    };
    // Ours stays.
    let other = changed("use pnpm", "use yarn").unwrap();
    scene.memory().import(&other).unwrap();
    assert_eq!(scene.active(), ["use pnpm"]);
    let tool = changed("\"source\":\"user\"", "\"source\":\"tool\"").unwrap();
    assert_eq!(tool[0].status, NoteStatus::Candidate);
    let private = changed("use pnpm", "use <private>it</private> pnpm").unwrap();
    assert_eq!(private[0].text, "use pnpm");
    let often = changed("\"evidence\":1", "\"evidence\":18446744073709551615").unwrap();
    assert_eq!(often[0].evidence, 1_000_000);
    scene.memory().pause(None).unwrap();
    assert!(scene.memory().import(&other).is_err());
}
