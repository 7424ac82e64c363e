//! Guard: what must not be remembered. Private text, opt-outs, text that programs put into prompts,
//! secrets, and statements about the agent's own instructions.

pub mod gate;
mod instructions;
pub(crate) mod opt_out;
pub mod private_text;
pub mod refusal;
mod unmask;
pub mod wrapped;
