//! Parsing shared by the clients' formats: texts that are a string or a list of blocks, calls,
//! times, JSON with lone surrogates, and a person's own words in a message.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Deref;

use crate::clients::replace_lone_surrogates;
use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{CallStatus, EntryKind, ToolAction, ToolCall};
use recoup_core::memory::guard::private_text::without_private;
use recoup_core::memory::guard::wrapped::without_wrapped;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Beginnings of texts that the client itself writes in the user's role.
const CLIENT_TEXT_STARTS: [&str; 11] = [
    "<command-",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<user-memory-input>",
    "Caveat: The messages below",
    "This session is being continued from a previous",
    "<tool_use_error>",
    "Stop hook feedback:",
    "[Request interrupted by user",
];

/// Title of the request; Codex's editor extensions put files and selections above it.
const REQUEST_TITLE: &str = "## My request for Codex:";
/// First line of what these extensions add.
const EDITOR_HEADERS: [&str; 2] =
    ["# Context from my IDE setup:", "# Files mentioned by the user:"];

/// A block of a message. `kind` decides which fields are present.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MessageBlock<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    /// Arguments of a call: `input` in one client, `arguments` in another.
    #[serde(borrow, alias = "arguments")]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) content: Option<&'a RawValue>,
    pub(crate) is_error: Option<bool>,
}

/// Runs `read` on a line of JSON, with lone surrogates replaced: a client may cut a text in the
/// middle of a surrogate pair, which `serde_json` would reject.
pub(crate) fn parse_line<T: Default>(
    line: &[u8],
    read: impl Fn(&str) -> serde_json::Result<T>,
) -> T {
    let Ok(text) = str::from_utf8(line) else { return T::default() };
    read(&replace_lone_surrogates(text)).unwrap_or_default()
}

/// Blocks of a content; a plain string becomes one text block. A malformed block does not hide the
/// others.
pub(crate) fn blocks(content: &RawValue) -> Vec<MessageBlock<'_>> {
    serde_json::from_str(content.get()).unwrap_or_else(|_| {
        let parts: Vec<&RawValue> =
            serde_json::from_str(content.get()).unwrap_or_else(|_| vec![content]);
        parts.into_iter().filter_map(lenient_block).collect()
    })
}

/// Parses a block that may be a plain string, or have fields of other types than expected.
fn lenient_block(block: &RawValue) -> Option<MessageBlock<'_>> {
    if let Ok(block) = serde_json::from_str(block.get()) {
        return Some(block);
    }
    if let Ok(BorrowedText(text)) = serde_json::from_str(block.get()) {
        let kind = Cow::Borrowed("text");
        return Some(MessageBlock { kind, text: Some(text), ..MessageBlock::default() });
    }
    let kind = Cow::Owned(string_field(block, "type")?);
    let text = string_field(block, "text").map(Cow::Owned);
    Some(MessageBlock { kind, text, ..MessageBlock::default() })
}

/// A JSON string, borrowed unless it has escapes.
#[derive(Deserialize)]
pub(crate) struct BorrowedText<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Texts of a content, joined by line ends.
pub(crate) fn text_of(content: &RawValue) -> String {
    let blocks = blocks(content);
    let texts = blocks.iter().filter(|block| block.kind.ends_with("text"));
    texts.filter_map(|block| block.text.as_deref()).collect::<Vec<_>>().join("\n")
}

/// Reads what an agent said or called from a block. `call` is the block type of calls, `action`
/// maps a tool and its input.
pub(crate) fn agent_entry(
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
    Some(EntryKind::Call(tool_call(Some(id), name, input, action)))
}

/// Makes the call of a tool. One without an id is identified by its input.
pub(crate) fn tool_call(
    id: Option<&str>,
    tool: &str,
    input: &RawValue,
    action: fn(&str, &RawValue) -> ToolAction,
) -> ToolCall {
    let id = id.map_or_else(|| text_digest(input.get()), str::to_owned);
    ToolCall::new(&id, tool, action(tool, input), input.get().as_bytes())
}

/// Status of a command with this exit code; success if there is none.
pub(crate) fn status_of_exit(exit: Option<i32>) -> CallStatus {
    match exit {
        Some(0) | None => CallStatus::Succeeded,
        exit => CallStatus::Failed { exit },
    }
}

/// Returns a string field of a JSON object. Other fields are not parsed: one may hold a whole file.
pub(crate) fn string_field(object: &RawValue, name: &str) -> Option<String> {
    let fields: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object.get()).ok()?;
    let BorrowedText(text) = serde_json::from_str(fields.get(name)?.get()).ok()?;
    Some(text.into_owned())
}

/// A field that counts as missing if it has another type than expected.
#[derive(Debug)]
pub(crate) struct LenientField<T>(pub(crate) Option<T>);

impl<T> Default for LenientField<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Deref for LenientField<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientField<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(value.get()).ok()))
    }
}

/// Digest of a text, to recognise it without storing it.
pub(crate) fn text_digest(text: &str) -> String {
    Sha256Digest::of(text.as_bytes()).to_string()
}

/// Parses an ISO 8601 time.
pub(crate) fn parse_time(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(Timestamp::parse)
}

/// Text between `<name>` and `</name>`.
pub(crate) fn tag_content<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
}

/// Returns the part of a text in the user's role that a person typed; none for the client's own
/// messages.
///
/// Clients add to it: an editor's selection, files, reminders, messages of their own. An added file
/// may contain anything, even the client's own tags. So a part is recognised by its position: a
/// message block by itself, a wrapper up to its last closing tag, and an editor's header up to the
/// last title of a request.
pub(crate) fn typed_text(client: HookClient, text: &str) -> Option<String> {
    let text = text.trim();
    if CLIENT_TEXT_STARTS.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    // Below an editor's header there may be a request.
    let text = if client == HookClient::Codex && text.starts_with("# ") {
        let mut titles = text.rmatch_indices(REQUEST_TITLE);
        match titles.find(|(at, _)| text[..*at].ends_with('\n')) {
            Some((at, title)) => &text[at + title.len()..],
            None if EDITOR_HEADERS.iter().any(|start| text.starts_with(start)) => return None,
            None => text,
        }
    } else {
        text
    };
    // Private parts first: their tags may stand inside a wrapper.
    Some(without_wrapped(&without_private(text)).trim().to_owned())
}

/// Returns the typed part of a message. Each text block is read separately, so that no block can
/// end another.
pub(crate) fn typed_message_text(client: HookClient, content: &RawValue) -> Option<String> {
    let blocks = blocks(content);
    let texts = blocks.iter().filter(|block| block.kind.ends_with("text"));
    let mut texts =
        texts.filter_map(|block| block.text.as_deref()).map(|text| typed_text(client, text));
    // The client's own messages stand alone.
    let first = texts.next()??;
    let parts = std::iter::once(first).chain(texts.flatten()).filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join("\n"))
}
