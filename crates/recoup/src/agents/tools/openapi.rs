//! OpenAPI documents as REST tools: one for each operation.

use std::collections::BTreeMap;
use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::{Error, Result};
use serde_json::{Map, Value, json};

use super::rest::parse_url;
use crate::config::{YamlSource, read_yaml};
use crate::toolbox::{OpenApiDefinition, RestToolDefinition};

/// Larger than the documents of the largest public APIs that have been split by area.
const MAX_DOCUMENT_BYTES: u64 = 8 << 20;
/// References in a row, without a value between them.
const MAX_REFERENCE_CHAIN: usize = 8;
/// References in the schemas of one operation; behind them, schemas allow anything.
const MAX_SCHEMA_REFERENCES: usize = 200;
/// Maximum length of an argument's name that all model APIs accept.
const MAX_ARGUMENT_LEN: usize = 64;
/// Headers that are no arguments: those of HTTP itself, and those that OpenAPI leaves to others.
const RESERVED_HEADERS: [&str; 8] = [
    "accept", "authorization", "connection", "content-length", "content-type", "cookie", "host",
    "transfer-encoding",
];

/// Reads the document; the operations that the definition selects.
pub(super) fn read_operations(
    definition: &OpenApiDefinition,
    root: &Path,
) -> Result<Vec<RestToolDefinition>> {
    let path = root.join(&definition.spec);
    let read = || {
        let bytes = fsx::read_regular(&path, MAX_DOCUMENT_BYTES).map_err(|it| it.to_string())?;
        let bytes = bytes.ok_or("there is no such file")?;
        let text = String::from_utf8(bytes).map_err(|_| "not UTF-8")?;
        let json = if text.trim_start().starts_with('{') {
            serde_json::from_str(&text).map_err(|error| error.to_string())?
        } else {
            let node = read_yaml(&text, YamlSource::OtherProgram).map_err(|error| {
                let line = error.position.map(|at| format!("line {}: ", at.line));
                line.unwrap_or_default() + &error.message
            })?;
            node.to_json().ok_or("it has values that JSON does not have")?
        };
        SpecDocument(json).operations(definition)
    };
    read().map_err(|why: String| {
        Error::usage(format!("{}: {}: {why}", definition.name, path.display()))
    })
}

/// An OpenAPI document.
struct SpecDocument(Value);

impl SpecDocument {
    fn operations(&self, wanted: &OpenApiDefinition) -> Result<Vec<RestToolDefinition>, String> {
        if self.0.get("swagger").is_some() {
            return Err("Swagger 2 is not supported: convert the document to OpenAPI 3".to_owned());
        }
        if !self.0["openapi"].as_str().is_some_and(|version| version.starts_with("3.")) {
            return Err("not an OpenAPI 3 document".to_owned());
        }
        let base = self.base_url(wanted)?;
        let mut tools: Vec<RestToolDefinition> = Vec::new();
        for (path, item) in self.0["paths"].as_object().into_iter().flatten() {
            let item = self.follow(item)?;
            for method in ["get", "put", "post", "delete", "patch", "head"] {
                let Some(operation) = item.get(method) else { continue };
                let mut tags =
                    operation["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let is_wanted = (wanted.methods.is_empty()
                    || wanted.methods.iter().any(|it| it == method))
                    && (wanted.tags.is_empty()
                        || tags.any(|tag| wanted.tags.iter().any(|it| it == tag)));
                if !is_wanted {
                    continue;
                }
                let tool = self
                    .operation(wanted, &base, (path, item), (method, operation))
                    .map_err(|why| format!("{} {path}: {why}", method.to_uppercase()))?;
                if let Some(mut tool) = tool {
                    if tools.iter().any(|it| it.name == tool.name) {
                        tool.name = format!("{}_{}", tool.name, tools.len());
                    }
                    tools.push(tool);
                }
            }
        }
        if tools.is_empty() {
            return Err("no operation is left, with includeMethods and tagFilter".to_owned());
        }
        Ok(tools)
    }

    /// The configured address, or that of the first server, without a slash at the end.
    fn base_url(&self, wanted: &OpenApiDefinition) -> Result<String, String> {
        let (url, key) = if let Some(url) = &wanted.base_url {
            (url.clone(), "baseUrl")
        } else {
            let server = &self.0["servers"][0];
            let mut url = server["url"].as_str().unwrap_or_default().to_owned();
            for (name, variable) in server["variables"].as_object().into_iter().flatten() {
                let value = variable["default"].as_str().unwrap_or_default();
                url = url.replace(&format!("{{{name}}}"), value);
            }
            if !url.contains("://") {
                return Err("the document names no server with a full URL: set baseUrl".to_owned());
            }
            (url, "servers")
        };
        parse_url(&url).map_err(|error| format!("{key}: {error}"))?;
        Ok(url.trim_end_matches('/').to_owned())
    }

    /// One operation as a tool; none if it needs a body that is not JSON.
    fn operation(
        &self,
        wanted: &OpenApiDefinition,
        base: &str,
        (path, item): (&str, &Value),
        (method, operation): (&str, &Value),
    ) -> Result<Option<RestToolDefinition>, String> {
        // Anything else could change the host.
        if !path.starts_with('/') {
            return Err("paths begin with /".to_owned());
        }
        let mut parameters = BTreeMap::new();
        for owner in [item, operation] {
            for parameter in owner["parameters"].as_array().into_iter().flatten() {
                let parameter = self.follow(parameter)?;
                let (name, place) = (parameter["name"].as_str(), parameter["in"].as_str());
                let (name, place) = name.zip(place).ok_or("a parameter without name and in")?;
                parameters.insert((place, name), parameter);
            }
        }
        let (mut properties, mut required) = (Map::new(), Vec::new());
        let (mut query, mut headers) = (BTreeMap::new(), wanted.headers.clone());
        let mut references = MAX_SCHEMA_REFERENCES;
        for ((place, name), parameter) in parameters {
            let argument = clean_name(name);
            match place {
                "path" => {}
                "query" => drop(query.insert(name.to_owned(), argument.clone())),
                "header" => {
                    let is_same = |it: &str| it.eq_ignore_ascii_case(name);
                    if headers.keys().any(|it| is_same(it))
                        || RESERVED_HEADERS.into_iter().any(is_same)
                    {
                        continue;
                    }
                    headers.insert(name.to_owned(), format!("${{parameters.{argument}}}"));
                }
                _ => continue,
            }
            let content = parameter["content"].as_object().and_then(|it| it.values().next());
            let schema = parameter.get("schema").or_else(|| content?.get("schema"));
            let mut schema = self.inline(schema, &mut Vec::new(), &mut references)?;
            if let Some(description) = parameter.get("description") {
                schema["description"] = description.clone();
            }
            let is_required = place == "path" || parameter["required"] == true;
            if is_required && !required.contains(&argument) {
                required.push(argument.clone());
            }
            properties.insert(argument, schema);
        }
        let mut url = base.to_owned();
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or("{ without }")?;
            let argument = clean_name(name);
            url = format!("{url}{before}${{parameters.{argument}}}");
            if !required.contains(&argument) {
                required.push(argument.clone());
            }
            properties.entry(argument).or_insert_with(|| json!({ "type": "string" }));
            rest = after;
        }
        url.push_str(rest);
        let mut body = None;
        if let Some(request) = operation.get("requestBody") {
            let request = self.follow(request)?;
            let is_json = |(kind, _): &(&String, &Value)| {
                let kind = kind.split(';').next().unwrap_or_default().trim();
                kind == "application/json" || kind.ends_with("+json")
            };
            let content = request["content"].as_object().into_iter().flatten().find(is_json);
            if let Some((kind, content)) = content {
                let name = if properties.contains_key("body") { "requestBody" } else { "body" };
                let schema = content.get("schema");
                let schema = self.inline(schema, &mut Vec::new(), &mut references)?;
                properties.insert(name.to_owned(), schema);
                if request["required"] == true {
                    required.push(name.to_owned());
                }
                body = Some(Value::String(format!("${{parameters.{name}}}")));
                let is_given = headers.keys().any(|it| it.eq_ignore_ascii_case("content-type"));
                if !is_given && kind != "application/json" {
                    headers.insert("Content-Type".to_owned(), kind.clone());
                }
            } else if request["required"] == true {
                return Ok(None);
            }
        }
        let id = operation["operationId"].as_str();
        let id = id.map_or_else(|| clean_name(&format!("{method}{path}")), clean_name);
        let document = wanted.name.strip_prefix("openapi:").unwrap_or(&wanted.name);
        let texts =
            ["summary", "description"].map(|key| operation[key].as_str().unwrap_or("").trim());
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        Ok(Some(RestToolDefinition {
            // Other documents may have an operation of this name.
            name: format!("{document}:{}", id.replace('.', "_")),
            description: texts.join("\n\n"),
            method: method.to_uppercase(),
            url,
            query,
            headers,
            parameters: json!({ "type": "object", "properties": properties, "required": required }),
            body,
            timeout: None,
        }))
    }

    /// The value, or the one that its reference leads to.
    fn follow<'a>(&'a self, mut value: &'a Value) -> Result<&'a Value, String> {
        for _ in 0..MAX_REFERENCE_CHAIN {
            let Some(target) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
            let found = target.strip_prefix('#').and_then(|pointer| self.0.pointer(pointer));
            value =
                found.ok_or_else(|| format!("$ref {target:?} leads to nothing in this file"))?;
        }
        Err("$ref: too many references in a row".to_owned())
    }

    /// The schema with what it refers to in its place; an object in any case. A schema within itself,
    /// and what is behind too many references, allows anything.
    fn inline<'a>(
        &'a self,
        schema: Option<&'a Value>,
        open: &mut Vec<&'a Value>,
        left: &mut usize,
    ) -> Result<Value, String> {
        let Some(Value::Object(members)) = schema else { return Ok(json!({})) };
        let Some(schema) = schema.filter(|it| it.get("$ref").is_some_and(Value::is_string)) else {
            let mut inlined = Map::new();
            for (name, value) in members {
                // OpenAPI 3.0 has these as flags, JSON Schema as numbers.
                if name.starts_with("exclusiveM") && value.is_boolean() {
                    continue;
                }
                let value = match value {
                    Value::Object(_) => self.inline(Some(value), open, left)?,
                    Value::Array(items) => {
                        let mut inline = |item: &'a Value| match item {
                            Value::Object(_) => self.inline(Some(item), open, left),
                            other => Ok(other.clone()),
                        };
                        items.iter().map(&mut inline).collect::<Result<_, _>>()?
                    }
                    other => other.clone(),
                };
                inlined.insert(name.clone(), value);
            }
            return Ok(Value::Object(inlined));
        };
        let target = self.follow(schema)?;
        if *left == 0 || open.iter().any(|it| std::ptr::eq(*it, target)) {
            return Ok(json!({}));
        }
        *left -= 1;
        open.push(target);
        let inlined = self.inline(Some(target), open, left);
        open.pop();
        inlined
    }
}

/// A name in the characters and the length that model APIs accept for arguments.
fn clean_name(name: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let clean = name.chars().map(|c| if is_allowed(c) { c } else { '_' });
    clean.take(MAX_ARGUMENT_LEN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PETS: &str = r##"
openapi: 3.0.3
servers: [{url: "https://{region}.pets.example/v1/", variables: {region: {default: eu}}}]
paths:
  /pets/{id}:
    parameters: [{$ref: "#/components/parameters/Id"}]
    get:
      operationId: get.pet
      summary: One pet
      tags: [read]
      parameters:
        - {name: "filter[kind]", in: query, schema: {type: string}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: Authorization, in: header, required: true, schema: {type: string}}
    put:
      tags: [write]
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
  /photo:
    post:
      requestBody: {required: true, content: {image/png: {}}}
components:
  parameters:
    Id: {name: id, in: path, required: true, description: Its number, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
  schemas:
    Pet: {type: object, properties: {mother: {$ref: "#/components/schemas/Pet"}, name: {$ref: "#/components/schemas/Name"}}}
    Name: {type: string}
"##;

    fn read(
        text: &str,
        change: impl Fn(&mut OpenApiDefinition),
    ) -> Result<Vec<RestToolDefinition>, String> {
        let dir = tempfile::tempdir().unwrap();
        fsx::write_atomic(&dir.path().join("spec"), text.as_bytes()).unwrap();
        let mut definition = OpenApiDefinition {
            name: "openapi:pets".to_owned(),
            spec: "spec".into(),
            base_url: None,
            headers: BTreeMap::new(),
            methods: Vec::new(),
            tags: Vec::new(),
        };
        change(&mut definition);
        read_operations(&definition, dir.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn operations_become_tools() {
        let tools = read(PETS, |_| {}).unwrap();
        let [get, put] = &tools[..] else { panic!("{tools:?}") };
        assert_eq!((get.name.as_str(), put.name.as_str()), ("pets:get_pet", "pets:put_pets__id_"));
        assert_eq!((get.method.as_str(), get.description.as_str()), ("GET", "One pet"));
        assert_eq!(get.url, "https://eu.pets.example/v1/pets/${parameters.id}");
        assert_eq!(get.query["filter[kind]"], "filter_kind_");
        assert_eq!(get.headers.keys().collect::<Vec<_>>(), ["X-Trace"]);
        let id = json!({ "type": "integer", "minimum": 0, "description": "Its number" });
        let text = json!({ "type": "string" });
        let properties = json!({ "id": id, "filter_kind_": text, "X-Trace": text });
        let schema = json!({ "type": "object", "properties": properties, "required": ["id"] });
        assert_eq!(get.parameters, schema);
        let pet = json!({ "type": "object", "properties": { "mother": {}, "name": text } });
        assert_eq!(put.parameters["properties"]["body"], pet, "a schema within itself ends");
        assert_eq!(put.parameters["required"], json!(["id", "body"]));
        assert_eq!(put.body, Some(json!("${parameters.body}")));
    }

    #[test]
    fn methods_and_tags_select_operations() {
        let count = |change: fn(&mut OpenApiDefinition)| read(PETS, change).unwrap().len();
        assert_eq!(count(|it| it.methods = vec!["get".to_owned()]), 1);
        assert_eq!(count(|it| it.tags = vec!["write".to_owned(), "none".to_owned()]), 1);
        let error = read(PETS, |it| it.tags = vec!["none".to_owned()]).unwrap_err();
        assert!(error.contains("no operation is left"), "{error}");
    }

    #[test]
    fn documents_that_cannot_be_used_are_told_with_the_reason() {
        for (text, reason) in [
            ("{\"swagger\": \"2.0\"}", "Swagger 2 is not supported"),
            ("a: [", "line "),
            ("{", "EOF"),
            ("openapi: 3.1.0\n", "set baseUrl"),
            (
                "openapi: 3.1.0\nservers: [{url: 'http://pets.example'}]\n",
                "servers: expected https://",
            ),
            (
                &PETS.replace("schemas/Name", "schemas/Gone"),
                "PUT /pets/{id}: $ref \"#/components/schemas/Gone\"",
            ),
            (&PETS.replace("  /photo:", "  '@evil.example/photo':"), "paths begin with /"),
        ] {
            let error = read(text, |_| {}).unwrap_err();
            assert!(error.starts_with("openapi:pets: ") && error.contains(reason), "{error}");
        }
    }
}
