//! The strategies by name.

use std::fmt;

use serde::Serialize;

use crate::error::{Error, Result};

/// A way to shorten a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CondenseStrategy {
    /// Verdict, counts and the most severe findings.
    #[default]
    StructuredVerdict,
    /// Nothing but `path:line`.
    IdentifiersOnly,
    /// Verdict, a description and a count.
    Summary,
}

/// Description of a strategy.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct StrategyInfo {
    /// Its name.
    pub name: &'static str,
    /// Its effect.
    pub description: &'static str,
    /// Typical number of tokens of its result: the median over one real report of each known tool.
    pub target_tokens: u32,
    /// Typical uses.
    pub best_for: &'static [&'static str],
}

impl CondenseStrategy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::StructuredVerdict, Self::IdentifiersOnly, Self::Summary];

    /// The strategy with this name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::usage(format!("Unknown strategy: {name} (available: {names})"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Description of the strategy.
    pub fn info(self) -> StrategyInfo {
        match self {
            Self::StructuredVerdict => StrategyInfo {
                name: "structured_verdict",
                description: "Extract verdict, severity counts, and top N findings",
                target_tokens: 174,
                best_for: &["security audits", "code reviews", "test results"],
            },
            Self::IdentifiersOnly => StrategyInfo {
                name: "identifiers_only",
                description: "Extract only file:line identifiers",
                target_tokens: 28,
                best_for: &["search results", "file listings", "grep output"],
            },
            Self::Summary => StrategyInfo {
                name: "summary",
                description: "Extract verdict, description, and item count",
                target_tokens: 24,
                best_for: &["documentation", "explanations", "reports"],
            },
        }
    }
}

impl fmt::Display for CondenseStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
