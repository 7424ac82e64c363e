//! Checks the MCP servers that clients start, by a real handshake with each.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Stopwatch};
use recoup_core::memory::hooked::Call;
use serde_json::{Value, json};

use super::hooks::{switch_on, to_agree};
use super::malformed::{self, Of};
use crate::cli::doctor::Around;
use crate::cli::doctor::finding::{Fact, Finding, State};
use crate::cli::doctor::fix::{init_for, offering};
use crate::cli::doctor::probe::{self, Failed, Process};
use crate::cli::doctor::sandbox::Sandbox;
use crate::cli::doctor::whom::{OURS, Program, callable, program};
use crate::install::{Client, Holds, Installation, Level, Server, Slot};

const CHECK: &str = "mcp";

/// Clients wait a few seconds longer.
const LIMIT: Duration = Duration::from_secs(10);
/// Time for a server to exit after its stdin is closed.
const TO_END: Duration = Duration::from_secs(5);

pub(super) fn find(around: &Around) -> Vec<Finding> {
    let all = around.installed.iter().flat_map(|of| of.servers.iter().map(move |it| (of, it)));
    let servers: Vec<(&Installation, &Server)> = all.collect();
    let mut others = malformed::find(CHECK, Of::Servers, around);
    others.extend(around.installed.iter().filter_map(|of| taken(of, around)));
    others.extend(lost(around));
    if servers.is_empty() && !others.is_empty() {
        return others;
    }
    if servers.is_empty() {
        return vec![
            Finding::skipped(CHECK, "none", "no client has our MCP server")
                .remedy("`recoup init` registers it, and `recoup init --client mcp` prints it for any other client"),
        ];
    }
    let sandbox = match Sandbox::new(around) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let what = format!("no server could be started: {error}");
            return vec![
                Finding::fail(CHECK, "no-room", what)
                    .remedy("make room in the temporary directory (TMPDIR)"),
            ];
        }
    };
    let found = servers.into_iter().flat_map(|(of, server)| look_at(of, server, &sandbox, around));
    found.chain(others).collect()
}

/// Reports another server with our name: `recoup init` leaves it, and adds none.
fn taken(of: &Installation, around: &Around) -> Option<Finding> {
    let (name, shown) = (of.client.title(), around.places.shown(&of.path));
    let what = format!("{name} ({}): {}", of.level.as_str(), of.taken.as_ref()?);
    let remedy = format!("give it another name in {shown}, and run `recoup init`");
    let finding = Finding::warn(CHECK, "name-taken", what).remedy(remedy);
    Some(finding.fact("client", of.client.as_str()).fact("level", of.level.as_str()))
}

/// Reports clients whose registration of our server is gone.
fn lost(around: &Around) -> Vec<Finding> {
    let places = &around.places;
    let all = Level::ALL.into_iter();
    let slots = all.flat_map(|level| Client::ALL.map(|client| client.slots(level, places)));
    let is_of_servers = |slot: &Slot| matches!(slot.holds, Holds::Servers(_) | Holds::TomlServers);
    let has_any = |slot: &Slot| {
        let mut here = around.installed.iter().filter(|of| of.client == slot.client);
        here.any(|of| !of.servers.is_empty() || of.taken.is_some() || of.fault.is_some())
    };
    let gone = slots.flatten().filter(|it| is_of_servers(it) && around.was_put_in(it));
    let gone = gone.filter(|slot| !has_any(slot));
    let told = |slot: Slot| {
        let (client, level) = (slot.client, slot.level);
        let what =
            format!("{} ({}) had our server, and it is gone", client.title(), level.as_str());
        Finding::warn(CHECK, "lost", what)
            .remedy(format!("`{}` puts it back", init_for(client, level)))
            .fact("client", client.as_str())
            .fact("level", level.as_str())
    };
    gone.map(told).collect()
}

fn look_at(of: &Installation, server: &Server, sandbox: &Sandbox, around: &Around) -> Vec<Finding> {
    let said = |finding: Finding| {
        finding.fact("client", of.client.as_str()).fact("level", of.level.as_str())
    };
    let name = format!("{} ({})", of.client.title(), of.level.as_str());
    if server.off {
        let what = format!("{name}: our server is switched off, and was not started");
        let shown = around.places.shown(&of.path);
        let remedy = format!("switch it on in {shown} if you want it");
        return vec![said(Finding::skipped(CHECK, "switched-off", what).remedy(remedy))];
    }
    let unusable = match program(&server.call, around) {
        Program::Here(_) | Program::Untold => None,
        Program::Missing => Some(("is not there", "program-missing")),
        Program::NotExecutable => Some(("can't be run", "not-executable")),
    };
    if let Some((why, code)) = unusable {
        let shown = around.places.shown(&of.path);
        let what = format!("{name}: {} {why}; {shown} has it", server.call.started());
        let finding = Finding::fail(CHECK, code, what);
        return vec![said(if server.call.wrapped {
            finding.remedy("somebody wrote this entry by hand: mend it there")
        } else {
            offering(finding, of, around, "puts this program there")
        })];
    }
    let call = match callable(&server.call, of, around) {
        Ok(call) => call,
        Err(why) => {
            let what = format!("{name}: its command was not tried: {}", why.in_words());
            let shown = around.places.shown(&of.path);
            let finding = Finding::skipped(CHECK, "withheld", what)
                .remedy(format!("look at it yourself, in {shown}"));
            return vec![said(finding)];
        }
    };
    let first = told(&name, shake_hands(&call, sandbox, around));
    // A failing program is replaced if `recoup init` would do so.
    let offered = (first.state == State::Fail && !server.call.wrapped)
        .then(|| offering(first.clone(), of, around, "puts this program there"));
    let first = offered.filter(|it| it.fix.is_some()).unwrap_or(first);
    [first].into_iter().chain(beside_hooks(&name, of, server, around)).map(said).collect()
}

/// Reports a `--with-hooks` flag that disagrees with the hooks: rules must be loaded exactly once.
fn beside_hooks(
    name: &str,
    of: &Installation,
    server: &Server,
    around: &Around,
) -> Option<Finding> {
    let has_flag = server.call.args.iter().any(|arg| arg == "--with-hooks");
    let has_hooks = of.client.with_hooks().is_some_and(|client| around.has_our_hooks(client))
        && of.client.hooks_off(of.level, &around.places).is_none();
    let (code, what) = match (has_hooks, has_flag) {
        (true, false) => (
            "without-flag",
            format!("{name}: its hooks give the rules, and its server asks to load them again"),
        ),
        (false, true) => (
            "without-hooks",
            format!("{name}: its server counts on hooks that give the rules, and there are none"),
        ),
        _ => return None,
    };
    let finding = Finding::warn(CHECK, code, what);
    let offered = offering(finding, of, around, "makes the two agree");
    let off = of.client.hooks_off(Level::Project, &around.places);
    Some(match off.filter(|_| offered.fix.is_none()) {
        Some(by) => offered.remedy(switch_on(of.client, &around.places.shown(&by))),
        None => offered,
    })
}

/// A server's answers to the handshake.
struct Greeted {
    name: String,
    version: String,
    tools: usize,
    took: Duration,
    ends: bool,
}

enum Fault {
    NotStarted(String),
    /// No answer in time.
    Silent,
    /// An exit, or an unexpected answer.
    Strange(&'static str),
}

fn told(name: &str, shaken: Result<Greeted, Fault>) -> Finding {
    let greeted = match shaken {
        Ok(greeted) => greeted,
        Err(Fault::NotStarted(why)) => {
            return Finding::fail(
                CHECK,
                "not-started",
                format!("{name}: it can't be started: {why}"),
            )
            .remedy("`recoup init` puts in a program that can be started");
        }
        Err(Fault::Silent) => {
            let what = format!("{name}: the server said nothing within {} s", LIMIT.as_secs());
            return Finding::fail(CHECK, "too-late", what)
                .remedy("run its command yourself, and see what it waits for");
        }
        Err(Fault::Strange(why)) => {
            return Finding::fail(CHECK, "wrong-answer", format!("{name}: {why}"))
                .remedy("run its command yourself, and see what it prints");
        }
    };
    let Greeted { name: server, version, tools, took, ends } = greeted;
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let what = format!("{name}: {server} {version}, {tools} tools, after {millis} ms");
    let found = if !ends {
        Finding::warn(CHECK, "stays", format!("{what}; it did not end when its client left"))
            .remedy("such servers pile up: see what its command is")
    } else if version != OURS {
        Finding::warn(CHECK, "other-version", format!("{what}; this is {OURS}"))
            .remedy(to_agree(&version))
    } else {
        Finding::ok(CHECK, what)
    };
    found.fact("version", Fact::version(&version)).fact("tools", tools).fact("ms", millis)
}

/// Initializes the server as a client would, lists its tools, and disconnects.
fn shake_hands(call: &Call, sandbox: &Sandbox, around: &Around) -> Result<Greeted, Fault> {
    let (watch, deadline) = (Stopwatch::start(), Deadline::after(LIMIT));
    let mut command = probe::command(call, sandbox, around);
    let mut server = Process::start(&mut command).map_err(|failed| match failed {
        Failed::NotStarted(error) => Fault::NotStarted(error.to_string()),
        Failed::TooLate => Fault::Silent,
    })?;
    let client = json!({"name": "recoup-doctor", "version": OURS});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let hello = ask(&mut server, 1, "initialize", &params, deadline)?;
    server.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let tools = ask(&mut server, 2, "tools/list", &json!({}), deadline)?;
    let took = watch.elapsed();
    server.close();
    let ends = server.ends(Deadline::after(TO_END));
    let text = |name: &str| {
        let text = hello["serverInfo"][name].as_str().unwrap_or_default();
        text.chars().take(40).collect::<String>()
    };
    let tools =
        tools["tools"].as_array().ok_or(Fault::Strange("it does not say which tools it has"))?;
    Ok(Greeted { name: text("name"), version: text("version"), tools: tools.len(), took, ends })
}

/// Sends a request and returns its result, skipping unrelated messages.
fn ask(
    server: &mut Process,
    id: u64,
    method: &str,
    params: &Value,
    deadline: Deadline,
) -> Result<Value, Fault> {
    let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    server.write(format!("{question}\n").as_bytes());
    loop {
        let line = server.line(deadline).map_err(|why| match why {
            RecvTimeoutError::Timeout => Fault::Silent,
            RecvTimeoutError::Disconnected => Fault::Strange("the server ended without an answer"),
        })?;
        let answer: Value = serde_json::from_slice(&line)
            .map_err(|_| Fault::Strange("the server printed something that is no JSON"))?;
        if answer["id"] == id {
            let result = answer.get("result").cloned();
            return result.ok_or(Fault::Strange("the server answered with an error"));
        }
    }
}
