//! What Recoup costs, as ratios within one run: each figure is taken beside the
//! one it is compared with, turn by turn, because the machine is shared.
//!
//! `cargo xtask bench` prints the table, row by row, and writes `target/bench/ratios.json`.
//! A word after `--` runs only the benchmarks whose name contains it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark sets the scene, asks for the time and prints, and may simply stop"
)]

mod agents;
mod command;
mod condense;
mod exec;
mod gateway;
mod hooks;
mod ledger;
mod library;
mod mcp;
mod measure;
mod memory;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/it/model_server.rs"]
mod model_server;
mod notes;
mod project_files;
mod proxy;
#[allow(dead_code, reason = "the engine's tests use more of it")]
#[path = "../../../recoup-core/tests/it/redis_server.rs"]
mod redis_server;
mod report;
#[allow(dead_code, reason = "the evaluation uses more of it")]
#[path = "../../../recoup-core/tests/corpus/retrieval/mod.rs"]
mod retrieval;
mod scene;
mod stores;

use measure::{Figure, Ratio, Size};
use report::Report;

type Benchmark = fn() -> Ratio;
type Timing = fn() -> Figure;
type Sizing = fn() -> Size;

fn main() {
    if exec::is_baseline() {
        return exec::be_the_baseline();
    }
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let all: [(&str, Benchmark); 26] = [
        ("command: get, hit / true", command::get_against_true),
        ("command: get, 100,000 entries / 10", command::get_flat),
        ("command: set / true", command::set_against_true),
        ("command: set, 100,000 entries / 10", command::set_flat),
        ("command: ls of 20, 100,000 entries / 10", command::list_flat),
        ("command: invalidate none, 100,000 / 10", command::invalidate_none_flat),
        ("command: generate-key / true", command::generate_key_against_true),
        ("command: early-exit check / true", command::check_against_true),
        ("command: early-exit check, won / true", command::check_signaled_against_true),
        ("condense: 10 MB, verdict / jq -c .", condense::verdict_against_jq),
        ("condense: 10 MB, identifiers / jq -c .", condense::identifiers_against_jq),
        ("exec: a hit / true", exec::hit_against_true),
        ("command: get, noted / not noted", command::get_against_unnoted),
        ("exec: a hit, noted / not noted", exec::hit_against_unnoted),
        ("exec: what a miss adds / true", exec::miss_against_true),
        ("exec: replay 100 MB / read, verify", exec::replay_against_reading),
        ("run: a hit, tools, two sub-agents / true", agents::hit_against_true),
        ("mcp: start to initialize / true", mcp::hello_against_true),
        ("proxy: a hit / the server's own call", proxy::hit_against_server),
        ("proxy: start and end / true", proxy::start_against_true),
        ("library: SQLite get / raw SELECT", library::sqlite_get_against_select),
        ("library: memory get / moka", library::memory_get_against_moka),
        ("library: Redis get / bare GET", stores::redis_get_against_get),
        ("library: file get / read and parse", stores::file_get_against_parse),
        ("library: notes, together / each", ledger::together_against_at_once),
        ("library: dir get, 10,000 entries / 10", stores::dir_get_flat),
    ];
    let mut report = Report::begin();
    for (name, run) in all.into_iter().filter(|(name, _)| name.contains(&wanted)) {
        report.add_ratio(name, run());
    }
    proxy::against_peer(&wanted, &mut report);
    hooks::all(&wanted, &mut report);
    gateway::all(&wanted, &mut report);
    project_files::all(&wanted, &mut report);
    let timings: [(&str, Timing); 13] = [
        ("command: invalidate in 100,000 entries", command::invalidate_many),
        ("command: cleanup of 100,000 entries", command::clean_up_many),
        ("command: clear of 100,000 entries", command::clear_many),
        ("command: explain among 100,000 entries", command::explain_among_many),
        ("library: a key in a full history", ledger::history),
        ("condense: estimate of 10 MB", condense::estimate),
        ("memory: search 100,000 notes, median", memory::search),
        ("memory: index one more among these", memory::index),
        ("mcp: search among 5,000 notes, median", mcp::search),
        ("mcp: store among 5,000 notes, median", mcp::store),
        ("proxy: what a miss adds to a call, median", proxy::miss),
        ("run: what a miss adds to the model, median", agents::miss),
        ("library: 1,000 cached answers of agents", agents::library_runs),
    ];
    for (name, run) in timings.into_iter().filter(|(name, _)| name.contains(&wanted)) {
        report.add_figure(name, run());
    }
    let sizes: [(&str, Sizing); 3] = [
        ("mcp: memory after 10,000 calls", mcp::resident),
        ("mcp: of these, added by the second half", mcp::growth),
        ("proxy: added by the second 50,000 calls", proxy::growth),
    ];
    for (name, run) in sizes.into_iter().filter(|(name, _)| name.contains(&wanted)) {
        report.add_size(name, run());
    }
    report.write();
}
