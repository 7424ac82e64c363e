//! Other MCP servers behind our proxy: the entry `{command, args}` or `{url, headers}` starts
//! `recoup mcp proxy` instead, and back again. An edit is computed from the entry's value, and
//! applied to JSON, to TOML, or to the value itself, by which the guard checks the other two.
//!
//! ```text
//! {command: npx, args: [x]}      {command: recoup, args: [mcp, proxy, --name, NAME, --, npx, x]}
//! with env: {DB: a, TOKEN: t}     … --name, NAME, --cred-env, "DB,TOKEN", --, …
//! {url: U, headers: {A: b}}      {command: recoup, args: [mcp, proxy, --name, NAME,
//!                                 --header-env, A=RECOUP_PROXY_HEADER_1,
//!                                 --url-env, RECOUP_PROXY_URL],
//!                                 env: {RECOUP_PROXY_HEADER_1: b, RECOUP_PROXY_URL: U,
//!                                 RECOUP_PROXY_ENTRY: url}}
//! ```
//!
//! Every URL goes to a variable: its path may be a token, which nobody can tell from other paths, and
//! other users of the machine see command lines. Headers are named without `${}`, because some clients
//! would look for such a variable themselves.

use crate::clients;
use crate::clients::RecoupCall;
use serde_json::{Map, Value, json};

use super::EditSummary;
use super::server_edit::ServerEntryEdit;
use super::servers::SERVER;
use crate::config::is_variable_name;
use crate::install::edit::{
    JsonFile, JsonPathStep, SettingsSyntax, SettingsSyntaxError, SettingsText, steps, toml,
};

/// Beginning of the variables that we add to an entry.
const OUR_VARIABLES: &str = "RECOUP_PROXY_";
/// Variables that hold the values of headers, each with a number behind.
const HEADER_VARIABLE: &str = "RECOUP_PROXY_HEADER_";
/// Variable that holds the URL.
pub(crate) const URL_VARIABLE: &str = "RECOUP_PROXY_URL";
/// Variable that says how an entry had its URL: the field, and its type if it had one.
const ENTRY_VARIABLE: &str = "RECOUP_PROXY_ENTRY";

/// Fields that hold a URL, each in some client.
pub(crate) const URL_FIELDS: [&str; 3] = ["url", "httpUrl", "serverUrl"];
/// Types of servers at a URL, in any spelling.
const URL_TYPES: [&str; 6] =
    ["http", "sse", "remote", "streamable-http", "streamableHttp", "streamable_http"];
/// Fields by which a client logs in at a server: our proxy cannot.
const LOGIN_FIELDS: [&str; 4] = ["oauth", "auth", "authProviderType", "headersHelper"];
/// Codex's fields for headers: values, names of variables, and the variable of a bearer token.
const CODEX_HEADERS: &str = "http_headers";
const CODEX_VARIABLE_HEADERS: &str = "env_http_headers";
const CODEX_BEARER: &str = "bearer_token_env_var";
/// Variables that Codex passes on to a server.
const CODEX_PASSED: &str = "env_vars";

/// Request to put our proxy in front of servers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProxyChoice<'a> {
    pub(crate) program: &'a str,
    /// Only these servers; all if empty.
    pub(crate) only: &'a [String],
}

/// Servers of a file after the proxy was put in front of them.
#[derive(Debug, Default)]
pub(crate) struct ProxyOutcome {
    pub(crate) done: EditSummary,
    /// Chosen servers that are behind the proxy now.
    pub(crate) proxied: Vec<String>,
    /// All servers.
    pub(crate) names: Vec<String>,
}

/// Decision about one server.
#[derive(Debug, PartialEq)]
enum ProxyDecision {
    Wrap(ServerEntryEdit),
    /// The server is behind the proxy already.
    Proxied,
    /// The server is left alone, for a reason that needs no mention.
    Leave(&'static str),
    /// The server cannot be put behind the proxy.
    Unfit(&'static str),
}

/// Puts our proxy in front of the chosen servers of a file.
pub(crate) fn wrap(
    file: &mut SettingsText,
    at: &[String],
    choice: ProxyChoice<'_>,
) -> Result<ProxyOutcome, SettingsSyntaxError> {
    let at = steps(at);
    let mut outcome = ProxyOutcome::default();
    for (name, edit) in outcome.decide(file.value_at(&at).as_ref(), choice, file.syntax()) {
        edit.apply(file, &[&at[..], &[name.as_str().into()]].concat())?;
    }
    Ok(outcome)
}

/// Takes our proxy away from all servers of a file. What is as we wrote it becomes what it was in
/// the `earlier` text, to the byte: in JSON the entry, in TOML each of its values.
pub(crate) fn unwrap(
    file: &mut SettingsText,
    at: &[String],
    earlier: Option<&[u8]>,
) -> Result<EditSummary, SettingsSyntaxError> {
    let earlier = earlier.and_then(|text| SettingsText::read(Some(text), file.syntax()).ok());
    let path = steps(at);
    let mut done = EditSummary::default();
    for (name, entry, call) in proxied_servers(file.value_at(&path).as_ref()) {
        let path = [&path[..], &[name.as_str().into()]].concat();
        if let (SettingsText::Json(json), Some(SettingsText::Json(earlier))) =
            (&mut *file, &earlier)
            && is_as_wrapped(json, earlier, &path, &name, &call.program)
        {
            json.copy_value(&path, earlier);
        } else if let Some(edit) = unwrap_edit(&entry, &call, file.syntax()) {
            edit.apply(file, &path)?;
            if let (SettingsText::Toml { text, .. }, Some(SettingsText::Toml { text: was, .. })) =
                (&mut *file, &earlier)
            {
                for (field, _) in &edit.set {
                    *text =
                        toml::restore_writing(text, was, &[clients::CODEX_SERVERS, &name, field])?;
                }
            }
        } else {
            done.add_note(format!(
                "the server “{name}” calls our proxy in a way of its own: take that out by hand"
            ));
            continue;
        }
        done.had_ours = true;
        done.said.push(format!("the proxy before server “{name}”"));
    }
    // What was added behind a last line without an end had made one.
    if let (SettingsText::Toml { text, .. }, Some(SettingsText::Toml { text: was, .. })) =
        (file, &earlier)
        && !done.said.is_empty()
        && !was.ends_with('\n')
        && was.lines().last() == text.lines().last()
    {
        let bare = text.strip_suffix('\n').unwrap_or(text);
        text.truncate(bare.strip_suffix('\r').unwrap_or(bare).len());
    }
    Ok(done)
}

/// True if the entry of an earlier text, wrapped again, gives what stands in the file.
fn is_as_wrapped(
    now: &JsonFile,
    earlier: &JsonFile,
    path: &[JsonPathStep],
    name: &str,
    program: &str,
) -> bool {
    let Some(entry) = earlier.value_at(path) else { return false };
    let syntax = SettingsSyntax::Json(earlier.dialect());
    let ProxyDecision::Wrap(edit) = decide(name, &entry, program, syntax) else { return false };
    let mut again = SettingsText::Json(earlier.clone());
    edit.apply(&mut again, path).is_ok()
        && matches!(again, SettingsText::Json(it) if it.source_at(path) == now.source_at(path))
}

/// Returns the servers behind our proxy, with their entries.
pub(crate) fn proxied_servers(all: Option<&Value>) -> Vec<(String, Value, RecoupCall)> {
    let all = all.and_then(Value::as_object).into_iter().flatten();
    let proxied = |(name, entry): (&String, &Value)| {
        Some((name.clone(), entry.clone(), clients::proxy_in_server(entry)?))
    };
    all.filter_map(proxied).collect()
}

/// Returns an entry as it is without our proxy, for comparison: lists and objects with nothing in
/// them are left out.
pub(crate) fn without_proxy(entry: &Value, syntax: SettingsSyntax) -> Value {
    let mut plain = entry.clone();
    let edit = clients::proxy_in_server(entry).and_then(|call| unwrap_edit(entry, &call, syntax));
    if let (Some(edit), Some(fields)) = (edit, plain.as_object_mut()) {
        edit.apply_to_value(fields);
    }
    if let Some(fields) = plain.as_object_mut() {
        let is_empty = |it: &Value| *it == json!([]) || *it == json!({});
        fields.retain(|_, value| !is_empty(value));
    }
    plain
}

/// Returns the variables that an entry sets.
pub(crate) fn entry_variables(entry: &Value) -> Vec<(String, String)> {
    let fields = ["env", "environment"].into_iter().filter_map(|name| entry.get(name)?.as_object());
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    fields.flatten().filter_map(text).collect()
}

/// Returns the names of the headers that an entry sends to its URL.
pub(crate) fn header_names(entry: &Value) -> Vec<&str> {
    let tables = ["headers", CODEX_HEADERS, CODEX_VARIABLE_HEADERS].into_iter();
    let named = tables.filter_map(|table| entry.get(table)?.as_object()).flat_map(Map::keys);
    named.map(String::as_str).chain(entry.get(CODEX_BEARER).map(|_| "Authorization")).collect()
}

/// True if the user has switched a server off. Clients use either `enabled` or `disabled`.
pub(crate) fn is_switched_off(entry: &Value) -> bool {
    let says = |name: &str, word: bool| entry.get(name) == Some(&Value::Bool(word));
    says("enabled", false) || says("disabled", true)
}

impl ProxyOutcome {
    /// Decides about all servers. Returns the edits of those that are put behind the proxy.
    fn decide(
        &mut self,
        all: Option<&Value>,
        choice: ProxyChoice<'_>,
        syntax: SettingsSyntax,
    ) -> Vec<(String, ServerEntryEdit)> {
        let mut edits = Vec::new();
        for (name, entry) in all.and_then(Value::as_object).into_iter().flatten() {
            let is_ours = |entry| {
                clients::call_in_server(entry).is_some()
                    || clients::proxy_in_server(entry).is_some()
            };
            self.done.had_ours |= is_ours(entry);
            self.names.push(name.clone());
            let is_named = choice.only.contains(name);
            if !choice.only.is_empty() && !is_named {
                continue;
            }
            match decide(name, entry, choice.program, syntax) {
                ProxyDecision::Wrap(edit) => {
                    self.done.said.push(format!("server “{name}” behind the proxy"));
                    for odd in variable_names(entry).filter(|it| !is_variable_name(it)) {
                        self.done.add_note(format!(
                            "the server “{name}” has “{odd}”, which is not a valid name of a \
                             variable: it is left out of --cred-env, and the cache does not tell \
                             its values apart"
                        ));
                    }
                    let is_remote = edit.removed.iter().any(|it| URL_FIELDS.contains(it));
                    if is_remote && !edit.has_word(|word| word.starts_with("--header")) {
                        self.done.add_note(format!(
                            "the server “{name}” has no headers: if its client logs in there \
                             itself (OAuth), the proxy can't, and the server will refuse it; \
                             `recoup mcp unwrap` takes the proxy away again"
                        ));
                    }
                    self.proxied.push(name.clone());
                    edits.push((name.clone(), edit));
                }
                ProxyDecision::Proxied => self.proxied.push(name.clone()),
                ProxyDecision::Leave(_) if !is_named => {}
                ProxyDecision::Leave(why) | ProxyDecision::Unfit(why) => {
                    self.done.add_note(format!("the server “{name}” is left alone: {why}"));
                }
            }
        }
        edits
    }
}

fn decide(name: &str, entry: &Value, program: &str, syntax: SettingsSyntax) -> ProxyDecision {
    if clients::proxy_in_server(entry).is_some() {
        return ProxyDecision::Proxied;
    }
    if name == SERVER || clients::call_in_server(entry).is_some() {
        return ProxyDecision::Leave("it is recoup's own");
    }
    if is_switched_off(entry) {
        return ProxyDecision::Leave("it is switched off");
    }
    let url = URL_FIELDS.into_iter().find_map(|field| Some((field, entry.get(field)?.as_str()?)));
    let mut proxy = ["mcp", "proxy"].map(str::to_owned).to_vec();
    if name.starts_with('-') {
        proxy.push(format!("--name={name}"));
    } else {
        proxy.extend(["--name", name].map(str::to_owned));
    }
    let credentials: Vec<_> = variable_names(entry).filter(|it| is_variable_name(it)).collect();
    if !credentials.is_empty() {
        proxy.extend(["--cred-env".to_owned(), credentials.join(",")]);
    }
    let edit = match (entry.get("command"), url) {
        (None, None) => return ProxyDecision::Leave("it has neither a command nor a URL"),
        (Some(_), Some(_)) => Err("it has both a command and a URL"),
        (Some(_), None) => wrap_command(entry, program, proxy),
        (None, Some((field, url))) => wrap_url(entry, field, url, program, proxy, syntax),
    };
    edit.map_or_else(ProxyDecision::Unfit, ProxyDecision::Wrap)
}

fn wrap_command(
    entry: &Value,
    program: &str,
    mut proxy: Vec<String>,
) -> Result<ServerEntryEdit, &'static str> {
    const UNKNOWN: &str = "its command is not in a form that is known here";
    let command = entry.get("command").unwrap_or(&Value::Null);
    let args = entry.get("args").unwrap_or(&Value::Null);
    let words = match command {
        Value::Array(words) if args.is_null() => words.iter().collect(),
        Value::String(line) => {
            let is_line = line.contains(char::is_whitespace) && !line.starts_with('/');
            if is_line && args.as_array().is_none_or(Vec::is_empty) {
                return Err(
                    "its command is a line for a shell: split it into `command` and `args`",
                );
            }
            let args = match args {
                Value::Array(args) => args.as_slice(),
                Value::Null => &[],
                _ => return Err(UNKNOWN),
            };
            std::iter::once(command).chain(args).collect::<Vec<_>>()
        }
        _ => return Err(UNKNOWN),
    };
    proxy.push("--".to_owned());
    for word in &words {
        proxy.push(word.as_str().ok_or(UNKNOWN)?.to_owned());
    }
    if words.is_empty() {
        return Err(UNKNOWN);
    }
    Ok(ServerEntryEdit {
        set: start_fields(program, &proxy, command.is_array()),
        ..Default::default()
    })
}

/// Fields that start our program: opencode has one list for both.
fn start_fields(program: &str, args: &[String], is_list: bool) -> Vec<(&'static str, Value)> {
    if is_list {
        return vec![(
            "command",
            std::iter::once(program).chain(args.iter().map(String::as_str)).collect(),
        )];
    }
    vec![("command", program.into()), ("args", args.iter().map(String::as_str).collect())]
}

fn wrap_url(
    entry: &Value,
    field: &'static str,
    url: &str,
    program: &str,
    mut proxy: Vec<String>,
    syntax: SettingsSyntax,
) -> Result<ServerEntryEdit, &'static str> {
    const HEADERS: &str = "its headers are not in a form that is known here";
    let kind = entry.get("type").map(|kind| kind.as_str().unwrap_or_default());
    if kind.is_some_and(|kind| !URL_TYPES.contains(&kind)) || !is_web_url(url) {
        return Err("its transport is not known here");
    }
    if LOGIN_FIELDS.iter().any(|name| entry.get(name).is_some()) {
        return Err("its client logs in for it, which the proxy can't");
    }
    let is_list = kind == Some("remote");
    let variables = if is_list { "environment" } else { "env" };
    let mut edit = ServerEntryEdit { removed: vec![field], ..Default::default() };
    let headers_field = if syntax == SettingsSyntax::Toml { CODEX_HEADERS } else { "headers" };
    let headers = entry.get(headers_field).map(|it| it.as_object().ok_or(HEADERS)).transpose()?;
    let headers = headers.into_iter().flatten();
    for (number, (name, value)) in (1..).zip(headers) {
        let variable = format!("{HEADER_VARIABLE}{number}");
        proxy.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
        edit.members.push((variables, variable, Some(value.as_str().ok_or(HEADERS)?.to_owned())));
    }
    edit.members.push((variables, URL_VARIABLE.to_owned(), Some(url.to_owned())));
    edit.removed.extend(entry.get(headers_field).map(|_| headers_field));
    if syntax == SettingsSyntax::Toml {
        let mut passed = Vec::new();
        let bearer = entry.get(CODEX_BEARER).map(|it| it.as_str().ok_or(HEADERS)).transpose()?;
        if let Some(variable) = bearer {
            proxy.extend(["--header".to_owned(), format!("Authorization: Bearer ${{{variable}}}")]);
            passed.push(variable);
            edit.removed.push(CODEX_BEARER);
        }
        let named = entry.get(CODEX_VARIABLE_HEADERS);
        let all = named.map(|it| it.as_object().ok_or(HEADERS)).transpose()?;
        for (name, variable) in all.into_iter().flatten() {
            let variable = variable.as_str().ok_or(HEADERS)?;
            proxy.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
            passed.push(variable);
        }
        edit.removed.extend(named.map(|_| CODEX_VARIABLE_HEADERS));
        if !passed.is_empty() {
            edit.set.push((CODEX_PASSED, passed.into_iter().collect()));
        }
    } else {
        let was = kind.map_or_else(|| field.to_owned(), |kind| format!("{field} {kind}"));
        edit.members.push((variables, ENTRY_VARIABLE.to_owned(), Some(was)));
    }
    if kind.is_some() {
        edit.set.push(("type", if is_list { "local" } else { "stdio" }.into()));
    }
    proxy.extend(["--url-env", URL_VARIABLE].map(str::to_owned));
    edit.set.extend(start_fields(program, &proxy, is_list));
    Ok(edit)
}

/// Returns the edit that takes our proxy away, from what its arguments say; none if these are not
/// as we write them.
fn unwrap_edit(
    entry: &Value,
    call: &RecoupCall,
    syntax: SettingsSyntax,
) -> Option<ServerEntryEdit> {
    let arguments = ProxyArguments::parse(&call.args).filter(|_| !call.wrapped)?;
    let is_list = entry.get("command").is_some_and(Value::is_array);
    let variables = if is_list { "environment" } else { "env" };
    let value_of = |name: &str| entry.get(variables)?.get(name)?.as_str();
    let url = match (arguments.url_variable, arguments.words) {
        (Some(name), _) => value_of(name)?,
        (None, [url]) if is_web_url(url) => url,
        (None, words) => {
            let (first, rest) = words.split_first()?;
            let mut edit =
                ServerEntryEdit { set: start_fields(first, rest, is_list), ..Default::default() };
            if rest.is_empty() && !is_list {
                edit.set.retain(|(field, _)| *field != "args");
                edit.removed.push("args");
            }
            return Some(edit);
        }
    };
    let was = value_of(ENTRY_VARIABLE).unwrap_or("url");
    let (field, kind) =
        was.split_once(' ').map_or((was, None), |(field, kind)| (field, Some(kind)));
    let field = URL_FIELDS.into_iter().find(|it| *it == field).unwrap_or(URL_FIELDS[0]);
    let mut edit = ServerEntryEdit::default();
    let usual = entry.get("type").map(|_| if is_list { "remote" } else { "http" });
    edit.set.extend(kind.or(usual).map(|kind| ("type", kind.into())));
    edit.set.push((field, url.into()));
    edit.removed.push("command");
    edit.removed.extend((!is_list).then_some("args"));
    for (name, value) in &arguments.headers {
        let (name, value) = ((*name).to_owned(), value.as_str());
        let variable = value.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
        let moved = variable.filter(|it| it.starts_with(HEADER_VARIABLE)).and_then(value_of);
        let bearer = value.strip_prefix("Bearer ${").and_then(|it| it.strip_suffix('}'));
        match (syntax, moved, variable, bearer) {
            (SettingsSyntax::Json(_), moved, ..) => {
                edit.members.push(("headers", name, Some(moved.unwrap_or(value).to_owned())));
            }
            (SettingsSyntax::Toml, None, None, Some(it)) if name == "Authorization" => {
                edit.set.push((CODEX_BEARER, it.into()));
            }
            (SettingsSyntax::Toml, None, Some(it), _) => {
                edit.members.push((CODEX_VARIABLE_HEADERS, name, Some(it.to_owned())));
            }
            (SettingsSyntax::Toml, moved, ..) => {
                edit.members.push((CODEX_HEADERS, name, Some(moved.unwrap_or(value).to_owned())));
            }
        }
    }
    edit.removed.extend(
        entry.get(CODEX_PASSED).filter(|_| syntax == SettingsSyntax::Toml).map(|_| CODEX_PASSED),
    );
    let own = entry.get(variables).and_then(Value::as_object).into_iter().flatten();
    let own = own.filter(|(name, _)| name.starts_with(OUR_VARIABLES));
    edit.members.extend(own.map(|(name, _)| (variables, name.clone(), None)));
    Some(edit)
}

/// Arguments of our proxy, as we write them.
#[derive(Default)]
struct ProxyArguments<'a> {
    /// Names and values; a variable is `${NAME}`.
    headers: Vec<(&'a str, String)>,
    url_variable: Option<&'a str>,
    /// The words behind `--`.
    words: &'a [String],
}

impl<'a> ProxyArguments<'a> {
    /// Returns none if there is neither a command nor a URL where we write it.
    fn parse(args: &'a [String]) -> Option<Self> {
        let mut parsed = Self::default();
        let mut at = 2;
        while let Some(flag) = args.get(at) {
            let value = args.get(at + 1).map(String::as_str);
            at += 2;
            match flag.as_str() {
                "--" => {
                    parsed.words = &args[at - 1..];
                    return Some(parsed);
                }
                "--name" | "--cred-env" => {}
                "--header" => {
                    let (name, value) = value?.split_once(':')?;
                    parsed.headers.push((name, value.trim_start().to_owned()));
                }
                "--header-env" => {
                    let (name, variable) = value?.split_once('=')?;
                    parsed.headers.push((name, format!("${{{variable}}}")));
                }
                "--url-env" => parsed.url_variable = Some(value?),
                _ => at -= 1,
            }
        }
        parsed.url_variable.is_some().then_some(parsed)
    }
}

fn is_web_url(word: &str) -> bool {
    ["http://", "https://"].iter().any(|start| word.starts_with(start))
}

/// Names of the variables that an entry sets or passes on. What one account or database answers is
/// not for another, and names do not tell which variable decides on it.
fn variable_names(entry: &Value) -> impl Iterator<Item = String> {
    let set = entry_variables(entry).into_iter().map(|(name, _)| name);
    let passed = entry.get(CODEX_PASSED).and_then(Value::as_array).into_iter().flatten();
    let passed = passed.filter_map(|name| name.as_str().map(str::to_owned));
    set.chain(passed)
}
