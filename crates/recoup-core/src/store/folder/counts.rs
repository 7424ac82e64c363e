//! Event counts of a directory store, in one small file. An unreadable file is replaced: it holds
//! nothing but counts.

use std::path::Path;

use crate::base::fsx;
use crate::error::Result;
use crate::store::tallies::TallyTable;

/// Far beyond what years of use amount to.
const MAX_LEN: u64 = 64 << 20;

pub(super) fn load(path: &Path) -> TallyTable {
    let json = fsx::read_regular(path, MAX_LEN).ok().flatten();
    let stored = json.and_then(|json| serde_json::from_slice(&json).ok());
    TallyTable::from_stored(stored.unwrap_or_default())
}

pub(super) fn save(counts: &TallyTable, path: &Path) -> Result<()> {
    let json = serde_json::to_vec(&counts.to_stored()).expect("text and numbers always serialize");
    fsx::write_unsynced(path, &json)
}
