//! One connection, to a server or to a cluster. To one server, plain or TLS, it has one deadline for
//! a whole request: the library has time-outs for each read, which a slow server could stretch to many
//! times that. Encoding and parsing are still the library's.
//!
//! Trust anchors are the CA that the URL names, or else those of the system. The library would always
//! load the system's, which takes longer than the rest of a look-up, so only clusters leave TLS to it.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;
use std::{fmt, fs};

use redis::cluster::{ClusterClient, ClusterConnection, ClusterPipeline};
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::io::tcp::TcpSettings;
use redis::{
    Cmd, ConnectionAddr, ConnectionInfo, ConnectionLike as _, IntoConnectionInfo as _, Parser,
    RedisConnectionInfo, RedisError, RedisResult, TlsCertificates, TlsMode, Value,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::base::clock::Deadline;
use crate::store::RedisTarget;

/// Maximum number of redirections of a cluster command.
const REDIRECTIONS: u32 = 3;
/// Minimum and maximum wait between two tries, in milliseconds.
const RETRY_WAIT: (u64, u64) = (5, 50);
/// A node that does not answer may take this share of the time for all. It may do so
/// four times (as the first to be asked and as one of the nodes, for two questions
/// each), and then there is still some for the others.
const SHARE: u32 = 6;
const UNREADABLE: &str = "cannot read the certificate";

pub(super) enum RedisConnection {
    Single(SingleServer),
    Cluster(Box<ClusterConnection>),
}

impl RedisConnection {
    pub(super) fn connect(target: &RedisTarget) -> RedisResult<Self> {
        if target.tls {
            // The first provider counts for the whole process.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        if !target.cluster {
            return SingleServer::connect(target).map(Self::Single);
        }
        let nodes = target.nodes.iter().map(|node| info_for(target, node));
        let mut builder = ClusterClient::builder(nodes.collect::<RedisResult<Vec<_>>>()?)
            .retries(REDIRECTIONS)
            .min_retry_wait(RETRY_WAIT.0)
            .max_retry_wait(RETRY_WAIT.1)
            .tcp_settings(without_delay())
            .connection_timeout(target.timeout / SHARE)
            .response_timeout(target.timeout);
        if target.tls {
            builder = builder.tls(TlsMode::Secure);
        }
        if let Some(authority) = load_ca_certificates(target)? {
            builder =
                builder.certs(TlsCertificates { client_tls: None, root_cert: Some(authority) });
        }
        let connection = builder.build()?.get_connection()?;
        connection.set_read_timeout(Some(target.timeout))?;
        connection.set_write_timeout(Some(target.timeout))?;
        Ok(Self::Cluster(Box::new(connection)))
    }

    /// True if it enforces the deadline itself, whatever the server does.
    pub(super) fn enforces_deadline(&self) -> bool {
        matches!(self, Self::Single(_))
    }

    /// Sends all commands at once, and returns the answers in order, error answers included.
    pub(super) fn run(&mut self, commands: &[Cmd], deadline: Deadline) -> RedisResult<Vec<Value>> {
        let connection = match self {
            Self::Single(connection) => return connection.run(commands, deadline),
            Self::Cluster(connection) => connection,
        };
        // A pipeline does not follow redirections, and one error in it hides all other answers. Then
        // all commands are sent again one by one: they are idempotent.
        if commands.len() > 1 {
            let mut pipeline = ClusterPipeline::with_capacity(commands.len());
            for command in commands {
                pipeline.add_command(command.clone());
            }
            match pipeline.query(connection) {
                Err(error) if error.clone().into_server_errors().is_some() => {}
                done => return done,
            }
        }
        let run = |command: &Cmd| {
            // An error that the server sent is an answer.
            connection.req_command(command).or_else(|error| {
                match error.clone().into_server_errors().as_deref() {
                    Some([(_, answer), ..]) => Ok(Value::ServerError(answer.clone())),
                    _ => Err(error),
                }
            })
        };
        commands.iter().map(run).collect()
    }

    /// The nodes that hold keys; empty for a single server.
    pub(super) fn primaries(&mut self) -> RedisResult<Vec<(String, u16)>> {
        let Self::Cluster(connection) = self else { return Ok(Vec::new()) };
        let random = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
        let slots = connection.route_command(redis::cmd("CLUSTER").arg("SLOTS"), random)?;
        // `[first slot, last slot, [host, port, …], …]`
        let primary = |slots: Value| {
            let primary = slots.into_sequence().ok()?.into_iter().nth(2)?;
            let mut primary = primary.into_sequence().ok()?.into_iter();
            let host: String = redis::from_redis_value(primary.next()?).ok()?;
            let port: u16 = redis::from_redis_value(primary.next()?).ok()?;
            (!host.is_empty()).then_some((host, port))
        };
        let slots = slots.into_sequence().unwrap_or_default().into_iter();
        let mut nodes: Vec<(String, u16)> = slots.filter_map(primary).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }

    /// Runs a command on one node of a cluster.
    pub(super) fn run_at(
        &mut self,
        node: &(String, u16),
        command: &Cmd,
        deadline: Deadline,
    ) -> RedisResult<Value> {
        match self {
            Self::Single(connection) => {
                let answers = connection.run(std::slice::from_ref(command), deadline)?;
                answers.into_iter().next().unwrap_or(Value::Nil).extract_error()
            }
            Self::Cluster(connection) => {
                let (host, port) = node.clone();
                let there = SingleNodeRoutingInfo::ByAddress { host, port };
                connection.route_command(command, RoutingInfo::SingleNode(there))
            }
        }
    }
}

fn info_for(target: &RedisTarget, (host, port): &(String, u16)) -> RedisResult<ConnectionInfo> {
    let host = host.clone();
    let address = if target.tls {
        ConnectionAddr::TcpTls { host, port: *port, insecure: false, tls_params: None }
    } else {
        ConnectionAddr::Tcp(host, *port)
    };
    let mut settings =
        RedisConnectionInfo::default().set_db(target.database).set_skip_set_lib_name();
    if let Some(username) = &target.username {
        settings = settings.set_username(username);
    }
    // A user name is not sent without a password; some users need none, and accept any.
    match (&target.password, &target.username) {
        (Some(password), _) => settings = settings.set_password(password),
        (None, Some(_)) => settings = settings.set_password(""),
        (None, None) => {}
    }
    let info = address.into_connection_info()?;
    Ok(info.set_redis_settings(settings).set_tcp_settings(without_delay()))
}

fn without_delay() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

pub(super) struct SingleServer {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    parser: Parser,
}

impl SingleServer {
    /// Connects before the deadline; only the name resolution may take longer.
    pub(super) fn connect(target: &RedisTarget) -> RedisResult<Self> {
        let deadline = Deadline::after(target.timeout);
        let tls = target.tls.then(|| tls_client(target)).transpose()?.map(Box::new);
        let (host, port) = &target.nodes[0];
        let stream = connect_first_address(host, *port, deadline)?;
        stream.set_nodelay(true)?;
        let mut server = Self { stream, tls, parser: Parser::new() };
        // Each with the error message for its refusal.
        let (mut commands, mut refusals) = (Vec::new(), Vec::new());
        if target.username.is_some() || target.password.is_some() {
            let mut command = redis::cmd("AUTH");
            if let Some(username) = &target.username {
                command.arg(username);
            }
            // Some users need no password, and accept any.
            command.arg(target.password.as_deref().unwrap_or_default());
            commands.push(command);
            refusals.push("Password authentication failed");
        }
        if target.database != 0 {
            let mut command = redis::cmd("SELECT");
            command.arg(target.database);
            commands.push(command);
            refusals.push("The server refused to switch the database");
        }
        for (answer, refusal) in server.run(&commands, deadline)?.into_iter().zip(refusals) {
            answer.extract_error().map_err(|error| {
                // The server is still loading.
                if error.kind() == redis::ErrorKind::Server(redis::ServerErrorKind::BusyLoading) {
                    return error;
                }
                let detail = error.detail().unwrap_or_default().to_owned();
                RedisError::from((redis::ErrorKind::AuthenticationFailed, refusal, detail))
            })?;
        }
        Ok(server)
    }

    /// Sends all commands at once, and returns the answers in order. After an error the connection
    /// must be dropped: an answer may still arrive.
    pub(super) fn run(&mut self, commands: &[Cmd], deadline: Deadline) -> RedisResult<Vec<Value>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let mut packed = Vec::new();
        for command in commands {
            command.write_packed_command(&mut packed);
        }
        let mut timed = DeadlineStream { stream: &self.stream, deadline };
        match &mut self.tls {
            None => exchange(&mut self.parser, &mut timed, &packed, commands.len()),
            Some(tls) => {
                let mut timed = rustls::Stream::new(&mut **tls, &mut timed);
                exchange(&mut self.parser, &mut timed, &packed, commands.len())
            }
        }
    }
}

fn exchange(
    parser: &mut Parser,
    stream: &mut (impl Read + Write),
    packed: &[u8],
    answers: usize,
) -> RedisResult<Vec<Value>> {
    stream.write_all(packed)?;
    (0..answers).map(|_| parser.parse_value(&mut *stream)).collect()
}

/// Tries all addresses of a host.
fn connect_first_address(host: &str, port: u16, deadline: Deadline) -> RedisResult<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, remaining_time(deadline)?) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last.into())
}

/// A stream that reads and writes until a deadline.
struct DeadlineStream<'a> {
    stream: &'a TcpStream,
    deadline: Deadline,
}

impl Read for DeadlineStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(remaining_time(self.deadline)?))?;
        self.stream.read(buffer)
    }
}

impl Write for DeadlineStream<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(remaining_time(self.deadline)?))?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The remaining time; an error if there is none, because zero would disable the time-out.
fn remaining_time(deadline: Deadline) -> io::Result<Duration> {
    let left = deadline.remaining();
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// The TLS client for the first node.
fn tls_client(target: &RedisTarget) -> RedisResult<ClientConnection> {
    let (host, _) = &target.nodes[0];
    let name = ServerName::try_from(host.clone())
        .map_err(|error| tls_error("invalid host name for TLS", &error))?;
    let mut roots = RootCertStore::empty();
    match load_ca_certificates(target)? {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(&pem).flatten() {
                roots.add(certificate).map_err(|error| tls_error(UNREADABLE, &error))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        let remedy = "add ?ca=FILE to the URL";
        return Err(tls_error("this system has no certificate authorities", &remedy));
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    ClientConnection::new(config.into(), name)
        .map_err(|error| tls_error("cannot set up TLS", &error))
}

/// The CA certificates that the URL names, as PEM; `None` for the system's.
fn load_ca_certificates(target: &RedisTarget) -> RedisResult<Option<Vec<u8>>> {
    let Some(path) = &target.ca else { return Ok(None) };
    let shown = path.display();
    let unreadable =
        |error: &dyn fmt::Display| tls_error(UNREADABLE, &format_args!("{shown}: {error}"));
    let pem = fs::read(path).map_err(|error| unreadable(&error))?;
    match CertificateDer::pem_slice_iter(&pem).find_map(Result::err) {
        Some(error) => Err(unreadable(&error)),
        None if CertificateDer::pem_slice_iter(&pem).next().is_none() => {
            Err(tls_error("no certificate found", &format_args!("{shown}: expected PEM")))
        }
        None => Ok(Some(pem)),
    }
}

fn tls_error(what: &'static str, detail: &dyn fmt::Display) -> RedisError {
    RedisError::from((redis::ErrorKind::InvalidClientConfig, what, detail.to_string()))
}
