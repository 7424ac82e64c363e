//! Reads the file names in a git index.
//!
//! ```text
//! "DIRC" version:u32 entries:u32
//! stat:[u8; 40] id:[u8; 20 or 32] flags:u16 (extended:u16) name NUL (padding to 8)
//! ```
//! In version 4 a name begins with the number of bytes to drop from the previous one, and has no
//! padding. Extensions follow the entries, each as a name of four letters, its length as u32 and
//! its data; then a checksum as long as an ID. A split index has the extension `link`, and most of
//! its names are in another file.

const STAT: usize = 40;
const IDS: [usize; 2] = [20, 32];
const EXTENDED: u16 = 0x4000;
const LINK: &[u8] = b"link";

/// The names with this prefix; none if the index cannot be read or is incomplete.
pub(super) fn names_with_prefix(index: &[u8], start: &str) -> Option<Vec<String>> {
    let names = IDS.into_iter().find_map(|id| names(index, id))?;
    let found = names.into_iter().filter(|name| name.starts_with(start.as_bytes()));
    Some(found.map(|name| String::from_utf8_lossy(&name).into_owned()).collect())
}

/// All names, if the index is complete and consistent with IDs of that length.
fn names(index: &[u8], id: usize) -> Option<Vec<Vec<u8>>> {
    let (version, count) = (u32_at(index, 4)?, u32_at(index, 8)?);
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut names, mut before) = (12, Vec::new(), Vec::new());
    for _ in 0..count {
        let entry = at;
        at += STAT + id;
        let flags = u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?);
        at += if flags & EXTENDED == 0 { 2 } else { 4 };
        let mut name = Vec::new();
        if version == 4 {
            let (left_out, next) = read_varint(index, at)?;
            name.extend(before.get(..before.len().checked_sub(left_out)?)?);
            at = next;
        }
        let len = index.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend(&index[at..at + len]);
        at += len + 1;
        if version < 4 {
            at = entry + (at - entry).next_multiple_of(8);
        }
        if name.is_empty() || name < before {
            return None;
        }
        before.clone_from(&name);
        names.push(name);
    }
    is_whole(index.get(at..)?, id).then_some(names)
}

/// True if only extensions and a checksum follow the entries, and no extension refers to another
/// file.
fn is_whole(mut rest: &[u8], id: usize) -> bool {
    while rest.len() > id {
        let Some(len) = u32_at(rest, 4).and_then(|len| usize::try_from(len).ok()) else {
            return false;
        };
        let next = len.checked_add(8).and_then(|len| rest.get(len..));
        match next {
            Some(next) if !rest.starts_with(LINK) => rest = next,
            _ => return false,
        }
    }
    rest.len() == id
}

/// Variable-length number as in git's pack files: seven bits a byte, highest first.
fn read_varint(index: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *index.get(at)?;
    let mut number = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *index.get(at)?;
        number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((number, at + 1))
}

fn u32_at(index: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?))
}
