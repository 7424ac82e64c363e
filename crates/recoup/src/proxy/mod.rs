//! The MCP caching proxy: one client on stdin and stdout, and one server behind it.
//!
//! ```text
//! client ──stdin──► client reader ──► session ──► the server's stdin, or HTTP
//!        ◄─stdout── session ◄── server reader ◄── the server's stdout, or HTTP
//! ```
//! Every line passes byte for byte, in both directions. The session looks at some of them, and
//! answers from the cache where the configuration gives a TTL. The proxy never speaks first.

mod activity;
mod call_table;
mod client_output;
mod keeper;
mod session;
mod stderr_relay;
mod workers;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::Deadline;
use recoup_core::error::IoContext as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::activity::{WatchedReader, growing_pauses};
use self::client_output::{ClientOutput, WaitingFile};
use self::session::ProxySession;
use crate::mcp_client::message::{self, LineReader, ReadPiece};
use crate::mcp_client::{
    HttpServerOptions, HttpUpstream, KILL_AFTER, ServerEnd, ServerExit, ServerProcess, Upstream,
};
use crate::process::IgnoredSignals;
use crate::toolbox::ToolCache;

/// How long the output of a server that has ended may be held open in silence, by a process that it
/// left behind.
const MAX_SILENCE: Duration = Duration::from_millis(500);
/// How long a server may take nothing of what a client wrote that has left.
const MAX_STALL: Duration = Duration::from_secs(5);
/// Interval of checks for that.
const HANGUP_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Time for calls that still wait when the client's last line was read.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Streams of the client.
#[derive(Debug)]
pub(crate) struct ClientStreams {
    pub(crate) input: File,
    pub(crate) output: File,
    /// True if nobody can write to the input any more, even if it is not read to its end.
    pub(crate) is_hung_up: fn() -> bool,
    /// Receives what the server writes to its stderr.
    pub(crate) errors: BorrowedFd<'static>,
    /// Closes our stdout, so that the client sees its end.
    pub(crate) close_stdout: fn(),
}

/// The server behind the proxy.
#[derive(Debug)]
pub(crate) enum ServerSpec {
    /// A command with its arguments.
    Command(Vec<OsString>),
    /// A server that is spoken to over HTTP.
    Http(Box<HttpServerOptions>),
}

/// Something that may end the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProxyEvent {
    /// The client has closed our stdin.
    ClientLeft,
    /// Nobody reads our stdout.
    ClientDeaf,
    /// The server has closed its stdout, or is lost.
    ServerClosed,
    ServerExited,
    Signal(i32),
}

/// Sends an event when a thread ends, also if it breaks: nobody must wait for it in vain.
struct EventAtEnd {
    events: Sender<ProxyEvent>,
    event: ProxyEvent,
}

impl Drop for EventAtEnd {
    fn drop(&mut self) {
        let _ = self.events.send(self.event);
    }
}

/// Connects a client and a server until one of them has left; returns the exit code.
pub(crate) fn run_proxy(
    server: ServerSpec,
    client: ClientStreams,
    cache: Option<ToolCache>,
) -> Result<i32> {
    let (events, received) = mpsc::channel();
    match server {
        ServerSpec::Command(words) => run_process(&words, client, cache, (&events, &received)),
        ServerSpec::Http(options) => run_http(*options, client, cache, (&events, &received)),
    }
}

fn run_process(
    words: &[OsString],
    client: ClientStreams,
    cache: Option<ToolCache>,
    (events, received): (&Sender<ProxyEvent>, &Receiver<ProxyEvent>),
) -> Result<i32> {
    // Before the server runs: a signal in between must find its receiver.
    announce_signals(events)?;
    let ClientStreams { input, output, is_hung_up, errors, close_stdout } = client;
    let (mut process, streams) = ServerProcess::start(words, |_| {})?;
    let stderr = streams.errors;
    let relay = thread::spawn(move || stderr_relay::relay_stderr(&stderr, errors));
    let exited = events.clone();
    process.announce_exit(move || {
        let _ = exited.send(ProxyEvent::ServerExited);
    });
    let client = ClientOutput::new(output, close_stdout, events.clone());
    let session = Arc::new(ProxySession::new(client, Upstream::Process(streams.input), cache));
    let (reading, server_events) = (Arc::clone(&session), events.clone());
    let output = WatchedReader { inner: streams.output, activity: session.activity() };
    let mut from_server = LineReader::new(output);
    let passing = thread::spawn(move || {
        let _end = EventAtEnd { events: server_events, event: ProxyEvent::ServerClosed };
        let mut line = Vec::new();
        while let Ok(Some(piece)) = from_server.next(&mut line) {
            let is_heard = match piece {
                ReadPiece::Line => reading.on_server_line(&mut line),
                part => reading.on_server_part(&line, part),
            };
            if !is_heard {
                break;
            }
        }
    });
    let lines_read = read_client(input, &session, events.clone());
    // A server that does not read keeps us from seeing the end of what the client wrote.
    let (mut seen, mut stall) = (0, Deadline::after(MAX_STALL));
    loop {
        if lines_read.load(Ordering::Relaxed) != seen || !is_hung_up() {
            (seen, stall) = (lines_read.load(Ordering::Relaxed), Deadline::after(MAX_STALL));
        }
        if stall.has_passed() {
            session.close_server();
            process.begin_end();
        }
        let wait = process.next_deadline().map_or(HANGUP_CHECK_INTERVAL, Deadline::remaining);
        let check = Deadline::after(wait.min(HANGUP_CHECK_INTERVAL));
        match next_event(received, Some(check)) {
            Some(ProxyEvent::ClientLeft | ProxyEvent::ClientDeaf) => {
                session.close_server();
                process.begin_end();
            }
            Some(ProxyEvent::Signal(signal)) => {
                process.forward_signal(signal);
                session.close_server();
            }
            Some(ProxyEvent::ServerClosed) => session.close_client(),
            Some(ProxyEvent::ServerExited) => break,
            None => process.end_overdue(),
        }
    }
    await_silence(&passing, &session, received);
    session.finish(FLUSH_TIMEOUT);
    let was_ended = process.was_ended;
    let (exit, has_orphans) = process.reap();
    // The relay ends with the stream, or when nobody reads; an orphan may hold the stream open.
    let deadline = Deadline::after(MAX_SILENCE);
    for pause in growing_pauses() {
        if relay.is_finished() || has_orphans && deadline.has_passed() {
            break;
        }
        thread::sleep(pause);
    }
    Ok(if was_ended { 0 } else { exit.map_or(1, ServerExit::exit_code) })
}

fn run_http(
    options: HttpServerOptions,
    client: ClientStreams,
    cache: Option<ToolCache>,
    (events, received): (&Sender<ProxyEvent>, &Receiver<ProxyEvent>),
) -> Result<i32> {
    let ends = events.clone();
    let on_end = move |end| {
        let _ = ends.send(match end {
            ServerEnd::Closed => ProxyEvent::ServerClosed,
            ServerEnd::Exited => ProxyEvent::ServerExited,
        });
    };
    let (upstream, mut messages) = HttpUpstream::start(options, Arc::new(on_end))?;
    let ClientStreams { input, output, close_stdout, .. } = client;
    let client = ClientOutput::new(output, close_stdout, events.clone());
    let session = Arc::new(ProxySession::new(client, Upstream::Http(upstream), cache));
    let reading = Arc::clone(&session);
    let passing = thread::spawn(move || {
        while let Some(mut line) = messages.blocking_recv() {
            if !reading.on_server_line(&mut line) {
                break;
            }
        }
    });
    read_client(input, &session, events.clone());
    announce_signals(events)?;
    let (mut deadline, mut code) = (None, 0);
    // After the client has left, answers that are on their way have as long as a process has.
    while let Some(event) = next_event(received, deadline) {
        match event {
            ProxyEvent::ClientLeft | ProxyEvent::ClientDeaf => {
                session.close_server();
                deadline.get_or_insert_with(|| Deadline::after(KILL_AFTER));
            }
            ProxyEvent::Signal(signal) => {
                code = 128 + signal;
                session.close_server();
                deadline = Some(Deadline::after(MAX_SILENCE));
            }
            ProxyEvent::ServerClosed => {
                code = 1;
                break;
            }
            ProxyEvent::ServerExited => break,
        }
    }
    if code <= 128 {
        await_silence(&passing, &session, received);
    }
    session.finish(FLUSH_TIMEOUT);
    Ok(code)
}

/// Waits until the client has everything that the server has left behind, however slowly it reads:
/// until the thread that passes it on has ended, or nothing happens any more.
fn await_silence(
    passing: &JoinHandle<()>,
    session: &ProxySession,
    received: &Receiver<ProxyEvent>,
) {
    let activity = session.activity();
    let (mut seen, mut silence) = (activity.steps_done(), Deadline::after(MAX_SILENCE));
    for pause in growing_pauses() {
        if !activity.is_busy() && (passing.is_finished() || silence.has_passed()) {
            return;
        }
        let check = Deadline::after(pause);
        if let Some(ProxyEvent::ClientDeaf | ProxyEvent::Signal(_)) =
            next_event(received, Some(check))
        {
            return;
        }
        if activity.is_busy() || activity.steps_done() != seen {
            (seen, silence) = (activity.steps_done(), Deadline::after(MAX_SILENCE));
        }
    }
}

/// Reads the client's lines on a thread of their own; returns how many there were so far.
fn read_client(
    input: File,
    session: &Arc<ProxySession>,
    events: Sender<ProxyEvent>,
) -> Arc<AtomicU64> {
    let session = Arc::clone(session);
    let lines_read = Arc::<AtomicU64>::default();
    let counter = Arc::clone(&lines_read);
    let mut from_client = LineReader::new(WaitingFile(input));
    thread::spawn(move || {
        let _end = EventAtEnd { events, event: ProxyEvent::ClientLeft };
        let mut line = Vec::new();
        while let Ok(Some(piece)) = from_client.next(&mut line) {
            counter.fetch_add(1, Ordering::Relaxed);
            match piece {
                ReadPiece::Line => session.on_client_line(&mut line),
                part => session.on_client_part(&line, part),
            }
        }
        session.await_calls(FLUSH_TIMEOUT);
    });
    lines_read
}

/// Sends an event for each signal that asks us to end, unless we were started to ignore it.
fn announce_signals(events: &Sender<ProxyEvent>) -> Result<()> {
    let ignored = IgnoredSignals::at_start();
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|it| ignored.is_delivered(*it));
    let mut signals = Signals::new(wanted).with_context(|| "watching for signals".to_owned())?;
    let events = events.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            let _ = events.send(ProxyEvent::Signal(signal));
        }
    });
    Ok(())
}

/// The next event; none at the deadline.
fn next_event(received: &Receiver<ProxyEvent>, deadline: Option<Deadline>) -> Option<ProxyEvent> {
    match deadline {
        None => received.recv().ok(),
        Some(deadline) => received.recv_timeout(deadline.remaining()).ok(),
    }
}
