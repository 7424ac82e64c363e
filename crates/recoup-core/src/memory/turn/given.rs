//! Deliveries of notes to a context, so that none comes twice.

use std::collections::HashSet;

use super::Turn;
use crate::error::Result;
use crate::memory::givings::{self, Given};
use crate::memory::inject::Block;
use crate::memory::{Memory, NoteId};

impl Memory {
    /// Returns the notes that a context has received, and when it last received all rules.
    pub fn given(&self, context: &str) -> Result<Given> {
        Ok(self.read(|connection| Given::to(connection, context))?.unwrap_or_default())
    }
}

impl Turn<'_> {
    /// Returns the notes that this context has received.
    pub fn given(&self) -> Result<HashSet<NoteId>> {
        Ok(Given::to(self.connection, &self.occasion.context)?.notes)
    }

    /// Records that this context received all rules that it lacked: `rules`, if there were any.
    /// False if it had all of them before, as when two hooks report one event.
    pub fn give_all(&self, rules: Option<&Block>) -> Result<bool> {
        let context = &self.occasion.context;
        let given = Given::to(self.connection, context)?;
        let is_first = given.last_whole.is_none();
        let rules = rules.into_iter().flat_map(Block::included).map(|rule| &rule.id);
        Ok(given.add(self.connection, context, self.now, rules, true)? > 0 || is_first)
    }

    /// Records the delivery of a block; returns how many of its notes are new to this context.
    pub fn give(&self, block: &Block) -> Result<usize> {
        self.knows(block.included().iter().map(|rule| &rule.id))
    }

    /// Records that this context has these notes, delivered or stated in it; returns how many are
    /// new.
    pub fn knows<'n>(&self, notes: impl IntoIterator<Item = &'n NoteId>) -> Result<usize> {
        let context = &self.occasion.context;
        Given::to(self.connection, context)?.add(self.connection, context, self.now, notes, false)
    }

    /// Forgets the deliveries to this context: it was compacted, or cleared.
    pub fn lose(&self) -> Result<()> {
        givings::lose(self.connection, &self.occasion.context)
    }
}
