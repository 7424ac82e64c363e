//! Wishes of a client about one request: `Recoup-TTL` and `Cache-Control`.

use hyper::header::{CACHE_CONTROL, HeaderMap};
use recoup_core::cache::{CacheMode, Ttl};

/// Header with a duration for one request.
pub(super) const TTL_HEADER: &str = "recoup-ttl";

/// Wishes of a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CacheDirectives {
    pub(super) ttl: Option<Ttl>,
    /// Longest acceptable age in milliseconds.
    pub(super) max_age: Option<u64>,
    /// Time beyond the TTL in which a stale answer is accepted, in milliseconds.
    pub(super) stale: Option<u64>,
    pub(super) mode: CacheMode,
}

impl CacheDirectives {
    /// Reads the headers; an error names the faulty one.
    pub(super) fn read(headers: &HeaderMap) -> Result<Self, String> {
        let mut directives = Self::default();
        if let Some(value) = headers.get(TTL_HEADER) {
            let text = value.to_str().unwrap_or_default();
            let ttl = Ttl::parse("Recoup-TTL", text).map_err(|error| error.to_string())?;
            directives.ttl = Some(ttl);
        }
        let (mut is_fresh, mut is_unstored) = (false, false);
        for value in headers.get_all(CACHE_CONTROL) {
            for directive in value.to_str().unwrap_or_default().split(',') {
                let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
                let millis = || {
                    let seconds = value.trim().trim_matches('"').parse::<u64>().ok();
                    seconds.and_then(|seconds| seconds.checked_mul(1000)).ok_or_else(|| {
                        format!("Cache-Control: {}: expected a number of seconds", name.trim())
                    })
                };
                match name.trim().to_ascii_lowercase().as_str() {
                    "no-cache" => is_fresh = true,
                    "no-store" => is_unstored = true,
                    // The same wish, in other words.
                    "max-age" if value.trim() == "0" => is_fresh = true,
                    "max-age" => directives.max_age = Some(millis()?),
                    "stale-while-revalidate" => directives.stale = Some(millis()?),
                    "only-if-cached" => directives.mode = CacheMode::OnlyIfCached,
                    _ => {}
                }
            }
        }
        directives.mode = match (is_fresh, is_unstored) {
            // Nothing is asked, whatever else is said.
            _ if directives.mode == CacheMode::OnlyIfCached => CacheMode::OnlyIfCached,
            (true, true) => CacheMode::Bypass,
            (true, false) => CacheMode::Refresh,
            (false, true) => CacheMode::NoStore,
            _ => directives.mode,
        };
        Ok(directives)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&'static str, &str)]) -> Result<CacheDirectives, String> {
        let pairs = headers
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        CacheDirectives::read(&pairs.collect::<HeaderMap>())
    }

    #[test]
    fn wishes_of_clients_are_understood() {
        let with = |mode| CacheDirectives { mode, ..CacheDirectives::default() };
        for (value, expected) in [
            ("no-cache", with(CacheMode::Refresh)),
            ("No-Store", with(CacheMode::NoStore)),
            ("no-cache, no-store", with(CacheMode::Bypass)),
            ("only-if-cached", with(CacheMode::OnlyIfCached)),
            ("only-if-cached, no-store", with(CacheMode::OnlyIfCached)),
            ("only-if-cached, no-cache", with(CacheMode::OnlyIfCached)),
            ("max-age=0", with(CacheMode::Refresh)),
            ("max-age=60", CacheDirectives { max_age: Some(60_000), ..Default::default() }),
            (
                "stale-while-revalidate=5",
                CacheDirectives { stale: Some(5_000), ..Default::default() },
            ),
            ("private, immutable", CacheDirectives::default()),
        ] {
            assert_eq!(read(&[("cache-control", value)]), Ok(expected), "{value}");
        }
        let wrong = read(&[("cache-control", "max-age=soon")]).expect_err("no number");
        assert_eq!(wrong, "Cache-Control: max-age: expected a number of seconds");
        let ttl = read(&[("recoup-ttl", "7d")]).expect("a duration").ttl;
        assert_eq!(ttl, Some(Ttl::days(7)));
        let wrong = read(&[("recoup-ttl", "7 days")]).expect_err("not a duration");
        assert!(wrong.starts_with("Recoup-TTL: "), "{wrong}");
    }
}
