//! `recoup man`: manual pages, made from the same definitions as the help.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::sync::Arc;

use clap::{Args, Command};
use clap_mangen::Man;
use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};

use crate::cli::{AFTER_HELP, CommandAnswer, CommandResult, build_command_tree, ui};
use crate::config::VARIABLES;

#[derive(Debug, Args)]
pub(in crate::cli) struct ManArgs {
    /// The command to show, such as `cache get`
    #[arg(value_name = "NAME")]
    command: Vec<String>,
    /// Write a page for every command into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let variables = VARIABLES.iter().map(|var| format!("\n  {:<29} {}", var.name, var.meaning));
        let variables = variables.collect::<String>();
        let mut root = build_command_tree()
            .after_long_help(format!("{AFTER_HELP}\n\nEnvironment:{variables}"));
        root.build();
        if let Some(dir) = self.dir {
            fsx::ensure_dir(&dir)?;
            let pages = write_pages(&root, &dir)?;
            ui::say(format_args!("Wrote {pages} pages to {}", dir.display()));
            return Ok(CommandAnswer::Yes);
        }
        let command = self.command.iter().try_fold(&root, |command, word| {
            command.find_subcommand(word).ok_or_else(|| {
                Error::usage(format!("no such command: {:?}", self.command.join(" ")))
            })
        })?;
        let page = render_page(command)?;
        if !ui::stdout_is_terminal() {
            ui::data(&[&page])?;
            return Ok(CommandAnswer::Yes);
        }
        let help = command.clone().render_long_help().ansi().to_string();
        // Ctrl-C is for the pager: if it ended us, the pager would be left with the terminal.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
        if !pipe_to_shell("man -l -", &page) && !pipe_to_shell("${PAGER:-less -R}", help.as_bytes())
        {
            ui::print_styled(&help)?;
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Pipes a text into a shell command; false if there is none, or if it failed.
fn pipe_to_shell(command: &str, text: &[u8]) -> bool {
    let mut shell = process::Command::new("/bin/sh");
    shell.args(["-c", &format!("exec {command}")]).stdin(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = shell.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A pager may end before it has read everything.
        let _ = stdin.write_all(text);
    }
    child.wait().is_ok_and(|status| status.success())
}

/// Writes `recoup.1`, `recoup-cache.1`, `recoup-cache-get.1` and so on; returns their number.
fn write_pages(command: &Command, dir: &Path) -> Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    fsx::write_atomic(&dir.join(format!("{name}.1")), &render_page(command)?)?;
    let shown = |below: &&Command| below.get_name() != "help" && !below.is_hide_set();
    let below = command.get_subcommands().filter(shown);
    below.map(|below| write_pages(below, dir)).try_fold(1, |sum, pages| Ok(sum + pages?))
}

fn render_page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .render(&mut page)
        .with_context(|| "rendering a manual page".to_owned())?;
    Ok(page)
}
