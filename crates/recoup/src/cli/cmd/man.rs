//! `recoup man`: manual pages, made from the same definitions as the help.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};

use crate::cli::{Answer, Ended, definition, ui};

/// Print a manual page, or write all of them.
#[derive(Debug, Args)]
pub(in crate::cli) struct ManArgs {
    /// The command that the page is about, such as `cache get`
    command: Vec<String>,
    /// Write a page for every command into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub(in crate::cli) fn run(self) -> Ended {
        let mut root = definition();
        root.build();
        match self.dir {
            Some(dir) => {
                fsx::ensure_dir(&dir)?;
                let pages = write_all(&root, &dir)?;
                ui::say(format_args!("Wrote {pages} pages to {}", dir.display()));
            }
            None => ui::data(&[&page(find(&root, &self.command)?)?])?,
        }
        Ok(Answer::Yes)
    }
}

fn find<'a>(root: &'a Command, words: &[String]) -> Result<&'a Command> {
    words.iter().try_fold(root, |command, word| {
        command
            .find_subcommand(word)
            .ok_or_else(|| Error::usage(format!("there is no command {:?}", words.join(" "))))
    })
}

/// `recoup.1`, `recoup-cache.1`, `recoup-cache-get.1` and so on; says how many.
fn write_all(command: &Command, dir: &Path) -> Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    fsx::write_atomic(&dir.join(format!("{name}.1")), &page(command)?)?;
    let shown = |below: &&Command| below.get_name() != "help" && !below.is_hide_set();
    let below = command.get_subcommands().filter(shown);
    below.map(|below| write_all(below, dir)).try_fold(1, |sum, pages| Ok(sum + pages?))
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page).doing(|| "rendering a page".to_owned())?;
    Ok(page)
}
