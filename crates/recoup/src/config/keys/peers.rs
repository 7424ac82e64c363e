//! Key for other memory programs. Only the user decides which of them stay.

use super::{ConfigKey, KeyInfo, RepositoryPermission};
use crate::config::{env, value};

pub(in crate::config) static KEEP: ConfigKey<Vec<&'static str>> = ConfigKey {
    info: KeyInfo {
        name: "peers.keep",
        expected: "claude-recall and claude-mem, with a comma between, or none",
        default: Some("none"),
        meaning: "which programs that remember, too, stay beside recoup: `recoup init` does not ask \
                  about them again",
        variable: env::PEERS_KEEP,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::peers,
    show: |peers| value::peers_in_words(peers).into(),
};
