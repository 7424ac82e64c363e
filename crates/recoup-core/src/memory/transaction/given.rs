//! Deliveries of notes to a context, so that none comes twice.

use std::collections::HashSet;

use super::EventTransaction;
use crate::error::Result;
use crate::memory::deliveries::{self, ContextDeliveries};
use crate::memory::inject::RulesBlock;
use crate::memory::{Memory, NoteId};

impl Memory {
    /// Returns the notes that a context has received, and when it last received all rules.
    pub fn deliveries_to(&self, context: &str) -> Result<ContextDeliveries> {
        Ok(self
            .read(|connection| ContextDeliveries::load(connection, context))?
            .unwrap_or_default())
    }
}

impl EventTransaction<'_> {
    /// Returns the notes that this context has received.
    pub fn delivered_notes(&self) -> Result<HashSet<NoteId>> {
        Ok(ContextDeliveries::load(self.connection, &self.occasion.context)?.notes)
    }

    /// Records that this context received all rules that it lacked: `rules`, if there were any.
    /// False if it had all of them before, as when two hooks report one event.
    pub fn deliver_all(&self, rules: Option<&RulesBlock>) -> Result<bool> {
        let context = &self.occasion.context;
        let given = ContextDeliveries::load(self.connection, context)?;
        let is_first = given.last_whole.is_none();
        let rules = rules.into_iter().flat_map(RulesBlock::included).map(|rule| &rule.id);
        Ok(given.record_delivery(self.connection, context, self.now, rules, true)? > 0 || is_first)
    }

    /// Records the delivery of a block; returns how many of its notes are new to this context.
    pub fn deliver(&self, block: &RulesBlock) -> Result<usize> {
        self.mark_delivered(block.included().iter().map(|rule| &rule.id))
    }

    /// Records that this context has these notes, delivered or stated in it; returns how many are
    /// new.
    pub fn mark_delivered<'n>(&self, notes: impl IntoIterator<Item = &'n NoteId>) -> Result<usize> {
        let context = &self.occasion.context;
        ContextDeliveries::load(self.connection, context)?.record_delivery(
            self.connection,
            context,
            self.now,
            notes,
            false,
        )
    }

    /// Forgets the deliveries to this context: it was compacted, or cleared.
    pub fn forget_deliveries(&self) -> Result<()> {
        deliveries::mark_lost(self.connection, &self.occasion.context)
    }
}
