//! Decides whether what a command wrote is kept, and for how long.

use recoup_core::cache::{Filled, Permit, Refusal, Ttl};
use recoup_core::entry::Draft;
use recoup_core::key::{Kind, Part};

use super::Teller;
use super::cost;
use super::end::End;
use super::program::Program;
use super::record::Record;

/// What is kept, and for how long.
#[derive(Debug)]
pub(crate) struct Keeping {
    /// When it succeeded.
    pub(crate) ttl: Ttl,
    /// When it did not.
    pub(crate) failures: Ttl,
    /// How much longer it may be served while it is refreshed, in milliseconds.
    pub(crate) grace: u64,
    pub(crate) tags: Vec<String>,
    /// The most that is kept of anything, in bytes.
    pub(crate) limit: u64,
}

impl Keeping {
    /// Whether there is an end after which anything is kept.
    pub(crate) fn keeps_anything(&self) -> bool {
        self.ttl != Ttl::Off || self.failures != Ttl::Off
    }

    /// Whether a result that ended so and is so old is what was asked for: failures
    /// are for those who want them.
    pub(super) fn accepts(&self, exit: i32, age: u64) -> bool {
        exit == 0 || self.failures.as_millis().is_none_or(|limit| age < limit)
    }

    /// With which exit code and for how long, if at all.
    fn term(&self, end: End) -> Option<(i32, Ttl)> {
        let (exit, ttl) = match end {
            End::Code(0) => (0, self.ttl),
            End::Code(exit) => (exit, self.failures),
            End::Signal(_) => return None,
        };
        (ttl != Ttl::Off).then_some((exit, ttl))
    }
}

/// What is known about a command that has run.
pub(super) struct Done<'a> {
    pub(super) program: &'a Program,
    pub(super) parts: Vec<Part>,
    pub(super) record: Record,
    pub(super) end: End,
    /// How long it took, in milliseconds.
    pub(super) took: Option<u64>,
}

/// Fills the permit, or says in one line why not.
pub(super) fn keep(permit: Permit, done: Done<'_>, keeping: &Keeping, teller: &dyn Teller) {
    let Done { program, parts, record, end, took } = done;
    let Some((exit, ttl)) = keeping.term(end) else { return permit.release() };
    let cost = cost::of(took, &record);
    let body = match record.into_body(exit) {
        Ok(body) => body,
        Err(lost) => {
            teller.note(format_args!("not cached: {lost}"));
            return permit.release();
        }
    };
    let draft = Draft {
        // A failure is kept for as long as was said, and no longer.
        grace: if exit == 0 { keeping.grace } else { 0 },
        identity: program.identity(),
        parts,
        tags: keeping.tags.clone(),
        cost,
        ..Draft::new(Kind::Command, body)
    };
    match permit.fill(draft, ttl) {
        Ok(Filled::Stored(_) | Filled::Off) => {}
        Ok(Filled::Refused(Refusal::Secret(rule))) => {
            teller.note(format_args!("not cached: there is a secret in it ({rule})"));
        }
        Ok(Filled::Refused(refusal)) => teller.note(format_args!("not cached: {refusal}")),
        Err(error) => teller.warn(&error.context("not cached")),
    }
}
