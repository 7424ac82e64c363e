//! claude-mem: what the user typed, read like any prompt, and the decisions that its model noted.
//!
//! Whether a person or a script typed a prompt is not recorded, and all else was written by a model
//! about the output of tools. So everything from here waits for the user.

use std::collections::HashMap;

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::capture::read_prompt;
use recoup_core::memory::guard::private_text::PublicText;
use recoup_core::memory::{NoteKind, NoteSource, Statement};

use super::foreign_database::{ForeignDatabase, ForeignRow};
use super::sink::{ImportSink, ItemKind, moment};

/// Columns without which a table `observations` is another program's.
pub(super) const COLUMNS: [&str; 3] = ["project", "type", "created_at_epoch"];
/// Names that the id of a client's session had in the course of time.
const SESSION_COLUMNS: [&str; 2] = ["content_session_id", "claude_session_id"];

/// Most decisions that are taken of a project.
const MOST_DECISIONS: usize = 100;

/// Projects of sessions, by the number of the row and by the session's own id.
#[derive(Default)]
struct SessionProjects {
    by_row: HashMap<i64, String>,
    by_id: HashMap<String, String>,
}

impl SessionProjects {
    fn read(database: &ForeignDatabase) -> Result<Self> {
        let mut all = Self::default();
        if !database.has_columns("sdk_sessions", &["id", "project"])? {
            return Ok(all);
        }
        database.each_row("sdk_sessions", "id", &mut |row| {
            let Some(project) = row.text("project") else { return Ok(()) };
            all.by_id.extend(session_ids(row).map(|id| (id, project.clone())));
            all.by_row.extend(row.integer("id").map(|id| (id, project)));
            Ok(())
        })?;
        Ok(all)
    }

    fn of_prompt(&self, row: &ForeignRow<'_>) -> Option<&str> {
        let by_row = row.integer("session_db_id").and_then(|id| self.by_row.get(&id));
        by_row.or_else(|| session_ids(row).find_map(|id| self.by_id.get(&id))).map(String::as_str)
    }
}

fn session_ids(row: &ForeignRow<'_>) -> impl Iterator<Item = String> {
    SESSION_COLUMNS.into_iter().filter_map(|column| row.text(column))
}

pub(super) fn read_database(database: &ForeignDatabase, sink: &mut ImportSink<'_>) -> Result<()> {
    if database.has_columns("user_prompts", &["prompt_text", "created_at_epoch"])? {
        let projects = SessionProjects::read(database)?;
        database.each_row("user_prompts", "created_at_epoch", &mut |row| {
            let text = row.text("prompt_text").unwrap_or_default();
            take_prompt(&text, projects.of_prompt(row), moment(row.integer(COLUMNS[2])), sink);
            Ok(())
        })?;
    }
    let mut observations = Vec::new();
    database.each_row("observations", COLUMNS[2], &mut |row| {
        observations.push(Observation::read(row));
        Ok(())
    })?;
    take_observations(observations, sink);
    if database.has_columns("session_summaries", &["request", "created_at_epoch"])? {
        database.each_row("session_summaries", COLUMNS[2], &mut |row| {
            let text = row.text("request").unwrap_or_default();
            sink.leave_out(ItemKind::Memory, &text, "a model's summary of a session");
            Ok(())
        })?;
    }
    Ok(())
}

fn take_prompt(text: &str, project: Option<&str>, made: Timestamp, sink: &mut ImportSink<'_>) {
    let public = PublicText::new(text);
    let scope = match sink.scope_of_project(project) {
        Ok(scope) => scope,
        Err(why) => return sink.leave_out(ItemKind::Memory, public.as_str(), &why),
    };
    let reading = read_prompt(&public, &scope);
    if reading.statements.is_empty() {
        let why = reading.refused.map(|why| why.to_string());
        let why = why.unwrap_or_else(|| "a prompt without anything to remember".to_owned());
        return sink.leave_out(ItemKind::Memory, public.as_str(), &why);
    }
    for statement in reading.statements {
        sink.add_note(Statement { source: NoteSource::Import, ..statement }, made);
    }
}

/// Something that a model noted about its work.
struct Observation {
    kind: String,
    text: String,
    project: Option<String>,
    made: Timestamp,
}

impl Observation {
    fn read(row: &ForeignRow<'_>) -> Self {
        let column = |name: &str| row.text(name).filter(|text| !text.trim().is_empty());
        let text = match (column("title").or_else(|| column("text")), column("subtitle")) {
            (Some(title), Some(subtitle)) => format!("{title}: {subtitle}"),
            (title, _) => title.unwrap_or_default(),
        };
        Self {
            kind: column("type").unwrap_or_default(),
            text,
            project: column("merged_into_project").or_else(|| column("project")),
            made: moment(row.integer(COLUMNS[2])),
        }
    }
}

/// Takes the decisions, the latest first: more than some nobody would look through.
fn take_observations(observations: Vec<Observation>, sink: &mut ImportSink<'_>) {
    let mut taken: HashMap<Option<String>, usize> = HashMap::new();
    for Observation { kind, text, project, made } in observations.into_iter().rev() {
        let scope = match &*kind {
            "decision" => sink.scope_of_project(project.as_deref()),
            kind => Err(format!("a model's note about its work ({kind})")),
        };
        let count = taken.entry(project).or_default();
        match scope {
            Err(why) => sink.leave_out(ItemKind::Memory, &text, &why),
            Ok(_) if *count == MOST_DECISIONS => {
                let why = format!("older than the latest {MOST_DECISIONS} decisions");
                sink.leave_out(ItemKind::Memory, &text, &why);
            }
            Ok(scope) => {
                *count += 1;
                let (kind, source) = (NoteKind::ProjectKnowledge, NoteSource::Import);
                sink.add_note(Statement::new(kind, text, source, scope), made);
            }
        }
    }
}
