//! Keys: the check vectors of the contracts, the laws behind them, and what may
//! be a key or a scope at all.

mod command;
mod tool;

use proptest::prelude::*;
use recoup_core::ErrorKind;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::agent_run::{AgentRunRecipe, agent_run_key};
use recoup_core::key::result::ResultRecipe;
use recoup_core::key::{EntryId, Key, KeyPart, KeyRecipe, Kind, PartKind, Scope};

use crate::support::scopes;

fn result_key(paths: &str, query: &str, operation: &str) -> String {
    ResultRecipe::new(paths, query, operation).key().unwrap().as_str().to_owned()
}

#[test]
fn the_result_key_of_contract_1() {
    let key = result_key("src/user.ts,src/auth.ts", "  Find   SQL Injection ", "security-audit");
    assert_eq!(key, "b86ac886f6db50ce6d9d7bc5e37f3fddbc43981622ef2732eede501f5d301b82");
    let text = "src/auth.ts,src/user.ts|find sql injection|security-audit";
    assert_eq!(key, Sha256Digest::of(text.as_bytes()).to_hex());
}

#[test]
fn the_agent_run_key_of_contract_3() {
    let key = |system| {
        agent_run_key("reviewer", system, "Review src/auth.rs", "claude-sonnet-4-5").unwrap()
    };
    let expected = "6cbe1a0aefa451b6ba0645d4dbb968637955465d7fc93e1baa8ca13b4e50393f";
    assert_eq!(key("You review code."), expected);
    assert_ne!(key("You review code. "), expected);
    assert_ne!(
        agent_run_key("ab", "", "u", "m").unwrap(),
        agent_run_key("a", "b", "u", "m").unwrap()
    );
}

#[test]
fn the_operation_is_taken_as_it_is() {
    assert_ne!(result_key("a", "q", "audit"), result_key("a", "q", "Audit"));
    assert_ne!(result_key("a", "q", "audit"), result_key("a", "q", "audit "));
}

#[test]
fn queries_are_lower_cased_and_trimmed_as_unicode_has_it() {
    assert_eq!(
        result_key("a", "ÄRGER\u{a0}\u{2003}ÜBER\n\tSQL", "o"),
        result_key("a", "ärger über sql", "o")
    );
    assert_ne!(result_key("a", "ab", "o"), result_key("a", "a b", "o"));
}

#[test]
fn a_nul_byte_is_refused_in_every_field() {
    for n in 0..4 {
        let mut fields = ["a", "b", "c", "d"];
        fields[n] = "x\0y";
        let [agent, system, user, model] = fields;
        let error = agent_run_key(agent, system, user, model).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let name = ["agent", "system", "user", "model"][n];
        assert!(error.to_string().contains(name), "{error}");
    }
}

proptest! {
    #[test]
    fn order_and_repetition_of_paths_do_not_matter(
        paths in prop::collection::vec("[a-c/.]{0,4}", 1..6), seed in any::<u64>(),
    ) {
        let mut other: Vec<String> = paths.iter().chain(&paths[..1]).cloned().collect();
        let by = usize::try_from(seed % other.len() as u64).unwrap();
        other.rotate_left(by);
        prop_assert_eq!(
            result_key(&paths.join(","), "q", "o"),
            result_key(&other.join(","), "q", "o")
        );
    }

    #[test]
    fn white_space_and_case_of_the_query_do_not_matter(
        words in prop::collection::vec("[a-zäöü]{1,5}", 1..5), gap in "[ \t\n\u{3000}]{1,3}",
    ) {
        let plain = result_key("p", &words.join(" "), "o");
        prop_assert_eq!(&plain, &result_key("p", &words.join(&gap).to_uppercase(), "o"));
        prop_assert_eq!(&plain, &result_key("p", &format!("{gap}{}{gap}", words.join(&gap)), "o"));
    }

    /// Contract 1 joins with bars, and so promises nothing for fields that have some.
    #[test]
    fn the_fields_of_a_result_key_do_not_run_into_each_other(
        one in ("[a-b]{0,3}", "[a-b]{0,3}", "[a-b]{0,3}"),
        two in ("[a-b]{0,3}", "[a-b]{0,3}", "[a-b]{0,3}"),
    ) {
        let same = result_key(&one.0, &one.1, &one.2) == result_key(&two.0, &two.1, &two.2);
        prop_assert_eq!(same, one == two);
    }

    #[test]
    fn the_fields_of_an_agent_run_key_do_not_run_into_each_other(
        one in prop::array::uniform4("[a|\u{1}]{0,2}"), two in prop::array::uniform4("[a|\u{1}]{0,2}"),
    ) {
        let key = |[a, s, u, m]: &[String; 4]| agent_run_key(a, s, u, m).unwrap();
        prop_assert_eq!(key(&one) == key(&two), one == two);
    }

    #[test]
    fn every_recipe_gives_a_valid_key(paths in ".{0,20}", query in ".{0,20}", operation in ".{0,9}") {
        let key = result_key(&paths, &query, &operation);
        prop_assert!(Key::parse(&key).is_ok(), "{}", key);
        prop_assert_eq!(key.len(), 64);
    }
}

#[test]
fn the_parts_of_a_key_are_named_in_order() {
    let names = |parts: Vec<KeyPart>| parts.into_iter().map(|part| part.name).collect::<Vec<_>>();
    let recipe = ResultRecipe::new("b,a,b", " Q ", "Op");
    let previews: Vec<_> = recipe.parts().into_iter().map(|part| part.preview.unwrap()).collect();
    assert_eq!(previews, ["a,b", "q", "Op"], "as they went into the key");
    assert_eq!(names(recipe.parts()), ["paths", "query", "operation"]);
    let field = |text: &str| text.to_owned();
    let run = AgentRunRecipe {
        agent: field("a"),
        system: field("s"),
        user: field("u"),
        model: field("m"),
    };
    assert_eq!(names(run.parts()), ["agent", "system", "user", "model"]);
    assert_eq!((ResultRecipe::KIND, AgentRunRecipe::KIND), (Kind::Result, Kind::AgentRun));
}

#[test]
fn a_preview_is_cut_between_characters() {
    for (value, expected) in [
        ("short".to_owned(), "short".to_owned()),
        ("ä".repeat(200), "ä".repeat(200)),
        ("ä".repeat(201), format!("{}…", "ä".repeat(200))),
        ("😀".repeat(1_000), format!("{}…", "😀".repeat(200))),
    ] {
        let part = KeyPart::shown("name", &value).shorten_preview(PartKind::Text);
        assert_eq!(part.preview.as_deref(), Some(&*expected));
        assert_eq!(part.digest, Sha256Digest::of(value.as_bytes()), "of all of it");
    }
    let part = KeyPart::hidden("token", "s3cret");
    assert_eq!((part.preview, part.digest), (None, Sha256Digest::of(b"s3cret")));
}

#[test]
fn what_may_be_a_key() {
    let longest = "k".repeat(128);
    for text in ["a", "...", ".a", "-", "_", "A.b-c_9", &longest] {
        assert_eq!(Key::parse(text).unwrap().as_str(), text);
    }
    let too_long = "k".repeat(129);
    for text in [
        "", ".", "..", &too_long, "a/b", "../x", "/", "a\\b", "a b", " a", "a\n", "a\0", "ä", "😀",
        "a:b", "a*", "a%2f",
    ] {
        let error = Key::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{text:?}");
        let said = error.to_string();
        assert!(said.contains("key") && said.contains("1 to 128"), "{said}");
    }
}

#[test]
fn scopes_are_printed_as_they_are_read() {
    for scope in scopes() {
        assert_eq!(Scope::parse(&scope.to_string()).unwrap(), scope);
        assert_eq!(
            EntryId::new(scope.clone(), Key::parse("k").unwrap()).to_string(),
            format!("{scope}/k")
        );
    }
    let texts = scopes().map(|scope| scope.as_str().to_owned());
    let project = format!("project:{}", "5a".repeat(16));
    assert_eq!(texts, ["global", &project, "tenant:same", "session:same"]);
}

#[test]
fn what_is_no_scope() {
    for text in [
        "", "Global", "global:", "global:x", "project", "project:", "project:x", "project:../x",
        "tenant:", "tenant:..", "tenant:a/b", "tenant:a:b", "session:", "session: a", "user:a",
        ":",
    ] {
        assert_eq!(Scope::parse(text).unwrap_err().kind(), ErrorKind::Usage, "{text:?}");
    }
}

#[test]
fn kinds_are_known_by_name() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.as_str()), Some(kind));
        assert_eq!(
            serde_json::to_value(kind).unwrap(),
            kind.as_str(),
            "stored under the same name"
        );
    }
    assert_eq!(Kind::from_name("Result"), None);
}
