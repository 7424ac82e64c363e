//! Rows of a damaged database, read page by page without its schema: every page that holds rows
//! says so itself. A damaged schema, or a table whose root is gone, hides none of them.
//!
//! Nothing of it is trusted: a row counts if its record fits its length exactly. The header is
//! not read at all, since all of our databases have the same size of pages.
//!
//! Deleted rows are not found: memory's databases overwrite them (`secure_delete`).

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::Value;

use super::connection::sidecars;
use crate::base::fsx;
use crate::error::Result;

/// Page size of all our databases.
pub(super) const PAGE_SIZE: usize = 4096;
/// Most bytes that are read of a file.
pub(super) const LARGEST_FILE: u64 = 1 << 30;

/// Kinds of pages that hold records, by their first byte.
const TABLE_LEAF: u8 = 13;
const INDEX_LEAF: u8 = 10;
const INDEX_INTERIOR: u8 = 2;

/// Length of the page number at the start of an overflow page.
const NEXT_PAGE_LEN: usize = 4;
/// Most bytes of a row in a table's leaf, and of a record in an index page; of a longer one at
/// least `LEAST` bytes are there.
const MOST_OF_ROW: usize = PAGE_SIZE - 35;
const MOST_OF_RECORD: usize = (PAGE_SIZE - 12) * 64 / 255 - 23;
const LEAST: usize = (PAGE_SIZE - 12) * 32 / 255 - 23;

const LOG_HEADER: usize = 32;
const LOG_FRAME: usize = 24;
/// Start of a log. The last bit says in which order bytes are summed up.
const LOG_MAGIC: u32 = 0x377f_0682;

/// A row as it is stored; only its values tell which table it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecoveredRow {
    /// Its number in its table; none where it comes from an index, or from a table `WITHOUT ROWID`.
    pub(crate) number: Option<i64>,
    pub(crate) values: Vec<Value>,
}

/// The pages of a damaged database together with those in its log.
#[derive(Debug)]
pub(crate) struct DamagedPages {
    file: Vec<u8>,
    log: Vec<u8>,
    /// Offset in the log of each page's newest version.
    in_log: HashMap<u32, usize>,
}

impl DamagedPages {
    /// Reads the log first: what is folded in meanwhile is then in the file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let [log, _] = sidecars(path);
        let log = fsx::read_regular(&log, LARGEST_FILE)?.unwrap_or_default();
        let file = fsx::read_regular(path, LARGEST_FILE)?.unwrap_or_default();
        Ok(Self::of(file, log))
    }

    fn of(mut file: Vec<u8>, log: Vec<u8>) -> Self {
        // The last page may be cut off.
        file.resize(file.len().next_multiple_of(PAGE_SIZE), 0);
        let in_log = committed_pages(&log, LogReading::Lenient);
        Self { file, log, in_log }
    }

    /// Calls `visit` with every intact row.
    pub(crate) fn each_row(&self, visit: &mut dyn FnMut(RecoveredRow)) {
        let in_file = u32::try_from(self.file.len() / PAGE_SIZE).unwrap_or(u32::MAX);
        let last = self.in_log.keys().copied().max().unwrap_or(0).max(in_file);
        // The first page has the schema only.
        for page in (2..=last).filter_map(|number| self.page(number)) {
            let start = match page[0] {
                TABLE_LEAF | INDEX_LEAF => 8,
                INDEX_INTERIOR => 12,
                _ => continue,
            };
            let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
            for pointer in page[start..].chunks_exact(2).take(cells) {
                let at = usize::from(u16::from_be_bytes([pointer[0], pointer[1]]));
                if let Some(row) = page.get(at..).and_then(|cell| self.decode_row(page[0], cell)) {
                    visit(row);
                }
            }
        }
    }

    fn page(&self, number: u32) -> Option<&[u8]> {
        if let Some(at) = self.in_log.get(&number) {
            return self.log.get(*at..at + PAGE_SIZE);
        }
        let at = (number as usize).checked_sub(1)?.checked_mul(PAGE_SIZE)?;
        self.file.get(at..at + PAGE_SIZE)
    }

    fn decode_row(&self, kind: u8, cell: &[u8]) -> Option<RecoveredRow> {
        let cell = if kind == INDEX_INTERIOR { cell.get(4..)? } else { cell };
        let (length, mut used) = decode_varint(cell)?;
        let length = usize::try_from(length).ok()?;
        let number = if kind == TABLE_LEAF {
            let (number, more) = decode_varint(&cell[used..])?;
            used += more;
            Some(number)
        } else {
            None
        };
        let most = if kind == TABLE_LEAF { MOST_OF_ROW } else { MOST_OF_RECORD };
        let values = decode_record(&self.read_payload(&cell[used..], length, most)?)?;
        Some(RecoveredRow { number, values })
    }

    /// Reads a record of `length` bytes: its start is in `cell`, the rest in a chain of pages.
    fn read_payload(&self, cell: &[u8], length: usize, most: usize) -> Option<Vec<u8>> {
        if length <= most {
            return cell.get(..length).map(<[u8]>::to_vec);
        }
        if length > self.file.len() + self.log.len() {
            return None;
        }
        let uneven = LEAST + (length - LEAST) % (PAGE_SIZE - NEXT_PAGE_LEN);
        let here = if uneven <= most { uneven } else { LEAST };
        let mut payload = cell.get(..here)?.to_vec();
        let mut next = number_at(cell.get(here..here + NEXT_PAGE_LEN)?, 0);
        // Each page has some of it, so a chain that is a ring ends, too.
        while payload.len() < length {
            let page = self.page(next)?;
            next = number_at(page, 0);
            let rest = (length - payload.len()).min(PAGE_SIZE - NEXT_PAGE_LEN);
            payload.extend_from_slice(&page[NEXT_PAGE_LEN..NEXT_PAGE_LEN + rest]);
        }
        Some(payload)
    }
}

/// Decodes the values of a record; `None` unless they take up all of it.
fn decode_record(payload: &[u8]) -> Option<Vec<Value>> {
    let (length, used) = decode_varint(payload)?;
    let (header, mut body) = payload.split_at_checked(usize::try_from(length).ok()?)?;
    let mut types = header.get(used..)?;
    let mut values = Vec::new();
    while !types.is_empty() {
        let (kind, used) = decode_varint(types)?;
        types = &types[used..];
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        let (bytes, rest) = body.split_at_checked(length)?;
        body = rest;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(decode_integer(bytes)),
            7 => Value::Real(f64::from_bits(decode_integer(bytes).cast_unsigned())),
            8 | 9 => Value::Integer(kind - 8),
            _ if kind % 2 == 0 => Value::Blob(bytes.to_vec()),
            _ => Value::Text(str::from_utf8(bytes).ok()?.to_owned()),
        });
    }
    (body.is_empty() && !values.is_empty()).then_some(values)
}

fn decode_integer(bytes: &[u8]) -> i64 {
    let sign = if bytes[0] < 0x80 { 0 } else { -1 };
    bytes.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte))
}

/// Decodes a varint; returns it with its length, one to nine bytes.
fn decode_varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut number = 0_u64;
    for (nth, byte) in bytes.iter().enumerate().take(9) {
        if nth == 8 {
            return Some(((number << 8 | u64::from(*byte)).cast_signed(), 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if *byte < 0x80 {
            return Some((number.cast_signed(), nth + 1));
        }
    }
    None
}

/// How much of a damaged log counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogReading {
    /// Up to the first frame that is not whole, as SQLite reads it.
    Strict,
    /// Each frame that is whole: a frame is summed up from the one before it, so those behind
    /// a damaged one can still be checked.
    Lenient,
}

/// Offset in a write-ahead log of the newest committed version of each page. Read without SQLite:
/// for recovery, where SQLite refuses the database, and for a full disk, where it can't fold the log
/// in.
///
/// ```text
/// header 32 bytes: magic, format, page size, sequence, two salts, two checksums
/// frame  24 bytes: page number, size of the database at a commit (else 0), two salts, two checksums
///        and the page
/// ```
pub(super) fn committed_pages(log: &[u8], reading: LogReading) -> HashMap<u32, usize> {
    let mut committed = HashMap::new();
    let Some(header) = log.get(..LOG_HEADER) else { return committed };
    let magic = number_at(header, 0);
    if magic & !1 != LOG_MAGIC || number_at(header, 8) as usize != PAGE_SIZE {
        return committed;
    }
    let is_big_endian = magic & 1 == 1;
    let salts = &header[16..24];
    let mut seed = (number_at(header, 24), number_at(header, 28));
    let mut pending = Vec::new();
    for (nth, frame) in log[LOG_HEADER..].chunks_exact(LOG_FRAME + PAGE_SIZE).enumerate() {
        // What an earlier round of the log has left.
        if frame[8..16] != *salts {
            break;
        }
        let stored = (number_at(frame, 16), number_at(frame, 20));
        let sum = checksum(seed, &frame[..8], is_big_endian);
        let is_whole = checksum(sum, &frame[LOG_FRAME..], is_big_endian) == stored;
        if is_whole {
            let page = LOG_HEADER + nth * (LOG_FRAME + PAGE_SIZE) + LOG_FRAME;
            pending.push((number_at(frame, 0), page));
        } else if reading == LogReading::Strict {
            break;
        }
        if is_whole && number_at(frame, 4) != 0 {
            committed.extend(pending.drain(..));
        }
        seed = stored;
    }
    committed
}

fn checksum((mut first, mut second): (u32, u32), bytes: &[u8], is_big_endian: bool) -> (u32, u32) {
    let word = |bytes: &[u8]| {
        let number = number_at(bytes, 0);
        if is_big_endian { number } else { number.swap_bytes() }
    };
    for pair in bytes.chunks_exact(8) {
        first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
        second = second.wrapping_add(word(&pair[4..])).wrapping_add(first);
    }
    (first, second)
}

/// The number in four bytes, the most significant first.
fn number_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(four)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use rusqlite::{Connection, params_from_iter};

    use super::*;

    /// Two tables, one `WITHOUT ROWID`, with short and long rows; the second half in the log.
    fn database(dir: &Path, rows: &[(i64, String)]) -> std::path::PathBuf {
        let path = dir.join("m.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON;
                 CREATE TABLE numbered (row INTEGER PRIMARY KEY, n INTEGER, t TEXT, r REAL);
                 CREATE TABLE plain (t TEXT PRIMARY KEY, n INTEGER, z TEXT) WITHOUT ROWID;",
            )
            .unwrap();
        for (nth, (number, text)) in rows.iter().enumerate() {
            if nth == rows.len() / 2 {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
            }
            let (number, text) = (Value::Integer(*number), Value::Text(text.clone()));
            let values = [number.clone(), text.clone(), Value::Real(0.5)];
            let sql = "INSERT INTO numbered (n, t, r) VALUES (?1, ?2, ?3)";
            connection.execute(sql, params_from_iter(values)).unwrap();
            let values = [Value::Text(format!("k{nth}")), number, text];
            connection
                .execute("INSERT INTO plain VALUES (?, ?, ?)", params_from_iter(values))
                .unwrap();
        }
        // The log stays as it is while a connection is open.
        std::mem::forget(connection);
        path
    }

    fn rows_of(pages: &DamagedPages) -> Vec<RecoveredRow> {
        let mut rows = Vec::new();
        pages.each_row(&mut |row| rows.push(row));
        rows
    }

    fn expected(rows: &[(i64, String)]) -> Vec<RecoveredRow> {
        let numbered = rows.iter().enumerate().map(|(nth, (number, text))| RecoveredRow {
            number: Some(i64::try_from(nth).unwrap() + 1),
            values: vec![
                Value::Null,
                Value::Integer(*number),
                Value::Text(text.clone()),
                Value::Real(0.5),
            ],
        });
        let plain = rows.iter().enumerate().map(|(nth, (number, text))| RecoveredRow {
            number: None,
            values: vec![
                Value::Text(format!("k{nth}")),
                Value::Integer(*number),
                Value::Text(text.clone()),
            ],
        });
        numbered.chain(plain).collect()
    }

    fn sorted(mut rows: Vec<RecoveredRow>) -> Vec<RecoveredRow> {
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_row_of_a_real_file_and_its_log_is_read_as_it_was_written(
            rows in prop::collection::vec((any::<i64>(), "[ -~ä]{0,9000}"), 1..40),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = database(dir.path(), &rows);
            let pages = DamagedPages::read(&path).unwrap();
            prop_assert_eq!(sorted(rows_of(&pages)), sorted(expected(&rows)));
        }

        #[test]
        fn noise_is_read_without_harm(file in prop::collection::vec(any::<u8>(), 0..20_000), kind in any::<u8>()) {
            let mut file = file;
            for page in file.chunks_mut(PAGE_SIZE) {
                page[0] = [TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR][usize::from(kind) % 3];
            }
            rows_of(&DamagedPages::of(file.clone(), file));
        }
    }

    /// Flips each byte of the first page, and then one byte of the log.
    #[test]
    fn a_flipped_byte_of_the_schema_hides_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let rows: Vec<_> = (0..12).map(|n| (n, format!("row {n} {}", "x".repeat(900)))).collect();
        let path = database(dir.path(), &rows);
        let (file, log) =
            (fs::read(&path).unwrap(), fs::read(dir.path().join("m.db-wal")).unwrap());
        let all = sorted(expected(&rows));
        for at in 0..PAGE_SIZE {
            let mut damaged = file.clone();
            damaged[at] ^= 0x55;
            let found = rows_of(&DamagedPages::of(damaged, log.clone()));
            assert_eq!(sorted(found), all, "byte {at}");
        }
        // Behind a damaged frame the others still count; at most its own page is the older one.
        let mut damaged = log.clone();
        damaged[LOG_HEADER + LOG_FRAME + 2000] ^= 1;
        let found = rows_of(&DamagedPages::of(file, damaged));
        assert!(found.len() + 20 > all.len(), "{} of {}", found.len(), all.len());
    }
}
