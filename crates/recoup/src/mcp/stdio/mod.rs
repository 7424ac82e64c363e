//! The server on stdin and stdout. It ends when stdin does, or when nobody reads stdout any more.
//!
//! Two threads read and write, whatever the streams are; the rest runs on one thread. While a
//! client does not read its responses, nothing is read from it, so the memory that it can make us
//! use is bounded.

mod id;
mod message;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::thread;
use std::time::Duration;

use recoup_core::Result;
use recoup_core::error::IoContext as _;
use rmcp::model::{
    ClientJsonRpcMessage, GetExtensions as _, JsonRpcResponse, ListToolsResult,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RoleServer, serve_server};
use rmcp::transport::Transport;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::message::ParsedLine;
use self::message::{InputLine, LineReader};
use super::in_flight::{InFlightBytes, InFlightLimits};
use super::server::McpServer;
use super::{ServerOptions, ServerState, workers};

/// Limits for the messages of the client.
const STDIO_LIMITS: InFlightLimits = InFlightLimits { held: 8 << 20, unread: 4 << 20 };
/// Time limit for writing the last responses after stdin has ended.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval at which a full connection is checked for a client that has left.
const HANGUP_CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// Streams that connect client and server.
pub(crate) struct StdioStreams {
    pub(crate) input: Box<dyn Read + Send>,
    pub(crate) output: Box<dyn Write + Send>,
    /// True if nobody can write to the input any more, even if it is not read to its end.
    pub(crate) is_hung_up: fn() -> bool,
}

/// Serves one client until it leaves.
pub(crate) fn serve(
    state: ServerState,
    options: ServerOptions,
    streams: StdioStreams,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(workers::BACKGROUND_THREADS)
        .build()
        .with_context(|| "starting the server".to_owned())?;
    let served = runtime.block_on(async {
        let (transport, written) = StdioTransport::start(streams, state.leaving.clone())?;
        // Leaving before initialization is no error.
        if let Ok(running) = serve_server(McpServer::new(state, options), transport).await {
            let _ = running.waiting().await;
        }
        let _ = timeout(FLUSH_TIMEOUT, written).await;
        Ok(())
    });
    // Work that still waits for a lock has nobody to report to.
    runtime.shutdown_background();
    served
}

/// Returns the reply to a text that is no message; none if it is one.
pub(super) fn invalid_message_reply(text: Vec<u8>) -> Option<ServerJsonRpcMessage> {
    match message::parse_line(InputLine::Whole(text)) {
        ParsedLine::Wrong(answer) => Some(*answer),
        ParsedLine::Nothing | ParsedLine::Message(_) => None,
    }
}

/// The SDK's transport over both streams.
#[derive(Debug)]
struct StdioTransport {
    lines: mpsc::Receiver<InputLine>,
    output: Option<std_mpsc::Sender<Vec<u8>>>,
    load: Arc<InFlightBytes>,
    is_hung_up: fn() -> bool,
    /// Cancelled when nobody reads our output.
    unheard: CancellationToken,
    /// Cancelled when no more input comes: questions and subscriptions end.
    leaving: CancellationToken,
    /// True once the client has initialized: before, only requests count.
    greeted: bool,
    /// Last list of tools with its JSON, which is long and always the same.
    listed: Option<(ListToolsResult, Box<RawValue>)>,
}

impl StdioTransport {
    /// Starts the threads. The receiver is notified when all is written.
    fn start(
        streams: StdioStreams,
        leaving: CancellationToken,
    ) -> Result<(Self, oneshot::Receiver<()>)> {
        let StdioStreams { input, output, is_hung_up } = streams;
        let (into_lines, lines) = mpsc::channel(1);
        let (into_output, messages) = std_mpsc::channel();
        let (done, written) = oneshot::channel();
        let (load, unheard) =
            (Arc::new(InFlightBytes::with_limits(STDIO_LIMITS)), CancellationToken::new());
        let (writers_load, writers_unheard) = (load.clone(), unheard.clone());
        let starting = || "starting a thread".to_owned();
        thread::Builder::new()
            .name("stdin".into())
            .spawn(move || read(input, &into_lines))
            .with_context(starting)?;
        thread::Builder::new()
            .name("stdout".into())
            .spawn(move || {
                if write(output, &messages, &writers_load).is_err() {
                    writers_unheard.cancel();
                }
                let _ = done.send(());
            })
            .with_context(starting)?;
        let output = Some(into_output);
        let (greeted, listed) = (false, None);
        let stdio = Self { lines, output, load, is_hung_up, unheard, leaving, greeted, listed };
        Ok((stdio, written))
    }

    fn write_message(&mut self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let mut bytes = match message {
            ServerJsonRpcMessage::Response(JsonRpcResponse {
                jsonrpc,
                id,
                result: ServerResult::ListToolsResult(list),
            }) => {
                // Other protocol versions have other fields.
                let (_, result) = match self.listed.take().filter(|(listed, _)| listed == list) {
                    Some(listed) => self.listed.insert(listed),
                    None => self.listed.insert((list.clone(), to_raw_value(list)?)),
                };
                let (jsonrpc, id) = (*jsonrpc, id.clone());
                serde_json::to_vec(&JsonRpcResponse { jsonrpc, id, result })?
            }
            _ => serde_json::to_vec(message)?,
        };
        bytes.push(b'\n');
        self.load.charge_response(bytes.len());
        let output = self.output.as_ref().filter(|_| !self.unheard.is_cancelled());
        output.ok_or_else(gone)?.send(bytes).map_err(|_| gone())
    }

    /// Returns the next line, once there is room for it. Cancel-safe.
    async fn line(&mut self) -> Option<InputLine> {
        let (load, is_hung_up, lines) = (&self.load, self.is_hung_up, &mut self.lines);
        let next = async {
            wait_for_room(load, is_hung_up).await?;
            lines.recv().await
        };
        self.unheard.run_until_cancelled(next).await.flatten()
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.write_message(&message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(line) = self.line().await else {
                self.leaving.cancel();
                return None;
            };
            let bytes = line.len();
            match message::parse_line(line) {
                ParsedLine::Nothing => {}
                ParsedLine::Wrong(answer) => self.write_message(&answer).ok()?,
                ParsedLine::Message(mut message) => {
                    self.greeted |= message::is_conversation_start(&message);
                    if let ClientJsonRpcMessage::Request(request) = &mut *message {
                        message::keep_known_meta(&mut request.request);
                        request.request.extensions_mut().insert(self.load.charge_request(bytes));
                    } else if !self.greeted {
                        // The SDK would end over a notification that comes too early.
                        continue;
                    }
                    return Some(*message);
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        Ok(())
    }
}

/// Waits for room; none if the client has left without reading its responses.
async fn wait_for_room(load: &InFlightBytes, is_hung_up: fn() -> bool) -> Option<()> {
    while load.is_full() {
        let eased =
            timeout(HANGUP_CHECK_INTERVAL, load.wait_for_release(InFlightBytes::is_full)).await;
        if eased.is_err() && is_hung_up() {
            return None;
        }
    }
    Some(())
}

/// Reads until the end, or until nobody takes the lines.
fn read(input: Box<dyn Read + Send>, lines: &mpsc::Sender<InputLine>) {
    let mut input = LineReader::new(input);
    while let Some(line) = input.next() {
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

fn write(
    mut output: Box<dyn Write + Send>,
    messages: &std_mpsc::Receiver<Vec<u8>>,
    load: &InFlightBytes,
) -> io::Result<()> {
    while let Ok(message) = messages.recv() {
        output.write_all(&message).and_then(|()| output.flush())?;
        load.release_response(message.len());
    }
    Ok(())
}
