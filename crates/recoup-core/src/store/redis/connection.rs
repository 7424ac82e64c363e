//! One connection, to a server or to a cluster.

use redis::cluster::{ClusterClient, ClusterConnection, ClusterPipeline};
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::io::tcp::TcpSettings;
use redis::{
    Cmd, ConnectionAddr, ConnectionInfo, ConnectionLike as _, IntoConnectionInfo as _,
    RedisConnectionInfo, RedisError, RedisResult, TlsCertificates, TlsMode, Value,
};

use super::single::SingleServer;
use super::target::RedisTarget;
use super::tls;
use crate::base::clock::Deadline;

/// Maximum number of redirections of a cluster command.
const REDIRECTIONS: u32 = 3;
/// Minimum and maximum wait between two tries, in milliseconds.
const RETRY_WAIT: (u64, u64) = (5, 50);

/// A node that does not answer may take this share of the time for all. It may do so
/// four times (as the first to be asked and as one of the nodes, for two questions
/// each), and then there is still some for the others.
const SHARE: u32 = 6;

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
        if target.cluster {
            connect_cluster(target)
        } else {
            SingleServer::connect(target).map(Self::Single)
        }
    }

    /// True if it enforces the deadline itself, whatever the server does.
    pub(super) fn enforces_deadline(&self) -> bool {
        matches!(self, Self::Single(_))
    }

    /// Sends all commands at once, and returns the answers in order, error answers included.
    pub(super) fn run(&mut self, commands: &[Cmd], deadline: Deadline) -> RedisResult<Vec<Value>> {
        match self {
            Self::Single(connection) => connection.run(commands, deadline),
            Self::Cluster(connection) => run_on_cluster(connection, commands),
        }
    }

    /// The nodes that hold keys; empty for a single server.
    pub(super) fn primaries(&mut self) -> RedisResult<Vec<(String, u16)>> {
        let Self::Cluster(connection) = self else { return Ok(Vec::new()) };
        let random = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
        let slots = connection.route_command(redis::cmd("CLUSTER").arg("SLOTS"), random)?;
        let mut nodes: Vec<(String, u16)> =
            slots.into_sequence().unwrap_or_default().into_iter().filter_map(primary_of).collect();
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

fn connect_cluster(target: &RedisTarget) -> RedisResult<RedisConnection> {
    let nodes =
        target.nodes.iter().map(|node| info_for(target, node)).collect::<RedisResult<Vec<_>>>()?;
    let mut builder = ClusterClient::builder(nodes)
        .retries(REDIRECTIONS)
        .min_retry_wait(RETRY_WAIT.0)
        .max_retry_wait(RETRY_WAIT.1)
        .tcp_settings(without_delay())
        .connection_timeout(target.timeout / SHARE)
        .response_timeout(target.timeout);
    if target.tls {
        builder = builder.tls(TlsMode::Secure);
    }
    if let Some(authority) = tls::load_ca_certificates(target)? {
        builder = builder.certs(TlsCertificates { client_tls: None, root_cert: Some(authority) });
    }
    let connection = builder.build()?.get_connection()?;
    connection.set_read_timeout(Some(target.timeout))?;
    connection.set_write_timeout(Some(target.timeout))?;
    Ok(RedisConnection::Cluster(Box::new(connection)))
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

/// A pipeline does not follow redirections, and one error in it hides all other answers. Then all
/// commands are sent again one by one: they are idempotent.
fn run_on_cluster(connection: &mut ClusterConnection, commands: &[Cmd]) -> RedisResult<Vec<Value>> {
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
    commands
        .iter()
        .map(|command| connection.req_command(command).or_else(error_as_answer))
        .collect()
}

/// Turns an error that the server sent into an answer.
fn error_as_answer(error: RedisError) -> RedisResult<Value> {
    match error.clone().into_server_errors().as_deref() {
        Some([(_, answer), ..]) => Ok(Value::ServerError(answer.clone())),
        _ => Err(error),
    }
}

/// `[first slot, last slot, [host, port, …], …]`
fn primary_of(slots: Value) -> Option<(String, u16)> {
    let mut primary =
        slots.into_sequence().ok()?.into_iter().nth(2)?.into_sequence().ok()?.into_iter();
    let host: String = redis::from_redis_value(primary.next()?).ok()?;
    let port: u16 = redis::from_redis_value(primary.next()?).ok()?;
    (!host.is_empty()).then_some((host, port))
}
