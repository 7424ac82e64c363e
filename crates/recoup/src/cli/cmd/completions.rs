//! `recoup completions`: made from the same definitions as the help.

use clap::{Args, ValueEnum};
use clap_complete::{Generator, shells};

use crate::cli::{Answer, Ended, definition, ui};

/// Print a shell's completions.
#[derive(Debug, Args)]
pub(in crate::cli) struct CompletionsArgs {
    /// The shell that they are for
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl CompletionsArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        let script = match self.shell {
            Shell::Bash => generate(shells::Bash),
            Shell::Zsh => generate(shells::Zsh),
            Shell::Fish => generate(shells::Fish),
        };
        ui::data(&[&script])?;
        Ok(Answer::Yes)
    }
}

fn generate(shell: impl Generator) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "recoup", &mut script);
    script
}
