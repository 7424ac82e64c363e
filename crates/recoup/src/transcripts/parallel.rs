//! Reads many transcripts on two threads, each file by one of them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::find::TranscriptSource;
use super::forward_lines::LineBuffer;

/// Threads that read.
const THREADS: usize = 2;
/// Time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Reader of one thread: its buffer, and what all threads have read.
pub(crate) struct ParallelReader<'a> {
    buffer: LineBuffer,
    bytes: &'a AtomicU64,
    unreadable: &'a AtomicUsize,
}

/// Amount that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReadAmount {
    pub(crate) bytes: u64,
    /// Number of files that could not be read.
    pub(crate) unreadable: usize,
}

impl ParallelReader<'_> {
    /// Calls `on_line` with each line of a transcript.
    pub(crate) fn for_each_line(&mut self, source: &TranscriptSource, on_line: impl FnMut(&[u8])) {
        let count = |bytes| _ = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.buffer.for_each_line(&source.path, on_line, count).is_err() {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Calls `read` for each of the groups of files, the largest first, and `on_result` with each result.
/// `progress` is told how many of how many bytes were read.
pub(crate) fn read_groups<T: Send>(
    groups: &[Vec<&TranscriptSource>],
    read: impl Fn(&[&TranscriptSource], &mut ParallelReader<'_>) -> T + Sync,
    mut on_result: impl FnMut(T),
    progress: &mut dyn FnMut(u64, u64),
) -> ReadAmount {
    let size = |group: &[&TranscriptSource]| group.iter().map(|it| it.bytes).sum::<u64>();
    let all = groups.iter().map(|group| size(group)).sum();
    let mut ordered: Vec<&[&TranscriptSource]> = groups.iter().map(Vec::as_slice).collect();
    // So that both threads end at about the same time.
    ordered.sort_by_key(|group| std::cmp::Reverse(size(group)));
    let (next, bytes, unreadable) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..THREADS {
            let (sender, ordered, next, read) = (sender.clone(), &ordered, &next, &read);
            let (bytes, unreadable) = (&bytes, &unreadable);
            scope.spawn(move || {
                let buffer = LineBuffer::default();
                let mut reader = ParallelReader { buffer, bytes, unreadable };
                while let Some(group) = ordered.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // The other side waits for all of them.
                    let _ = sender.send(read(group, &mut reader));
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(REPORT_EVERY) {
                Ok(result) => on_result(result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress(bytes.load(Ordering::Relaxed), all);
        }
    });
    let unreadable = unreadable.load(Ordering::Relaxed);
    ReadAmount { bytes: bytes.load(Ordering::Relaxed), unreadable }
}
