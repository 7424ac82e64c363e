//! A database whose beginning is gone: SQLite knows by its first bytes that it is one, and by
//! its first page where each table begins. Both are the same in every database with the same
//! tables, so they are borrowed from a fresh one.

use std::path::Path;

use rusqlite::Connection;

use super::beside;
use super::connection::{self, sidecars};
use crate::base::fsx;
use crate::error::Result;

/// The size of a page, as all of ours have it.
const PAGE: usize = 4096;
/// What stands in front of the first page's own contents.
const HEADER: usize = 100;
/// A page of a table begins with one of these.
const OF_A_TABLE: [u8; 2] = [5, 13];
/// More than that is not read.
const LARGEST: u64 = 1 << 30;

/// Reads from a copy of `damaged` that has the beginning of `fresh`; none where even that is
/// no database.
pub(super) fn with_mended<T>(
    damaged: &Path,
    fresh: &Path,
    read: impl FnOnce(&Connection) -> Result<T>,
) -> Result<Option<T>> {
    let copy = fsx::with_suffix(damaged, beside::MENDED);
    let [log, index] = sidecars(&copy);
    let mut bytes = fsx::read_limited(damaged, LARGEST)?;
    borrow(&mut bytes, &fsx::read_limited(fresh, LARGEST)?);
    fsx::write_whole(&copy, &bytes)?;
    drop(bytes);
    let [damaged_log, _] = sidecars(damaged);
    if damaged_log.exists() {
        fsx::write_whole(&log, &fsx::read_limited(&damaged_log, LARGEST)?)?;
    }
    let done = match connection::open_as_it_is(&copy) {
        Ok(mended) => read(&mended).map(Some),
        Err(_) => Ok(None),
    };
    for file in [copy, log, index] {
        fsx::remove(&file)?;
    }
    done
}

/// Only the header where the first page is sound otherwise, else the whole page; and the
/// pages that are missing at the end, which hold where the tables are: the log may have what is
/// in them.
fn borrow(bytes: &mut Vec<u8>, fresh: &[u8]) {
    bytes.truncate(bytes.len() / PAGE * PAGE);
    if let Some(missing) = fresh.get(bytes.len()..) {
        bytes.extend_from_slice(missing);
    }
    let is_sound = OF_A_TABLE.contains(&bytes[HEADER]);
    let len = if is_sound { HEADER } else { PAGE }.min(fresh.len());
    bytes[..len].copy_from_slice(&fresh[..len]);
    let pages = u32::try_from(bytes.len() / PAGE).unwrap_or(u32::MAX);
    let mut put = |at: usize, number: u32| bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
    // How long it is, which counts where these two agree; and it has no free pages.
    put(24, 1);
    put(92, 1);
    put(28, pages);
    put(32, 0);
    put(36, 0);
}
