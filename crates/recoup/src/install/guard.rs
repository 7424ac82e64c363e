//! Final check before other people's settings are written: the result is parsed as the client does
//! it, and apart from our entries it must equal the original. Independent of the editing code, so
//! that a wrong edit is caught here and the file left alone.

mod shape;

use recoup_core::memory::hooked::{self, Call};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::change::Change;
use super::edit::{Dialect, Fault, toml, tree};
use super::held::Held;
use super::peers;
use super::places::Places;
use shape::Shape;

/// Parts of a file that may change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ours<'a> {
    pub(crate) holds: &'a [&'a Held],
    /// Other memory programs that are removed.
    pub(crate) peers: &'a [&'static str],
}

/// Refuses a change that would make the file unreadable, or alter what is not ours.
pub(crate) fn demand_only_ours(change: &Change, ours: Ours<'_>, places: &Places) -> Result<()> {
    if !change.is_any() || !ours.holds.iter().any(|held| has_others(held)) {
        return Ok(());
    }
    let [before, after] =
        [&change.before, &change.after].map(|bytes| bytes.as_deref().unwrap_or_default());
    ours.are_all(before, after).map_err(|why| {
        let place = places.shown(&change.path);
        let message = format!(
            "{place} is laid out in a way that can't be edited safely ({why}): edit it by hand"
        );
        Error::new(ErrorKind::Invalid, message)
    })
}

/// True if such a file may also hold what is not ours.
fn has_others(held: &Held) -> bool {
    !matches!(held, Held::Extension)
}

impl Ours<'_> {
    /// Compares without our parts; names the first difference.
    fn are_all(self, before: &[u8], after: &[u8]) -> std::result::Result<(), String> {
        if self.holds.iter().any(|held| matches!(held, Held::Line(_))) {
            let same = self.other_lines(before).eq(self.other_lines(after));
            return if same { Ok(()) } else { Err("another line would change".to_owned()) };
        }
        let before = self.rest(before).map_err(|fault| fault.to_string())?;
        let after = self.rest(after);
        let after =
            after.map_err(|fault| format!("what is left would not be readable: {}", fault.what))?;
        let changed = before.first_difference(&after);
        changed.map_or(Ok(()), |name| Err(format!("“{name}” would be another")))
    }

    /// Lines of a list other than ours, without line ends.
    fn other_lines(self, list: &[u8]) -> impl Iterator<Item = &[u8]> {
        let is_ours = move |line: &&[u8]| {
            let line = line.trim_ascii_end();
            self.holds.iter().any(|held| matches!(held, Held::Line(it) if it.as_bytes() == line))
        };
        let lines = list.strip_suffix(b"\n").unwrap_or(list).split(|byte| *byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(move |line| !list.is_empty() && !is_ours(line))
    }

    /// Content of a file without our parts.
    fn rest(self, bytes: &[u8]) -> std::result::Result<Shape, Fault> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut root = self.read(text)?;
        for held in self.holds {
            match held {
                Held::Hooks => self.drop_hooks(&mut root),
                Held::Servers { at, .. } => self.drop_servers(&mut root, at),
                Held::TomlServers => {
                    let is_ours = hooked::notify(&root.value()).as_ref().is_some_and(is_plain);
                    root.retain(|name, _| name != "notify" || !is_ours);
                    self.drop_hooks(&mut root);
                    self.drop_servers(&mut root, &["mcp_servers".to_owned()]);
                }
                Held::Extension | Held::Line(_) => {}
            }
        }
        if !self.peers.is_empty() {
            self.drop_hooks(&mut root);
            self.drop_servers(&mut root, &["mcpServers".to_owned()]);
            root.each("projects", |projects| {
                projects.each_field(|it| self.drop_servers(it, &["mcpServers".to_owned()]));
            });
            root.each("enabledPlugins", |plugins| {
                plugins.retain(|name, _| !peers::is_plugin_of(name, self.peers));
            });
        }
        Ok(root)
    }

    fn read(self, text: &str) -> std::result::Result<Shape, Fault> {
        if self.holds.iter().any(|held| matches!(held, Held::TomlServers)) {
            return Ok(Shape::of_value(&toml::value(text)?));
        }
        let is_loose = |held: &&Held| matches!(held, Held::Servers { comments: true, .. });
        let loose = self.holds.iter().any(is_loose);
        let dialect = if loose { Dialect::Comments } else { Dialect::Strict };
        let root = tree::parse(text, dialect)?;
        Ok(root.map_or_else(Shape::nothing, |root| Shape::of_node(&root, text)))
    }

    fn drop_hooks(self, root: &mut Shape) {
        let goes = |hook: &Value| {
            hooked::hook(hook).as_ref().is_some_and(is_plain) || peers::is_run_by(hook, self.peers)
        };
        root.each("hooks", |events| {
            events.each_field(|groups| {
                groups.each_element(|group| {
                    group.each("hooks", |hooks| hooks.retain_elements(|hook| !goes(&hook.value())));
                });
                // A group with an empty list is dropped; one without a list is not ours.
                groups.retain_elements(|group| !group.field("hooks").is_some_and(Shape::is_empty));
            });
            events.retain(|_, groups| !groups.is_empty());
        });
        root.retain(|name, events| name != "hooks" || !events.is_empty());
    }

    fn drop_servers(self, root: &mut Shape, at: &[String]) {
        let Some((first, rest)) = at.split_first() else {
            root.retain(|name, entry| {
                let entry = entry.value();
                let is_ours = hooked::server(&entry).as_ref().is_some_and(is_plain);
                !is_ours && !peers::is_server_of(name, &entry, self.peers)
            });
            return;
        };
        root.each(first, |inner| self.drop_servers(inner, rest));
        root.retain(|name, inner| name != first || !inner.is_empty());
    }
}

fn is_plain(call: &Call) -> bool {
    !call.wrapped
}

#[cfg(test)]
mod tests;
