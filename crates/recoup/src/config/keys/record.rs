//! Keys for clients without hooks whose agents record rules for the user. Only the user decides who
//! may.

use super::{ConfigKey, KeyInfo, RepositoryPermission};
use crate::clients::AgentClient;
use crate::config::{env, value};

pub(in crate::config) static ALLOW: ConfigKey<Vec<AgentClient>> = ConfigKey {
    info: KeyInfo {
        name: "record.allow",
        expected: "cursor, windsurf, vscode, zed, gemini and opencode, with a comma between, or none",
        default: Some("none"),
        meaning: "clients whose agents may record rules on your behalf: what they take for your words \
                  counts at once, in that project, for every client that works there, also if a web \
                  page made them do so; what may contradict you or your team, and all else, waits as a \
                  candidate",
        variable: env::RECORD_ALLOW,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::clients_without_hooks,
    show: |clients| value::clients_in_words(clients).into(),
};

pub(in crate::config) static DENY: ConfigKey<Vec<AgentClient>> = ConfigKey {
    info: KeyInfo {
        name: "record.deny",
        expected: ALLOW.info.expected,
        default: Some("none"),
        meaning: "clients whose agents may not: this wins over `record.allow`, and `recoup init` does \
                  not ask about them again",
        variable: env::RECORD_DENY,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::clients_without_hooks,
    show: |clients| value::clients_in_words(clients).into(),
};
