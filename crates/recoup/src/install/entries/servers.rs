//! MCP servers: an object with one entry for each, in the layout of the client.

use crate::clients;
use crate::clients::RecoupCall;
use recoup_core::secrets;
use serde_json::Value;

use super::proxied::proxied_servers;
use super::{EditSummary, remove_repeatedly};
use crate::clients::ServerEntryShape;
use crate::install::edit::{
    EmptiedContainers, LINE_END, NewValue, SettingsSyntaxError, SettingsText, steps,
};

/// The name of our server in every client.
pub(crate) const SERVER: &str = "recoup";

/// The flag for clients whose hooks deliver the rules.
const WITH_HOOKS: &str = "--with-hooks";

/// Command that starts the server.
#[derive(Debug, Clone)]
pub(crate) struct ServerCommand<'a> {
    pub(crate) program: &'a str,
    pub(crate) with_hooks: bool,
}

impl ServerCommand<'_> {
    /// Returns the arguments; those that the user has added stay.
    pub(crate) fn args(&self, before: &[String]) -> Vec<String> {
        let mut args = vec!["mcp".to_owned()];
        if self.with_hooks {
            args.push(WITH_HOOKS.to_owned());
        }
        let more = before.iter().skip(1).filter(|arg| *arg != WITH_HOOKS);
        args.extend(more.cloned());
        args
    }
}

/// Builds the entry for our server, in a client's layout.
fn entry(
    shape: ServerEntryShape,
    start: &ServerCommand<'_>,
    args: &[String],
) -> Vec<(&'static str, NewValue)> {
    let command = ("command", NewValue::plain(start.program));
    let arguments = ("args", NewValue::texts(args));
    match shape {
        ServerEntryShape::Plain => vec![command, arguments],
        ServerEntryShape::Typed => vec![("type", NewValue::plain("stdio")), command, arguments],
        ServerEntryShape::Custom => vec![("source", NewValue::plain("custom")), command, arguments],
        ServerEntryShape::LocalWithTools => {
            let tools = ("tools", NewValue::texts(&["*"]));
            vec![("type", NewValue::plain("local")), command, arguments, tools]
        }
        ServerEntryShape::Local => {
            let words = [&[start.program.to_owned()], args].concat();
            let enabled = ("enabled", NewValue::plain(true));
            vec![("type", NewValue::plain("local")), ("command", NewValue::texts(&words)), enabled]
        }
    }
}

/// Ensures that our server is there once, and up to date.
pub(crate) fn put(
    file: &mut SettingsText,
    at: &[String],
    shape: ServerEntryShape,
    start: &ServerCommand<'_>,
    done: &mut EditSummary,
) -> Result<(), SettingsSyntaxError> {
    let path = steps(at);
    let all = file.value_at(&path);
    let known = our_servers(all.as_ref());
    done.had_ours |= !proxied_servers(all.as_ref()).is_empty();
    for (name, call) in &known {
        if call.wrapped {
            done.add_note(custom_server_note(name, call));
            continue;
        }
        done.had_ours = true;
        let before = file.bytes();
        for (field, value) in entry(shape, start, &start.args(&call.args)) {
            // `enabled` is the user's choice.
            if matches!(field, "command" | "args") {
                file.set(&[&path[..], &[name.as_str().into()]].concat(), field, &value)?;
            }
        }
        if file.bytes() != before {
            done.said.push(format!("MCP server “{name}” updated"));
        }
    }
    if !known.is_empty() {
        return Ok(());
    }
    if let Some(other) = all.as_ref().and_then(|all| all.get(SERVER)) {
        done.add_note(format!(
            "{}: it is kept, and recoup's server is not added",
            describe_name_conflict(other)
        ));
        return Ok(());
    }
    let lacked_line_end = file.lacks_line_end();
    done.created.extend(file.ensure_objects(at)?);
    file.set(&path, SERVER, &NewValue::Object(entry(shape, start, &start.args(&[]))))?;
    if lacked_line_end && !file.lacks_line_end() {
        done.created.push(vec![LINE_END.to_owned()]);
    }
    done.said.push(format!("MCP server “{SERVER}”"));
    Ok(())
}

/// Removes our server.
pub(crate) fn remove(
    file: &mut SettingsText,
    at: &[String],
    emptied: EmptiedContainers<'_>,
) -> Result<EditSummary, SettingsSyntaxError> {
    let path = steps(at);
    remove_repeatedly(|done| {
        let mut any = false;
        for (name, call) in our_servers(file.value_at(&path).as_ref()) {
            if call.wrapped {
                done.add_note(custom_server_note(&name, &call));
                continue;
            }
            file.remove(&[&path[..], &[name.as_str().into()]].concat(), emptied)?;
            (any, done.had_ours) = (true, true);
            let said = format!("MCP server “{name}”");
            if !done.said.contains(&said) {
                done.said.push(said);
            }
        }
        Ok(any)
    })
}

/// Returns our servers in an object with all servers.
fn our_servers(all: Option<&Value>) -> Vec<(String, RecoupCall)> {
    let all = all.and_then(Value::as_object).into_iter().flatten();
    all.filter_map(|(name, entry)| Some((name.clone(), clients::call_in_server(entry)?))).collect()
}

/// Note about a custom command of the user that starts our server.
fn custom_server_note(name: &str, call: &RecoupCall) -> String {
    format!("the server “{name}” starts recoup's server through {:?}: it is kept", call.started())
}

/// Describes another server with our name. Names only its program: arguments, variables and
/// address may be secret.
pub(crate) fn describe_name_conflict(other: &Value) -> String {
    let program = match other.get("command") {
        Some(Value::Array(words)) => words.first().and_then(Value::as_str),
        command => command.and_then(Value::as_str),
    };
    let is_address = |word: &str| word.contains("://") || word.contains('@');
    let program = program.map(|line| line.split_whitespace().find(|word| !word.contains('=')));
    let program = match program {
        Some(Some(word)) if !is_address(word) => format!("{:?}", secrets::redact(word)),
        Some(None) => "no program named".to_owned(),
        Some(Some(_)) | None => "a URL".to_owned(),
    };
    format!("there is already another server named “{SERVER}” ({program})")
}
