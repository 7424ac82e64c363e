//! What the clients' formats have in common: texts that are a string or a list of
//! blocks, times, and JSON with half a character in it.

use std::borrow::Cow;
use std::collections::HashMap;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Digest;
use recoup_core::memory::hooked::with_whole_letters;
use recoup_core::memory::transcript::{Action, Call, EntryKind};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A part of a message. Which of these are there depends on `kind`.
#[derive(Debug, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    /// Of a call: `input` in one client, `arguments` in another.
    #[serde(borrow, default, alias = "arguments")]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) is_error: Option<bool>,
}

/// Runs `read` on a line of JSON. A client may cut a text through the middle of a character
/// that JSON writes as two halves; such a half is no JSON that Rust reads, and is replaced.
pub(super) fn reading<T: Default>(line: &[u8], read: impl Fn(&str) -> serde_json::Result<T>) -> T {
    let Ok(text) = str::from_utf8(line) else { return T::default() };
    read(&with_whole_letters(text)).unwrap_or_default()
}

/// The blocks of a content: a string is one block of text.
pub(super) fn blocks(content: &RawValue) -> Vec<Block<'_>> {
    if let Ok(text) = serde_json::from_str::<Text<'_>>(content.get()) {
        let Text(text) = text;
        return vec![Block {
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

/// A string that is borrowed where it has no escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The texts of a content, one below the other.
pub(super) fn text_of(content: &RawValue) -> String {
    let blocks = blocks(content);
    let texts = blocks.iter().filter(|block| block.kind.ends_with("text"));
    texts.filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n")
}

/// What an agent said or called in a block; `call` is what the client calls a call, and
/// `action` says what its tools do.
pub(super) fn agent_said(
    block: &Block<'_>,
    call: &str,
    action: fn(&str, &RawValue) -> Action,
) -> Option<EntryKind> {
    if block.kind == "text" {
        return EntryKind::words(block.text.as_deref()?);
    }
    if block.kind != call {
        return None;
    }
    let (id, name, input) = (block.id.as_deref()?, block.name.as_deref()?, block.input?);
    Some(EntryKind::Call(Call::new(id, name, action(name, input), input.get().as_bytes())))
}

/// A field of a JSON object that is a string. The others are not taken apart: one of them
/// may be a whole file.
pub(super) fn field(object: &RawValue, name: &str) -> Option<String> {
    let fields: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object.get()).ok()?;
    let Text(text) = serde_json::from_str(fields.get(name)?.get()).ok()?;
    Some(text.into_owned())
}

/// A value if it is of the right type; else it counts as missing.
pub(super) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(value.get()).ok())
}

/// Stands for a text: the same for the same.
pub(super) fn print(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// A time as ISO 8601.
pub(super) fn time(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(Timestamp::parse)
}

/// What stands between `<name>` and `</name>`.
pub(super) fn tagged<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
}
