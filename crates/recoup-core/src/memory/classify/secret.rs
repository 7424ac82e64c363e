//! Secrets in prompts.

use super::outline;
use crate::secrets;

/// The rule by which a prompt has a secret. Of long ones the beginning and the end are
/// looked at: nothing else is ever kept.
pub(super) fn detect(prompt: &str) -> Option<&'static str> {
    let (head, tail) = outline::window(prompt);
    [head, tail].into_iter().find_map(|part| secrets::detect(part.as_bytes()))
}
