//! Injection: the rules that apply in a context, in a frame that no memory can leave, with the same
//! bytes for the same rules.
//!
//! Pure functions over notes. Storage, search and the record of deliveries are the callers'.

mod block;
mod deed;
mod digest;
mod escape;
mod estimate;
mod importance;
mod select;
mod stale;

pub use block::{BlockBudget, IncludedRule, InjectionContext, RulesBlock};
pub(super) use deed::is_about_action;
pub use deed::named_actions;
pub use digest::rules_digest;
pub(super) use escape::{BRANCH, NUMBER, PATH};
pub use escape::{is_unseen, one_line, readable_line};
pub use estimate::estimate;
pub use importance::by_importance;
pub use select::{RuleCandidate, THRESHOLD, TouchedFiles, select_concerning};
pub use stale::StaleCheck;
