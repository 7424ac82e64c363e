//! Gives out what a command once wrote. All of it has been verified by then.

use std::io;

use recoup_core::{Error, ErrorKind, Result};
use signal_hook::consts::SIGPIPE;

use super::Outlets;
use super::end::End;
use super::stream::write_all;
use super::transcript::{Transcript, Voice};

/// Writes each stream byte for byte, in the order in which it was heard.
pub(super) fn replay(transcript: &Transcript, outlets: Outlets) -> Result<End> {
    for (voice, piece) in transcript.each() {
        let (outlet, name) = match voice {
            Voice::Out => (outlets.out, "stdout"),
            Voice::Err => (outlets.err, "stderr"),
        };
        match write_all(outlet, &piece) {
            Ok(()) => {}
            // So the command would have ended, had it been run.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(End::Signal(SIGPIPE));
            }
            Err(error) => {
                let message = format!("writing to {name}");
                return Err(Error::new(ErrorKind::Io, message).with_source(error));
            }
        }
    }
    Ok(End::Code(transcript.exit))
}
