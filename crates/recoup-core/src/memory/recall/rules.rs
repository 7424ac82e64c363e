//! Selection of the rules that apply somewhere, without reading all notes.

use std::collections::HashSet;

use rusqlite::params;

use crate::base::clock::Timestamp;
use crate::base::project::{Project, ProjectId};
use crate::error::Result;
use crate::memory::db::note_rows;
use crate::memory::db::note_rows::StoredNote;
use crate::memory::db::schema::BY_IMPORTANCE;
use crate::memory::db::sql::SqlContext as _;
use crate::memory::db::store::{Memory, NoteFilter};
use crate::memory::db::transfer;
use crate::memory::model::note::{Note, NoteScope, NoteTrust};
use crate::memory::recall::inject::{
    BlockBudget, InjectionContext, RuleCandidate, RulesBlock, TouchedFiles, by_importance,
    is_about_action,
};
use crate::memory::recall::search;
use crate::memory::recall::search::SearchQuery;

const READING_RULES: &str = "cannot read the rules";

/// Most related notes that are searched for those that a context does not have yet.
const FITTING: usize = 12;

/// Most new notes that are read; more would not fit into one context.
const LATEST: usize = 200;

/// Most notes with the name of an action that are looked at, and the score of one about it: enough,
/// but less than one that shares more words with a call.
const ABOUT: usize = 48;
const FITS: f64 = 0.55;

/// How many rules for certain files are looked at.
const FOR_FILES: usize = 256;

impl Memory {
    /// The rules of a scope and of everywhere, the most important first: as many as the budget has
    /// room for, and at least one more if there are more.
    pub fn rules(&self, scope: &NoteScope, budget: BlockBudget) -> Result<Vec<Note>> {
        let found = self.read(|connection| {
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
                    let StoredNote { note, .. } = note_rows::read(row).doing(READING_RULES)??;
                    tokens = tokens.saturating_add(note.tokens);
                    rules.push(note);
                }
            }
            Ok(rules)
        })?;
        let mut rules: Vec<Note> = found.unwrap_or_default();
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
            "scope = ?1 AND status = 'active' AND updated > ?2
             ORDER BY updated DESC, row DESC LIMIT {LATEST}"
        );
        let arrived = format!(
            "row BETWEEN ?2 AND ?3 AND scope = ?1 AND status = 'active' AND updated <= ?4
             LIMIT {LATEST}"
        );
        let found = self.read(|connection| {
            let (mut found, then_at) = (Vec::new(), then.as_millis());
            let batches = transfer::imported_since(connection, then)?;
            for scope in NoteFilter::active_in(scope).scopes {
                let scope = scope.to_string();
                found.extend(note_rows::find_many(connection, &wanted, params![scope, then_at])?);
                for it in &batches {
                    let values = params![scope, it.first, it.last, then_at];
                    found.extend(note_rows::find_many(connection, &arrived, values)?);
                }
            }
            Ok(found)
        })?;
        let mut rules: Vec<Note> =
            found.unwrap_or_default().into_iter().map(|kept| kept.note).collect();
        rules.retain(|note| !note.has_ended(self.now()));
        rules.sort_by(by_importance);
        Ok(rules)
    }

    /// Notes that are about the same thing as a text, the best first; mostly none.
    pub fn related_notes(&self, text: &str, scope: &NoteScope) -> Result<Vec<RuleCandidate>> {
        let scopes = NoteFilter::active_in(scope).scopes;
        let query = SearchQuery {
            scopes: &scopes,
            trust: NoteTrust::Inferred,
            limit: FITTING,
            ..SearchQuery::new(text)
        };
        let found = self.read(|connection| {
            let mut fitting = Vec::new();
            for hit in search::find_fitting_notes(connection, &query)? {
                let kept = note_rows::find_one(connection, "row = ?1", [hit.row])?;
                let fit = f64::from(hit.fit);
                fitting.extend(kept.map(|kept| RuleCandidate { note: kept.note, score: fit }));
            }
            Ok(fitting)
        })?;
        Ok(self.without_ended(found.unwrap_or_default()))
    }

    /// Rules about what a call does, by the names of its actions.
    pub fn rules_for_actions(
        &self,
        deeds: &[&str],
        scope: &NoteScope,
    ) -> Result<Vec<RuleCandidate>> {
        if deeds.is_empty() {
            return Ok(Vec::new());
        }
        let scopes = NoteFilter::active_in(scope).scopes;
        let found = self.read(|connection| {
            let mut found = Vec::new();
            for deed in deeds {
                let trust = NoteTrust::Inferred;
                let query =
                    SearchQuery { scopes: &scopes, trust, limit: ABOUT, ..SearchQuery::new(deed) };
                for hit in search::find_notes(connection, &query)? {
                    let kept = note_rows::find_one(connection, "row = ?1", [hit.row])?;
                    let about = kept.filter(|kept| is_about_action(&kept.note.text, deed));
                    found.extend(about.map(|kept| RuleCandidate { note: kept.note, score: FITS }));
                }
            }
            Ok(found)
        })?;
        Ok(self.without_ended(found.unwrap_or_default()))
    }

    fn without_ended(&self, mut found: Vec<RuleCandidate>) -> Vec<RuleCandidate> {
        found.retain(|candidate| !candidate.note.has_ended(self.now()));
        found
    }

    /// Rules for certain files that apply to one of `touched`, paths from the project's root:
    /// whoever touches such a file needs them, whatever their words.
    pub fn rules_for_files(
        &self,
        touched: &[&str],
        scope: &NoteScope,
    ) -> Result<Vec<RuleCandidate>> {
        if touched.is_empty() {
            return Ok(Vec::new());
        }
        let moment = TouchedFiles { touches: touched };
        let found = self.read(|connection| {
            let mut found = Vec::new();
            for scope in NoteFilter::active_in(scope).scopes {
                let wanted = format!(
                    "scope = ?1 AND paths > '' AND status = 'active'
                     ORDER BY updated DESC, row DESC LIMIT {FOR_FILES}"
                );
                found.extend(note_rows::find_many(connection, &wanted, [scope.to_string()])?);
            }
            Ok(found)
        })?;
        let notes = found.unwrap_or_default().into_iter().map(|kept| kept.note);
        let meant =
            notes.filter(|note| note.trust() > NoteTrust::Untrusted && moment.concern(note));
        let meant = meant.map(|note| RuleCandidate { note, score: 1.0 });
        Ok(self.without_ended(meant.collect()))
    }
}
