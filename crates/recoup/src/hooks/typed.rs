//! Extracts a person's own words from a message in the user's role, for all clients.
//!
//! Clients add to it: an editor's selection, files, reminders, messages of their own. An added file
//! may contain anything, even the client's own tags. So a part is recognised by its position: a
//! message block by itself, a wrapper up to its last closing tag, and an editor's header up to the
//! last title of a request.

use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::private_text::without_private;
use recoup_core::memory::wrapped::without_wrapped;
use serde_json::value::RawValue;

use super::wire;

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

/// Returns the typed part of a text; none for the client's own messages.
pub(super) fn typed_text(client: HookClient, text: &str) -> Option<String> {
    let text = text.trim();
    if CLIENT_TEXT_STARTS.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let text = if client == HookClient::Codex { request_below_header(text)? } else { text };
    // Private parts first: their tags may stand inside a wrapper.
    Some(without_wrapped(&without_private(text)).trim().to_owned())
}

/// Returns the request below an editor's header; none if there is no request.
fn request_below_header(text: &str) -> Option<&str> {
    if !text.starts_with("# ") {
        return Some(text);
    }
    let mut titles = text.rmatch_indices(REQUEST_TITLE);
    match titles.find(|(at, _)| text[..*at].ends_with('\n')) {
        Some((at, title)) => Some(&text[at + title.len()..]),
        None => (!EDITOR_HEADERS.iter().any(|start| text.starts_with(start))).then_some(text),
    }
}

/// Returns the typed part of a message. Each text block is read separately, so that no block can
/// end another.
pub(super) fn typed_message_text(client: HookClient, content: &RawValue) -> Option<String> {
    let blocks = wire::blocks(content);
    let texts = blocks.iter().filter(|block| block.kind.ends_with("text"));
    let mut texts =
        texts.filter_map(|block| block.text.as_deref()).map(|text| typed_text(client, text));
    // The client's own messages stand alone.
    let first = texts.next()??;
    let parts = std::iter::once(first).chain(texts.flatten()).filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join("\n"))
}
