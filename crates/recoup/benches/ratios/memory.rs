//! Search among 100,000 notes, in a file, by the queries of the corpus.

use std::hint::black_box;
use std::time::{Duration, Instant};

use recoup_core::memory::recall::search;
use recoup_core::memory::recall::search::SearchQuery;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::measure::Figure;
use crate::retrieval::{self, Note, engines};

const NOTES: usize = 100_000;

/// The median over all queries, after each was asked once.
pub(crate) fn search() -> Figure {
    let crowd = Crowd::new();
    let queries = retrieval::questions();
    let ask = || {
        let time = |text: &str| {
            let start = Instant::now();
            black_box(search::find_notes(&crowd.connection, &SearchQuery::new(text)).unwrap());
            start.elapsed()
        };
        median(queries.iter().map(|query| time(&query.text)).collect())
    };
    ask();
    Figure { time: ask(), goal: Duration::from_millis(2) }
}

/// What indexing adds to a transaction.
pub(crate) fn index() -> Figure {
    let crowd = Crowd::new();
    crowd.connection.execute_batch("BEGIN").unwrap();
    let more = (NOTES..NOTES + 1_000).map(|n| {
        let start = Instant::now();
        let row = i64::try_from(n).unwrap() + 1;
        search::index_note(&crowd.connection, row, &crowd.note(n).text, None).unwrap();
        start.elapsed()
    });
    Figure { time: median(more.collect()), goal: Duration::from_millis(1) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A memory that many notes are in.
struct Crowd {
    connection: Connection,
    corpus: Vec<Note>,
    _dir: TempDir,
}

impl Crowd {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("memory.db");
        search::open_in_memory()
            .unwrap()
            .execute("VACUUM INTO ?1", [path.to_str().unwrap()])
            .unwrap();
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN")
            .unwrap();
        let crowd = Self { connection, corpus: retrieval::notes(), _dir: dir };
        for n in 0..NOTES {
            engines::add(&crowd.connection, i64::try_from(n).unwrap() + 1, &crowd.note(n));
        }
        crowd.connection.execute_batch("COMMIT").unwrap();
        crowd
    }

    /// Half of one note of the corpus and half of another, and a name of its own.
    fn note(&self, n: usize) -> Note {
        let (one, other) =
            (&self.corpus[n % self.corpus.len()], &self.corpus[n * 7_919 % self.corpus.len()]);
        let half = |text: &str, skip: bool| {
            let words: Vec<&str> = text.split(' ').collect();
            let middle = words.len().div_ceil(2);
            if skip { words[middle..].join(" ") } else { words[..middle].join(" ") }
        };
        let text =
            format!("{} {} service{}", half(&one.text, false), half(&other.text, true), n % 977);
        Note { id: n.to_string(), kind: one.kind.clone(), text }
    }
}
