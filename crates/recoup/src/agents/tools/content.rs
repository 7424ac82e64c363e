//! Results of tools as text, for models: text as it is, all else described.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::human;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    #[serde(default)]
    content: Vec<Value>,
    #[serde(default)]
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

/// The text of a result, and true if it says that the call failed.
pub(super) fn to_text(result: &RawValue) -> (String, bool) {
    let Ok(result) = serde_json::from_str::<CallResult>(result.get()) else {
        return ("the server's answer is no result of a tool".to_owned(), true);
    };
    let CallResult { content, structured_content, is_error } = result;
    let has_text = content.iter().any(|block| block["type"] == "text");
    let mut texts: Vec<String> = content.iter().map(block_text).collect();
    if let Some(structured) = structured_content.filter(|_| !has_text) {
        texts.push(structured.to_string());
    }
    let text = texts.join("\n");
    let shown = if is_error { "the tool failed, and says nothing more" } else { "[no output]" };
    (if text.is_empty() { shown.to_owned() } else { text }, is_error)
}

fn block_text(block: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = text(&block["type"]);
    // Base64 has four characters for three bytes.
    let size = |data: &Value| {
        let digits = text(data).trim_end_matches('=').len() as u64;
        human::size(digits * 3 / 4)
    };
    match kind.as_str() {
        "text" => text(&block["text"]),
        "image" | "audio" => {
            format!("[{kind} {}, {}]", text(&block["mimeType"]), size(&block["data"]))
        }
        "resource_link" => format!("[resource {}: {}]", text(&block["name"]), text(&block["uri"])),
        "resource" => {
            let resource = &block["resource"];
            match (resource["text"].as_str(), text(&resource["uri"])) {
                (Some(text), uri) => format!("[resource {uri}]\n{text}"),
                (None, uri) => {
                    let mime = text(&resource["mimeType"]);
                    format!("[resource {uri} {mime}, {}]", size(&resource["blob"]))
                }
            }
        }
        _ => format!("[{kind}]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn models_see_text_and_a_description_of_the_rest() {
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "A".repeat(16384) });
        let link = json!({ "type": "resource_link", "name": "n", "uri": "file:///a" });
        let blob = json!({ "type": "resource", "resource": { "uri": "x:1", "mimeType": "a/b", "blob": "AAAA" } });
        for (result, expected, failed) in [
            (
                json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
                "a\nb",
                false,
            ),
            (json!({ "content": [image] }), "[image image/png, 12.0 KiB]", false),
            (
                json!({ "content": [link, blob] }),
                "[resource n: file:///a]\n[resource x:1 a/b, 3 B]",
                false,
            ),
            (json!({ "content": [], "structuredContent": { "n": 1 } }), "{\"n\":1}", false),
            (
                json!({ "content": [{ "type": "text", "text": "t" }], "structuredContent": {} }),
                "t",
                false,
            ),
            (json!({ "content": [{ "type": "later" }] }), "[later]", false),
            (json!({ "content": [] }), "[no output]", false),
            (json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }), "no", true),
            (json!([1]), "the server's answer is no result of a tool", true),
        ] {
            let raw = to_raw_value(&result).expect("JSON");
            assert_eq!(to_text(&raw), (expected.to_owned(), failed), "{result}");
        }
    }
}
