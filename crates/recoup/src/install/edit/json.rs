//! JSON settings of a client: values are inserted and removed, and all other bytes stay.

use serde_json::Value;

use super::JsonDialect;
use super::node::{AdditionStyle, SyntaxItem, SyntaxList, SyntaxNode};
use super::tree::{self, JsonText, node_to_json};
use super::{NewValue, SettingsSyntaxError, split_bom};

/// A JSON file that is edited.
#[derive(Debug, Clone)]
pub(crate) struct JsonFile {
    /// Byte order mark, if there is one.
    bom: &'static str,
    /// There was no value in it.
    bare: bool,
    text: JsonText,
    dialect: JsonDialect,
    /// Layout of the original text.
    style: AdditionStyle,
    /// Objects and lists from which the last value was removed.
    emptied: Vec<Vec<JsonPathStep>>,
}

/// Step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonPathStep {
    Name(String),
    Index(usize),
}

impl From<&str> for JsonPathStep {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<usize> for JsonPathStep {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// Path of objects by their names.
pub(crate) fn steps<T: AsRef<str>>(names: &[T]) -> Vec<JsonPathStep> {
    names.iter().map(|name| name.as_ref().into()).collect()
}

/// Names and numbers of a path.
pub(crate) fn path_names(path: &[JsonPathStep]) -> Vec<String> {
    let name = |step: &JsonPathStep| match step {
        JsonPathStep::Name(name) => name.clone(),
        JsonPathStep::Index(index) => index.to_string(),
    };
    path.iter().map(name).collect()
}

impl JsonFile {
    /// Parses a file; an empty object if it is empty or missing.
    pub(crate) fn read(
        bytes: Option<&[u8]>,
        dialect: JsonDialect,
    ) -> Result<Self, SettingsSyntaxError> {
        let bytes = bytes.unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            SettingsSyntaxError::at(&valid, valid.len(), "the file is not UTF-8")
        })?;
        let (bom, text) = split_bom(text);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let parsed = tree::parse(text, dialect)?;
        let bare = parsed.is_none();
        let parsed = parsed.unwrap_or_else(|| {
            // An empty object, behind any comments.
            let mut before = if text.trim().is_empty() { String::new() } else { text.to_owned() };
            if !before.is_empty() && !before.ends_with('\n') {
                before.push_str(newline);
            }
            let root = SyntaxNode::Object(SyntaxList::default());
            JsonText { before, root, behind: newline.to_owned() }
        });
        let SyntaxNode::Object(members) = &parsed.root else {
            let what = "expected an object here: { … }";
            return Err(SettingsSyntaxError::at(text, parsed.before.len(), what));
        };
        let first = members.items.first();
        let style = AdditionStyle {
            unit: members.unit("").unwrap_or("  ").to_owned(),
            newline,
            blank: if first.is_none_or(SyntaxItem::is_spaced) { " " } else { "" },
            one_line: first.is_some() && !parsed.root.text().contains('\n'),
        };
        Ok(Self { bom, bare, text: parsed, dialect, style, emptied: Vec::new() })
    }

    pub(crate) fn dialect(&self) -> JsonDialect {
        self.dialect
    }

    /// True if the file had no object.
    pub(crate) fn had_no_object(&self) -> bool {
        self.bare
    }

    /// The file without its empty object: comments alone, or nothing.
    pub(crate) fn bytes_without_object(&self) -> Vec<u8> {
        let JsonText { before, behind, .. } = &self.text;
        let line = behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix('\n'));
        [self.bom, before, line.unwrap_or(behind)].concat().into_bytes()
    }

    /// Content of the edited file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let JsonText { before, root, behind } = &self.text;
        [self.bom, before, &root.text(), behind].concat().into_bytes()
    }

    /// True if the object is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.root.list().is_some_and(|list| list.items.is_empty())
    }

    /// Returns the value at a path, if there is one.
    pub(crate) fn value_at(&self, path: &[JsonPathStep]) -> Option<Value> {
        self.find(path).map(node_to_json)
    }

    /// Returns an error at the position of a path.
    pub(crate) fn error_at(&self, path: &[JsonPathStep], what: &str) -> SettingsSyntaxError {
        let mut offset = self.text.before.len();
        let mut node = Some(&self.text.root);
        for step in path {
            let Some(list) = node.and_then(SyntaxNode::list) else { break };
            let Some(at) = step.index_in(list) else { break };
            let mut earlier = String::from("{");
            list.items[..at].iter().for_each(|it| it.write(&mut earlier));
            offset += earlier.len() + list.items[at].value_offset();
            node = Some(&list.items[at].value);
        }
        let JsonText { before, root, .. } = &self.text;
        SettingsSyntaxError::at(&[&**before, &root.text()].concat(), offset, what)
    }

    /// Sets a field of an object: replaces its value, or appends it.
    pub(crate) fn set(&mut self, object: &[JsonPathStep], name: &str, value: &NewValue) {
        let Some(SyntaxNode::Object(members)) = self.find(object) else { return };
        let step = JsonPathStep::from(name);
        let new = self.style.write(value);
        match step.index_in(members) {
            Some(at) if node_to_json(&members.items[at].value) == value.value() => {}
            Some(_) => self.replace(&[object, &[step]].concat(), node_of(&new)),
            None => {
                let head = self.style.head(name);
                self.append(object, SyntaxItem::new(vec![name.to_owned()], head, node_of(&new)));
            }
        }
    }

    /// Ensures that the path `names` leads to an object. Returns the paths that were created.
    pub(crate) fn ensure_objects<T: AsRef<str>>(
        &mut self,
        names: &[T],
    ) -> Result<Vec<Vec<String>>, SettingsSyntaxError> {
        let mut created = Vec::new();
        let path = steps(names);
        for (depth, name) in names.iter().map(AsRef::as_ref).enumerate() {
            let (above, here) = (&path[..depth], &path[..=depth]);
            match self.find(here) {
                None => {
                    self.set(above, name, &NewValue::EMPTY);
                    created.push(path_names(here));
                }
                Some(SyntaxNode::Object(_)) => {}
                Some(_) => {
                    let what = format!("“{name}” should be an object: {{ … }}");
                    return Err(self.error_at(here, &what));
                }
            }
        }
        Ok(created)
    }

    /// Appends a value to an array.
    pub(crate) fn push(&mut self, array: &[JsonPathStep], value: &NewValue) {
        if let Some(SyntaxNode::Array(_)) = self.find(array) {
            let value = node_of(&self.style.write(value));
            self.append(array, SyntaxItem::new(Vec::new(), String::new(), value));
        }
    }

    /// Removes the value at a path.
    pub(crate) fn remove(&mut self, path: &[JsonPathStep]) {
        let Some((step, above)) = path.split_last() else { return };
        let Some(list) = self.find_mut(above).and_then(SyntaxNode::list_mut) else { return };
        let Some(at) = step.index_in(list) else { return };
        list.remove(at);
        if list.items.is_empty() {
            self.emptied.push(above.to_vec());
        }
    }

    /// Returns the source text of the value at a path.
    pub(crate) fn source_at(&self, path: &[JsonPathStep]) -> Option<String> {
        self.find(path).map(SyntaxNode::text)
    }

    /// Replaces the value at a path with that of another text, to the byte.
    pub(crate) fn copy_value(&mut self, path: &[JsonPathStep], from: &Self) {
        if let Some(value) = from.find(path) {
            self.replace(path, value.clone());
        }
    }

    /// Restores the blanks between brackets that were emptied, as an earlier text had them.
    pub(crate) fn restore_blanks(&mut self, earlier: &[u8]) {
        let empty_end = |json: &Self, path: &[JsonPathStep]| {
            let list = json.find(path)?.list()?;
            list.items.is_empty().then(|| list.end.clone())
        };
        let mut emptied = std::mem::take(&mut self.emptied);
        emptied.retain(|path| empty_end(self, path).is_some());
        if emptied.is_empty() {
            return;
        }
        let Ok(earlier) = Self::read(Some(earlier), self.dialect) else { return };
        // Line ends that were converted meanwhile are what the user wants.
        if earlier.style.newline != self.style.newline {
            return;
        }
        for path in emptied {
            let (Some(now), Some(was)) = (empty_end(self, &path), empty_end(&earlier, &path))
            else {
                continue;
            };
            if let Some(list) = self.find_mut(&path).and_then(SyntaxNode::list_mut)
                && now.trim() == was.trim()
            {
                list.end = was;
            }
        }
    }

    fn append(&mut self, path: &[JsonPathStep], item: SyntaxItem) {
        let style = self.style.clone();
        let (mut node, mut outer) = (&mut self.text.root, String::new());
        for step in path {
            let Some(list) = node.list_mut() else { return };
            let Some(at) = step.index_in(list) else { return };
            outer = list.indent(at, &outer).to_owned();
            node = &mut list.items[at].value;
        }
        if let Some(list) = node.list_mut() {
            list.append(item, &style, &outer);
        }
    }

    fn replace(&mut self, path: &[JsonPathStep], value: SyntaxNode) {
        if let Some(node) = self.find_mut(path) {
            *node = value;
        }
    }

    fn find(&self, path: &[JsonPathStep]) -> Option<&SyntaxNode> {
        path.iter().try_fold(&self.text.root, |node, step| {
            let list = node.list()?;
            Some(&list.items[step.index_in(list)?].value)
        })
    }

    fn find_mut(&mut self, path: &[JsonPathStep]) -> Option<&mut SyntaxNode> {
        path.iter().try_fold(&mut self.text.root, |node, step| {
            let list = node.list_mut()?;
            let at = step.index_in(list)?;
            Some(&mut list.items[at].value)
        })
    }
}

impl JsonPathStep {
    /// Position of the value in a list; of duplicate names, the last counts, as for clients.
    fn index_in(&self, list: &SyntaxList) -> Option<usize> {
        match self {
            Self::Name(name) => list.items.iter().rposition(|it| it.name == [name.as_str()]),
            Self::Index(at) => list.items.get(*at).filter(|it| it.name.is_empty()).map(|_| *at),
        }
    }
}

impl AdditionStyle {
    /// Formats a value on one line.
    fn write(&self, value: &NewValue) -> String {
        let comma = format!(",{}", self.blank);
        let members = |all: Vec<(&str, String)>| {
            let member = |(name, value)| format!("{}{value}", self.head(name));
            format!("{{{}}}", all.into_iter().map(member).collect::<Vec<_>>().join(&comma))
        };
        let elements = |all: Vec<String>| format!("[{}]", all.join(&comma));
        let plain = |value: &Value| self.write(&NewValue::Plain(value.clone()));
        match value {
            NewValue::Object(fields) => {
                members(fields.iter().map(|(name, it)| (*name, self.write(it))).collect())
            }
            NewValue::Plain(Value::Object(fields)) => {
                members(fields.iter().map(|(name, it)| (name.as_str(), plain(it))).collect())
            }
            NewValue::List(items) => elements(items.iter().map(|it| self.write(it)).collect()),
            NewValue::Plain(Value::Array(items)) => elements(items.iter().map(plain).collect()),
            NewValue::Plain(scalar) => scalar.to_string(),
        }
    }

    /// Name of a field, with the colon.
    fn head(&self, name: &str) -> String {
        format!("{}:{}", Value::from(name), self.blank)
    }
}

/// Parses text of ours.
fn node_of(text: &str) -> SyntaxNode {
    let parsed = tree::parse(text, JsonDialect::Strict).ok().flatten();
    parsed.expect("what we write is JSON").root
}

#[cfg(test)]
mod tests;
