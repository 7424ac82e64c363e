//! One request of the client's, as it arrived at the model's door.

use std::io::BufRead;

use serde_json::Value;

/// How the client asks for the summary that takes a conversation's place.
const SUMMARY_WANTED: &str = "followed by a <summary> block";

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The sub-agent that asks, if it is one.
    pub(crate) agent: Option<String>,
    /// Null where the body is not JSON.
    pub(crate) body: Value,
}

/// What the model is told of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallResult {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Request {
    /// Reads one request; nothing where the other side hung up instead.
    pub(crate) fn read(from: &mut impl BufRead) -> Option<Self> {
        let path = line(from)?.split(' ').nth(1)?.to_owned();
        let (mut length, mut agent) = (0, None);
        loop {
            let header = line(from)?;
            let Some((name, value)) = header.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "x-claude-code-agent-id" => agent = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Some(Self { path, agent, body })
    }

    /// How often `text` stands in what the model is given to read.
    pub(crate) fn count(&self, text: &str) -> usize {
        let read = ["system", "messages", "instructions", "input"];
        let read = read.map(|part| texts(&self.body[part]));
        read.iter().flatten().map(|given| given.matches(text).count()).sum()
    }

    /// Whether the model may call a tool, or a tool of a group, whose name begins so.
    pub(crate) fn offers(&self, name: &str) -> bool {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["name"].as_str()).any(|known| known.starts_with(name))
    }

    /// The user's newest message. It need not be the last one: what hooks and
    /// the client itself have to say may follow it, from `system`.
    pub(crate) fn newest(&self) -> Option<&Value> {
        let mut messages = self.body["messages"].as_array()?.iter().rev();
        messages.find(|message| message["role"] == "user")
    }

    pub(crate) fn newest_says(&self, text: &str) -> bool {
        let newest = self.newest().map(texts).unwrap_or_default();
        newest.iter().any(|said| said.contains(text))
    }

    /// Whether the model is told how its last tool call went.
    pub(crate) fn brings_a_result(&self) -> bool {
        let blocks = self.newest().and_then(|newest| newest["content"].as_array());
        blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"))
    }

    /// The results of all calls in the conversation, in their order.
    pub(crate) fn results(&self) -> Vec<CallResult> {
        let messages = self.body["messages"].as_array().into_iter().flatten();
        let blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
        let of_block = |block: &Value| {
            let text = match &block["content"] {
                Value::String(text) => text.clone(),
                parts => texts_of_parts(parts),
            };
            CallResult { text, is_error: block["is_error"] == true }
        };
        blocks.filter(|block| block["type"] == "tool_result").map(of_block).collect()
    }

    pub(crate) fn asks_for_a_summary(&self) -> bool {
        self.newest_says(SUMMARY_WANTED)
    }
}

/// A line without its end; nothing at the end of all.
fn line(from: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|length| *length > 0)?;
    Some(line.trim_end().to_owned())
}

/// The text of a message's parts.
fn texts_of_parts(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// All strings in `value`, at any depth.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
