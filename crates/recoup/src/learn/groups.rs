//! Groups what was said several times, also in other words and in several projects, and leaves out
//! what memory knows already.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::memory::db::dedup::says_the_same;
use recoup_core::memory::db::earlier::{EarlierStanding, standing_among};
use recoup_core::memory::db::facets::derive_topic;
use recoup_core::memory::{
    HookClient, Memory, Note, NoteFilter, NoteId, NoteScope, NoteStatus, Statement,
};

use super::places::PromptPlace;
use super::prompts::HeardPrompt;
use super::replay::{ReplayedNotes, StatedAt};
use crate::transcripts::parallel::ReadAmount;

/// Fewest times that something must have been said to be shown by itself.
const FEWEST_TIMES: usize = 2;

/// One time that a rule was stated.
#[derive(Debug, Clone)]
pub(crate) struct RuleQuote {
    pub(crate) text: String,
    pub(crate) at: Timestamp,
    pub(crate) client: HookClient,
    pub(crate) session: String,
    /// Index of its project.
    pub(crate) place: usize,
}

/// Another rule that this one has replaced.
#[derive(Debug, Clone)]
pub(crate) struct OlderRule {
    pub(crate) text: String,
    pub(crate) times: usize,
    pub(crate) last: Timestamp,
}

/// A rule that the user has stated, in its latest wording.
#[derive(Debug, Clone)]
pub(crate) struct LearnedRule {
    pub(crate) statement: Statement,
    /// All times that it was stated, the first one first.
    pub(crate) quotes: Vec<RuleQuote>,
    /// Rules that it has replaced, the latest first.
    pub(crate) older: Vec<OlderRule>,
    /// True if the words say that it holds in all projects.
    pub(crate) is_universal: bool,
    /// Projects in which memory lacks it, and in which it can be kept, in the order of their paths.
    pub(crate) places: Vec<usize>,
}

impl LearnedRule {
    pub(crate) fn sessions(&self) -> usize {
        self.quotes.iter().map(|it| &it.session).collect::<HashSet<_>>().len()
    }

    pub(crate) fn first_said(&self) -> Timestamp {
        self.quotes.first().map_or(Timestamp::from_millis(0), |it| it.at)
    }

    pub(crate) fn last_said(&self) -> Timestamp {
        self.quotes.last().map_or(Timestamp::from_millis(0), |it| it.at)
    }

    /// All projects in which it was stated.
    pub(crate) fn stated_places(&self) -> BTreeSet<usize> {
        self.quotes.iter().map(|it| it.place).collect()
    }

    pub(crate) fn is_repeated(&self) -> bool {
        self.quotes.len() >= FEWEST_TIMES
    }
}

/// Rules that were found, and what was left out.
#[derive(Debug, Default)]
pub(crate) struct LearnFindings {
    /// Rules that memory lacks, those that were stated in most sessions first.
    pub(crate) rules: Vec<LearnedRule>,
    pub(crate) places: Vec<PromptPlace>,
    /// Number of transcripts.
    pub(crate) files: usize,
    pub(crate) amount: ReadAmount,
    /// Numbers of repeated rules that are known, outdated, or given up, and of those whose projects
    /// are all gone.
    pub(crate) known: usize,
    pub(crate) outdated: usize,
    pub(crate) given_up: usize,
    pub(crate) gone: usize,
    /// Every rule that was repeated, with all its quotes, whether or not it is known.
    pub(crate) repeated: Vec<LearnedRule>,
}

/// Rules of the replayed notes.
pub(super) fn gather_rules(
    memory: &Memory,
    replayed: &ReplayedNotes,
    prompts: &[HeardPrompt],
    places: Vec<PromptPlace>,
) -> Result<LearnFindings> {
    let now = SystemClock.now();
    let mut rules: Vec<LearnedRule> = Vec::new();
    let mut by_topic: HashMap<String, Vec<usize>> = HashMap::new();
    let successions = Successions::of(replayed);
    for note in replayed.notes.iter().filter(|it| it.status == NoteStatus::Active) {
        let Some(rule) = successions.rule_of(note, prompts).filter(|_| !note.has_ended(now)) else {
            continue;
        };
        let topic = derive_topic(&note.text).unwrap_or_else(|| note.text.to_lowercase());
        let alike = by_topic.entry(topic).or_default();
        let is_same = |other: &LearnedRule| {
            other.statement.paths == rule.statement.paths
                && says_the_same(&other.statement.text, &rule.statement.text)
        };
        if let Some(at) = alike.iter().copied().find(|at| is_same(&rules[*at])) {
            merge(&mut rules[at], rule);
        } else {
            alike.push(rules.len());
            rules.push(rule);
        }
    }
    rules.sort_by_key(|it| Reverse((it.sessions(), it.quotes.len(), it.last_said())));
    let repeated = rules.iter().filter(|it| it.is_repeated()).cloned().collect();
    let mut findings = LearnFindings { places, repeated, ..LearnFindings::default() };
    let mut known_notes = KnownNotes { memory, by_scope: HashMap::new() };
    for mut rule in rules {
        let standing = known_notes.settle_places(&mut rule, &findings.places)?;
        let count = match standing {
            Some(EarlierStanding::New) => {
                findings.rules.push(rule);
                continue;
            }
            Some(EarlierStanding::Known) => &mut findings.known,
            Some(EarlierStanding::Outdated) => &mut findings.outdated,
            Some(EarlierStanding::GivenUp) => &mut findings.given_up,
            None => &mut findings.gone,
        };
        *count += usize::from(rule.is_repeated());
    }
    Ok(findings)
}

/// Adds what was said in another project.
fn merge(rule: &mut LearnedRule, other: LearnedRule) {
    if other.last_said() > rule.last_said() {
        rule.statement = other.statement;
    }
    rule.is_universal |= other.is_universal;
    rule.quotes.extend(other.quotes);
    rule.quotes.sort_by_key(|it| it.at);
    for older in other.older {
        match rule.older.iter_mut().find(|it| it.text == older.text) {
            Some(same) => {
                (same.times, same.last) = (same.times + older.times, same.last.max(older.last));
            }
            None => rule.older.push(older),
        }
    }
    rule.older.sort_by_key(|it| Reverse(it.last));
}

/// Notes of a replay, by the note that replaced them.
struct Successions<'a> {
    stated: &'a HashMap<NoteId, Vec<StatedAt>>,
    by_successor: HashMap<&'a NoteId, Vec<&'a Note>>,
}

impl<'a> Successions<'a> {
    fn of(replayed: &'a ReplayedNotes) -> Self {
        let mut by_successor: HashMap<&NoteId, Vec<&Note>> = HashMap::new();
        for note in replayed.notes.iter().filter(|it| it.status == NoteStatus::Superseded) {
            if let Some(by) = &note.superseded_by {
                by_successor.entry(by).or_default().push(note);
            }
        }
        Self { stated: &replayed.stated, by_successor }
    }

    /// The rule of a note: with the times of what it has replaced and says the same.
    fn rule_of(&self, note: &Note, prompts: &[HeardPrompt]) -> Option<LearnedRule> {
        let own = self.stated.get(&note.id)?;
        let mut stated = own.clone();
        let (mut older, mut seen) = (Vec::new(), HashSet::from([&note.id]));
        let mut left: Vec<&Note> = self.by_successor.get(&note.id).cloned().unwrap_or_default();
        while let Some(other) = left.pop() {
            if !seen.insert(&other.id) {
                continue;
            }
            left.extend(self.by_successor.get(&other.id).into_iter().flatten());
            let times = self.stated.get(&other.id).map(Vec::as_slice).unwrap_or_default();
            if says_the_same(&note.text, &other.text) {
                stated.extend(times);
            } else if let Some(last) = times.iter().map(|it| prompts[it.prompt].at).max() {
                older.push(OlderRule { text: other.text.clone(), times: times.len(), last });
            }
        }
        stated.sort_unstable();
        older.sort_by_key(|it| Reverse(it.last));
        let latest = own.iter().max()?;
        let of = |it: &StatedAt| &prompts[it.prompt].statements[it.statement];
        let statement = Statement {
            text: note.text.clone(),
            scope: note.scope.clone(),
            tentative: false,
            lasting: true,
            ..of(latest).clone()
        };
        let quotes = stated.iter().map(|it| {
            let (said, prompt) = (of(it), &prompts[it.prompt]);
            RuleQuote {
                text: said.quote.clone().unwrap_or_else(|| said.text.clone()),
                at: prompt.at,
                client: prompt.client,
                session: prompt.session.clone(),
                place: prompt.place,
            }
        });
        Some(LearnedRule {
            quotes: quotes.collect(),
            is_universal: note.scope == NoteScope::Universal,
            statement,
            older,
            places: Vec::new(),
        })
    }
}

/// Notes that the user's memory has, by scope.
struct KnownNotes<'a> {
    memory: &'a Memory,
    by_scope: HashMap<NoteScope, Vec<Note>>,
}

impl KnownNotes<'_> {
    /// Sets the projects in which memory lacks a rule. Returns its standing: new if memory lacks it
    /// anywhere; none if its projects are all gone.
    fn settle_places(
        &mut self,
        rule: &mut LearnedRule,
        places: &[PromptPlace],
    ) -> Result<Option<EarlierStanding>> {
        if rule.is_universal {
            return self.standing(rule, &NoteScope::Universal).map(Some);
        }
        let mut least = None;
        let mut open: Vec<usize> = Vec::new();
        for place in rule.stated_places() {
            if places[place].is_gone {
                continue;
            }
            let standing = self.standing(rule, &places[place].scope())?;
            if standing == EarlierStanding::New {
                open.push(place);
            }
            least = least.into_iter().chain([standing]).min();
        }
        open.sort_by_key(|at| -> PathBuf { places[*at].root.clone() });
        rule.places = open;
        Ok(least)
    }

    fn standing(&mut self, rule: &LearnedRule, scope: &NoteScope) -> Result<EarlierStanding> {
        let (text, said) = (&rule.statement.text, rule.last_said());
        if self.memory.is_forgotten(scope, text, said)? {
            return Ok(EarlierStanding::GivenUp);
        }
        if !self.by_scope.contains_key(scope) {
            let wanted = NoteFilter { statuses: Vec::new(), ..NoteFilter::active_in(scope) };
            self.by_scope.insert(scope.clone(), self.memory.notes(&wanted)?);
        }
        Ok(standing_among(&self.by_scope[scope], text, said))
    }
}
