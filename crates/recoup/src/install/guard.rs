//! Final check before other people's settings are written: the result is read as the client does
//! it, and apart from our entries it must equal the original. Otherwise the file is left alone.

use crate::clients;
use crate::clients::{InstalledContent, RecoupCall};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

use super::change::FileChange;
use super::edit::{
    JsonDialect, SettingsSyntax, SettingsSyntaxError, is_empty_container, parse_settings,
};
use super::entries::hooks::has_version_alone;
use super::entries::proxied::without_proxy;
use super::peers;
use super::places::InstallPaths;

/// Parts of a file that may change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AllowedChanges<'a> {
    pub(crate) holds: &'a [&'a InstalledContent],
    /// Other memory programs that are removed.
    pub(crate) peers: &'a [&'static str],
}

/// Refuses a change that would make the file unreadable, or alter what is not ours.
pub(crate) fn demand_only_ours(
    change: &FileChange,
    ours: AllowedChanges<'_>,
    places: &InstallPaths,
) -> Result<()> {
    // An extension is a file of ours alone.
    if !change.has_effect() || ours.holds.iter().all(|held| **held == InstalledContent::Extension) {
        return Ok(());
    }
    let [before, after] =
        [&change.before, &change.after].map(|bytes| bytes.as_deref().unwrap_or_default());
    ours.check_difference(before, after).map_err(|why| {
        let place = places.display_path(&change.path);
        let message =
            format!("{place} has a layout that can't be edited safely ({why}): edit it by hand");
        Error::new(ErrorKind::Invalid, message)
    })
}

impl AllowedChanges<'_> {
    /// Compares without our parts; names the first difference.
    fn check_difference(self, before: &[u8], after: &[u8]) -> std::result::Result<(), String> {
        if self.holds.iter().any(|held| matches!(held, InstalledContent::Line(_))) {
            let same = self.other_lines(before).eq(self.other_lines(after));
            return if same { Ok(()) } else { Err("another line would change".to_owned()) };
        }
        let before = self.without_ours(before).map_err(|fault| fault.to_string())?;
        let after = self.without_ours(after);
        let after =
            after.map_err(|fault| format!("the rest would not be valid: {}", fault.what))?;
        let none = Map::new();
        let [before, after] = [&before, &after].map(|it| it.as_object().unwrap_or(&none));
        let mut names = before.keys().chain(after.keys());
        let changed = names.find(|name| before.get(*name) != after.get(*name));
        changed.map_or(Ok(()), |name| Err(format!("“{name}” would change")))
    }

    /// Lines of a list other than ours, without line ends.
    fn other_lines(self, list: &[u8]) -> impl Iterator<Item = &[u8]> {
        let is_ours = move |line: &&[u8]| {
            let line = line.trim_ascii_end();
            self.holds
                .iter()
                .any(|held| matches!(held, InstalledContent::Line(it) if it.as_bytes() == line))
        };
        let lines = list.strip_suffix(b"\n").unwrap_or(list).split(|byte| *byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(move |line| !list.is_empty() && !is_ours(line))
    }

    /// Content of a file without our parts.
    fn without_ours(self, bytes: &[u8]) -> std::result::Result<Value, SettingsSyntaxError> {
        let text = String::from_utf8_lossy(bytes);
        let mut syntax = SettingsSyntax::Json(JsonDialect::Strict);
        for held in self.holds.iter().map(|held| held.syntax()) {
            if held != SettingsSyntax::Json(JsonDialect::Strict) {
                syntax = held;
            }
        }
        let mut root = parse_settings(&text, syntax)?;
        for held in self.holds {
            if **held == InstalledContent::TomlHooks {
                if let Some(all) = root.get_mut("hooks").and_then(Value::as_array_mut) {
                    all.retain(|hook| !self.is_dropped_hook(hook));
                }
                retain_fields(Some(&mut root), |name, all| {
                    name != "hooks" || !is_empty_container(all)
                });
            }
            if **held == InstalledContent::TomlServers {
                let is_ours = clients::call_in_notify(&root).as_ref().is_some_and(is_plain);
                retain_fields(Some(&mut root), |name, _| name != "notify" || !is_ours);
            }
            if let Some(at) = held.events_at() {
                self.drop_hooks(&mut root, &at);
            }
            match held.servers_at() {
                Some(at) if held.is_proxied() => drop_proxies(&mut root, &at, syntax),
                Some(at) => self.drop_servers(&mut root, &at),
                None => {}
            }
        }
        if !self.peers.is_empty() {
            let servers = ["mcpServers".to_owned()];
            self.drop_hooks(&mut root, &["hooks"]);
            self.drop_servers(&mut root, &servers);
            for project in values_in(root.get_mut("projects")) {
                self.drop_servers(project, &servers);
            }
            let plugins = root.get_mut("enabledPlugins");
            retain_fields(plugins, |name, _| !self.is_peer(peers::peer_in(name)));
        }
        // The version of a new file is ours.
        Ok(if has_version_alone(&root) { Map::new().into() } else { root })
    }

    fn is_peer(self, name: Option<&str>) -> bool {
        name.is_some_and(|name| self.peers.contains(&name))
    }

    fn is_dropped_hook(self, hook: &Value) -> bool {
        clients::call_in_hook(hook).as_ref().is_some_and(is_plain)
            || self.is_peer(peers::peer_run_by(hook))
    }

    fn drop_hooks(self, root: &mut Value, at: &[&str]) {
        if let Some((first, rest)) = at.split_first() {
            root.get_mut(first).into_iter().for_each(|inner| self.drop_hooks(inner, rest));
            retain_fields(Some(root), |name, events| name != *first || !is_empty_container(events));
            return;
        }
        let is_list = |groups: &&mut Value| groups.is_array();
        for groups in values_in(Some(root)).filter(is_list).filter_map(Value::as_array_mut) {
            for hooks in groups.iter_mut().filter_map(|it| it.get_mut("hooks")?.as_array_mut()) {
                hooks.retain(|hook| !self.is_dropped_hook(hook));
            }
            // A group with an empty list is dropped; one without a list is not ours.
            groups.retain(|group| !group.get("hooks").is_some_and(is_empty_container));
        }
        retain_fields(Some(root), |_, groups| !is_empty_container(groups));
    }

    fn drop_servers(self, root: &mut Value, at: &[String]) {
        let Some((first, rest)) = at.split_first() else {
            retain_fields(Some(root), |name, entry| {
                let is_ours = clients::call_in_server(entry).as_ref().is_some_and(is_plain);
                !is_ours && !self.is_peer(peers::peer_of(name, entry))
            });
            return;
        };
        root.get_mut(first).into_iter().for_each(|inner| self.drop_servers(inner, rest));
        retain_fields(Some(root), |name, inner| name != first || !is_empty_container(inner));
    }
}

/// Takes our proxy away from all servers, so that only their own entries are compared.
fn drop_proxies(root: &mut Value, at: &[String], syntax: SettingsSyntax) {
    for entry in values_in(at.iter().try_fold(root, |value, name| value.get_mut(name))) {
        *entry = without_proxy(entry, syntax);
    }
}

fn is_plain(call: &RecoupCall) -> bool {
    !call.wrapped
}

/// Returns the values of an object.
fn values_in(object: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    object.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
}

/// Drops fields of an object.
fn retain_fields(object: Option<&mut Value>, keep: impl Fn(&str, &Value) -> bool) {
    if let Some(fields) = object.and_then(Value::as_object_mut) {
        fields.retain(|name, value| keep(name, value));
    }
}

#[cfg(test)]
mod tests {
    //! Changes that are allowed, and those that are refused.

    use super::*;

    fn check_change(
        held: &InstalledContent,
        peers: &[&'static str],
        before: &str,
        after: &str,
    ) -> std::result::Result<(), String> {
        AllowedChanges { holds: &[held], peers }
            .check_difference(before.as_bytes(), after.as_bytes())
    }

    const OURS: &str = r#"{"hooks":[{"command":"recoup hook"}]}"#;

    fn servers() -> InstalledContent {
        InstalledContent::Servers { at: vec!["mcpServers".to_owned()], comments: true }
    }

    #[test]
    fn what_is_ours_may_come_and_go() {
        let with = format!(r#"{{"a":1,"hooks":{{"Stop":[{OURS}]}}}}"#);
        for (before, after) in
            [(r#"{"a":1}"#, &*with), (&*with, r#"{"a":1}"#), ("", r#"{"hooks":{}}"#)]
        {
            assert_eq!(
                check_change(&InstalledContent::Hooks, &[], before, after),
                Ok(()),
                "{before} {after}"
            );
        }
        let with =
            r#"{"mcpServers":{"x":{"command":"y"},"recoup":{"command":"recoup","args":["mcp"]}}}"#;
        let without = r#"{"mcpServers":{"x":{"command":"y"}} /* z */}"#;
        assert_eq!(check_change(&servers(), &[], with, without), Ok(()));
        let toml = "notify = ['recoup', 'hook']\nb = 1\n[mcp_servers.recoup]\ncommand = 'recoup'\nargs = ['mcp']\n[[hooks.Stop]]\nhooks = [{ command = 'recoup hook' }]\n";
        assert_eq!(check_change(&InstalledContent::TomlServers, &[], toml, "b = 1\n"), Ok(()));
    }

    #[test]
    fn what_is_not_ours_may_not() {
        let lint = r#"{"hooks":[{"command":"lint"}]}"#;
        let both = format!(r#"{{"a":1,"hooks":{{"Stop":[{OURS},{lint}]}}}}"#);
        let own = r#"{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"env A=1 recoup hook"}]}]}}"#;
        for (before, after, name) in [
            (&*both, r#"{"a":1}"#, "hooks"),
            (own, r#"{"a":1}"#, "hooks"),
            (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, "a"),
            (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, "b"),
            (r#"{"a":1}"#, r#"{"a":2}"#, "a"),
        ] {
            let said = check_change(&InstalledContent::Hooks, &[], before, after).unwrap_err();
            assert!(said.contains(&format!("“{name}” would change")), "{said}");
        }
        let toml = "a = 1\nhooks.Stop = [{ hooks = [{ command = 'recoup hook' }] }]\n";
        assert!(check_change(&InstalledContent::TomlServers, &[], toml, "").is_err());
    }

    #[test]
    fn what_nobody_could_read_is_not_written() {
        let before = "{\"a\": 1, // about a\n\"mcpServers\": {}}";
        let said = check_change(&servers(), &[], before, "{\"a\": 1 // about a}").unwrap_err();
        assert!(said.contains("would not be valid"), "{said}");
        let said = check_change(&InstalledContent::TomlServers, &[], "a = [1]\n", "a = [,1]\n")
            .unwrap_err();
        assert!(said.contains("would not be valid"), "{said}");
    }

    #[test]
    fn a_proxy_may_come_and_go_and_the_server_behind_it_stays_the_same() {
        let json =
            InstalledContent::ProxiedServers { at: vec!["mcpServers".to_owned()], comments: false };
        let entry = |entry: &str| format!(r#"{{"mcpServers":{{"x":{entry}}},"a":1}}"#);
        let plain = entry(r#"{"command":"npx","args":["-y"],"env":{"A":"b"}}"#);
        let proxied = |words: &str| {
            entry(&format!(
                r#"{{"command":"/r/recoup","args":["mcp","proxy","--name","x","--",{words}],"env":{{"A":"b"}}}}"#
            ))
        };
        let same = proxied(r#""npx","-y""#);
        assert_eq!(check_change(&json, &[], &plain, &same), Ok(()));
        assert_eq!(check_change(&json, &[], &same, &plain), Ok(()));
        for other in [proxied(r#""npx""#), same.replace("\"b\"", "\"c\""), same.replace(":1", ":2")]
        {
            assert!(check_change(&json, &[], &plain, &other).is_err(), "{other}");
        }
        let toml = |entry: &str| format!("[mcp_servers.x]\n{entry}\n");
        let plain = toml("url = 'https://x'\nhttp_headers.A = 'b'");
        let header = "'--header', 'A: ${RECOUP_PROXY_HEADER_1}'";
        let proxied = toml(&format!(
            "command = 'recoup'\nargs = ['mcp', 'proxy', {header}, '--', 'https://x']\nenv.RECOUP_PROXY_HEADER_1 = 'b'"
        ));
        let held = InstalledContent::ProxiedTomlServers;
        assert_eq!(check_change(&held, &[], &plain, &proxied), Ok(()));
        let other = proxied.replace("= 'b'", "= 'c'");
        assert!(check_change(&held, &[], &plain, &other).is_err());
    }

    #[test]
    fn others_that_remember_go_only_if_that_was_said() {
        let with = r#"{"mcpServers":{"claude-mem":{"command":"x"}},"enabledPlugins":{"claude-mem@y":true,"z":true}}"#;
        let without = r#"{"mcpServers":{},"enabledPlugins":{"claude-mem@y":false,"z":true}}"#;
        assert_eq!(check_change(&servers(), &["claude-mem"], with, without), Ok(()));
        assert!(check_change(&servers(), &["claude-recall"], with, without).is_err());
        assert!(check_change(&servers(), &[], with, without).is_err());
    }

    #[test]
    fn of_a_list_only_our_line_may_come_and_go() {
        let line = InstalledContent::Line("/ours".to_owned());
        let looked_at = |before: &[u8], after: &[u8]| {
            AllowedChanges { holds: &[&line], peers: &[] }.check_difference(before, after).is_ok()
        };
        for (without, with) in [
            (&b""[..], &b"/ours\n"[..]),
            (b"\xff", b"\xff\n/ours\n"),
            (b"a\r\n\nb\n", b"a\r\n\n/ours\r\nb\n"),
        ] {
            assert!(looked_at(without, with) && looked_at(with, without), "{with:?}");
        }
        for (before, after) in [
            (&b"\xff\n"[..], "\u{fffd}\n/ours\n".as_bytes()),
            (b"a\n/ours\n", b""),
            (b"a\nb\n", b"b\na\n/ours\n"),
            (b"a \n", b"a\n/ours\n"),
        ] {
            assert!(!looked_at(before, after), "{before:?}");
        }
    }
}
