//! A model on loopback for the real clients: it says what a script tells it to, and keeps what
//! it was asked.

mod api;
mod request;
mod script;

pub(crate) use api::Api;
pub(crate) use request::{CallResult, Request};
pub(crate) use script::{Answer, Script};
