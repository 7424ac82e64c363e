//! Hooked in with one command, out with another: what goes into the files of clients, worked
//! out before anything is touched.

pub(crate) mod client;
pub(crate) mod edit;
mod extension;
mod found;
mod ours;
mod places;

pub(crate) use client::{Client, Level};
pub(crate) use found::{HookCommand, Installation, Server, installed};
pub(crate) use ours::Call;
pub(crate) use places::{Places, is_program};
