//! Evidence that a repository is a clone which git made on this machine, and not one that
//! came in an archive or by copying.
//!
//! - Git's index notes the inode and the time of change (to the nanosecond) of every file that git
//!   wrote here. Nobody can know these before the files exist, so an archive brings others along,
//!   also one that is made while it is unpacked.
//! - A clone holds a commit that the project is known by.
//!
//! Anyone who can make git itself write into an unpacked repository has run their own
//! commands by then (`core.fsmonitor`, hooks): nothing here guards against that.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::git;
use crate::base::digest::decode_hex;
use crate::base::fsx::{self, FileLookup, RegularFile};

/// A line of a reflog: two ids, a name, an address, a time and a message.
const LONGEST_LINE: usize = 4 << 10;

/// A longer list of refs is not looked through.
const LARGEST_REFS: u64 = 4 << 20;

/// Bytes of an index that are read.
const INDEX_START: usize = 32 << 10;

/// The most entries that are compared: some files may have changed since git last looked.
const MOST_ENTRIES: usize = 64;

/// Limit on packs: more exist only if git never gets to collect them.
const MOST_PACKS: usize = 256;

/// Start of a pack's index: `\377tOc`, and version 2.
const PACK_MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

/// Offset of the sorted ids in a pack's index, behind 256 counts of four bytes each.
const PACK_IDS: u64 = 8 + 256 * 4;

/// The commits that the repository at `common` is known by: where its log of HEAD begins,
/// which all later clones contain, and where it ends; without a log, the commit of HEAD.
pub(super) fn commits_of(common: &Path) -> Vec<String> {
    let line_end = |bytes: &[u8], first: bool| {
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let mut lines = lines.split(|byte| *byte == b'\n');
        let line = if first { lines.next()? } else { lines.next_back()? };
        // `OLD NEW NAME <ADDRESS> SECONDS ZONE⇥MESSAGE`
        let new = line.split(|byte| *byte == b' ').nth(1)?;
        commit_id(str::from_utf8(new).ok()?)
    };
    let mut commits = Vec::new();
    if let Ok(FileLookup::Regular(log)) = fsx::open_regular(&common.join("logs/HEAD")) {
        let (start, end) = (log.read_start(LONGEST_LINE), log.read_end(LONGEST_LINE));
        commits.extend(start.ok().and_then(|start| line_end(&start, true)));
        commits.extend(end.ok().and_then(|end| line_end(&end, false)));
    }
    commits.dedup();
    if commits.is_empty() {
        commits.extend(head_commit(common));
    }
    commits
}

/// The commit that HEAD names, by itself or through a branch.
fn head_commit(common: &Path) -> Option<String> {
    let read = |name: &str| {
        let bytes = fsx::read_regular(&common.join(name), LARGEST_REFS).ok()??;
        String::from_utf8(bytes).ok()
    };
    let head = read("HEAD")?;
    let Some(branch) = head.trim().strip_prefix("ref: ") else { return commit_id(head.trim()) };
    let is_plain = branch.starts_with("refs/") && !branch.contains("..");
    let loose = if is_plain { read(branch) } else { None };
    loose.and_then(|id| commit_id(id.trim())).or_else(|| {
        let packed = read("packed-refs")?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(branch))?;
        commit_id(line.split(' ').next()?)
    })
}

/// True if git wrote the files of the worktree at `root` here, or has looked at them here.
pub(super) fn is_made_here(root: &Path) -> bool {
    let Ok(FileLookup::Regular(index)) = fsx::open_regular(&git::index_path(root)) else {
        return false;
    };
    let start = index.read_start(INDEX_START).unwrap_or_default();
    // The length of ids is not noted. A wrong one gives names of no file.
    [20, 32].into_iter().any(|id_len| {
        index_entries(&start, id_len).iter().any(|entry| {
            let found = fs::symlink_metadata(root.join(OsStr::from_bytes(entry.path)));
            // Git keeps the lower half of an inode's number.
            let inode = |it: &fs::Metadata| (it.ino() & 0xffff_ffff).cast_signed();
            found.is_ok_and(|it| [it.ctime(), it.ctime_nsec(), inode(&it)] == entry.stat)
        })
    })
}

/// True if git made the worktree at `root` here, and its repository at `common` holds one of these
/// commits.
pub(super) fn is_clone(root: &Path, common: &Path, commits: &[String]) -> bool {
    let objects = common.join("objects");
    is_made_here(root)
        && commits.iter().filter(|id| matches!(id.len(), 40 | 64)).any(|id| {
            let Some(bytes) = decode_hex(id.as_bytes()) else { return false };
            // A loose object by its path, a packed one in the packs' indexes. Borrowed ones
            // (`objects/info/alternates`) do not count: any repository can name another's directory
            // there.
            if objects.join(&id[..2]).join(&id[2..]).is_file() {
                return true;
            }
            let packs = fs::read_dir(objects.join("pack")).into_iter().flatten().flatten();
            let indexes = packs
                .map(|entry| entry.path())
                .filter(|path| path.extension() == Some("idx".as_ref()));
            indexes.take(MOST_PACKS).any(|path| match fsx::open_regular(&path) {
                Ok(FileLookup::Regular(index)) => index_contains(&index, &bytes).unwrap_or(false),
                _ => false,
            })
        })
}

/// A file as git's index has it.
struct IndexEntry<'a> {
    /// Seconds and nanoseconds of its last change, and its inode.
    stat: [i64; 3],
    path: &'a [u8],
}

/// The first entries of an index: `DIRC`, version, count; then for each file ten numbers, an id,
/// flags, and its path. In version 4 a path continues the one before, so only the first is read.
fn index_entries(index: &[u8], id_len: usize) -> Vec<IndexEntry<'_>> {
    let number = |at: usize| {
        let bytes = index.get(at..at + 4)?;
        Some(i64::from(u32::from_be_bytes(bytes.try_into().ok()?)))
    };
    let version = number(4).filter(|_| index.starts_with(b"DIRC"));
    let Some(version @ 2..=4) = version else { return Vec::new() };
    let most = if version == 4 { 1 } else { MOST_ENTRIES };
    let (mut entries, mut at) = (Vec::new(), 12);
    while entries.len() < most {
        let Some(stat) = number(at).zip(number(at + 4)).zip(number(at + 20)) else { break };
        let flags = at + 40 + id_len;
        let Some(&first) = index.get(flags) else { break };
        let is_extended = version > 2 && first & 0x40 != 0;
        let name_at = flags + 2 + 2 * usize::from(is_extended) + usize::from(version == 4);
        let Some(rest) = index.get(name_at..) else { break };
        let Some(len) = rest.iter().position(|byte| *byte == 0) else { break };
        let ((seconds, nanos), inode) = stat;
        entries.push(IndexEntry { stat: [seconds, nanos, inode], path: &rest[..len] });
        // Up to eight zeros, so that entries begin at multiples of eight.
        at += (name_at + len - at) / 8 * 8 + 8;
    }
    entries
}

fn commit_id(text: &str) -> Option<String> {
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_hexdigit());
    let is_null = text.bytes().all(|digit| digit == b'0');
    (is_id && !is_null).then(|| text.to_ascii_lowercase())
}

/// Searches a pack's index: the counts say between which places an id with that first byte is.
fn index_contains(index: &RegularFile, id: &[u8]) -> Option<bool> {
    let mut magic = [0; PACK_MAGIC.len()];
    read_exact(index, &mut magic, 0)?;
    if magic != PACK_MAGIC {
        return None;
    }
    let count = |at: u8| {
        let mut count = [0; 4];
        read_exact(index, &mut count, 8 + u64::from(at) * 4)?;
        Some(u64::from(u32::from_be_bytes(count)))
    };
    let mut low = if id[0] == 0 { 0 } else { count(id[0] - 1)? };
    let mut high = count(id[0])?;
    let mut found = vec![0; id.len()];
    while low < high {
        let middle = low + (high - low) / 2;
        read_exact(index, &mut found, PACK_IDS + middle * id.len() as u64)?;
        match found.as_slice().cmp(id) {
            std::cmp::Ordering::Equal => return Some(true),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Some(false)
}

fn read_exact(index: &RegularFile, room: &mut [u8], at: u64) -> Option<()> {
    (index.read_at(room, at).ok()? == room.len()).then_some(())
}
