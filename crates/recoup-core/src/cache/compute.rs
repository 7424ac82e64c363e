//! Look up, compute on a miss and store the result, in one call.

use super::lookup::LookupRequest;
use super::outcome::{MissReason, Outcome};
use super::permit::{FillOutcome, Permit};
use super::{Cache, CacheMode, Ttl};
use crate::entry::{Body, Draft};
use crate::error::{Error, Result};

/// A result and its origin.
#[derive(Debug)]
pub struct ComputedResult {
    /// The result itself.
    pub body: Body,
    /// Origin of the result.
    pub how: ResultOrigin,
}

/// Origin of a result.
#[derive(Debug)]
pub enum ResultOrigin {
    /// Served from the cache, or another caller computed it meanwhile.
    Hit,
    /// Served past its TTL and within its grace period. Another caller refreshes it, or this one
    /// tried and failed with this error.
    Stale(Option<Error>),
    /// Computed by this caller. A store error does not affect the result.
    Computed(Result<FillOutcome>),
    /// Computed by this caller and not stored, for this reason.
    Bypassed(MissReason),
}

impl Cache {
    /// Returns the requested entry or, if there is none, the result of `compute`, which also
    /// returns the TTL (`Ttl::Off` for results that must not be stored).
    ///
    /// Of all concurrent callers one computes and the others wait for its result. If it fails or
    /// panics, another takes over. A stale entry is served at once to all callers but the one that
    /// computes, and to that one if it fails.
    ///
    /// A miss with [`CacheMode::OnlyIfCached`] is a usage error. To tell it from other errors, use
    /// [`Cache::lookup`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use recoup_core::cache::{Cache, How, Options, Request, Ttl, View};
    /// use recoup_core::entry::Draft;
    /// use recoup_core::key::{Id, Key, Kind, Scope};
    /// use recoup_core::store::Memory;
    ///
    /// # fn main() -> recoup_core::Result<()> {
    /// let cache = Cache::new(Arc::new(Memory::with_capacity(1 << 20)), Options::default());
    /// let view = View { root: "/".into(), cwd: "/".into() };
    /// let id = Id::new(Scope::global(), Key::parse("answer")?);
    /// let request = Request::new(Kind::Result, &id, &view);
    ///
    /// let first = cache.get_or_compute(&request, || {
    ///     Ok((Draft::new(Kind::Result, "42"), Ttl::days(1))) // the expensive part
    /// })?;
    /// assert!(matches!(first.how, How::Computed(_)));
    ///
    /// let again = cache.get_or_compute(&request, || unreachable!("it is there"))?;
    /// assert!(matches!(again.how, How::Hit));
    /// assert_eq!(again.body.to_bytes()?, "42");
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_or_compute(
        &self,
        request: &LookupRequest<'_>,
        compute: impl FnOnce() -> Result<(Draft, Ttl)>,
    ) -> Result<ComputedResult> {
        match self.lookup(request)? {
            Outcome::Hit(entry) => {
                Ok(ComputedResult { body: entry.body().clone(), how: ResultOrigin::Hit })
            }
            Outcome::Stale(entry, None) => {
                Ok(ComputedResult { body: entry.body().clone(), how: ResultOrigin::Stale(None) })
            }
            Outcome::Stale(entry, Some(permit)) => {
                compute_and_fill(permit, compute).or_else(|error| {
                    Ok(ComputedResult {
                        body: entry.body().clone(),
                        how: ResultOrigin::Stale(Some(error)),
                    })
                })
            }
            Outcome::Miss(permit, _) => compute_and_fill(permit, compute),
            Outcome::Bypass(reason) if request.mode == CacheMode::OnlyIfCached => {
                Err(Error::usage(format!("only what is cached was asked for, and {reason}")))
            }
            Outcome::Bypass(reason) => {
                let (draft, _) = compute()?;
                Ok(ComputedResult { body: draft.body, how: ResultOrigin::Bypassed(reason) })
            }
        }
    }
}

/// On an error or a panic the permit is dropped, and with it the claim.
fn compute_and_fill(
    permit: Permit,
    compute: impl FnOnce() -> Result<(Draft, Ttl)>,
) -> Result<ComputedResult> {
    let (draft, ttl) = match compute() {
        Ok(made) => made,
        Err(error) => {
            permit.release();
            return Err(error);
        }
    };
    let body = draft.body.clone();
    Ok(ComputedResult { body, how: ResultOrigin::Computed(permit.fill(draft, ttl)) })
}
