//! Parsing shared by the clients' formats: texts that are a string or a list of blocks, times, and
//! JSON with lone surrogates.

use std::borrow::Cow;
use std::collections::HashMap;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::memory::hooked::replace_lone_surrogates;
use recoup_core::memory::transcript::{EntryKind, ToolAction, ToolCall};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A block of a message. `kind` decides which fields are present.
#[derive(Debug, Deserialize)]
pub(super) struct MessageBlock<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    /// Arguments of a call: `input` in one client, `arguments` in another.
    #[serde(borrow, default, alias = "arguments")]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) is_error: Option<bool>,
}

/// Runs `read` on a line of JSON, with lone surrogates replaced: a client may cut a text in the
/// middle of a surrogate pair, which `serde_json` would reject.
pub(super) fn parse_line<T: Default>(
    line: &[u8],
    read: impl Fn(&str) -> serde_json::Result<T>,
) -> T {
    let Ok(text) = str::from_utf8(line) else { return T::default() };
    read(&replace_lone_surrogates(text)).unwrap_or_default()
}

/// Blocks of a content; a plain string becomes one text block.
pub(super) fn blocks(content: &RawValue) -> Vec<MessageBlock<'_>> {
    if let Ok(text) = serde_json::from_str::<BorrowedText<'_>>(content.get()) {
        let BorrowedText(text) = text;
        return vec![MessageBlock {
            kind: Cow::Borrowed("text"),
            text: Some(text),
            id: None,
            name: None,
            input: None,
            tool_use_id: None,
            content: None,
            is_error: None,
        }];
    }
    serde_json::from_str(content.get()).unwrap_or_default()
}

/// A JSON string, borrowed unless it has escapes.
#[derive(Deserialize)]
pub(super) struct BorrowedText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Texts of a content, joined by line ends.
pub(super) fn text_of(content: &RawValue) -> String {
    let blocks = blocks(content);
    let texts = blocks.iter().filter(|block| block.kind.ends_with("text"));
    texts.filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n")
}

/// Reads what an agent said or called from a block. `call` is the block type of calls, `action`
/// maps a tool and its input.
pub(super) fn agent_entry(
    block: &MessageBlock<'_>,
    call: &str,
    action: fn(&str, &RawValue) -> ToolAction,
) -> Option<EntryKind> {
    if block.kind == "text" {
        return EntryKind::words(block.text.as_deref()?);
    }
    if block.kind != call {
        return None;
    }
    let (id, name, input) = (block.id.as_deref()?, block.name.as_deref()?, block.input?);
    Some(EntryKind::Call(ToolCall::new(id, name, action(name, input), input.get().as_bytes())))
}

/// Returns a string field of a JSON object. Other fields are not parsed: one may hold a whole file.
pub(super) fn string_field(object: &RawValue, name: &str) -> Option<String> {
    let fields: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object.get()).ok()?;
    let BorrowedText(text) = serde_json::from_str(fields.get(name)?.get()).ok()?;
    Some(text.into_owned())
}

/// Deserializes a value; one of the wrong type counts as missing.
pub(super) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(value.get()).ok())
}

/// Digest of a text, to recognise it without storing it.
pub(super) fn text_digest(text: &str) -> String {
    Sha256Digest::of(text.as_bytes()).to_string()
}

/// Parses an ISO 8601 time.
pub(super) fn parse_time(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(Timestamp::parse)
}

/// Text between `<name>` and `</name>`.
pub(super) fn tag_content<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
}
