//! The engine of Recoup: a durable cache of what agents, tools and commands return, and a memory of
//! what users tell them.
//!
//! No terminal, no environment, no runtime and no servers here: those live in
//! the `recoup` package. ARCHITECTURE.md has the levels; a module uses only
//! those below its own.
//!
//! ```
//! use std::sync::Arc;
//! use recoup_core::cache::{Cache, Options, Outcome, Request, Ttl, View};
//! use recoup_core::entry::Draft;
//! use recoup_core::key::{Id, Key, Kind, Scope};
//! use recoup_core::store::Memory;
//!
//! # fn main() -> recoup_core::Result<()> {
//! let cache = Cache::new(Arc::new(Memory::with_capacity(1 << 20)), Options::default());
//! let view = View { root: "/".into(), cwd: "/".into() };
//! let id = Id::new(Scope::global(), Key::parse("answer")?);
//!
//! let body = match cache.lookup(&Request::new(Kind::Result, &id, &view))? {
//!     Outcome::Hit(entry) => entry.body().clone(),
//!     Outcome::Miss(permit, _) => {
//!         let draft = Draft::new(Kind::Result, "42"); // the expensive part
//!         let body = draft.body.clone();
//!         let _ = permit.fill(draft, Ttl::days(1))?;
//!         body
//!     }
//!     other => unreachable!("{other:?}"),
//! };
//! assert_eq!(body.to_bytes()?, "42");
//! # Ok(())
//! # }
//! ```

pub mod base;
pub mod cache;
pub mod condense;
mod database;
pub mod early_exit;
pub mod entry;
pub mod error;
pub mod key;
pub mod ledger;
pub mod memory;
pub mod secrets;
pub mod store;

pub use error::{Error, ErrorKind, Result};
pub use store::FileCache;
