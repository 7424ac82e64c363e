//! The program: everything that touches a person, a process or a socket.
//!
//! The engine is `recoup-core`. ARCHITECTURE.md has the levels; a module uses
//! only those below its own.

mod agents;
mod app;
pub mod cli;
#[doc(hidden)]
pub mod clients;
pub mod config;
mod doctor;
mod exec;
mod gateway;
pub mod hooks;
mod http;
mod human;
mod import;
mod install;
pub mod jobs;
mod learn;
pub mod llm;
mod mcp;
mod mcp_client;
pub mod mirror;
mod process;
mod proxy;
mod race;
mod toolbox;
#[doc(hidden)]
pub mod transcripts;
mod waste;
