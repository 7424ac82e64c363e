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
    pub protocol: &'static str,
    /// The server.
    pub server: ServerFingerprint,
    /// Digest of the tool's schema; `None` for calls that have none, such as `resources/read`.
    pub schema: Option<Sha256Digest>,
    /// Name of the tool, or the protocol's method.
    pub tool: String,
    /// The arguments.
    pub arguments: ToolArguments,
}

/// Identity of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFingerprint {
    /// Digest of everything that tells the server from others.
    pub digest: Sha256Digest,
    /// Description for people, without credentials.
    pub shown: String,
}

/// Arguments of a tool call in canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolArguments {
    /// Each of them by name.
    members: BTreeMap<String, String>,
    /// All of them as one object.
    whole: String,
}

impl ToolArguments {
    /// Reads a JSON object; `None` is an empty one. Arguments named in `ignored` do not count. An
    /// error if canonical JSON cannot carry them.
    pub fn read(json: Option<&str>, ignored: &[&str]) -> Result<Self> {
        let json = json.unwrap_or("{}");
        // Finds duplicate names, which a map would merge in silence.
        let mut whole = canonical(json)?;
        let mut members: BTreeMap<String, &RawValue> =
            serde_json::from_str(json).map_err(|error| {
                Error::new(ErrorKind::Invalid, "the arguments are not an object").with_source(error)
            })?;
        let count = members.len();
        members.retain(|name, _| !ignored.contains(&name.as_str()));
        if members.len() < count {
            let member = |(name, value): (&String, &&RawValue)| format!("{}:{value}", json!(name));
            let members: Vec<String> = members.iter().map(member).collect();
            whole = canonical(&format!("{{{}}}", members.join(",")))?;
        }
        let canonical_member =
            |(name, value): (String, &RawValue)| Ok((name, canonical(value.get())?));
        let members = members.into_iter().map(canonical_member).collect::<Result<_>>()?;
        Ok(Self { members, whole })
    }

    /// Digest of all arguments.
    pub fn digest(&self) -> Sha256Digest {
        Sha256Digest::of(self.whole.as_bytes())
    }
}

impl KeyRecipe for ToolCallRecipe {
    const KIND: Kind = Kind::Tool;

    fn key(&self) -> Result<Key> {
        let Self { protocol, server, schema, tool, arguments } = self;
        let namespace = canonical_value(&json!({ "server": server.digest, "schema": schema }))?;
        let namespace = Sha256Digest::of(namespace.as_bytes());
        let tool = json!({ "kind": protocol, "namespace": namespace, "name": tool });
        let tool = canonical_value(&tool)?;
        // In canonical order already; canonical text must not be read again (see `canonical`).
        let (kind, parameters) = (Self::KIND, &arguments.whole);
        let text = format!(r#"{{"kind":"{kind}","parameters":{parameters},"tool":{tool},"v":1}}"#);
        Ok(Key::from_digest(Sha256Digest::of(text.as_bytes())))
    }

    /// The tool, by which people know a call, last.
    fn parts(&self) -> Vec<KeyPart> {
        let Self { protocol: _, server, schema, tool, arguments } = self;
        let mut parts =
            vec![KeyPart { digest: server.digest, ..KeyPart::shown("server", &server.shown) }];
        parts.extend(schema.map(|schema| KeyPart::hidden("schema", &schema.to_hex())));
        let argument =
            |(name, value): (&String, &String)| KeyPart::shown(&format!("{ARGUMENT}{name}"), value);
        parts.extend(arguments.members.iter().rev().map(argument));
        parts.push(KeyPart::shown("tool", tool));
        parts
    }

    fn part_kind(part: &str) -> PartKind {
        if part == "schema" { PartKind::Hidden } else { PartKind::Text }
    }
}
