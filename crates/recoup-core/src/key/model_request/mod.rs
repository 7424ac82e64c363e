//! The key of a request to a model API: upstream, method, path, the headers that count, and the body
//! without the fields that do not change the answer.
//!
//! A field that is not listed here counts, also one that nobody knows yet: a new parameter of a
//! provider must never be ignored. The form of the answer (plain or a stream, with which options)
//! counts as a part of its own, so that both forms of one answer can be stored side by side.

mod normalise;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::canonical::{canonical, canonical_value};
use super::{Key, KeyPart, KeyRecipe, Kind, PartKind};
use crate::base::digest::Sha256Digest;
use crate::error::{Error, ErrorKind, Result};

pub use normalise::TextNormaliser;

/// Fields of the body that choose nothing about the answer, at top level only.
const IGNORED: [&str; 5] =
    ["user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "service_tier"];
/// Fields whose items are parts of their own, and the name of such a part.
const LISTED: [(&str, &str); 4] =
    [("system", "system"), ("tools", "tool"), ("messages", "message"), ("input", "input")];
/// Most items of a list that are parts of their own; earlier ones count as one part.
const MOST_ITEMS: usize = 100;
/// Fields of content blocks and tools with data that is not shown, or with credentials.
const UNSHOWN: [&str; 7] =
    ["source", "image_url", "input_audio", "file", "authorization", "headers", "server_url"];
/// Headers whose values are shown.
const SHOWN_HEADERS: [&str; 4] =
    ["anthropic-version", "anthropic-beta", "openai-organization", "openai-project"];

/// Ends of the names of fields with credentials, which some servers take in the body.
const SECRET_ENDINGS: [&str; 7] =
    ["key", "token", "secret", "password", "authorization", "headers", "credentials"];

/// Inputs that determine the answer of a model API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequestRecipe {
    /// Name of the upstream.
    pub upstream: String,
    /// Method of the request.
    pub method: String,
    /// Path at the upstream, without what does not change the answer.
    pub path: String,
    /// Headers that count, by name.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: ModelRequestBody,
}

/// Body of a request to a model API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequestBody {
    /// The fields that count, in canonical form.
    fields: BTreeMap<String, String>,
    /// Parts of the fields in [`LISTED`].
    items: Vec<KeyPart>,
    /// Form of the answer.
    form: String,
    /// Names of the normalisers that changed something.
    normalised: Vec<&'static str>,
}

impl ModelRequestBody {
    /// Reads a JSON object. An error if canonical JSON cannot carry it, or if a name occurs twice.
    pub fn read(text: &str, normalisers: &[TextNormaliser]) -> Result<Self> {
        // Finds duplicate names, which a map would merge in silence.
        canonical(text)?;
        match serde_json::from_str(text) {
            Ok(Value::Object(body)) => Self::of(body, normalisers),
            _ => Err(Error::new(ErrorKind::Invalid, "the body is not a JSON object")),
        }
    }

    /// The body of a request that has none.
    pub fn none() -> Self {
        let (fields, items, normalised) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { fields, items, form: String::new(), normalised }
    }

    fn of(mut body: Map<String, Value>, normalisers: &[TextNormaliser]) -> Result<Self> {
        let form = take_form(&mut body);
        body.retain(|name, _| !IGNORED.contains(&name.as_str()));
        // Chat completions are not stored unless that is asked for; responses are.
        if body.contains_key("messages") && body.get("store") == Some(&Value::Bool(false)) {
            body.remove("store");
        }
        body.remove("cache_control");
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.remove("user_id");
            if metadata.is_empty() {
                body.remove("metadata");
            }
        }
        for name in ["system", "tools", "messages", "input"] {
            if let Some(value) = body.get_mut(name) {
                unify_blocks(value, 0);
            }
        }
        let mut normalised = Vec::new();
        for normaliser in normalisers {
            if normaliser.apply_to(&mut body) {
                normalised.push(normaliser.name());
            }
        }
        let mut items = Vec::new();
        for (field, part) in LISTED {
            if let Some(Value::Array(values)) = body.get(field) {
                items.extend(list_parts(part, values)?);
            }
        }
        let canonical_field = |(name, value)| Ok((name, canonical_value(&value)?));
        let fields = body.into_iter().map(canonical_field).collect::<Result<_>>()?;
        Ok(Self { fields, items, form, normalised })
    }

    /// This question, answered in another form.
    #[must_use]
    pub fn with_form(&self, form: &str) -> Self {
        Self { form: form.to_owned(), ..self.clone() }
    }

    /// Form of the answer: empty if plain, otherwise `stream` with its options.
    pub fn form(&self) -> &str {
        &self.form
    }

    /// The fields that count, in canonical form and in the order of their names: for lists in a stable order.
    pub fn canonical_text(&self) -> String {
        self.fields.iter().flat_map(|(name, text)| [name, "=", text, "\n"]).collect()
    }

    /// Names of the normalisers that changed something.
    pub fn normalised(&self) -> &[&'static str] {
        &self.normalised
    }
}

/// Removes the fields that choose the form of the answer, and returns the form.
fn take_form(body: &mut Map<String, Value>) -> String {
    let options = body.remove("stream_options");
    if body.remove("stream") != Some(Value::Bool(true)) {
        return String::new();
    }
    match options {
        Some(Value::Object(mut options)) => {
            options.retain(|name, value| {
                let is_default = name == "include_usage" && *value == Value::Bool(false);
                !(value.is_null() || is_default)
            });
            match options.len() {
                0 => "stream".to_owned(),
                _ => format!("stream {}", Value::Object(options)),
            }
        }
        _ => "stream".to_owned(),
    }
}

/// Removes `cache_control` where APIs define it (on blocks, tools and messages), and writes content
/// that is one block of text as that text. Schemas and arguments of tools are left as they are.
fn unify_blocks(value: &mut Value, depth: usize) {
    // Blocks are in messages, and within results of tools.
    const DEEPEST: usize = 4;
    let Value::Array(blocks) = value else { return };
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        block.remove("cache_control");
        if let Some(content) = block.get_mut("content").filter(|_| depth < DEEPEST) {
            unify_blocks(content, depth + 1);
        }
    }
    if let [Value::Object(block)] = blocks.as_slice()
        && block.len() == 2
        && matches!(block.get("type").and_then(Value::as_str), Some("text" | "input_text"))
        && let Some(Value::String(text)) = block.get("text")
    {
        *value = Value::String(text.clone());
    }
}

/// Makes content of a message equal however it is written, as keys do: without marks for the provider's
/// cache, and one block of text as that text.
pub fn unify_content(content: &mut Value) {
    unify_blocks(content, 0);
}

/// The parts of a list: its last items one by one, all earlier ones together.
fn list_parts(name: &str, values: &[Value]) -> Result<Vec<KeyPart>> {
    let earlier = values.len().saturating_sub(MOST_ITEMS);
    let mut parts = Vec::new();
    if earlier > 0 {
        let text = canonical_value(&Value::Array(values[..earlier].to_vec()))?;
        parts.push(KeyPart::hidden(&format!("{name} 1 to {earlier}"), &text));
    }
    for (at, value) in values.iter().enumerate().skip(earlier) {
        let part = KeyPart::shown(&format!("{name} {}", at + 1), &readable(value));
        parts.push(KeyPart { digest: digest_of(value)?, ..part });
    }
    Ok(parts)
}

fn digest_of(value: &Value) -> Result<Sha256Digest> {
    canonical_value(value).map(|text| Sha256Digest::of(text.as_bytes()))
}

/// An item as people recognise it, without images and the like.
fn readable(value: &Value) -> String {
    let Value::Object(item) = value else { return value.to_string() };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let role = item.get("role").and_then(Value::as_str);
    match (role, item.get("content")) {
        (Some(role), Some(Value::Array(blocks))) => {
            let blocks: Vec<String> = blocks.iter().map(readable).collect();
            format!("{role}: {}", blocks.join(" "))
        }
        (Some(role), Some(content)) => format!("{role}: {}", text(content)),
        _ if UNSHOWN.iter().any(|name| item.contains_key(*name)) => {
            format!("[{}]", item.get("type").map_or_else(|| "data".to_owned(), text))
        }
        _ => match item.get("text") {
            Some(words) => text(words),
            None => value.to_string(),
        },
    }
}

impl KeyRecipe for ModelRequestRecipe {
    const KIND: Kind = Kind::ModelRequest;

    fn key(&self) -> Result<Key> {
        let Self { upstream, method, path, headers, body } = self;
        let ModelRequestBody { fields, items: _, form, normalised } = body;
        // Fields are in canonical form already; canonical text must not be read again.
        let fields: BTreeMap<_, _> =
            fields.iter().map(|(name, text)| (name, Sha256Digest::of(text.as_bytes()))).collect();
        let inputs = json!({
            "v": 1,
            "kind": Self::KIND.as_str(),
            "upstream": upstream,
            "method": method,
            "path": path,
            "headers": headers,
            "fields": fields,
            "form": form,
            "normalised": normalised,
        });
        Ok(Key::from_digest(Sha256Digest::of(canonical_value(&inputs)?.as_bytes())))
    }

    /// The messages, by which people know a request, last.
    fn parts(&self) -> Vec<KeyPart> {
        let Self { upstream, method, path, headers, body } = self;
        let mut parts = vec![
            KeyPart::shown("upstream", upstream),
            KeyPart::shown("path", &format!("{method} {}", path.split('?').next().unwrap_or(path))),
        ];
        if let Some((_, query)) = path.split_once('?') {
            // It may have a key.
            parts.push(KeyPart::hidden("query", query));
        }
        // Those that the user names may be anything.
        let header = |(name, value): (&String, &String)| {
            let (part, is_known) =
                (format!("header {name}"), SHOWN_HEADERS.contains(&name.as_str()));
            if is_known { KeyPart::shown(&part, value) } else { KeyPart::hidden(&part, value) }
        };
        parts.extend(headers.iter().map(header));
        if !body.form.is_empty() {
            parts.push(KeyPart::shown("form", &body.form));
        }
        if !body.normalised.is_empty() {
            parts.push(KeyPart::shown("normalised", &body.normalised.join(" ")));
        }
        let is_listed = |name: &str| {
            let is_field = |(field, part): &(&str, &str)| {
                *field == name && body.items.iter().any(|it| it.name.starts_with(part))
            };
            LISTED.iter().any(is_field)
        };
        let own = body.fields.iter().filter(|(name, _)| !is_listed(name));
        let is_secret = |name: &str| {
            name == "mcp_servers" || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        };
        parts.extend(own.map(|(name, value)| {
            if is_secret(name) { KeyPart::hidden(name, value) } else { KeyPart::shown(name, value) }
        }));
        parts.extend(body.items.iter().cloned());
        parts
    }

    fn part_kind(part: &str) -> PartKind {
        if part == "normalised" { PartKind::List(' ') } else { PartKind::Text }
    }
}
