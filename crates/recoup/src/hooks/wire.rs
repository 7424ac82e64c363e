//! What the clients' formats have in common: texts that are a string or a list of
//! blocks, times, and JSON with half a character in it.

use std::borrow::Cow;
use std::collections::HashMap;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Digest;
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
    let halves = ["\\ud", "\\uD"].iter().any(|start| text.contains(start));
    let text = if halves { Cow::Owned(mended(text)) } else { Cow::Borrowed(text) };
    read(&text).unwrap_or_default()
}

/// The same where a field that can't be read would only be passed over.
pub(super) fn without_halves(text: &str) -> Cow<'_, str> {
    let has = |escape: &str| memchr::memmem::find(text.as_bytes(), escape.as_bytes()).is_some();
    if has("\\ud") || has("\\uD") { Cow::Owned(mended(text)) } else { Cow::Borrowed(text) }
}

/// `text` without halves of characters (`\ud83d` alone).
fn mended(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = match (surrogate(rest), surrogate(rest.get(6..).unwrap_or(""))) {
            (Some(true), Some(false)) => 12,
            (Some(_), _) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // An escape and what it escapes, so that `\\ud83d` stays what it is.
            _ => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
        };
        mended.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    mended.push_str(rest);
    mended
}

/// Whether `text` begins with a surrogate's escape, and if so whether a leading one.
fn surrogate(text: &str) -> Option<bool> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(true),
        0xDC00..=0xDFFF => Some(false),
        _ => None,
    }
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
