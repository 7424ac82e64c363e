//! Final check before other people's settings are written: the result is parsed as the client does
//! it, and apart from our entries it must equal the original. Independent of the editing code, so
//! that a wrong edit is caught here and the file left alone.

mod comparable;

use recoup_core::memory::hooked::{self, RecoupCall};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::change::FileChange;
use super::edit::{JsonDialect, SettingsSyntaxError, toml, tree};
use super::held::InstalledContent;
use super::peers;
use super::places::InstallPaths;
use comparable::ComparableValue;

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
    if !change.has_effect() || !ours.holds.iter().any(|held| has_others(held)) {
        return Ok(());
    }
    let [before, after] =
        [&change.before, &change.after].map(|bytes| bytes.as_deref().unwrap_or_default());
    ours.check_difference(before, after).map_err(|why| {
        let place = places.display_path(&change.path);
        let message = format!(
            "{place} is laid out in a way that can't be edited safely ({why}): edit it by hand"
        );
        Error::new(ErrorKind::Invalid, message)
    })
}

/// True if such a file may also hold what is not ours.
fn has_others(held: &InstalledContent) -> bool {
    !matches!(held, InstalledContent::Extension)
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
            after.map_err(|fault| format!("what is left would not be readable: {}", fault.what))?;
        let changed = before.first_difference(&after);
        changed.map_or(Ok(()), |name| Err(format!("“{name}” would be another")))
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
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut root = self.read(text)?;
        for held in self.holds {
            match held {
                InstalledContent::Hooks => self.drop_hooks(&mut root),
                InstalledContent::Servers { at, .. } => self.drop_servers(&mut root, at),
                InstalledContent::TomlServers => {
                    let is_ours =
                        hooked::call_in_notify(&root.value()).as_ref().is_some_and(is_plain);
                    root.retain(|name, _| name != "notify" || !is_ours);
                    self.drop_hooks(&mut root);
                    self.drop_servers(&mut root, &["mcp_servers".to_owned()]);
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
        if self.holds.iter().any(|held| matches!(held, InstalledContent::TomlServers)) {
            return Ok(ComparableValue::of_value(&toml::parse_to_json(text)?));
        }
        let is_loose = |held: &&InstalledContent| {
            matches!(held, InstalledContent::Servers { comments: true, .. })
        };
        let loose = self.holds.iter().any(is_loose);
        let dialect = if loose { JsonDialect::Comments } else { JsonDialect::Strict };
        let root = tree::parse(text, dialect)?;
        Ok(root.map_or_else(ComparableValue::empty_object, |root| {
            ComparableValue::of_node(&root, text)
        }))
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
                        hooks.retain_elements(|hook| !goes(&hook.value()))
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

fn is_plain(call: &RecoupCall) -> bool {
    !call.wrapped
}

#[cfg(test)]
mod tests;
