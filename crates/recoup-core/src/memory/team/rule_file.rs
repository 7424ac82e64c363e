//! Rule files as text. Parsing is strict, because agents are given the content: all problems are
//! reported at once, each with its line. Rendering gives equal bytes for equal rules.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use crate::memory::db::facets;
use crate::memory::guard::private_text::without_private;
use crate::memory::guard::refusal::statement_refusal;
use crate::memory::lang::escape::is_unseen;
use crate::memory::model::{NoteKind, check_path_glob, normalize_for_comparison};
use crate::memory::team::markdown::{escape_markdown, has_hidden_markup, unescape_markdown};
use crate::memory::team::rule::RuleIdentity;
use crate::memory::team::{TeamRule, TeamRules};

/// Maximum number of rules: more would never fit into a context.
pub(super) const MOST_RULES: usize = 500;

/// Maximum number of problems that are reported at once.
const MOST_PROBLEMS: usize = 20;

/// Maximum characters of a glob or a topic.
const LONGEST_DETAIL: usize = 160;

/// A problem in a rule file, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFileProblem {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the problem.
    pub why: String,
}

impl fmt::Display for RuleFileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// Parses a rule file, or returns its problems.
pub fn parse_rules(bytes: &[u8]) -> Result<TeamRules, Vec<RuleFileProblem>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
        vec![RuleFileProblem { line, why: "not valid UTF-8: save the file as UTF-8".to_owned() }]
    })?;
    let mut reader = RuleFileParser::default();
    for (at, line) in text.split('\n').enumerate() {
        let line = line.trim_end();
        if !line.is_empty()
            && let Err(why) = reader.parse_line(at + 1, line)
        {
            reader.problems.push(RuleFileProblem { line: at + 1, why });
        }
        if reader.problems.len() >= MOST_PROBLEMS {
            break;
        }
    }
    reader.finish()
}

#[derive(Default)]
struct RuleFileParser {
    opened: bool,
    section: Option<NoteKind>,
    remarks: Vec<String>,
    /// Rules with their line numbers.
    rules: Vec<(usize, TeamRule)>,
    problems: Vec<RuleFileProblem>,
}

impl RuleFileParser {
    fn parse_line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if let Some(c) = line.chars().find(|c| is_unseen(*c)) {
            return Err(format!("invisible character (U+{:04X}): remove it", u32::from(c)));
        }
        if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|it| line.starts_with(it)) {
            return Err("unresolved merge conflict: keep one of the versions".to_owned());
        }
        if !self.opened {
            self.opened = true;
            return (line == TITLE).then_some(()).ok_or_else(|| format!(
                "a rule file must begin with `{TITLE}`: `recoup memory export --team` writes one"
            ));
        }
        if has_hidden_markup(line) {
            return Err("HTML or an entity, which the rendered page would not show: put it in backticks, or escape it with a backslash".to_owned());
        }
        if let Some(name) = line.strip_prefix("## ") {
            let is_named = |kind: &&NoteKind| section_name(**kind) == name;
            let Some(kind) = NoteKind::ALL.iter().find(is_named) else {
                let all: Vec<&str> = NoteKind::ALL.iter().map(|kind| section_name(*kind)).collect();
                let all = all.join(", ");
                return Err(format!("unknown section: expected one of {all}"));
            };
            self.section = Some(*kind);
            Ok(())
        } else if let Some(text) = line.strip_prefix("- ") {
            self.add_rule(number, text)
        } else if let Some(detail) = line.strip_prefix("  - ") {
            self.add_detail(detail)
        } else if line.starts_with('>') && self.section.is_none() {
            let text = line.trim_start_matches(['>', ' ']);
            if !text.is_empty() {
                check_permitted(text)?;
            }
            self.remarks.push(line.to_owned());
            Ok(())
        } else {
            Err("not a rule: expected `- ` and a statement on one line, in a section such as `## Preferences`; remarks begin with `> ` and come first".to_owned())
        }
    }

    fn add_rule(&mut self, number: usize, line: &str) -> Result<(), String> {
        let Some(kind) = self.section else {
            return Err("rule outside a section: add a heading above it, such as `## Preferences`"
                .to_owned());
        };
        if self.rules.len() == MOST_RULES {
            return Err(format!("too many rules: the limit is {MOST_RULES}"));
        }
        let text = unescape_markdown(line).split_whitespace().collect::<Vec<_>>().join(" ");
        self.rules.push((number, TeamRule { kind, text: text.clone(), paths: None, topic: None }));
        if without_private(&text) != text {
            return Err("private text in a shared file: remove it".to_owned());
        }
        if normalize_for_comparison(&text).is_empty() {
            return Err("empty rule: say what to do".to_owned());
        }
        check_permitted(&text)
    }

    fn add_detail(&mut self, detail: &str) -> Result<(), String> {
        let Some((_, rule)) = self.rules.last_mut() else {
            return Err("no rule above this line: add the rule first".to_owned());
        };
        let (place, value) = match detail.split_once(": ") {
            Some(("paths", value)) => {
                let inner = value.trim().strip_prefix('`').and_then(|it| it.strip_suffix('`'));
                let glob =
                    inner.filter(|it| !it.is_empty() && !it.contains('`')).ok_or_else(|| {
                        "a glob must be in backticks: `  - paths: `src/**``".to_owned()
                    })?;
                check_path_glob(glob)?;
                (&mut rule.paths, glob.to_owned())
            }
            Some(("topic", value)) => (&mut rule.topic, unescape_markdown(value.trim())),
            _ => {
                return Err(
                    "unknown detail of a rule: expected `  - paths: `GLOB`` or `  - topic: TOPIC`"
                        .to_owned(),
                );
            }
        };
        if place.is_some() {
            return Err("duplicate detail of this rule: remove one of the two".to_owned());
        }
        if value.chars().count() > LONGEST_DETAIL {
            return Err(format!("too long: the limit is {LONGEST_DETAIL} characters"));
        }
        check_permitted(&value)?;
        *place = Some(value);
        Ok(())
    }

    fn finish(mut self) -> Result<TeamRules, Vec<RuleFileProblem>> {
        if !self.opened {
            let why = format!("the file is empty: a rule file must begin with `{TITLE}`");
            return Err(vec![RuleFileProblem { line: 1, why }]);
        }
        // A topic that the text implies is not stored.
        for (_, rule) in &mut self.rules {
            let derived = facets::derive_topic(&rule.text);
            rule.topic.take_if(|given| Some(&*given) == derived.as_ref());
        }
        let mut taken = HashMap::new();
        for (line, rule) in &self.rules {
            let RuleIdentity { key: (paths, said), about } = rule.identity();
            let places = std::iter::once(format!("said {said}")).chain(about);
            let earlier = places.filter_map(|place| taken.insert((paths.clone(), place), *line));
            let earlier: Vec<usize> = earlier.filter(|it| it != line).collect();
            if let Some(other) = earlier.first() {
                let why = format!(
                    "conflicts with line {other}, which is about the same topic: remove one of the two"
                );
                self.problems.push(RuleFileProblem { line: *line, why });
            }
        }
        if !self.problems.is_empty() {
            self.problems.sort_by_key(|problem| problem.line);
            self.problems.truncate(MOST_PROBLEMS);
            return Err(self.problems);
        }
        let rules = self.rules.into_iter().map(|(_, rule)| rule).collect();
        Ok(TeamRules { remarks: self.remarks, rules })
    }
}

fn check_permitted(text: &str) -> Result<(), String> {
    statement_refusal(text).map_or(Ok(()), |refused| Err(refused.to_string()))
}

/// First line of a file.
const TITLE: &str = "# Team rules";

/// Remarks for people, if a file has none.
const REMARKS: &str = "\
> Rules for the coding agents that work on this project. `recoup memory export --team` adds to them,
> and `recoup trust` accepts them. Until then, and after each change, agents ignore them.";

/// Returns the name of a kind's section.
fn section_name(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Correction => "Corrections",
        NoteKind::Preference => "Preferences",
        NoteKind::ProjectKnowledge => "Project knowledge",
        NoteKind::Devops => "Devops",
        NoteKind::Failure => "Failures and fixes",
    }
}

/// Renders these rules as a file.
pub fn render_rules(team: &TeamRules) -> String {
    let mut text = format!("{TITLE}\n\n");
    let remarks =
        if team.remarks.is_empty() { REMARKS.to_owned() } else { team.remarks.join("\n") };
    let _ = writeln!(text, "{remarks}");
    let mut rules: Vec<&TeamRule> = team.rules.iter().collect();
    rules.sort_by_cached_key(|rule| {
        (rule.kind, normalize_for_comparison(&rule.text), rule.text.clone(), rule.paths.clone())
    });
    let mut within = None;
    for rule in rules {
        if within != Some(rule.kind) {
            within = Some(rule.kind);
            let _ = write!(text, "\n## {}\n\n", section_name(rule.kind));
        }
        let _ = writeln!(text, "- {}", escape_markdown(&rule.text));
        if let Some(paths) = &rule.paths {
            let _ = writeln!(text, "  - paths: `{paths}`");
        }
        if let Some(topic) = &rule.topic {
            let _ = writeln!(text, "  - topic: {}", escape_markdown(topic));
        }
    }
    text
}
