//! Resolves each key to one value: the strongest that counts. The others are checked nevertheless.

use std::borrow::Cow;

use super::expand;
use super::gather::Gathered;
use super::given::{Given, Raw, Standing};
use super::keys::Key;
use super::origin::Origin;
use super::problem::Problem;
use super::trust::Verdict;
use super::value::Context;

impl Gathered {
    /// The value of `key`; none if unset, or if the value that counts is faulty. Adds all problems.
    pub(super) fn resolve<T>(&mut self, key: &'static Key<T>) -> Option<T> {
        let (mut problems, mut value) = (Vec::new(), None);
        let counting: Vec<&Given> = self.counting(key.info.name).collect();
        let (winner, overridden) = counting.split_last()?;
        for given in overridden {
            problems.extend(self.read(key.read, given).err());
        }
        match self.read(key.read, winner) {
            Ok(read) => value = Some(read),
            Err(problem) => problems.push(problem),
        }
        self.problems.extend(problems);
        value
    }

    /// The user's value of `key`, whatever a repository says.
    pub(super) fn users<T>(&self, key: &'static Key<T>) -> Option<T> {
        let said = self.counting(key.info.name).filter(|given| !given.origin.of_repository());
        self.read(key.read, said.last()?).ok()
    }

    /// Parses one value as its key does.
    pub(super) fn read<T>(
        &self,
        read: impl Fn(&Raw, &Context<'_>) -> Result<T, Problem>,
        given: &Given,
    ) -> Result<T, Problem> {
        let Given { key, raw, origin, .. } = given;
        let raw = match expand::expanded(raw) {
            Ok(None) => Cow::Borrowed(raw),
            Ok(Some(expanded)) => Cow::Owned(expanded),
            Err(why) => return Err(Problem::at(origin, why)),
        };
        let user_home = self.places.user_home.as_deref();
        let base = self.base(origin);
        read(&raw, &Context { origin, expected: key.expected, base, user_home })
    }

    /// Values that count for a key, strongest last.
    pub(super) fn counting(&self, name: &str) -> impl Iterator<Item = &Given> {
        self.of(name).filter(|given| given.standing == Standing::Counts)
    }

    /// All values of a key, strongest last.
    pub(super) fn of(&self, name: &str) -> impl Iterator<Item = &Given> {
        self.givens.iter().filter(move |given| given.key.name == name)
    }

    /// A warning about untrusted values of the repository, if they would have made a difference.
    pub(crate) fn untrusted(&self) -> Option<String> {
        let mut files: Vec<String> = Vec::new();
        for delicate in &self.delicate {
            let ignored: Vec<&str> = self
                .givens
                .iter()
                .filter(|given| self.is_missed(given))
                .filter_map(|given| match &given.origin {
                    Origin::File { file, key, .. } if *file == delicate.file => Some(key.as_str()),
                    _ => None,
                })
                .collect();
            if !ignored.is_empty() {
                let changed = matches!(delicate.verdict, Verdict::Changed(_));
                let since = if changed { ", changed since you trusted it" } else { "" };
                files.push(format!("{} ({}{since})", delicate.file.name(), ignored.join(", ")));
            }
        }
        if files.is_empty() {
            return None;
        }
        let why = self.no_ledger.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        Some(format!(
            "ignored until you say `recoup trust`: {} in this repository{why}",
            files.join(", ")
        ))
    }

    /// True if the value is ignored only for lack of trust: no stronger value overrides it.
    fn is_missed(&self, given: &Given) -> bool {
        let layer = given.origin.layer();
        given.standing == Standing::Untrusted
            && !self.counting(given.key.name).any(|other| other.origin.layer() > layer)
    }
}
