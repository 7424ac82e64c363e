//! Keys of the mirror. Only the user decides where private statements go: a repository may only
//! switch it off.

use super::{ConfigKey, KeyInfo, RepositoryPermission};
use crate::config::{env, value};
use crate::mirror::SkillsPlace;

pub(in crate::config) static RULES_SYNC: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "rules.sync",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: rules that our hooks do not give to Claude Code go into its own memory, \
                  30 at most, as files in ~/.claude/projects",
        variable: env::RULES_SYNC,
        peer_variable: None,
        repository: RepositoryPermission::MaySwitchOff,
    },
    read: value::boolean,
    show: |wanted| (*wanted).into(),
};

pub(in crate::config) static SKILLS_ENABLED: ConfigKey<bool> = ConfigKey {
    info: KeyInfo {
        name: "skills.enabled",
        expected: "true or false",
        default: Some("false"),
        meaning: "true: three or more memories on a subject become a skill",
        variable: env::SKILLS_ENABLED,
        peer_variable: None,
        repository: RepositoryPermission::MaySwitchOff,
    },
    read: value::boolean,
    show: |wanted| (*wanted).into(),
};

pub(in crate::config) static SKILLS_PLACE: ConfigKey<SkillsPlace> = ConfigKey {
    info: KeyInfo {
        name: "skills.place",
        expected: "project or user",
        default: Some("project"),
        meaning: "project: skills go into the project's .claude/skills, hidden from git; user: into \
                  ~/.claude/skills, only of what holds in all projects",
        variable: env::SKILLS_PLACE,
        peer_variable: None,
        repository: RepositoryPermission::MayNot,
    },
    read: value::skills_place,
    show: |place| place.as_str().into(),
};
