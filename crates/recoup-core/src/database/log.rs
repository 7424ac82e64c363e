//! Frames of a write-ahead log, read without SQLite: for recovery, where SQLite refuses the
//! database, and for a full disk, where it can't fold the log in.
//!
//! ```text
//! header 32 bytes: magic, format, page size, sequence, two salts, two checksums
//! frame  24 bytes: page number, size of the database at a commit (else 0), two salts, two checksums
//!        and the page
//! ```

use std::collections::HashMap;

use super::pages::PAGE_SIZE;

const HEADER: usize = 32;
const FRAME: usize = 24;
/// The last bit says in which order bytes are summed up.
const MAGIC: u32 = 0x377f_0682;

/// How much of a damaged log counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogReading {
    /// Up to the first frame that is not whole, as SQLite reads it.
    Strict,
    /// Each frame that is whole: a frame is summed up from the one before it, so those behind
    /// a damaged one can still be checked.
    Lenient,
}

/// Offset in a log of the newest committed version of each page.
pub(super) fn committed_pages(log: &[u8], reading: LogReading) -> HashMap<u32, usize> {
    let mut committed = HashMap::new();
    let Some(header) = log.get(..HEADER) else { return committed };
    let magic = number_at(header, 0);
    if magic & !1 != MAGIC || number_at(header, 8) as usize != PAGE_SIZE {
        return committed;
    }
    let is_big_endian = magic & 1 == 1;
    let salts = &header[16..24];
    let mut seed = (number_at(header, 24), number_at(header, 28));
    let mut pending = Vec::new();
    for (nth, frame) in log[HEADER..].chunks_exact(FRAME + PAGE_SIZE).enumerate() {
        // What an earlier round of the log has left.
        if frame[8..16] != *salts {
            break;
        }
        let stored = (number_at(frame, 16), number_at(frame, 20));
        let sum = checksum(seed, &frame[..8], is_big_endian);
        let is_whole = checksum(sum, &frame[FRAME..], is_big_endian) == stored;
        if is_whole {
            let page = HEADER + nth * (FRAME + PAGE_SIZE) + FRAME;
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
pub(super) fn number_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(four)
}
