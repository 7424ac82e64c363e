//! Agents as files: a file describes an agent, `recoup run` runs it, and its answer is cached.

mod agent_file;
pub(crate) mod file;
