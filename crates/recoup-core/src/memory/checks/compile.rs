//! From the words of a rule to what it forbids. A rule is read sentence by sentence, a sentence by
//! clauses, a clause in segments that ask for something or forbid it. Whatever is conditional, weak or
//! not understood gives no check: a wrong one costs more trust than a missing one.

use super::act::ForbiddenAct;
use super::command::CommandPattern;
use super::git_words::git_acts;
use super::path::{CheckPlace, PathPattern, PathSet};
use super::segment::{RuleObject, RuleSegment, RuleVerb, SegmentMode, is_tool, read_place};
use super::terms::{RuleTerm, split_terms};
use super::written_text::TextPattern;
use super::{CHECK_VERSION, RuleCheck};
use crate::memory::lang::families::{FAMILIES, ValueFamily};
use crate::memory::lang::file_kinds::endings_of;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::{ClauseEnd, tokenize_text};
use crate::memory::shell::{is_known_program, programs_for_purpose};

/// Programs that run a project's own scripts.
const SCRIPT_RUNNERS: &str = "npm pnpm yarn bun";
/// Families of programs of which a project uses one.
const MANAGERS: &str = "package-manager python-packages";
/// Longest rule that is read, in bytes.
const LONGEST: usize = 600;

/// Compiles a rule for the files of a glob.
pub(super) fn compile_rule(text: &str, paths: Option<&str>) -> Option<RuleCheck> {
    // "npm → pnpm"
    let arrow = ["→", "->", "=>"].iter().find_map(|it| text.split_once(it));
    if let Some((old, new)) = arrow.filter(|it| [it.0, it.1].iter().all(|it| it.split_whitespace().count() <= 3)) {
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

/// True if a rule holds only sometimes, leaves a choice, asks, or tells what happened.
fn is_doubtful(text: &str, terms: &[RuleTerm<'_>]) -> bool {
    let is_weak = |it: &RuleTerm<'_>| it.is(WordClasses::HEDGE.or(WordClasses::WEAK));
    let is_once = |pair: &[RuleTerm<'_>]| {
        is_one_of(&pair[0].folded, "this last next one") && pair[1].folded == "time"
    };
    text.trim_end().ends_with(['?', '？'])
        || terms.iter().any(|it| !it.is_code && is_weak(it))
        || terms.split_inclusive(|it| it.ends >= ClauseEnd::Clause).any(is_conditional)
        || terms.windows(2).any(is_once)
        || lexicon::MEANWHILE.find(&tokenize_text(text)).is_some()
}

/// True for a clause that makes a rule depend on something. A reason may have a condition of its own:
/// "never npm, it breaks when offline".
fn is_conditional(clause: &[RuleTerm<'_>]) -> bool {
    let condition = WordClasses::CONDITION.or(WordClasses::SUBORDINATE);
    let is_act = |it: &RuleTerm<'_>| it.negates || it.is_code || it.is_flag() || it.path().is_some()
        || is_known_program(&it.folded) || it.means("forbid push commit");
    let lead = WordClasses::LEAD.or(WordClasses::EVEN).or(WordClasses::ONLY).or(WordClasses::EXCLUSION);
    let begins = clause.iter().find(|it| !it.is(lead));
    // "You lost my work with it once": nothing depends on a word that ends its clause.
    let inner = match clause.last() {
        Some(last) if last.is_unspaced() => clause,
        _ => &clause[..clause.len().saturating_sub(1)],
    };
    inner.iter().any(|it| !it.is_code && it.is(condition))
        && (clause.iter().any(is_act) || begins.is_some_and(|it| it.is(condition)))
}

/// A part of a clause, before it is read.
#[derive(Debug)]
struct RawSegment<'a, 't> {
    /// The word that forbids it; an empty one if that stands behind it.
    negation: Option<&'a RuleTerm<'t>>,
    terms: Vec<RuleTerm<'t>>,
    /// Verb that its negation has in itself: "hands off".
    verb: Option<RuleVerb>,
}

impl RawSegment<'_, '_> {
    /// True if it names nothing, so that what it forbids stands before it.
    fn is_about_what_is_before(&self) -> bool {
        let mode = SegmentMode { verb: self.verb, ..SegmentMode::default() };
        let read = RuleSegment::read(&self.terms, mode);
        read.has_only_verbs(&self.terms) && !names_act(&self.terms)
    }
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
    /// True if the sentence before this one only says that it is about commit messages.
    is_message_topic: bool,
    /// True if the sentence before this one only says that something is forbidden.
    is_forbidden_topic: bool,
    /// The clause before this one.
    last_clause: Vec<RuleTerm<'t>>,
    /// True if an exception or a condition was not understood.
    is_narrowed: bool,
}

impl<'t> RuleReader<'t> {
    fn read_sentence(&mut self, sentence: &[RuleTerm<'t>]) {
        let is_message = speaks_of_messages(sentence) || self.is_message_topic;
        self.is_about_pushes = sentence.iter().any(|it| it.verb() == Some(RuleVerb::Push));
        self.is_message_topic = is_message && sentence.len() <= 3;
        self.program = RuleSegment::read(sentence, SegmentMode::default()).objects.into_iter().find_map(|it| match it {
            RuleObject::Command(words, true) => words.into_iter().next(),
            _ => None,
        });
        // "python: no star imports"
        if let [kind] = sentence
            && let Some(endings) = endings_of(&kind.folded)
        {
            self.place.endings.extend(endings.split(' ').map(str::to_owned));
            return;
        }
        // "Forbidden: npm, yarn"
        if let [term] = sentence
            && (term.means("forbid") || is_one_of(&term.folded, "never nope no-go banned verboten"))
            && self.last_clause.is_empty()
        {
            self.is_forbidden_topic = true;
            return;
        }
        let mut forbids_last = false;
        let clauses: Vec<&[RuleTerm<'t>]> =
            sentence.split_inclusive(|it| it.ends >= ClauseEnd::Clause).collect();
        for clause in clauses {
            let segments = split_segments(clause);
            // "no npm, yarn or bun", "no star imports (`from x import *`)"
            let is_rest = segments.len() == 1
                && segments[0].negation.is_none()
                && forbids_last
                && is_list_rest(clause, self.acts.is_empty());
            if is_rest || self.is_forbidden_topic {
                self.read_forbidden(&segments[0], &[], is_message, true);
            } else {
                self.read_clause(&segments, is_message);
                self.read_wanted_flags(clause, &segments);
                self.read_purpose(clause, &segments);
                forbids_last = segments.iter().any(|it| it.negation.is_some());
            }
            // "Npm install is broken, use npm ci instead"
            let says_instead = clause.iter().any(|it| it.folded == "instead") && self.acts.is_empty();
            if says_instead && let [segment] = &segments[..] && segment.negation.is_none() {
                let read = RuleSegment::read(&self.last_clause, SegmentMode { is_passive: true, ..SegmentMode::default() });
                let commands: Vec<&RuleObject> =
                    read.objects.iter().filter(|it| matches!(it, RuleObject::Command(..))).collect();
                if let [RuleObject::Command(words, _)] = commands[..] {
                    self.acts.extend(CommandPattern::of_words(words).map(ForbiddenAct::Run));
                    self.wanted = RuleSegment::read(&segment.terms, SegmentMode { is_compared: true, ..SegmentMode::default() })
                        .objects.into_iter().find_map(|it| match it {
                            RuleObject::Command(words, _) => Some(words),
                            _ => None,
                        });
                }
            }
            self.last_clause = clause.to_vec();
        }
    }

    fn read_clause(&mut self, segments: &[RawSegment<'_, '_>], is_message: bool) {
        for (at, segment) in segments.iter().enumerate() {
            let Some(negation) = segment.negation else {
                let next = segments.get(at + 1);
                // "npm is forbidden": what stands before it is not wanted.
                if !next.is_some_and(|it| it.is_about_what_is_before()) {
                    self.read_wanted(segment, next.is_some());
                }
                continue;
            };
            if is_one_of(&negation.folded, "except ausser sauf excepto salvo besides") {
                self.read_exception(&segment.terms);
            } else if is_one_of(&negation.folded, "without ohne sans sin sem senza") && at > 0 && !is_message {
                self.read_without(&segment.terms);
            } else {
                let before = segments[..at].last().map_or(&[][..], |it| &it.terms);
                // "Npm is not slow" compares nothing.
                let is_said = is_one_of(&negation.folded, "not never isnt arent nicht") && before.last().is_some_and(|it| is_one_of(&it.folded, "is are was were be"));
                if is_said && !segment.is_about_what_is_before() {
                    continue;
                }
                self.read_forbidden(segment, before, is_message, false);
            }
        }
    }

    /// Reads what is wanted, for "use pnpm, not npm", and the place where a rule holds.
    fn read_wanted(&mut self, segment: &RawSegment<'_, '_>, is_compared: bool) {
        for (at, term) in segment.terms.iter().enumerate() {
            if term.is(WordClasses::INSIDE.or(WordClasses::WITHIN)) && !term.is_code
                && let Some((place, _)) = read_place(&segment.terms[at + 1..])
                && (is_compared || at == 0)
            {
                self.place.extend(place);
            }
        }
        self.read_only(&segment.terms);
        let mode = SegmentMode { is_compared, ..SegmentMode::default() };
        let read = RuleSegment::read(&segment.terms, mode);
        self.acts.extend(other_values(&segment.terms, &read));
        let has_moved = segment.terms.iter().any(|it| it.is(WordClasses::MOVED));
        let mut objects = read.objects;
        if has_moved {
            objects.reverse();
        }
        for object in objects {
            match object {
                RuleObject::Command(words, _) => {
                    self.wanted.get_or_insert(words);
                }
                RuleObject::Name(name) => {
                    self.wanted_name.get_or_insert(name);
                }
                _ => {}
            }
        }
    }

    /// Reads "only touch files in packages/ui".
    fn read_only(&mut self, terms: &[RuleTerm<'_>]) {
        let read = RuleSegment::read(terms, SegmentMode::default());
        let is_only = terms.iter().any(|it| it.is(WordClasses::ONLY) && it.ends == ClauseEnd::Nothing);
        let stays = terms.iter().any(|it| is_one_of(&it.folded, "work stay inside"));
        let works = read.has(RuleVerb::Alter) || read.has(RuleVerb::Touch) || read.has(RuleVerb::Create) || stays;
        let is_only = is_only || terms.first().is_some_and(|it| it.folded == "stay");
        let paths = read.objects.into_iter().filter_map(|it| match it {
            RuleObject::Path(path) => Some(path),
            _ => None,
        });
        let except: Vec<PathPattern> = paths.chain(read.place.paths).collect();
        let is_sure = terms.iter().all(|it| it.verb() != Some(RuleVerb::Read));
        if is_only && works && is_sure && !except.is_empty() {
            self.acts.push(ForbiddenAct::Change(PathSet { of: Vec::new(), except }));
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
        if self.acts.is_empty() && let [RuleObject::Command(words, true)] = &objects[..] {
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

    /// Reads a forbidden segment. If it names nothing, what it forbids stands before it.
    fn read_forbidden(
        &mut self,
        segment: &RawSegment<'_, '_>,
        before: &[RuleTerm<'_>],
        is_message: bool,
        is_rest: bool,
    ) {
        let terms = &segment.terms;
        // "Nothing but pnpm", "never push to anything other than dev" want what they name.
        let is_but = |it: &RuleTerm<'_>| !it.is_code && is_one_of(&it.folded, "but besides than als que");
        if terms.iter().skip(1).any(is_but) || terms.first().is_some_and(|it| it.folded == "but") {
            return;
        }
        if !is_rest && !is_message && releases(segment) {
            return;
        }
        let is_compared = is_rest || terms.iter().filter(|it| !it.is_joint()).count() <= 2;
        // "Committe nie .env", "ne touche pas à db/": the verb stands before the negation.
        let verb = before.iter().find_map(RuleTerm::verb);
        let is_verb = before.iter().all(|it| it.verb().is_some() || it.is(WordClasses::STOP));
        let verb = segment.verb.or(verb.filter(|_| is_verb));
        // "Push to your branch, never to main"
        let is_target = self.is_about_pushes && terms.first().is_some_and(|it| it.is(WordClasses::TARGET));
        let verb = verb.or(is_target.then_some(RuleVerb::Push));
        let is_nominal = segment.negation.is_some_and(|it| {
            it.folded.starts_with("kein") || is_one_of(&it.folded, "no pas sin sans ohne senza nessun ningun ninguna without")
        });
        let is_nominal = is_nominal && !terms.iter().any(|it| it.verb().is_some());
        let mode = SegmentMode { is_compared, is_passive: false, verb, is_nominal };
        let mut read = RuleSegment::read(terms, mode);
        let mut all = terms.clone();
        // "Src/gen is generated, don't edit it": what is forbidden stands before the verb, in this
        // clause or in the last one.
        let says_nothing = before.iter().all(|it| it.is(WordClasses::STOP.or(WordClasses::LEAD).or(WordClasses::POLITE)) && it.verb().is_none());
        let points_back = terms.iter().any(|it| is_one_of(&it.folded, "it them those these es sie lo los le les"));
        let works_on_files = [RuleVerb::Alter, RuleVerb::Touch, RuleVerb::Erase].iter().any(|it| read.has(*it));
        let is_about_last = says_nothing && (points_back || works_on_files || terms.is_empty());
        let last = if is_about_last { std::mem::take(&mut self.last_clause) } else { Vec::new() };
        let before = if is_about_last { &last[..] } else { before };
        if read.has_only_verbs(terms) && !before.is_empty() && !names_act(terms) {
            let mode = SegmentMode { is_passive: true, verb: segment.verb, ..SegmentMode::default() };
            all = before.iter().chain(terms).cloned().collect();
            let whole = RuleSegment::read(&all, mode);
            let own: Vec<RuleVerb> = terms.iter().filter_map(RuleTerm::verb).chain(segment.verb).collect();
            let verbs = if own.is_empty() { whole.verbs } else { own };
            read = RuleSegment { verbs, is_clear: true, ..whole };
            if is_about_last {
                (self.wanted, self.wanted_name) = (None, None);
            }
        }
        if is_rest && let Some(RuleObject::Command(..)) = read.objects.first() {
            read.verbs.clear();
        }
        if is_message {
            return self.acts.extend(forbidden_messages(&all));
        }
        if let Some(acts) = git_acts(&all, &read) {
            return self.acts.extend(acts);
        }
        let is_global = |it: &RuleTerm<'_>| is_one_of(&it.folded, "globally global systemwide system-wide");
        if read.has(RuleVerb::Install) && terms.iter().any(is_global) {
            return self.acts.extend(global_installs());
        }
        if !read.is_clear {
            return;
        }
        let acts = self.forbidden_acts(&all, &mut read);
        if !acts.is_empty() {
            self.place.extend(read.place);
        }
        self.acts.extend(acts);
    }

    /// Finds what a segment forbids.
    fn forbidden_acts(&self, terms: &[RuleTerm<'_>], read: &mut RuleSegment) -> Vec<ForbiddenAct> {
        let is_about_packages = terms.iter().any(RuleTerm::is_package_noun);
        let is_new = terms.iter().any(RuleTerm::is_more);
        let is_anything = read.has(RuleVerb::Install) && terms.iter().any(|it| is_one_of(&it.folded, "anything stuff something"));
        let is_about_packages = is_about_packages || is_anything;
        let adds = read.has(RuleVerb::Install) || ((read.has(RuleVerb::Create) || is_new) && is_about_packages);
        let is_added = read.objects.len() == 1
            && terms.iter().any(|it| it.means("add import") || it.folded == "pull" || (it.is_code && self.wanted_name.is_some()));
        // "Use foo, not bar", "don't use foo": a program or a package, the words do not say which.
        let uses = read.verbs.iter().all(|it| *it == RuleVerb::Use);
        let is_named = !read.verbs.is_empty() || self.wanted.is_some() || self.wanted_name.is_some();
        let names_tool = uses && is_named && read.objects.iter().filter(|it| matches!(it, RuleObject::Name(_))).count() <= 2;
        let is_manager = |it: &RuleObject| matches!(it, RuleObject::Command(words, _) if words.len() == 1);
        if adds && is_about_packages && read.objects.iter().all(is_manager) {
            return vec![ForbiddenAct::Install(None)];
        }
        // "Don't use -rf with rm"
        if let [RuleObject::Flags(flags), RuleObject::Command(words, _)] = &read.objects[..] {
            let words = [words.as_slice(), flags].concat();
            return CommandPattern::of_words(&words).map(ForbiddenAct::Run).into_iter().collect();
        }
        let mut acts: Vec<ForbiddenAct> = Vec::new();
        let mut paths = Vec::new();
        for object in &read.objects {
            match object {
                RuleObject::Path(path) => paths.push(path.clone()),
                RuleObject::Command(words, is_program) => {
                    let is_run = read.verbs.iter().all(|it| matches!(it, RuleVerb::Use | RuleVerb::Touch)) || words.len() > 1;
                    if is_run {
                        acts.extend(CommandPattern::of_words(words).map(ForbiddenAct::Run));
                    }
                    let is_manager = FAMILIES.iter().any(|it| is_one_of(it.name, MANAGERS) && it.has_value(&words[0]));
                    if words.len() == 1 && adds && is_manager {
                        // "No pip installs"
                        let words = [words[0].clone(), "install".to_owned()];
                        acts.extend(CommandPattern::of_words(&words).map(ForbiddenAct::Run));
                    } else if words.len() == 1 && (!is_program || adds) {
                        acts.extend(package_acts(&words[0]));
                    }
                }
                RuleObject::CommandWith(words, argument) => {
                    let pattern = CommandPattern::of_words(words);
                    acts.extend(pattern.map(|it| ForbiddenAct::Run(CommandPattern { argument: Some(argument.clone()), ..it })));
                }
                RuleObject::Tool(name) => acts.push(ForbiddenAct::UseTool(name.clone())),
                RuleObject::Host(host) => acts.push(ForbiddenAct::Reach(host.clone())),
                RuleObject::Name(name) if adds || is_added || self.is_library(read) => acts.extend(package_acts(name)),
                RuleObject::Name(name) if names_tool => {
                    acts.extend(CommandPattern::of_words(std::slice::from_ref(name)).map(ForbiddenAct::Run));
                    acts.extend(package_acts(name));
                }
                RuleObject::Name(_) => {}
                RuleObject::Flags(flags) => {
                    let context = self.context_of_flags(&acts, terms);
                    // "-f" means something else in each program.
                    let is_known = |it: &&String| it.starts_with("--") || !context.program.is_empty();
                    let flags: Vec<String> = flags.iter().filter(is_known).cloned().collect();
                    // "No -u, no --updateSnapshot": each of them.
                    acts.extend(flags.into_iter().map(|flag| {
                        ForbiddenAct::Run(CommandPattern { flags: vec![flag], ..context.clone() })
                    }));
                }
                RuleObject::Text(text) if !read.has(RuleVerb::Commit) => {
                    acts.extend(TextPattern::new(text).map(ForbiddenAct::Write));
                }
                RuleObject::Text(_) => {}
            }
        }
        if acts.is_empty() {
            acts.extend(path_act(terms, read, paths));
        }
        acts
    }

    /// True if the wanted thing is a library, so that the forbidden one is.
    fn is_library(&self, read: &RuleSegment) -> bool {
        let names = self.wanted.iter().flatten().take(1).chain(&self.wanted_name);
        let is_library = |it: &String| {
            !is_known_program(it) && is_tool(it)
        };
        read.verbs.iter().all(|it| *it == RuleVerb::Use) && names.into_iter().any(is_library)
    }

    /// Program to which options belong that are named behind it.
    fn context_of_flags(&self, acts: &[ForbiddenAct], terms: &[RuleTerm<'_>]) -> CommandPattern {
        let is_short = terms.iter().any(|it| it.is_flag() && !it.text.starts_with("--"));
        match acts.last() {
            Some(ForbiddenAct::Run(pattern)) => CommandPattern {
                flags: Vec::new(),
                words: pattern.words.clone(),
                program: pattern.program.clone(),
                ..CommandPattern::default()
            },
            _ if is_short => CommandPattern {
                program: self.program.clone().unwrap_or_default(),
                ..CommandPattern::default()
            },
            _ => CommandPattern::default(),
        }
    }

    /// Reads "always pass --locked to cargo build", "go test always with -race".
    fn read_wanted_flags(&mut self, clause: &[RuleTerm<'_>], segments: &[RawSegment<'_, '_>]) {
        // "X only with --y", but not "only use x --y here"
        let is_with = clause.windows(2).any(|it| {
            is_one_of(&it[0].folded, "with mit avec con") && (it[1].is_flag() || it[1].is_code)
        });
        let is_always = clause.iter().any(|it| {
            it.means("always every each must") || (it.is(WordClasses::ONLY) && (is_with || it.folded != "just"))
        });
        let is_restricted = clause.iter().any(|it| it.is(WordClasses::ONLY)) && !is_with;
        if is_restricted && clause.iter().any(RuleTerm::is_flag) {
            return;
        }
        let is_order = clause.first().is_some_and(|it| it.is(WordClasses::EMPLOY) || it.means("add include"));
        let ends_with_flag = clause.last().is_some_and(|it| it.is_flag() || it.is_code);
        let needs = clause.iter().any(|it| is_one_of(&it.folded, "needs requires require"));
        if !(is_always || needs || (is_order && ends_with_flag)) || segments.iter().any(|it| it.negation.is_some()) {
            return;
        }
        let plain: Vec<RuleTerm<'_>> =
            clause.iter().filter(|it| !(it.is(WordClasses::ONLY) || it.means("always ever"))).cloned().collect();
        let read = RuleSegment::read(&plain, SegmentMode { is_compared: true, ..SegmentMode::default() });
        let mut command: Option<Vec<String>> = None;
        let mut flag: Option<String> = None;
        for object in read.objects {
            match object {
                RuleObject::Command(words, _) => match &command {
                    Some(first) if words.starts_with(first) => {
                        flag = flag.or_else(|| words.get(first.len()).cloned());
                    }
                    _ => {
                        let (flags, words): (Vec<String>, Vec<String>) =
                            words.into_iter().partition(|it| it.starts_with('-'));
                        flag = flag.or_else(|| flags.into_iter().next());
                        command.get_or_insert(words);
                    }
                },
                RuleObject::Flags(flags) => flag = flag.or_else(|| flags.into_iter().next()),
                _ => {}
            }
        }
        if let (Some(words), Some(flag)) = (command, flag)
            && let Some(pattern) = CommandPattern::of_words(&words)
        {
            let pattern = CommandPattern { without: Some(flag.clone()), ..pattern };
            self.wanted = Some([words, vec![flag.clone()]].concat());
            self.acts.push(ForbiddenAct::Run(pattern));
        }
    }

    /// Reads "run the tests with `make test`": other commands for that purpose are forbidden, as far as
    /// they cannot be meant.
    fn read_purpose(&mut self, clause: &[RuleTerm<'_>], segments: &[RawSegment<'_, '_>]) {
        let Some(first) = segments.first().filter(|it| it.negation.is_none()) else { return };
        let read = RuleSegment::read(&first.terms, SegmentMode::default());
        let Some(RuleObject::Command(wanted, true)) = read.objects.last() else { return };
        let is_link = |it: &RuleTerm<'_>| it.is(WordClasses::VALUE_BEFORE) || it.folded == "through";
        let Some(at) = clause.iter().position(|it| !it.is_code && it.means("test format linter build")) else {
            return;
        };
        let is_named = |it: &RuleTerm<'_>| it.text == wanted[0] || (it.is_code && it.text.starts_with(&wanted[0]));
        let Some(command) = clause.iter().position(is_named) else { return };
        let (from, to) = (at.min(command), at.max(command));
        // "tests with make", "use make for tests"; the purpose is not a part of the command.
        let is_part = !clause[command].is_code && (command..command + wanted.len()).contains(&at);
        let is_linked = at < command && clause[from..to].iter().any(is_link)
            || at > command
                && (clause[from..to].iter().any(|it| is_one_of(&it.folded, "to for fur pour para"))
                    || (clause[to - 1].is(WordClasses::STOP) && clause[..from].iter().any(is_link)));
        let language = at.checked_sub(1).map(|it| &clause[it]).filter(|it| !it.is_code);
        let is_narrow = language.is_some_and(|it| {
            endings_of(&it.folded).is_none() && !it.is(WordClasses::STOP) && it.verb().is_none() && !it.is_joint()
        });
        if is_part || !is_linked || is_narrow {
            return;
        }
        let purpose = ["test", "format", "linter", "build"].into_iter().find(|it| clause[at].means(it));
        let purpose = purpose.unwrap_or_default().trim_end_matches("er");
        let language = language.map_or("", |it| it.folded.as_str());
        self.alternatives.extend(alternatives(purpose, language, wanted));
        self.wanted.get_or_insert_with(|| wanted.clone());
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
        is_rule.then_some(RuleCheck { version: CHECK_VERSION, forbidden, place: self.place, instead })
    }
}

/// Forbids the other values of a family where only one is wanted: "pnpm only".
fn other_values(terms: &[RuleTerm<'_>], read: &RuleSegment) -> Vec<ForbiddenAct> {
    let is_only = terms.iter().any(|it| is_one_of(&it.folded, "only exclusively nur solo") || it.means("always"));
    let is_said = |it: &RuleTerm<'_>| {
        it.is(WordClasses::STOP.or(WordClasses::PROJECT).or(WordClasses::POLITE).or(WordClasses::ONLY))
            || it.verb() == Some(RuleVerb::Use) || it.means("always") || is_tool(&it.folded)
    };
    let is_only = is_only && terms.iter().all(is_said);
    // "Our package manager is pnpm"
    let is_topic = terms.windows(2).any(|pair| pair[0].folded == "package" && pair[1].folded == "manager");
    // "All package operations go through uv"
    let is_managed = terms.iter().any(RuleTerm::is_package_noun)
        && terms.iter().any(|it| is_one_of(&it.folded, "through with via using by mit avec con"));
    let is_only = is_only || is_topic || is_managed;
    let [RuleObject::Command(words, _)] = &read.objects[..] else { return Vec::new() };
    let is_plain = is_only && words.len() == 1 && read.verbs.iter().all(|it| *it == RuleVerb::Use);
    let family = FAMILIES.iter().find(|it| is_one_of(it.name, MANAGERS) && it.has_value(&words[0]));
    let values = family.filter(|_| is_plain).into_iter().flat_map(ValueFamily::values);
    let others = values.filter(|it| *it != words[0]).map(|it| vec![it.to_owned()]);
    others.filter_map(|it| CommandPattern::of_words(&it)).map(ForbiddenAct::Run).collect()
}

/// Returns an act without what is wanted; `None` if nothing is left of it.
fn spare(act: ForbiddenAct, wanted: &[String]) -> Option<ForbiddenAct> {
    let ForbiddenAct::Run(mut pattern) = act else { return Some(act) };
    let line = crate::memory::shell::RunCommand { words: wanted.to_vec(), ..Default::default() };
    pattern.but = line.starter();
    if pattern.find_in(&line).is_none() {
        return Some(ForbiddenAct::Run(pattern));
    }
    if line.program() == pattern.program {
        return None;
    }
    pattern.but = Some(line.program().to_owned());
    Some(ForbiddenAct::Run(pattern))
}

/// Splits a clause where something begins to be forbidden.
fn split_segments<'a, 't>(clause: &'a [RuleTerm<'t>]) -> Vec<RawSegment<'a, 't>> {
    let new = |negation, verb| RawSegment { negation, terms: Vec::new(), verb };
    let mut segments = vec![new(None, None)];
    let mut at = 0;
    while at < clause.len() {
        // "Replace npm with pnpm": the second half asks again.
        let is_swap = segments.last().and_then(|it| it.negation).is_some_and(|it| it.is(WordClasses::DISCARD));
        if is_swap && is_one_of(&clause[at].folded, "with by for") && at + 1 < clause.len() {
            segments.push(new(None, None));
            at += 1;
        } else if let Some((count, verb)) = negation_at(clause, at) {
            at += count;
            let words: Vec<&str> = clause[at.min(clause.len())..].iter().map(|it| it.folded.as_str()).collect();
            let phrase = lexicon::RESORT.matched_start(&words);
            let verb = verb.or(phrase.map(|_| RuleVerb::Touch));
            segments.push(new(Some(&clause[at - count]), verb));
            at += phrase.unwrap_or(0);
        } else {
            let last = segments.len() - 1;
            segments[last].terms.push(clause[at].clone());
            at += 1;
        }
    }
    if segments[0].terms.is_empty() && segments.len() > 1 {
        segments.remove(0);
    }
    segments
}

/// Returns the number of terms of a negation at a place, and the verb that is in it.
fn negation_at(clause: &[RuleTerm<'_>], at: usize) -> Option<(usize, Option<RuleVerb>)> {
    let term = &clause[at];
    if term.is_code {
        return None;
    }
    let words: Vec<&str> = clause[at..].iter().map(|it| it.folded.as_str()).collect();
    match words[..] {
        ["keep", .., "out", "of", "git" | "commits" | "version"] | ["keep", .., "out", "of", "version", _] => {
            return Some((1, Some(RuleVerb::Commit)));
        }
        ["hands", "off", ..] => return Some((2, Some(RuleVerb::Touch))),
        ["stay" | "keep", "out" | "away" | "off", "of" | "from", ..] => {
            return Some((3, Some(RuleVerb::Alter)));
        }
        ["stay" | "keep", "out" | "away" | "off", ..] => return Some((2, Some(RuleVerb::Alter))),
        ["untouched" | "unchanged" | "unmodified", ..] if at > 0 => {
            return Some((1, Some(RuleVerb::Alter)));
        }
        ["as", "it", "is"] | ["as", "they", "are"] => return Some((3, Some(RuleVerb::Alter))),
        ["as", "is"] => return Some((2, Some(RuleVerb::Alter))),
        ["steer" | "keep", "clear", "of", ..] => return Some((3, Some(RuleVerb::Touch))),
        ["leave" | "keep", .., "out", "of", "the", "commit", _] | ["leave" | "keep", .., "out", "of", "commit", _] => {
            return Some((1, Some(RuleVerb::Put)));
        }
        ["has" | "have", "to", "go", ..] if at > 0 => return Some((3, None)),
        ["refrain", "from", ..] => return Some((2, None)),
        ["doesnt" | "dont", "belong", ..] => return Some((2, Some(RuleVerb::Put))),
        ["not", "belong", ..] => return Some((2, Some(RuleVerb::Put))),
        ["over", ..] => {
            let is_program = |at: usize| clause.get(at).is_some_and(|it| is_known_program(&it.folded) || is_tool(&it.folded));
            return (at > 0 && is_program(at - 1) && is_program(at + 1)).then_some((1, None));
        }
        ["read-only", ..] if at > 0 => return Some((1, Some(RuleVerb::Alter))),
        ["finger", "weg", "von", ..] => return Some((3, Some(RuleVerb::Touch))),
        ["leave", _, "to", _, ..] if clause[at + 1].path().is_some() => return Some((1, Some(RuleVerb::Touch))),
        ["leave", .., "alone"] => return Some((1, Some(RuleVerb::Touch))),
        ["off", "limits" | "limit", ..] => return Some((2, Some(RuleVerb::Touch))),
        // "No, use pnpm" answers; French "ne … jamais" is one negation.
        ["no" | "nein" | "non", ..] if term.ends != ClauseEnd::Nothing => return None,
        ["ne", ..] if clause[at + 1..].iter().any(|it| it.negates) => return None,
        _ => {}
    }
    if let Some(count) = lexicon::CONTRAST.matched_start(&words) {
        return Some((count, None));
    }
    // "The tests never stop": only an order to stop forbids.
    let lead = WordClasses::LEAD.or(WordClasses::POLITE);
    let is_first = clause[..at].iter().all(|it| it.is(lead));
    let is_order = |it: &RuleTerm<'_>| is_first && it.is(WordClasses::END_VERB);
    let is_nothing = is_one_of(&term.folded, "nothing nichts rien nada niente")
        && !clause.iter().any(|it| it.negates);
    let is_discarded = term.is(WordClasses::DISCARD) && is_first && clause.get(at + 1).is_some_and(|it| {
        it.is_code || it.is_flag() || is_known_program(&it.folded) || is_tool(&it.folded)
            || it.is(WordClasses::DETERMINER)
    });
    if is_discarded {
        return Some((1, None));
    }
    let is_forbidden = term.means("forbid") || is_one_of(&term.folded, "banned taboo no-go tabu");
    let negates = term.negates && !(term.is(WordClasses::END_VERB) && !is_first);
    (negates || is_order(term) || is_nothing || is_forbidden).then_some((1, None))
}

/// True if a negation does not forbid: "you don't need npm", "not only npm", "doesn't", "not never".
fn releases(segment: &RawSegment<'_, '_>) -> bool {
    const OTHERS: &str = "doesnt didnt wasnt werent hasnt havent wont couldnt wouldnt";
    const NEEDS: &str = "need needs have has had care mind like only just forget brauchst \
        brauchen musst mussen muss nur solo seulement worry bother hesitate";
    let negation = segment.negation.map_or("", |it| it.folded.as_str());
    let first = segment.terms.first().map_or("", |it| it.folded.as_str());
    is_one_of(negation, OTHERS) || is_one_of(first, NEEDS)
}

/// True if words name an act of their own, without an object.
fn names_act(terms: &[RuleTerm<'_>]) -> bool {
    let is_package = terms.iter().any(RuleTerm::is_package_noun);
    let is_act = |it: &RuleTerm<'_>| {
        matches!(it.verb(), Some(RuleVerb::Push | RuleVerb::Commit)) && it.ends >= ClauseEnd::Nothing
    };
    is_package || terms.first().is_some_and(is_act)
}

/// True if a clause only goes on with the list of the clause before it.
fn is_list_rest(clause: &[RuleTerm<'_>], is_first: bool) -> bool {
    let is_thing = |it: &RuleTerm<'_>| {
        it.is_code || it.is_flag() || it.is_joint() || it.path().is_some() || is_known_program(&it.folded)
    };
    let is_list = clause.iter().any(|it| it.is_joint()) && !clause.iter().any(|it| it.verb().is_some());
    let is_command = || {
        let read = RuleSegment::read(clause, SegmentMode::default());
        let words: usize = read.objects.iter().map(|it| match it {
            RuleObject::Command(words, true) => words.len(),
            _ => 0,
        }).sum();
        words == clause.len()
    };
    let is_example = is_first && (clause.iter().all(|it| it.is_code || it.is_flag()) || is_command());
    (is_list && clause.iter().all(is_thing)) || is_example
}

/// True if a sentence is about messages of commits.
fn speaks_of_messages(sentence: &[RuleTerm<'_>]) -> bool {
    let has = |english: &str| sentence.iter().any(|it| !it.is_code && it.means(english));
    let is_trailer = |it: &RuleTerm<'_>| {
        let name = it.text.to_ascii_lowercase();
        name.starts_with("co-author") || name.starts_with("coauthor")
    };
    let in_commits = sentence.windows(2).any(|pair| {
        is_one_of(&pair[0].folded, "in to into") && is_one_of(&pair[1].folded, "commits commit")
    });
    // "No 'WIP' commits"
    let are_named = sentence.windows(2).any(|pair| pair[0].is_code && pair[1].folded == "commits");
    (has("commit") && has("message")) || are_named || sentence.iter().any(is_trailer) || in_commits
}

/// Finds texts that must not be in commit messages.
fn forbidden_messages(terms: &[RuleTerm<'_>]) -> Vec<ForbiddenAct> {
    let mut acts = Vec::new();
    for term in terms {
        let name = term.text.to_lowercase();
        let is_name = term.text.starts_with(|c: char| c.is_uppercase()) && term.text.len() > 1;
        if name.starts_with("emoji") {
            acts.push(ForbiddenAct::EmojiMessage);
        } else if name.starts_with("co-author") || name.starts_with("coauthor") {
            acts.push(ForbiddenAct::Message("co-authored-by".to_owned()));
        } else if term.is_code || (is_name && !term.is(WordClasses::STOP) && !term.means("commit message")) {
            acts.push(ForbiddenAct::Message(name));
        }
    }
    acts
}

/// What must not be done with files.
fn path_act(terms: &[RuleTerm<'_>], read: &mut RuleSegment, mut paths: Vec<PathPattern>) -> Option<ForbiddenAct> {
    let is_new = terms.iter().any(RuleTerm::is_new);
    let creates = read.has(RuleVerb::Create) || is_new;
    // "Never create test files in src/" is about some of them.
    let file = terms.iter().position(|it| it.is(WordClasses::FILE));
    let is_any = file.is_some_and(|at| {
        terms[..at].iter().all(|it| it.is(WordClasses::STOP.or(WordClasses::QUANTIFIER)) || it.verb().is_some() || it.is_new())
    });
    if paths.is_empty() && creates && is_any {
        paths = std::mem::take(&mut read.place.paths);
    }
    if paths.is_empty() {
        return None;
    }
    let is_existing = terms.iter().any(|it| is_one_of(&it.folded, "existing old applied bestehende existant existantes existentes"));
    let of = if read.is_outside {
        PathSet { of: Vec::new(), except: paths }
    } else {
        PathSet { of: paths, except: Vec::new() }
    };
    match () {
        () if read.has(RuleVerb::Commit) => Some(ForbiddenAct::Stage(of)),
        () if read.has(RuleVerb::Erase) && !read.has(RuleVerb::Touch) && !read.has(RuleVerb::Alter) && !read.has(RuleVerb::Create) => {
            Some(ForbiddenAct::Remove(of))
        }
        () if read.has(RuleVerb::Alter) && is_existing => Some(ForbiddenAct::ChangeExisting(of)),
        () if read.has(RuleVerb::Alter) || read.has(RuleVerb::Touch) => Some(ForbiddenAct::Change(of)),
        () if read.has(RuleVerb::Read) => Some(ForbiddenAct::Read(of)),
        () if is_new || terms.iter().any(|it| it.is(WordClasses::PRODUCE) && !it.folded.starts_with("writ")) => {
            Some(ForbiddenAct::Create(of))
        }
        () if creates => Some(ForbiddenAct::Change(of)),
        // "Never *.spec.ts"
        () if read.verbs.is_empty() && of.of.iter().all(PathPattern::is_glob) => Some(ForbiddenAct::Create(of)),
        () => None,
    }
}

/// Commands that install for the whole machine.
fn global_installs() -> Vec<ForbiddenAct> {
    const LINES: [&str; 7] = [
        "npm install -g", "pnpm add -g", "pnpm install -g", "bun add -g", "bun install -g", "yarn global add",
        "pip install --user",
    ];
    let words = LINES.iter().map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    words.filter_map(|it| CommandPattern::of_words(&it)).map(ForbiddenAct::Run).collect()
}

/// A package that must not be added or used.
fn package_acts(name: &str) -> [ForbiddenAct; 2] {
    [ForbiddenAct::Install(Some(name.to_owned())), ForbiddenAct::Import(name.to_owned())]
}

/// Commands that serve a purpose, in the languages of the wanted command or of the words.
fn alternatives(purpose: &str, language: &str, wanted: &[String]) -> Vec<ForbiddenAct> {
    let named = match endings_of(language).and_then(|it| it.split(' ').next()) {
        Some("py") => "python",
        Some("ts" | "js" | "tsx" | "jsx") => "javascript",
        Some("rs") => "rust",
        Some(_) => language,
        None => "",
    };
    let is_own = |list: &str| list.split(' ').any(|it| it.split('/').next() == Some(&wanted[0]));
    let lists: Vec<(&str, &str)> = programs_for_purpose(purpose).collect();
    let own: Vec<&str> = lists.iter().filter(|it| is_own(it.1)).map(|it| it.0).collect();
    // `npm test` may run the very program that is wanted.
    let is_script = |it: &[String]| it.len() > 1 && is_one_of(&it[0], SCRIPT_RUNNERS);
    let is_tool = !own.is_empty() && !is_one_of(&wanted[0], SCRIPT_RUNNERS);
    let is_meant = |of: &str| (named.is_empty() || of == named) && (own.is_empty() || own.contains(&of));
    let commands = lists.into_iter().filter(|it| is_meant(it.0)).flat_map(|it| it.1.split(' '));
    let words = commands.map(|it| it.split('/').map(str::to_owned).collect::<Vec<_>>());
    // What the wanted command is a case of, or what is a case of it, is not another one.
    let others = words.filter(|it| {
        !wanted.starts_with(it) && !it.starts_with(wanted) && !(is_tool && is_script(it))
    });
    let mut acts: Vec<ForbiddenAct> =
        others.filter_map(|it| CommandPattern::of_words(&it)).map(ForbiddenAct::Run).collect();
    acts.sort_by_key(ToString::to_string);
    acts
}
