//! The integration tests of the program, in one binary: each runs the real
//! `recoup` in a home of its own.
#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod claude_code;
mod cleanup;
mod condense;
mod config;
mod config_faulty;
mod config_layers;
mod config_strict;
mod config_support;
mod damaged;
mod directories;
mod doctor;
mod early_exit;
mod exec;
mod explain;
mod files;
mod forged;
mod forget;
mod full;
mod full_results;
mod generate_key;
mod get_set;
mod help;
mod hook;
mod hooks;
mod input;
mod install;
mod invalidate;
mod judge;
mod key;
mod killed;
mod listing;
mod locked;
mod mcp;
mod memory;
mod mirror;
mod misses;
mod model;
mod naming;
mod newer;
mod own_home;
mod patterns;
mod planted;
mod processes;
mod read_only;
mod readme;
mod real_clients;
#[allow(dead_code, reason = "the engine's tests use more of it")]
#[path = "../../../recoup-core/tests/it/redis_server.rs"]
mod redis_server;
mod room;
mod scopes;
mod secrets;
mod shells;
mod sources;
mod stats;
mod stores;
mod support;
mod synthesize;
mod team;
mod team_rules;
mod tokens;
mod tour;
mod trust;
mod upgraded;
mod usage;
mod verify;
mod worth;
