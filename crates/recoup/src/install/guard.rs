//! Final check before other people's settings are written: the result is parsed as the client does
//! it, and apart from our entries it must equal the original. Independent of the editing code, so
//! that a wrong edit is caught here and the file left alone.

use crate::hooked;
use crate::hooked::{RecoupCall, replace_lone_surrogates};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

use super::change::{FileChange, InstalledContent};
use super::edit::tree::{self, JsonSyntaxKind, JsonSyntaxMember, JsonSyntaxNode};
use super::edit::{JsonDialect, SettingsSyntaxError, split_bom, toml};
use super::entries::proxied::{EntrySyntax, without_proxy};
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
        let changed = before.first_difference(&after);
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
    fn without_ours(
        self,
        bytes: &[u8],
    ) -> std::result::Result<ComparableValue, SettingsSyntaxError> {
        let text = String::from_utf8_lossy(bytes);
        let mut root = self.read(split_bom(&text).1)?;
        for held in self.holds {
            match held {
                InstalledContent::Hooks => self.drop_hooks(&mut root),
                InstalledContent::Servers { at, .. } => self.drop_servers(&mut root, at),
                InstalledContent::TomlServers => {
                    let is_ours =
                        hooked::call_in_notify(&root.value()).as_ref().is_some_and(is_plain);
                    root.retain(|name, _| name != "notify" || !is_ours);
                    self.drop_hooks(&mut root);
                    self.drop_servers(&mut root, &[toml::SERVERS.to_owned()]);
                }
                InstalledContent::ProxiedServers { at, .. } => {
                    drop_proxies(&mut root, at, EntrySyntax::Json);
                }
                InstalledContent::ProxiedTomlServers => {
                    drop_proxies(&mut root, &[toml::SERVERS.to_owned()], EntrySyntax::Toml);
                }
                InstalledContent::Extension | InstalledContent::Line(_) => {}
            }
        }
        if !self.peers.is_empty() {
            self.drop_hooks(&mut root);
            self.drop_servers(&mut root, &["mcpServers".to_owned()]);
            root.for_each_named("projects", |projects| {
                projects.each_field(|it| self.drop_servers(it, &["mcpServers".to_owned()]));
            });
            root.for_each_named("enabledPlugins", |plugins| {
                plugins.retain(|name, _| !peers::is_plugin_of(name, self.peers));
            });
        }
        Ok(root)
    }

    fn read(self, text: &str) -> std::result::Result<ComparableValue, SettingsSyntaxError> {
        let is_toml = |held: &&InstalledContent| {
            matches!(held, InstalledContent::TomlServers | InstalledContent::ProxiedTomlServers)
        };
        if self.holds.iter().any(is_toml) {
            return Ok(ComparableValue::of_value(&toml::parse_to_json(text)?));
        }
        let is_loose = |held: &&InstalledContent| {
            matches!(
                held,
                InstalledContent::Servers { comments: true, .. }
                    | InstalledContent::ProxiedServers { comments: true, .. }
            )
        };
        let loose = self.holds.iter().any(is_loose);
        let dialect = if loose { JsonDialect::Comments } else { JsonDialect::Strict };
        let root = tree::parse(text, dialect)?;
        // A file without a value stands for an empty object.
        let empty = || ComparableValue::Object(Vec::new());
        Ok(root.map_or_else(empty, |root| ComparableValue::of_node(&root, text)))
    }

    fn drop_hooks(self, root: &mut ComparableValue) {
        let goes = |hook: &Value| {
            hooked::call_in_hook(hook).as_ref().is_some_and(is_plain)
                || peers::is_run_by(hook, self.peers)
        };
        root.for_each_named("hooks", |events| {
            events.each_field(|groups| {
                groups.each_element(|group| {
                    group.for_each_named("hooks", |hooks| {
                        hooks.retain_elements(|hook| !goes(&hook.value()));
                    });
                });
                // A group with an empty list is dropped; one without a list is not ours.
                groups.retain_elements(|group| {
                    !group.field("hooks").is_some_and(ComparableValue::is_empty)
                });
            });
            events.retain(|_, groups| !groups.is_empty());
        });
        root.retain(|name, events| name != "hooks" || !events.is_empty());
    }

    fn drop_servers(self, root: &mut ComparableValue, at: &[String]) {
        let Some((first, rest)) = at.split_first() else {
            root.retain(|name, entry| {
                let entry = entry.value();
                let is_ours = hooked::call_in_server(&entry).as_ref().is_some_and(is_plain);
                !is_ours && !peers::is_server_of(name, &entry, self.peers)
            });
            return;
        };
        root.for_each_named(first, |inner| self.drop_servers(inner, rest));
        root.retain(|name, inner| name != first || !inner.is_empty());
    }
}

/// Takes our proxy away from all servers, so that only their own entries are compared.
fn drop_proxies(root: &mut ComparableValue, at: &[String], syntax: EntrySyntax) {
    match at.split_first() {
        Some((first, rest)) => {
            root.for_each_named(first, |inner| drop_proxies(inner, rest, syntax));
        }
        None => root.each_field(|entry| {
            *entry = ComparableValue::of_value(&without_proxy(&entry.value(), syntax));
        }),
    }
}

fn is_plain(call: &RecoupCall) -> bool {
    !call.wrapped
}

/// File content for comparison; fields are sorted by name, and duplicates stay in text order: the
/// last counts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ComparableValue {
    Object(Vec<(String, ComparableValue)>),
    List(Vec<ComparableValue>),
    /// Source text.
    Scalar(String),
}

impl ComparableValue {
    fn of_node(node: &JsonSyntaxNode, text: &str) -> Self {
        match &node.kind {
            JsonSyntaxKind::Object(members) => {
                let field =
                    |it: &JsonSyntaxMember| (it.name.clone(), Self::of_node(&it.value, text));
                Self::object(members.iter().map(field).collect())
            }
            JsonSyntaxKind::Array(elements) => {
                Self::List(elements.iter().map(|it| Self::of_node(it, text)).collect())
            }
            JsonSyntaxKind::Scalar => Self::Scalar(text[node.span.clone()].to_owned()),
        }
    }

    /// Converts a value without duplicate names.
    fn of_value(value: &Value) -> Self {
        match value {
            Value::Object(fields) => {
                let field = |(name, it): (&String, &Value)| (name.clone(), Self::of_value(it));
                Self::object(fields.iter().map(field).collect())
            }
            Value::Array(items) => Self::List(items.iter().map(Self::of_value).collect()),
            scalar => Self::Scalar(scalar.to_string()),
        }
    }

    fn object(mut fields: Vec<(String, Self)>) -> Self {
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        Self::Object(fields)
    }

    /// Converts as a client reads it: of duplicate names, the last counts.
    fn value(&self) -> Value {
        match self {
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| (name.clone(), it.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Self::List(items) => items.iter().map(Self::value).collect(),
            Self::Scalar(text) => {
                serde_json::from_str(&replace_lone_surrogates(text)).unwrap_or_default()
            }
        }
    }

    /// True for an object or a list with nothing in it.
    fn is_empty(&self) -> bool {
        match self {
            Self::Object(fields) => fields.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Scalar(_) => false,
        }
    }

    /// Returns the field of that name; of duplicates, the last.
    fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else { return None };
        fields.iter().rev().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    /// Visits all fields of that name.
    fn for_each_named(&mut self, name: &str, mut each: impl FnMut(&mut Self)) {
        let Self::Object(fields) = self else { return };
        fields.iter_mut().filter(|(it, _)| it == name).for_each(|(_, value)| each(value));
    }

    /// Visits all fields.
    fn each_field(&mut self, mut each: impl FnMut(&mut Self)) {
        let Self::Object(fields) = self else { return };
        for (_, value) in fields {
            each(value);
        }
    }

    /// Visits all elements.
    fn each_element(&mut self, each: impl FnMut(&mut Self)) {
        let Self::List(items) = self else { return };
        items.iter_mut().for_each(each);
    }

    fn retain(&mut self, mut keep: impl FnMut(&str, &Self) -> bool) {
        let Self::Object(fields) = self else { return };
        fields.retain(|(name, value)| keep(name, value));
    }

    fn retain_elements(&mut self, keep: impl FnMut(&Self) -> bool) {
        let Self::List(items) = self else { return };
        items.retain(keep);
    }

    /// Returns the first field in which two objects differ.
    fn first_difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        if self == other {
            return None;
        }
        let (Self::Object(here), Self::Object(there)) = (self, other) else { return Some("") };
        let differs = here.iter().zip(there).find(|(here, there)| here != there);
        let longer = if here.len() > there.len() { here } else { there };
        let behind = || longer.get(here.len().min(there.len())).map(|(name, _)| name.as_str());
        // In sorted order, the smaller name is the one that the other object lacks.
        differs.map(|(here, there)| here.0.as_str().min(&there.0)).or_else(behind)
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
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, "a"),
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
