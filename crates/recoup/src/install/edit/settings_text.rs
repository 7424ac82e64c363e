//! A settings file that is edited, in either syntax: servers come and go in the same way in JSON and
//! in TOML.

use serde_json::{Map, Value, json};

use super::json::{JsonFile, JsonPathStep, path_names};
use super::{NewValue, SettingsSyntax, SettingsSyntaxError, split_bom, toml, tree};

/// Parses settings as a client reads them; an empty object if there is no value.
pub(crate) fn parse_settings(
    text: &str,
    syntax: SettingsSyntax,
) -> Result<Value, SettingsSyntaxError> {
    let (_, text) = split_bom(text);
    let SettingsSyntax::Json(dialect) = syntax else { return toml::parse_to_json(text) };
    let root = tree::parse(text, dialect)?.map(|it| tree::node_to_json(&it.root));
    Ok(root.unwrap_or_else(|| Map::new().into()))
}

/// Marks, among the created paths, a line end that was added to the last line.
pub(crate) const LINE_END: &str = "\n";

/// Which objects and lists are removed once they are empty.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EmptiedContainers<'a> {
    /// Only containers that we created.
    Made(&'a [Vec<String>]),
    /// All: it is unknown who created them.
    Any,
}

impl EmptiedContainers<'_> {
    pub(crate) fn may_remove(self, path: &[JsonPathStep]) -> bool {
        let Self::Made(made) = self else { return true };
        made.iter().any(|made| *made == path_names(path))
    }

    /// Removes the line end that was added to the last line of `text`, once ours is gone from
    /// `left`. If more follows ours, the line end belongs to it.
    pub(crate) fn remove_line_end(self, text: &str, left: &mut String) {
        let was_last = text.starts_with(left.trim_end());
        if was_last && matches!(self, Self::Made(_)) && self.may_remove(&[LINE_END.into()]) {
            let bare = left.strip_suffix('\n').unwrap_or(left);
            left.truncate(bare.strip_suffix('\r').unwrap_or(bare).len());
        }
    }
}

/// True for an object or a list with nothing in it.
pub(crate) fn is_empty_container(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// A settings file that is edited.
#[derive(Debug, Clone)]
pub(crate) enum SettingsText {
    Json(JsonFile),
    Toml {
        /// Byte order mark, if there is one.
        bom: &'static str,
        text: String,
    },
}

impl SettingsText {
    /// Parses a file; it is empty if it is missing.
    pub(crate) fn read(
        bytes: Option<&[u8]>,
        syntax: SettingsSyntax,
    ) -> Result<Self, SettingsSyntaxError> {
        if let SettingsSyntax::Json(dialect) = syntax {
            return JsonFile::read(bytes, dialect).map(Self::Json);
        }
        let text = str::from_utf8(bytes.unwrap_or_default())
            .map_err(|_| SettingsSyntaxError::at("", 0, "the file is not UTF-8"))?;
        let (bom, text) = split_bom(text);
        toml::parse_to_json(text)?;
        Ok(Self::Toml { bom, text: text.to_owned() })
    }

    /// Syntax of the file.
    pub(crate) fn syntax(&self) -> SettingsSyntax {
        match self {
            Self::Json(json) => SettingsSyntax::Json(json.dialect()),
            Self::Toml { .. } => SettingsSyntax::Toml,
        }
    }

    /// Content of the edited file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Json(json) => json.bytes(),
            Self::Toml { bom, text } => [bom, &**text].concat().into_bytes(),
        }
    }

    /// True if the file had no object, which only JSON needs.
    pub(crate) fn had_no_object(&self) -> bool {
        matches!(self, Self::Json(json) if json.had_no_object())
    }

    /// True if nothing is left but blanks.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Json(json) => json.is_empty(),
            Self::Toml { text, .. } => text.trim().is_empty(),
        }
    }

    /// True if the last line has no end, which additions to TOML give it.
    pub(crate) fn lacks_line_end(&self) -> bool {
        matches!(self, Self::Toml { text, .. } if !text.is_empty() && !text.ends_with('\n'))
    }

    /// Returns the value at a path, if there is one.
    pub(crate) fn value_at(&self, path: &[JsonPathStep]) -> Option<Value> {
        match self {
            Self::Json(json) => json.value_at(path),
            Self::Toml { text, .. } => {
                let root = toml::parse_to_json(text).ok()?;
                let inner = |value, step: &JsonPathStep| match step {
                    JsonPathStep::Name(name) => Value::get(value, name),
                    JsonPathStep::Index(index) => Value::get(value, *index),
                };
                path.iter().try_fold(&root, inner).cloned()
            }
        }
    }

    /// Ensures that a path may lead to an object. Returns the paths that are created, in TOML with
    /// the first field.
    pub(crate) fn ensure_objects<T: AsRef<str>>(
        &mut self,
        names: &[T],
    ) -> Result<Vec<Vec<String>>, SettingsSyntaxError> {
        if let Self::Json(json) = self {
            return json.ensure_objects(names);
        }
        let steps = super::steps(names);
        let paths = (1..=steps.len()).map(|depth| &steps[..depth]);
        Ok(paths.filter(|path| self.value_at(path).is_none()).map(path_names).collect())
    }

    /// Sets a field of an object, which is created if it is missing.
    pub(crate) fn set(
        &mut self,
        object: &[JsonPathStep],
        name: &str,
        value: &NewValue,
    ) -> Result<(), SettingsSyntaxError> {
        match (self, object.split_last()) {
            (Self::Json(json), Some((JsonPathStep::Name(last), above)))
                if json.value_at(object).is_none() =>
            {
                json.set(above, last, &NewValue::plain(json!({ name: value.value() })));
            }
            (Self::Json(json), _) => json.set(object, name, value),
            (Self::Toml { text, .. }, _) => {
                let mut table = path_names(object);
                let fields = match value {
                    NewValue::Object(fields) => {
                        table.push(name.to_owned());
                        fields
                            .iter()
                            .map(|(name, it)| (*name, toml::from_json(&it.value())))
                            .collect()
                    }
                    value => vec![(name, toml::from_json(&value.value()))],
                };
                let table: Vec<&str> = table.iter().map(String::as_str).collect();
                *text = toml::put_fields(text, &table, &fields)?;
            }
        }
        Ok(())
    }

    /// Appends a value to an array of JSON.
    pub(crate) fn push(&mut self, array: &[JsonPathStep], value: &NewValue) {
        if let Self::Json(json) = self {
            json.push(array, value);
        }
    }

    /// Returns an error at the position of a path.
    pub(crate) fn error_at(&self, path: &[JsonPathStep], what: &str) -> SettingsSyntaxError {
        match self {
            Self::Json(json) => json.error_at(path, what),
            Self::Toml { text, .. } => SettingsSyntaxError::at(text, 0, what),
        }
    }

    /// Removes the value at a path, and the objects and lists above that are empty then, as far as `emptied`
    /// allows.
    pub(crate) fn remove(
        &mut self,
        path: &[JsonPathStep],
        emptied: EmptiedContainers<'_>,
    ) -> Result<(), SettingsSyntaxError> {
        self.remove_value(path)?;
        let above = &path[..path.len().saturating_sub(1)];
        let is_emptied = !above.is_empty()
            && self.value_at(above).is_none_or(|it| is_empty_container(&it))
            && emptied.may_remove(above);
        if is_emptied { self.remove(above, emptied) } else { Ok(()) }
    }

    fn remove_value(&mut self, path: &[JsonPathStep]) -> Result<(), SettingsSyntaxError> {
        match self {
            Self::Json(json) => json.remove(path),
            Self::Toml { text, .. } => *text = toml::remove_paths(text, &[path_names(path)])?,
        }
        Ok(())
    }
}
