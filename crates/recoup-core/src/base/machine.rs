//! A fingerprint of this machine that reveals nothing else about it.

use std::fs;
use std::sync::OnceLock;

use super::digest::{Sha256Digest, encode_hex};

/// Sixteen hex digits, the same on every run on this machine.
///
/// Made from the operating system's machine id, else from the host's name. Machines may share both:
/// callers must stay correct then, only slower.
pub fn fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        let seed = machine_id().unwrap_or_else(host_name);
        encode_hex(
            &Sha256Digest::of(&[b"recoup machine\0", seed.as_slice()].concat()).as_bytes()[..8],
        )
    })
}

fn machine_id() -> Option<Vec<u8>> {
    let id = fs::read("/etc/machine-id").ok()?;
    (!id.trim_ascii().is_empty()).then_some(id)
}

fn host_name() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}
