//! What the model says, decided beforehand: an answer for each thing that the
//! user may say, as server-sent events.

use serde_json::{Value, json};

use super::request::Request;

/// More than any model's context holds: a client that is told so compacts the
/// conversation before it goes on.
const TOO_MUCH: u64 = 990_000;

/// One answer of the model's.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    said: Said,
    /// How large the request was, as the client is told.
    input_tokens: u64,
}

#[derive(Clone, Debug)]
enum Said {
    Text(&'static str),
    Tools(Vec<(&'static str, Value)>),
}

impl Answer {
    pub(crate) const fn text(text: &'static str) -> Self {
        Self { said: Said::Text(text), input_tokens: 100 }
    }

    pub(crate) fn tool(name: &'static str, input: Value) -> Self {
        Self::tools(vec![(name, input)])
    }

    /// Several calls at once.
    pub(crate) const fn tools(calls: Vec<(&'static str, Value)>) -> Self {
        Self { said: Said::Tools(calls), input_tokens: 100 }
    }

    pub(crate) fn bash(command: &str) -> Self {
        Self::tool("Bash", json!({ "command": command, "description": "a test" }))
    }

    /// The same, and the context is full.
    pub(crate) const fn filling_the_context(mut self) -> Self {
        self.input_tokens = TOO_MUCH;
        self
    }

    /// The answer as a stream. `number` makes its ids unlike those of others.
    pub(crate) fn events(&self, model: &Value, number: usize) -> String {
        let usage = json!({ "input_tokens": self.input_tokens, "output_tokens": 1 });
        let message = json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
        });
        let (blocks, reason) = self.said.blocks(number);
        let mut events = vec![json!({ "type": "message_start", "message": message })];
        for (index, (block, delta)) in blocks.into_iter().enumerate() {
            events.extend([
                json!({ "type": "content_block_start", "index": index, "content_block": block }),
                json!({ "type": "content_block_delta", "index": index, "delta": delta }),
                json!({ "type": "content_block_stop", "index": index }),
            ]);
        }
        events.extend([
            json!({
                "type": "message_delta", "usage": { "output_tokens": 5 },
                "delta": { "stop_reason": reason, "stop_sequence": null },
            }),
            json!({ "type": "message_stop" }),
        ]);
        stream(&events)
    }
}

/// What is said to Codex, which speaks another protocol.
pub(crate) fn a_word_in_response(number: usize) -> String {
    let usage = json!({ "input_tokens": 100, "output_tokens": 1, "total_tokens": 101 });
    let id = format!("resp_{number}");
    let begun = json!({ "id": id, "object": "response", "status": "in_progress", "output": [] });
    let item = json!({
        "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": "Fine.", "annotations": [] }],
    });
    let done = json!({ "id": id, "object": "response", "status": "completed", "output": [item], "usage": usage });
    stream(&[
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": done }),
    ])
}

/// Server-sent events.
fn stream(events: &[Value]) -> String {
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

impl Said {
    /// Each block as it begins, with all that follows in one piece, and why the answer ends.
    fn blocks(&self, number: usize) -> (Vec<(Value, Value)>, &'static str) {
        match self {
            Self::Text(text) => {
                let begun = json!({ "type": "text", "text": "" });
                (vec![(begun, json!({ "type": "text_delta", "text": text }))], "end_turn")
            }
            Self::Tools(calls) => {
                let block = |(index, (name, input)): (usize, &(&str, Value))| {
                    // No id may begin with another of the answer: the client takes them for one.
                    let id = match index {
                        0 => format!("toolu_{number}"),
                        _ => format!("toolu_x{index}_{number}"),
                    };
                    let begun = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                    let rest = json!({
                        "type": "input_json_delta", "partial_json": input.to_string(),
                    });
                    (begun, rest)
                };
                (calls.iter().enumerate().map(block).collect(), "tool_use")
            }
        }
    }
}

/// The answers, by what the user's newest message contains. What nobody has
/// thought of, and the result of a tool, is answered with a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    on_prompt: Vec<(&'static str, Answer)>,
    on_result: Vec<(&'static str, Answer)>,
}

impl Script {
    pub(crate) fn on(mut self, said: &'static str, answer: Answer) -> Self {
        self.on_prompt.push((said, answer));
        self
    }

    /// The answer to the result of a tool with that in it.
    pub(crate) fn after_result(mut self, said: &'static str, answer: Answer) -> Self {
        self.on_result.push((said, answer));
        self
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        if request.asks_for_a_summary() {
            return Answer::text("<analysis>Short.</analysis><summary>They talked.</summary>");
        }
        let planned = if request.brings_a_result() { &self.on_result } else { &self.on_prompt };
        let planned = planned.iter().find(|(said, _)| request.newest_says(said));
        planned.map_or(Answer::text("Fine."), |(_, answer)| answer.clone())
    }
}
