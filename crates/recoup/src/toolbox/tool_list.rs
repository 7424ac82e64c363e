//! A server's tools as far as they are known: what `tools/list` said, page by page, and how it is
//! remembered in the store.

use std::collections::BTreeMap;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::canonical::canonical;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Version of the remembered form.
const VERSION: u32 = 1;

/// A tool, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToolDefinition {
    /// Digest of its schemas.
    pub(super) schema: Sha256Digest,
    /// `readOnlyHint: true`
    pub(super) read_only: bool,
    /// `readOnlyHint: false` or `destructiveHint: true`
    pub(super) declares_writes: bool,
    /// Names of its arguments.
    pub(super) properties: Vec<String>,
}

impl ToolDefinition {
    /// True if it declares itself read-only, false if it declares that it writes.
    pub(super) fn declared_read_only(&self) -> Option<bool> {
        (self.read_only || self.declares_writes).then_some(self.read_only)
    }
}

/// The tools of a server.
#[derive(Debug, Default)]
pub(super) struct ToolList {
    tools: BTreeMap<String, ToolDefinition>,
    is_complete: bool,
    /// Cursor of the next page, and the names on the pages before it.
    unfinished: Option<(String, Vec<String>)>,
}

/// The remembered form.
#[derive(Serialize, Deserialize)]
struct RememberedTools {
    v: u32,
    tools: BTreeMap<String, ToolDefinition>,
}

#[derive(Deserialize)]
struct ListPage<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(rename = "nextCursor", default)]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct ListParams {
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct ListedTool<'a> {
    name: String,
    #[serde(rename = "inputSchema", borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(rename = "outputSchema", borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(default)]
    annotations: Option<ToolHints>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolHints {
    #[serde(default)]
    read_only_hint: Option<bool>,
    #[serde(default)]
    destructive_hint: Option<bool>,
}

#[derive(Deserialize)]
struct InputSchema<'a> {
    #[serde(borrow, default)]
    properties: BTreeMap<String, &'a RawValue>,
}

impl ToolList {
    pub(super) fn get(&self, name: &str) -> Option<&ToolDefinition> {
        self.tools.get(name)
    }

    /// True if all pages are known.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Learns one page; true if the list is complete with it.
    pub(super) fn learn_page(&mut self, params: Option<&RawValue>, result: &RawValue) -> bool {
        let Ok(page) = serde_json::from_str::<ListPage<'_>>(result.get()) else { return false };
        let params = params.and_then(|it| serde_json::from_str::<ListParams>(it.get()).ok());
        let cursor = params.and_then(|params| params.cursor);
        let mut names = match (cursor, self.unfinished.take()) {
            (None, _) => Some(Vec::new()),
            (Some(cursor), Some((next, names))) if cursor == next => Some(names),
            _ => None,
        };
        for raw in page.tools {
            if let Some((name, definition)) = read_definition(raw) {
                if let Some(names) = &mut names {
                    names.push(name.clone());
                }
                self.tools.insert(name, definition);
            }
        }
        match (page.next_cursor, names) {
            (None, Some(names)) => {
                self.tools.retain(|name, _| names.contains(name));
                self.is_complete = true;
                return true;
            }
            (Some(next), Some(names)) => self.unfinished = Some((next, names)),
            (_, None) => {}
        }
        false
    }

    /// Forgets everything: the server says that its tools have changed.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(super) fn to_remembered(&self) -> Vec<u8> {
        let remembered = RememberedTools { v: VERSION, tools: self.tools.clone() };
        serde_json::to_vec(&remembered).expect("names and digests always serialize")
    }

    /// A complete list from its remembered form; none if another version wrote it.
    pub(super) fn from_remembered(json: &[u8]) -> Option<Self> {
        let RememberedTools { v, tools } = serde_json::from_slice(json).ok()?;
        (v == VERSION).then_some(Self { tools, is_complete: true, unfinished: None })
    }
}

fn read_definition(raw: &RawValue) -> Option<(String, ToolDefinition)> {
    let ListedTool { name, input, output, annotations } = serde_json::from_str(raw.get()).ok()?;
    let text = |schema: Option<&RawValue>| schema.map_or("null", RawValue::get).to_owned();
    let schemas = format!("[{},{}]", text(input), text(output));
    // A schema that canonical JSON cannot carry counts as it is written.
    let schemas = canonical(&schemas).unwrap_or(schemas);
    let properties = input.and_then(|input| {
        let schema = serde_json::from_str::<InputSchema<'_>>(input.get()).ok()?;
        Some(schema.properties.into_keys().collect())
    });
    let hint = |read: fn(&ToolHints) -> Option<bool>| annotations.as_ref().and_then(read);
    let (read_only, destructive) = (hint(|it| it.read_only_hint), hint(|it| it.destructive_hint));
    let definition = ToolDefinition {
        schema: Sha256Digest::of(schemas.as_bytes()),
        read_only: read_only == Some(true),
        // `destructiveHint` has a meaning only for tools that write.
        declares_writes: read_only == Some(false)
            || (read_only.is_none() && destructive == Some(true)),
        properties: properties.unwrap_or_default(),
    };
    Some((name, definition))
}
