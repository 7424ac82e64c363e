//! Agents as files: a file describes an agent, `recoup run` runs it, and its answer is cached.
//!
//! `file` reads agent files, `runner` finds an answer, `run` and `calls` make one, `tools` has the tools
//! of MCP servers and REST endpoints. The cache has two hooks on each path: `look_up_answer` and
//! `keep_answer` in `cached`, `look_up_result` and `keep_result` in `tools::cached_calls`.

mod agent_file;
mod answer;
mod cached;
mod calls;
mod effects;
pub(crate) mod file;
mod find_files;
mod identity;
mod journal;
mod observer;
mod output;
mod run;
mod runner;
mod tools;
mod withheld;

pub(crate) use agent_file::{AgentDialect, AgentFile, DeclaredOutput, FormatKind, RunHooks};
pub(crate) use answer::{AgentAnswer, AnswerOrigin};
pub(crate) use calls::{agent_spec, prompt_of};
pub(crate) use file::{load_agent, parse_model_name};
pub(crate) use find_files::find_agent_files;
pub(crate) use journal::RunJournal;
pub(crate) use observer::RunObserver;
pub(crate) use runner::{AgentQuestion, AgentRunner, PreparedRun, RunOptions};
pub(crate) use tools::{PermissionAnswer, PermissionPrompt, ToolPermission};
pub(crate) use withheld::withheld_values;
