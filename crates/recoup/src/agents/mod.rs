//! Agents as files: a file describes an agent, `recoup run` runs it, and its answer is cached.

mod agent_file;
pub(crate) mod file;
mod find_files;
mod tools;

pub(crate) use agent_file::{AgentDialect, AgentFile, DeclaredOutput, FormatKind, MessageFormat};
pub(crate) use find_files::find_agent_files;
