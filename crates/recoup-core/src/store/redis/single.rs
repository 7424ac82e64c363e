//! A connection to one server, plain or TLS, with one deadline for a whole request: the library has
//! time-outs for each read, which a slow server could stretch to many times that. Encoding and
//! parsing are still the library's.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use redis::{Cmd, Parser, RedisError, RedisResult, Value};
use rustls::ClientConnection;

use super::target::RedisTarget;
use super::tls;
use crate::base::clock::Deadline;

pub(super) struct SingleServer {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    parser: Parser,
}

impl SingleServer {
    /// Connects before the deadline; only the name resolution may take longer.
    pub(super) fn connect(target: &RedisTarget) -> RedisResult<Self> {
        let deadline = Deadline::after(target.timeout);
        let tls = target.tls.then(|| tls::tls_client(target)).transpose()?.map(Box::new);
        let (host, port) = &target.nodes[0];
        let stream = connect_first_address(host, *port, deadline)?;
        stream.set_nodelay(true)?;
        let mut server = Self { stream, tls, parser: Parser::new() };
        let (commands, refusals): (Vec<_>, Vec<_>) = handshake_commands(target).into_iter().unzip();
        for (answer, refusal) in server.run(&commands, deadline)?.into_iter().zip(refusals) {
            answer.extract_error().map_err(|error| handshake_error(&error, refusal))?;
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

/// The commands that authenticate and select the database, each with the error message for its
/// refusal.
fn handshake_commands(target: &RedisTarget) -> Vec<(Cmd, &'static str)> {
    let mut greeting = Vec::new();
    if target.username.is_some() || target.password.is_some() {
        let mut command = redis::cmd("AUTH");
        if let Some(username) = &target.username {
            command.arg(username);
        }
        // Some users need no password, and accept any.
        command.arg(target.password.as_deref().unwrap_or_default());
        greeting.push((command, "Password authentication failed"));
    }
    if target.database != 0 {
        let mut command = redis::cmd("SELECT");
        command.arg(target.database);
        greeting.push((command, "The server refused to switch the database"));
    }
    greeting
}

/// An authentication error with the server's message, unless the server is still loading.
fn handshake_error(error: &RedisError, refusal: &'static str) -> RedisError {
    if matches!(error.kind(), redis::ErrorKind::Server(redis::ServerErrorKind::BusyLoading)) {
        return error.clone();
    }
    let detail = error.detail().unwrap_or_default().to_owned();
    RedisError::from((redis::ErrorKind::AuthenticationFailed, refusal, detail))
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
