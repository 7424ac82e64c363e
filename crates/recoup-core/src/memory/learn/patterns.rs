//! Patterns of what programs and agents write, by what it tells: the sections of `patterns.txt`.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

const SECTIONS: &str = include_str!("patterns.txt");

/// A section of the patterns, compiled when it is first needed.
pub(super) struct PatternSection {
    name: &'static str,
    pattern: OnceLock<Regex>,
}

impl PatternSection {
    /// `name` as in `patterns.txt`; in parentheses for a section that is not in lower case.
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, pattern: OnceLock::new() }
    }

    /// Returns the first place in `text` that fits one of the patterns.
    pub(super) fn find(&self, text: &str) -> Option<Range<usize>> {
        let pattern = self.pattern.get_or_init(|| {
            let heading = format!("[{}]", self.name);
            let lines = SECTIONS.lines().skip_while(|line| *line != heading).skip(1);
            let lines = lines.take_while(|line| !line.starts_with('['));
            let patterns: Vec<&str> =
                lines.filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
            Regex::new(&patterns.join("|")).expect("the patterns are valid")
        });
        pattern.find(text).map(|found| found.range())
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.find(text).is_some()
    }
}
