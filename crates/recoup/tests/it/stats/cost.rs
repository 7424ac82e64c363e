//! What producing an entry cost: taken from what clients say, or told.

use serde_json::{Value, json};

use crate::support::Home;

/// What is known about the cost of the only entry there is, without its time.
fn cost_of(home: &Home) -> Value {
    let listed = home.cache(&["ls", "--json"]).expect(0).json();
    let mut cost = listed[0]["cost"].clone();
    cost.as_object_mut().unwrap().remove("millis");
    cost
}

/// The cost of a command that writes this to stdout.
fn cost_when_it_says(stdout: &str) -> Value {
    let home = Home::new();
    home.write("says", stdout);
    home.run(&["exec", "--", "cat", "says"]).expect(0);
    cost_of(&home)
}

/// As `claude -p --output-format json` writes it.
const CLAUDE: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":4210,"duration_api_ms":4105,"num_turns":1,"result":"ok","session_id":"x","total_cost_usd":0.0421337,"usage":{"input_tokens":12,"cache_creation_input_tokens":1000,"cache_read_input_tokens":2000,"output_tokens":300,"server_tool_use":{"web_search_requests":0},"service_tier":"standard"},"modelUsage":{},"permission_denials":[]}"#;

#[test]
fn claude_code_says_what_it_cost() {
    let expected = json!({"input_tokens": 3_012, "output_tokens": 300, "micro_dollars": 42_134});
    assert_eq!(cost_when_it_says(CLAUDE), expected);
    assert_eq!(cost_when_it_says(&format!("{CLAUDE}\n")), expected);
    let list = format!(
        r#"[{{"type":"system","subtype":"init"}},{{"type":"assistant","message":{{"usage":{{"input_tokens":9}}}}}},{CLAUDE}]"#
    );
    assert_eq!(cost_when_it_says(&list), expected, "--verbose makes a list of it");
    let stream = format!("{{\"type\":\"system\"}}\n{{\"type\":\"assistant\"}}\n{CLAUDE}\n");
    assert_eq!(cost_when_it_says(&stream), expected, "stream-json makes lines of it");
}

#[test]
fn codex_says_what_each_turn_took() {
    let lines = r#"{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"turn.completed"}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122}}
{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":0,"output_tokens":8}}
"#;
    let expected = json!({"input_tokens": 25_763, "output_tokens": 130});
    assert_eq!(cost_when_it_says(lines), expected);
}

#[test]
fn other_output_says_nothing() {
    for other in [
        "",
        "plain text",
        "{",
        "{}",
        "[]",
        "[1,2]",
        "{\"type\":\"result\"}",
        "{\"type\":\"result\",\"usage\":{\"input_tokens\":5}}",
        "{\"type\":\"result\",\"total_cost_usd\":\"1\",\"usage\":{}}",
        "{\"usage\":{\"input_tokens\":5}}",
        "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":-1}}",
    ] {
        assert_eq!(cost_when_it_says(other), json!({}), "{other}");
    }
}

fn set(home: &Home, flags: &[&str]) -> crate::support::Output {
    home.cache(&[&["set", "--key", "k", "--condensed", "1"], flags].concat())
}

#[test]
fn a_result_can_be_filed_with_its_cost() {
    let home = Home::new();
    set(
        &home,
        &["--took", "1.5s", "--input-tokens", "10", "--output-tokens", "0", "--dollars", "0.0425"],
    )
    .expect(0);
    let cost = home.cache(&["show", "--key", "k", "--json"]).expect(0).json()["cost"].clone();
    let expected =
        json!({"millis": 1_500, "input_tokens": 10, "output_tokens": 0, "micro_dollars": 42_500});
    assert_eq!(cost, expected);
}

#[test]
fn wrong_costs_are_errors() {
    let home = Home::new();
    for (flags, words) in [
        (&["--dollars", "much"][..], "invalid --dollars \"much\""),
        (&["--dollars", "-1"][..], "invalid --dollars"),
        (&["--dollars", "NaN"][..], "invalid --dollars"),
        (&["--took", "long"][..], "--took"),
        (&["--took", "forever"][..], "expected a finite duration"),
        (&["--input-tokens", "-1"][..], "--input-tokens"),
        (&["--model", "claude-sonnet-4"][..], "also give --input-tokens and --output-tokens"),
        (&["--model", "m", "--dollars", "1"][..], "cannot be used with"),
    ] {
        set(&home, flags).expect_usage(words);
    }
    home.get("k").expect_miss();
}
