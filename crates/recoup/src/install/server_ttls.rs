//! How long the results of servers behind the proxy are kept: `wrap --ttl` writes it into our
//! configuration, and `unwrap` takes exactly that away again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use serde::{Deserialize, Serialize};
use toml_edit::Value as TomlValue;

use super::answers::{AnswerValue, config_error, plan_keys};
use super::change::FileChange;
use super::edit::toml;
use super::places::InstallPaths;

/// Table of servers in our configuration.
const SERVERS: &str = "mcpServers";
/// Key of the time in a server's table.
const TTL: &str = "cache";

/// Time that we wrote for one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerTtlRecord {
    /// Our configuration.
    pub(crate) path: PathBuf,
    pub(crate) server: String,
    /// The value that we wrote.
    pub(crate) ttl: String,
    /// The value before, as it was written; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// True if we created the server's table.
    #[serde(default)]
    made_table: bool,
    /// Digest of the file before; none if there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    original: Option<Sha256Digest>,
}

/// Planned removal of times from our configuration.
#[derive(Debug, Default)]
pub(crate) struct TtlRemoval {
    pub(crate) changes: Vec<FileChange>,
    /// Remarks for the user.
    pub(crate) notes: Vec<String>,
    /// Records that stay.
    pub(crate) left: Vec<ServerTtlRecord>,
}

/// Returns the change that keeps the results of these servers for a time, and a record of it.
pub(crate) fn plan_server_ttls(
    path: &Path,
    servers: &[String],
    ttl: &str,
    places: &InstallPaths,
) -> Result<(FileChange, Vec<ServerTtlRecord>)> {
    let value = AnswerValue::Word(ttl.to_owned());
    let keys: Vec<_> = servers.iter().map(|name| (vec![SERVERS, name, TTL], &value)).collect();
    let change = plan_keys(path, &keys, places)?;
    let text = String::from_utf8_lossy(change.before.as_deref().unwrap_or_default());
    let failed = |fault| config_error(path, places, &fault);
    let root = toml::parse_to_json(&text).map_err(failed)?;
    let record = |server: &String| {
        let value = toml::find_value(&text, &[SERVERS, server, TTL]).map_err(failed)?;
        Ok(ServerTtlRecord {
            path: path.to_owned(),
            server: server.clone(),
            ttl: ttl.to_owned(),
            before: value.map(|(_, span)| text[span].to_owned()),
            made_table: root.get(SERVERS).and_then(|all| all.get(server)).is_none(),
            original: change.before.as_deref().map(Sha256Digest::of),
        })
    };
    let records = servers.iter().map(record).collect::<Result<_>>()?;
    Ok((change, records))
}

/// Returns the line for a configuration that keeps the results of an MCP server for a time.
pub(crate) fn server_ttl_line(server: &str, ttl: &str) -> String {
    format!("{} = {ttl:?}", toml::dotted(&[SERVERS, server, TTL]))
}

impl ServerTtlRecord {
    /// Adds a new record to those that are known. Of several times that we wrote one after the
    /// other, what was before the first comes back.
    pub(super) fn add_to(&self, known: &mut Vec<Self>) {
        let earlier = known.iter().position(|it| it.path == self.path && it.server == self.server);
        let earlier = earlier.map(|at| known.remove(at));
        let before = self.before.as_deref().and_then(|text| text.parse::<TomlValue>().ok());
        let before = before.as_ref().and_then(TomlValue::as_str);
        match earlier.filter(|it| before == Some(&it.ttl)) {
            Some(earlier) => known.push(Self { ttl: self.ttl.clone(), ..earlier }),
            None if before == Some(&self.ttl) => {}
            None => known.push(self.clone()),
        }
    }
}

impl TtlRemoval {
    /// Plans the removal of all recorded times, except those of servers that are `still_proxied`. A
    /// time that was changed since stays.
    pub(super) fn plan(
        records: &[ServerTtlRecord],
        still_proxied: &BTreeSet<String>,
        places: &InstallPaths,
    ) -> Result<Self> {
        let mut this = Self::default();
        for record in records {
            let ServerTtlRecord { path, server, ttl, before, .. } = record;
            if still_proxied.contains(server) {
                this.left.push(record.clone());
                continue;
            }
            let failed = |fault| config_error(path, places, &fault);
            let planned = this.changes.iter().position(|change| change.path == *path);
            let mut change = match planned.map(|at| this.changes.remove(at)) {
                Some(change) => change,
                None => FileChange::unchanged(path, None)?,
            };
            let text = change.after.clone().unwrap_or_default();
            let text = String::from_utf8(text).unwrap_or_default();
            let value = toml::find_value(&text, &[SERVERS, server, TTL]).map_err(failed)?;
            let line = server_ttl_line(server, ttl);
            match (value, before) {
                (Some((now, _)), _) if now.as_str() != Some(ttl) => this.notes.push(format!(
                    "{}: {} was changed since, and stays",
                    places.display_path(path),
                    toml::dotted(&[SERVERS, server, TTL])
                )),
                (Some((_, span)), Some(before)) => {
                    let after = [&text[..span.start], before, &text[span.end..]].concat();
                    change.after = Some(after.into_bytes());
                    change.done.said.push(format!("{line} (it is {before} again)"));
                }
                (Some(_), None) => {
                    let root = toml::parse_to_json(&text).map_err(failed)?;
                    let table = root.get(SERVERS).and_then(|all| all.get(server)?.as_object());
                    let text = if record.made_table && table.is_some_and(|it| it.len() == 1) {
                        toml::remove_fields(&text, &[SERVERS], &[server])
                    } else {
                        toml::remove_fields(&text, &[SERVERS, server], &[TTL])
                    };
                    change.after = Some(text.map_err(failed)?.into_bytes());
                    change.done.said.push(line);
                }
                (None, _) => {}
            }
            this.changes.push(change);
        }
        this.changes.retain(FileChange::has_effect);
        for change in &mut this.changes {
            let originals = records.iter().filter(|it| it.path == change.path);
            let originals: Vec<_> = originals.map(|it| it.original).collect();
            // The last line may have had no end.
            let now = change.after.as_deref().unwrap_or_default();
            let bare = now.strip_suffix(b"\n").map(|it| it.strip_suffix(b"\r").unwrap_or(it));
            let is_original = |it: &&[u8]| originals.contains(&Some(Sha256Digest::of(it)));
            change.done.restored = now.is_empty() && originals.contains(&None);
            if change.done.restored {
                change.after = None;
            } else if let Some(bare) = bare.filter(is_original) {
                change.after = Some(bare.to_vec());
            }
        }
        this.changes.iter().try_for_each(FileChange::demand_possible)?;
        Ok(this)
    }
}
