//! The project's own commands, started with `cargo xtask`: `test`, `bench`,
//! `dist`, `eval`, `picture` and `tools`.
//!
//! They need nothing but a Rust toolchain and, for the tests, a Python with pip
//! (`node.rs`), so that one command works on a fresh checkout, on a developer's
//! machine and in CI alike.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's command: talking to the terminal is its job"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the house rules guard the product; here there is no config or fsx to go through"
)]

mod args;
mod backports;
mod bench;
mod clients;
mod debian;
mod dist;
mod eval;
mod failure;
mod mcp_clients;
mod node;
mod npm;
mod peers;
mod picture;
mod process;
mod test;
mod tools;
mod unpacked;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use args::Task;
use failure::Failure;

fn main() -> ExitCode {
    run(std::env::args_os().skip(1)).unwrap_or_else(|failure| {
        eprintln!("{failure}");
        failure.exit_code()
    })
}

fn run(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, Failure> {
    match args::parse(arguments)? {
        Task::Test(extent, seed) => test::run(extent, seed),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Dist(packaging) => dist::run(packaging),
        Task::Eval(subject) => eval::run(&subject),
        Task::Picture => picture::run(),
        Task::Tools(extent) => tools::run(extent),
        Task::Help => {
            println!("{}", args::USAGE);
            Ok(ExitCode::SUCCESS)
        }
    }
}
