//! Results: which may be kept, for how long at most by the server's own hints, and how a kept one is
//! served.

use recoup_core::cache::Ttl;
use recoup_core::key::Key;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::params::RawMembers;

/// Age of a hit in milliseconds, in its `_meta`.
pub(crate) const HIT_AGE: &str = "io.recoup/age";
/// Key of a hit, in its `_meta`.
pub(crate) const HIT_KEY: &str = "io.recoup/key";

/// Names under which servers may put the proposed hint.
const CACHE_HINTS: [&str; 2] = ["cache_hint", "io.modelcontextprotocol/cache_hint"];

/// A result from the cache.
#[derive(Debug, Clone)]
pub(crate) struct ServedResult {
    json: String,
}

impl ServedResult {
    /// The kept result `json`, with its age and key in `_meta`; all other bytes are as they were.
    /// `None` if it is no object.
    pub(super) fn new(json: &str, age: u64, key: &Key) -> Option<Self> {
        let members = RawMembers::read(json)?;
        let own = format!("{}:{age},{}:{}", json!(HIT_AGE), json!(HIT_KEY), json!(key.as_str()));
        let json = if let Some(meta) = members.get("_meta").map(RawValue::get) {
            // A slice of `json`, so that its place is known.
            let begin = meta.as_ptr().addr() - json.as_ptr().addr();
            let others = RawMembers::read(meta).map_or_else(Vec::new, |meta| meta.0);
            let others = others.iter().filter(|(name, _)| name != HIT_AGE && name != HIT_KEY);
            let mut all: Vec<_> =
                others.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
            all.push(own);
            let (before, after) = (&json[..begin], &json[begin + meta.len()..]);
            format!("{before}{{{}}}{after}", all.join(","))
        } else {
            let (before, after) = json.split_once('{')?;
            let comma = if members.0.is_empty() { "" } else { "," };
            format!("{before}{{\"_meta\":{{{own}}}{comma}{after}")
        };
        Some(Self { json })
    }

    /// The result as JSON text.
    pub(crate) fn as_json(&self) -> &str {
        &self.json
    }
}

/// Limits by which a server narrows the use of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerHints {
    pub(super) ttl: Ttl,
    /// True if only one user may see it.
    pub(super) is_private: bool,
}

/// Reads what a result says about keeping it; an error is the reason why it may not be kept.
pub(super) fn check_result(json: &str, is_tool: bool) -> Result<ServerHints, String> {
    let members = RawMembers::read(json).ok_or("the result is no object")?;
    let get = |name: &str| members.parse::<Value>(name).filter(|value| !value.is_null());
    match get("isError") {
        None | Some(Value::Bool(false)) => {}
        Some(_) => return Err("the tool reported an error".to_owned()),
    }
    match get("resultType") {
        None => {}
        Some(Value::String(kind)) if kind == "complete" => {}
        Some(kind) => return Err(format!("the result is of the type {kind}")),
    }
    if members.get("task").is_some() || members.get("inputRequests").is_some() {
        return Err("the result is one step of an exchange".to_owned());
    }
    let is_empty = |name: &str| {
        let items = members.get(name).and_then(|value| value.get().strip_prefix('['));
        members.get(name).is_none() || items.is_some_and(|items| items.trim_start() == "]")
    };
    if is_tool && is_empty("content") && members.get("structuredContent").is_none() {
        return Err("the result is empty".to_owned());
    }
    let meta = members.get("_meta").and_then(|meta| RawMembers::read(meta.get()));
    let in_meta = |name: &str| meta.as_ref().and_then(|meta| meta.parse::<Value>(name));
    for hint in CACHE_HINTS {
        match in_meta(hint) {
            None => {}
            Some(Value::String(text)) if text == "cache" => {}
            Some(value) => return Err(format!("the server hints {hint}: {value}")),
        }
    }
    let mut hints = ServerHints { ttl: Ttl::Forever, is_private: false };
    for ttl in [get("ttlMs"), in_meta("ttlMs")].into_iter().flatten() {
        match Ttl::from_json("ttlMs", &ttl) {
            Ok(Ttl::Off) | Err(_) => return Err(format!("the server hints ttlMs: {ttl}")),
            Ok(limit) => hints.ttl = hints.ttl.min(limit),
        }
    }
    let mut scopes = [get("cacheScope"), in_meta("cacheScope")].into_iter().flatten();
    hints.is_private = scopes.any(|scope| scope != "public");
    Ok(hints)
}

/// True if the result says that the call failed.
pub(super) fn is_error(json: &str) -> bool {
    let members = RawMembers::read(json);
    members.and_then(|members| members.parse::<bool>("isError")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_adds_to_meta_and_leaves_every_other_byte() {
        let key = Key::parse("k").expect("a key");
        for (kept, served) in [
            (
                r#"{ "content": [ 12345678901234567890 ] }"#,
                r#"{"_meta":{"io.recoup/age":7,"io.recoup/key":"k"}, "content": [ 12345678901234567890 ] }"#,
            ),
            ("{}", r#"{"_meta":{"io.recoup/age":7,"io.recoup/key":"k"}}"#),
            (
                r#"{"a":"\u0041","_meta": {"x/y": 1.0} ,"b":2}"#,
                r#"{"a":"\u0041","_meta": {"x/y":1.0,"io.recoup/age":7,"io.recoup/key":"k"} ,"b":2}"#,
            ),
            (
                r#"{"_meta":{"io.recoup/age":1,"io.recoup/key":"old"}}"#,
                r#"{"_meta":{"io.recoup/age":7,"io.recoup/key":"k"}}"#,
            ),
            (
                r#"{"_meta":null,"b":2}"#,
                r#"{"_meta":{"io.recoup/age":7,"io.recoup/key":"k"},"b":2}"#,
            ),
        ] {
            let found = ServedResult::new(kept, 7, &key).expect("an object");
            assert_eq!(found.as_json(), served);
        }
        assert!(ServedResult::new("[1]", 7, &key).is_none());
    }

    #[test]
    fn results_that_must_not_be_kept_say_why() {
        let content = r#""content":[{"type":"text","text":"x"}]"#;
        for (more, why) in [
            (r#""isError":true"#, "the tool reported an error"),
            (r#""isError":"yes""#, "the tool reported an error"),
            (r#""resultType":"input_required""#, "of the type \"input_required\""),
            (r#""resultType":"task""#, "of the type \"task\""),
            (r#""task":{"taskId":"1"}"#, "one step of an exchange"),
            (r#""ttlMs":0"#, "ttlMs: 0"),
            (r#""ttlMs":-5"#, "ttlMs: -5"),
            (r#""_meta":{"ttlMs":0}"#, "ttlMs: 0"),
            (r#""_meta":{"cache_hint":"no-cache"}"#, "cache_hint: \"no-cache\""),
            (r#""_meta":{"io.modelcontextprotocol/cache_hint":false}"#, "cache_hint: false"),
        ] {
            let refused = check_result(&format!("{{{content},{more}}}"), true).expect_err(more);
            assert!(refused.contains(why), "{more}: {refused}");
        }
        for empty in [r#"{"content":[ ]}"#, "{}"] {
            assert_eq!(check_result(empty, true), Err("the result is empty".to_owned()));
            assert!(check_result(empty, false).is_ok());
        }
        assert!(check_result("[1]", false).is_err());
    }

    #[test]
    fn hints_narrow_the_ttl_and_the_audience() {
        let hints = |json| check_result(json, false).expect("may be kept");
        let none = ServerHints { ttl: Ttl::Forever, is_private: false };
        assert_eq!(hints(r#"{"resultType":"complete","isError":false}"#), none);
        assert_eq!(hints(r#"{"_meta":{"cache_hint":"cache"},"cacheScope":"public"}"#), none);
        assert_eq!(
            hints(r#"{"ttlMs":5000,"_meta":{"ttlMs":3000},"cacheScope":"private"}"#),
            ServerHints { ttl: Ttl::seconds(3), is_private: true }
        );
    }
}
