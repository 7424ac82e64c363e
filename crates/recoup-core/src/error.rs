//! The one error of the engine: a kind that callers act on, a message that
//! names the thing, context added on the way up, and the cause beneath.
//!
//! The engine never prints. What a person reads, and the exit code, is made
//! from this in one place of the program (`cli/failure.rs`).

use std::error::Error as StdError;
use std::fmt;

/// `Result` with the engine's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller asked for something that can't be meant: a bad key, TTL, scope or URL.
    Usage,
    /// What the caller means is not there (any more): no file matches.
    Absent,
    /// The content itself can't be taken: not JSON, not representable.
    Invalid,
    /// Stored data is damaged.
    Corrupt,
    /// Someone else holds the store for longer than we may wait.
    Locked,
    /// The store can be read, but not written.
    ReadOnly,
    /// No space is left.
    Full,
    /// The store's server can't be reached, or did not answer in time.
    Unavailable,
    /// The store was written by a newer version.
    TooNew,
    /// Anything else that the system refused.
    Io,
}

/// An error with its kind, its message and its cause.
pub struct Error {
    // Boxed, so that a `Result` on the hot path stays one pointer wide.
    inner: Box<Inner>,
}

struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let inner = Inner { kind, message: message.into(), context: Vec::new(), source: None };
        Self { inner: Box::new(inner) }
    }

    /// [`ErrorKind::Usage`], the most frequent one.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// The error beneath this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// What was being done when it happened; the outermost is said first.
    #[must_use]
    pub fn context(mut self, doing: impl Into<String>) -> Self {
        self.inner.context.push(doing.into());
        self
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// The message alone, without context or cause.
    pub fn message(&self) -> &str {
        &self.inner.message
    }
}

/// `context: message: cause`, on one line.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for doing in self.inner.context.iter().rev() {
            write!(f, "{doing}: ")?;
        }
        f.write_str(&self.inner.message)?;
        let mut cause = StdError::source(self);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.inner.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

/// Turns an operating-system error into ours, saying what was being done.
pub trait IoContext<T> {
    /// `doing` names the action and the path.
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T>;

    /// The same for what writes to a store: without permission to, it can only be
    /// read, and whoever reads the error is told what to do about that.
    fn writing(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> IoContext<T> for std::io::Result<T> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error::new(kind_of_io(&error), doing()).with_source(error))
    }

    fn writing(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::PermissionDenied => ErrorKind::ReadOnly,
                _ => kind_of_io(&error),
            };
            Error::new(kind, doing()).with_source(error)
        })
    }
}

/// The kind that an operating-system error amounts to.
pub fn kind_of_io(error: &std::io::Error) -> ErrorKind {
    use std::io::ErrorKind as Io;
    match error.kind() {
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => ErrorKind::Full,
        Io::ReadOnlyFilesystem => ErrorKind::ReadOnly,
        Io::WouldBlock | Io::TimedOut => ErrorKind::Locked,
        _ => ErrorKind::Io,
    }
}
