//! What may be spent in a day is not exceeded, however many ask at once.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::server::{Server, anthropic, respond};
use super::{asking, status};
use crate::support::{Home, Output};

#[test]
fn twenty_processes_together_keep_to_it() {
    const LIMIT: u64 = 9_000;
    const COST: u64 = 1_000;
    let home = Home::new();
    let spent = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&spent);
    let server = Server::start(move |_, stream| {
        *counted.lock().unwrap() += COST;
        thread::sleep(Duration::from_millis(200));
        let answer = anthropic(&json!({"verdicts": [{"id": 1, "label": "none"}]}), COST - 50, 50);
        respond(stream, "200 OK", "", answer.as_bytes());
    });
    let children: Vec<_> = (0..20)
        .map(|_| {
            let mut command = asking(&home, &server, "anthropic", "use tabs");
            command.env("RECOUP_JUDGE_DAILY_TOKENS", LIMIT.to_string());
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let ended: Vec<Output> =
        children.into_iter().map(|child| Output::new(child.wait_with_output().unwrap())).collect();
    let answered = ended.iter().filter(|output| output.code == Some(0)).count() as u64;
    for output in ended.iter().filter(|output| output.code != Some(0)) {
        assert!(output.stderr.contains("not asked before tomorrow"), "{}", output.stderr);
    }
    let spent = *spent.lock().unwrap();
    assert!((1..20).contains(&answered), "{answered} of 20");
    assert_eq!(spent, answered * COST, "who was not answered has not asked");
    assert!(spent <= LIMIT, "{spent}");
    assert_eq!(status(&home, &server)["tokens"], spent);
    assert_eq!(server.connections() as u64, answered);
}

#[test]
fn when_it_is_spent_nobody_connects() {
    let home = Home::new();
    let server = Server::anthropic(&json!([{"id": 1, "label": "none"}]));
    let mut command = asking(&home, &server, "anthropic", "use tabs");
    command.env("RECOUP_JUDGE_DAILY_TOKENS", "500");
    let output = crate::support::finish(&mut command);
    output.expect_failure("0 of 500 tokens are used, and this request could take");
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_cost_beyond_all_numbers_spends_the_day_and_breaks_nothing() {
    let home = Home::new();
    let answer = anthropic(&json!({"verdicts": [{"id": 1, "label": "none"}]}), u64::MAX, u64::MAX);
    let server = Server::saying("200 OK", "", answer);
    super::ask(&home, &server, "use tabs").expect(0);
    super::ask(&home, &server, "use tabs").expect_failure("not asked before tomorrow");
    assert_eq!(server.connections(), 1);
}
