//! A value that is to be put into a file, with its names in the order in which people
//! expect them.

use serde_json::{Map, Value};

/// A new value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fresh {
    Object(Vec<(&'static str, Fresh)>),
    List(Vec<Fresh>),
    Plain(Value),
}

impl Fresh {
    /// An object without anything in it.
    pub(crate) const EMPTY: Self = Self::Object(Vec::new());

    /// A text, a number or a truth.
    pub(crate) fn plain(value: impl Into<Value>) -> Self {
        Self::Plain(value.into())
    }

    /// A list of texts.
    pub(crate) fn texts<T: AsRef<str>>(texts: &[T]) -> Self {
        Self::List(texts.iter().map(|text| Self::plain(text.as_ref())).collect())
    }

    /// What it amounts to.
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

    /// The same on several lines, for people.
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
