//! Replays a recorded command. Its transcript is verified before.

use std::io;

use recoup_core::{Error, ErrorKind, Result};
use signal_hook::consts::SIGPIPE;

use super::Outlets;
use super::end::End;
use super::stream::write_all;
use super::transcript::{Transcript, Voice};

/// Writes both streams byte for byte, in their original order.
pub(super) fn replay(transcript: &Transcript, outlets: Outlets) -> Result<End> {
    let mut is_heard = true;
    let done = transcript.each(&mut |voice, piece| {
        let (outlet, name) = match voice {
            Voice::Out => (outlets.out, "stdout"),
            Voice::Err => (outlets.err, "stderr"),
        };
        write_all(outlet, piece).map_err(|error| {
            is_heard = error.kind() != io::ErrorKind::BrokenPipe;
            Error::new(ErrorKind::Io, format!("writing to {name}")).with_source(error)
        })
    });
    match done {
        Ok(()) => Ok(End::Code(transcript.exit)),
        // As the command itself would have ended.
        Err(_) if !is_heard => Ok(End::Signal(SIGPIPE)),
        Err(error) => Err(error),
    }
}
