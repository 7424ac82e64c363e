//! The official SDKs of Anthropic and OpenAI and the Vercel AI SDK: through the gateway, as misses
//! and as hits, the same objects come out as directly, and the same bytes reach the upstream.

use serde_json::Value;

use super::{Gateway, scripted_api};
use crate::model_server::{Received, Server};
use crate::support::{Home, finish};

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/gateway/clients/sdks.py");
const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/gateway/clients/sdks.cjs");

/// What a client makes itself, or what belongs to one connection.
const OWN: [&str; 8] = [
    "timestamp", "date", "connection", "content-length", "transfer-encoding", "content-encoding",
    "recoup-cache", "recoup-request-id",
];

/// Headers of a moment, which a recorded answer does not have.
const MOMENTARY: &str = "anthropic-ratelimit-requests-remaining";

/// Outcomes of all cases.
fn run(home: &Home, program: &str, script: &str, url: &str) -> Vec<(String, Value)> {
    let output = finish(&mut home.prepared(program, &[script, url])).expect(0);
    let text = output.text();
    let cases = text.lines().map(|line| {
        let mut case: Value = serde_json::from_str(line).unwrap();
        let mut result = case["result"].take();
        remove_own(&mut result);
        (case["case"].as_str().unwrap().to_owned(), result)
    });
    cases.collect()
}

fn remove_own(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_own),
        Value::Object(fields) => {
            fields.retain(|name, _| !OWN.contains(&name.as_str()));
            fields.values_mut().for_each(remove_own);
        }
        _ => {}
    }
}

/// A request without what belongs to its connection.
fn sent(request: &Received) -> (Vec<String>, String) {
    let is_own = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        !["host", "connection", "keep-alive"].contains(&name.as_str())
    };
    let head = request.head.lines().filter(is_own).map(str::to_owned).collect();
    (head, request.body.clone())
}

fn assert_same(there: &[(String, Value)], here: &[(String, Value)], what: &str) {
    for ((name, there), (_, here)) in there.iter().zip(here) {
        assert_eq!(there, here, "{name}, {what}");
    }
    assert_eq!(there.len(), here.len());
}

/// All cases three times: directly, as misses and as hits.
fn come_out_the_same(program: &str, script: &str, least: usize) {
    let home = Home::new();
    let upstream: Server = scripted_api::start();
    let direct = run(&home, program, script, &upstream.url());
    assert!(direct.len() >= least, "{} cases", direct.len());
    for (name, result) in &direct {
        assert!(result.get("unexpected").is_none(), "{name}: {result}");
    }
    let asked_directly = upstream.received();

    let gateway = Gateway::caching(&home, &upstream);
    let url = format!("http://{}", gateway.address);
    let misses = run(&home, program, script, &url);
    assert_same(&direct, &misses, "through the gateway");
    let asked = &upstream.received()[asked_directly.len()..];
    for (there, here) in asked_directly.iter().zip(asked) {
        assert_eq!(sent(there), sent(here));
    }
    assert_eq!(asked.len(), asked_directly.len());

    let before = upstream.received().len();
    let mut expected = direct;
    for (_, result) in &mut expected {
        forget(result, MOMENTARY);
    }
    let hits = run(&home, program, script, &url);
    assert_same(&expected, &hits, "from the cache");
    let errors = ["bad-request", "not-found", "overloaded"];
    for request in &upstream.received()[before..] {
        assert!(errors.contains(&scripted_api::case_of(request)), "{request:?}");
    }
}

/// Removes a header from what was successful.
fn forget(value: &mut Value, name: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| forget(item, name)),
        Value::Object(fields) => {
            fields.remove(name);
            fields.values_mut().for_each(|item| forget(item, name));
        }
        _ => {}
    }
}

#[test]
fn the_python_sdks_see_no_difference() {
    come_out_the_same("sdk-python", PYTHON, 45);
}

#[test]
fn the_node_sdks_see_no_difference() {
    come_out_the_same("sdk-node", NODE, 60);
}
