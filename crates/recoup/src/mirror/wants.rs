//! What is to be put where Claude Code reads it by itself.

use super::register::{Place, Sort};

/// What the user has asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// Rules in Claude Code's own memory.
    pub rules: bool,
    /// Skills, and where.
    pub skills: Option<SkillsPlace>,
}

impl Wants {
    /// Nothing.
    pub const NONE: Self = Self { rules: false, skills: None };

    /// Whether anything is put anywhere.
    pub fn is_any(self) -> bool {
        self.rules || self.skills.is_some()
    }

    /// Whether what goes there is.
    pub(super) fn has(self, place: &Place) -> bool {
        match (place.sort, place.root.is_some()) {
            (Sort::Rules, _) => self.rules,
            (Sort::Skills, true) => self.skills == Some(SkillsPlace::Project),
            (Sort::Skills, false) => self.skills == Some(SkillsPlace::User),
        }
    }
}

/// Where skills go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillsPlace {
    /// Into the project, hidden from git.
    Project,
    /// Into the user's own folder, which all projects see: what holds in all of them.
    User,
}

impl SkillsPlace {
    /// The one that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Project, Self::User].into_iter().find(|place| place.as_str() == word)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}
