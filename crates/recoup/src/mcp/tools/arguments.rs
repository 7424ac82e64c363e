//! A model's arguments: validated against the schema, converted, and, for tools of the cache, the
//! result that they select.

use recoup_core::base::project::ProjectId;
use recoup_core::base::text::shorten_text;
use recoup_core::base::ttl::Ttl;
use recoup_core::cache::{ResultReference, join_paths, split_path_list};
use recoup_core::entry::ProducerIdentity;
use recoup_core::key::{EntryId, Key, KeyPart, Kind};
use recoup_core::memory::{NoteId, NoteScope};
use recoup_core::{Error, Result, secrets};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::schema::{text, texts};
use crate::mcp::McpServices;

/// Deserializes the arguments of a tool.
pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|_| Error::usage("the arguments do not match the tool's schema"))
}

/// Scope of a named project; by default the current one.
pub(super) fn requested_scope(services: &McpServices, project: Option<&str>) -> Result<NoteScope> {
    let Some(id) = project else { return Ok(current_scope(services)) };
    let id = ProjectId::parse(id).map_err(|_| {
        Error::usage(format!(
            "projectId: {} is not a project id; leave it out for the current project, which is {}",
            quoted(id),
            services.project().id()
        ))
    })?;
    Ok(NoteScope::Project(id))
}

/// Scope of the current project.
pub(in crate::mcp) fn current_scope(services: &McpServices) -> NoteScope {
    NoteScope::Project(services.project().id().clone())
}

/// Parses a memory's id.
pub(super) fn parse_note_id(text: &str) -> Result<NoteId> {
    NoteId::parse(text).map_err(|_| {
        Error::usage(format!(
            "id: {} is not the id of a memory; search_memory and load_rules return ids",
            quoted(text)
        ))
    })
}

/// Parses a TTL.
pub(super) fn ttl(place: &str, given: &Value) -> Result<Ttl> {
    Ttl::from_json_with_unit(place, given).map_err(|_| {
        let given = given.as_str().map_or_else(|| given.to_string(), quoted);
        Error::usage(format!(
            "{place}: expected off, forever or a duration with a unit, such as 90s, 30m, 12h or \
             1h30m, not {given}"
        ))
    })
}

/// One string or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Several(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl OneOrMany {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Several(texts) => texts,
        }
    }
}

/// `key`, or `paths`, `query` and `operation`, or both.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ResultArguments {
    key: Option<String>,
    paths: Option<OneOrMany>,
    query: Option<String>,
    operation: Option<String>,
}

/// An entry, and the parts of its key where they are known.
#[derive(Debug)]
pub(super) struct SelectedResult {
    pub(super) id: EntryId,
    pub(super) parts: Vec<KeyPart>,
    pub(super) identity: ProducerIdentity,
    /// Paths that the work examines.
    paths: Vec<String>,
}

/// Schema fields of a selector.
pub(super) fn fields() -> Vec<(&'static str, Value)> {
    vec![
        ("paths", texts("What the work examines")),
        ("query", text("The question")),
        ("operation", text("The kind of work: review, security-audit")),
        ("key", text("Instead of these three: a key from an answer")),
    ]
}

impl ResultArguments {
    pub(super) fn resolve(self, services: &McpServices) -> Result<SelectedResult> {
        let Self { key, paths, query, operation } = self;
        let paths = paths.map(|paths| match paths {
            // As on the command line.
            OneOrMany::One(list) => split_path_list(&list),
            OneOrMany::Several(paths) => paths,
        });
        let csv = paths.as_deref().map(join_paths);
        let naming = ResultReference {
            key: key.as_deref(),
            paths: csv.as_deref(),
            query: query.as_deref(),
            operation: operation.as_deref(),
            mark: "",
        };
        if let Some(key) = &key {
            parse_key(key)?;
        }
        let named = naming.resolve()?.ok_or_else(|| {
            Error::usage("which result? Give paths, query and operation, or a key")
        })?;
        let identity = named.identity();
        let mut paths = paths.unwrap_or_default();
        paths.retain(|path| !path.is_empty());
        Ok(SelectedResult {
            id: EntryId::new(services.app.scope(), named.key),
            parts: named.parts,
            identity,
            paths,
        })
    }
}

/// Parses a key argument.
pub(super) fn parse_key(key: &str) -> Result<Key> {
    Key::parse(key).map_err(|_| {
        Error::usage(format!(
            "key: {} is not a valid key; expected one that cache_lookup or cache_store returned",
            quoted(key)
        ))
    })
}

impl SelectedResult {
    /// Refuses a bare key of an entry that is no result: it has another format, and another
    /// command replaces it.
    pub(super) fn must_be_a_result(&self, services: &McpServices) -> Result<()> {
        if !self.parts.is_empty() {
            return Ok(());
        }
        let kind = services.cache.head(&self.id).ok().flatten().map(|head| head.header.kind);
        match kind {
            None | Some(Kind::Result) => Ok(()),
            Some(kind) => Err(Error::usage(format!(
                "key: {} is not a result but an entry of another kind ({kind}); see cache_explain",
                self.id.key
            ))),
        }
    }

    /// Returns the given sources; by default, the paths that exist.
    pub(super) fn sources(&self, services: &McpServices, given: Option<OneOrMany>) -> Vec<String> {
        match given {
            Some(given) => given.into_vec(),
            None => services.cache.watchable(&services.app.view(), &self.paths),
        }
    }

    /// Paths that are not among the sources.
    pub(super) fn unwatched(&self, sources: &[String]) -> Vec<String> {
        self.paths.iter().filter(|path| !sources.contains(path)).cloned().collect()
    }
}

/// Limit of a value in an error, in characters.
const SHOWN: usize = 40;

/// Returns the arguments in the form that the schema requires.
pub(super) fn validate_arguments(schema: &Value, arguments: JsonObject) -> Result<JsonObject> {
    object(schema, arguments, "")
}

/// A value as an error may repeat it: short, and without secrets.
fn quoted(text: &str) -> String {
    format!("{:?}", shorten_text(&secrets::redact(text), SHOWN))
}

fn object(schema: &Value, given: JsonObject, place: &str) -> Result<JsonObject> {
    let none = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&none);
    let inside = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    let mut fitted = JsonObject::new();
    for (name, value) in given {
        let Some(field) = fields.get(&name) else {
            let known: Vec<&str> = fields.keys().map(String::as_str).collect();
            let whose = if place.is_empty() { "this tool" } else { place };
            let has = match known[..] {
                [] => "has no arguments".to_owned(),
                _ => format!("has {}", known.join(", ")),
            };
            let what = format!("unknown argument {}: {whose} {has}", quoted(&name));
            return Err(Error::usage(what));
        };
        if !value.is_null() {
            fitted.insert(name.clone(), validate_value(field, value, &inside(&name))?);
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !fitted.contains_key(*name)) {
        Some(name) => Err(Error::usage(format!("{}: missing", inside(name)))),
        None => Ok(fitted),
    }
}

fn validate_value(schema: &Value, value: Value, place: &str) -> Result<Value> {
    if let Some(choices) = schema["anyOf"].as_array() {
        return match choices.iter().find(|choice| has_type(choice, &value)) {
            // For a list, the error names the wrong item; otherwise all valid forms.
            Some(choice) if value.is_array() || is_valid(choice, &value) => {
                validate_value(choice, value, place)
            }
            _ => Err(mismatch_error(schema, &value, place)),
        };
    }
    if !is_valid(schema, &value) {
        return Err(mismatch_error(schema, &value, place));
    }
    match value {
        Value::Array(items) if schema["items"].is_object() => {
            let item =
                |(at, item)| validate_value(&schema["items"], item, &format!("{place}[{at}]"));
            items.into_iter().enumerate().map(item).collect::<Result<_>>().map(Value::Array)
        }
        Value::Object(fields) if schema["properties"].is_object() => {
            object(schema, fields, place).map(Value::Object)
        }
        Value::Number(number) if type_names(schema).contains(&"integer") => {
            Ok(whole(&number).map_or(Value::Number(number), Value::from))
        }
        value => Ok(value),
    }
}

/// True if a value fits a schema, apart from its content.
fn is_valid(schema: &Value, value: &Value) -> bool {
    let length = match value {
        Value::String(text) => Some(("maxLength", text.chars().count())),
        Value::Array(items) => Some(("maxItems", items.len())),
        _ => None,
    };
    has_type(schema, value)
        && schema["enum"].as_array().is_none_or(|words| words.contains(value))
        && value.as_f64().is_none_or(|number| {
            schema["minimum"].as_f64().is_none_or(|least| number >= least)
                && schema["maximum"].as_f64().is_none_or(|most| number <= most)
        })
        && length
            .is_none_or(|(limit, has)| schema[limit].as_u64().is_none_or(|most| has as u64 <= most))
}

/// The types of a schema.
fn type_names(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    type_names(schema).into_iter().any(|name| match (name, value) {
        ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        ("integer", Value::Number(number)) => whole(number).is_some() || number.is_i64(),
        _ => false,
    })
}

/// A number without a fraction, however it is written.
fn whole(number: &serde_json::Number) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it has no fraction, and is in the range that was just looked at"
    )]
    let cut =
        |float: f64| (float.fract() == 0.0 && (0.0..9e15).contains(&float)).then_some(float as u64);
    number.as_u64().or_else(|| number.as_f64().and_then(cut))
}

fn mismatch_error(schema: &Value, value: &Value, place: &str) -> Error {
    let given = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(number) => shorten_text(&number.to_string(), SHOWN).into_owned(),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    };
    Error::usage(format!("{place}: expected {}, not {given}", expected(schema)))
}

/// Describes a schema in words.
fn expected(schema: &Value) -> String {
    if let Some(choices) = schema["anyOf"].as_array() {
        let all = choices.iter().map(expected).collect::<Vec<_>>().join(" or ");
        return match schema["description"].as_str() {
            Some(what) => format!("{all} ({what})"),
            None => all,
        };
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", words.join(", "));
    }
    let word = |name: &str| match name {
        "string" => "a string",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "an array",
        _ => "an object",
    };
    let kinds: Vec<&str> = type_names(schema).into_iter().map(word).collect();
    let range = match (&schema["minimum"], &schema["maximum"]) {
        (Value::Number(least), Value::Number(most)) => format!(" from {least} to {most}"),
        (Value::Number(least), _) => format!(" of at least {least}"),
        _ => match (&schema["maxLength"], &schema["maxItems"]) {
            (Value::Number(most), _) => format!(" of at most {most} characters"),
            (_, Value::Number(most)) => format!(" of at most {most} strings"),
            _ => String::new(),
        },
    };
    format!("{}{range}", kinds.join(" or "))
}
