//! From the words of a rule to what it forbids. The roles of its words tell what is a command, a path,
//! a place or a condition. Whatever is conditional or not certain gives no check: a wrong one costs
//! more trust than a missing one.

mod acts;
mod commands;
mod git_words;
mod places;

use commands::{alternatives, command_lines, flags_in, other_values};
use places::{read_paths, read_place};

use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::command::{AllowedCommand, CommandPattern};
use crate::memory::checks::path::{CheckPlace, PathPattern, PathSet};
use crate::memory::checks::roles::{ROLES, RoleShares, TermRole, read_roles};
use crate::memory::checks::terms::{RuleTerm, split_terms};
use crate::memory::checks::{CHECK_VERSION, RuleCheck};
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::ClauseEnd;

/// Longest rule that is read, in bytes.
const LONGEST: usize = 600;
/// Probability of a condition from which there is no check.
const CONDITION: f32 = 0.3;
/// Probability of a place or an exception from which its word must be read as one.
const LIMIT: f32 = 0.3;
/// Probability of a limit from which a path, which is seldom named for nothing, must be read as one.
const PATH_LIMIT: f32 = 0.2;
/// Probability from which a word may go on with the words before it.
const MORE: f32 = 0.15;
/// Least probability of what is forbidden.
const SURE: f32 = 0.72;

/// Words that are no values of options.
const NO_VALUES: WordClasses =
    WordClasses::STOP.or(WordClasses::PREPOSITION).or(WordClasses::POLITE);

/// Words that have one role.
#[derive(Debug, Clone, Copy)]
struct RoleSpan<'a, 't> {
    role: TermRole,
    terms: &'a [RuleTerm<'t>],
    /// Number of its first term.
    at: usize,
    /// Mean probability of the role.
    share: f32,
}

/// Compiles a rule for the files of a glob.
pub(super) fn compile_rule(text: &str, paths: Option<&str>) -> Option<RuleCheck> {
    if text.len() > LONGEST {
        return None;
    }
    let terms = split_terms(text);
    compile_roles(text, &terms, &read_roles(&terms)?, paths)
}

/// Compiles a rule whose terms have the roles that `shares` tells.
pub(super) fn compile_roles(
    text: &str,
    terms: &[RuleTerm<'_>],
    shares: &[RoleShares],
    paths: Option<&str>,
) -> Option<RuleCheck> {
    if text.trim_end().ends_with(['?', '？']) {
        return None;
    }
    let spans = role_spans(shares, terms)?;
    let mut reader = RuleReader::new(&spans);
    reader.read_limits()?;
    if let Some(glob) = paths {
        reader.place.paths = vec![PathPattern::new(glob)?];
        reader.place.endings.clear();
    }
    reader.read_wanted();
    reader.read_forbidden();
    reader.finish()
}

/// Groups terms by their roles; `None` if there is a condition, or what may be a limit.
fn role_spans<'a, 't>(
    shares: &[RoleShares],
    terms: &'a [RuleTerm<'t>],
) -> Option<Vec<RoleSpan<'a, 't>>> {
    let share_of = |shares: &RoleShares, role: TermRole| shares[role as usize];
    let best = |shares: &RoleShares| {
        let best = shares.iter().zip(ROLES).max_by(|a, b| a.0.total_cmp(b.0));
        best.map_or(TermRole::None, |(_, (_, role))| role)
    };
    let roles: Vec<TermRole> = shares.iter().map(best).collect();
    for (at, (own, role)) in shares.iter().zip(&roles).enumerate() {
        if share_of(own, TermRole::If) >= CONDITION {
            return None;
        }
        let limits = [TermRole::In, TermRole::Except, TermRole::Only];
        let limits: f32 = limits.iter().map(|it| share_of(own, *it)).sum();
        let least = if terms[at].path().is_some() { PATH_LIMIT } else { LIMIT };
        // A word that may go on with what is forbidden would narrow it: `adb uninstall`.
        let is_before = |it: &usize| terms[*it].ends == ClauseEnd::Nothing;
        let before = at.checked_sub(1).filter(is_before).map(|it| roles[it]);
        let may_go_on = before.is_some_and(|it| it != TermRole::None && share_of(own, it) >= MORE);
        // What is behind an option may be its value.
        let is_option = |it: &usize| {
            let term = &terms[*it];
            is_before(it)
                && term.is_flag()
                && !term.text.contains('=')
                && roles[*it] == TermRole::Flag
        };
        let may_be_value = at.checked_sub(1).as_ref().is_some_and(is_option)
            && !terms[at].is(NO_VALUES)
            && !terms[at].means("flag option")
            && !terms[at].is_joint();
        let is_free = *role == TermRole::None;
        if is_free && (limits >= least || may_go_on) || may_be_value {
            return None;
        }
    }
    let mut spans = Vec::new();
    let mut from = 0;
    for at in 1..=terms.len() {
        let is_end = at == terms.len()
            || roles[at] != roles[from]
            || terms[at - 1].ends != ClauseEnd::Nothing
            || (terms[at].is_code && terms[at - 1].is_code);
        if !is_end {
            continue;
        }
        if roles[from] != TermRole::None {
            let sum: f32 = shares[from..at].iter().map(|it| share_of(it, roles[from])).sum();
            #[expect(clippy::cast_precision_loss, reason = "a rule has few terms")]
            let share = sum / (at - from) as f32;
            spans.push(RoleSpan { role: roles[from], terms: &terms[from..at], at: from, share });
        }
        from = at;
    }
    Some(spans)
}

/// Collects what a rule forbids.
struct RuleReader<'a, 't> {
    spans: &'a [RoleSpan<'a, 't>],
    acts: Vec<ForbiddenAct>,
    place: CheckPlace,
    allowed: Vec<AllowedCommand>,
    /// Options that make a forbidden command right.
    allowed_flags: Vec<String>,
    /// Paths that make it right as arguments.
    allowed_words: Vec<String>,
    /// Words of the command that is wanted.
    wanted: Option<Vec<String>>,
    wanted_lines: Vec<Vec<String>>,
    instead: Option<String>,
}

impl<'a, 't> RuleReader<'a, 't> {
    fn new(spans: &'a [RoleSpan<'a, 't>]) -> Self {
        Self {
            spans,
            acts: Vec::new(),
            place: CheckPlace::default(),
            allowed: Vec::new(),
            allowed_flags: Vec::new(),
            allowed_words: Vec::new(),
            wanted: None,
            wanted_lines: Vec::new(),
            instead: None,
        }
    }

    fn spans_of(&self, role: TermRole) -> impl Iterator<Item = &'a RoleSpan<'a, 't>> + use<'a, 't> {
        self.spans.iter().filter(move |it| it.role == role)
    }

    /// Reads places and exceptions; `None` if one is not understood.
    fn read_limits(&mut self) -> Option<()> {
        for span in self.spans_of(TermRole::In) {
            self.place.extend(read_place(span.terms)?);
        }
        for span in self.spans_of(TermRole::Except) {
            let lines = command_lines(span.terms);
            if !lines.is_empty() && lines.iter().all(|it| it[0].starts_with('-')) {
                self.allowed_flags.extend(lines.into_iter().flatten());
            } else if lines.iter().any(|it| commands::is_program(&it[0])) {
                self.allowed.extend(lines.iter().filter_map(|it| AllowedCommand::of_words(it)));
                self.wanted_lines.extend(lines);
            } else if let Some(place) = read_place(span.terms) {
                let endings = place.endings.iter().map(|it| format!("*.{it}"));
                self.place.except.extend(endings.filter_map(|it| PathPattern::new(&it)));
                self.place.except.extend(place.paths);
                self.place.except_tests |= place.tests;
                let paths = span.terms.iter().filter(|it| it.path().is_some() || it.is_code);
                let names = paths.map(|it| it.text.trim_end_matches('/').to_owned());
                self.allowed_words.extend(names.flat_map(|it| [format!("{it}/"), it]));
            } else {
                return None;
            }
        }
        Some(())
    }

    /// Reads what is wanted, which is right whatever is forbidden.
    fn read_wanted(&mut self) {
        let roles = [TermRole::Want, TermRole::Sole];
        for span in self.spans.iter().filter(|it| roles.contains(&it.role)) {
            for line in command_lines(span.terms) {
                self.allowed.extend(AllowedCommand::of_words(&line));
                self.wanted_lines.push(line.clone());
                self.instead.get_or_insert_with(|| line.join(" "));
                self.wanted.get_or_insert(line);
            }
        }
    }

    fn read_forbidden(&mut self) {
        let sure = self.spans.iter().filter(|it| it.share >= SURE);
        for span in sure {
            match span.role {
                TermRole::Sole => {
                    for line in command_lines(span.terms) {
                        self.acts.extend(other_values(&line[0]));
                    }
                }
                TermRole::Purpose => {
                    if let Some(wanted) = &self.wanted {
                        self.acts.extend(alternatives(span.terms, &self.place, wanted));
                    }
                }
                TermRole::Flag => {
                    let of = self.command_near(span.at, &[TermRole::Of]);
                    self.acts.extend(acts::flag_acts(span.terms, of.as_deref()));
                }
                TermRole::Need => self.read_needed(span),
                role => self.acts.extend(acts::acts_of(role, span.terms, &self.place)),
            }
        }
        let only: Vec<PathPattern> =
            self.spans_of(TermRole::Only).flat_map(|it| read_paths(it.terms)).collect();
        if only.is_empty() {
            return;
        }
        // "Only x in y": of what is forbidden, x is right.
        let mut has_files = false;
        for paths in self.acts.iter_mut().filter_map(ForbiddenAct::changed_files) {
            paths.except.extend(only.iter().cloned());
            has_files = true;
        }
        if !has_files {
            self.acts.push(ForbiddenAct::Change(PathSet { of: Vec::new(), except: only }));
        }
    }

    /// Reads options that must be given: their command is forbidden without each.
    fn read_needed(&mut self, span: &RoleSpan<'_, '_>) {
        let commands = [TermRole::Of, TermRole::Run, TermRole::Want, TermRole::Sole];
        let Some(of) = self.command_near(span.at, &commands) else { return };
        for flag in flags_in(span.terms) {
            let Some(mut pattern) = CommandPattern::of_words(&of) else { return };
            let given = CommandPattern::of_words(&[&of[..1], std::slice::from_ref(&flag)].concat());
            pattern.without = given.map_or_else(Vec::new, |it| it.flags);
            // The pattern is of the command as such: `cargo build --locked` itself is right.
            pattern.flags.retain(|it| !pattern.without.contains(it));
            self.instead = Some([of.join(" "), flag].join(" "));
            self.acts.push(ForbiddenAct::Run(pattern));
        }
    }

    /// Returns the words of the nearest command that has one of these roles, the first of them first.
    fn command_near(&self, at: usize, roles: &[TermRole]) -> Option<Vec<String>> {
        roles.iter().find_map(|role| {
            let nearest = self.spans_of(*role).min_by_key(|it| it.at.abs_diff(at))?;
            command_lines(nearest.terms).into_iter().next()
        })
    }

    fn finish(mut self) -> Option<RuleCheck> {
        let mut forbidden: Vec<ForbiddenAct> = Vec::new();
        git_words::restrict_force(&mut self.acts);
        acts::restrict_to_hosts(&mut self.acts);
        for mut act in std::mem::take(&mut self.acts) {
            if let ForbiddenAct::Run(pattern) = &mut act {
                if self.is_allowed(pattern) {
                    continue;
                }
                pattern.without.extend(self.allowed_flags.iter().cloned());
                pattern.without.extend(self.allowed_words.iter().cloned());
                pattern.without.extend(self.started_by(pattern));
            }
            if !forbidden.contains(&act) {
                forbidden.push(act);
            }
        }
        let is_rule = !forbidden.is_empty() && !is_contradictory(&forbidden);
        is_rule.then_some(RuleCheck {
            version: CHECK_VERSION,
            forbidden,
            place: self.place,
            allowed: self.allowed,
            instead: self.instead,
        })
    }

    /// Returns the programs that a forbidden one may start: "no sudo, except `sudo apt-get`".
    fn started_by(&self, pattern: &CommandPattern) -> Vec<String> {
        let lines = self.wanted_lines.iter().filter(|it| it[0] == pattern.program);
        let started = lines.filter_map(|it| it.get(1)).filter(|it| !it.starts_with('-'));
        if pattern.words.is_empty() { started.cloned().collect() } else { Vec::new() }
    }

    /// True if the rule wants the command or one of its options: no call tells both apart.
    fn is_allowed(&self, pattern: &CommandPattern) -> bool {
        let is_placeholder =
            |it: &String| !it.contains(|c: char| c.is_alphanumeric()) || it.starts_with('<');
        let is_same = |line: &Vec<String>| {
            let plain: Vec<String> =
                line.iter().filter(|it| !is_placeholder(it)).cloned().collect();
            CommandPattern::of_words(&plain).is_some_and(|wanted| {
                wanted.program == pattern.program
                    && wanted.words == pattern.words
                    && wanted.flags == pattern.flags
            })
        };
        let wants_more = |line: &&Vec<String>| line.iter().any(is_placeholder);
        pattern.flags.iter().any(|it| self.allowed_flags.contains(it))
            || self.wanted_lines.iter().filter(wants_more).any(is_same)
    }
}

/// True if a program is forbidden and one of its commands as well: one of both was meant in another way,
/// as in "no sudo but for `sudo apt-get`".
fn is_contradictory(forbidden: &[ForbiddenAct]) -> bool {
    let runs: Vec<&CommandPattern> = forbidden
        .iter()
        .filter_map(|act| match act {
            ForbiddenAct::Run(pattern) => Some(pattern),
            _ => None,
        })
        .collect();
    let is_bare = |it: &CommandPattern| {
        let has_more = !(it.words.is_empty() && it.flags.is_empty() && it.without.is_empty());
        !it.program.is_empty() && !has_more
    };
    let has_command = |bare: &CommandPattern| {
        runs.iter().any(|it| it.program == bare.program && !it.words.is_empty())
    };
    runs.iter().any(|it| is_bare(it) && has_command(it))
}
