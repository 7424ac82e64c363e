//! Files of recorded exchanges: JSON values one behind the other, on one line each or on many. Also notes which
//! exchanges replays have used.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::http_exchange::HttpExchange;
use super::line::CassetteLine;
use super::{HTTP, VERSION};

/// Maximum size of a file that is read.
const MAX_CASSETTE_BYTES: u64 = 1 << 30;
/// Directory of notes, below our own.
const NOTES: &str = "cassettes";

/// A cassette, as it was read.
#[derive(Debug)]
pub(crate) struct CassetteFile {
    pub(crate) path: PathBuf,
    pub(crate) exchanges: Vec<RecordedExchange>,
    /// False if the last value was cut off, and left out.
    pub(crate) is_whole: bool,
    digest: Sha256Digest,
}

/// One exchange of a file.
#[derive(Debug)]
pub(crate) struct RecordedExchange {
    /// Its text in the file.
    pub(crate) text: String,
    pub(crate) content: ExchangeContent,
}

/// Kinds of exchanges.
#[derive(Debug)]
pub(crate) enum ExchangeContent {
    /// Of `recoup run`: with a model or a tool.
    Run(CassetteLine),
    /// Of `recoup gateway`.
    Http(HttpExchange),
}

/// Fields by which a value is recognised.
#[derive(Deserialize)]
struct ValueHead {
    v: u32,
    kind: String,
}

impl CassetteFile {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let Some(bytes) = fsx::read_regular(path, MAX_CASSETTE_BYTES)? else {
            return Err(Error::usage(format!("{}: no such file", path.display())));
        };
        Self::parse(path, &bytes)
    }

    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Box<RawValue>>();
        let mut file = Self {
            path: path.to_owned(),
            exchanges: Vec::new(),
            is_whole: true,
            digest: Sha256Digest::of(bytes),
        };
        loop {
            let blank = bytes[values.byte_offset()..].iter();
            let begin =
                values.byte_offset() + blank.take_while(|it| it.is_ascii_whitespace()).count();
            let line = 1 + memchr::memchr_iter(b'\n', &bytes[..begin]).count();
            let place = format!("{}:{line}", path.display());
            match values.next() {
                None => return Ok(file),
                Some(Ok(value)) => file.exchanges.push(RecordedExchange::parse(&value, &place)?),
                Some(Err(error)) if error.is_eof() => {
                    file.is_whole = false;
                    return Ok(file);
                }
                Some(Err(error)) => return Err(not_an_exchange(&place).with_source(error)),
            }
        }
    }

    /// Refuses to replace a file that is not a cassette. One that is cut or newer is one.
    pub(super) fn check_replaceable(path: &Path) -> Result<()> {
        let existing = fsx::read_regular(path, MAX_CASSETTE_BYTES)?.unwrap_or_default();
        let mut values = serde_json::Deserializer::from_slice(&existing).into_iter::<ValueHead>();
        match values.next() {
            None | Some(Ok(_)) => Ok(()),
            // Of which only the first exchange was begun.
            Some(Err(error)) if error.is_eof() && existing.starts_with(b"{") => Ok(()),
            Some(Err(_)) => {
                Err(Error::usage(format!("{} exists, and is not a cassette", path.display())))
            }
        }
    }

    /// An error if the end is cut off.
    pub(crate) fn whole(self) -> Result<Self> {
        if self.is_whole {
            return Ok(self);
        }
        let message = format!("{}: the last exchange is cut off", self.path.display());
        Err(Error::new(ErrorKind::Invalid, message))
    }

    /// Replaces the file by these exchanges.
    pub(crate) fn write<'a>(path: &Path, texts: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let text: String = texts.into_iter().flat_map(|text| [text.trim_end(), "\n"]).collect();
        fsx::write_atomic(path, text.as_bytes())
    }

    /// Numbers of the exchanges that replays of this very file have used; none if it was not replayed.
    pub(crate) fn used_numbers(&self, home: &Path) -> Result<Option<BTreeSet<usize>>> {
        let Some(bytes) = fsx::read_regular(&self.note_path(home), MAX_CASSETTE_BYTES)? else {
            return Ok(None);
        };
        let note = serde_json::from_slice::<UseNote>(&bytes).ok();
        Ok(note.filter(|note| note.digest == self.digest.to_hex()).map(|note| note.used))
    }

    /// Adds exchanges that a replay has used, by their numbers from 1.
    pub(crate) fn note_used(&self, home: &Path, mut used: BTreeSet<usize>) -> Result<()> {
        used.extend(self.used_numbers(home)?.unwrap_or_default());
        let note = UseNote { path: self.path.clone(), digest: self.digest.to_hex(), used };
        fsx::ensure_private_dir(home)?;
        fsx::ensure_private_dir(&home.join(NOTES))?;
        fsx::write_atomic(&self.note_path(home), &serde_json::to_vec(&note).unwrap_or_default())
    }

    fn note_path(&self, home: &Path) -> PathBuf {
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let name = Sha256Digest::of(path.as_os_str().as_encoded_bytes()).to_hex();
        home.join(NOTES).join(format!("{}.json", &name[..32]))
    }
}

/// Exchanges that replays of a file have used.
#[derive(Serialize, Deserialize)]
struct UseNote {
    path: PathBuf,
    /// SHA-256 of the file: a changed one has other exchanges.
    digest: String,
    used: BTreeSet<usize>,
}

impl RecordedExchange {
    fn parse(value: &RawValue, place: &str) -> Result<Self> {
        let wrong = || not_an_exchange(place);
        let head: ValueHead =
            serde_json::from_str(value.get()).map_err(|error| wrong().with_source(error))?;
        if head.v > VERSION {
            let message = format!("{place}: written by a newer recoup (format {})", head.v);
            return Err(Error::new(ErrorKind::TooNew, message));
        }
        let content = if head.kind == HTTP {
            serde_json::from_str(value.get()).map(ExchangeContent::Http)
        } else {
            serde_json::from_str(value.get()).map(ExchangeContent::Run)
        };
        let content = content.map_err(|error| wrong().with_source(error))?;
        let is_complete = match &content {
            ExchangeContent::Run(line) => line.is_complete(),
            ExchangeContent::Http(_) => head.v == VERSION,
        };
        if !is_complete {
            return Err(wrong().with_source("its version, kind or another field is missing"));
        }
        Ok(Self { text: value.get().to_owned(), content })
    }

    pub(crate) fn http(&self) -> Option<&HttpExchange> {
        match &self.content {
            ExchangeContent::Http(exchange) => Some(exchange),
            ExchangeContent::Run(_) => None,
        }
    }
}

fn not_an_exchange(place: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("{place}: not an exchange of a cassette"))
}
