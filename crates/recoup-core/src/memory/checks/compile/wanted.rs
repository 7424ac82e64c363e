//! Wanted segments: the command in place of the forbidden one, the option that must be there, the
//! command for a purpose, the only folder that may be changed.

use super::RuleReader;
use super::clause::RawSegment;
use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::command::CommandPattern;
use crate::memory::checks::path::{PathPattern, PathSet};
use crate::memory::checks::segment::{
    RuleObject, RuleSegment, RuleVerb, SegmentMode, is_tool, read_place,
};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::families::{FAMILIES, ValueFamily};
use crate::memory::lang::file_kinds::endings_of;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::ClauseEnd;
use crate::memory::shell::{RunCommand, programs_for_purpose};

/// Programs that run a project's own scripts.
const SCRIPT_RUNNERS: &str = "npm pnpm yarn bun";
/// Families of programs of which a project uses one.
pub(super) const MANAGERS: &str = "package-manager python-packages";

impl RuleReader<'_> {
    /// Reads what is wanted, for "use pnpm, not npm", and the place where a rule holds.
    pub(super) fn read_wanted(&mut self, segment: &RawSegment<'_, '_>, is_compared: bool) {
        for (at, term) in segment.terms.iter().enumerate() {
            if term.is(WordClasses::INSIDE.or(WordClasses::WITHIN))
                && !term.is_code
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
    pub(super) fn read_only(&mut self, terms: &[RuleTerm<'_>]) {
        let read = RuleSegment::read(terms, SegmentMode::default());
        let is_only =
            terms.iter().any(|it| it.is(WordClasses::ONLY) && it.ends == ClauseEnd::Nothing);
        let stays = terms.iter().any(|it| is_one_of(&it.folded, "work stay inside"));
        let works = read.has(RuleVerb::Alter)
            || read.has(RuleVerb::Touch)
            || read.has(RuleVerb::Create)
            || stays;
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

    /// Reads "always pass --locked to cargo build", "go test always with -race".
    pub(super) fn read_wanted_flags(
        &mut self,
        clause: &[RuleTerm<'_>],
        segments: &[RawSegment<'_, '_>],
    ) {
        // "X only with --y", but not "only use x --y here"
        let is_with = clause.windows(2).any(|it| {
            is_one_of(&it[0].folded, "with mit avec con") && (it[1].is_flag() || it[1].is_code)
        });
        let is_always = clause.iter().any(|it| {
            it.means("always every each must")
                || (it.is(WordClasses::ONLY) && (is_with || it.folded != "just"))
        });
        let is_restricted = clause.iter().any(|it| it.is(WordClasses::ONLY)) && !is_with;
        if is_restricted && clause.iter().any(RuleTerm::is_flag) {
            return;
        }
        let is_order =
            clause.first().is_some_and(|it| it.is(WordClasses::EMPLOY) || it.means("add include"));
        let ends_with_flag = clause.last().is_some_and(|it| it.is_flag() || it.is_code);
        let needs = clause.iter().any(|it| is_one_of(&it.folded, "needs requires require"));
        if !(is_always || needs || (is_order && ends_with_flag))
            || segments.iter().any(|it| it.negation.is_some())
        {
            return;
        }
        let plain: Vec<RuleTerm<'_>> = clause
            .iter()
            .filter(|it| !(it.is(WordClasses::ONLY) || it.means("always ever")))
            .cloned()
            .collect();
        let read =
            RuleSegment::read(&plain, SegmentMode { is_compared: true, ..SegmentMode::default() });
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
    pub(super) fn read_purpose(
        &mut self,
        clause: &[RuleTerm<'_>],
        segments: &[RawSegment<'_, '_>],
    ) {
        let Some(first) = segments.first().filter(|it| it.negation.is_none()) else { return };
        let read = RuleSegment::read(&first.terms, SegmentMode::default());
        let Some(RuleObject::Command(wanted, true)) = read.objects.last() else { return };
        let is_link =
            |it: &RuleTerm<'_>| it.is(WordClasses::VALUE_BEFORE) || it.folded == "through";
        let Some(at) =
            clause.iter().position(|it| !it.is_code && it.means("test format linter build"))
        else {
            return;
        };
        let is_named = |it: &RuleTerm<'_>| {
            it.text == wanted[0] || (it.is_code && it.text.starts_with(&wanted[0]))
        };
        let Some(command) = clause.iter().position(is_named) else { return };
        let (from, to) = (at.min(command), at.max(command));
        // "tests with make", "use make for tests"; the purpose is not a part of the command.
        let is_part = !clause[command].is_code && (command..command + wanted.len()).contains(&at);
        let is_unspaced = clause[from..=to].iter().any(RuleTerm::is_unspaced);
        let is_linked = is_unspaced
            || at < command && clause[from..to].iter().any(is_link)
            || at > command
                && (clause[from..to]
                    .iter()
                    .any(|it| is_one_of(&it.folded, "to for fur pour para"))
                    || (clause[to - 1].is(WordClasses::STOP)
                        && clause[..from].iter().any(is_link)));
        let language = at.checked_sub(1).map(|it| &clause[it]).filter(|it| !it.is_code);
        let is_narrow = language.is_some_and(|it| {
            endings_of(&it.folded).is_none()
                && !it.is(WordClasses::STOP.or(WordClasses::DETERMINER))
                && !it.is_unspaced()
                && it.verb().is_none()
                && !it.is_joint()
        });
        if is_part || !is_linked || is_narrow {
            return;
        }
        let purpose =
            ["test", "format", "linter", "build"].into_iter().find(|it| clause[at].means(it));
        let purpose = purpose.unwrap_or_default().trim_end_matches("er");
        let language = language.map_or("", |it| it.folded.as_str());
        self.alternatives.extend(alternatives(purpose, language, wanted));
        self.wanted.get_or_insert_with(|| wanted.clone());
    }
}

/// Forbids the other values of a family where only one is wanted: "pnpm only".
fn other_values(terms: &[RuleTerm<'_>], read: &RuleSegment) -> Vec<ForbiddenAct> {
    let is_only = terms
        .iter()
        .any(|it| is_one_of(&it.folded, "only exclusively nur solo") || it.means("always"));
    let is_said = |it: &RuleTerm<'_>| {
        it.is(WordClasses::STOP
            .or(WordClasses::PROJECT)
            .or(WordClasses::POLITE)
            .or(WordClasses::ONLY))
            || it.verb() == Some(RuleVerb::Use)
            || it.means("always")
            || is_tool(&it.folded)
    };
    let is_only = is_only && terms.iter().all(is_said);
    // "Our package manager is pnpm"
    let is_topic =
        terms.windows(2).any(|pair| pair[0].folded == "package" && pair[1].folded == "manager");
    // "All package operations go through uv"
    let is_managed = terms.iter().any(RuleTerm::is_package_noun)
        && terms.iter().any(|it| is_one_of(&it.folded, "through with via using by mit avec con"));
    let is_only = is_only || is_topic || is_managed;
    let [RuleObject::Command(words, _)] = &read.objects[..] else { return Vec::new() };
    let is_plain = is_only && words.len() == 1 && read.only_uses();
    let family = FAMILIES.iter().find(|it| is_one_of(it.name, MANAGERS) && it.has_value(&words[0]));
    let values = family.filter(|_| is_plain).into_iter().flat_map(ValueFamily::values);
    let others = values.filter(|it| *it != words[0]).map(|it| vec![it.to_owned()]);
    others.filter_map(|it| CommandPattern::of_words(&it)).map(ForbiddenAct::Run).collect()
}

/// Returns an act without what is wanted; `None` if nothing is left of it.
pub(super) fn spare(act: ForbiddenAct, wanted: &[String]) -> Option<ForbiddenAct> {
    let ForbiddenAct::Run(mut pattern) = act else { return Some(act) };
    let line = RunCommand { words: wanted.to_vec(), ..Default::default() };
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
    let is_meant =
        |of: &str| (named.is_empty() || of == named) && (own.is_empty() || own.contains(&of));
    let commands = lists.into_iter().filter(|it| is_meant(it.0)).flat_map(|it| it.1.split(' '));
    let words = commands.map(|it| it.split('/').map(str::to_owned).collect::<Vec<_>>());
    // What the wanted command is a case of, or what is a case of it, is not another one.
    let others = words.filter(|it| {
        let is_same = wanted.starts_with(it) || it.starts_with(wanted);
        !(is_same || (is_tool && is_script(it)))
    });
    let mut acts: Vec<ForbiddenAct> =
        others.filter_map(|it| CommandPattern::of_words(&it)).map(ForbiddenAct::Run).collect();
    acts.sort_by_key(ToString::to_string);
    acts
}
