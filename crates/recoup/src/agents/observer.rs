//! The person or program that follows a run.

use std::fmt;

use recoup_core::Error;

/// Follows a run: texts as they come, and messages beside them. Called from several threads.
pub(crate) trait RunObserver: Sync {
    /// A piece of text of the agent that was asked, as the model writes it.
    fn text(&self, piece: &str);
    /// All text since the last request is void: the model begins anew.
    fn restarted(&self);
    /// Reports something worth a line.
    fn notice(&self, line: fmt::Arguments<'_>);
    /// Reports a detail, for verbose output.
    fn detail(&self, line: fmt::Arguments<'_>);
    /// Reports an error that did not stop the work.
    fn warn(&self, error: &Error);
    /// True if nobody wants the answer any more.
    fn is_cancelled(&self) -> bool;
}
