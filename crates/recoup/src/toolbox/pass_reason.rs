//! Why a call passes by the cache, in words for people and as a kind for the log.

use std::fmt;

use super::policy::NotCachedReason;

/// Why a call is passed to the server, and its answer not cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PassReason {
    /// Its method's answers are never cached.
    Method,
    /// Its parameters are not what the protocol says.
    Malformed,
    /// The call has `inputResponses`, `requestState` or `task`.
    PartOfExchange,
    /// Unknown parameter.
    UnknownParameter,
    /// Its arguments are longer than what is hashed.
    LongArguments,
    /// The cache is switched off.
    Disabled,
    /// The policy does not allow it.
    Policy(NotCachedReason),
    /// The client's roots have changed.
    RootsUnknown,
    /// The tool's schema is not known.
    UnlistedTool,
    /// Its arguments make no key.
    Arguments(String),
    /// Its sources cannot be told.
    Sources(String),
    /// A call that makes its result stale is under way, or what it made stale is not dropped yet.
    WriteUnderWay,
}

impl PassReason {
    /// The reason without what the arguments say, for the log.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Method => "this method is never cached",
            Self::Malformed => "its parameters are malformed",
            Self::PartOfExchange => "it is one step of an exchange",
            Self::UnknownParameter => "it has an unknown parameter",
            Self::LongArguments => "its arguments are too long",
            Self::Disabled => "the cache is switched off",
            Self::Policy(reason) => reason.as_str(),
            Self::RootsUnknown => "the client's roots have changed",
            Self::UnlistedTool => "the tool's schema is not known",
            Self::Arguments(_) => "its arguments make no key",
            Self::Sources(_) => "its sources are not known",
            Self::WriteUnderWay => "a call that makes it stale is under way",
        }
    }
}

impl fmt::Display for PassReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Self::Arguments(why) | Self::Sources(why) => write!(f, ": {why}"),
            _ => Ok(()),
        }
    }
}
