//! The permit to fill an entry. It holds the state of the sources from before the work, and refuses
//! a result whose sources have changed since. Results, full results, keys and tags that contain a
//! secret are refused too; previews of the request are redacted.

use std::fmt;

use super::lookup::MissReason;
use super::sources::{SinceToken, WatchedSources};
use super::{Cache, Ttl};
use crate::base::clock::Timestamp;
use crate::entry::{Body, ChunkSource as _, Draft, Header, ProducerIdentity};
use crate::error::{Error, Result};
use crate::key::{EntryId, KeyPart, Kind};
use crate::secrets::{self, SecretValues};
use crate::store::{Claim, EvictionPlan, EvictionReport, StoreInfo};

/// How many bytes of a chunk are scanned again together with the next one, so that a secret across
/// two chunks is found. Private keys are the longest secrets.
const OVERLAP: usize = 32 << 10;

/// Permission to fill one entry, once. If a look-up returned it, other callers that miss the entry
/// wait for it.
///
/// For work that does not fit into a closure:
///
/// ```
/// use recoup_core::prelude::*;
///
/// # fn main() -> recoup_core::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let cache = Cache::open(&format!("sqlite:{}/answers.db", dir.path().display()))?;
/// # let paths = PathContext::at(dir.path());
/// let id = EntryId::new(Scope::global(), Key::of(["review", "v2"]));
/// match cache.lookup(&LookupRequest::new(Kind::Result, &id, &paths))? {
///     Outcome::Miss(permit, reason) => {
///         assert_eq!(reason.to_string(), "no entry for this key");
///         // … the work …
///         let stored = permit.fill(Draft::new(Kind::Result, "looks good"), Ttl::days(1))?;
///         # drop(stored);
///     }
///     Outcome::Hit(entry) | Outcome::Stale(entry, _) => println!("{:?}", entry.body()),
///     Outcome::Bypass(reason) => println!("not cached: {reason}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a permit that is dropped leaves the entry missing"]
pub struct Permit {
    cache: Cache,
    id: EntryId,
    watched: WatchedSources,
    claim: Option<Claim>,
    began: Timestamp,
    /// True if an existing result whose work began later is kept.
    yields: bool,
}

/// Outcome of filling a permit.
#[derive(Debug)]
#[must_use = "a result that was not stored is paid for again"]
pub enum FillOutcome {
    /// Stored; other entries may have been evicted.
    Stored(EvictionReport),
    /// Not stored, for this reason.
    Refused(FillRefusal),
    /// Not stored, because the TTL or the cache is off.
    Off,
}

/// Why a result is not stored.
#[derive(Debug)]
pub enum FillRefusal {
    /// A source changed during the work: the result may be about either state.
    SourceChanged(MissReason),
    /// The sources are not in the state that the token recorded.
    SourcesDiffer,
    /// A source of the token is missing from the request.
    OtherSources,
    /// The work for the stored entry began later.
    Overtaken,
    /// The result contains a secret that matches this rule.
    Secret(&'static str),
    /// The producer of the result decided against storing it, for this reason.
    Unkept(String),
    /// The entry alone exceeds the size limit.
    TooLarge {
        /// Size of the entry, in bytes.
        bytes: u64,
        /// The limit, in bytes.
        limit: u64,
    },
}

impl fmt::Display for FillRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceChanged(reason) => write!(f, "{reason} since the work began"),
            Self::SourcesDiffer => {
                f.write_str("its sources have changed since the token was issued")
            }
            Self::OtherSources => f.write_str(
                "the token was issued for other sources: give those as well, or get a new token",
            ),
            Self::Overtaken => {
                f.write_str("a newer result is already stored: its work began later")
            }
            Self::Secret(rule) => {
                write!(f, "Secret patterns detected in content - refusing to cache ({rule})")
            }
            Self::Unkept(why) => f.write_str(why),
            Self::TooLarge { bytes, limit } => {
                write!(f, "the entry takes {bytes} bytes, more than the limit of {limit}")
            }
        }
    }
}

impl Permit {
    pub(super) fn new(cache: Cache, id: EntryId, watched: WatchedSources) -> Self {
        let began = cache.clock().now();
        Self { cache, id, watched, claim: None, began, yields: false }
    }

    /// Marks a permit of a look-up: other work that begins later may end first.
    pub(super) fn with_claim(self, claim: Option<Claim>) -> Self {
        Self { claim, yields: true, ..self }
    }

    /// The entry to fill.
    pub fn id(&self) -> &EntryId {
        &self.id
    }

    /// The first file below a source directory that is not watched because git ignores it.
    pub fn first_ignored(&self) -> Option<String> {
        self.watched.first_ignored()
    }

    /// Adds files, directories, globs and states that the work has written. They are captured now, and
    /// not compared with their state before the work. A later look-up misses if they have changed.
    pub fn with_outputs(self, outputs: &[String]) -> Result<Self> {
        let now = self.cache.clock().now();
        Ok(Self { watched: self.watched.with_outputs(outputs, now)?, ..self })
    }

    /// Returns the permit if the sources are still in the state of the token.
    pub fn require_unchanged_since(self, since: &SinceToken) -> Result<Self, FillRefusal> {
        let refusal = if since.is_after(self.cache.clock().now()) {
            Some(FillRefusal::OtherSources)
        } else {
            self.watched.changed_since(since)
        };
        let Some(refusal) = refusal else { return Ok(self) };
        // Tokens exist only for results that are stored by hand.
        self.cache.note_refused(Kind::Result, &self.id, None, &refusal);
        Err(refusal)
    }

    /// Gives up the work, so that waiting callers can take over as soon as this returns. Dropping
    /// the permit does the same, but a process that exits right after the drop may not deliver the
    /// release.
    pub fn release(self) {
        if let Some(claim) = self.claim {
            claim.release();
        }
    }

    /// Gives up the work and records why its result is not stored.
    pub fn release_unkept(self, kind: Kind, by: &ProducerIdentity, refusal: &FillRefusal) {
        self.cache.note_refused(kind, &self.id, Some(by), refusal);
        self.release();
    }

    /// Stores the result with this TTL.
    pub fn fill(self, draft: Draft, ttl: Ttl) -> Result<FillOutcome> {
        let Self { cache, id, watched, claim, began, yields } = self;
        let (kind, by) = (draft.kind, draft.identity.clone());
        let draft = Draft { began: Some(began), ..draft };
        // Entries from the future are not later: another clock made them.
        let now = cache.clock().now();
        let is_later = |header: &Header| {
            header.work_began() > began
                && header.created <= now
                && header.deletable_at().is_none_or(|end| end > now)
        };
        // An unreadable entry is replaced.
        let found = if yields { cache.store().get(&id).ok().flatten() } else { None };
        let filled = if found.is_some_and(|it| is_later(&it.head.header)) {
            Ok(FillOutcome::Refused(FillRefusal::Overtaken))
        } else {
            fill_entry(&cache, &id, watched, draft, ttl)
        };
        if let Ok(FillOutcome::Refused(refusal)) = &filled {
            cache.note_refused(kind, &id, Some(&by), refusal);
        }
        match claim {
            // Waiting callers find the entry now, or take over.
            Some(claim) if filled.is_ok() => claim.release(),
            // After an error the claim is only dropped: the caller should not wait for the same
            // server again.
            _ => drop(claim),
        }
        filled
    }
}

impl Cache {
    /// Checks everything in `draft` that does not depend on the body, before the work is paid for.
    pub fn check_draft(&self, id: &EntryId, draft: &Draft, ttl: Ttl) -> Result<(), Error> {
        grace_of(draft, ttl, self)?;
        match secret_in_key_or_tags(id, draft) {
            Some(rule) => Err(Error::usage(format!("the key or a tag contains a secret ({rule})"))),
            None => Ok(()),
        }
    }
}

fn fill_entry(
    cache: &Cache,
    id: &EntryId,
    watched: WatchedSources,
    draft: Draft,
    ttl: Ttl,
) -> Result<FillOutcome> {
    if !cache.enabled() || ttl == Ttl::Off {
        return Ok(FillOutcome::Off);
    }
    let grace = grace_of(&draft, ttl, cache)?;
    if let Some(reason) = watched.first_change(cache) {
        return Ok(FillOutcome::Refused(FillRefusal::SourceChanged(reason)));
    }
    let mut secret = secret_in_key_or_tags(id, &draft);
    for body in std::iter::once(&draft.body).chain(&draft.full) {
        if secret.is_none() {
            secret = secret_in_body(body, &draft.withheld)?;
        }
    }
    if let Some(rule) = secret {
        return Ok(FillOutcome::Refused(FillRefusal::Secret(rule)));
    }
    let now = cache.clock().now();
    let parts = redact_parts(draft.kind, draft.parts, &draft.withheld);
    let redacted = |text: Option<String>| text.map(|text| redact(&text, &draft.withheld));
    let ProducerIdentity { name, namespace, hash } = draft.identity;
    let (name, namespace) = (redacted(name), redacted(namespace));
    let identity = ProducerIdentity { name, namespace, hash: redacted(hash) };
    let draft = Draft { ttl: ttl.as_millis(), grace, identity, parts, ..draft };
    let kind = draft.kind;
    let record = draft.seal(watched.into_sources(), now)?;
    let limits = cache.inner.options.limits;
    // Counted as stores count it: what passes here must not be evicted for its own size.
    let header = &record.head.header;
    let bytes = header.stored_len() + header.to_json().len() as u64;
    if let Some(limit) = limits.max_bytes.filter(|limit| bytes > *limit) {
        return Ok(FillOutcome::Refused(FillRefusal::TooLarge { bytes, limit }));
    }
    cache.store().put(id, &record)?;
    // Before the eviction, which needs the latest use counts.
    cache.fold_ledger_if_due();
    cache.note_stored(id, header);
    let plan =
        EvictionPlan { keep: Some(id.key.clone()), ..limits.eviction_plan(&id.scope, kind, now) };
    let evicted = cache.store().evict(&plan)?;
    if evicted.lost_all {
        cache.store().put(id, &record)?;
    }
    cache.note_evicted(&plan, &evicted);
    Ok(FillOutcome::Stored(evicted))
}

/// The grace period; zero for entries that never expire. An error if the store cannot keep stale
/// entries.
fn grace_of(draft: &Draft, ttl: Ttl, cache: &Cache) -> Result<u64> {
    if draft.grace == 0 || ttl == Ttl::Forever {
        return Ok(0);
    }
    match cache.store().info() {
        StoreInfo { keeps_stale: true, .. } => Ok(draft.grace),
        StoreInfo { url, .. } => Err(Error::usage(format!(
            "{url} cannot serve stale entries; omit the grace period (--stale-while-revalidate), \
             or use a sqlite: or redis: store"
        ))),
    }
}

/// The name of the first secret rule that matches the key or the tags, which are known before the
/// work.
fn secret_in_key_or_tags(id: &EntryId, draft: &Draft) -> Option<&'static str> {
    let mut words = std::iter::once(id.key.as_str()).chain(draft.tags.iter().map(String::as_str));
    words.find_map(|word| detect(word.as_bytes(), &draft.withheld))
}

fn secret_in_body(body: &Body, withheld: &SecretValues) -> Result<Option<&'static str>> {
    if let Body::Whole(bytes) = body {
        return Ok(detect(bytes, withheld));
    }
    let (mut rule, mut window) = (None, Vec::new());
    body.for_each_chunk(&mut |chunk| {
        if rule.is_none() {
            window.extend_from_slice(chunk);
            rule = detect(&window, withheld);
            window.drain(..window.len().saturating_sub(OVERLAP));
        }
        Ok(())
    })?;
    Ok(rule)
}

fn detect(text: &[u8], withheld: &SecretValues) -> Option<&'static str> {
    secrets::detect_secret(text).or_else(|| withheld.detect(text))
}

fn redact(text: &str, withheld: &SecretValues) -> String {
    withheld.redact(&secrets::redact(text)).into_owned()
}

/// Redacts the secrets in the previews of the parts.
pub(super) fn redact_parts(
    kind: Kind,
    parts: Vec<KeyPart>,
    withheld: &SecretValues,
) -> Vec<KeyPart> {
    // Redact before shortening: a cut-off secret may no longer match its rule.
    let cleaned = |part: KeyPart| {
        let preview = part.preview.map(|preview| redact(&preview, withheld));
        let part_kind = kind.part_kind(&part.name);
        KeyPart { preview, ..part }.shorten_preview(part_kind)
    };
    parts.into_iter().map(cleaned).collect()
}
