//! Normalisers: what differs between two requests that mean the same, such as a date in the system
//! prompt, made equal in the key. The request itself is never changed.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};
use serde_json::{Map, Value};

/// Fields with the instructions of a request.
const INSTRUCTIONS: [&str; 2] = ["system", "instructions"];
/// Fields with its text.
const TEXT_FIELDS: [&str; 4] = ["system", "instructions", "messages", "input"];

/// A named way to make texts of requests equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextNormaliser {
    /// Dates and times in the instructions.
    Dates,
    /// Absolute paths below this root.
    PathsBelow(String),
    /// Ids behind `session id`, as in `session_id: 4f2a…`.
    SessionIds,
    /// UUIDs.
    Uuids,
}

static DATES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?ix)\b\d{4}-\d{2}-\d{2}(?:[t\ ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?
        |\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\ )?
         (?:january|february|march|april|may|june|july|august|september|october|november|december)
         \ \d{1,2}(?:st|nd|rd|th)?,?\ \d{4}\b
        |\b\d{1,2}/\d{1,2}/\d{4}\b",
    )
});
static UUIDS: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
});
static SESSIONS: LazyLock<Regex> =
    LazyLock::new(|| compile(r#"(?i)(\bsession[ _-]?id["']?\s*[:=]\s*["']?)([\w-]{6,})"#));

fn compile(pattern: &str) -> Regex {
    // Tables of Unicode are not among the features that the engine asks for.
    let built = RegexBuilder::new(pattern).unicode(false).build();
    built.expect("the pattern is constant, and a test compiles it")
}

impl TextNormaliser {
    /// Its name in configuration, explanations and statistics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dates => "dates",
            Self::PathsBelow(_) => "paths",
            Self::SessionIds => "session-ids",
            Self::Uuids => "uuids",
        }
    }

    /// Changes the texts of a body; true if there was something to change.
    pub(super) fn apply_to(&self, body: &mut Map<String, Value>) -> bool {
        let fields: &[&str] = if *self == Self::Dates { &INSTRUCTIONS } else { &TEXT_FIELDS };
        let mut is_changed = false;
        for field in fields {
            if let Some(value) = body.get_mut(*field) {
                is_changed |= self.apply_to_value(value);
            }
        }
        // Chat completions have their instructions among the messages.
        if *self == Self::Dates
            && let Some(Value::Array(messages)) = body.get_mut("messages")
        {
            let is_instruction = |message: &&mut Value| {
                matches!(message["role"].as_str(), Some("system" | "developer"))
            };
            for message in messages.iter_mut().filter(is_instruction) {
                is_changed |= self.apply_to_value(message);
            }
        }
        is_changed
    }

    fn apply_to_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.replace(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(changed) => {
                    let is_changed = changed != *text;
                    *text = changed;
                    is_changed
                }
            },
            Value::Array(values) => {
                values.iter_mut().fold(false, |changed, it| self.apply_to_value(it) | changed)
            }
            Value::Object(members) => {
                members.values_mut().fold(false, |changed, it| self.apply_to_value(it) | changed)
            }
            _ => false,
        }
    }

    fn replace<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self {
            Self::Dates => DATES.replace_all(text, "<date>"),
            Self::Uuids => UUIDS.replace_all(text, "<uuid>"),
            Self::SessionIds => SESSIONS.replace_all(text, |found: &Captures<'_>| {
                // A word is no id.
                let is_id = found[2].bytes().any(|byte| byte.is_ascii_digit());
                if is_id { format!("{}<session>", &found[1]) } else { found[0].to_owned() }
            }),
            Self::PathsBelow(root) => replace_root(text, root),
        }
    }
}

/// Replaces a root in front of paths, where the name ends with it.
fn replace_root<'t>(text: &'t str, root: &str) -> Cow<'t, str> {
    let root = root.trim_end_matches('/');
    if root.is_empty() || !text.contains(root) {
        return Cow::Borrowed(text);
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut pieces = text.split(root);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_inside = out.ends_with(|c| is_name(c) || c == '/') || piece.starts_with(is_name);
        out.push_str(if is_inside { root } else { "<root>" });
        out.push_str(piece);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_normaliser_replaces_what_it_names_and_nothing_else() {
        let paths = TextNormaliser::PathsBelow("/home/ann/shop/".to_owned());
        for (normaliser, before, after) in [
            (TextNormaliser::Dates, "Today is 2026-11-18T09:12:30Z.", "Today is <date>."),
            (
                TextNormaliser::Dates,
                "It is Friday, March 3rd, 2026, 3 items",
                "It is <date>, 3 items",
            ),
            (TextNormaliser::Dates, "version 1.2.3, port 8080", "version 1.2.3, port 8080"),
            (TextNormaliser::Uuids, "id 0190f6a2-1f2e-7c3d-9a4b-5c6d7e8f9a0b", "id <uuid>"),
            (TextNormaliser::SessionIds, "session_id: 4f2a99aa", "session_id: <session>"),
            (TextNormaliser::SessionIds, "a session of work", "a session of work"),
            (TextNormaliser::SessionIds, "session id: morning", "session id: morning"),
            (paths.clone(), "in /home/ann/shop/src and /home/ann/shop", "in <root>/src and <root>"),
            (
                paths, "/home/ann/shopping /mnt/home/ann/shop",
                "/home/ann/shopping /mnt/home/ann/shop",
            ),
        ] {
            assert_eq!(normaliser.replace(before), after, "{}", normaliser.name());
        }
    }
}
