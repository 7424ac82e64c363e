//! Where work stands: one for each project, replaced by the next.

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::private::without_private;
use super::refuse::refusal;
use super::{Memory, NoteScope, privacy};
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, ErrorKind, Result};
use crate::secrets;

/// What is done, what remains, and what is in the way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What is done.
    #[serde(default)]
    pub completed: Vec<String>,
    /// What remains.
    #[serde(default)]
    pub remaining: Vec<String>,
    /// What is in the way.
    #[serde(default)]
    pub blockers: Vec<String>,
    /// What else the next one should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl Checkpoint {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same without what is private, without secrets, and without words about the agent's
    /// instructions.
    fn clean(&self) -> Self {
        let clean = |text: &String| secrets::redact(&without_private(text)).trim().to_owned();
        let all = |texts: &[String]| {
            let said = texts.iter().map(clean);
            said.filter(|text| !text.is_empty() && refusal(text).is_none()).collect::<Vec<_>>()
        };
        Self {
            completed: all(&self.completed),
            remaining: all(&self.remaining),
            blockers: all(&self.blockers),
            notes: self
                .notes
                .as_ref()
                .map(clean)
                .filter(|notes| !notes.is_empty() && refusal(notes).is_none()),
        }
    }
}

impl Memory {
    /// Where work in a scope stands now. False where nothing may be kept there.
    pub fn save_checkpoint(&self, scope: &NoteScope, checkpoint: &Checkpoint) -> Result<bool> {
        let now = self.now();
        let checkpoint = checkpoint.clean();
        if checkpoint.is_empty() {
            return Err(Error::usage(
                "a checkpoint needs something that is done, remains or blocks",
            ));
        }
        let body = serde_json::to_string(&checkpoint).expect("strings always serialize");
        self.change("keeping a checkpoint", |connection| {
            if privacy::silence(connection, scope, now)?.is_some() {
                return Ok(false);
            }
            connection
                .execute(
                    "INSERT OR REPLACE INTO checkpoints (scope, at, body) VALUES (?1, ?2, ?3)",
                    params![scope.to_string(), now.as_millis(), body],
                )
                .map(|_| true)
                .map_err(|error| fault::explain(error, "keeping a checkpoint"))
        })
    }

    /// Where work in a scope stood when that was last said, and when that was.
    pub fn checkpoint(&self, scope: &NoteScope) -> Result<Option<(Checkpoint, Timestamp)>> {
        let found = self.read(|connection| {
            connection
                .query_row(
                    "SELECT body, at FROM checkpoints WHERE scope = ?1",
                    [scope.to_string()],
                    |row| Ok((row.get::<_, String>(0)?, row.get(1).map(Timestamp::from_millis)?)),
                )
                .optional()
                .map_err(|error| fault::explain(error, "reading a checkpoint"))
        })?;
        let Some((body, at)) = found.flatten() else { return Ok(None) };
        let checkpoint = serde_json::from_str(&body).map_err(|error| {
            Error::new(ErrorKind::Corrupt, "the checkpoint can't be read").with_source(error)
        })?;
        Ok(Some((checkpoint, at)))
    }

    /// Removes it; says whether there was one.
    pub fn drop_checkpoint(&self, scope: &NoteScope) -> Result<bool> {
        self.change("removing a checkpoint", |connection| {
            connection
                .execute("DELETE FROM checkpoints WHERE scope = ?1", [scope.to_string()])
                .map(|gone| gone > 0)
                .map_err(|error| fault::explain(error, "removing a checkpoint"))
        })
    }
}
