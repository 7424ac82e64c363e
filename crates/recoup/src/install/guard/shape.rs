//! What a file amounts to, with every name that is there twice.

use recoup_core::memory::hooked::with_whole_letters;
use serde_json::{Map, Value};

use crate::install::edit::tree::{Kind, Member, Node};

/// A value; fields are in the order of their names, and those of one name in the order of the
/// text, of which the last counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Object(Vec<(String, Shape)>),
    List(Vec<Shape>),
    /// As the text has it.
    Scalar(String),
}

impl Shape {
    /// An object without anything in it: what a file without a value stands for.
    pub(super) fn nothing() -> Self {
        Self::Object(Vec::new())
    }

    /// A value of a text.
    pub(super) fn of_node(node: &Node, text: &str) -> Self {
        match &node.kind {
            Kind::Object(members) => {
                let field = |it: &Member| (it.name.clone(), Self::of_node(&it.value, text));
                Self::object(members.iter().map(field).collect())
            }
            Kind::Array(elements) => {
                Self::List(elements.iter().map(|it| Self::of_node(it, text)).collect())
            }
            Kind::Scalar => Self::Scalar(text[node.span.clone()].to_owned()),
        }
    }

    /// A value that no name is in twice.
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

    /// As a client reads it: of names that are there twice, the last one counts.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| (name.clone(), it.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Self::List(items) => items.iter().map(Self::value).collect(),
            Self::Scalar(text) => {
                serde_json::from_str(&with_whole_letters(text)).unwrap_or_default()
            }
        }
    }

    /// An object or a list with nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Object(fields) => fields.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Scalar(_) => false,
        }
    }

    /// What counts under a name.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else { return None };
        fields.iter().rev().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    /// Does something to all that is there under a name.
    pub(super) fn each(&mut self, name: &str, mut each: impl FnMut(&mut Self)) {
        let Self::Object(fields) = self else { return };
        fields.iter_mut().filter(|(it, _)| it == name).for_each(|(_, value)| each(value));
    }

    /// The same for all fields.
    pub(super) fn each_field(&mut self, mut each: impl FnMut(&mut Self)) {
        let Self::Object(fields) = self else { return };
        for (_, value) in fields {
            each(value);
        }
    }

    /// The same for all elements.
    pub(super) fn each_element(&mut self, each: impl FnMut(&mut Self)) {
        let Self::List(items) = self else { return };
        items.iter_mut().for_each(each);
    }

    /// Keeps some of the fields.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&str, &Self) -> bool) {
        let Self::Object(fields) = self else { return };
        fields.retain(|(name, value)| keep(name, value));
    }

    /// Keeps some of the elements.
    pub(super) fn retain_elements(&mut self, keep: impl FnMut(&Self) -> bool) {
        let Self::List(items) = self else { return };
        items.retain(keep);
    }

    /// The first field in which two objects differ.
    pub(super) fn first_difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        if self == other {
            return None;
        }
        let (Self::Object(here), Self::Object(there)) = (self, other) else { return Some("") };
        let differs = here.iter().zip(there).find(|(here, there)| here != there);
        let longer = if here.len() > there.len() { here } else { there };
        let behind = || longer.get(here.len().min(there.len())).map(|(name, _)| name.as_str());
        // In the order of names, the first of the two is the one that the other lacks.
        differs.map(|(here, there)| here.0.as_str().min(&there.0)).or_else(behind)
    }
}
