//! How servers start before and after a change, for people: of an entry on one line a diff hides so
//! much that nobody could read it.

use std::ffi::OsStr;

use recoup_core::key::command::shell_quoted;
use recoup_core::secrets::{RedactedCommand, looks_like_credential};
use serde::Serialize;
use serde_json::Value;

use super::change::FileChange;
use super::edit::parse_settings;
use super::entries::proxied::{URL_FIELDS, URL_VARIABLE, entry_variables, header_names};
use crate::clients::InstalledContent;

/// Longest part of a path that may be a word.
const LONGEST_WORD: usize = 20;

/// A server that starts differently after a change; without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ServerStartChange {
    pub(crate) server: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

impl ServerStartChange {
    /// Returns the servers of a file that start differently after a change.
    pub(super) fn all_of(change: &FileChange, held: &InstalledContent) -> Vec<Self> {
        let [before, after] = [&change.before, &change.after]
            .map(|bytes| servers_in(bytes.as_deref().unwrap_or_default(), held));
        let all = before.as_ref().and_then(Value::as_object).into_iter().flatten();
        let changed = all.filter_map(|(name, entry)| {
            let now = after.as_ref()?.get(name).filter(|now| *now != entry)?;
            let (before, after) = (describe_start(entry), describe_start(now));
            Some(Self { server: name.clone(), before, after })
        });
        changed.collect()
    }
}

/// Returns the servers of a file, where our proxy may be in front of them.
pub(super) fn servers_in(bytes: &[u8], held: &InstalledContent) -> Option<Value> {
    let at = held.servers_at().filter(|_| held.is_proxied())?;
    let root = parse_settings(str::from_utf8(bytes).ok()?, held.syntax()).ok()?;
    at.iter().try_fold(&root, |value, name| value.get(name)).cloned()
}

/// Describes how an entry starts its server: the command line, or the URL with the names of its
/// headers. Without secrets.
fn describe_start(entry: &Value) -> String {
    let fields = [entry.get("command"), entry.get("args")].into_iter().flatten();
    let words = fields.flat_map(|it| it.as_array().map_or(std::slice::from_ref(it), Vec::as_slice));
    let words: Vec<String> = words.filter_map(Value::as_str).map(masked_word).collect();
    if !words.is_empty() {
        let line = RedactedCommand::new(&words.join(" ")).to_string();
        let mut variables = entry_variables(entry).into_iter();
        return match variables.find(|(name, _)| name == URL_VARIABLE) {
            Some((name, url)) => format!("{line} ({name}: {})", masked_word(&url)),
            None => line,
        };
    }
    let url = URL_FIELDS.into_iter().find_map(|field| entry.get(field)?.as_str());
    let url = url.map_or_else(|| "nothing".to_owned(), masked_word);
    let names = header_names(entry);
    match names.as_slice() {
        [] => url,
        [name] => format!("{url} (with the header {name})"),
        names => format!("{url} (with the headers {})", names.join(", ")),
    }
}

/// A word as one would type it. Of a URL without what may be a secret: logins, queries, and parts of
/// its path that are no plain words.
fn masked_word(word: &str) -> String {
    let is_other = word.starts_with(['/', '.', '~', '-']) || word.contains('=');
    let Some((scheme, rest)) = word.split_once("://") else {
        let is_secret = !is_other && looks_like_credential(word);
        return if is_secret { "[hidden]".to_owned() } else { shell_quoted(OsStr::new(word)) };
    };
    let (place, is_cut) = rest.split_once(['?', '#']).map_or((rest, false), |(it, _)| (it, true));
    let mut parts = place.split('/');
    let authority = parts.next().unwrap_or_default();
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("***@{host}"),
        None => authority.to_owned(),
    };
    let is_plain = |part: &str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || b"-_.@".contains(&byte);
        let version = part.strip_prefix('v').filter(|it| it.len() <= 2);
        part.len() <= LONGEST_WORD && part.bytes().all(is_letter)
            || version.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let path = parts.map(|part| format!("/{}", if is_plain(part) { part } else { "…" }));
    let query = if is_cut { "?…" } else { "" };
    format!("{scheme}://{authority}{}{query}", path.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn starts_are_told_without_secrets() {
        for (entry, told) in [
            (json!({"command": "npx", "args": ["-y", "@x/y", "a b"]}), "npx -y @x/y 'a b'"),
            (json!({"command": ["uvx", "x"], "enabled": true}), "uvx x"),
            (json!({"command": "/opt/a1b2c3d4e5f6g7h8i9/x"}), "/opt/a1b2c3d4e5f6g7h8i9/x"),
            (
                json!({"command": "x", "args": ["--token", "zq81kfu", "--password=hunter3"]}),
                "x --token [hidden] --password=[hidden]",
            ),
            (
                json!({"command": "x", "args": ["postgres://me:hunter2@h/db", "zQ8kfu3plMn77aaB"]}),
                "x postgres://***@h/db [hidden]",
            ),
            (json!({"url": "https://x.example/v1/mcp"}), "https://x.example/v1/mcp"),
            (
                json!({"serverUrl": "https://h:1/s/zq81kfu3/mcp?key=a", "headers": {"A": "b"}}),
                "https://h:1/s/…/mcp?… (with the header A)",
            ),
            (
                json!({"url": "http://h", "http_headers": {"A": "b"}, "env_http_headers": {"C": "D"}, "bearer_token_env_var": "T"}),
                "http://h (with the headers A, C, Authorization)",
            ),
            (json!({"source": "extension"}), "nothing"),
        ] {
            assert_eq!(describe_start(&entry), told);
        }
    }
}
