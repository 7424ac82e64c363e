//! The program: everything that touches a person, a process or a socket.
//!
//! The engine is `recoup-core`. ARCHITECTURE.md has the levels; a module uses
//! only those below its own.

#[allow(dead_code, reason = "not all of it is used yet")]
mod agents;
mod app;
pub mod cli;
mod clients;
pub mod config;
mod doctor;
mod exec;
pub mod hooks;
mod human;
mod install;
pub mod jobs;
#[allow(dead_code, unused_imports, reason = "conversations are not used yet")]
pub mod llm;
mod mcp;
mod mcp_client;
pub mod mirror;
mod process;
mod proxy;
mod race;
mod toolbox;
