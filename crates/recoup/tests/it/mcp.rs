//! `recoup mcp`, the real program, with a client of the tests' own and with others' real ones.

mod agent_notes;
mod agents;
mod answers;
mod cache;
mod checkpoint;
pub(crate) mod client;
mod clients;
mod consent;
mod handshakes;
mod hostile;
mod http;
mod lifecycle;
mod listing;
mod memory;
mod resources;
mod schemas;
mod second_call;
mod trust;
mod waiting;
