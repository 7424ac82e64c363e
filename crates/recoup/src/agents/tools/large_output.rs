//! Results that are too large for a model: cut, or kept aside for a tool that reads them in pieces.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::{Error, Result};
use serde_json::{Value, json};

use super::ToolReply;
use crate::human;
use crate::llm::ModelTool;

/// Name of the tool that reads what is kept aside.
pub(super) const READ_OUTPUT: &str = "read_tool_output";
/// Length of a handle: the same result has the same one in every run.
const HANDLE_DIGITS: usize = 12;
/// Bytes that are kept aside in one run.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Results that are kept aside in this run, by handle.
#[derive(Debug, Default)]
pub(super) struct LargeOutputs(Mutex<BTreeMap<String, String>>);

impl LargeOutputs {
    /// Reads a piece of at most `most` bytes.
    pub(super) fn read(&self, arguments: &Value, most: usize) -> Result<ToolReply> {
        let outputs = self.0.lock();
        let handle = arguments["output"].as_str().unwrap_or_default();
        let text = outputs.get(handle).ok_or_else(|| {
            let known: Vec<&str> = outputs.keys().map(String::as_str).collect();
            Error::usage(format!("no output {handle:?}; there are: {}", known.join(", ")))
        })?;
        let offset = arguments["offset"].as_u64().unwrap_or(0);
        let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        let begin = text.floor_char_boundary(begin);
        let end = text.floor_char_boundary(begin.saturating_add(most));
        let mut piece = text[begin..end].to_owned();
        if end < text.len() {
            piece =
                format!("{piece}\n[{} of {} bytes; next offset: {end}]", end - begin, text.len());
        }
        Ok(ToolReply::of_text(piece))
    }
}

/// The tool, as a model is told of it.
pub(super) fn spec() -> ModelTool {
    ModelTool {
        name: READ_OUTPUT.to_owned(),
        description: "Reads a piece of a tool's output that was too large to be shown at once."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "output": { "type": "string", "description": "The handle that the output was given." },
                "offset": { "type": "integer", "minimum": 0, "description": "The first byte to read." },
            },
            "required": ["output"],
        }),
    }
}

/// `text` with at most `most` bytes, and a note if there were more.
pub(super) fn limit(text: String, most: usize, kept: Option<&LargeOutputs>) -> String {
    if text.len() <= most {
        return text;
    }
    let end = text.floor_char_boundary(most);
    let (len, cut) = (text.len(), text[..end].to_owned());
    let size = human::size(len as u64);
    if let Some(LargeOutputs(outputs)) = kept {
        let mut outputs = outputs.lock();
        let total: usize = outputs.values().map(String::len).sum();
        if total + len <= MAX_KEPT_BYTES {
            let handle = Sha256Digest::of(text.as_bytes()).to_hex()[..HANDLE_DIGITS].to_owned();
            outputs.insert(handle.clone(), text);
            return format!(
                "{cut}\n[the output has {size}, of which these are the first {end} bytes; \
                 {READ_OUTPUT} reads the rest: output {handle:?}, offset {end}]"
            );
        }
    }
    format!("{cut}\n[cut: the output has {size}, of which these are the first {end} bytes]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_cut_at_a_character_with_a_note() {
        assert_eq!(limit("short".to_owned(), 5, None), "short");
        let cut = limit("aé".repeat(10), 5, None);
        assert!(cut.starts_with("aéa\n[cut: the output has 30 B"), "{cut}");
    }

    #[test]
    fn what_is_kept_aside_is_read_in_pieces_to_its_last_byte() {
        let outputs = LargeOutputs::default();
        let text: String = ('a'..='z').flat_map(|letter| [letter, 'é']).collect();
        let note = limit(text.clone(), 10, Some(&outputs));
        let handle = note.split('"').nth(1).expect("a handle").to_owned();
        let (mut read, mut offset) = (String::new(), 0);
        while offset < text.len() {
            let arguments = json!({ "output": handle, "offset": offset });
            let piece = outputs.read(&arguments, 10).expect("a piece").text;
            let piece = piece.split("\n[").next().unwrap_or_default();
            read.push_str(piece);
            offset += piece.len();
        }
        assert_eq!(read, text);
        let error = outputs.read(&json!({ "output": "other" }), 10).expect_err("unknown");
        assert!(error.to_string().contains(&handle), "{error}");
    }
}
