//! Answers: from the cache or from the model, checked, and kept or not.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::AgentScene;
use crate::model_server::ModelTurn;

#[test]
fn agent_miss_then_agent_hit() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    assert_eq!(scene.answer(&["a.md", "why?"]), "answer 1");
    assert_eq!(scene.answer(&["a.md", "why?"]), "answer 1");
    assert_eq!(scene.asked(), 1);
    assert_eq!(scene.answer(&["a.md", "why not?"]), "answer 2");
}

#[test]
fn agent_expiry() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1ms\n", "You answer.");
    scene.answer(&["a.md", "why?"]);
    thread::sleep(Duration::from_millis(5));
    assert_eq!(scene.answer(&["a.md", "why?"]), "answer 2");
}

#[test]
fn agent_cache_disabled() {
    let scene = AgentScene::counting();
    scene.agent("none.md", "", "You answer.");
    scene.agent("off.md", "cache: off\n", "You answer.");
    for file in ["none.md", "off.md"] {
        let first = scene.answer(&[file, "why?"]);
        assert_ne!(scene.answer(&[file, "why?"]), first, "{file}");
    }
    scene.agent("on.md", "cache: 1h\n", "You answer.");
    let kept = scene.answer(&["on.md", "why?"]);
    assert_ne!(scene.answer(&["on.md", "why?", "--no-cache"]), kept);
    assert_eq!(scene.answer(&["on.md", "why?"]), kept, "nothing was stored");
}

#[test]
fn the_nearest_ttl_counts() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: off\n", "You answer.");
    scene.answer(&["a.md", "why?", "--cache", "1h"]);
    assert_eq!(scene.answer(&["a.md", "why?", "--cache", "1h"]), "answer 1", "flag over file");
    let overridden = ["a.md", "why?", "--cache", "1h", "--override", "cache=off"];
    assert_eq!(scene.answer(&overridden), "answer 2", "override over flag");
}

#[test]
fn a_hit_needs_no_key() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    scene.answer(&["a.md", "why?"]);
    let output = scene.command(&["a.md", "why?"]).env_remove("ANTHROPIC_API_KEY").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(scene.asked(), 1);
}

#[test]
fn controls_work_as_in_exec() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    let absent = scene.run(&["a.md", "why?", "--only-if-cached"]).expect(124);
    assert!(absent.stderr.contains("not in the cache"), "{}", absent.stderr);
    assert_eq!(scene.asked(), 0);
    scene.answer(&["a.md", "why?"]);
    assert_eq!(scene.answer(&["a.md", "why?", "--only-if-cached"]), "answer 1");
    assert_eq!(scene.answer(&["a.md", "why?", "--refresh"]), "answer 2");
    assert_eq!(scene.answer(&["a.md", "why?"]), "answer 2");
    thread::sleep(Duration::from_millis(5));
    assert_eq!(scene.answer(&["a.md", "why?", "--max-age", "1ms"]), "answer 3");
    let explained = scene.run(&["a.md", "why so?", "--explain", "--only-if-cached"]).expect(124);
    assert!(
        explained.stderr.contains("prompt: now \u{201c}why so?\u{201d}"),
        "{}",
        explained.stderr
    );
}

#[test]
fn failures_and_empty_answers_are_not_stored() {
    for bad in [
        ModelTurn::refused("500 Oops", "", "no"),
        ModelTurn::refused("400 Bad Request", "", "no such option"),
        ModelTurn::text("half an answer").cut_after(4),
        ModelTurn::text("half an answer").failing("overloaded_error"),
        ModelTurn::text(""),
        ModelTurn::text("too long").stopping("max_tokens"),
        ModelTurn::text("I will not").stopping("refusal"),
    ] {
        let scene = AgentScene::scripted(vec![bad.clone(), ModelTurn::text("good")]);
        scene.agent("a.md", "cache: 1h\nmax_retries: 0\n", "You answer.");
        let failed = scene.run(&["a.md", "why?"]);
        assert!(matches!(failed.code, Some(1 | 2)), "{bad:?}: {failed:?}");
        assert!(failed.text().is_empty(), "{bad:?}: {failed:?}");
        assert_eq!(scene.answer(&["a.md", "why?"]), "good", "{bad:?}");
    }
}

#[test]
fn json_is_asked_for_again_until_it_matches_the_schema() {
    let turns = ["Sure!", "{\"score\": \"high\"}", "```json\n{\"score\": 7}\n```"];
    let scene = AgentScene::scripted(turns.map(ModelTurn::text).to_vec());
    let front = "cache: 1h\noutput:\n  format: json\n  schema:\n    type: object\n    \
                 required: [score]\n    properties: {score: {type: integer}}\n";
    scene.agent("a.md", front, "You rate.");
    assert_eq!(scene.answer(&["a.md", "this"]), "{\"score\": 7}");
    assert!(scene.last_prompt(1).contains("it is not JSON"), "{}", scene.last_prompt(1));
    assert!(scene.last_prompt(2).contains("/score"), "{}", scene.last_prompt(2));
    let hit = scene.run(&["a.md", "this", "--json"]).expect(0);
    let hit: Value = serde_json::from_str(&hit.text()).unwrap();
    assert_eq!((&hit["answer"], &hit["status"]), (&json!({ "score": 7 }), &json!("hit")));
    assert_eq!(hit["saved"]["input_tokens"], 300);
    assert_eq!(scene.asked(), 3);
}

#[test]
fn an_answer_that_never_matches_is_a_failure() {
    let scene = AgentScene::answering(|_| ModelTurn::text("never"));
    scene.agent("a.md", "cache: 1h\nmax_retries: 2\noutput: {format: json}\n", "You rate.");
    let failed = scene.run(&["a.md", "this"]).expect(1);
    assert!(failed.stderr.contains("gave no usable answer: it is not JSON"), "{}", failed.stderr);
    assert_eq!(scene.asked(), 3);
    scene.run(&["a.md", "this", "--only-if-cached"]).expect(124);
}

#[test]
fn one_of_many_who_ask_the_same_pays() {
    let scene =
        AgentScene::answering(|_| ModelTurn::text("one two three").slow(Duration::from_millis(60)));
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(scene.answer(&["a.md", "why?"]), "one two three"));
        }
    });
    assert_eq!(scene.asked(), 1);
}

#[test]
fn a_list_of_entries_shows_questions_and_no_settings() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\n", "You greet.");
    scene.answer(&["a.md", "why?"]);
    let listed = scene.home.cache(&["ls"]).expect(0).text();
    assert!(listed.contains("  why? · anthropic/claude-sonnet-4-5"), "{listed}");
    assert!(!listed.contains("temperature"), "{listed}");
}

#[test]
fn wrong_usage_asks_nothing() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\n", "You greet ${who}.");
    scene.agent("schema.md", "output: {format: json, schema: {type: nothing}}\n", "You rate.");
    scene.agent("wrong.md", "cahce: 1h\nagents: none.md\n", "You greet.");
    let server = "mcp_servers: {files: {command: no-such-program}}\n";
    scene.agent("gone.md", server, "You greet.");
    scene.home.write("plain.md", "You greet.\n");
    for (args, expected) in [
        (&["missing.md", "x"][..], "missing.md"),
        (&["a.md", "--var", "who=Ann"], "no prompt for a"),
        (&["a.md", " ", "--var", "who=Ann"], "the prompt is empty"),
        (&["a.md", "-", "--var", "who=Ann"], "the prompt is empty: stdin has no text"),
        (&["gone.md", "x"], "MCP server files: the server can't be started: no-such-program: "),
        (
            &["plain.md", "x"],
            "plain.md:1: models: missing; expected `models: provider/model` between",
        ),
        (
            &["wrong.md", "x"],
            "wrong.md:3: cahce: unknown key; did you mean cache?\nrecoup: error: ",
        ),
        (&["a.md", "x"], "the variable who has no value: give it by --var who=VALUE"),
        (&["a.md", "x", "--var", "who"], "--var: expected NAME=VALUE"),
        (&["a.md", "x", "--format", "xml"], "expected text, markdown or json"),
        (&["a.md", "x", "--cache", "5 min"], "--cache"),
        (&["a.md", "x", "--model", "gpt-5"], "--model: expected provider/model"),
        (&["schema.md", "x"], "not a JSON schema"),
        (&["a.md", "x", "--history", "none.json"], "none.json"),
    ] {
        let failed = scene.run(args);
        assert!(failed.stderr.contains(expected), "{args:?}: {}", failed.stderr);
        assert_eq!(failed.code, Some(2), "{args:?}: {}", failed.stderr);
    }
    assert_eq!(scene.asked(), 0);
}

#[test]
fn a_run_stops_at_its_limits() {
    let scene = AgentScene::answering(|_| {
        ModelTurn::text("").calling("no_such_tool", json!({ "reason": "again" }))
    });
    scene.agent("turns.md", "max_turns: 3\n", "You answer.");
    let failed = scene.run(&["turns.md", "why?"]).expect(1);
    assert!(failed.stderr.contains("no answer after 3 turns (max_turns)"), "{}", failed.stderr);
    assert_eq!(scene.asked(), 3);
    let unpriced = "max_cost: 1\nmodel: anthropic/nobody-knows-me\n";
    scene.home.write("cost.md", format!("---\n{unpriced}---\nYou answer.\n"));
    let failed = scene.run(&["cost.md", "why?"]).expect(2);
    assert!(failed.stderr.contains("the price of nobody-knows-me is not known"), "{failed:?}");
    scene.agent("tokens.md", "max_tokens: 150\n", "You answer.");
    let failed = scene.run(&["tokens.md", "why?"]).expect(1);
    assert!(failed.stderr.contains("more than max_tokens allows"), "{}", failed.stderr);
}

#[test]
fn each_turn_of_the_user_has_its_own_requests() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "max_turns: 1\n", "You answer.\n---\nfirst\n---\nsecond\n---\nthird");
    assert_eq!(scene.answer(&["a.md"]), "answer 3");
}

#[test]
fn a_cached_answer_of_another_shape_is_not_paid_for_where_only_cached_ones_are_wanted() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\nkey: shape\n", "You answer.");
    scene.answer(&["a.md", "hi"]);
    scene.run(&["a.md", "hi", "--format", "json", "--only-if-cached"]).expect(124);
    assert_eq!(scene.asked(), 1);
}

#[test]
fn a_model_cannot_control_the_terminal() {
    let scene = AgentScene::answering(|_| ModelTurn::text("red\u{1b}[31m text\u{7}"));
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    for _ in 0..2 {
        let run =
            ["exec", "--tty", "--no-cache", "--", crate::support::RECOUP, "run", "a.md", "hi"];
        let mut command = scene.home.command(&run);
        command.env("ANTHROPIC_BASE_URL", scene.server.url()).env("ANTHROPIC_API_KEY", "k");
        let shown = crate::support::finish(&mut command);
        assert!(shown.text().contains("red\u{fffd}[31m text\u{fffd}"), "{shown:?}");
    }
    let plain = scene.answer(&["a.md", "hi"]);
    assert_eq!(plain, "red\u{1b}[31m text\u{7}", "programs get every byte");
}
