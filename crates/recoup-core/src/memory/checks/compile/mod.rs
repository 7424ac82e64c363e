//! From the words of a rule to what it forbids. A rule is read sentence by sentence, a sentence by
//! clauses, a clause in segments that ask for something or forbid it. Whatever is conditional, weak or
//! not understood gives no check: a wrong one costs more trust than a missing one.

mod clause;
mod doubt;
mod forbidden;
mod git_words;
mod messages;
mod wanted;

use clause::{RawSegment, is_list_rest, split_segments};
use doubt::is_doubtful;
use messages::speaks_of_messages;
use wanted::spare;

use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::command::CommandPattern;
use crate::memory::checks::path::{CheckPlace, PathPattern};
use crate::memory::checks::segment::{RuleObject, RuleSegment, RuleVerb, SegmentMode, read_place};
use crate::memory::checks::terms::{RuleTerm, split_terms};
use crate::memory::checks::{CHECK_VERSION, RuleCheck};
use crate::memory::lang::file_kinds::endings_of;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::ClauseEnd;

/// Longest rule that is read, in bytes.
const LONGEST: usize = 600;

/// Compiles a rule for the files of a glob.
pub(super) fn compile_rule(text: &str, paths: Option<&str>) -> Option<RuleCheck> {
    // "npm → pnpm"
    let arrow = ["→", "->", "=>"].iter().find_map(|it| text.split_once(it));
    if let Some((old, new)) =
        arrow.filter(|it| [it.0, it.1].iter().all(|it| it.split_whitespace().count() <= 3))
    {
        return compile_rule(&format!("use {} instead of {}", new.trim(), old.trim()), paths);
    }
    let terms = split_terms(text);
    if text.len() > LONGEST || is_doubtful(text, &terms) {
        return None;
    }
    let mut reader = RuleReader::default();
    for sentence in terms.split_inclusive(|it| it.ends == ClauseEnd::Sentence) {
        reader.read_sentence(sentence);
    }
    if let Some(glob) = paths {
        reader.place.paths = vec![PathPattern::new(glob)?];
        reader.place.endings.clear();
    }
    reader.finish()
}

/// Topic of a sentence, for the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SentenceTopic {
    #[default]
    Other,
    /// Messages of commits.
    Messages,
    /// Things that are forbidden.
    Forbidden,
}

/// Collects what a rule forbids.
#[derive(Debug, Default)]
struct RuleReader<'t> {
    acts: Vec<ForbiddenAct>,
    /// Other commands for the purpose of what is wanted; they count if nothing is named.
    alternatives: Vec<ForbiddenAct>,
    place: CheckPlace,
    /// Words of the command that is wanted.
    wanted: Option<Vec<String>>,
    /// A wanted name that is no command.
    wanted_name: Option<String>,
    /// Program that the sentence has named, to which options belong.
    program: Option<String>,
    /// True if the sentence speaks of pushes.
    is_about_pushes: bool,
    /// Topic that the sentence before this one has introduced.
    topic: SentenceTopic,
    /// The clause before this one.
    last_clause: Vec<RuleTerm<'t>>,
    /// True if an exception or a condition was not understood.
    is_narrowed: bool,
}

impl<'t> RuleReader<'t> {
    fn read_sentence(&mut self, sentence: &[RuleTerm<'t>]) {
        let topic = std::mem::take(&mut self.topic);
        if let Some(next) = self.topic_of(sentence) {
            self.topic = next;
            return;
        }
        let is_message = speaks_of_messages(sentence) || topic == SentenceTopic::Messages;
        self.is_about_pushes = sentence.iter().any(|it| it.verb() == Some(RuleVerb::Push));
        let named = RuleSegment::read(sentence, SegmentMode::default()).into_command();
        self.program = named.and_then(|words| words.into_iter().next());
        let mut forbids_last = topic == SentenceTopic::Forbidden;
        for clause in sentence.split_inclusive(|it| it.ends >= ClauseEnd::Clause) {
            let segments = split_segments(clause);
            // "no npm, yarn or bun", "no star imports (`from x import *`)"
            let is_rest = segments.len() == 1
                && segments[0].negation.is_none()
                && forbids_last
                && (topic == SentenceTopic::Forbidden
                    || is_list_rest(clause, self.acts.is_empty()));
            if is_rest {
                self.read_forbidden(&segments[0], &[], is_message, true);
            } else {
                self.read_clause(&segments, is_message);
                self.read_wanted_flags(clause, &segments);
                self.read_purpose(clause, &segments);
                forbids_last = segments.iter().any(|it| it.negation.is_some());
            }
            self.read_instead(clause, &segments);
            self.last_clause = clause.to_vec();
        }
        if is_message && self.acts.is_empty() {
            self.topic = SentenceTopic::Messages;
        }
    }

    /// Returns the topic of a sentence that only introduces the next one: "Forbidden: npm, yarn",
    /// "python: no star imports". A language is the place of the whole rule.
    fn topic_of(&mut self, sentence: &[RuleTerm<'_>]) -> Option<SentenceTopic> {
        let [term] = sentence else { return None };
        if let Some(endings) = endings_of(&term.folded) {
            self.place.endings.extend(endings.split(' ').map(str::to_owned));
            return Some(SentenceTopic::Other);
        }
        let forbids = term.means("forbid") || is_one_of(&term.folded, "never no-go banned");
        (forbids && self.last_clause.is_empty()).then_some(SentenceTopic::Forbidden)
    }

    /// Reads "npm install is broken, use npm ci instead".
    fn read_instead(&mut self, clause: &[RuleTerm<'_>], segments: &[RawSegment<'_, '_>]) {
        let says_instead = clause.iter().any(|it| it.folded == "instead") && self.acts.is_empty();
        let [RawSegment { negation: None, terms, .. }] = segments else { return };
        let mode = SegmentMode { is_passive: true, ..SegmentMode::default() };
        let old = RuleSegment::read(&self.last_clause, mode).into_command();
        if says_instead && let Some(words) = old {
            let mode = SegmentMode { is_compared: true, ..SegmentMode::default() };
            self.acts.extend(CommandPattern::of_words(&words).map(ForbiddenAct::Run));
            self.wanted = RuleSegment::read(terms, mode).into_command();
        }
    }

    fn read_clause(&mut self, segments: &[RawSegment<'_, '_>], is_message: bool) {
        for (at, segment) in segments.iter().enumerate() {
            let Some(negation) = segment.negation else {
                let next = segments.get(at + 1);
                // "npm is forbidden": what stands before it is not wanted.
                if !next.is_some_and(RawSegment::is_about_what_is_before) {
                    self.read_wanted(segment, next.is_some());
                }
                continue;
            };
            if is_one_of(&negation.folded, "except ausser sauf excepto salvo besides") {
                self.read_exception(&segment.terms);
            } else if is_one_of(&negation.folded, "without ohne sans sin sem senza")
                && at > 0
                && !is_message
            {
                self.read_without(&segment.terms);
            } else {
                let before = segments[..at].last().map_or(&[][..], |it| &it.terms);
                // "Npm is not slow" compares nothing.
                let is_said = is_one_of(&negation.folded, "not never isnt arent nicht")
                    && before.last().is_some_and(|it| is_one_of(&it.folded, "is are was were be"));
                if is_said && !segment.is_about_what_is_before() {
                    continue;
                }
                self.read_forbidden(segment, before, is_message, false);
            }
        }
    }

    fn read_exception(&mut self, terms: &[RuleTerm<'_>]) {
        let from = terms.iter().position(|it| !it.is(WordClasses::STOP.or(WordClasses::WITHIN)));
        let Some((place, _)) = from.and_then(|from| read_place(&terms[from..])) else {
            self.is_narrowed = true;
            return;
        };
        self.is_narrowed |= !place.endings.is_empty();
        self.place.except.extend(place.paths);
        self.place.except_tests |= place.tests;
    }

    /// Reads "… without --locked" behind a forbidden command.
    fn read_without(&mut self, terms: &[RuleTerm<'_>]) {
        let objects = RuleSegment::read(terms, SegmentMode::default()).objects;
        if self.acts.is_empty()
            && let [RuleObject::Command(words, true)] = &objects[..]
        {
            // "Do it without sudo"
            return self.acts.extend(CommandPattern::of_words(words).map(ForbiddenAct::Run));
        }
        let flag = objects.into_iter().find_map(|it| match it {
            RuleObject::Flags(flags) => flags.into_iter().next(),
            _ => None,
        });
        match (self.acts.last_mut(), flag) {
            (Some(ForbiddenAct::Run(pattern)), Some(flag)) => pattern.without = Some(flag),
            _ => self.is_narrowed = true,
        }
    }

    /// Makes the check, without what the wanted command itself would break.
    fn finish(mut self) -> Option<RuleCheck> {
        if self.is_narrowed {
            return None;
        }
        if self.acts.is_empty() {
            self.acts = self.alternatives;
        }
        if let Some(wanted) = self.wanted.clone() {
            self.acts = self.acts.into_iter().filter_map(|act| spare(act, &wanted)).collect();
        }
        let mut forbidden: Vec<ForbiddenAct> = Vec::new();
        for act in self.acts {
            if !forbidden.contains(&act) {
                forbidden.push(act);
            }
        }
        let instead = self.wanted.map(|words| words.join(" ")).or(self.wanted_name);
        let is_rule = !forbidden.is_empty();
        is_rule.then_some(RuleCheck {
            version: CHECK_VERSION,
            forbidden,
            place: self.place,
            instead,
        })
    }
}
