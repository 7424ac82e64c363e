//! Decides whether what a command wrote is kept, and for how long.

use std::fmt;

use recoup_core::Result;
use recoup_core::cache::{Filled, Permit, Refusal, Ttl};
use recoup_core::entry::{Body, Cost, Draft};
use recoup_core::key::Kind;

use super::cost;
use super::end::End;
use super::run::Outcome;
use super::{Slot, Teller};

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
    /// Whether an earlier result was passed over.
    pub(crate) refreshes: bool,
}

impl Keeping {
    /// Whether there is an end after which anything is kept.
    pub(crate) fn keeps_anything(&self) -> bool {
        self.ttl != Ttl::Off || self.failures != Ttl::Off
    }

    /// What is known before the command has run.
    pub(crate) fn draft(&self) -> Draft {
        Draft { grace: self.grace, tags: self.tags.clone(), ..Draft::new(Kind::Command, "") }
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
pub(super) struct Done {
    pub(super) slot: Slot,
    pub(super) end: End,
    /// How long it took, in milliseconds.
    pub(super) took: Option<u64>,
    /// True if nothing was ever kept of it.
    pub(super) is_first: bool,
}

impl Done {
    /// Fills the permit, or says in one line why not.
    pub(super) fn keep(
        self,
        permit: Permit,
        outcome: Outcome,
        keeping: &Keeping,
        teller: &dyn Teller,
    ) -> Result<()> {
        let not_cached = |why: &dyn fmt::Display| teller.note(format_args!("not cached: {why}"));
        let record = match outcome {
            Outcome::Whole(record) => record,
            unkept => {
                self.release(permit, unkept.why());
                return explain(unkept, teller);
            }
        };
        let Some((exit, ttl)) = keeping.term(self.end) else {
            self.release(permit, Some(self.end.to_string()));
            self.mention_an_earlier_result(keeping, teller);
            return Ok(());
        };
        let cost = cost::of(self.took, &record);
        let streams_merged = record.streams_merged;
        let body = match record.into_body(exit) {
            Ok(body) => body,
            Err(lost) => {
                match lost.refusal() {
                    Some(refusal) => {
                        permit.release_unkept(Kind::Command, &self.slot.identity, &refusal);
                    }
                    None => permit.release(),
                }
                not_cached(&lost);
                return Ok(());
            }
        };
        // Said once: nothing was ever kept of it.
        let unwatched = match self.is_first {
            true if self.slot.is_unwatched => {
                Some("nothing watches the files that this command reads".to_owned())
            }
            true => permit
                .first_ignored()
                .map(|path| format!("files that git ignores are not watched, such as {path}")),
            false => None,
        };
        match permit.fill(Draft { streams_merged, ..self.draft(body, exit, cost, keeping) }, ttl) {
            Ok(Filled::Stored(_)) => {
                if let Some(unwatched) = unwatched {
                    teller.note(format_args!("cached, but {unwatched}: name them with --source"));
                }
            }
            Ok(Filled::Off) => {}
            Ok(Filled::Refused(Refusal::SourceChanged(reason)))
                if self.slot.is_argument(&reason) =>
            {
                not_cached(&format_args!(
                    "{reason} while the command ran; if it is written and not read, use \
                     --no-auto-source"
                ));
            }
            Ok(Filled::Refused(overtaken @ Refusal::Overtaken)) => {
                teller.aside(format_args!("not cached: {overtaken}"));
            }
            Ok(Filled::Refused(Refusal::Secret(rule))) => {
                not_cached(&format_args!("there is a secret in it ({rule})"));
            }
            Ok(Filled::Refused(refusal)) => not_cached(&refusal),
            Err(error) => teller.warn(&error.context("not cached")),
        }
        Ok(())
    }

    /// Leaves the entry to others, and notes why there is none.
    fn release(&self, permit: Permit, why: Option<String>) {
        match why {
            Some(why) => {
                let refusal = Refusal::Unkept(why);
                permit.release_unkept(Kind::Command, &self.slot.identity, &refusal);
            }
            None => permit.release(),
        }
    }

    fn draft(&self, body: Body, exit: i32, cost: Cost, keeping: &Keeping) -> Draft {
        Draft {
            identity: self.slot.identity.clone(),
            parts: self.slot.parts.clone(),
            cost,
            body,
            failure: exit != 0,
            withheld: self.slot.withheld.clone(),
            // A failure is kept for as long as was said, and no longer.
            grace: if exit == 0 { keeping.grace } else { 0 },
            ..keeping.draft()
        }
    }

    /// A failure that is not kept leaves an earlier success in its place, and the next
    /// caller gets that.
    fn mention_an_earlier_result(&self, keeping: &Keeping, teller: &dyn Teller) {
        let Slot { cache, id, .. } = &self.slot;
        if keeping.refreshes && cache.head(id).is_ok_and(|head| head.is_some()) {
            teller.note(format_args!("the earlier result stays in the cache"));
        }
    }
}

/// Why there is nothing to keep of a command that ran, where that is news.
fn explain(unkept: Outcome, teller: &dyn Teller) -> Result<()> {
    let why = unkept.why();
    match (unkept, why) {
        (Outcome::Unwritable(error), _) => return Err(error),
        (Outcome::HeldOpen | Outcome::Typed, Some(why)) => {
            teller.note(format_args!("not cached: {why}"));
        }
        (Outcome::NotHeard, Some(why)) => teller.aside(format_args!("not cached: {why}")),
        _ => {}
    }
    Ok(())
}
