//! Checks the MCP servers in clients' settings: ours start this program, which is started once and
//! greeted; of others behind our proxy, the programs are there.

use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Stopwatch};
use serde_json::{Value, json};

use super::client_files;
use super::hooks::enable_hooks_remedy;
use crate::clients::RecoupCall;
use crate::doctor::finding::{DoctorFinding, FindingFact};
use crate::doctor::fix::{init_command, offer_reinstall};
use crate::doctor::installed_command::{InstalledCommand, find_command_fault};
use crate::doctor::probe::{ProbeError, ProbedProcess, sandboxed_command};
use crate::doctor::sandbox::{ProbeSandbox, no_room_finding};
use crate::doctor::{DoctorContext, OUR_VERSION};
use crate::install::{
    AgentClient, ClientInstallation, InstallLevel, InstalledServer, ProxiedServer, SettingsFile,
};

/// Clients wait a few seconds longer.
const LIMIT: Duration = Duration::from_secs(10);

/// Argument that tells the server that hooks deliver the rules.
const WITH_HOOKS: &str = "--with-hooks";

pub(super) fn find(context: &DoctorContext) -> Vec<DoctorFinding> {
    let installed = &context.installed;
    let servers = installed.iter().flat_map(|of| of.servers.iter().map(move |it| (of, it)));
    let proxied = installed.iter().flat_map(|of| of.proxied.iter().map(move |it| (of, it)));
    let mut found = check_servers(&servers.collect::<Vec<_>>(), context);
    found.extend(proxied.map(|(of, it)| check_proxied(of, it, context)));
    found.extend(client_files::find_malformed(false, context));
    found.extend(installed.iter().filter_map(|of| find_taken_name(of, context)));
    found.extend(find_lost_servers(context));
    if found.is_empty() {
        let what = "no client has recoup's MCP server";
        found.push(DoctorFinding::skipped("none", what).remedy(
            "`recoup init` registers it, and `recoup init --client mcp` prints it for any other \
             client",
        ));
    }
    found
}

/// Reports another server of our name: `recoup init` leaves it, and adds none.
fn find_taken_name(of: &ClientInstallation, context: &DoctorContext) -> Option<DoctorFinding> {
    let taken = of.taken.as_ref()?;
    let what = format!("{} ({}): {taken}", of.client.title(), of.level.as_str());
    let shown = context.places.display_path(&of.path);
    let remedy = format!("rename it in {shown}, then run `recoup init`");
    Some(DoctorFinding::warn("name-taken", what).remedy(remedy).about(of))
}

/// Reports clients whose registration of our server is gone.
fn find_lost_servers(context: &DoctorContext) -> Vec<DoctorFinding> {
    let places = &context.places;
    let all = InstallLevel::ALL.into_iter();
    let slots =
        all.flat_map(|level| AgentClient::ALL.map(|client| client.settings_files(level, places)));
    let has_any = |slot: &SettingsFile| {
        let mut here = context.installed.iter().filter(|of| of.client == slot.client);
        here.any(|of| !of.servers.is_empty() || of.taken.is_some() || of.fault.is_some())
    };
    let gone = slots.flatten().filter(|it| it.holds.is_for_servers() && context.was_installed(it));
    let gone = gone.filter(|slot| !has_any(slot));
    let told = |slot: SettingsFile| {
        let (client, level) = (slot.client, slot.level);
        let what = format!("{} ({}): recoup's server was removed", client.title(), level.as_str());
        DoctorFinding::warn("lost", what)
            .remedy(format!("`{}` adds it again", init_command(client, level)))
            .about_client(client, level)
    };
    gone.map(told).collect()
}

/// Checks our own servers. The program behind them is one, and is greeted once.
fn check_servers(
    servers: &[(&ClientInstallation, &InstalledServer)],
    context: &DoctorContext,
) -> Vec<DoctorFinding> {
    let is_ours = |call: &RecoupCall| InstalledCommand::of(call, context) == InstalledCommand::Ours;
    let is_tested = |server: &InstalledServer| !server.off && is_ours(&server.call);
    let mut greeted = None;
    let mut found = Vec::new();
    if servers.iter().any(|(_, server)| is_tested(server)) {
        let program = context.program.as_deref().unwrap_or(Path::new("recoup"));
        match ProbeSandbox::new(context).map(|sandbox| perform_handshake(program, &sandbox)) {
            Ok(Ok(answers)) => greeted = Some(answers),
            Ok(Err(error)) => {
                let what = format!("the server {} {}", context.display_path(program), error.what);
                found.push(DoctorFinding::fail(error.code, what).remedy(ProbeError::REMEDY));
            }
            Err(error) => found.push(no_room_finding(&error)),
        }
    }
    let checked = servers.iter().flat_map(|(of, server)| {
        check_server(of, server, greeted.as_ref(), context).into_iter().map(|it| it.about(of))
    });
    found.extend(checked);
    found
}

fn check_server(
    of: &ClientInstallation,
    server: &InstalledServer,
    greeted: Option<&McpHandshake>,
    context: &DoctorContext,
) -> Vec<DoctorFinding> {
    let name = format!("{} ({})", of.client.title(), of.level.as_str());
    let shown = context.places.display_path(&of.path);
    if server.off {
        let what = format!("{name}: recoup's server is disabled");
        let remedy = format!("enable it in {shown} if you want it");
        return vec![DoctorFinding::skipped("switched-off", what).remedy(remedy)];
    }
    let fault = find_command_fault(&name, &server.call, of, context);
    let is_as_installed = matches!(server.call.args.as_slice(), [_])
        || matches!(server.call.args.as_slice(), [_, flag] if flag == WITH_HOOKS);
    let state = match (fault, greeted) {
        (Some(fault), _) => Some(fault),
        (None, _) if !is_as_installed => {
            let what = format!("{name}: its server was not tested: it has arguments of your own");
            let finding = DoctorFinding::skipped("withheld", what);
            Some(finding.remedy(format!("check it yourself in {shown}")))
        }
        (None, greeted) => greeted.map(|it| it.finding(&name)),
    };
    state.into_iter().chain(find_flag_mismatch(&name, of, server, context)).collect()
}

/// Checks another server behind our proxy: its program is not ours, and is not started.
fn check_proxied(
    of: &ClientInstallation,
    server: &ProxiedServer,
    context: &DoctorContext,
) -> DoctorFinding {
    let shown = context.places.display_path(&of.path);
    let name = format!("{} ({}): server “{}”", of.client.title(), of.level.as_str(), server.name);
    if server.off {
        let what = format!("{name} is switched off");
        return DoctorFinding::skipped("switched-off", what).about(of);
    }
    if let Some(fault) = find_command_fault(&name, &server.call, of, context) {
        let fault = DoctorFinding { fix: None, ..fault };
        return match fault.code {
            "withheld" => fault,
            _ => fault.remedy(
                "`recoup mcp unwrap`, then `recoup mcp wrap`, puts this program in front of it",
            ),
        };
    }
    let mut words = server.call.args.iter().skip_while(|word| *word != "--").skip(1);
    let missing = words.next().filter(|program| is_missing(program, context));
    let found = if let Some(program) = missing {
        let what = format!("{name} is behind the proxy, but its program {program} does not exist");
        DoctorFinding::fail("program-missing", what)
            .remedy(format!("install it, or correct its command in {shown}"))
    } else {
        DoctorFinding::ok(format!("{name} is behind the proxy (not started)"))
    };
    found.about(of)
}

/// True if a program is certainly not there: relative paths and placeholders are its client's.
fn is_missing(program: &str, context: &DoctorContext) -> bool {
    let path = Path::new(program);
    if program.contains('/') {
        path.is_absolute() && !path.exists()
    } else {
        !program.contains(['$', '{']) && context.places.find_program(program).is_none()
    }
}

/// Reports a `--with-hooks` flag that disagrees with the hooks: rules must be loaded exactly once.
fn find_flag_mismatch(
    name: &str,
    of: &ClientInstallation,
    server: &InstalledServer,
    context: &DoctorContext,
) -> Option<DoctorFinding> {
    let has_flag = server.call.args.iter().any(|arg| arg == WITH_HOOKS);
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
    let finding = DoctorFinding::warn(code, what);
    let offered = offer_reinstall(finding, of, context, "sets --with-hooks accordingly");
    let off = of.client.file_disabling_hooks(InstallLevel::Project, &context.places);
    Some(match off.filter(|_| offered.fix.is_none()) {
        Some(by) => {
            offered.remedy(enable_hooks_remedy(of.client, &context.places.display_path(&by)))
        }
        None => offered,
    })
}

/// This program's answers as a server.
#[derive(Debug)]
struct McpHandshake {
    tools: usize,
    took: Duration,
}

impl McpHandshake {
    fn finding(&self, name: &str) -> DoctorFinding {
        let Self { tools, took } = self;
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let what = format!("{name}: recoup {OUR_VERSION}, {tools} tools, answered in {millis} ms");
        DoctorFinding::ok(what)
            .fact("version", FindingFact::version(OUR_VERSION))
            .fact("tools", *tools)
            .fact("ms", millis)
    }
}

/// Initializes the server as a client would, lists its tools, and disconnects.
fn perform_handshake(program: &Path, sandbox: &ProbeSandbox) -> Result<McpHandshake, ProbeError> {
    let (watch, deadline) = (Stopwatch::start(), Deadline::after(LIMIT));
    let command = sandboxed_command(program, &["mcp"], sandbox);
    let mut server = ProbedProcess::start(command)?;
    let client = json!({"name": "recoup-doctor", "version": OUR_VERSION});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    send_request(&mut server, 1, "initialize", &params, deadline)?;
    server.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let tools = send_request(&mut server, 2, "tools/list", &json!({}), deadline)?;
    let took = watch.elapsed();
    server.finish(deadline)?;
    let tools = tools["tools"].as_array().map_or(0, Vec::len);
    Ok(McpHandshake { tools, took })
}

/// Sends a request and returns its result, skipping unrelated messages.
fn send_request(
    server: &mut ProbedProcess,
    id: u64,
    method: &str,
    params: &Value,
    deadline: Deadline,
) -> Result<Value, ProbeError> {
    let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    server.write(format!("{question}\n").as_bytes());
    loop {
        let answer: Value = serde_json::from_slice(&server.read_line(deadline)?)
            .map_err(|_| ProbeError::wrong_answer("prints something that is not JSON"))?;
        if answer["id"] == id {
            let result = answer.get("result").cloned();
            return result.ok_or_else(|| ProbeError::wrong_answer("answers with an error"));
        }
    }
}
