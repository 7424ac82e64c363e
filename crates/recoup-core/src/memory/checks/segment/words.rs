//! Words of a rule, as far as a check depends on them: verbs, small words, names of files.

use super::RuleVerb;
use crate::memory::checks::path::PathPattern;
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::file_kinds::{endings_of, is_file_ending};
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::shell::is_known_program;

/// Words that say nothing about what is meant.
pub(super) const SMALL: WordClasses = WordClasses::STOP
    .or(WordClasses::BETWEEN)
    .or(WordClasses::ALL)
    .or(WordClasses::QUANTIFIER)
    .or(WordClasses::POLITE)
    .or(WordClasses::DETERMINER)
    .or(WordClasses::LEAD)
    .or(WordClasses::FILE)
    .or(WordClasses::FOLDER)
    .or(WordClasses::PROJECT)
    .or(WordClasses::MINE)
    .or(WordClasses::LATE_NEGATION);
/// Words of the same kind that are in no class.
pub(super) const MANNER: &str = "new plain bare raw direct directly manually manual hand machine box laptop computer \
    yourself hagas hacer haga faire fais fare faca alone straight invocation invocations circumstances circumstance cases task command commands script scripts target recipe things code package packages calls usage statements comments comment line lines tags manuell direkt \
    directement directamente neue neuen nouveau nouveaux nuevos any existing at all anymore imports";
/// Words of programming languages.
pub(super) const KEYWORDS: &str = "any var let const goto eval with unwrap expect print println panic exec lambda global \
    unsafe null undefined debugger require import export class function switch else try except pass todo \
    unimplemented async await void enum namespace private static final inline assert sleep system";
/// Words before a place in which a rule does not hold.
pub(super) const OUTSIDE: &str = "outside ausserhalb fuera dehors beyond hors";
/// Verbs that are sub-commands.
pub(super) const SUBCOMMANDS: &str = "run start install add update upgrade remove commit push create delete rename move \
    generate put call";
/// Words that join the things of a list.
pub(super) const JOINTS: &str = "and or nor plus und oder et ou y o e ni";

impl RuleTerm<'_> {
    pub(in crate::memory::checks) fn verb(&self) -> Option<RuleVerb> {
        if self.is_code || self.is_flag() {
            return None;
        }
        // Scripts without spaces: the characters of touching and moving.
        if self.is_unspaced()
            && (self.text.contains(['触', '碰', '动', '動', '改', '编', '編'])
                || self.means("editor change"))
        {
            return Some(RuleVerb::Alter);
        }
        let starts = |word: &str| self.folded.starts_with(word);
        let verbs = [
            (RuleVerb::Touch, starts("touch")),
            (
                RuleVerb::Commit,
                self.means("commit stage staged") || starts("commit") || starts("коммит"),
            ),
            (
                RuleVerb::Push,
                self.means("push") || starts("push") || starts("pouss") || starts("пуш"),
            ),
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
    pub(in crate::memory::checks) fn is_more(&self) -> bool {
        self.is_new()
            || is_one_of(&self.folded, "extra additional third-party external more further other")
    }

    /// True for "dependency", "package" and other names of the same.
    pub(in crate::memory::checks) fn is_package_noun(&self) -> bool {
        self.means("dependency package library") || is_one_of(&self.folded, "crate crates gem gems")
    }

    /// True for "new" in several languages.
    pub(in crate::memory::checks) fn is_new(&self) -> bool {
        is_one_of(
            &self.folded,
            "new neue neuen neues nouveau nouveaux nouvelles nuevo nuevos nuevas novos nuovi",
        )
    }

    pub(super) fn is_small(&self) -> bool {
        self.is(SMALL) || self.is_unspaced() || is_one_of(&self.folded, MANNER) || self.is_joint()
    }

    /// True for verbs of reaching something on a network.
    pub(super) fn is_reaching(&self) -> bool {
        is_one_of(
            &self.folded,
            "connect connecting fetch fetching access accessing download curl ssh",
        ) || self.means("connection download")
    }

    pub(in crate::memory::checks) fn is_joint(&self) -> bool {
        !self.is_code && is_one_of(&self.folded, JOINTS)
    }

    pub(in crate::memory::checks) fn is_preposition(&self) -> bool {
        !self.is_code
            && !is_one_of(&self.folded, "de d des du of do a i na no")
            && self.is(WordClasses::PREPOSITION
                .or(WordClasses::INSIDE)
                .or(WordClasses::WITHIN)
                .or(WordClasses::SUBJECT_BEFORE))
    }

    /// Path or glob that it is, if it looks like one.
    pub(in crate::memory::checks) fn path(&self) -> Option<PathPattern> {
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
