//! Checks of rules: compiled when a note is written, found by what a call has in common with them,
//! with the strength that the user chose.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params, params_from_iter};

use crate::base::digest::Sha256Digest;
use crate::error::{Error, Result};
use crate::memory::checks::{CHECK_VERSION, RuleCheck};
use crate::memory::db::recording::{KEEPING, no_such_note_error};
use crate::memory::db::{
    CachedSql as _, EventDetails, EventTransaction, Memory, MemoryEventKind, NoteFilter,
    SqlContext as _, StoredNote, note_rows,
};
use crate::memory::lang::escape::one_line;
use crate::memory::model::note::words;
use crate::memory::model::{Note, NoteId, NoteScope, NoteTrust};

/// Refusals of the same in a row, after which it passes: a rule is no dead end.
const MOST_REFUSALS: i64 = 2;

const READING_CHECKS: &str = "cannot read the checks of rules";

words! {
    /// Effect of a rule's check on a call that would break the rule, the mildest first.
    CheckStrength: "invalid strength" {
        /// Nothing: the check is off.
        Off = "off",
        /// The agent is given the rule.
        Remind = "remind",
        /// The client asks the person.
        Ask = "ask",
        /// The call is refused.
        Block = "block",
    }
}

/// A rule that has a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRule {
    /// The rule.
    pub note: Note,
    /// Its check.
    pub check: RuleCheck,
    /// The user's choice for this rule; none if the default holds.
    pub strength: Option<CheckStrength>,
}

impl CheckedRule {
    /// True if it is the user's own rule, or one that the user has agreed to: others remind at most.
    pub fn may_stop_calls(&self) -> bool {
        self.note.trust() >= NoteTrust::Agreed
    }
}

/// Compiles the check of a note's text, and stores it. The strength stays. The row must be in
/// `notes` already.
pub(crate) fn store_check(connection: &Connection, row: i64, text: &str) -> Result<()> {
    const PATHS: &str = "SELECT paths FROM notes WHERE row = ?1";
    const SQL: &str = "INSERT INTO checks (note, version, body) VALUES (?1, ?2, ?3)
                       ON CONFLICT (note) DO UPDATE SET version = ?2, body = ?3";
    const KEY: &str = "INSERT OR IGNORE INTO check_keys (key, note) VALUES (?1, ?2)";
    let paths: Option<String> = connection.find_value(PATHS, [row], KEEPING)?;
    let check = RuleCheck::compile(text, paths.as_deref().filter(|paths| !paths.is_empty()));
    let body = check.as_ref().map(|it| serde_json::to_string(it).expect("a check serializes"));
    connection.write(SQL, params![row, CHECK_VERSION, body], KEEPING)?;
    connection.write("DELETE FROM check_keys WHERE note = ?1", [row], KEEPING)?;
    for key in check.iter().flat_map(RuleCheck::index_keys) {
        connection.write(KEY, params![key, row], KEEPING)?;
    }
    Ok(())
}

/// Compiles the checks of notes that have none of this version: after a migration or an update.
pub(crate) fn store_missing_checks(connection: &Connection) -> Result<()> {
    const MISSING: &str = "row NOT IN (SELECT note FROM checks WHERE version = ?1)";
    for kept in note_rows::find_many(connection, MISSING, [CHECK_VERSION])? {
        store_check(connection, kept.row, &kept.note.text)?;
    }
    Ok(())
}

fn find_check(connection: &Connection, kept: StoredNote) -> Result<Option<CheckedRule>> {
    // One of another version is compiled anew before it counts.
    const SQL: &str = "SELECT body, strength FROM checks
                       WHERE note = ?1 AND version = ?2 AND body IS NOT NULL";
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?));
    let found = connection
        .find_cached(SQL, params![kept.row, CHECK_VERSION], read)
        .doing(READING_CHECKS)?;
    Ok(found.and_then(|(body, strength)| {
        let mut check: RuleCheck = serde_json::from_str(&body).ok()?;
        if kept.note.scope != NoteScope::Universal {
            check.limit_to_project();
        }
        let strength = strength.and_then(|word| CheckStrength::parse(&word).ok());
        Some(CheckedRule { note: kept.note, check, strength })
    }))
}

/// Returns the selected notes that have checks.
pub(crate) fn find_checked_rules(
    connection: &Connection,
    wanted: &NoteFilter,
) -> Result<Vec<CheckedRule>> {
    let (condition, values) = wanted.condition();
    let condition =
        format!("{condition} AND row IN (SELECT note FROM checks WHERE body IS NOT NULL)");
    let mut found = Vec::new();
    for kept in note_rows::find_many(connection, &condition, params_from_iter(&values))? {
        found.extend(find_check(connection, kept)?);
    }
    Ok(found)
}

impl Memory {
    /// Returns the rules of a project and of everywhere whose checks have one of these keys.
    pub fn rules_with_check_keys(
        &self,
        keys: &[String],
        scope: &NoteScope,
    ) -> Result<Vec<CheckedRule>> {
        const WITH_KEY: &str = "SELECT note FROM check_keys WHERE key = ?1";
        const FOUND: &str = "scope IN (?1, ?2) AND status = 'active' AND row = ?3";
        self.read(|connection| {
            // Most calls share no key, so that notes are not asked for.
            let mut rows: BTreeSet<i64> = BTreeSet::new();
            for key in keys {
                rows.extend(connection.list_values::<i64>(WITH_KEY, [key], READING_CHECKS)?);
            }
            let mut found = Vec::new();
            for row in rows {
                let values = params![NoteScope::Universal, scope, row];
                for kept in note_rows::find_many(connection, FOUND, values)? {
                    found.extend(find_check(connection, kept)?);
                }
            }
            Ok(found)
        })
    }

    /// Returns the check of a note, if it has one.
    pub fn checked_rule(&self, id: &NoteId) -> Result<Option<CheckedRule>> {
        self.read(|connection| match note_rows::by_id(connection, id)? {
            Some(kept) => find_check(connection, kept),
            None => Ok(None),
        })
    }

    /// Sets the strength of a rule's check.
    pub fn set_check_strength(&self, id: &NoteId, strength: CheckStrength) -> Result<CheckedRule> {
        const SQL: &str = "UPDATE checks SET strength = ?2 WHERE note = ?1";
        self.change_durably("cannot change the strength of a rule", |connection| {
            let kept = note_rows::by_id(connection, id)?.ok_or_else(|| no_such_note_error(id))?;
            connection.write(SQL, params![kept.row, strength], KEEPING)?;
            find_check(connection, kept)?.ok_or_else(|| {
                Error::usage(format!(
                    "{id} has no check: its words do not say for certain which command, flag, path \
                     or text they forbid; `recoup memory edit {id} 'never `git push origin main`'` \
                     is certain"
                ))
            })
        })
    }
}

impl EventTransaction<'_> {
    /// Records what a check did about a call, or what became of it; false if that is known.
    pub fn record_check_event(
        &self,
        what: MemoryEventKind,
        rule: &NoteId,
        call: &str,
    ) -> Result<bool> {
        let call = check_event_key(rule, call);
        self.record_event(what, EventDetails::call(rule.as_str(), &call))
    }

    /// Records that a call is refused because of a rule, unless the same was refused as often as it
    /// may since the rule was last kept in this session. `matter` is what breaks the rule.
    pub fn record_refusal(&self, rule: &NoteId, call: &str, matter: &str) -> Result<bool> {
        const SQL: &str = "SELECT count(*) FROM events
                           WHERE what = 'blocked' AND subject = ?1 AND session = ?2 AND detail = ?3
                           AND row > coalesce((SELECT max(row) FROM events WHERE what = 'kept'
                                               AND subject = ?1 AND session = ?2), 0)";
        let matter = Sha256Digest::of(matter.as_bytes()).to_string();
        let values = params![rule, self.occasion.session, matter];
        let refused: Option<i64> = self.connection.find_value(SQL, values, READING_CHECKS)?;
        if refused >= Some(MOST_REFUSALS) {
            return Ok(false);
        }
        let call = check_event_key(rule, call);
        let of = EventDetails { detail: Some(&matter), ..EventDetails::call(rule.as_str(), &call) };
        self.record_event(MemoryEventKind::Blocked, of).map(|_| true)
    }

    /// True if this context was told of a rule at another call.
    pub fn was_told_before(&self, rule: &NoteId, call: &str) -> Result<bool> {
        const SQL: &str = "SELECT 1 FROM events WHERE what IN ('reminded', 'asked', 'blocked')
                           AND subject = ?1 AND context = ?2 AND call <> ?3 LIMIT 1";
        let values = params![rule, self.occasion.context, check_event_key(rule, call)];
        self.connection.has_row(SQL, values, READING_CHECKS)
    }

    /// Leaves a notice that a rule could be enforced more strongly, because of `why`: once for each
    /// rule, and only if the user has not chosen a strength.
    pub fn propose_enforcement(&self, rule: &NoteId, why: &str) -> Result<()> {
        let kept = note_rows::by_id(self.connection, rule)?;
        let found = kept.map(|kept| find_check(self.connection, kept)).transpose()?.flatten();
        let can_ask = |it: &CheckedRule| it.strength.is_none() && it.may_stop_calls();
        let Some(found) = found.filter(can_ask) else { return Ok(()) };
        if self.record_check_event(MemoryEventKind::Proposed, rule, "")? {
            let text = one_line(&found.note.text);
            self.add_notice(&format!(
                "{why}: {text}; `recoup memory enforce {rule} ask` makes the client ask you"
            ))?;
        }
        Ok(())
    }
}

fn check_event_key(rule: &NoteId, call: &str) -> String {
    format!("{call}#{rule}")
}
