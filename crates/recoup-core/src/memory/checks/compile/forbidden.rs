//! Forbidden segments: from the verbs and objects of a segment to acts.

use super::RuleReader;
use super::clause::{RawSegment, names_act, releases};
use super::git_words::git_acts;
use super::messages::forbidden_messages;
use super::wanted::MANAGERS;
use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::command::CommandPattern;
use crate::memory::checks::path::{PathPattern, PathSet};
use crate::memory::checks::segment::{RuleObject, RuleSegment, RuleVerb, SegmentMode, is_tool};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::checks::written_text::TextPattern;
use crate::memory::lang::families::FAMILIES;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::word_vectors::is_common_word;
use crate::memory::shell::is_known_program;

impl RuleReader<'_> {
    /// Reads a forbidden segment. If it names nothing, what it forbids stands before it.
    pub(super) fn read_forbidden(
        &mut self,
        segment: &RawSegment<'_, '_>,
        before: &[RuleTerm<'_>],
        is_message: bool,
        is_rest: bool,
    ) {
        let terms = &segment.terms;
        if wants_what_it_names(terms) || (!is_rest && !is_message && releases(segment)) {
            return;
        }
        let mode = self.mode_of(segment, before, is_rest);
        let mut read = RuleSegment::read(terms, mode);
        let mut all = terms.clone();
        let is_about_last = is_about_last_clause(terms, before, &read);
        let last = if is_about_last { std::mem::take(&mut self.last_clause) } else { Vec::new() };
        let before = if is_about_last { &last[..] } else { before };
        let is_act = names_act(terms) && !before.iter().any(|it| it.path().is_some());
        if read.has_only_verbs(terms) && !before.is_empty() && !is_act {
            all = before.iter().chain(terms).cloned().collect();
            read = read_passive(segment, &all);
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
        let is_global = |it: &RuleTerm<'_>| is_one_of(&it.folded, "globally global system-wide");
        if read.has(RuleVerb::Install) && terms.iter().any(is_global) {
            return self.acts.extend(global_installs());
        }
        if read.is_clear {
            let acts = self.forbidden_acts(&all, &mut read);
            if !acts.is_empty() {
                self.place.extend(read.place);
            }
            self.acts.extend(acts);
        }
    }

    /// Returns how a forbidden segment is to be read.
    fn mode_of(
        &self,
        segment: &RawSegment<'_, '_>,
        before: &[RuleTerm<'_>],
        is_rest: bool,
    ) -> SegmentMode {
        let terms = &segment.terms;
        // "Committe nie .env", "ne touche pas à db/": the verb stands before the negation.
        let verb = before.iter().find_map(RuleTerm::verb);
        let is_verb = before.iter().all(|it| it.verb().is_some() || it.is(WordClasses::STOP));
        // "Push to your branch, never to main"
        let is_target =
            self.is_about_pushes && terms.first().is_some_and(|it| it.is(WordClasses::TARGET));
        let verb = segment.verb.or(verb.filter(|_| is_verb));
        let is_nominal = segment.negation.is_some_and(|it| {
            it.folded.starts_with("kein")
                || is_one_of(&it.folded, "no pas sin sans ohne senza nessun ningun ninguna without")
        });
        SegmentMode {
            is_compared: is_rest || terms.iter().filter(|it| !it.is_joint()).count() <= 2,
            is_passive: false,
            verb: verb.or(is_target.then_some(RuleVerb::Push)),
            is_nominal: is_nominal && !terms.iter().any(|it| it.verb().is_some()),
        }
    }

    /// Finds what a segment forbids.
    fn forbidden_acts(&self, terms: &[RuleTerm<'_>], read: &mut RuleSegment) -> Vec<ForbiddenAct> {
        let has_word = |words: &str| terms.iter().any(|it| is_one_of(&it.folded, words));
        let is_about_packages = terms.iter().any(RuleTerm::is_package_noun)
            || (read.has(RuleVerb::Install) && has_word("anything stuff something"));
        let is_more = terms.iter().any(RuleTerm::is_more);
        let adds = read.has(RuleVerb::Install)
            || ((read.has(RuleVerb::Create) || is_more) && is_about_packages);
        let is_manager =
            |it: &RuleObject| matches!(it, RuleObject::Command(words, _) if words.len() == 1);
        if adds && is_about_packages && read.objects.iter().all(is_manager) {
            return vec![ForbiddenAct::Install(None)];
        }
        // "Don't use -rf with rm"
        if let [RuleObject::Flags(flags), RuleObject::Command(words, _)] = &read.objects[..] {
            return run_act(&[words.as_slice(), flags].concat()).into_iter().collect();
        }
        let mut acts: Vec<ForbiddenAct> = Vec::new();
        let mut paths = Vec::new();
        for object in &read.objects {
            match object {
                RuleObject::Path(path) => paths.push(path.clone()),
                RuleObject::Command(words, is_program) => {
                    acts.extend(command_acts(words, *is_program, adds, read));
                }
                RuleObject::CommandWith(words, argument) => {
                    let argument = Some(argument.clone());
                    let pattern = CommandPattern::of_words(words);
                    acts.extend(
                        pattern.map(|it| CommandPattern { argument, ..it }).map(ForbiddenAct::Run),
                    );
                }
                RuleObject::Tool(name) => acts.push(ForbiddenAct::UseTool(name.clone())),
                RuleObject::Host(host) => acts.push(ForbiddenAct::Reach(host.clone())),
                RuleObject::Name(name) => acts.extend(self.name_acts(name, terms, adds, read)),
                RuleObject::Flags(flags) => acts.extend(self.flag_acts(flags, &acts, terms)),
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

    /// Returns the acts for a name that no list has: a package where it is added, a program or a package
    /// where it is used or compared.
    fn name_acts(
        &self,
        name: &str,
        terms: &[RuleTerm<'_>],
        adds: bool,
        read: &RuleSegment,
    ) -> Vec<ForbiddenAct> {
        let is_added = read.objects.len() == 1
            && terms.iter().any(|it| {
                it.means("add import")
                    || it.folded == "pull"
                    || (it.is_code && self.wanted_name.is_some())
            });
        if self.is_library(read) {
            return package_acts(name).into();
        }
        // "Composition, not inheritance"
        if is_common_word(name) && !terms.iter().any(|it| it.is_code) {
            return Vec::new();
        }
        if adds || is_added {
            return package_acts(name).into();
        }
        let names = read.objects.iter().filter(|it| matches!(it, RuleObject::Name(_))).count();
        let is_named =
            !read.verbs.is_empty() || self.wanted.is_some() || self.wanted_name.is_some();
        if !(read.only_uses() && is_named && names <= 2) {
            return Vec::new();
        }
        run_act(&[name.to_owned()]).into_iter().chain(package_acts(name)).collect()
    }

    /// Options that are forbidden, each by itself. A short one means something else in each program.
    fn flag_acts(
        &self,
        flags: &[String],
        acts: &[ForbiddenAct],
        terms: &[RuleTerm<'_>],
    ) -> Vec<ForbiddenAct> {
        let context = self.context_of_flags(acts, terms);
        let is_known = |it: &&String| it.starts_with("--") || !context.program.is_empty();
        let known = flags.iter().filter(is_known);
        let pattern =
            |flag: &String| CommandPattern { flags: vec![flag.clone()], ..context.clone() };
        known.map(pattern).map(ForbiddenAct::Run).collect()
    }

    /// True if the wanted thing is a library, so that the forbidden one is.
    fn is_library(&self, read: &RuleSegment) -> bool {
        let names = self.wanted.iter().flatten().take(1).chain(&self.wanted_name);
        let is_library = |it: &String| !is_known_program(it) && is_tool(it);
        read.only_uses() && names.into_iter().any(is_library)
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
}

/// True for "nothing but pnpm", "never push to anything other than dev".
fn wants_what_it_names(terms: &[RuleTerm<'_>]) -> bool {
    let is_but = |word: &str| is_one_of(word, "but besides than als que");
    terms
        .iter()
        .enumerate()
        .any(|(at, it)| !it.is_code && (it.folded == "but" || (at > 0 && is_but(&it.folded))))
}

/// True if a negation is about the clause before it: "src/gen is generated, don't edit it".
fn is_about_last_clause(
    terms: &[RuleTerm<'_>],
    before: &[RuleTerm<'_>],
    read: &RuleSegment,
) -> bool {
    const PRONOUNS: &str = "it them those these es sie lo los le les";
    let small = WordClasses::STOP.or(WordClasses::LEAD).or(WordClasses::POLITE);
    let says_nothing = before.iter().all(|it| it.is(small) && it.verb().is_none());
    let points_back = terms.iter().any(|it| is_one_of(&it.folded, PRONOUNS));
    let on_files = [RuleVerb::Alter, RuleVerb::Touch, RuleVerb::Erase];
    let works_on_files = on_files.iter().any(|it| read.has(*it));
    says_nothing && (points_back || works_on_files || terms.is_empty())
}

/// Reads a segment whose objects stand before its verb.
fn read_passive(segment: &RawSegment<'_, '_>, all: &[RuleTerm<'_>]) -> RuleSegment {
    let mode = SegmentMode { is_passive: true, verb: segment.verb, ..SegmentMode::default() };
    let whole = RuleSegment::read(all, mode);
    let own: Vec<RuleVerb> =
        segment.terms.iter().filter_map(RuleTerm::verb).chain(segment.verb).collect();
    let verbs = if own.is_empty() { whole.verbs } else { own };
    RuleSegment { verbs, is_clear: true, ..whole }
}

fn run_act(words: &[String]) -> Option<ForbiddenAct> {
    CommandPattern::of_words(words).map(ForbiddenAct::Run)
}

/// Returns the acts for a forbidden command: it, and the package if it may be one.
fn command_acts(
    words: &[String],
    is_program: bool,
    adds: bool,
    read: &RuleSegment,
) -> Vec<ForbiddenAct> {
    let is_run = words.len() > 1
        || read.verbs.iter().all(|it| matches!(it, RuleVerb::Use | RuleVerb::Touch));
    let mut acts: Vec<ForbiddenAct> = run_act(words).filter(|_| is_run).into_iter().collect();
    let is_manager =
        FAMILIES.iter().any(|it| is_one_of(it.name, MANAGERS) && it.has_value(&words[0]));
    if words.len() == 1 && adds && is_manager {
        // "No pip installs"
        acts.extend(run_act(&[words[0].clone(), "install".to_owned()]));
    } else if words.len() == 1 && (!is_program || adds) {
        acts.extend(package_acts(&words[0]));
    }
    acts
}

/// Returns the act that must not be done with files.
fn path_act(
    terms: &[RuleTerm<'_>],
    read: &mut RuleSegment,
    mut paths: Vec<PathPattern>,
) -> Option<ForbiddenAct> {
    let is_new = terms.iter().any(RuleTerm::is_new);
    let creates = read.has(RuleVerb::Create) || is_new;
    // "Never create test files in src/" is about some of them.
    let file = terms.iter().position(|it| it.is(WordClasses::FILE));
    let is_any = file.is_some_and(|at| {
        terms[..at].iter().all(|it| {
            it.is(WordClasses::STOP.or(WordClasses::QUANTIFIER))
                || it.verb().is_some()
                || it.is_new()
        })
    });
    if paths.is_empty() && creates && is_any {
        paths = std::mem::take(&mut read.place.paths);
    }
    if paths.is_empty() {
        return None;
    }
    let is_existing = terms.iter().any(|it| {
        is_one_of(&it.folded, "existing old applied bestehende existant existantes existentes")
    });
    let of = if read.is_outside {
        PathSet { of: Vec::new(), except: paths }
    } else {
        PathSet { of: paths, except: Vec::new() }
    };
    let has = |verb| read.has(verb);
    let makes = |it: &RuleTerm<'_>| it.is(WordClasses::PRODUCE) && !it.folded.starts_with("writ");
    let changes = has(RuleVerb::Alter) || has(RuleVerb::Touch);
    // "Never *.spec.ts"
    let is_kind = read.verbs.is_empty() && of.of.iter().all(PathPattern::is_glob);
    Some(if has(RuleVerb::Commit) {
        ForbiddenAct::Stage(of)
    } else if has(RuleVerb::Erase) && !changes && !has(RuleVerb::Create) {
        ForbiddenAct::Remove(of)
    } else if has(RuleVerb::Alter) && is_existing {
        ForbiddenAct::ChangeExisting(of)
    } else if changes {
        ForbiddenAct::Change(of)
    } else if has(RuleVerb::Read) {
        ForbiddenAct::Read(of)
    } else if is_new || is_kind || terms.iter().any(makes) {
        ForbiddenAct::Create(of)
    } else if creates {
        ForbiddenAct::Change(of)
    } else {
        return None;
    })
}

/// Commands that install for the whole machine.
fn global_installs() -> Vec<ForbiddenAct> {
    const LINES: [&str; 7] = [
        "npm install -g", "pnpm add -g", "pnpm install -g", "bun add -g", "bun install -g",
        "yarn global add", "pip install --user",
    ];
    let words = LINES.iter().map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    words.filter_map(|it| CommandPattern::of_words(&it)).map(ForbiddenAct::Run).collect()
}

/// A package that must not be added or used.
fn package_acts(name: &str) -> [ForbiddenAct; 2] {
    [ForbiddenAct::Install(Some(name.to_owned())), ForbiddenAct::Import(name.to_owned())]
}
