//! Parameters of a request, read without changing a byte: which tool is called, with which arguments.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::pass_reason::PassReason;

/// Larger parameters are neither hashed nor cached.
pub(super) const MAX_PARAMS_LEN: usize = 1 << 20;

/// The method by which tools are called.
pub(super) const TOOLS_CALL: &str = "tools/call";

/// Methods whose answers can be cached, beside tool calls. Policies name them like tools.
const CACHED_METHODS: [&str; 6] = [
    "resources/read", "prompts/get", "tools/list", "resources/list", "resources/templates/list",
    "prompts/list",
];

/// Parameters of calls that are one step of a longer exchange.
const EXCHANGE: [&str; 3] = ["inputResponses", "requestState", "task"];

/// Members of a JSON object in their order, with values as they are written.
#[derive(Debug)]
pub(super) struct RawMembers<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> RawMembers<'a> {
    /// Reads an object; `None` for anything else.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The value of that name; the last one, as most programs read it.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rfind(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// The value of that name, parsed; `None` if it is missing or of another type.
    pub(super) fn parse<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(MembersVisitor).map(RawMembers)
    }
}

/// The tool or method of a request.
#[derive(Debug)]
pub(super) struct CallTarget<'a> {
    /// Name of the tool, or the method.
    pub(super) name: String,
    pub(super) is_tool: bool,
    /// Object of the arguments, as it is written.
    pub(super) arguments: Option<&'a str>,
}

impl<'a> CallTarget<'a> {
    /// Reads a request; the reason if its answer can never be cached.
    pub(super) fn read(
        method: &str,
        params: Option<&'a RawValue>,
    ) -> Result<(Self, Option<PassReason>), PassReason> {
        let is_tool = method == TOOLS_CALL;
        if !is_tool && !CACHED_METHODS.contains(&method) {
            return Err(PassReason::Method);
        }
        let params = params.map(RawValue::get);
        let members = match params {
            None if is_tool => return Err(PassReason::Malformed),
            None => RawMembers(Vec::new()),
            Some(params) => RawMembers::read(params).ok_or(PassReason::Malformed)?,
        };
        let name = if is_tool {
            members.parse::<String>("name").ok_or(PassReason::Malformed)?
        } else {
            method.to_owned()
        };
        let arguments = if is_tool { members.get("arguments").map(RawValue::get) } else { params };
        let never = never_cached(&members, is_tool, arguments);
        Ok((Self { name, is_tool, arguments }, never))
    }
}

fn never_cached(
    members: &RawMembers<'_>,
    is_tool: bool,
    arguments: Option<&str>,
) -> Option<PassReason> {
    let known = |name: &str| matches!(name, "name" | "arguments" | "_meta");
    let is_repeated = |(at, (name, _)): (usize, &(String, _))| {
        members.0[..at].iter().any(|(earlier, _)| earlier == name)
    };
    if EXCHANGE.iter().any(|name| members.get(name).is_some()) {
        Some(PassReason::PartOfExchange)
    } else if members.0.iter().enumerate().any(is_repeated) {
        Some(PassReason::Malformed)
    } else if is_tool && members.0.iter().any(|(name, _)| !known(name)) {
        // A later protocol may let it change the result.
        Some(PassReason::UnknownParameter)
    } else {
        let len = arguments.map_or(0, str::len);
        (len > MAX_PARAMS_LEN).then_some(PassReason::LongArguments)
    }
}
