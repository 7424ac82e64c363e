//! The only place that prints. Data goes to stdout; messages for people go to stderr, with colours
//! on a terminal.
#![expect(clippy::disallowed_methods, reason = "this is the one place that prints")]

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Read as _, Write};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use indicatif::{ProgressBar, ProgressStyle};
use recoup_core::base::clock::Deadline;
use recoup_core::entry::Body;
use recoup_core::{Error, ErrorKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::YES;
use super::failure::CommandError;
use super::keys::SingleKeys;
use crate::exec::OutputFds;
pub(in crate::cli) use crate::human::printable;
use crate::mcp::StdioStreams;
use crate::process;
use crate::proxy::ClientStreams;

const RED: Style = AnsiColor::Red.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();

/// Maximum width of a diff's line. The user agrees to what is shown, and minified settings have all
/// of it on one line.
const MAX_DIFF_COLUMNS: usize = 20_000;

/// Rows of a list that a terminal shows unless the user asks for more.
pub(super) const PAGE_ROWS: usize = 50;

/// Writes bytes to stdout unchanged.
pub(super) fn data(pieces: &[&[u8]]) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    let all = pieces.iter().try_for_each(|piece| out.write_all(piece));
    map_write_error(all.and_then(|()| out.flush()))
}

fn map_write_error(done: io::Result<()>) -> Result<(), CommandError> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CommandError::ReaderGone),
        // Not a store's fault, so without a store's remedy.
        done => done.map_err(|error| {
            Error::new(ErrorKind::Io, "writing to stdout").with_source(error).into()
        }),
    }
}

/// Writes a stored body and a newline to stdout.
pub(super) fn body(body: &Body) -> Result<(), CommandError> {
    match body {
        Body::Whole(bytes) => data(&[bytes, b"\n"]),
        Body::Large(chunks) => {
            // An error stops the reading, too, when the reader is gone.
            let mut failed = None;
            let read = chunks.for_each_chunk(&mut |chunk| {
                data(&[chunk]).map_err(|failure| {
                    failed = Some(failure);
                    Error::new(ErrorKind::Io, "cannot write the output")
                })
            });
            failed.map_or_else(|| Ok(read?), Err)?;
            data(&[b"\n"])
        }
    }
}

/// Prints a line to stdout.
pub(super) fn line(text: impl Display) -> Result<(), CommandError> {
    data(&[format!("{text}\n").as_bytes()])
}

/// Prints indented JSON to stdout.
pub(super) fn json(value: &impl Serialize) -> Result<(), CommandError> {
    data(&[&map_json_error(serde_json::to_vec_pretty(value))?, b"\n"])
}

/// Writes one element of a JSON array.
pub(super) type JsonElement<'a, T> = dyn FnMut(&T) -> Result<(), CommandError> + 'a;

/// Prints a JSON array like [`json`], element by element.
pub(super) fn json_list<T: Serialize>(
    produce: impl FnOnce(&mut JsonElement<'_, T>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let failed = |error: serde_json::Error| {
        if error.is_io() {
            return map_write_error(Err(error.into()));
        }
        Ok(map_json_error(Err(error)).map(drop)?)
    };
    let mut serializer = serde_json::Serializer::pretty(&mut out);
    let mut list = match serializer.serialize_seq(None) {
        Ok(list) => list,
        Err(error) => return failed(error),
    };
    produce(&mut |element| list.serialize_element(element).or_else(failed))?;
    list.end().or_else(failed)?;
    map_write_error(out.write_all(b"\n").and_then(|()| out.flush()))
}

/// Prints JSON on one line to stdout.
pub(super) fn compact_json(value: &impl Serialize) -> Result<(), CommandError> {
    data(&[&map_json_error(serde_json::to_vec(value))?, b"\n"])
}

/// Explains why a value can't be JSON: a path in it is not UTF-8.
fn map_json_error(json: serde_json::Result<Vec<u8>>) -> Result<Vec<u8>, Error> {
    json.map_err(|error| {
        let message = "cannot print this as JSON: a path is not valid UTF-8; try without --json";
        Error::new(ErrorKind::Invalid, message).with_source(error)
    })
}

/// Serializes paths lossily, because JSON must be UTF-8.
pub(super) fn shown_paths<S: Serializer>(
    paths: &[PathBuf],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.display().to_string()))
}

/// Prints styled text to stdout; colours only on a terminal.
pub(super) fn print_styled(text: &str) -> Result<(), CommandError> {
    let mut out = anstream::stdout().lock();
    map_write_error(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints a unified diff with coloured lines.
pub(super) fn diff(text: &str) -> Result<(), CommandError> {
    let coloured = |line: &str| {
        let style = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => BOLD,
            [b'+', ..] => GREEN,
            [b'-', ..] => RED,
            [b'@', ..] => CYAN,
            _ => Style::new(),
        };
        let line = line.trim_end_matches('\r').replace('\t', "    ");
        let shown = fitted(&line, MAX_DIFF_COLUMNS);
        let more = line.chars().count().saturating_sub(shown.chars().count());
        let more = if more > 0 { format!(" (and {more} more characters)") } else { String::new() };
        format!("{style}{shown}{more}{style:#}\n")
    };
    print_styled(&text.lines().map(coloured).collect::<String>())
}

/// Waits for `time`, or until the reader of stdout is gone; true if it is gone.
pub(super) fn wait_for_reader_exit(time: Duration) -> bool {
    let out = io::stdout();
    let mut watched = [PollFd::new(&out, PollFlags::empty())];
    let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    // If stdout can't be polled, its reader counts as present.
    match poll(&mut watched, Some(&time)) {
        Ok(count) => count > 0 && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP),
        Err(_) => false,
    }
}

/// Prints rows under headings, as wide as the terminal allows.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> Result<(), CommandError> {
    line(build_table(headings, rows).trim_fmt())
}

fn build_table(headings: &[&str], rows: &[Vec<String>]) -> Table {
    let mut table = Table::new();
    let cells = |row: &Vec<String>| row.iter().map(|cell| printable(cell).into_owned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.load_style(presets::NOTHING).set_header(headings).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP)).set_cell_alignment(CellAlignment::Left);
    }
    table
}

/// Spaces between two columns.
const GAP: u16 = 2;

/// Minimum width of the text column of a list.
const MIN_TEXT_COLUMNS: u16 = 20;

fn column_widths(headings: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let widest = |(at, heading): (usize, &&str)| {
        let cells = rows.iter().map(|row| printable(&row[at]).width());
        cells.fold(heading.width(), usize::max)
    };
    headings.iter().enumerate().map(widest).collect()
}

/// Streaming list. The first rows determine the widths; a list of no more rows is fitted to the
/// terminal.
pub(super) struct RowStream {
    headings: &'static [&'static str],
    first: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    out: io::BufWriter<io::Stdout>,
}

impl RowStream {
    /// Number of rows that determine the widths.
    const FIRST: usize = 1_000;

    pub(super) fn new(headings: &'static [&'static str]) -> Self {
        Self { headings, first: Vec::new(), widths: None, out: io::BufWriter::new(io::stdout()) }
    }

    pub(super) fn add(&mut self, row: Vec<String>) -> Result<(), CommandError> {
        if self.widths.is_some() {
            return self.print(&row);
        }
        self.first.push(row);
        if self.first.len() < Self::FIRST {
            return Ok(());
        }
        self.widths = Some(column_widths(self.headings, &self.first));
        let headings: Vec<String> = self.headings.iter().map(ToString::to_string).collect();
        self.print(&headings)?;
        std::mem::take(&mut self.first).iter().try_for_each(|row| self.print(row))
    }

    fn print(&mut self, row: &[String]) -> Result<(), CommandError> {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(self.widths.iter().flatten()) {
            let cell = printable(cell);
            line.push_str(&cell);
            line.push_str(&" ".repeat(width.saturating_sub(cell.width()) + 2));
        }
        map_write_error(writeln!(self.out, "{}", line.trim_end()))
    }

    /// Prints what is left; false if there was no row at all.
    pub(super) fn finish(mut self) -> Result<bool, CommandError> {
        if self.widths.is_some() {
            return map_write_error(self.out.flush()).map(|()| true);
        }
        if self.first.is_empty() {
            return Ok(false);
        }
        let (headings, rows) = (self.headings, &self.first);
        let mut table = build_table(headings, rows);
        let Some(room) = table.width() else { return line(table.trim_fmt()).map(|()| true) };
        // The first column is a name and the last one text. Names stay whole, so that they can be
        // copied: on a narrow terminal the text is wrapped, then columns in between are left out,
        // from the right.
        let widths = column_widths(headings, rows);
        let last = widths.len() - 1;
        let text = widths[last].min(MIN_TEXT_COLUMNS.into());
        let needed =
            |before: &[usize]| before.iter().map(|it| it + usize::from(GAP)).sum::<usize>();
        let fits = |kept: &usize| needed(&widths[..*kept]) + text <= usize::from(room);
        let kept = (1..=last).rev().find(fits).unwrap_or(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_constraint(match at {
                at if at == last => ColumnConstraint::LowerBoundary(Width::Fixed(MIN_TEXT_COLUMNS)),
                at if at < kept => ColumnConstraint::ContentWidth,
                _ => ColumnConstraint::Hidden,
            });
            if at == last {
                column.set_padding((0, 0));
            }
        }
        line(table.trim_fmt()).map(|()| true)
    }
}

/// Prints names and values, one pair on each line.
pub(super) fn fields(fields: &[(&str, String)]) -> Result<(), CommandError> {
    let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let row = |(name, value): &(&str, String)| format!("{name:<width$}  {}\n", printable(value));
    data(&[fields.iter().map(row).collect::<String>().as_bytes()])
}

/// Prints a line for people to stderr.
pub(super) fn say(text: impl Display) {
    print_stderr(&printable(&text.to_string()));
}

/// Prints a dimmed line for people to stderr.
pub(super) fn say_dimmed(text: impl Display) {
    print_stderr(&format!("{DIM}{}{DIM:#}", printable(&text.to_string())));
}

/// Prints a line of a list for people to stderr: a sign, a name and what there is to say of it.
pub(super) fn say_marked(style: Style, sign: &str, name: &str, text: &str) {
    let (name, text) = (printable(name), printable(text));
    print_stderr(&format!("{style}{sign}{style:#} {BOLD}{name}{BOLD:#}  {text}"));
}

pub(super) fn warn(text: impl Display) {
    print_labelled(YELLOW.bold(), "warning", &text.to_string());
}

pub(super) fn error(text: impl Display) {
    print_labelled(RED, "error", &text.to_string());
}

/// Prints a remedy.
pub(super) fn hint(text: impl Display) {
    print_labelled(CYAN, "hint", &text.to_string());
}

/// Prints help, the version or a usage error; returns the exit code.
pub(super) fn print_usage(error: &clap::Error, wrong: i32) -> i32 {
    // A closed pipe is the reader's choice.
    let _ = error.print();
    if error.use_stderr() { wrong } else { YES }
}

/// True if stdout is a terminal.
pub(super) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// True if stdin is a terminal, so that a person can answer.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// True if a person sees stdout and can answer, so that there can be one step at a time.
pub(super) fn can_converse() -> bool {
    can_ask() && stdout_is_terminal()
}

/// Columns of the terminal; 80 if it does not tell.
pub(super) fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
}

/// Asks a yes-or-no question; true if there is no terminal.
pub(super) fn confirm(question: impl Display) -> bool {
    !can_ask() || matches!(ask(format_args!("{question} [y/N]")).as_str(), "y" | "yes")
}

/// Asks a question that one key answers; none if the input ends.
pub(super) fn ask_key(question: impl Display) -> Option<char> {
    let mut err = anstream::stderr().lock();
    let _ = write!(err, "{} ", printable(&question.to_string()));
    let _ = err.flush();
    let stdin = io::stdin();
    // Keys one by one, where the terminal can; else the first letter of a line.
    let keys = SingleKeys::begin();
    let mut byte = [0];
    let read = stdin.lock().read(&mut byte);
    drop(keys);
    let key = read.ok().filter(|count| *count > 0).map(|_| char::from(byte[0]));
    let _ = writeln!(err, "{}", key.filter(char::is_ascii_graphic).unwrap_or(' '));
    key
}

/// Asks for a line of text; empty if there is none.
pub(super) fn ask_text(question: impl Display) -> String {
    read_answer(question).trim().to_owned()
}

/// Asks a question; returns the answer in lower case, empty if there is none.
pub(super) fn ask(question: impl Display) -> String {
    read_answer(question).trim().to_lowercase()
}

fn read_answer(question: impl Display) -> String {
    let mut err = anstream::stderr().lock();
    let _ = write!(err, "{} ", printable(&question.to_string()));
    let _ = err.flush();
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    if read.is_ok() { answer } else { String::new() }
}

fn print_labelled(style: Style, label: &str, text: &str) {
    print_stderr(&format!("{style}{label}:{style:#} {}", printable(text)));
}

/// Progress bar on a terminal, once work turns out to be long.
pub(super) struct ProgressDisplay {
    doing: &'static str,
    started: Deadline,
    bar: Option<ProgressBar>,
}

/// Delay before the progress bar appears.
const PROGRESS_DELAY: Duration = Duration::from_millis(500);

impl ProgressDisplay {
    pub(super) fn new(doing: &'static str) -> Self {
        Self { doing, started: Deadline::after(PROGRESS_DELAY), bar: None }
    }

    pub(super) fn show(&mut self, done: usize, all: usize) {
        if self.bar.is_none() && !self.started.has_passed() {
            return;
        }
        // Draws nothing where stderr is no terminal.
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(all as u64).with_prefix(self.doing).with_style(style)
        });
        bar.set_position(done as u64);
    }

    /// Shows bytes, in mebibytes.
    pub(super) fn show_mebibytes(&mut self, done: u64, all: u64) {
        let mebibytes = |bytes: u64| usize::try_from(bytes >> 20).unwrap_or(usize::MAX);
        self.show(mebibytes(done), mebibytes(all));
    }

    pub(super) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Best effort: a closed stderr is no failure.
fn print_stderr(text: &str) {
    let name = if LINES_ARE_PREFIXED.load(Ordering::Relaxed) { "recoup: " } else { "" };
    let _ = writeln!(anstream::stderr().lock(), "{name}{text}");
}

/// True if each line is prefixed with the program's name.
static LINES_ARE_PREFIXED: AtomicBool = AtomicBool::new(false);

/// Prefixes all further lines for people with the program's name: another program writes to the
/// same streams.
pub(super) fn prefix_lines() {
    LINES_ARE_PREFIXED.store(true, Ordering::Relaxed);
}

/// Raw stdout and stderr, for the output of another program.
pub(super) fn outlets() -> OutputFds {
    OutputFds { out: rustix::stdio::stdout(), err: rustix::stdio::stderr() }
}

/// Stdin and stdout of an MCP client.
pub(super) fn streams() -> StdioStreams {
    StdioStreams {
        input: Box::new(io::stdin()),
        output: Box::new(io::stdout()),
        is_hung_up: || process::is_hung_up(io::stdin().as_fd()),
    }
}

/// Raw streams of an MCP client, for the proxy.
pub(super) fn client_streams() -> io::Result<ClientStreams> {
    Ok(ClientStreams {
        input: io::stdin().as_fd().try_clone_to_owned()?.into(),
        output: io::stdout().as_fd().try_clone_to_owned()?.into(),
        is_hung_up: || process::is_hung_up(io::stdin().as_fd()),
        errors: rustix::stdio::stderr(),
        close_stdout: || {
            if let Ok(null) = std::fs::File::open("/dev/null") {
                let _ = rustix::stdio::dup2_stdout(null);
            }
        },
    })
}

/// Like [`printable`], shortened to at most `width` columns.
pub(super) fn fitted(text: &str, width: usize) -> String {
    let text = printable(text);
    if text.width() <= width {
        return text.into_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let left = room.checked_sub(c.width().unwrap_or(0));
        room = left.unwrap_or(0);
        left.is_some()
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Like [`fitted`], padded to exactly `width` columns.
pub(super) fn padded(text: &str, width: usize) -> String {
    let text = fitted(text, width);
    let missing = width.saturating_sub(text.width());
    text + &" ".repeat(missing)
}
