//! The integration tests of the engine, in one binary.
#![allow(clippy::disallowed_methods, reason = "tests set the scene with plain files")]
#![allow(clippy::unwrap_used, reason = "in the helpers of a test as in the test itself")]

mod base;
mod cache;
mod canonical;
mod condense;
mod dir_store;
mod early_exit;
mod entry;
mod file_cache;
mod file_store;
mod fsx;
mod fsx_shared;
mod inspect;
mod keys;
mod ledger;
mod memory;
mod project;
mod redis;
mod redis_server;
mod secrets;
mod single_flight;
mod sqlite_faults;
mod store_contract;
mod support;
mod tiered;
mod tiered_race;
mod ttl;
