//! Length: no result of an agent gets longer, and the figures of the strategies are measured.

use proptest::collection::vec;
use proptest::prelude::*;
use recoup_core::condense::{CondenseOptions, CondenseStrategy as Way, Tokenizer};
use serde_json::{Map, Value, json};

use super::kept;
use super::laws::{any_json, name};

#[test]
fn a_small_result_is_given_as_it_is() {
    let input = r#"{
        "verdict": "PASS",
        "findings": [{"message": "nothing is wrong, \u0061nd 1.10 stays as it is", "line": 1.10}]
    }"#;
    let short = r#"{"verdict":"PASS","findings":[{"message":"nothing is wrong, and 1.10 stays as it is","line":1.10}]}"#;
    assert_eq!(kept(&CondenseOptions::default(), input), short);
    let large = json!({"verdict": "PASS", "notes": "words ".repeat(40)}).to_string();
    let condensed: Value = serde_json::from_str(&kept(&CondenseOptions::default(), large)).unwrap();
    assert_eq!(condensed["top_findings"], json!([]));
}

#[test]
fn a_report_is_condensed_in_any_case() {
    let finished = r#"{"reason":"build-finished","success":true}"#;
    let condensed =
        kept(&CondenseOptions { strategy: Way::Summary, ..CondenseOptions::default() }, finished);
    assert_eq!(serde_json::from_str::<Value>(&condensed).unwrap()["verdict"], "PASS");
}

#[test]
fn the_path_of_a_full_result_needs_a_result_that_names_it() {
    let options = CondenseOptions {
        full_result_path: Some("full/1.json".into()),
        ..CondenseOptions::default()
    };
    let condensed: Value = serde_json::from_str(&kept(&options, "{}")).unwrap();
    assert_eq!(condensed["full_result_path"], "full/1.json");
    assert_eq!(condensed["verdict"], "UNKNOWN");
}

#[test]
fn a_budget_of_tokens_holds_for_the_input_itself_too() {
    let input = r#"{"files":["a:10","a:9","b","c"]}"#;
    let within = |most| {
        let options = CondenseOptions {
            strategy: Way::IdentifiersOnly,
            max_tokens: Some(most),
            ..CondenseOptions::default()
        };
        kept(&options, input)
    };
    let tokens = Tokenizer::load().count(input);
    assert_eq!(within(tokens), input);
    let cut: Value = serde_json::from_str(&within(tokens - 1)).unwrap();
    assert!(cut["truncated"].as_u64().is_some_and(|left_out| left_out > 0), "{cut}");
}

/// One report of each tool, as the tool itself wrote it.
const REPORTS: [&str; 7] = [
    "cargo-errors.jsonl", "cargo-tests.jsonl", "eslint.json", "eslint.sarif",
    "junit-junit2json.json", "pytest.json", "ripgrep.jsonl",
];

#[test]
fn the_figures_of_the_strategies_are_the_medians_of_real_reports() {
    let tokenizer = Tokenizer::load();
    let median = |strategy| {
        let tokens = |name: &&str| {
            let path = format!("{}/tests/fixtures/condense/{name}", env!("CARGO_MANIFEST_DIR"));
            let options = CondenseOptions { strategy, ..CondenseOptions::default() };
            tokenizer.count(&kept(&options, std::fs::read(path).unwrap()))
        };
        let mut all: Vec<_> = REPORTS.iter().map(tokens).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    let said = Way::ALL.map(|strategy| strategy.info().target_tokens as usize);
    assert_eq!(said, Way::ALL.map(median));
}

proptest! {
    #[test]
    fn no_result_of_an_agent_gets_longer(fields in vec((name(), any_json()), 0..8)) {
        let mut input = Map::from_iter(fields);
        // With a verdict it is no tool's report, whatever else is in it.
        input.insert("verdict".into(), json!("PASS"));
        let input = Value::from(input).to_string();
        for strategy in Way::ALL {
            let given = kept(&CondenseOptions { strategy, ..CondenseOptions::default() }, &input);
            prop_assert!(given.len() <= input.len(), "{given}\n{input}");
        }
    }
}
