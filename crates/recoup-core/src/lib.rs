//! A durable cache of what agents, tools, commands and model APIs return, and a memory of what users
//! tell their agents: the engine of Recoup as a library.
//!
//! # A cache in five lines
//!
//! ```
//! use recoup_core::prelude::*;
//!
//! # fn main() -> recoup_core::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let url = format!("sqlite:{}/answers.db", dir.path().display());
//! # let url = url.as_str(); // "sqlite:answers.db"
//! let cache = Cache::open(url)?;
//! let key = Key::of(["review", "src/lib.rs", "gpt-5"]);
//! let review = cache.get_or_compute(&key, Ttl::days(1), || {
//!     Ok("looks good") // the expensive part
//! })?;
//! assert_eq!(review.to_bytes()?, "looks good");
//! # Ok(())
//! # }
//! ```
//!
//! Entries outlive the process and are shared by all processes that open the same URL. Of all that
//! ask for the same at the same time, one computes and the others wait for its result.
//! [`Cache::lookup_or_compute`](cache::Cache::lookup_or_compute) also takes the files that a result
//! depends on: when one changes, the entry is no longer served. [`Cache::lookup`](cache::Cache::lookup)
//! hands out a permit on a miss, for work that does not fit into a closure.
//!
//! # Memory
//!
//! [`memory::Memory`] keeps what a user has said, as notes: it tells lasting statements from requests,
//! lets a newer statement take the place of an older one on the same topic, refuses secrets and
//! instructions to the agent, and selects what fits into a prompt.
//!
//! ```
//! # #[cfg(feature = "memory")]
//! # fn main() -> recoup_core::Result<()> {
//! use std::sync::Arc;
//! use recoup_core::base::IgnoreFaults;
//! use recoup_core::base::clock::SystemClock;
//! use recoup_core::memory::{Memory, NoteKind, NoteScope, NoteSource, Statement, WaitLimits};
//!
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("memory.db");
//! let memory =
//!     Memory::at(path, WaitLimits::default(), Arc::new(SystemClock), Arc::new(IgnoreFaults));
//! let rule = Statement::new(
//!     NoteKind::Preference,
//!     "use pnpm, not npm",
//!     NoteSource::User,
//!     NoteScope::Universal,
//! );
//! memory.record(&rule)?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "memory"))]
//! # fn main() {}
//! ```
//!
//! # Features
//!
//! All are on by default. `redis`: stores on a Redis or Valkey server. `tokens`: exact token counts in
//! [`condense`]. `memory`: the module [`memory`].
//!
//! Modules that only the program needs are public but hidden from these pages, and may change at any
//! time.
//!
//! There is no terminal, environment variable, async runtime or server in here: those are in the
//! program `recoup`. ARCHITECTURE.md lists the modules by level; each uses only those below its own.

#![cfg_attr(
    not(all(feature = "memory", feature = "redis")),
    allow(dead_code, unused_imports, unused_variables, reason = "used by those features only")
)]

pub mod base;
pub mod cache;
pub mod condense;
mod database;
pub mod early_exit;
pub mod entry;
pub mod error;
pub mod key;
pub mod ledger;
#[cfg(feature = "memory")]
pub mod memory;
pub mod prelude;
pub mod secrets;
pub mod store;

pub use error::{Error, ErrorKind, Result};
pub use store::FileCache;
