//! Checks the MCP servers that clients start, by a real handshake with each.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Stopwatch};
use serde_json::{Value, json};

use super::client_files::{self, ClientFileRole};
use super::hooks::{enable_hooks_remedy, version_remedy};
use crate::doctor::DoctorContext;
use crate::doctor::client_program::{OUR_VERSION, find_program, permitted_call};
use crate::doctor::finding::{DoctorFinding, FindingFact, FindingState};
use crate::doctor::fix::{init_command, offer_reinstall};
use crate::doctor::probe::{self, ProbeError, ProbedProcess};
use crate::doctor::sandbox::ProbeSandbox;
use crate::install::{
    AgentClient, ClientInstallation, InstallLevel, InstalledServer, ProxiedServer, SettingsContent,
    SettingsFile,
};

const CHECK: &str = "mcp";

/// Clients wait a few seconds longer.
const LIMIT: Duration = Duration::from_secs(10);
/// Time for a server to exit after its stdin is closed.
const TO_END: Duration = Duration::from_secs(5);

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let all = context.installed.iter().flat_map(|of| of.servers.iter().map(move |it| (of, it)));
    let servers: Vec<(&ClientInstallation, &InstalledServer)> = all.collect();
    let mut others = client_files::find_malformed(CHECK, ClientFileRole::Servers, context);
    for of in &context.installed {
        // `recoup init` leaves another server of our name, and adds none.
        let Some(taken) = &of.taken else { continue };
        let (name, shown) = (of.client.title(), context.places.display_path(&of.path));
        let what = format!("{name} ({}): {taken}", of.level.as_str());
        others.push(
            DoctorFinding::warn(CHECK, "name-taken", what)
                .remedy(format!("rename it in {shown}, then run `recoup init`"))
                .fact("client", of.client.as_str())
                .fact("level", of.level.as_str()),
        );
    }
    others.extend(find_lost_servers(context));
    let proxied = context.installed.iter().flat_map(|of| of.proxied.iter().map(move |it| (of, it)));
    let proxied: Vec<(&ClientInstallation, &ProxiedServer)> = proxied.collect();
    let is_bare = servers.is_empty() && proxied.is_empty();
    if is_bare && !others.is_empty() {
        return others;
    }
    if is_bare {
        return vec![
            DoctorFinding::skipped(CHECK, "none", "no client has recoup's MCP server")
                .remedy("`recoup init` registers it, and `recoup init --client mcp` prints it for any other client"),
        ];
    }
    let sandbox = match ProbeSandbox::new(context) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let what = format!("no server could be started: {error}");
            return vec![
                DoctorFinding::fail(CHECK, "no-room", what)
                    .remedy("free some space in the temporary directory (TMPDIR)"),
            ];
        }
    };
    let found =
        servers.into_iter().flat_map(|(of, server)| check_server(of, server, &sandbox, context));
    let proxied = proxied.into_iter().map(|(of, it)| check_proxied(of, it, &sandbox, context));
    found.chain(proxied).chain(others).collect()
}

/// Reports clients whose registration of our server is gone.
fn find_lost_servers(context: &DoctorContext) -> Vec<DoctorFinding> {
    let places = &context.places;
    let all = InstallLevel::ALL.into_iter();
    let slots =
        all.flat_map(|level| AgentClient::ALL.map(|client| client.settings_files(level, places)));
    let is_of_servers = |slot: &SettingsFile| {
        matches!(slot.holds, SettingsContent::Servers(_) | SettingsContent::TomlServers)
    };
    let has_any = |slot: &SettingsFile| {
        let mut here = context.installed.iter().filter(|of| of.client == slot.client);
        here.any(|of| !of.servers.is_empty() || of.taken.is_some() || of.fault.is_some())
    };
    let gone = slots.flatten().filter(|it| is_of_servers(it) && context.was_installed(it));
    let gone = gone.filter(|slot| !has_any(slot));
    let told = |slot: SettingsFile| {
        let (client, level) = (slot.client, slot.level);
        let what = format!("{} ({}): recoup's server was removed", client.title(), level.as_str());
        DoctorFinding::warn(CHECK, "lost", what)
            .remedy(format!("`{}` adds it again", init_command(client, level)))
            .fact("client", client.as_str())
            .fact("level", level.as_str())
    };
    gone.map(told).collect()
}

fn check_server(
    of: &ClientInstallation,
    server: &InstalledServer,
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> Vec<DoctorFinding> {
    let said = |finding: DoctorFinding| {
        finding.fact("client", of.client.as_str()).fact("level", of.level.as_str())
    };
    let name = format!("{} ({})", of.client.title(), of.level.as_str());
    if server.off {
        let what = format!("{name}: recoup's server is disabled, and was not started");
        let shown = context.places.display_path(&of.path);
        let remedy = format!("enable it in {shown} if you want it");
        return vec![said(DoctorFinding::skipped(CHECK, "switched-off", what).remedy(remedy))];
    }
    if let Some((why, code)) = find_program(&server.call, context).fault() {
        let shown = context.places.display_path(&of.path);
        let what = format!("{name}: {} {why}; it is named in {shown}", server.call.started());
        let finding = DoctorFinding::fail(CHECK, code, what);
        return vec![said(if server.call.wrapped {
            finding.remedy("this entry was written by hand: correct it there")
        } else {
            offer_reinstall(finding, of, context, "sets it to this program")
        })];
    }
    let call = match permitted_call(&server.call, of, context) {
        Ok(call) => call,
        Err(why) => {
            let what = format!("{name}: its command was not tested: {}", why.describe());
            let shown = context.places.display_path(&of.path);
            let finding = DoctorFinding::skipped(CHECK, "withheld", what)
                .remedy(format!("check it yourself in {shown}"));
            return vec![said(finding)];
        }
    };
    let first = handshake_finding(
        &name,
        perform_handshake(probe::sandboxed_command(&call, sandbox, context)),
    );
    // A failing program is replaced if `recoup init` would do so.
    let offered = (first.state == FindingState::Fail && !server.call.wrapped)
        .then(|| offer_reinstall(first.clone(), of, context, "sets it to this program"));
    let first = offered.filter(|it| it.fix.is_some()).unwrap_or(first);
    [first].into_iter().chain(find_flag_mismatch(&name, of, server, context)).map(said).collect()
}

/// Greets another server through our proxy, as its client would.
fn check_proxied(
    of: &ClientInstallation,
    server: &ProxiedServer,
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> DoctorFinding {
    let shown = context.places.display_path(&of.path);
    let name = format!("{} ({}): server “{}”", of.client.title(), of.level.as_str(), server.name);
    let said = |finding: DoctorFinding| {
        finding.fact("client", of.client.as_str()).fact("level", of.level.as_str())
    };
    if server.off {
        let what = format!("{name} is switched off, and was not started");
        return said(DoctorFinding::skipped(CHECK, "switched-off", what));
    }
    if let Some((why, code)) = find_program(&server.call, context).fault() {
        let what = format!("{name}: {} {why}; {shown} has it", server.call.started());
        return said(DoctorFinding::fail(CHECK, code, what).remedy(
            "`recoup mcp unwrap`, then `recoup mcp wrap`, puts this program in front of it",
        ));
    }
    let call = match permitted_call(&server.call, of, context) {
        Ok(call) => call,
        Err(why) => {
            let what = format!("{name} was not tried through the proxy: {}", why.describe());
            let remedy = format!("look at it yourself, in {shown}");
            return said(DoctorFinding::skipped(CHECK, "withheld", what).remedy(remedy));
        }
    };
    let variables: Vec<(String, String)> =
        server.variables.iter().filter(|it| !is_inherited(it)).cloned().collect();
    let mut values = variables.iter().map(|(_, value)| value).chain(call.args.iter());
    let is_inside = |dir: &Path| dir.is_relative() || context.repository.contains(dir);
    if values.any(|it| is_placeholder(it)) || server.dir.as_deref().is_some_and(is_inside) {
        let what = format!(
            "{name} was not tried through the proxy: its entry has something that only the client knows"
        );
        let remedy = format!("look at it yourself, in {shown}");
        return said(DoctorFinding::skipped(CHECK, "withheld", what).remedy(remedy));
    }
    let mut command = probe::sandboxed_command(&call, sandbox, context);
    let sandbox_home = ("RECOUP_HOME".to_owned(), sandbox.home.display().to_string());
    command.envs(variables.into_iter().chain([sandbox_home]));
    if let Some(dir) = &server.dir {
        command.current_dir(dir);
    }
    let failed = |code, what: String| {
        let remedy = format!(
            "run its command yourself, and see what it says; `recoup mcp unwrap {shown}` takes the \
             proxy away"
        );
        DoctorFinding::fail(CHECK, code, format!("{name}: {what}")).remedy(remedy)
    };
    said(match perform_handshake(command) {
        Ok(McpHandshake { tools, took, .. }) => {
            let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            let word = if tools == 1 { "tool" } else { "tools" };
            let what = format!("{name}: {tools} {word} through the proxy, after {millis} ms");
            DoctorFinding::ok(CHECK, what).fact("tools", tools).fact("ms", millis)
        }
        Err(HandshakeError::NotStarted(why)) => {
            failed("not-started", format!("it can't be started: {why}"))
        }
        Err(HandshakeError::Silent) => {
            failed("too-late", format!("it said nothing within {} s", LIMIT.as_secs()))
        }
        Err(HandshakeError::Strange(why)) => failed("wrong-answer", why.to_owned()),
    })
}

/// True if a variable is only passed on: `"TOKEN": "${TOKEN}"`.
fn is_inherited((name, value): &(String, String)) -> bool {
    [format!("${{{name}}}"), format!("${{env:{name}}}"), format!("{{env:{name}}}")].contains(value)
}

/// True if a client replaces a part of the text: `${workspaceFolder}`, `{env:TOKEN}`.
fn is_placeholder(text: &str) -> bool {
    text.contains("${") || text.contains("{env:")
}

/// Reports a `--with-hooks` flag that disagrees with the hooks: rules must be loaded exactly once.
fn find_flag_mismatch(
    name: &str,
    of: &ClientInstallation,
    server: &InstalledServer,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let has_flag = server.call.args.iter().any(|arg| arg == "--with-hooks");
    let has_hooks = context.has_our_hooks(of.client)
        && of.client.file_disabling_hooks(of.level, &context.places).is_none();
    let (code, what) = match (has_hooks, has_flag) {
        (true, false) => (
            "without-flag",
            format!(
                "{name}: hooks already deliver the rules, but the server asks the agent to load \
                 them again"
            ),
        ),
        (false, true) => (
            "without-hooks",
            format!("{name}: the server relies on hooks to deliver the rules, but there are none"),
        ),
        _ => return None,
    };
    let finding = DoctorFinding::warn(CHECK, code, what);
    let offered = offer_reinstall(finding, of, context, "sets --with-hooks accordingly");
    let off = of.client.file_disabling_hooks(InstallLevel::Project, &context.places);
    Some(match off.filter(|_| offered.fix.is_none()) {
        Some(by) => {
            offered.remedy(enable_hooks_remedy(of.client, &context.places.display_path(&by)))
        }
        None => offered,
    })
}

/// A server's answers to the handshake.
struct McpHandshake {
    name: String,
    version: String,
    tools: usize,
    took: Duration,
    ends: bool,
}

enum HandshakeError {
    NotStarted(String),
    /// No answer in time.
    Silent,
    /// An exit, or an unexpected answer.
    Strange(&'static str),
}

fn handshake_finding(name: &str, shaken: Result<McpHandshake, HandshakeError>) -> DoctorFinding {
    let greeted = match shaken {
        Ok(greeted) => greeted,
        Err(HandshakeError::NotStarted(why)) => {
            return DoctorFinding::fail(
                CHECK,
                "not-started",
                format!("{name}: it can't be started: {why}"),
            )
            .remedy("`recoup init` sets a program that can be started");
        }
        Err(HandshakeError::Silent) => {
            let what = format!("{name}: the server did not answer within {} s", LIMIT.as_secs());
            return DoctorFinding::fail(CHECK, "too-late", what)
                .remedy("run its command yourself to see what it waits for");
        }
        Err(HandshakeError::Strange(why)) => {
            return DoctorFinding::fail(CHECK, "wrong-answer", format!("{name}: {why}"))
                .remedy("run its command yourself to see what it prints");
        }
    };
    let McpHandshake { name: server, version, tools, took, ends } = greeted;
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let what = format!("{name}: {server} {version}, {tools} tools, answered in {millis} ms");
    let found = if !ends {
        DoctorFinding::warn(
            CHECK,
            "stays",
            format!("{what}; it kept running after its client disconnected"),
        )
        .remedy("such servers accumulate: check its command")
    } else if version != OUR_VERSION {
        DoctorFinding::warn(CHECK, "other-version", format!("{what}; this is {OUR_VERSION}"))
            .remedy(version_remedy(&version))
    } else {
        DoctorFinding::ok(CHECK, what)
    };
    found.fact("version", FindingFact::version(&version)).fact("tools", tools).fact("ms", millis)
}

/// Initializes the server as a client would, lists its tools, and disconnects.
fn perform_handshake(mut command: Command) -> Result<McpHandshake, HandshakeError> {
    let (watch, deadline) = (Stopwatch::start(), Deadline::after(LIMIT));
    let mut server = ProbedProcess::start(&mut command).map_err(|failed| match failed {
        ProbeError::NotStarted(error) => HandshakeError::NotStarted(error.to_string()),
        ProbeError::TooLate => HandshakeError::Silent,
    })?;
    let client = json!({"name": "recoup-doctor", "version": OUR_VERSION});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let hello = send_request(&mut server, 1, "initialize", &params, deadline)?;
    server.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let tools = send_request(&mut server, 2, "tools/list", &json!({}), deadline)?;
    let took = watch.elapsed();
    server.close();
    let ends = server.exits_before(Deadline::after(TO_END));
    let text = |name: &str| {
        let text = hello["serverInfo"][name].as_str().unwrap_or_default();
        text.chars().take(40).collect::<String>()
    };
    let tools =
        tools["tools"].as_array().ok_or(HandshakeError::Strange("its list of tools is missing"))?;
    Ok(McpHandshake {
        name: text("name"),
        version: text("version"),
        tools: tools.len(),
        took,
        ends,
    })
}

/// Sends a request and returns its result, skipping unrelated messages.
fn send_request(
    server: &mut ProbedProcess,
    id: u64,
    method: &str,
    params: &Value,
    deadline: Deadline,
) -> Result<Value, HandshakeError> {
    let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    server.write(format!("{question}\n").as_bytes());
    loop {
        let line = server.read_line(deadline).map_err(|why| match why {
            RecvTimeoutError::Timeout => HandshakeError::Silent,
            RecvTimeoutError::Disconnected => {
                HandshakeError::Strange("the server exited without an answer")
            }
        })?;
        let answer: Value = serde_json::from_slice(&line).map_err(|_| {
            HandshakeError::Strange("the server printed something that is not JSON")
        })?;
        if answer["id"] == id {
            let result = answer.get("result").cloned();
            return result.ok_or(HandshakeError::Strange("the server answered with an error"));
        }
    }
}
