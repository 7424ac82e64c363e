//! Selection of the rules that apply somewhere, without reading all notes.

use std::collections::HashSet;

use rusqlite::params;

use crate::base::clock::Timestamp;
use crate::base::project::{Project, ProjectId};
use crate::error::Result;
use crate::memory::db::note_rows;
use crate::memory::db::schema::BY_IMPORTANCE;
use crate::memory::db::sql::SqlContext as _;
use crate::memory::db::store::{Memory, NoteFilter};
use crate::memory::db::transfer;
use crate::memory::model::note::{Note, NoteScope, NoteTrust};
use crate::memory::recall::inject::{
    BlockBudget, InjectionContext, RulesBlock, ScoredNote, by_importance, concerns_files,
    is_about_action,
};
use crate::memory::recall::search::{self, SearchQuery};

const READING_RULES: &str = "cannot read the rules";

/// Most related notes that are searched for those that a context does not have yet.
const FITTING: usize = 12;

/// Most new notes that are read; more would not fit into one context.
const LATEST: usize = 200;

/// Most notes with the name of an action that are looked at, and the score of one about it: enough,
/// but less than one that shares more words with a call.
const MOST_ABOUT_ACTION: usize = 48;
const ACTION_SCORE: f64 = 0.55;

/// How many rules for certain files are looked at.
const FOR_FILES: usize = 256;

impl Memory {
    /// The rules of a scope and of everywhere, the most important first: as many as the budget has
    /// room for, and at least one more if there are more.
    pub fn rules(&self, scope: &NoteScope, budget: BlockBudget) -> Result<Vec<Note>> {
        let mut rules = self.read(|connection| {
            let mut rules = Vec::new();
            let sql = format!("SELECT {} FROM notes WHERE {BY_IMPORTANCE}", note_rows::COLUMNS);
            for scope in NoteFilter::active_in(scope).scopes {
                let mut statement = connection.prepare_cached(&sql).doing(READING_RULES)?;
                let mut found = statement.query([scope.to_string()]).doing(READING_RULES)?;
                // Until the budget is spent: a rule takes more room than its own tokens.
                let mut tokens = 0_u32;
                while tokens <= budget.tokens
                    && let Some(row) = found.next().doing(READING_RULES)?
                {
                    // A word that only a later version knows must not hide the others.
                    let Ok(kept) = note_rows::read(row).doing(READING_RULES)? else { continue };
                    tokens = tokens.saturating_add(kept.note.tokens);
                    rules.push(kept.note);
                }
            }
            Ok(rules)
        })?;
        rules.retain(|note| !note.has_ended(self.now()));
        // A universal rule gives way to a rule of the project on its topic, unless an agent
        // recorded that for the user.
        let here: HashSet<String> = rules
            .iter()
            .filter(|note| note.scope != NoteScope::Universal && note.paths.is_none())
            .filter(|note| note.trust() != NoteTrust::Recorded)
            .filter_map(|note| note.topic.clone())
            .collect();
        let overruled = |topic: &String| here.contains(topic);
        rules.retain(|note| {
            note.scope != NoteScope::Universal || !note.topic.as_ref().is_some_and(overruled)
        });
        rules.sort_by(by_importance);
        Ok(rules)
    }

    /// Block of rules with which a session in `project` begins; none if there are no rules.
    pub fn rules_block(
        &self,
        project: &Project,
        budget: BlockBudget,
    ) -> Result<Option<RulesBlock>> {
        let rules = self.rules(&NoteScope::Project(project.id().clone()), budget)?;
        Ok(RulesBlock::in_project(&rules, project, &HashSet::new(), budget))
    }

    /// Block of rules for a project other than the current one, whose files are unknown.
    pub fn rules_block_elsewhere(
        &self,
        id: &ProjectId,
        budget: BlockBudget,
    ) -> Result<Option<RulesBlock>> {
        let rules = self.rules(&NoteScope::Project(id.clone()), budget)?;
        let context = InjectionContext { project: Some(id), given: &HashSet::new(), budget };
        Ok(RulesBlock::select(&rules, &context, |_| None))
    }

    /// The rules of a scope and of everywhere that were said, changed or imported after `then`, the
    /// most important first.
    pub fn rules_since(&self, then: Timestamp, scope: &NoteScope) -> Result<Vec<Note>> {
        let wanted = format!(
            "scope IN (?1, 'universal') AND status = 'active' AND updated > ?2
             ORDER BY updated DESC, row DESC LIMIT {LATEST}"
        );
        let arrived = format!(
            "row BETWEEN ?2 AND ?3 AND scope IN (?1, 'universal') AND status = 'active'
             AND updated <= ?4 LIMIT {LATEST}"
        );
        let mut rules = self.read(|connection| {
            let mut found = note_rows::find_notes(connection, &wanted, params![scope, then])?;
            for batch in transfer::imported_since(connection, then)? {
                let values = params![scope, batch.first, batch.last, then];
                found.extend(note_rows::find_notes(connection, &arrived, values)?);
            }
            Ok(found)
        })?;
        rules.retain(|note| !note.has_ended(self.now()));
        rules.sort_by(by_importance);
        Ok(rules)
    }

    /// Notes that are about the same thing as a text, the best first; mostly none.
    pub fn related_notes(&self, text: &str, scope: &NoteScope) -> Result<Vec<ScoredNote>> {
        let scopes = NoteFilter::active_in(scope).scopes;
        let query = SearchQuery {
            scopes: &scopes,
            trust: NoteTrust::Inferred,
            limit: FITTING,
            ..SearchQuery::new(text)
        };
        let found = self.notes_of_hits(|it| search::find_fitting_notes(it, &query))?;
        Ok(self.scored_notes(found.into_iter().map(|(note, hit)| (note, f64::from(hit.fit)))))
    }

    /// Rules about what a call does, by the names of its actions.
    pub fn rules_for_actions(
        &self,
        actions: &[&str],
        scope: &NoteScope,
    ) -> Result<Vec<ScoredNote>> {
        let scopes = NoteFilter::active_in(scope).scopes;
        let mut rules = Vec::new();
        for action in actions {
            let trust = NoteTrust::Inferred;
            let query = SearchQuery {
                scopes: &scopes,
                trust,
                limit: MOST_ABOUT_ACTION,
                ..SearchQuery::new(action)
            };
            let found = self.notes_of_hits(|it| search::find_by_words(it, &query))?;
            let about = found.into_iter().filter(|(note, _)| is_about_action(&note.text, action));
            rules.extend(about.map(|(note, _)| (note, ACTION_SCORE)));
        }
        Ok(self.scored_notes(rules))
    }

    /// Rules for certain files that apply to one of `touched`, paths from the project's root:
    /// whoever touches such a file needs them, whatever their words.
    pub fn rules_for_files(&self, touched: &[&str], scope: &NoteScope) -> Result<Vec<ScoredNote>> {
        if touched.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = format!(
            "scope IN (?1, 'universal') AND paths > '' AND status = 'active'
             ORDER BY updated DESC, row DESC LIMIT {FOR_FILES}"
        );
        let mut found =
            self.read(|connection| note_rows::find_notes(connection, &wanted, [scope]))?;
        found.retain(|note| note.trust() > NoteTrust::Untrusted && concerns_files(note, touched));
        Ok(self.scored_notes(found.into_iter().map(|note| (note, 1.0))))
    }

    /// Notes with their scores, without those that have ended.
    fn scored_notes(&self, found: impl IntoIterator<Item = (Note, f64)>) -> Vec<ScoredNote> {
        let now = self.now();
        let current = found.into_iter().filter(|(note, _)| !note.has_ended(now));
        current.map(|(note, score)| ScoredNote { note, score }).collect()
    }
}
