//! Extracts what a person typed from a text in the user's place, for all clients.
//!
//! Clients put more there than was typed: an editor's selection, files, reminders, their own
//! words. A file may hold whatever its author liked, the client's own tags among it. So a part is
//! recognised by where it stands: a block of a message by itself, a wrapper up to its last closing
//! tag, and what an editor puts above a request up to the last title of a request.

use recoup_core::memory::hooked::Client;
use recoup_core::memory::private::without_private;
use recoup_core::memory::wrapped::without_wrapped;
use serde_json::value::RawValue;

use super::wire;

/// The beginning of texts that the client itself writes in a user's place.
const CLIENT_SAYS: [&str; 11] = [
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

/// Above this line Codex's editor extensions put files and selections, and below it the request.
const REQUEST: &str = "## My request for Codex:";
/// The first line of what they put there.
const EDITOR_SAYS: [&str; 2] = ["# Context from my IDE setup:", "# Files mentioned by the user:"];

/// Returns what was typed of a text; none where the client says it itself.
pub(super) fn typed(client: Client, text: &str) -> Option<String> {
    let text = text.trim();
    if CLIENT_SAYS.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let text = if client == Client::Codex { requested(text)? } else { text };
    // Private parts first: a tag of them may stand in what is taken out.
    Some(without_wrapped(&without_private(text)).trim().to_owned())
}

/// Returns the request below what an editor put above it; none where there is no request.
fn requested(text: &str) -> Option<&str> {
    if !text.starts_with("# ") {
        return Some(text);
    }
    let mut titles = text.rmatch_indices(REQUEST);
    match titles.find(|(at, _)| text[..*at].ends_with('\n')) {
        Some((at, title)) => Some(&text[at + title.len()..]),
        None => (!EDITOR_SAYS.iter().any(|start| text.starts_with(start))).then_some(text),
    }
}

/// Returns what was typed of a message: each block of text for itself, so that nothing in one
/// block can end another.
pub(super) fn typed_in(client: Client, content: &RawValue) -> Option<String> {
    let blocks = wire::blocks(content);
    let texts = blocks.iter().filter(|block| block.kind.ends_with("text"));
    let mut texts = texts.filter_map(|block| block.text.as_deref()).map(|text| typed(client, text));
    // What the client says itself is one message.
    let first = texts.next()??;
    let parts = std::iter::once(first).chain(texts.flatten()).filter(|part| !part.is_empty());
    Some(parts.collect::<Vec<_>>().join("\n"))
}
