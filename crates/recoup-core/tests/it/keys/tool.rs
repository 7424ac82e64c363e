//! Keys of tool calls: the form of contract 2, what counts, and what can't be a key.

use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::tool::{ServerFingerprint, ToolArguments, ToolCallRecipe};
use recoup_core::key::{KeyRecipe as _, Kind, PartKind};

fn server(text: &str) -> ServerFingerprint {
    ServerFingerprint { digest: Sha256Digest::of(text.as_bytes()), shown: text.to_owned() }
}

fn recipe(arguments: &str) -> recoup_core::Result<ToolCallRecipe> {
    Ok(ToolCallRecipe {
        protocol: "mcp",
        server: server("s"),
        schema: Some(Sha256Digest::of(b"schema")),
        tool: "search".to_owned(),
        arguments: ToolArguments::read(Some(arguments), &["reason"])?,
    })
}

fn key(arguments: &str) -> String {
    recipe(arguments).unwrap().key().unwrap().to_string()
}

#[test]
fn the_tool_key_of_contract_2() {
    let (server, schema) = (Sha256Digest::of(b"s"), Sha256Digest::of(b"schema"));
    let namespace = format!(r#"{{"schema":"{schema}","server":"{server}"}}"#);
    let namespace = Sha256Digest::of(namespace.as_bytes());
    let text = format!(
        r#"{{"kind":"tool","parameters":{{"a":1,"b":"x"}},"tool":{{"kind":"mcp","name":"search","namespace":"{namespace}"}},"v":1}}"#
    );
    assert_eq!(key(r#"{ "b": "x", "a": 1.0 }"#), Sha256Digest::of(text.as_bytes()).to_hex());
}

#[test]
fn every_input_counts_but_the_ignored() {
    let plain = key(r#"{"q":"x"}"#);
    assert_eq!(key(r#"{"reason":"because","q":"x"}"#), plain);
    assert_ne!(key(r#"{"q":"y"}"#), plain);
    assert_ne!(key(r#"{"q":"x","nested":{"reason":1}}"#), key(r#"{"q":"x","nested":{}}"#));
    let of = |who: &str, schema, tool: &str| {
        let (server, tool) = (server(who), tool.to_owned());
        let call = ToolCallRecipe { server, schema, tool, ..recipe(r#"{"q":"x"}"#).unwrap() };
        call.key().unwrap().to_string()
    };
    let schema = Some(Sha256Digest::of(b"schema"));
    assert_eq!(of("s", schema, "search"), plain);
    assert_ne!(of("t", schema, "search"), plain);
    assert_ne!(of("s", None, "search"), plain);
    assert_ne!(of("s", Some(Sha256Digest::of(b"other")), "search"), plain);
    assert_ne!(of("s", schema, "find"), plain);
}

#[test]
fn no_arguments_are_an_empty_object() {
    let none = ToolArguments::read(None, &[]).unwrap();
    assert_eq!(none, ToolArguments::read(Some(" { } "), &[]).unwrap());
    assert_eq!(none.digest(), Sha256Digest::of(b"{}"));
}

/// Numbers between 2^53 and 10^21 have a canonical form that is not its own.
#[test]
fn large_floats_are_told_apart() {
    assert_eq!(key(r#"{"n":1e20,"reason":""}"#), key(r#"{"n":1e20}"#));
    assert_ne!(key(r#"{"n":1e20}"#), key(r#"{"n":1e19}"#));
}

#[test]
fn what_canonical_json_cannot_carry_is_no_key() {
    for arguments in
        [r#"{"n":9007199254740993}"#, r#"{"a":1,"a":2}"#, "[1]", "null", "{", r#"{"s":"\ud800"}"#]
    {
        assert!(recipe(arguments).is_err(), "{arguments}");
    }
}

#[test]
fn the_parts_name_the_server_the_arguments_and_the_tool() {
    let parts = recipe(r#"{"query":"sql","limit":3,"reason":"why"}"#).unwrap().parts();
    let shown: Vec<_> =
        parts.iter().map(|part| (part.name.as_str(), part.preview.as_deref())).collect();
    assert_eq!(
        shown,
        [
            ("server", Some("s")),
            ("schema", None),
            ("argument query", Some("\"sql\"")),
            ("argument limit", Some("3")),
            ("tool", Some("search")),
        ]
    );
    assert_eq!(Kind::Tool.part_kind("schema"), PartKind::Hidden);
    assert_eq!(Kind::Tool.part_kind("argument query"), PartKind::Text);
    assert_eq!(Kind::from_name("tool"), Some(Kind::Tool));
}
