//! Connections of the gateway: plain or TLS, HTTP/1.1 and HTTP/2, with limits, until it is told to
//! stop. Open answers are finished before it ends.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use parking_lot::Mutex;
use recoup_core::base::fsx;
use recoup_core::cache::Cache;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::status::{ReloadStatus, ServerFacts};
use super::stream_limit::StreamExecutor;
use super::{CassetteMode, Gateway, GatewayLimits, LiveSettings};
use crate::config::{GatewaySettings, PriceTable};
use crate::llm::ApiKey;

/// Pause after a failed accept, for example when all file descriptors are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Length of what an HTTP/2 client says first.
const PREFACE_LEN: usize = 24;
/// Longest time for open answers after the one has ended for whom it serves.
const STOP_DRAIN: Duration = Duration::from_secs(5);
/// Most bytes of a request's head.
const MAX_HEAD_BYTES: u16 = u16::MAX;
/// Most threads that wait for the store. Each has a connection to it, and takes memory.
const MAX_STORE_THREADS: usize = 32;
/// Most streams of one HTTP/2 connection.
const MAX_STREAMS: u32 = 256;
/// Largest file with a certificate or a key.
const MAX_PEM: u64 = 1 << 20;

/// Everything that a gateway needs from outside.
pub(crate) struct GatewaySetup<'a> {
    pub(crate) cache: Cache,
    /// The store, for people.
    pub(crate) store: String,
    /// Number of faults of the store after which the work went on.
    pub(crate) store_errors: Arc<AtomicU64>,
    pub(crate) settings: GatewaySettings,
    pub(crate) prices: PriceTable,
    /// Directory of logs and counts.
    pub(crate) home: PathBuf,
    /// Makes fingerprints of credentials that cannot be guessed.
    pub(crate) fingerprint_key: Vec<u8>,
    /// API key in a variable.
    pub(crate) key_of: &'a (dyn Fn(&str) -> Result<Option<ApiKey>> + Sync),
    pub(crate) cassette: CassetteMode,
    /// Loads the settings anew.
    pub(crate) reload: &'a (dyn Fn() -> Result<(GatewaySettings, PriceTable)> + Sync),
    /// Tells a person what happened.
    pub(crate) tell: &'a (dyn Fn(&str) + Sync),
}

impl std::fmt::Debug for GatewaySetup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatewaySetup").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Serves until the process is told to stop, or until `stop` if there is one: then signals are somebody else's.
/// Calls `ready` with the URL.
pub(crate) fn serve(
    setup: &GatewaySetup<'_>,
    stop: Option<oneshot::Receiver<()>>,
    ready: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(MAX_STORE_THREADS)
        .build()
        .with_context(|| "starting the gateway".to_owned())?;
    let ended = runtime.block_on(run(setup, stop, ready));
    setup.cache.flush_events();
    // Threads that wait for a store must not keep the process alive.
    runtime.shutdown_background();
    ended
}

async fn run(
    setup: &GatewaySetup<'_>,
    stop: Option<oneshot::Receiver<()>>,
    ready: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    let GatewaySetup { cache, settings, prices, fingerprint_key, key_of, home, .. } = setup;
    let listening = || format!("cannot listen on {}", settings.listen);
    let listener = TcpListener::bind(settings.listen).await.with_context(listening)?;
    let address = listener.local_addr().with_context(listening)?;
    // Who may call depends on the address that is really listened at, whatever a reload says.
    let settings = GatewaySettings { listen: address, ..settings.clone() };
    let live = LiveSettings::new(settings.clone(), prices.clone(), fingerprint_key, key_of)?;
    let mut ends = match stop {
        Some(stop) => ServeEnds::Stop(stop),
        None => ServeEnds::signals()?,
    };
    let url = format!("{}://{address}", if live.tls.is_some() { "https" } else { "http" });
    let places = Arc::new(Semaphore::new(settings.limits.connections));
    let facts = ServerFacts {
        url: url.clone(),
        address,
        store: setup.store.clone(),
        started: cache.clock().now(),
        places: Arc::clone(&places),
        max_connections: settings.limits.connections,
        last_reload: Mutex::default(),
    };
    let cassette = setup.cassette.clone();
    let gateway = Gateway::new(cache.clone(), live, home, &setup.store_errors, facts, cassette)?;
    let gateway = Arc::new(gateway);
    ready(&url)?;
    let open = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            wish = ends.next() => match wish {
                ServerWish::End => break,
                ServerWish::Reload => {
                    gateway.reload(setup);
                    continue;
                }
            },
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Beyond the limit newcomers are turned away, so that those who are served go on.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        // Small answers must not wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let connection = ClientConnection { gateway: Arc::clone(&gateway), place: Arc::new(place) };
        tokio::spawn(connection.serve(stream, open.watcher()));
    }
    drop(listener);
    let mut limit = gateway.live.read().settings.limits.drain_timeout;
    if let ServeEnds::Stop(_) = ends {
        limit = limit.min(STOP_DRAIN);
    } else {
        (setup.tell)("stopping: open answers are finished first (a second signal ends at once)");
    }
    let drained = timeout(limit, async {
        open.shutdown().await;
        // Answers whose clients have gone are read to their end, too.
        while gateway.flights.running() > 0 {
            sleep(Duration::from_millis(20)).await;
        }
    });
    let is_drained = tokio::select! {
        drained = drained => drained.is_ok(),
        () = ends.second() => false,
    };
    let observer = Arc::clone(&gateway.observer);
    // Best effort: it has a limit of its own.
    let _ = tokio::task::spawn_blocking(move || observer.flush()).await;
    if !is_drained {
        (setup.tell)("some answers were not finished");
    }
    if let Some(traces) = &gateway.observer.traces {
        traces.flush().await;
    }
    Ok(())
}

/// Wish of somebody outside.
enum ServerWish {
    End,
    Reload,
}

/// Source of wishes.
enum ServeEnds {
    Signals {
        interrupt: Signal,
        terminate: Signal,
        hangup: Signal,
    },
    /// One who decides alone.
    Stop(oneshot::Receiver<()>),
}

impl ServeEnds {
    fn signals() -> Result<Self> {
        let listen = |kind| signal(kind).with_context(|| "cannot receive signals".to_owned());
        Ok(Self::Signals {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> ServerWish {
        match self {
            Self::Signals { interrupt, terminate, hangup } => tokio::select! {
                _ = interrupt.recv() => ServerWish::End,
                _ = terminate.recv() => ServerWish::End,
                _ = hangup.recv() => ServerWish::Reload,
            },
            Self::Stop(stop) => {
                // One who has gone wants the same.
                let _ = stop.await;
                ServerWish::End
            }
        }
    }

    /// Waits for a second wish to end.
    async fn second(&mut self) {
        match self {
            Self::Signals { interrupt, terminate, .. } => tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            },
            Self::Stop(_) => std::future::pending().await,
        }
    }
}

impl Gateway {
    /// Replaces the settings, all or none of them.
    fn reload(&self, setup: &GatewaySetup<'_>) {
        let loaded = (setup.reload)().and_then(|(settings, prices)| {
            if settings.tls.is_some() != self.live.read().tls.is_some() {
                return Err(Error::usage("TLS can't be switched on or off while it runs"));
            }
            let settings = GatewaySettings { listen: self.server.address, ..settings };
            LiveSettings::new(settings, prices, &setup.fingerprint_key, setup.key_of)
        });
        let refused = loaded.as_ref().err().map(ToString::to_string);
        let at = self.cache.clock().now().to_second_string();
        *self.server.last_reload.lock() = Some(ReloadStatus { at, refused });
        match loaded {
            Ok(live) => {
                *self.live.write() = Arc::new(live);
                (setup.tell)("the configuration was reloaded");
            }
            Err(error) => {
                let message =
                    format!("the configuration was not reloaded, the old one stays: {error}");
                (setup.tell)(&message);
            }
        }
    }
}

/// One connection of a client.
struct ClientConnection {
    gateway: Arc<Gateway>,
    place: Arc<ConnectionPlace>,
}

/// A place among the connections; an upgraded one keeps it.
pub(super) type ConnectionPlace = OwnedSemaphorePermit;

impl ClientConnection {
    async fn serve(
        self,
        stream: tokio::net::TcpStream,
        watcher: hyper_util::server::graceful::Watcher,
    ) {
        let live = Arc::clone(&self.gateway.live.read());
        let limits = live.settings.limits.clone();
        match &live.tls {
            None => self.serve_http(StallGuard::new(stream, &limits), &limits, watcher).await,
            Some(tls) => {
                let accepted = timeout(limits.head_timeout, tls.accept(stream)).await;
                if let Ok(Ok(stream)) = accepted {
                    let stream = StallGuard::new(stream, &limits);
                    self.serve_http(stream, &limits, watcher).await;
                }
            }
        }
    }

    async fn serve_http<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        &self,
        stream: S,
        limits: &GatewayLimits,
        watcher: hyper_util::server::graceful::Watcher,
    ) {
        let patience = limits.client_timeout;
        let mut builder = auto::Builder::new(StreamExecutor { patience });
        builder
            .http1()
            .preserve_header_case(true)
            .max_buf_size(MAX_HEAD_BYTES.into())
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_timeout);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(MAX_HEAD_BYTES.into())
            .keep_alive_interval(limits.head_timeout);
        let service = service_fn(|mut request: Request<Incoming>| {
            let gateway = Arc::clone(&self.gateway);
            request.extensions_mut().insert(Arc::clone(&self.place));
            async move { Ok::<_, std::convert::Infallible>(gateway.answer(request).await) }
        });
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        // Errors of a connection are the client's business.
        let _ = watcher.watch(connection.into_owned()).await;
    }
}

/// Passes bytes between the two ends of an upgraded connection.
pub(super) async fn join_upgraded(
    ours: OnUpgrade,
    theirs: OnUpgrade,
    _place: Option<Arc<ConnectionPlace>>,
) {
    if let (Ok(ours), Ok(theirs)) = (ours.await, theirs.await) {
        let _ = copy_bidirectional(&mut TokioIo::new(ours), &mut TokioIo::new(theirs)).await;
    }
}

/// Reads a certificate chain and its key.
pub(super) fn tls_acceptor(chain: &std::path::Path, key: &std::path::Path) -> Result<TlsAcceptor> {
    let read = |path: &std::path::Path| {
        let found = fsx::read_regular(path, MAX_PEM)?;
        found.ok_or_else(|| Error::usage(format!("{} does not exist", path.display())))
    };
    let invalid = |path: &std::path::Path, why: String| {
        Error::usage(format!("{}: not a usable PEM file: {why}", path.display()))
    };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&read(chain)?)
        .collect::<Result<_, _>>()
        .map_err(|error| invalid(chain, error.to_string()))?;
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|error| invalid(key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, secret));
    let mut config = config.map_err(|error| invalid(chain, error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A connection that fails when the client takes nothing for too long.
struct StallGuard<S> {
    stream: S,
    patience: Duration,
    timer: Pin<Box<Sleep>>,
    is_waiting: bool,
    /// Ends the wait for the first bytes, which tell the protocol.
    begin: Pin<Box<Sleep>>,
    has_begun: bool,
}

impl<S> StallGuard<S> {
    fn new(stream: S, limits: &GatewayLimits) -> Self {
        let patience = limits.client_timeout;
        let (timer, begin) = (Box::pin(sleep(patience)), Box::pin(sleep(limits.head_timeout)));
        Self { stream, patience, timer, is_waiting: false, begin, has_begun: false }
    }

    /// Measures the time from the first write that did not get through.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        done: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.is_waiting = false;
            return done;
        }
        if !std::mem::replace(&mut self.is_waiting, true) {
            self.timer.as_mut().reset(Instant::now() + self.patience);
        }
        match self.timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // hyper's own limit begins only when the protocol is known.
        if !self.has_begun && self.begin.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let before = buffer.filled().len();
        let done = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = &buffer.filled()[before..];
        self.has_begun |= read.contains(&b'\n') || read.len() >= PREFACE_LEN;
        done
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.watch(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
