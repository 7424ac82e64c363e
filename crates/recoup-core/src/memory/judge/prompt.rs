//! Prompts for a model. Text of others stands in one frame, as JSON in which no text can close that
//! frame, and is declared as data.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::memory::judge::sent_text::{JudgeCandidate, SessionTail};
use crate::memory::model::estimate;

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgePrompt {
    /// The instructions: ours alone.
    pub system: &'static str,
    /// The data: anybody's.
    pub user: String,
    /// Longest answer, in tokens.
    pub most_output: u32,
    /// The shape of the answer, as a JSON schema.
    pub schema: Value,
}

/// Tokens that the provider may add to a prompt, for the schema among other things.
const OVERHEAD: u64 = 800;

impl JudgePrompt {
    /// Asks which of these sentences are worth keeping.
    pub fn classify(candidates: &[JudgeCandidate]) -> Self {
        let texts = candidates.iter().map(|candidate| json!({ "text": candidate.text() }));
        let output = u32::try_from(candidates.len()).unwrap_or(u32::MAX).saturating_mul(250);
        Self {
            system: CLASSIFY.trim_end(),
            user: framed("candidates", texts),
            most_output: output.saturating_add(100),
            schema: answer_schema("verdicts", "id", &json!({"type": "integer"}), "statement"),
        }
    }

    /// Asks what this session has taught.
    pub fn learn(tail: &SessionTail) -> Self {
        let turns = tail.turns().iter();
        let turns = turns.map(|(who, text)| json!({ "who": who.as_str(), "text": text }));
        Self {
            system: LEARN.trim_end(),
            user: framed("session", turns),
            most_output: 1_500,
            schema: answer_schema(
                "learnings",
                "from",
                &json!({"type": "array", "items": {"type": "integer"}}),
                "text",
            ),
        }
    }

    /// Most tokens that this question can cost.
    pub fn most_tokens(&self) -> u64 {
        let texts = [self.system, &self.user].map(|text| u64::from(estimate(text)));
        texts.into_iter().sum::<u64>() + u64::from(self.most_output) + OVERHEAD
    }
}

/// Puts one item on each line, numbered from 1. Brackets are written as JSON escapes, so nothing in
/// the frame looks like its end.
fn framed(name: &str, items: impl Iterator<Item = Value>) -> String {
    let mut text = format!("<{name}>\n");
    for (number, mut item) in (1..).zip(items) {
        item["id"] = Value::from(number);
        let line = item.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
        let _ = writeln!(text, "{}", line.replace('&', "\\u0026"));
    }
    text + &format!("</{name}>")
}

const CLASSIFY: &str = include_str!("classify.txt");
const LEARN: &str = include_str!("learn.txt");

fn answer_schema(name: &str, place: &str, place_type: &Value, text: &str) -> Value {
    let labels = ["correction", "preference", "failure", "devops", "project-knowledge", "none"];
    let item = json!({
        "type": "object",
        "properties": {
            "label": {"type": "string", "enum": labels},
            "confidence": {"type": "number"},
            (place): place_type,
            (text): {"type": "string"},
        },
        "required": [place, "label", "confidence", text],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {(name): {"type": "array", "items": item}},
        "required": [name],
        "additionalProperties": false,
    })
}
