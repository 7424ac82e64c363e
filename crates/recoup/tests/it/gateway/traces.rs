//! Spans, as a collector gets them.

use serde_json::Value;

use super::{Gateway, MESSAGES, message, question};
use crate::model_server::Server;
use crate::support::Home;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// The value of an attribute; numbers are text, as OTLP has them.
fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a str> {
    let all = span["attributes"].as_array().unwrap();
    let value = &all.iter().find(|it| it["key"] == key)?["value"];
    value["stringValue"].as_str().or_else(|| value["intValue"].as_str())
}

fn nanos(span: &Value, key: &str) -> u128 {
    span[key].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_collector_gets_a_span_for_each_request_and_no_secrets() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("an answer"));
    let collector = Server::saying("200 OK", "", "{}".to_owned());
    let settings = format!("ttl = \"1h\"\ntraces = \"{}/\"\n", collector.url());
    let gateway = Gateway::start(&home, &upstream, &settings);
    let sampled = format!("00-{TRACE}-{PARENT}-01");
    let key = ("X-Api-Key", "sk-secret");
    gateway.post(
        "/v1/messages?key=in-the-query",
        &[("TraceParent", &sampled), key],
        &question("a"),
    );
    gateway.post("/v1/messages?key=in-the-query", &[key], &question("a"));
    let unsampled = format!("00-{TRACE}-{PARENT}-00");
    gateway.post(MESSAGES, &[("traceparent", &unsampled), key], &question("unsampled"));
    gateway.get("/healthz");
    assert!(upstream.received()[0].head.contains(&format!("TraceParent: {sampled}")));
    gateway.stop();

    let exports = collector.received();
    assert!(exports.iter().all(|it| it.head.starts_with("POST /v1/traces HTTP/1.1")));
    let spans: Vec<Value> = exports
        .iter()
        .flat_map(|it| {
            let resource = &it.json()["resourceSpans"][0];
            assert_eq!(attribute(&resource["resource"], "service.name"), Some("recoup-gateway"));
            resource["scopeSpans"][0]["spans"].as_array().unwrap().clone()
        })
        .collect();
    assert_eq!(spans.len(), 3, "{spans:?}");
    let named = |outcome: &str| {
        let mut all = spans.iter();
        all.find(|it| attribute(it, "recoup.cache.outcome") == Some(outcome)).unwrap()
    };
    let (miss, hit) = (named("miss"), named("hit"));
    assert_eq!((&miss["traceId"], &miss["parentSpanId"]), (&TRACE.into(), &PARENT.into()));
    assert_ne!(hit["traceId"], TRACE);
    assert_eq!(hit["parentSpanId"], Value::Null);
    for span in [miss, hit] {
        assert_eq!((&span["name"], &span["kind"]), (&"POST /v1/messages".into(), &2.into()));
        assert_eq!(span["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
        assert!(nanos(span, "startTimeUnixNano") <= nanos(span, "endTimeUnixNano"));
        for (key, value) in [
            ("http.request.method", "POST"),
            ("http.response.status_code", "200"),
            ("url.path", "/v1/messages"),
            ("gen_ai.system", "anthropic"),
            ("gen_ai.request.model", "claude-sonnet-4-5"),
        ] {
            assert_eq!(attribute(span, key), Some(value), "{key}");
        }
        assert!(attribute(span, "recoup.cache.key").is_some());
        assert!(attribute(span, "recoup.tenant").unwrap().starts_with("local-"));
    }
    // Those of a miss are known once it is kept.
    assert_eq!(attribute(hit, "gen_ai.usage.input_tokens"), Some("1000"));
    assert_eq!(attribute(hit, "gen_ai.usage.output_tokens"), Some("200"));
    assert!(attribute(miss, "gen_ai.usage.input_tokens").is_none_or(|it| it == "1000"));
    let call = spans.iter().find(|it| it["kind"] == 3).unwrap();
    assert_eq!((&call["traceId"], &call["parentSpanId"]), (&TRACE.into(), &miss["spanId"]));
    assert!(nanos(call, "startTimeUnixNano") >= nanos(miss, "startTimeUnixNano"));
    assert!(nanos(call, "endTimeUnixNano") <= nanos(miss, "endTimeUnixNano"));
    let all = exports.iter().map(|it| it.body.as_str()).collect::<String>();
    for secret in ["sk-secret", "in-the-query", "an answer", "unsampled"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}

#[test]
fn without_a_collector_requests_are_answered_and_spans_dropped() {
    let home = Home::new();
    let upstream = Server::saying("200 OK", "", message("ok"));
    let settings = "ttl = \"1h\"\ntraces = \"http://127.0.0.1:1\"\n";
    let gateway = Gateway::start(&home, &upstream, settings);
    for _ in 0..3 {
        assert_eq!(gateway.post(MESSAGES, &[], &question("a")).status, 200);
    }
    let is_counted = || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        gateway.get("/metrics").text().contains("recoup_gateway_spans_dropped_total 3")
    };
    assert!((0..600).any(|_| is_counted()));
}
