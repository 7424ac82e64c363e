//! The integration tests of the program, in one binary: each runs the real
//! `recoup` in a home of its own.
#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod agent_config;
mod agent_files;
mod agent_listing;
mod agents;
mod cache_stats;
mod claimed_projects;
mod claude_code;
mod cleanup;
mod completions;
mod condense;
mod config;
mod config_faulty;
mod config_layers;
mod config_strict;
mod config_support;
mod damaged_database;
mod directories;
mod disk_full;
mod doctor;
mod early_exit;
mod entry_names;
mod examples;
mod exec;
mod explain;
mod files;
mod forget;
mod full_results;
mod gateway;
mod generate_key;
mod get_set;
mod help;
mod hook_clients;
mod hooks;
mod input;
mod install;
mod invalidate;
mod judge;
mod key;
mod killed_writers;
mod listing;
mod locked_database;
mod many_processes;
mod mcp;
mod memory;
mod mirror;
mod mirror_files;
mod misses;
mod model;
#[allow(dead_code, reason = "the unit tests of conversations use the rest")]
mod model_server;
mod newer_version;
mod older_version;
mod patterns;
mod planted_files;
mod plugin;
mod proxy;
mod read_only;
mod readme;
mod real_clients;
mod recoup_home;
#[allow(dead_code, reason = "the engine's tests use more of it")]
#[path = "../../../recoup-core/tests/it/redis_server.rs"]
mod redis_server;
mod redis_store;
mod run;
mod scopes;
mod secrets;
mod size_limit;
mod sources;
mod stats;
mod stores;
mod support;
mod synthesize;
mod team_rules;
mod tokens;
mod toolbox_config;
mod tour;
mod transcripts;
mod trust;
mod usage;
mod verify;
