//! The key of a tool call: the server's identity, the tool with its schema, and the arguments.

use std::collections::BTreeMap;

use serde_json::json;
use serde_json::value::RawValue;

use super::canonical::{canonical, canonical_value};
use super::{Key, KeyPart, KeyRecipe, Kind, PartKind};
use crate::base::digest::Sha256Digest;
use crate::error::{Error, ErrorKind, Result};

/// Prefix of the parts of arguments.
const ARGUMENT: &str = "argument ";

/// Inputs that determine the result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallRecipe {
    /// Protocol by which the tool is called: `mcp` or `rest`.
    protocol: &'static str,
    server: ServerFingerprint,
    /// Digest of the tool's schema; `None` for calls that have none, such as `resources/read`.
    schema: Option<Sha256Digest>,
    /// Name of the tool, or the protocol's method.
    tool: String,
    /// The arguments by name, each in canonical form.
    arguments: BTreeMap<String, String>,
    /// The arguments as one canonical object.
    parameters: String,
}

/// Identity of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFingerprint {
    /// Digest of everything that tells the server from others.
    pub digest: Sha256Digest,
    /// The same for people, without credentials.
    pub shown: String,
}

impl ToolCallRecipe {
    /// Reads `arguments`, a JSON object; `None` is an empty one. Arguments named in `ignored` do not
    /// count. An error if canonical JSON cannot carry them.
    pub fn new(
        protocol: &'static str,
        server: ServerFingerprint,
        schema: Option<Sha256Digest>,
        tool: &str,
        arguments: Option<&str>,
        ignored: &[&str],
    ) -> Result<Self> {
        let text = arguments.unwrap_or("{}");
        // Finds duplicate names, which a map would merge in silence.
        let whole = canonical(text)?;
        let mut members: BTreeMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|error| {
                Error::new(ErrorKind::Invalid, "the arguments are not an object").with_source(error)
            })?;
        let before = members.len();
        members.retain(|name, _| !ignored.contains(&name.as_str()));
        let parameters = if members.len() == before {
            whole
        } else {
            let member = |(name, value): (&String, &&RawValue)| format!("{}:{value}", json!(name));
            canonical(&format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(",")))?
        };
        let canonical_member =
            |(name, value): (String, &RawValue)| Ok((name, canonical(value.get())?));
        let arguments = members.into_iter().map(canonical_member).collect::<Result<_>>()?;
        let tool = tool.to_owned();
        Ok(Self { protocol, server, schema, tool, arguments, parameters })
    }

    /// Digest of the arguments alone.
    pub fn arguments_digest(&self) -> Sha256Digest {
        Sha256Digest::of(self.parameters.as_bytes())
    }
}

impl KeyRecipe for ToolCallRecipe {
    const KIND: Kind = Kind::Tool;

    fn key(&self) -> Result<Key> {
        let Self { protocol, server, schema, tool, arguments: _, parameters } = self;
        let namespace = canonical_value(&json!({ "server": server.digest, "schema": schema }))?;
        let namespace = Sha256Digest::of(namespace.as_bytes());
        let tool = json!({ "kind": protocol, "namespace": namespace, "name": tool });
        let tool = canonical_value(&tool)?;
        // In canonical order already; `parameters` must not be read again (see `canonical`).
        let text = format!(
            r#"{{"kind":"{}","parameters":{parameters},"tool":{tool},"v":1}}"#,
            Self::KIND.as_str()
        );
        Ok(Key::from_digest(Sha256Digest::of(text.as_bytes())))
    }

    /// The tool, by which people know a call, last.
    fn parts(&self) -> Vec<KeyPart> {
        let Self { protocol: _, server, schema, tool, arguments, parameters: _ } = self;
        let mut parts =
            vec![KeyPart { digest: server.digest, ..KeyPart::shown("server", &server.shown) }];
        parts.extend(schema.map(|schema| KeyPart::hidden("schema", &schema.to_hex())));
        let argument =
            |(name, value): (&String, &String)| KeyPart::shown(&format!("{ARGUMENT}{name}"), value);
        parts.extend(arguments.iter().rev().map(argument));
        parts.push(KeyPart::shown("tool", tool));
        parts
    }

    fn part_kind(part: &str) -> PartKind {
        if part == "schema" { PartKind::Hidden } else { PartKind::Text }
    }
}
