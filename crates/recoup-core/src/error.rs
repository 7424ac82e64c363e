//! The one error of the engine: a kind that callers act on, a message that
//! names the thing, context added on the way up, and the cause beneath.
//!
//! The engine never prints. The program turns errors into messages and exit codes in one place
//! (`cli/failure.rs`).

use std::error::Error as StdError;
use std::fmt;

/// `Result` with the engine's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Category of an [`Error`], by how a caller can react.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Invalid input: a bad key, TTL, scope or URL.
    Usage,
    /// The requested thing does not exist (any more): no file matches.
    Absent,
    /// The content is unusable: not JSON, not representable.
    Invalid,
    /// Stored data is damaged.
    Corrupt,
    /// Another process holds the store for longer than we may wait.
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
    inner: Box<ErrorDetails>,
}

struct ErrorDetails {
    kind: ErrorKind,
    message: String,
    context: Vec<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind` with `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let inner =
            ErrorDetails { kind, message: message.into(), context: Vec::new(), source: None };
        Self { inner: Box::new(inner) }
    }

    /// Creates an error of kind [`ErrorKind::Usage`], the most frequent one.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Sets the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Adds the action that failed; the outermost is shown first.
    #[must_use]
    pub fn context(mut self, doing: impl Into<String>) -> Self {
        self.inner.context.push(doing.into());
        self
    }

    /// The category of this error.
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

/// Converts an operating-system error into an [`Error`] with context.
pub trait IoContext<T> {
    /// `with_context` names the action and the path.
    fn with_context(self, doing: impl FnOnce() -> String) -> Result<T>;

    /// Like [`Self::with_context`], for writes to a store: a missing permission becomes
    /// [`ErrorKind::ReadOnly`], for which the user gets a hint.
    fn with_write_context(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T> IoContext<T> for std::io::Result<T> {
    fn with_context(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error::new(classify_io_error(&error), doing()).with_source(error))
    }

    fn with_write_context(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| {
            let kind = match error.kind() {
                std::io::ErrorKind::PermissionDenied => ErrorKind::ReadOnly,
                _ => classify_io_error(&error),
            };
            Error::new(kind, doing()).with_source(error)
        })
    }
}

/// Maps an operating-system error to a kind.
pub(crate) fn classify_io_error(error: &std::io::Error) -> ErrorKind {
    use std::io::ErrorKind as Io;
    match error.kind() {
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => ErrorKind::Full,
        Io::ReadOnlyFilesystem => ErrorKind::ReadOnly,
        Io::WouldBlock | Io::TimedOut => ErrorKind::Locked,
        _ => ErrorKind::Io,
    }
}
