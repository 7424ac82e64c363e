//! Segments: the parts of a rule that each ask for something or forbid it, read as verbs and objects.
//!
//! ```text
//! use pnpm, never npm in web/    asks: use, pnpm | forbids: npm, place: web/
//! vendor/ is never edited        forbids: vendor/, edit
//! ```

mod commands;
mod objects;
mod words;

use objects::{
    code_object, host_name, is_into_git, is_kind_of_file, is_package_name, read_argument, text_name,
};
pub(super) use objects::{is_program_name, is_tool, read_place};
use words::{KEYWORDS, OUTSIDE, SMALL};

use super::path::{CheckPlace, PathPattern};
use super::terms::RuleTerm;
use crate::memory::lang::file_kinds::{ending_of_kind, is_file_ending};
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::ClauseEnd;
use crate::memory::shell::is_known_program;

/// Verb of a segment: the way its objects are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleVerb {
    Use,
    Alter,
    /// Deleting.
    Erase,
    /// Using a program, or changing a file.
    Touch,
    Create,
    Commit,
    Push,
    Install,
    Read,
    /// Leaving, putting or mentioning a text somewhere.
    Put,
}

/// A thing that a segment names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RuleObject {
    Host(String),
    /// Tool of an agent, or MCP server.
    Tool(String),
    /// Words of a command, and true if its program is in the table of programs.
    Command(Vec<String>, bool),
    /// Words of a command with an argument that it must not have.
    CommandWith(Vec<String>, String),
    Flags(Vec<String>),
    Path(PathPattern),
    /// Code, or a name from code.
    Text(String),
    /// A word that no list has: perhaps a package.
    Name(String),
}

/// A part of a clause that asks for something or forbids it.
#[derive(Debug, Default)]
pub(super) struct RuleSegment {
    pub(super) verbs: Vec<RuleVerb>,
    pub(super) objects: Vec<RuleObject>,
    pub(super) place: CheckPlace,
    /// True if its paths are those that are left alone: "nothing outside src/".
    pub(super) is_outside: bool,
    /// True if every word was understood, as far as it may narrow or change what is said.
    pub(super) is_clear: bool,
}

/// How a segment is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SegmentMode {
    /// True if it is compared with another thing, so that an ordinary word may be a program's name.
    pub(super) is_compared: bool,
    /// True if its verb stands behind the object: "npm is not used".
    pub(super) is_passive: bool,
    /// A verb that is known beforehand: "hands off".
    pub(super) verb: Option<RuleVerb>,
    /// True if a noun is denied, which adjectives may stand before: "no stray console.log".
    pub(super) is_nominal: bool,
}

impl RuleSegment {
    /// Reads a segment.
    pub(super) fn read(terms: &[RuleTerm<'_>], mode: SegmentMode) -> Self {
        let mut reader = SegmentReader {
            terms,
            mode,
            at: 0,
            segment: Self { is_clear: true, ..Self::default() },
        };
        let checks_in = terms.windows(2).any(|it| it[0].means("check") && it[1].folded == "in");
        let is_commit = checks_in || terms.windows(2).any(|it| is_into_git(&it[0], &it[1]));
        reader.segment.verbs.extend(is_commit.then_some(RuleVerb::Commit));
        let verbs = terms.iter().filter_map(RuleTerm::verb).chain(mode.verb);
        reader.segment.verbs.extend(verbs);
        while reader.at < terms.len() {
            reader.step();
        }
        reader.segment
    }

    pub(super) fn has(&self, verb: RuleVerb) -> bool {
        self.verbs.contains(&verb)
    }

    /// True if nothing is done with its objects but using them.
    pub(super) fn only_uses(&self) -> bool {
        self.verbs.iter().all(|it| *it == RuleVerb::Use)
    }

    /// Returns the words of its command, if it names one only.
    pub(super) fn into_command(self) -> Option<Vec<String>> {
        let mut commands = self.objects.into_iter().filter_map(|it| match it {
            RuleObject::Command(words, _) => Some(words),
            _ => None,
        });
        let command = commands.next()?;
        commands.next().is_none().then_some(command)
    }

    /// True if it names nothing and says only what is done, or that it may be done.
    pub(super) fn has_only_verbs(&self, terms: &[RuleTerm<'_>]) -> bool {
        let is_said = |it: &RuleTerm<'_>| {
            it.is_small()
                || it.verb().is_some()
                || it.means("allow forbid")
                || it.is_preposition()
                || is_one_of(
                    &it.folded,
                    "git von par per ok okay fine acceptable permitted option wanted welcome tolerated desired appreciated accepted",
                )
        };
        self.objects.is_empty() && terms.iter().all(is_said)
    }
}

struct SegmentReader<'a, 't> {
    terms: &'a [RuleTerm<'t>],
    mode: SegmentMode,
    at: usize,
    segment: RuleSegment,
}

impl SegmentReader<'_, '_> {
    fn step(&mut self) {
        let terms = self.terms;
        let term = &terms[self.at];
        self.at += 1;
        let works_on_files = [
            RuleVerb::Touch,
            RuleVerb::Alter,
            RuleVerb::Erase,
            RuleVerb::Commit,
            RuleVerb::Read,
            RuleVerb::Create,
        ];
        let wants_path = self.segment.verbs.iter().any(|it| works_on_files.contains(it))
            || terms.iter().any(RuleTerm::is_new);
        if term.is_flag() {
            let mut flag = term.text.to_owned();
            if let Some(value) =
                terms.get(self.at).filter(|it| it.text.starts_with(|c: char| c.is_ascii_digit()))
            {
                flag = format!("{flag}={}", value.text);
                self.at += 1;
            }
            match self.segment.objects.last_mut() {
                Some(RuleObject::Command(words, _))
                    if self.at > 1 && terms[self.at - 2].ends == ClauseEnd::Nothing =>
                {
                    words.push(flag);
                }
                Some(RuleObject::Flags(flags)) => flags.push(flag),
                _ => self.segment.objects.push(RuleObject::Flags(vec![flag])),
            }
        } else if term.is_code {
            let object = code_object(term, wants_path);
            self.segment.objects.push(object);
        } else if is_one_of(&term.folded, "cat less bat")
            && let Some(path) = terms.get(self.at).and_then(RuleTerm::path)
        {
            self.segment.verbs.push(RuleVerb::Read);
            self.segment.objects.push(RuleObject::Path(path));
            self.at += 1;
        } else if let Some(server) = self.server_name(term) {
            self.at += usize::from(terms.get(self.at).is_some_and(|it| it.folded == "mcp"));
            self.segment.objects.push(RuleObject::Tool(server));
        } else if self.is_program(term) {
            self.read_command(term);
        } else if (wants_path || self.mode.is_nominal || is_kind_of_file(term))
            && let Some(path) = self.named_path(term).filter(|it| wants_path || it.is_glob())
        {
            self.segment.objects.push(RuleObject::Path(path));
        } else if is_one_of(&term.folded, OUTSIDE) {
            self.segment.is_outside = true;
            self.segment.is_clear &= wants_path;
        } else if term.is_preposition() {
            self.read_preposition(term, wants_path);
        } else if self.reaches()
            && let Some(host) = host_name(term)
        {
            self.segment.objects.push(RuleObject::Host(host));
        } else if let Some(text) =
            text_name(term).filter(|_| !wants_path || term.text.contains('('))
        {
            self.segment.objects.push(RuleObject::Text(text));
        } else if terms.get(self.at).is_some_and(|it| it.folded == "statements") && !term.is(SMALL)
        {
            // "No print statements"
            self.segment.objects.push(RuleObject::Text(term.folded.clone()));
        } else if term.text.contains('/')
            && term.text.split('/').all(|it| is_known_program(it) || is_tool(it))
        {
            // "No wget/curl"
            let names = term
                .folded
                .split('/')
                .map(|it| RuleObject::Command(vec![it.to_owned()], is_known_program(it)));
            self.segment.objects.extend(names);
        } else if self.is_keyword(term) {
            // "No any in TypeScript", "no unwrap in rust"
            self.segment.objects.push(RuleObject::Text(term.folded.clone()));
        } else if term.is_unknown()
            && !is_harmless(term)
            && self.may_be_name()
            && is_package_name(term.text)
        {
            self.segment.objects.push(RuleObject::Name(term.text.to_owned()));
        } else if !is_harmless(term)
            && self.segment.objects.is_empty()
            && !self.segment.has(RuleVerb::Push)
            && !self.is_adjective(term)
        {
            self.segment.is_clear = false;
        }
    }

    /// True for a word between "no" and what is denied: "no stray console.log".
    fn is_adjective(&self, term: &RuleTerm<'_>) -> bool {
        let next = self.terms.get(self.at);
        self.mode.is_nominal
            && !term.is(WordClasses::REQUEST)
            && next.is_some_and(|it| !it.is_preposition() && (self.at < 3 || it.is_code))
    }

    fn reaches(&self) -> bool {
        self.terms.iter().any(RuleTerm::is_reaching)
    }

    /// True if an unknown word may be the name of a program or a package.
    fn may_be_name(&self) -> bool {
        let verbs = [RuleVerb::Use, RuleVerb::Install, RuleVerb::Create];
        self.mode.is_compared
            || self.mode.is_passive
            || verbs.iter().any(|it| self.segment.has(*it))
    }

    /// True for a word of a language that is named as such: "no any in TypeScript".
    fn is_keyword(&self, term: &RuleTerm<'_>) -> bool {
        let names_language = || {
            let place = self.terms.get(self.at + 1..).and_then(read_place);
            place.is_some_and(|(place, _)| !place.endings.is_empty())
        };
        let is_before_place = self.terms.get(self.at).is_some_and(RuleTerm::is_preposition);
        self.segment.objects.is_empty()
            && is_before_place
            && (is_one_of(&term.folded, KEYWORDS) || term.is_unknown())
            && term.text.is_ascii()
            && names_language()
    }

    /// Name of a tool of agents (`WebFetch`), or of an MCP server.
    fn server_name(&self, term: &RuleTerm<'_>) -> Option<String> {
        const TOOLS: &str = "WebFetch WebSearch NotebookEdit MultiEdit TodoWrite";
        const SHORT: &str = "Bash Read Write Edit Task Glob Grep";
        let next = self.terms.get(self.at).filter(|_| term.ends == ClauseEnd::Nothing);
        let is_before = |word: &str| next.is_some_and(|it| it.folded == word);
        if is_one_of(term.text, TOOLS) || (is_one_of(term.text, SHORT) && is_before("tool")) {
            return Some(term.text.to_owned());
        }
        is_before("mcp").then(|| term.folded.clone())
    }

    /// Path that a term names, or kind of files: `*.md`, ".js files", "markdown files".
    fn named_path(&self, term: &RuleTerm<'_>) -> Option<PathPattern> {
        const FOLDERS: &str = "node_modules vendor dist third_party migrations";
        let next = self.terms.get(self.at);
        let before = self.at.checked_sub(2).map(|at| &self.terms[at]);
        let is_file = |it: Option<&RuleTerm<'_>>| {
            it.is_some_and(|it| it.is(WordClasses::FILE) || is_one_of(&it.folded, "docs documents"))
        };
        let near_file = is_file(next) || is_file(before);
        let ending = term.text.strip_prefix('.').filter(|it| *it != "env" && is_file_ending(it));
        let near_file = near_file || is_kind_of_file(term);
        let is_folder = |it: Option<&RuleTerm<'_>>| it.is_some_and(|it| it.is(WordClasses::FOLDER));
        let is_name = term.text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        if is_folder(next) && is_name && !term.is(SMALL) && term.ends == ClauseEnd::Nothing {
            return PathPattern::new(term.text);
        }
        if near_file && let Some(ending) = ending.or_else(|| ending_of_kind(&term.folded)) {
            return PathPattern::new(&format!("*.{ending}"));
        }
        // "Markdown-Dateien"
        if let Some((kind, word)) = term.folded.split_once('-')
            && lexicon::is_in(word, WordClasses::FILE)
            && let Some(ending) = ending_of_kind(kind)
        {
            return PathPattern::new(&format!("*.{ending}"));
        }
        if matches!(&*term.folded, "lockfile" | "lockfiles") {
            return PathPattern::new(
                "{package-lock.json,pnpm-lock.yaml,bun.lockb,npm-shrinkwrap.json,go.sum,*.lock}",
            );
        }
        if matches!(term.text, "README" | "LICENSE" | "CHANGELOG" | "CODEOWNERS") {
            return PathPattern::new(&format!("{}*", term.text));
        }
        // With a verb of files any name with an ending is one, and some folders need no slash.
        let is_dotted = |it: &str| {
            it.rsplit_once('.').is_some_and(|(name, ending)| {
                name.len() > 1
                    && (1..=8).contains(&ending.len())
                    && ending.chars().all(|c| c.is_ascii_alphanumeric())
                    && it.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
            })
        };
        let is_last = term.ends != ClauseEnd::Nothing
            || next.is_none_or(|it| it.is_preposition() || it.is_joint());
        if is_dotted(term.text) || (is_one_of(term.text, FOLDERS) && is_last) {
            return PathPattern::new(term.text);
        }
        term.path()
    }

    /// Reads a preposition: a place, a path of files that are worked on, or words that narrow what is
    /// said and are not understood.
    fn read_preposition(&mut self, term: &RuleTerm<'_>, wants_path: bool) {
        let others =
            [RuleVerb::Touch, RuleVerb::Alter, RuleVerb::Erase, RuleVerb::Commit, RuleVerb::Read];
        if wants_path && others.iter().any(|it| self.segment.has(*it)) {
            return;
        }
        if term.is(WordClasses::INSIDE.or(WordClasses::WITHIN))
            && let Some((place, count)) = read_place(&self.terms[self.at..])
        {
            self.segment.place.extend(place);
            self.at += count;
            return;
        }
        // "In web/", "under legal/", but not "outside src/"
        let Some(next) = self.terms.get(self.at) else { return };
        // "Never from `../lib`"
        if term.folded == "from" && next.is_code && self.segment.objects.is_empty() {
            return;
        }
        // "Don't rewrite history with `git push -f`"
        let first = self.terms.first().map_or("", |it| it.folded.as_str());
        let is_tool = self.segment.objects.is_empty()
            && (next.is_code || next.is_flag() || is_program_name(&next.folded))
            && !self.mode.is_nominal
            && is_one_of(&term.folded, "with via using mit avec con")
            && !is_one_of(first, "start begin compare confuse deal cope agree stop");
        if is_tool && !self.mode.is_passive {
            self.segment.is_clear = true;
            return;
        }
        // "Don't add dist/ to git"
        if is_into_git(term, next) {
            self.at += 1;
            return;
        }
        if wants_path && term.is(WordClasses::TARGET) && next.path().is_some() {
            return;
        }
        let is_means =
            matches!(&*term.folded, "with" | "via" | "through" | "to" | "mit" | "avec" | "con");
        if next.is_flag()
            && (is_means || term.folded == "without")
            && !self.segment.objects.is_empty()
        {
            return;
        }
        let flags = self.segment.objects.iter().all(|it| matches!(it, RuleObject::Flags(_)));
        if is_means && flags && (next.is_flag() || is_program_name(&next.folded)) {
            return;
        }
        if let Some(RuleObject::Command(words, _)) = self.segment.objects.last()
            && let Some((argument, count)) = read_argument(&self.terms[self.at..])
        {
            let words = words.clone();
            self.segment.objects.pop();
            self.segment.objects.push(RuleObject::CommandWith(words, argument));
            self.at += count;
            return;
        }
        if self.reaches() && host_name(next).is_some() {
            return;
        }
        let is_harmless = self.terms[self.at..].iter().all(is_harmless);
        let is_target = self.segment.has(RuleVerb::Push) || self.segment.has(RuleVerb::Commit);
        self.segment.is_clear &= is_harmless || is_target || self.mode.is_passive;
    }
}

/// True for a word that does not change what is said of an object.
fn is_harmless(term: &RuleTerm<'_>) -> bool {
    const HARMLESS: &str =
        "always never allow forbid check message format linter test build branch commit";
    term.is_small()
        || term.verb().is_some()
        || term.is_reaching()
        || term.is(WordClasses::TREAT)
        || term.is_package_noun()
        || term.means(HARMLESS)
}
