//! Recorded streams as the plain bodies that they stand for (and back: `replay`).
//!
//! A translation is exact or it is not used. Anything in a stream that is not understood here makes
//! it inexact, and the rest is still put together: what it used and how it ended are known anyway.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::endpoint::ApiEndpoint;
use crate::llm::sse::EventParser;

mod replay;
#[cfg(test)]
mod tests;

pub(super) use replay::to_stream;

/// Largest number of content blocks, choices or tool calls that are put together.
const MAX_ITEMS: usize = 1024;

type Fields = Map<String, Value>;

/// A recorded stream, put together to the body that the API would have sent without streaming.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AssembledAnswer {
    pub(super) body: Value,
    /// True if a plain request would have got exactly this body (the same JSON value).
    pub(super) is_exact: bool,
    /// True if the stream came to its proper end, without an error inside it.
    pub(super) is_complete: bool,
}

/// Puts together a stream from its decoded bytes.
pub(super) fn assemble_stream(endpoint: ApiEndpoint, events: &[u8]) -> AssembledAnswer {
    match endpoint {
        ApiEndpoint::Messages => assemble(MessageAssembly::default(), events),
        ApiEndpoint::ChatCompletions => assemble(CompletionAssembly::default(), events),
        ApiEndpoint::Responses => assemble(ResponseAssembly::default(), events),
        ApiEndpoint::CountTokens | ApiEndpoint::Embeddings | ApiEndpoint::Models => {
            AssembledAnswer { body: Value::Null, is_exact: false, is_complete: false }
        }
    }
}

/// Meaning of an event for the answer.
enum EventEffect {
    Understood,
    NotUnderstood,
    Ended,
    Failed,
}

impl EventEffect {
    fn understood(is_understood: bool) -> Self {
        if is_understood { Self::Understood } else { Self::NotUnderstood }
    }
}

/// An answer that grows by the events of one API.
trait StreamAssembly {
    /// Takes an event; none is `[DONE]`.
    fn take_event(&mut self, event: Option<Fields>) -> EventEffect;
    /// Body, and true if it is exact.
    fn finish(self) -> (Value, bool);
}

fn assemble(mut assembly: impl StreamAssembly, events: &[u8]) -> AssembledAnswer {
    let mut parser = EventParser::default();
    let (mut is_exact, mut has_ended, mut has_failed) = (true, false, false);
    for event in parser.push(events) {
        let fields = match event.data.trim_ascii() {
            b"[DONE]" => Ok(None),
            data => serde_json::from_slice(data).map(Some),
        };
        is_exact &= !has_ended && keeps_digits(&event.data);
        let is_error = |fields: &Fields| {
            fields.get("type").is_some_and(|kind| kind == "error")
                || fields.get("error").is_some_and(|error| !error.is_null())
        };
        let effect = match fields {
            _ if event.name == "error" => EventEffect::Failed,
            Ok(Some(fields)) if is_error(&fields) => EventEffect::Failed,
            Ok(fields) => assembly.take_event(fields),
            Err(_) => EventEffect::NotUnderstood,
        };
        match effect {
            EventEffect::Understood => {}
            EventEffect::NotUnderstood => is_exact = false,
            EventEffect::Ended => has_ended = true,
            EventEffect::Failed => has_failed = true,
        }
    }
    let (body, is_body_exact) = assembly.finish();
    let is_complete = has_ended && !has_failed && body.is_object();
    is_exact &= is_complete && is_body_exact && parser.waiting_bytes() == 0;
    AssembledAnswer { body, is_exact, is_complete }
}

/// A message of Anthropic's API.
#[derive(Default)]
struct MessageAssembly {
    message: Option<Fields>,
    blocks: Vec<ContentBlock>,
}

/// A block of a message's content.
struct ContentBlock {
    fields: Fields,
    /// Pieces of its input, as JSON text.
    partial_json: Option<String>,
    is_open: bool,
}

impl StreamAssembly for MessageAssembly {
    fn take_event(&mut self, event: Option<Fields>) -> EventEffect {
        let mut event = event.unwrap_or_default();
        let kind = event.remove("type").unwrap_or_default();
        EventEffect::understood(match kind.as_str().unwrap_or_default() {
            "ping" => true,
            "message_start" => self.start_message(event),
            "content_block_start" => self.start_block(event),
            "content_block_delta" => match (self.open_block(&event), event.get("delta")) {
                (Some(block), Some(Value::Object(delta))) => block.take_delta(delta),
                _ => false,
            },
            "content_block_stop" => {
                let block = self.open_block(&event);
                block.map(|block| block.is_open = false).is_some()
            }
            "message_delta" => self.take_message_delta(event),
            "message_stop" => return EventEffect::Ended,
            _ => false,
        })
    }

    fn finish(self) -> (Value, bool) {
        let Some(mut message) = self.message else { return (Value::Null, false) };
        let mut is_exact = message.get("stop_reason").is_some_and(Value::is_string);
        let mut content = Vec::new();
        for ContentBlock { mut fields, partial_json, is_open } in self.blocks {
            is_exact &= !is_open;
            if let Some(text) = partial_json {
                let text = if text.is_empty() { "{}" } else { text.as_str() };
                is_exact &= keeps_digits(text.as_bytes());
                match serde_json::from_str(text) {
                    Ok(input) => _ = fields.insert("input".into(), input),
                    Err(_) => is_exact = false,
                }
            }
            content.push(Value::Object(fields));
        }
        message.insert("content".into(), content.into());
        (message.into(), is_exact)
    }
}

impl MessageAssembly {
    fn start_message(&mut self, mut event: Fields) -> bool {
        let Some(Value::Object(mut message)) = event.remove("message") else { return false };
        if self.message.is_some() {
            return false;
        }
        let content = message.remove("content");
        self.message = Some(message);
        content == Some(json!([]))
    }

    fn start_block(&mut self, mut event: Fields) -> bool {
        let is_next = item_index(&event) == Some(self.blocks.len());
        match event.remove("content_block") {
            Some(Value::Object(fields)) if is_next => {
                self.blocks.push(ContentBlock { fields, partial_json: None, is_open: true });
                true
            }
            _ => false,
        }
    }

    fn open_block(&mut self, event: &Fields) -> Option<&mut ContentBlock> {
        self.blocks.get_mut(item_index(event)?).filter(|block| block.is_open)
    }

    /// Merges what is known at the end. Counts are totals: they replace those of the start.
    fn take_message_delta(&mut self, event: Fields) -> bool {
        let Some(message) = &mut self.message else { return false };
        let mut is_understood = true;
        for (name, value) in event {
            match (name.as_str(), value) {
                ("delta", Value::Object(delta)) => message.extend(delta),
                ("usage", Value::Object(counts)) => {
                    let usage = message.entry("usage").or_insert_with(|| json!({}));
                    let Value::Object(usage) = usage else { return false };
                    for (name, count) in counts {
                        if !count.is_null() || !usage.contains_key(&name) {
                            usage.insert(name, count);
                        }
                    }
                }
                ("context_management", value) => _ = message.insert(name, value),
                _ => is_understood = false,
            }
        }
        is_understood
    }
}

impl ContentBlock {
    fn take_delta(&mut self, delta: &Fields) -> bool {
        let kind = delta.get("type").and_then(Value::as_str).unwrap_or_default();
        let field = match kind {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            "signature_delta" => "signature",
            "citations_delta" => "citation",
            "input_json_delta" => "partial_json",
            _ => return false,
        };
        let Some(piece) = delta.get(field) else { return false };
        let has_only_known = delta.len() == 2;
        let is_taken = match (field, piece) {
            ("text" | "thinking", piece) => {
                self.fields.contains_key(field) & append_piece(&mut self.fields, field, piece)
            }
            ("citation", citation) => match self.fields.entry("citations").or_insert(Value::Null) {
                Value::Array(citations) => {
                    citations.push(citation.clone());
                    true
                }
                citations @ Value::Null => {
                    *citations = json!([citation]);
                    true
                }
                _ => false,
            },
            ("partial_json", Value::String(piece)) => {
                self.partial_json.get_or_insert_default().push_str(piece);
                self.fields.contains_key("input")
            }
            ("signature", Value::String(_)) => {
                let previous = self.fields.insert(field.into(), piece.clone());
                previous.is_none_or(|previous| previous == "")
            }
            _ => false,
        };
        has_only_known && is_taken
    }
}

/// A chat completion of `OpenAI`'s API.
#[derive(Default)]
struct CompletionAssembly {
    fields: Fields,
    choices: BTreeMap<usize, CompletionChoice>,
}

/// One of the completions that were asked for.
#[derive(Default)]
struct CompletionChoice {
    fields: Fields,
    message: Fields,
    tool_calls: BTreeMap<usize, Fields>,
}

impl StreamAssembly for CompletionAssembly {
    fn take_event(&mut self, event: Option<Fields>) -> EventEffect {
        let Some(chunk) = event else { return EventEffect::Ended };
        let mut is_understood = true;
        for (name, value) in chunk {
            is_understood &= match (name.as_str(), value) {
                ("choices", Value::Array(choices)) => {
                    choices.into_iter().fold(true, |taken, choice| taken & self.take_choice(choice))
                }
                ("object", value) => value == "chat.completion.chunk",
                ("obfuscation", _) | ("usage", Value::Null) => true,
                ("usage", usage @ Value::Object(_)) => {
                    self.fields.insert(name, usage);
                    true
                }
                ("id" | "created" | "model" | "system_fingerprint" | "service_tier", value) => {
                    let previous = self.fields.insert(name, value.clone());
                    previous.is_none_or(|previous| previous == value)
                }
                (_, value) => {
                    self.fields.insert(name, value);
                    false
                }
            };
        }
        EventEffect::understood(is_understood)
    }

    fn finish(mut self) -> (Value, bool) {
        if self.fields.is_empty() && self.choices.is_empty() {
            return (Value::Null, false);
        }
        let mut is_exact = self.fields.contains_key("usage")
            && !self.choices.is_empty()
            && self.choices.keys().copied().eq(0..self.choices.len());
        let mut choices = Vec::new();
        for (index, choice) in self.choices {
            let (choice, is_choice_exact) = choice.finish(index);
            is_exact &= is_choice_exact;
            choices.push(choice);
        }
        self.fields.insert("object".into(), "chat.completion".into());
        self.fields.insert("choices".into(), choices.into());
        (self.fields.into(), is_exact)
    }
}

impl CompletionAssembly {
    fn take_choice(&mut self, choice: Value) -> bool {
        let Value::Object(piece) = choice else { return false };
        let Some(index) = item_index(&piece) else { return false };
        let choice = self.choices.entry(index).or_default();
        let mut is_understood = true;
        for (name, value) in piece {
            is_understood &= match (name.as_str(), value) {
                ("index", _) | ("finish_reason", Value::Null) => true,
                ("delta", Value::Object(delta)) => choice.take_delta(delta),
                ("finish_reason", reason) => choice.fields.insert(name, reason).is_none(),
                ("logprobs", piece) => {
                    append_logprobs(choice.fields.entry(name).or_insert(Value::Null), piece)
                }
                (_, value) => {
                    choice.fields.insert(name, value);
                    false
                }
            };
        }
        is_understood
    }
}

impl CompletionChoice {
    fn take_delta(&mut self, delta: Fields) -> bool {
        let mut is_understood = true;
        for (name, value) in delta {
            is_understood &= match (name.as_str(), value) {
                ("tool_calls" | "function_call", Value::Null) => true,
                ("role", role) => set_once(&mut self.message, name, role),
                ("content" | "refusal", piece) => append_piece(&mut self.message, &name, &piece),
                ("tool_calls", Value::Array(calls)) => calls
                    .into_iter()
                    .fold(true, |is_taken, call| is_taken & self.take_tool_call(call)),
                ("function_call", Value::Object(piece)) => {
                    let call = self.message.entry(name).or_insert_with(|| json!({}));
                    call.as_object_mut().is_some_and(|call| merge_call(call, piece))
                }
                (_, piece) => {
                    append_piece(&mut self.message, &name, &piece);
                    false
                }
            };
        }
        is_understood
    }

    fn take_tool_call(&mut self, call: Value) -> bool {
        let Value::Object(piece) = call else { return false };
        let Some(index) = item_index(&piece) else { return false };
        merge_call(self.tool_calls.entry(index).or_default(), piece)
    }

    fn finish(mut self, index: usize) -> (Value, bool) {
        let has_text = |fields: &Fields, name: &str| {
            fields.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
        };
        let mut is_exact = has_text(&self.message, "role")
            && has_text(&self.fields, "finish_reason")
            // A plain answer may have null for a text of no pieces.
            && self.message.get("content").is_none_or(|content| content != "")
            && self.tool_calls.keys().copied().eq(0..self.tool_calls.len());
        // OpenAI itself sends the refusal in the first delta. Its plain messages have a list of
        // annotations as well, which is not in the stream when it is empty.
        if self.message.contains_key("refusal") {
            self.message.entry("annotations").or_insert_with(|| json!([]));
        }
        for field in ["content", "refusal"] {
            self.message.entry(field).or_insert(Value::Null);
        }
        if !self.tool_calls.is_empty() {
            let is_whole = |call| has_text(call, "id") && has_text(call, "type");
            is_exact &= self.tool_calls.values().all(is_whole);
            let calls = self.tool_calls.into_values().map(Value::Object).collect();
            self.message.insert("tool_calls".into(), calls);
        }
        self.fields.entry("finish_reason").or_insert(Value::Null);
        self.fields.insert("index".into(), index.into());
        self.fields.insert("message".into(), self.message.into());
        (self.fields.into(), is_exact)
    }
}

/// A response of `OpenAI`'s API. Its last event has the whole of it.
#[derive(Default)]
struct ResponseAssembly {
    body: Value,
}

impl StreamAssembly for ResponseAssembly {
    fn take_event(&mut self, event: Option<Fields>) -> EventEffect {
        let Some(mut event) = event else { return EventEffect::NotUnderstood };
        let effect = match event.get("type").and_then(Value::as_str) {
            Some("response.completed") => EventEffect::Ended,
            Some("response.failed" | "response.incomplete") => EventEffect::Failed,
            _ => return EventEffect::Understood,
        };
        self.body = event.remove("response").unwrap_or_default();
        effect
    }

    fn finish(self) -> (Value, bool) {
        (self.body, true)
    }
}

/// Index of a block, choice or tool call, if it is within bounds.
fn item_index(item: &Fields) -> Option<usize> {
    let index = usize::try_from(item.get("index")?.as_u64()?).ok()?;
    (index < MAX_ITEMS).then_some(index)
}

/// Appends a piece of text. Null is no text; anything else replaces what is there, and is inexact.
fn append_piece(fields: &mut Fields, name: &str, piece: &Value) -> bool {
    match (fields.entry(name).or_insert(Value::Null), piece) {
        (Value::String(text), Value::String(piece)) => text.push_str(piece),
        (Value::String(_) | Value::Null, Value::Null) => {}
        (known @ Value::Null, Value::String(_)) => *known = piece.clone(),
        (known, _) => {
            *known = piece.clone();
            return false;
        }
    }
    true
}

/// Sets a field that comes whole. Servers repeat it, or send it empty.
fn set_once(fields: &mut Fields, name: String, value: Value) -> bool {
    if value.is_null() || value == "" {
        return true;
    }
    match fields.get(&name) {
        Some(previous) => *previous == value,
        None => fields.insert(name, value).is_none(),
    }
}

fn merge_call(call: &mut Fields, piece: Fields) -> bool {
    let mut is_understood = true;
    for (name, value) in piece {
        is_understood &= match (name.as_str(), value) {
            ("index", _) => true,
            ("function" | "custom", Value::Object(piece)) => {
                let part = call.entry(name).or_insert_with(|| json!({}));
                part.as_object_mut().is_some_and(|part| merge_call(part, piece))
            }
            ("arguments" | "input", piece) => append_piece(call, &name, &piece),
            ("id" | "type" | "name", value) => set_once(call, name, value),
            (_, value) => {
                call.insert(name, value);
                false
            }
        };
    }
    is_understood
}

fn append_logprobs(known: &mut Value, piece: Value) -> bool {
    let Value::Object(piece) = piece else { return piece.is_null() };
    if known.is_null() {
        *known = json!({});
    }
    let Value::Object(known) = known else { return false };
    let mut is_understood = true;
    for (name, tokens) in piece {
        match (known.entry(name).or_insert(Value::Null), tokens) {
            (Value::Array(known), Value::Array(tokens)) => known.extend(tokens),
            (known @ Value::Null, tokens) => *known = tokens,
            (_, tokens) => is_understood &= tokens.is_null(),
        }
    }
    is_understood
}

/// True if every number of a JSON text is read without losing digits, here and by programs whose
/// numbers are all floats.
fn keeps_digits(json: &[u8]) -> bool {
    let mut rest = json;
    while let [first, after @ ..] = rest {
        rest = match first {
            b'"' => {
                let mut text = after;
                loop {
                    match memchr::memchr2(b'"', b'\\', text) {
                        Some(end) if text[end] == b'\\' => {
                            text = text.get(end + 2..).unwrap_or_default();
                        }
                        Some(end) => break &text[end + 1..],
                        None => break &[],
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                let number = str::from_utf8(&rest[..end]).unwrap_or_default();
                let is_kept = if number.contains(['.', 'e', 'E']) {
                    // Written as it will be: of two texts for one number, others choose the other one.
                    let value = number.parse().unwrap_or(f64::NAN);
                    let written = serde_json::to_string(&value).unwrap_or_default();
                    significant_digits(number) == significant_digits(&written)
                } else {
                    number.parse().is_ok_and(|whole: i64| whole.unsigned_abs() <= 1 << 53)
                };
                if !is_kept {
                    return false;
                }
                &rest[end..]
            }
            _ => after,
        };
    }
    true
}

/// Digits of a decimal number without zeros around them, and the power of ten of the last one.
fn significant_digits(number: &str) -> Option<(String, i64)> {
    let (mantissa, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole.trim_start_matches('-'), fraction].concat();
    let kept = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - kept.len()).ok()?;
    let power = i64::from(power.parse::<i32>().ok()?) - i64::try_from(fraction.len()).ok()? + zeros;
    let kept = kept.trim_start_matches('0');
    Some((kept.to_owned(), if kept.is_empty() { 0 } else { power }))
}
