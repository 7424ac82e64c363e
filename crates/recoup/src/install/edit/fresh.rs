//! JSON value to be inserted, with its fields in the order that people expect.

use serde_json::{Map, Value};

/// New JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NewValue {
    Object(Vec<(&'static str, NewValue)>),
    List(Vec<NewValue>),
    Plain(Value),
}

impl NewValue {
    /// Empty object.
    pub(crate) const EMPTY: Self = Self::Object(Vec::new());

    /// String, number or boolean.
    pub(crate) fn plain(value: impl Into<Value>) -> Self {
        Self::Plain(value.into())
    }

    /// List of strings.
    pub(crate) fn texts<T: AsRef<str>>(texts: &[T]) -> Self {
        Self::List(texts.iter().map(|text| Self::plain(text.as_ref())).collect())
    }

    /// Converts to a `serde_json` value.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| ((*name).to_owned(), it.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Self::List(items) => items.iter().map(Self::value).collect(),
            Self::Plain(value) => value.clone(),
        }
    }

    /// Formats on several lines, for people.
    pub(crate) fn pretty(&self, indent: &str) -> String {
        match self {
            Self::Object(fields) if !fields.is_empty() => {
                let deeper = format!("{indent}  ");
                let field = |(name, value): &(&str, Self)| {
                    format!("{deeper}{}: {}", Value::from(*name), value.pretty(&deeper))
                };
                let fields: Vec<_> = fields.iter().map(field).collect();
                format!("{{\n{}\n{indent}}}", fields.join(",\n"))
            }
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.pretty(indent)).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.value().to_string(),
        }
    }
}
