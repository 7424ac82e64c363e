//! A server's tools as it defines them, for agents: remembered whole, so that neither a cached answer
//! nor a run whose tool calls are all cached has to start the server. Also without any TTL.

use std::collections::BTreeMap;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::key::canonical::canonical_value;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::identity::DirectoryView;
use super::plan::{TOOLS_LIST, ToolCache};

/// Sort of these lists among remembered ones.
const DEFINITIONS: &str = "mcp tool definitions 1";

/// A tool as its server defines it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct FullToolDefinition {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(rename = "inputSchema", default)]
    pub(crate) input_schema: Value,
    #[serde(rename = "outputSchema", default)]
    pub(crate) output_schema: Value,
    #[serde(default)]
    annotations: Value,
}

impl FullToolDefinition {
    /// True if it declares itself read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.annotations["readOnlyHint"] == true
    }

    /// True if it declares that it writes.
    pub(crate) fn declares_writes(&self) -> bool {
        let hints = &self.annotations;
        hints["readOnlyHint"] == false
            || hints["readOnlyHint"] != true && hints["destructiveHint"] == true
    }

    /// Digest of everything that a model is told of it.
    pub(crate) fn digest(&self) -> Sha256Digest {
        let Self { name, description, input_schema, output_schema, annotations: _ } = self;
        let told = json!([name, description, input_schema, output_schema]);
        // What canonical JSON cannot carry counts as it is written.
        let text = canonical_value(&told).unwrap_or_else(|_| told.to_string());
        Sha256Digest::of(text.as_bytes())
    }
}

#[derive(Deserialize)]
struct ListedDefinitions {
    tools: Vec<Box<RawValue>>,
}

impl ToolCache {
    /// The server's tools as they are remembered from an earlier session.
    pub(crate) fn recall_definitions(&self) -> Option<Vec<Box<RawValue>>> {
        let list = self.recall(DEFINITIONS)?;
        let list: Box<RawValue> = serde_json::from_slice(&list).ok()?;
        let listed: ListedDefinitions = serde_json::from_str(list.get()).ok()?;
        let mut known = self.inner.tools.lock();
        known.is_recalled = true;
        known.list.learn_page(None, &list);
        Some(listed.tools)
    }

    /// Learns all tools of the server, as it has just listed them, and remembers them.
    pub(crate) fn learn_definitions(&self, tools: &[Box<RawValue>]) {
        let Ok(list) = to_raw_value(&BTreeMap::from([("tools", tools)])) else { return };
        self.learn_list(TOOLS_LIST, None, &list);
        if let Err(error) = self.remember_list(DEFINITIONS, list.get().as_bytes().to_vec()) {
            self.report(&error);
        }
    }

    /// Digest of the server's identity; none while the roots are unknown.
    pub(crate) fn server_digest(&self) -> Option<Sha256Digest> {
        self.fingerprint(DirectoryView::Absolute).map(|server| server.digest)
    }
}
