//! The server on stdin and stdout. It ends when its stdin does, or when nobody reads its
//! stdout any more.
//!
//! Two threads read and write, so that it does not matter what the streams are; the rest
//! runs on one thread. A client that does not read its answers is not read from, either:
//! what it can make us keep is bounded.

mod id;
mod lines;
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

use self::lines::{Line, Lines};
use self::message::Understood;
use super::load::{Load, Most};
use super::server::Server;
use super::{Desk, Manner, turns};

/// How much there may be of what a client has asked, and has not read.
const MOST: Most = Most { held: 8 << 20, unread: 4 << 20 };
/// How long what was answered may take to be written when stdin has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long a client that has left may take nothing of what it has asked for.
const GLANCE: Duration = Duration::from_secs(3);

/// Where messages come from and go to.
pub(crate) struct Streams {
    pub(crate) input: Box<dyn Read + Send>,
    pub(crate) output: Box<dyn Write + Send>,
    /// Whether nobody can write to the input any more, though it may not be read to its end.
    pub(crate) is_hung_up: fn() -> bool,
}

/// Serves one client until it leaves.
pub(crate) fn serve(desk: Desk, manner: Manner, streams: Streams) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(turns::ASIDE)
        .build()
        .doing(|| "starting the server".to_owned())?;
    let served = runtime.block_on(async {
        let (transport, written) = Stdio::start(streams, desk.leaving.clone())?;
        // A client that leaves before it has said hello has left all the same.
        if let Ok(running) = serve_server(Server::new(desk, manner), transport).await {
            let _ = running.waiting().await;
        }
        let _ = timeout(LAST_WORDS, written).await;
        Ok(())
    });
    // Whoever waits for another's lock by now waits for nobody.
    runtime.shutdown_background();
    served
}

/// What is said about a text that is no message; none where it is one.
pub(super) fn misunderstood(text: Vec<u8>) -> Option<ServerJsonRpcMessage> {
    match message::understand(Line::Whole(text)) {
        Understood::Wrong(answer) => Some(*answer),
        Understood::Nothing | Understood::Message(_) => None,
    }
}

/// Both streams as the SDK takes them.
#[derive(Debug)]
struct Stdio {
    lines: mpsc::Receiver<Line>,
    output: Option<std_mpsc::Sender<Vec<u8>>>,
    load: Arc<Load>,
    is_hung_up: fn() -> bool,
    /// Cancelled when nobody reads us.
    unheard: CancellationToken,
    /// Cancelled when no more comes: nobody answers a question any more, or follows anything.
    leaving: CancellationToken,
    /// Whether the client has said hello: nothing but requests counts before.
    greeted: bool,
    /// The last list of tools, and its JSON: it is long, and the same each time.
    listed: Option<(ListToolsResult, Box<RawValue>)>,
}

impl Stdio {
    /// Starts the threads. The receiver is told when all is written.
    fn start(
        streams: Streams,
        leaving: CancellationToken,
    ) -> Result<(Self, oneshot::Receiver<()>)> {
        let Streams { input, output, is_hung_up } = streams;
        let (into_lines, lines) = mpsc::channel(1);
        let (into_output, messages) = std_mpsc::channel();
        let (done, written) = oneshot::channel();
        let (load, unheard) = (Arc::new(Load::of(MOST)), CancellationToken::new());
        let (writers_load, writers_unheard) = (load.clone(), unheard.clone());
        let starting = || "starting a thread".to_owned();
        thread::Builder::new()
            .name("stdin".into())
            .spawn(move || read(input, &into_lines))
            .doing(starting)?;
        thread::Builder::new()
            .name("stdout".into())
            .spawn(move || {
                if write(output, &messages, &writers_load).is_err() {
                    writers_unheard.cancel();
                }
                let _ = done.send(());
            })
            .doing(starting)?;
        let output = Some(into_output);
        let (greeted, listed) = (false, None);
        let stdio = Self { lines, output, load, is_hung_up, unheard, leaving, greeted, listed };
        Ok((stdio, written))
    }

    fn put(&mut self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let mut bytes = match message {
            ServerJsonRpcMessage::Response(JsonRpcResponse {
                jsonrpc,
                id,
                result: ServerResult::ListToolsResult(list),
            }) => {
                let (jsonrpc, id, result) = (*jsonrpc, id.clone(), self.json_of(list)?);
                serde_json::to_vec(&JsonRpcResponse { jsonrpc, id, result })?
            }
            _ => serde_json::to_vec(message)?,
        };
        bytes.push(b'\n');
        self.load.said(bytes.len());
        let output = self.output.as_ref().filter(|_| !self.unheard.is_cancelled());
        output.ok_or_else(gone)?.send(bytes).map_err(|_| gone())
    }

    fn json_of(&mut self, list: &ListToolsResult) -> io::Result<&RawValue> {
        // Another version of the protocol has other fields.
        let (_, json) = match self.listed.take().filter(|(listed, _)| listed == list) {
            Some(listed) => self.listed.insert(listed),
            None => self.listed.insert((list.clone(), to_raw_value(list)?)),
        };
        Ok(json)
    }

    /// The next line, once there is room for what it may bring. Nothing is lost when this
    /// is dropped half-way.
    async fn line(&mut self) -> Option<Line> {
        let (load, is_hung_up, lines) = (&self.load, self.is_hung_up, &mut self.lines);
        let next = async {
            room(load, is_hung_up).await?;
            lines.recv().await
        };
        self.unheard.run_until_cancelled(next).await.flatten()
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        std::future::ready(self.put(&message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(line) = self.line().await else {
                self.leaving.cancel();
                return None;
            };
            let bytes = line.len();
            match message::understand(line) {
                Understood::Nothing => {}
                Understood::Wrong(answer) => self.put(&answer).ok()?,
                Understood::Message(mut message) => {
                    self.greeted |= message::is_greeting(&message);
                    if let ClientJsonRpcMessage::Request(request) = &mut *message {
                        message::keep_known_meta(&mut request.request);
                        request.request.extensions_mut().insert(self.load.take(bytes));
                    } else if !self.greeted {
                        // The SDK would leave over a notification that comes too early.
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

/// Waits until there is room for one more; none where the client has left without reading
/// what it was told.
async fn room(load: &Load, is_hung_up: fn() -> bool) -> Option<()> {
    while load.is_full() {
        let eased = timeout(GLANCE, load.eased(Load::is_full)).await;
        if eased.is_err() && is_hung_up() {
            return None;
        }
    }
    Some(())
}

/// Reads until the end, or until nobody takes the lines.
fn read(input: Box<dyn Read + Send>, lines: &mpsc::Sender<Line>) {
    let mut input = Lines::new(input);
    while let Some(line) = input.next() {
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

fn write(
    mut output: Box<dyn Write + Send>,
    messages: &std_mpsc::Receiver<Vec<u8>>,
    load: &Load,
) -> io::Result<()> {
    while let Ok(message) = messages.recv() {
        output.write_all(&message).and_then(|()| output.flush())?;
        load.written(message.len());
    }
    Ok(())
}
