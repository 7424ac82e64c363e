//! A configuration file as a tree, the same for TOML, YAML and JSON, so that strictness is written
//! once. A parser runs only when its file exists.

use std::fmt;
use std::marker::PhantomData;

use recoup_core::base::text::shorten_text;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Location, Spanned};
use toml::de::{DeTable, DeValue};

/// The most of a given value that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// A value and the line of its name.
#[derive(Debug)]
pub(crate) struct ConfigNode {
    /// From 1; none if the parser does not report it.
    pub(crate) line: Option<u64>,
    pub(crate) value: ConfigValue,
}

/// A value of any of the formats, as far as configuration needs it.
#[derive(Debug)]
pub(crate) enum ConfigValue {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<ConfigNode>),
    /// In the file's order. A name may occur twice if the format permits it.
    Table(Vec<(String, ConfigNode)>),
    /// Dates, infinities and the like, as they were written.
    Other(String),
}

/// Reason for which a file cannot be parsed.
#[derive(Debug)]
pub(crate) struct DocumentError {
    pub(crate) position: Option<TextPosition>,
    pub(crate) message: String,
}

/// Line and column, both from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPosition {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl ConfigNode {
    /// The node at `path`, if tables lead there. Of duplicate names the last counts, as it does for
    /// the programs that these files belong to.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        let ConfigValue::Table(entries) = &self.value else { return None };
        entries.iter().rfind(|(key, _)| key == name)?.1.at(rest)
    }

    /// The value as JSON; none if JSON has no such value.
    pub(crate) fn to_json(&self) -> Option<Value> {
        Some(match &self.value {
            ConfigValue::Null => Value::Null,
            ConfigValue::Bool(value) => Value::Bool(*value),
            ConfigValue::Number(number) => Value::Number(number.clone()),
            ConfigValue::Text(text) => Value::String(text.clone()),
            ConfigValue::List(items) => {
                Value::Array(items.iter().map(Self::to_json).collect::<Option<_>>()?)
            }
            ConfigValue::Table(entries) => {
                let entry = |(name, node): &(String, Self)| Some((name.clone(), node.to_json()?));
                Value::Object(entries.iter().map(entry).collect::<Option<_>>()?)
            }
            ConfigValue::Other(_) => return None,
        })
    }
}

/// Formats the value for a message.
impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{:?}", shorten_text(text, MAX_SHOWN)),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Other(text) => f.write_str(&shorten_text(text, MAX_SHOWN)),
        }
    }
}

/// Our keys have three levels, and schemas of tools have more.
const MAX_DEPTH: usize = 64;

/// Parses TOML with the parser's own tree, which has positions.
pub(super) fn read_toml(text: &str) -> Result<ConfigNode, DocumentError> {
    let lines = LineOffsets::of(text);
    let table = DeTable::parse(text).map_err(|error| DocumentError {
        position: error.span().map(|span| lines.position(text, span.start)),
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    })?;
    Ok(ConfigNode { line: Some(1), value: convert_table(table.get_ref(), &lines, MAX_DEPTH) })
}

fn convert_table(table: &DeTable<'_>, lines: &LineOffsets, depth: usize) -> ConfigValue {
    let Some(depth) = depth.checked_sub(1) else { return ConfigValue::Table(Vec::new()) };
    let mut entries = Vec::with_capacity(table.len());
    for (name, value) in table {
        let line = Some(lines.line(name.span().start));
        let value = convert_value(value.get_ref(), lines, depth);
        entries.push((name.get_ref().to_string(), ConfigNode { line, value }));
    }
    // The parser sorts by name; people read from the top.
    entries.sort_by_key(|(_, node)| node.line);
    ConfigValue::Table(entries)
}

fn convert_value(value: &DeValue<'_>, lines: &LineOffsets, depth: usize) -> ConfigValue {
    match value {
        DeValue::String(text) => ConfigValue::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(
                |_| ConfigValue::Other(number.to_string()),
                |value| ConfigValue::Number(value.into()),
            ),
        DeValue::Float(number) => {
            let value = number.as_str().parse().ok().and_then(Number::from_f64);
            value.map_or_else(|| ConfigValue::Other(number.to_string()), ConfigValue::Number)
        }
        DeValue::Boolean(value) => ConfigValue::Bool(*value),
        DeValue::Datetime(time) => ConfigValue::Other(time.to_string()),
        DeValue::Array(items) => {
            let Some(depth) = depth.checked_sub(1) else { return ConfigValue::List(Vec::new()) };
            let convert = |item: &toml::Spanned<DeValue<'_>>| ConfigNode {
                line: Some(lines.line(item.span().start)),
                value: convert_value(item.get_ref(), lines, depth),
            };
            ConfigValue::List(items.iter().map(convert).collect())
        }
        DeValue::Table(table) => convert_table(table, lines, depth),
    }
}

/// Start offsets of the lines, computed once, so that positions in a long file are cheap.
struct LineOffsets(Vec<usize>);

impl LineOffsets {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn line(&self, offset: usize) -> u64 {
        self.0.partition_point(|start| *start <= offset) as u64 + 1
    }

    fn position(&self, text: &str, offset: usize) -> TextPosition {
        let line = self.0.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).map_or(0, |previous| self.0[previous]);
        let before = text.get(start..offset).unwrap_or_default();
        TextPosition { line: line as u64 + 1, column: before.chars().count() as u64 + 1 }
    }
}

/// Parses JSON, nested at most 128 deep, which is the parser's own limit.
pub(super) fn read_json(text: &str) -> Result<ConfigNode, DocumentError> {
    serde_json::from_str::<UnlocatedNode>(text).map(ConfigNode::from).map_err(|error| {
        let (line, column) = (error.line() as u64, error.column() as u64);
        let message = error.to_string();
        // Our messages begin with the position.
        let bare = message.rsplit_once(" at line ").map_or(&*message, |(bare, _)| bare);
        DocumentError { position: Some(TextPosition { line, column }), message: bare.to_owned() }
    })
}

/// A node without a line number.
struct UnlocatedNode(ConfigNode);

impl<'de> Deserialize<'de> for UnlocatedNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(TreeVisitor::<Self>::new())?;
        Ok(Self(ConfigNode { line: None, value }))
    }
}

impl From<UnlocatedNode> for ConfigNode {
    fn from(UnlocatedNode(node): UnlocatedNode) -> Self {
        node
    }
}

/// Author of a YAML document, which decides how strictly it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YamlSource {
    /// A file of another program: duplicates and odd numbers elsewhere in it are not our concern.
    OtherProgram,
    /// An agent file: a name given twice is an error, and `off` and `no` are text.
    AgentFile,
}

/// Parses YAML; an empty document is null. The parser's own budget stops documents that expand when
/// they are read: nested anchors, deep nesting, endless merges.
pub(crate) fn read_yaml(text: &str, source: YamlSource) -> Result<ConfigNode, DocumentError> {
    let is_strict = source == YamlSource::AgentFile;
    let duplicates =
        if is_strict { DuplicateKeyPolicy::Error } else { DuplicateKeyPolicy::LastWins };
    let options = serde_saphyr::options! {
        duplicate_keys: duplicates,
        strict_booleans: is_strict,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<LocatedNode>(text, options).map(ConfigNode::from).map_err(
        |error| {
            let position = error.location().filter(|at| *at != Location::UNKNOWN);
            let message = error.without_snippet().to_string();
            // Messages end with the position, which ours begin with, or with advice for callers of
            // the parser.
            let end = [" at line ", "; use "].iter().filter_map(|end| message.find(end)).min();
            DocumentError {
                position: position.map(|at| TextPosition { line: at.line(), column: at.column() }),
                message: message[..end.unwrap_or(message.len())].trim().to_owned(),
            }
        },
    )
}

/// A node with a line number.
struct LocatedNode(ConfigNode);

/// A value without a line number, which `Spanned` wraps.
struct UnlocatedValue(ConfigValue);

impl<'de> Deserialize<'de> for LocatedNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: UnlocatedValue(value), referenced, .. } =
            Spanned::deserialize(deserializer)?;
        let line = (referenced != Location::UNKNOWN).then(|| referenced.line());
        Ok(Self(ConfigNode { line, value }))
    }
}

impl<'de> Deserialize<'de> for UnlocatedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor::<LocatedNode>::new()).map(Self)
    }
}

impl From<LocatedNode> for ConfigNode {
    fn from(LocatedNode(node): LocatedNode) -> Self {
        node
    }
}

/// Visitor of one value whose children are `N`s: YAML has positions, JSON has none.
struct TreeVisitor<N>(PhantomData<N>);

impl<N> TreeVisitor<N> {
    fn new() -> Self {
        Self(PhantomData)
    }
}

/// A node of a format, and how that format reports the lines of names.
trait TreeNode<'de>: Deserialize<'de> + Into<ConfigNode> {
    type Name: Deserialize<'de> + Into<LocatedName>;
}

/// A name and its line, if the format reports it.
struct LocatedName(String, Option<u64>);

impl From<EntryName> for LocatedName {
    fn from(EntryName(name): EntryName) -> Self {
        Self(name, None)
    }
}

impl From<Spanned<EntryName>> for LocatedName {
    fn from(Spanned { value: EntryName(name), referenced, .. }: Spanned<EntryName>) -> Self {
        Self(name, (referenced != Location::UNKNOWN).then(|| referenced.line()))
    }
}

impl TreeNode<'_> for UnlocatedNode {
    type Name = EntryName;
}

impl TreeNode<'_> for LocatedNode {
    type Name = Spanned<EntryName>;
}

impl TreeNode<'_> for IgnoredName {
    type Name = EntryName;
}

impl<'de, N: TreeNode<'de>> Visitor<'de> for TreeVisitor<N> {
    type Value = ConfigValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Number(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Other(value.to_string()))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Other(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ConfigValue, E> {
        Ok(Number::from_f64(value)
            .map_or_else(|| ConfigValue::Other(value.to_string()), ConfigValue::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ConfigValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<N>()? {
            list.push(item.into());
        }
        Ok(ConfigValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ConfigValue, A::Error> {
        let mut table = Vec::new();
        while let Some((name, node)) = entries.next_entry::<N::Name, N>()? {
            let (LocatedName(name, line), node) = (name.into(), node.into());
            table.push((name, ConfigNode { line: line.or(node.line), ..node }));
        }
        Ok(ConfigValue::Table(table))
    }
}

/// The name of an entry. YAML permits names that are not text: none of our keys is one.
struct EntryName(String);

impl<'de> Deserialize<'de> for EntryName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(TreeVisitor::<IgnoredName>::new())?;
        Ok(Self(match value {
            ConfigValue::Text(name) => name,
            other => other.to_string(),
        }))
    }
}

/// Placeholder for the content of a name that is itself a table, which is ignored.
struct IgnoredName;

impl<'de> Deserialize<'de> for IgnoredName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl From<IgnoredName> for ConfigNode {
    fn from(IgnoredName: IgnoredName) -> Self {
        Self { line: None, value: ConfigValue::Null }
    }
}
