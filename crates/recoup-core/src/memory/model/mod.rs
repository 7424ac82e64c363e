//! Notes, statements and clients, and the enums that describe them.

pub(crate) mod client;
pub(crate) mod estimate;
pub(crate) mod note;
pub(crate) mod statement;

pub use client::HookClient;
pub use estimate::estimate;
pub use note::{Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus, NoteTrust};
pub use statement::Statement;

pub(crate) use statement::{check_path_glob, normalize_for_comparison};
