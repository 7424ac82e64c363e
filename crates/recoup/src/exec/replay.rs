//! Replays a recorded command. Its transcript is verified before.

use std::io;

use recoup_core::{Error, ErrorKind, Result};
use signal_hook::consts::SIGPIPE;

use super::OutputFds;
use super::end::CommandEnd;
use super::stream::write_all;
use super::transcript::{CommandTranscript, OutputStream};

/// Writes both streams byte for byte, in their original order.
pub(super) fn replay(transcript: &CommandTranscript, outlets: OutputFds) -> Result<CommandEnd> {
    let mut is_heard = true;
    let done = transcript.each(&mut |voice, piece| {
        let (outlet, name) = match voice {
            OutputStream::Out => (outlets.out, "stdout"),
            OutputStream::Err => (outlets.err, "stderr"),
        };
        write_all(outlet, piece).map_err(|error| {
            is_heard = error.kind() != io::ErrorKind::BrokenPipe;
            Error::new(ErrorKind::Io, format!("writing to {name}")).with_source(error)
        })
    });
    match done {
        Ok(()) => Ok(CommandEnd::Code(transcript.exit)),
        // As the command itself would have ended.
        Err(_) if !is_heard => Ok(CommandEnd::Signal(SIGPIPE)),
        Err(error) => Err(error),
    }
}
