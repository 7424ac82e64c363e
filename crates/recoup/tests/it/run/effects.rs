//! Everything that an answer causes, from the cache as well.

use std::fs;

use super::AgentScene;
use crate::model_server::Server;
use crate::support::Output;

#[test]
fn a_hit_writes_outputs_and_runs_hooks_as_a_fresh_answer_does() {
    let scene = AgentScene::counting();
    let agent = "---\nname: reporter\nmodel: anthropic/claude-sonnet-4-5\n---\nYou report.\n";
    scene.home.write("reporter.agent.md", agent);
    let lifecycle = "agent: reporter.agent.md\nprompt: \"Report for {{report_date}}\"\n\
        parameters: {report_date: monday}\n\
        cache: {enabled: true, ttl: 3600, key: \"daily-{{parameters.report_date}}\"}\n\
        output:\n  - {type: file, path: \"out/{{report_date}}.txt\"}\n\
        hooks:\n  pre_run: echo before >> log.txt\n  post_success: cat >> log.txt\n";
    scene.home.write("report.lifecycle.yaml", lifecycle);
    scene.home.run(&["trust", "--yes", "report.lifecycle.yaml"]).expect(0);
    let project = scene.home.project();
    for time in 1..=2 {
        assert_eq!(scene.answer(&["report.lifecycle.yaml"]), "answer 1");
        let written = fs::read_to_string(project.join("out/monday.txt")).unwrap();
        assert_eq!(written, "answer 1\n");
        fs::remove_file(project.join("out/monday.txt")).unwrap();
        let log = fs::read_to_string(project.join("log.txt")).unwrap();
        assert_eq!(log, "before\nanswer 1".repeat(time));
    }
    assert_eq!(scene.asked(), 1);
    // The user's own key decides alone.
    let other = lifecycle.replace("Report for", "Summary of");
    scene.home.write("report.lifecycle.yaml", other);
    scene.home.run(&["trust", "--yes", "report.lifecycle.yaml"]).expect(0);
    assert_eq!(scene.answer(&["report.lifecycle.yaml"]), "answer 1");
    // But it is this agent's own.
    scene.home.write("reporter.agent.md", agent.replace("reporter", "another"));
    assert_eq!(scene.answer(&["report.lifecycle.yaml"]), "answer 2");
}

#[test]
fn the_answer_goes_to_the_file_of_output_too() {
    let scene = AgentScene::counting();
    scene.agent("a.md", "cache: 1h\n", "You answer.");
    for _ in 0..2 {
        scene.answer(&["a.md", "why?", "--output", "answer.txt"]);
        let path = scene.home.project().join("answer.txt");
        assert_eq!(fs::read_to_string(&path).unwrap(), "answer 1\n");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_replay_and_a_miss_of_only_cached_answers_run_no_hooks() {
    let scene = AgentScene::counting();
    let agent = "---\nname: reporter\nmodel: anthropic/claude-sonnet-4-5\n---\nYou report.\n";
    scene.home.write("reporter.agent.md", agent);
    let hooks = "{pre_run: touch before, post_success: touch after, post_error: touch error}";
    let lifecycle = format!("agent: reporter.agent.md\nprompt: Report\nhooks: {hooks}\n");
    scene.home.write("r.lifecycle.yaml", lifecycle);
    scene.home.run(&["trust", "--yes", "r.lifecycle.yaml"]).expect(0);
    let left = || ["before", "after", "error"].map(|it| scene.home.project().join(it).exists());
    scene.run(&["r.lifecycle.yaml", "--only-if-cached"]).expect(124);
    assert_eq!(left(), [false; 3]);
    scene.answer(&["r.lifecycle.yaml", "--record", "tape.jsonl"]);
    assert_eq!(left(), [true, true, false]);
    for name in ["before", "after"] {
        fs::remove_file(scene.home.project().join(name)).unwrap();
    }
    scene.answer(&["r.lifecycle.yaml", "--replay", "tape.jsonl"]);
    assert_eq!(left(), [false; 3]);
}

#[test]
fn a_failing_hook_before_the_run_stops_it() {
    let scene = AgentScene::counting();
    let agent = "---\nname: reporter\nmodel: anthropic/claude-sonnet-4-5\n---\nYou report.\n";
    scene.home.write("reporter.agent.md", agent);
    let lifecycle = "agent: reporter.agent.md\nprompt: Report\nhooks: {pre_run: exit 3, post_error: cat > error.txt}\n";
    scene.home.write("report.lifecycle.yaml", lifecycle);
    scene.home.run(&["trust", "--yes", "report.lifecycle.yaml"]).expect(0);
    let failed = scene.run(&["report.lifecycle.yaml"]).expect(1);
    assert!(failed.stderr.contains("hook `exit 3`"), "{}", failed.stderr);
    assert_eq!(scene.asked(), 0);
}

#[test]
fn entries_of_the_file_cache_format_answer_too() {
    let scene = AgentScene::counting();
    let agent = "---\nname: reviewer\nmodel: claude-sonnet-4-5\n---\nYou review code.\n";
    scene.home.write("reviewer.agent.md", agent);
    let key = "6cbe1a0aefa451b6ba0645d4dbb968637955465d7fc93e1baa8ca13b4e50393f";
    let entry = "{\"value\": \"as another program left it\", \"expires_at\": 0}";
    scene.home.write(&format!("entries/{key}.json"), entry);
    let store = format!("file:{}", scene.home.project().join("entries").display());
    let args = ["reviewer.agent.md", "Review src/auth.rs", "--cache", "1h", "--store", &store];
    assert_eq!(scene.answer(&args), "as another program left it");
    assert_eq!(scene.asked(), 0);
}

/// Runs an agent with one output over HTTP.
fn run_with_output(scene: &AgentScene, output: &str) -> Output {
    let agent = "---\nname: reporter\nmodel: anthropic/claude-sonnet-4-5\n---\nYou report.\n";
    scene.home.write("reporter.agent.md", agent);
    let lifecycle = format!(
        "agent: reporter.agent.md\nprompt: Report\nparameters: {{day: monday}}\n\
         output: [{{type: http, {output}}}]\n"
    );
    scene.home.write("report.lifecycle.yaml", lifecycle);
    scene.home.run(&["trust", "--yes", "report.lifecycle.yaml"]).expect(0);
    scene.run(&["report.lifecycle.yaml"])
}

#[test]
fn outputs_over_http_are_checked_before_anything_is_paid() {
    let scene = AgentScene::counting();
    for (output, words) in [
        ("url: nowhere", "output: url \"nowhere\": not a valid URL"),
        (
            "url: 'http://example.org/in'",
            "output: url \"http://example.org/in\": expected https://",
        ),
        ("url: 'https://example.org/{{dya}}'", "dya"),
        ("url: 'https://example.org/', method: 'P T'", "output: method: \"P T\" is not"),
        ("url: 'https://example.org/', headers: {'a b': c}", "output: headers: header \"a b\""),
    ] {
        run_with_output(&scene, output).expect_usage(words);
    }
    assert_eq!(scene.asked(), 0);
}

#[test]
fn an_output_over_http_gets_the_answer_and_a_refusal_shows_no_credentials() {
    let scene = AgentScene::counting();
    let taking = Server::saying("200 OK", "", String::new());
    let output = format!("url: '{}/{{{{day}}}}', method: put", taking.url());
    run_with_output(&scene, &output).expect(0);
    let received = taking.question();
    assert!(received.head.starts_with("PUT /monday "), "{}", received.head);
    assert_eq!(received.body, "answer 1");
    let refusing = Server::saying(
        "401 Unauthorized",
        "WWW-Authenticate: Bearer\r\n",
        "not tok-12345678-abcdef".to_owned(),
    );
    let output = format!("url: '{}/', headers: {{X-Token: tok-12345678-abcdef}}", refusing.url());
    let refused = run_with_output(&scene, &output).expect(1);
    assert!(
        refused.stderr.contains("headers of the output in the agent file"),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("12345678"), "{}", refused.stderr);
}
