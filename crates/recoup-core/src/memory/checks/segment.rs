//! Segments: the parts of a rule that each ask for something or forbid it, read as verbs and objects.
//!
//! ```text
//! use pnpm, never npm in web/    asks: use, pnpm | forbids: npm, place: web/
//! vendor/ is never edited        forbids: vendor/, edit
//! ```

use super::path::{CheckPlace, PathPattern};
use super::terms::RuleTerm;
use crate::memory::lang::families::FAMILIES;
use crate::memory::lang::file_kinds::{ending_of_kind, endings_of, is_file_ending};
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::ClauseEnd;
use crate::memory::lang::word_vectors::is_common_word;
use crate::memory::shell::{is_known_program, split_commands};

/// What somebody does with the objects of a segment.
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

/// Words that say nothing about what is meant.
const SMALL: WordClasses = WordClasses::STOP
    .or(WordClasses::BETWEEN)
    .or(WordClasses::ALL)
    .or(WordClasses::QUANTIFIER)
    .or(WordClasses::POLITE)
    .or(WordClasses::DETERMINER)
    .or(WordClasses::LEAD)
    .or(WordClasses::FILE)
    .or(WordClasses::FOLDER)
    .or(WordClasses::PROJECT)
    .or(WordClasses::MINE);
/// Words of the same kind that are in no class.
const MANNER: &str = "new plain bare raw direct directly manually manual hand machine box laptop computer \
    yourself alone straight invocation invocations circumstances circumstance cases task command commands script scripts target recipe things code package packages calls usage statements comments comment line lines tags manuell direkt \
    directement directamente neue neuen nouveau nouveaux nuevos any existing at all anymore imports";
/// Words of programming languages.
const KEYWORDS: &str = "any var let const goto eval with unwrap expect print println panic exec lambda global \
    unsafe null undefined debugger require import export class function switch else try except pass todo \
    unimplemented async await void enum namespace private static final inline assert sleep system";
/// Words before a place in which a rule does not hold.
const OUTSIDE: &str = "outside ausserhalb fuera dehors beyond hors";
/// Verbs that are sub-commands.
const SUBCOMMANDS: &str = "run start install add update upgrade remove commit push create delete rename move \
    generate put call";
/// Words that join the things of a list.
const JOINTS: &str = "and or nor plus und oder et ou y o e ni";

impl RuleTerm<'_> {
    pub(super) fn verb(&self) -> Option<RuleVerb> {
        if self.is_code || self.is_flag() {
            return None;
        }
        // Scripts without spaces: the characters of touching and moving.
        if self.is_unspaced()
            && (self.text.contains(['触', '碰', '动', '動', '改']) || self.means("editor change"))
        {
            return Some(RuleVerb::Alter);
        }
        let starts = |word: &str| self.folded.starts_with(word);
        let verbs = [
            (RuleVerb::Touch, starts("touch")),
            (RuleVerb::Commit, self.means("commit stage staged") || starts("commit")),
            (RuleVerb::Push, self.means("push") || starts("push") || starts("pouss")),
            (RuleVerb::Install, self.means("install") || starts("instal")),
            (RuleVerb::Erase, self.is(WordClasses::ERASE) || self.means("delete")),
            (
                RuleVerb::Alter,
                self.is(WordClasses::ALTER) || self.means("change rename move update"),
            ),
            (
                RuleVerb::Create,
                self.is(WordClasses::PRODUCE) || self.means("create write add generate"),
            ),
            (RuleVerb::Read, self.means("read") || is_one_of(&self.folded, "look peek open")),
            (RuleVerb::Use, self.is(WordClasses::EMPLOY) || self.means("use run start")),
            (
                RuleVerb::Put,
                self.means("keep") || is_one_of(&self.folded, "put leave leaving include mention"),
            ),
        ];
        verbs.iter().find(|(_, is_it)| *is_it).map(|(verb, _)| *verb)
    }

    /// True for "new", "additional" and the like.
    pub(super) fn is_more(&self) -> bool {
        self.is_new()
            || is_one_of(&self.folded, "extra additional third-party external more further other")
    }

    /// True for "dependency", "package" and other names of the same.
    pub(super) fn is_package_noun(&self) -> bool {
        self.means("dependency package library") || is_one_of(&self.folded, "crate crates gem gems")
    }

    /// True for "new" in several languages.
    pub(super) fn is_new(&self) -> bool {
        is_one_of(
            &self.folded,
            "new neue neuen neues nouveau nouveaux nouvelles nuevo nuevos nuevas novos nuovi",
        )
    }

    fn is_small(&self) -> bool {
        self.is(SMALL) || self.is_unspaced() || is_one_of(&self.folded, MANNER) || self.is_joint()
    }

    /// True for verbs of reaching something on a network.
    fn is_reaching(&self) -> bool {
        is_one_of(
            &self.folded,
            "connect connecting fetch fetching access accessing download curl ssh",
        ) || self.means("connection download")
    }

    pub(super) fn is_joint(&self) -> bool {
        !self.is_code && is_one_of(&self.folded, JOINTS)
    }

    fn is_preposition(&self) -> bool {
        !self.is_code
            && !is_one_of(&self.folded, "de d des du of do a i na no")
            && self.is(WordClasses::PREPOSITION
                .or(WordClasses::INSIDE)
                .or(WordClasses::WITHIN)
                .or(WordClasses::SUBJECT_BEFORE))
    }

    /// Path or glob that it is, if it looks like one.
    pub(super) fn path(&self) -> Option<PathPattern> {
        let text = self.text.strip_prefix('@').unwrap_or(self.text);
        let is_name = |c: char| c.is_alphanumeric() || "-_./*~@+[]{},".contains(c);
        let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let ending = last.rsplit_once('.').map(|(_, ending)| ending);
        let is_dotted =
            text.starts_with('.') && text.len() > 2 && text[1..].starts_with(char::is_alphabetic);
        let parts_are_words = || {
            let mut parts = text.split('/').filter(|it| !it.is_empty());
            text.split('/').count() == 2
                && !text.ends_with('/')
                && parts.all(|it| is_known_program(it) || endings_of(it).is_some())
        };
        let looks = text.contains('*')
            || (text.contains('/') && !parts_are_words())
            || is_dotted
            || ending.is_some_and(is_file_ending)
            || (text.starts_with(|c: char| c.is_ascii_uppercase()) && text.ends_with("file"));
        let is_plain = text.chars().all(is_name) && text.contains(char::is_alphabetic);
        (looks && is_plain && !text.starts_with('-')).then(|| PathPattern::new(text)).flatten()
    }
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
                    "git ok okay fine acceptable permitted option wanted welcome tolerated desired appreciated accepted",
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

impl<'t> SegmentReader<'_, 't> {
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
                    words.push(flag)
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
        } else if (wants_path || is_kind_of_file(term))
            && let Some(path) = self.named_path(term)
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
            && !self.is_harmless(term)
            && self.may_be_name()
            && is_package_name(term.text)
        {
            self.segment.objects.push(RuleObject::Name(term.text.to_owned()));
        } else if !self.is_harmless(term)
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
        self.terms.iter().any(|it| it.is_reaching())
    }

    /// True if an unknown word may be the name of a program or a package.
    fn may_be_name(&self) -> bool {
        let verbs = [RuleVerb::Use, RuleVerb::Install, RuleVerb::Create];
        self.mode.is_compared
            || self.mode.is_passive
            || verbs.iter().any(|it| self.segment.has(*it))
    }

    fn is_harmless(&self, term: &RuleTerm<'_>) -> bool {
        term.is_small() || term.verb().is_some() || term.is_reaching() || term.is(WordClasses::TREAT) || term.is_package_noun() || term.means("always never allow forbid check dependency library message format linter test build branch commit")
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

    /// True for the name of a program of the table or of a family.
    fn is_program_name(&self, term: &RuleTerm<'_>) -> bool {
        is_known_program(&term.folded) || is_tool(&term.folded)
    }

    /// True if a term names a program here. An ordinary word does only where it is compared, used, or
    /// has an option or a sub-command behind it.
    fn is_program(&self, term: &RuleTerm<'_>) -> bool {
        let is_value = is_tool(&term.folded);
        if term.text != term.folded && !is_value || !(is_known_program(&term.folded) || is_value) {
            return false;
        }
        // "Python tests", "go files"
        let next_word = self
            .terms
            .get(self.at)
            .filter(|it| term.ends == ClauseEnd::Nothing && !it.is_flag() && !it.is_code);
        let is_language = endings_of(&term.folded).is_some()
            && next_word
                .is_some_and(|it| is_one_of(&it.folded, "tests code") || it.is(WordClasses::FILE));
        if is_language {
            return false;
        }
        // "The `any` type"
        let is_noun = self.at > 1 && self.terms[self.at - 2].is_code;
        if is_one_of(&term.folded, MANNER) || is_noun {
            return false;
        }
        let is_ordinary = !is_value
            && !term.is_unknown()
            && !is_one_of(&term.folded, "npm pip node docker git curl ssh rm");
        let next = self.terms.get(self.at).filter(|_| term.ends == ClauseEnd::Nothing);
        let is_means = |it: &RuleTerm<'_>| is_one_of(&it.folded, "with via through mit avec con");
        let is_used = self.terms[..self.at - 1]
            .iter()
            .any(|it| it.verb() == Some(RuleVerb::Use) || is_means(it));
        let is_alone = next.is_none_or(|it| it.is_joint() || it.is(WordClasses::POLITE));
        let has_flag = next.is_some_and(RuleTerm::is_flag);
        let has_sub = || {
            term.folded == "go"
                && next.is_some_and(|it| {
                    is_one_of(it.text, "build test get run vet mod install generate")
                })
        };
        !is_ordinary || ((self.mode.is_compared || is_used) && is_alone) || has_flag || has_sub()
    }

    /// Forgets a verb that is a part of a command.
    fn drop_verb(&mut self, term: &RuleTerm<'_>) {
        let at = term.verb().and_then(|verb| self.segment.verbs.iter().position(|it| *it == verb));
        at.map(|at| self.segment.verbs.remove(at));
    }

    /// Reads a program with its sub-command: the words up to the end of the segment or to a small word.
    fn read_command(&mut self, term: &RuleTerm<'t>) {
        let mut words = vec![term.folded.clone()];
        self.drop_verb(term);
        let is_value = !is_known_program(&term.folded);
        let mut last = term;
        while last.ends == ClauseEnd::Nothing
            && words.len() <= 3
            && let Some(next) = self.terms.get(self.at)
        {
            let is_sub = !next.is_code
                && !next.is_flag()
                && !next.is_joint()
                && next
                    .text
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-:".contains(c))
                && !next.is(WordClasses::POLITE
                    .or(WordClasses::FOLDER)
                    .or(WordClasses::FILE)
                    .or(WordClasses::POINTS_BACK))
                && !next.is_preposition()
                && !next.is_package_noun()
                && !next.means("allow forbid")
                && !(term.folded == "git" && next.text.ends_with('s') && next.text != "status")
                && (next.verb().is_none() || is_one_of(next.text, SUBCOMMANDS))
                && !is_one_of(&next.folded, MANNER)
                && !(self.mode.is_passive
                    && (next.verb().is_some() || next.is(SMALL))
                    && !is_one_of(next.text, SUBCOMMANDS))
                && !(next.is(SMALL) && next.verb().is_none() && !next.means("start stop add get"));
            if !is_sub {
                break;
            }
            self.drop_verb(next);
            words.push(next.text.to_owned());
            last = next;
            self.at += 1;
        }
        // More words than a command has are a sentence.
        self.segment.is_clear &= words.len() <= 3;
        self.segment.objects.push(RuleObject::Command(words, !is_value));
    }

    /// Path that a term names, or kind of files: `*.md`, ".js files", "markdown files".
    fn named_path(&self, term: &RuleTerm<'_>) -> Option<PathPattern> {
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
        if matches!(&*term.folded, "lockfile" | "lockfiles") {
            return PathPattern::new(
                "{package-lock.json,pnpm-lock.yaml,bun.lockb,npm-shrinkwrap.json,go.sum,*.lock}",
            );
        }
        if matches!(term.text, "README" | "LICENSE" | "CHANGELOG" | "CODEOWNERS") {
            return PathPattern::new(&format!("{}*", term.text));
        }
        // With a verb of files any name with an ending is one, and some folders need no slash.
        const FOLDERS: &str = "node_modules vendor dist third_party migrations legacy generated";
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
            && (next.is_code || next.is_flag() || self.is_program_name(next))
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
        if is_means && flags && (next.is_flag() || self.is_program_name(next)) {
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
        let is_harmless = self.terms[self.at..].iter().all(|it| self.is_harmless(it));
        let is_target = self.segment.has(RuleVerb::Push) || self.segment.has(RuleVerb::Commit);
        self.segment.is_clear &= is_harmless || is_target || self.mode.is_passive;
    }
}

/// True for "to git", "into git".
fn is_into_git(term: &RuleTerm<'_>, next: &RuleTerm<'_>) -> bool {
    next.folded == "git" && matches!(&*term.folded, "to" | "in" | "into")
}

/// Reads a place behind a preposition; also returns the number of its terms.
pub(super) fn read_place(terms: &[RuleTerm<'_>]) -> Option<(CheckPlace, usize)> {
    let mut place = CheckPlace::default();
    let mut count = 0;
    for (at, term) in terms.iter().enumerate() {
        let next = terms.get(at + 1).filter(|_| term.ends == ClauseEnd::Nothing);
        let kinds: Vec<&str> = term.folded.split('/').filter_map(endings_of).collect();
        let is_kind = kinds.len() == term.folded.split('/').count();
        if is_kind {
            place.endings.extend(kinds.iter().flat_map(|it| it.split(' ')).map(str::to_owned));
        } else if term.folded == "compose" {
            place.paths.extend(PathPattern::new("*compose*.y*ml"));
        } else if matches!(&*term.folded, "dockerfile" | "dockerfiles") {
            place.paths.extend(PathPattern::new("Dockerfile*"));
        } else if let Some(ending) =
            term.text.strip_prefix('.').filter(|it| is_kind_of_file(term) && is_file_ending(it))
        {
            place.endings.push(ending.to_owned());
        } else if let Some(path) = term.path() {
            place.paths.push(path);
        } else if term.means("test") && !term.is_code {
            place.tests = true;
        } else if next.is_some_and(|it| it.is(WordClasses::FOLDER)) || term.text == "src" {
            place.paths.extend(PathPattern::new(term.text));
        } else if !term.is_small() {
            break;
        }
        count = at + 1;
        if term.ends != ClauseEnd::Nothing {
            break;
        }
    }
    (place != CheckPlace::default()).then_some((place, count))
}

/// Reads what a command must not be run against: "the prod context", a host.
fn read_argument(terms: &[RuleTerm<'_>]) -> Option<(String, usize)> {
    const KINDS: &str = "context cluster namespace database server host environment profile workspace project account";
    let at = terms.iter().position(|it| !it.is(WordClasses::DETERMINER.or(WordClasses::STOP)))?;
    let is_kind =
        terms.get(at + 1).is_some_and(|it| is_one_of(&it.folded, KINDS) || it.means(KINDS));
    let host = host_name(&terms[at]);
    let is_name = is_kind && !terms[at].is_joint();
    (is_name || host.is_some())
        .then(|| (terms[at].text.to_owned(), at + if is_name { 2 } else { 1 }))
}

/// True for a pattern or ending of files, which names files whatever is said of it: `*.spec.ts`.
fn is_kind_of_file(term: &RuleTerm<'_>) -> bool {
    term.text.starts_with("*.")
        || term.text.strip_prefix('.').is_some_and(|it| it != "env" && is_file_ending(it))
}

/// What a piece of code is.
fn code_object(term: &RuleTerm<'_>, wants_path: bool) -> RuleObject {
    let text = term.text;
    if wants_path && let Some(path) = term.path() {
        return RuleObject::Path(path);
    }
    let commands = split_commands(text);
    let words = match &commands[..] {
        [command] => command.words.clone(),
        _ => Vec::new(),
    };
    match words.first().map(String::as_str) {
        Some(first) if first.starts_with('-') && first.len() > 1 => RuleObject::Flags(words),
        Some(first) if is_command_name(first) => RuleObject::Command(words, true),
        Some(first) if words.len() == 1 && is_tool(first) => RuleObject::Command(words, false),
        // A plain word in code is a package rather than every name that is written so.
        _ if is_package_name(text) && !is_one_of(text, KEYWORDS) => {
            RuleObject::Name(text.to_owned())
        }
        _ => RuleObject::Text(text.to_owned()),
    }
}

/// Families whose values are programs or packages.
const TOOLS: &str = "package-manager python-packages test-framework-js test-framework-python browser-tests \
    formatter-js linter-js formatter-python linter-python containers monorepo build-tool bundler css state dates orm";

/// True for a program or a package of a family of alternatives.
pub(super) fn is_tool(name: &str) -> bool {
    FAMILIES.iter().any(|it| is_one_of(it.name, TOOLS) && it.has_value(name))
}

/// True for programs, without words of the shell's own language.
fn is_command_name(name: &str) -> bool {
    let is_keyword = is_one_of(
        name,
        "export import from function return case type any test true false set select if for while do in until let var null",
    );
    is_known_program(name) && !is_keyword
}

/// Host that a term names: `db.prod.internal`.
fn host_name(term: &RuleTerm<'_>) -> Option<String> {
    let (_, last) = term.text.rsplit_once('.')?;
    let is_host = term.text.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
        && last.len() >= 2
        && last.chars().all(|c| c.is_ascii_lowercase())
        && !is_file_ending(last)
        && !term.text.starts_with('.');
    is_host.then(|| term.text.to_owned())
}

/// Name from code that cannot be an ordinary word: `console.log`, `print()`, `!important`, `TODO`.
fn text_name(term: &RuleTerm<'_>) -> Option<String> {
    let text = term.text;
    let has_sign = text.contains(['.', '(', '_', '@', '='])
        || text.starts_with([':', '!', '$'])
        || text.contains("::")
        || text.ends_with("://");
    let is_marker = matches!(text, "TODO" | "FIXME" | "XXX" | "HACK");
    // `useEffect`, `innerHTML`
    let mut letters = text.chars();
    let is_camel = letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
        && text.contains(|c: char| c.is_ascii_uppercase())
        && !matches!(text, "macOS" | "iOS" | "jQuery" | "eBay" | "iPhone");
    let is_ending =
        text.starts_with('.') || text.rsplit_once('.').is_some_and(|it| is_file_ending(it.1));
    let is_code = text.is_ascii() && has_sign && text.contains(|c: char| c.is_ascii_alphabetic());
    let is_path = text.contains('/') && !text.ends_with("://");
    (is_marker || is_camel || (is_code && !is_ending && !is_path)).then(|| text.to_owned())
}

/// True for a word that may be the name of a package.
fn is_package_name(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_@/".contains(c);
    let is_scoped = text.starts_with('@') == text.contains('/');
    text.len() >= 2
        && is_scoped
        && !is_common_word(text)
        && text.chars().all(is_name)
        && text.contains(|c: char| c.is_ascii_alphabetic())
}
