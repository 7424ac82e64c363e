//! Export and import: what goes out comes back the same.

use proptest::prelude::*;
use recoup_core::ErrorKind;
use recoup_core::memory::{Imported, NoteKind, Source, Statement, Wanted, export, parse};

use super::{Scene, project, stated};

fn all(scene: &Scene) -> String {
    export(&scene.memory().notes(&Wanted::default()).unwrap())
}

fn statement() -> impl Strategy<Value = Statement> {
    let text = "[a-zA-Z0-9 äß\u{4e2d}\u{6587}\"'<>{}/._-]{0,60}";
    let topic = prop::option::of("[a-z ]{1,10}");
    let paths = prop::option::of("[a-z*/.]{1,10}");
    let sources = prop::sample::select(Source::ALL.to_vec());
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
        let notes = parse(&exported).unwrap();
        let imported = other.memory().import(&notes).unwrap();
        prop_assert_eq!(imported, Imported { added: notes.len(), known: 0 });
        prop_assert_eq!(all(&other), exported.clone());
        let again = other.memory().import(&notes).unwrap();
        prop_assert_eq!(again, Imported { added: 0, known: notes.len() });
        prop_assert_eq!(all(&other), exported);
    }
}

#[test]
fn what_is_known_stays_as_it_is() {
    let (one, other) = (Scene::new(), Scene::new());
    one.say("Use tabs.", Some("indentation"));
    let ours = other.say("use tabs", Some("indentation")).note().clone();
    let imported = other.memory().import(&parse(&all(&one)).unwrap()).unwrap();
    assert_eq!(imported, Imported { added: 0, known: 1 });
    assert_eq!(other.find("use tabs"), ours);
}

#[test]
fn what_is_no_export_is_refused_with_its_line_and_nothing_is_taken_in() {
    let scene = Scene::new();
    scene.say("use tabs", None);
    let good = all(&scene);
    let newer = good.replace("\"version\":1", "\"version\":9");
    assert_eq!(parse(&newer).unwrap_err().kind(), ErrorKind::TooNew);
    for bad in ["", "{}", "[]", "use tabs", "\u{0}"] {
        assert!(parse(bad).unwrap_err().to_string().contains("line 1"), "{bad:?}");
    }
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let broken = [
        good.replace("\"kind\":\"preference\"", "\"kind\":\"rule\""),
        good.replace("\"status\":", "\"state\":"),
        good.replace("use tabs", &token),
    ];
    for bad in broken {
        let error = parse(&bad).unwrap_err().to_string();
        assert!(error.starts_with("line 2: "), "{error}");
        assert!(!error.contains(&token), "{error}");
    }
}
