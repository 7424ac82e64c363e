//! File content for comparison, which keeps duplicate names.

use recoup_core::memory::hooked::replace_lone_surrogates;
use serde_json::{Map, Value};

use crate::install::edit::tree::{JsonSyntaxKind, JsonSyntaxMember, JsonSyntaxNode};

/// A value; fields are sorted by name, and duplicates stay in text order: the last counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ComparableValue {
    Object(Vec<(String, ComparableValue)>),
    List(Vec<ComparableValue>),
    /// Source text.
    Scalar(String),
}

impl ComparableValue {
    /// The empty object, which a file without a value stands for.
    pub(super) fn empty_object() -> Self {
        Self::Object(Vec::new())
    }

    pub(super) fn of_node(node: &JsonSyntaxNode, text: &str) -> Self {
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
    pub(super) fn of_value(value: &Value) -> Self {
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
    pub(super) fn value(&self) -> Value {
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
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Object(fields) => fields.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Scalar(_) => false,
        }
    }

    /// Returns the field of that name; of duplicates, the last.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else { return None };
        fields.iter().rev().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    /// Visits all fields of that name.
    pub(super) fn for_each_named(&mut self, name: &str, mut each: impl FnMut(&mut Self)) {
        let Self::Object(fields) = self else { return };
        fields.iter_mut().filter(|(it, _)| it == name).for_each(|(_, value)| each(value));
    }

    /// Visits all fields.
    pub(super) fn each_field(&mut self, mut each: impl FnMut(&mut Self)) {
        let Self::Object(fields) = self else { return };
        for (_, value) in fields {
            each(value);
        }
    }

    /// Visits all elements.
    pub(super) fn each_element(&mut self, each: impl FnMut(&mut Self)) {
        let Self::List(items) = self else { return };
        items.iter_mut().for_each(each);
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&str, &Self) -> bool) {
        let Self::Object(fields) = self else { return };
        fields.retain(|(name, value)| keep(name, value));
    }

    pub(super) fn retain_elements(&mut self, keep: impl FnMut(&Self) -> bool) {
        let Self::List(items) = self else { return };
        items.retain(keep);
    }

    /// Returns the first field in which two objects differ.
    pub(super) fn first_difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
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
