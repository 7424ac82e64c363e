//! Commands in the words of a rule: which words name a program, and which its sub-command.

use super::words::{MANNER, SMALL, SUBCOMMANDS};
use super::{RuleObject, RuleVerb, SegmentReader, is_tool};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::file_kinds::endings_of;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::ClauseEnd;
use crate::memory::shell::is_known_program;

impl<'t> SegmentReader<'_, 't> {
    /// True if a term names a program here. An ordinary word does only where it is compared, used, or
    /// has an option or a sub-command behind it.
    pub(super) fn is_program(&self, term: &RuleTerm<'_>) -> bool {
        let is_value = is_tool(&term.folded);
        let is_named = is_known_program(&term.folded) && term.text == term.folded;
        if !(is_value || is_named) {
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
        let is_task = is_used && is_one_of(&term.folded, "make just task") && next.is_some();
        !is_ordinary
            || is_task
            || ((self.mode.is_compared || is_used) && is_alone)
            || has_flag
            || has_sub()
    }

    /// True for a word that may be the sub-command of a program in front of it.
    fn is_subcommand(&self, program: &RuleTerm<'_>, word: &RuleTerm<'_>) -> bool {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-:".contains(c);
        let other = WordClasses::POLITE
            .or(WordClasses::FOLDER)
            .or(WordClasses::FILE)
            .or(WordClasses::POINTS_BACK);
        let is_other = word.is(other)
            || word.is_preposition()
            || word.is_package_noun()
            || word.means("allow forbid")
            || is_one_of(&word.folded, MANNER);
        // "Git hooks"
        let is_plural =
            program.folded == "git" && word.text.ends_with('s') && word.text != "status";
        let (verb, is_verb) = (word.verb(), is_one_of(word.text, SUBCOMMANDS));
        let is_small = word.is(SMALL) && verb.is_none() && !word.means("start stop add get");
        let is_behind = self.mode.is_passive && (verb.is_some() || word.is(SMALL));
        let is_plain = !word.is_code && !word.is_flag() && !word.is_joint();
        is_plain
            && word.text.chars().all(is_name)
            && !(is_other || is_plural || is_small)
            && (is_verb || (verb.is_none() && !is_behind))
    }

    /// Forgets a verb that is a part of a command.
    fn drop_verb(&mut self, term: &RuleTerm<'_>) {
        let at = term.verb().and_then(|verb| self.segment.verbs.iter().position(|it| *it == verb));
        if let Some(at) = at {
            self.segment.verbs.remove(at);
        }
    }

    /// Reads a program with its sub-command: the words up to the end of the segment or to a small word.
    pub(super) fn read_command(&mut self, term: &RuleTerm<'t>) {
        let mut words = vec![term.folded.clone()];
        self.drop_verb(term);
        let is_value = !is_known_program(&term.folded);
        let mut last = term;
        while last.ends == ClauseEnd::Nothing
            && words.len() <= 3
            && let Some(next) = self.terms.get(self.at)
        {
            if !self.is_subcommand(term, next) {
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
}
