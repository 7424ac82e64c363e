//! The clients that Recoup is hooked into: what they write down, made what the engine
//! knows.

pub mod claude_code;
pub mod codex;
pub mod lines;
pub mod mark;
pub mod pi;
pub mod transcript;
mod wire;
