//! Secrets in prompts.

use super::outline;
use crate::secrets;

/// Returns the rule by which a prompt has a secret. Of a long prompt the beginning and the end are
/// searched: nothing else is ever kept.
pub(super) fn detect(prompt: &str) -> Option<&'static str> {
    let (head, tail) = outline::head_and_tail(prompt);
    [head, tail].into_iter().find_map(|part| secrets::detect_secret(part.as_bytes()))
}
