//! Injection: the rules that apply in a context, in a frame that no memory can leave, with the same
//! bytes for the same rules.
//!
//! Pure functions over notes. Storage, search and the record of deliveries are the callers'.

mod block;
mod select;
mod stale;

pub use block::{BlockBudget, IncludedRule, InjectionContext, RulesBlock, rules_digest};
pub use select::{ScoredNote, by_importance, named_actions, select_concerning};
pub(crate) use select::{concerns_files, is_about_action};
pub use stale::StaleCheck;
