//! The strategies: their names, and what each keeps of a document.

use std::fmt;

use serde::Serialize;

use super::document::InputDocument;
use super::finding::{FindingSeverity, ReportFinding, SeverityCounts, truncate_chars};
use super::tokens::Tokenizer;
use super::{CondensedResult, json};
use crate::error::{Error, Result};

/// Maximum length of a description, in characters.
const DESCRIPTION_MOST: usize = 200;

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

/// `structured_verdict`: verdict, severity counts and the most severe findings.
pub(super) fn condense_to_verdict(document: &InputDocument<'_>, top: usize) -> CondensedResult {
    // By rank, at most `top` of each: among equals the first ones count.
    let mut gravest: [Vec<ReportFinding<'_>>; FindingSeverity::RANKS] = Default::default();
    let mut counts = SeverityCounts::default();
    document.findings(|finding| {
        let severity = finding.severity();
        counts.add(severity);
        let equals = &mut gravest[severity.rank()];
        if equals.len() < top {
            equals.push(finding);
        }
    });
    let gravest: Vec<_> = gravest.into_iter().flatten().take(top).collect();
    let mut condensed = CondensedResult::default();
    condensed.set("verdict", &document.verdict());
    let declared = document.severity_counts().filter(|raw| json::is_object(raw));
    let counts = declared.map_or_else(|| counts.to_json(), |raw| raw.get().to_owned());
    condensed.set_json("severity_counts", counts);
    condensed.set("top_findings", &gravest);
    condensed
}

/// `identifiers_only`: places and nothing else, unique and sorted by path and then by number, so
/// that line 9 is before line 10. `finish` adds the fields common to all strategies, which count towards `max_tokens`.
pub(super) fn condense_to_identifiers(
    document: &InputDocument<'_>,
    max_tokens: Option<usize>,
    finish: impl Fn(CondensedResult) -> CondensedResult,
) -> CondensedResult {
    let all = document.identifiers().into_iter();
    let mut all: Vec<_> = all.map(|text| (path_length(&text), text)).collect();
    all.sort_unstable_by(|(end, text), (other_end, other)| {
        let numbers = numbers(&text[*end..]).cmp(numbers(&other[*other_end..]));
        text[..*end].cmp(&other[..*other_end]).then(numbers).then_with(|| text.cmp(other))
    });
    all.dedup_by(|one, other| one.1 == other.1);
    let all: Vec<_> = all.into_iter().map(|(_, text)| text).collect();
    let made = |kept: usize| {
        let mut condensed = CondensedResult::default();
        condensed.set("identifiers", &all[..kept]);
        for (name, value) in document.search_fields() {
            condensed.set(name, &value);
        }
        if kept < all.len() {
            condensed.set("truncated", &(all.len() - kept));
        }
        finish(condensed)
    };
    match max_tokens {
        Some(most) => made(max_fitting(all.len(), most, made)),
        None => made(all.len()),
    }
}

/// How many of `all` can be kept within `most` tokens.
fn max_fitting(all: usize, most: usize, made: impl Fn(usize) -> CondensedResult) -> usize {
    let tokenizer = Tokenizer::load();
    let fits = |kept| tokenizer.count(&made(kept).to_json()) <= most;
    if fits(all) {
        return all;
    }
    // An identifier has at least one token, so this many are too many.
    let (mut fitting, mut too_many) = (0, all.min(most + 1));
    while too_many - fitting > 1 {
        let middle = usize::midpoint(fitting, too_many);
        if fits(middle) { fitting = middle } else { too_many = middle }
    }
    fitting
}

/// True if the text contains a line number.
pub(super) fn has_line(text: &str) -> bool {
    path_length(text) < text.len()
}

/// Length of the path in `path`, `path:line`, `path:line-line` or `path:line:column`.
fn path_length(text: &str) -> usize {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let without_number = |text: &str| match text.rsplit_once(':') {
        Some((path, digits)) if !path.is_empty() && digits.split('-').all(is_number) => path.len(),
        _ => text.len(),
    };
    without_number(&text[..without_number(text)])
}

/// `:12:3` or `:12-14` as numbers of any length: the longer is the larger.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split([':', '-']).skip(1).map(|digits| {
        let digits = digits.trim_start_matches('0');
        (digits.len(), digits)
    })
}

/// `summary`: verdict, description and number of items.
pub(super) fn condense_to_summary(document: &InputDocument<'_>) -> CondensedResult {
    let mut condensed = CondensedResult::default();
    condensed.set("type", "summary");
    condensed.set("verdict", &document.verdict());
    let description = document.description();
    if !description.is_empty() {
        condensed.set("description", truncate_chars(&description, DESCRIPTION_MOST));
    }
    condensed.set("item_count", &document.item_count());
    condensed
}
