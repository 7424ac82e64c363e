//! Cursor: it runs the hooks in Claude Code's settings, with its own payloads and answers.

pub(super) mod reply;
pub(super) mod wire;
