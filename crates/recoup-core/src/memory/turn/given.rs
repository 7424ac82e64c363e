//! Which notes a context was given, so that none comes twice.

use std::collections::HashSet;

use super::Turn;
use crate::error::Result;
use crate::memory::givings::{self, Given};
use crate::memory::inject::Block;
use crate::memory::{Memory, NoteId};

impl Memory {
    /// What a context has been given, and when it was last given all rules.
    pub fn given(&self, context: &str) -> Result<Given> {
        Ok(self.read(|connection| Given::to(connection, context))?.unwrap_or_default())
    }
}

impl Turn<'_> {
    /// What this context has been given.
    pub fn given(&self) -> Result<HashSet<NoteId>> {
        Ok(Given::to(self.connection, &self.occasion.context)?.notes)
    }

    /// This context is given all rules that it did not have: these, if there are any. False if it
    /// has had all of them before, as when two hooks are told of one event.
    pub fn give_all(&self, rules: Option<&Block>) -> Result<bool> {
        let context = &self.occasion.context;
        let given = Given::to(self.connection, context)?;
        let is_first = given.last_whole.is_none();
        let rules = rules.into_iter().flat_map(Block::included).map(|rule| &rule.id);
        Ok(given.add(self.connection, context, self.now, rules, true)? > 0 || is_first)
    }

    /// This context is given a block; says how many of its notes are new to it.
    pub fn give(&self, block: &Block) -> Result<usize> {
        self.knows(block.included().iter().map(|rule| &rule.id))
    }

    /// This context has these notes: they were given, or said in it. Says how many are new.
    pub fn knows<'n>(&self, notes: impl IntoIterator<Item = &'n NoteId>) -> Result<usize> {
        let context = &self.occasion.context;
        Given::to(self.connection, context)?.add(self.connection, context, self.now, notes, false)
    }

    /// This context has lost what it was given: it was compacted, or cleared.
    pub fn lose(&self) -> Result<()> {
        givings::lose(self.connection, &self.occasion.context)
    }
}
