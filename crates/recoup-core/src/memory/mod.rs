//! What the user said and what went wrong, kept and given back at the right
//! moment.
//!
//! A [`Note`] is one statement. Where it came from decides how far it is trusted,
//! and trust decides whether it becomes a rule by itself.

pub mod hooked;
pub mod inject;
mod note;
pub mod private;
pub mod refuse;
#[expect(dead_code, reason = "the store comes next")]
mod schema;
pub mod topic;

pub use note::{Note, NoteId, NoteKind, NoteScope, Source, Status, Trust};
