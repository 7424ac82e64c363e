//! Agents as files: a file describes an agent, `recoup run` runs it, and its answer is cached.
//!
//! `file` reads agent files, `runner` finds an answer, `run` and `calls` make one, `tools` has the tools
//! of MCP servers and REST endpoints. The cache has two hooks on each path: `look_up_answer` and
//! `keep_answer` in `cached`, and their counterparts for tools in `tools`.

mod agent_file;
mod answer;
mod cached;
mod calls;
mod effects;
mod identity;
mod observer;
mod output;
mod run;
mod runner;
