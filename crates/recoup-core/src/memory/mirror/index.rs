//! Our lines in the client's index.

use super::PREFIX;
use super::marked::Marks;
use crate::error::Result;

/// The index's name.
pub const INDEX: &str = "MEMORY.md";

/// The client reads no more of it: lines, and bytes.
const MOST_LINES: usize = 200;
const MOST_BYTES: usize = 25_000;

/// Comments do not reach the model.
const MARKS: Marks = Marks {
    begin: "<!-- recoup: begin (`recoup memory sync` writes the lines up to the next mark) -->",
    begins: "<!-- recoup: begin",
    end: "<!-- recoup: end -->",
    is_ours,
};
const WHAT: &str =
    "Statements that the user has recorded; keep to them unless the user now says otherwise:";

/// An index with our lines in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spliced {
    /// The whole of it.
    pub bytes: Vec<u8>,
    /// How many of the lines there was room for.
    pub shown: usize,
}

/// `index` with these lines as ours, as many as there is room for; without ours where there
/// are none. Lines between the marks that are not ours stay, behind them.
pub fn spliced(index: &[u8], lines: &[String]) -> Result<Spliced> {
    let without = MARKS.taken_from(index)?;
    let lines: Vec<&str> = std::iter::once(WHAT).chain(lines.iter().map(String::as_str)).collect();
    let fits = |shown: &usize| {
        let others = without.rest.split(|byte| *byte == b'\n').count();
        let block = MARKS.block(&lines[..=*shown], "\r\n");
        others + shown + 3 <= MOST_LINES && without.rest.len() + block.len() + 2 <= MOST_BYTES
    };
    match (1..lines.len()).rev().find(fits) {
        Some(shown) => Ok(Spliced { bytes: MARKS.put_into(&without, &lines[..=shown]), shown }),
        None => Ok(Spliced { bytes: without.rest, shown: 0 }),
    }
}

fn is_ours(line: &[u8]) -> bool {
    let links = format!("]({PREFIX}");
    let is_item = line.starts_with(b"- [")
        && line.windows(links.len()).any(|window| window == links.as_bytes());
    is_item || line == WHAT.as_bytes() || line.is_empty()
}
