//! Other MCP servers behind our proxy: the entry `{command, args}` or `{url, headers}` starts
//! `recoup mcp proxy` instead, and back again. The new entry is computed from the old one's value; only
//! the fields that differ are written. The guard compares values alone.
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
use super::servers::SERVER;
use crate::config::is_variable_name;
use crate::install::edit::{
    EmptiedContainers, JsonFile, JsonPathStep, NewValue, SettingsSyntax, SettingsSyntaxError,
    SettingsText, is_empty_container, steps, toml,
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
/// Fields of an entry that are added before others, in this order.
const FIRST_FIELDS: [&str; 8] =
    [CODEX_PASSED, "type", "command", "args", "url", "httpUrl", "serverUrl", CODEX_HEADERS];
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
    /// The entry that starts the proxy.
    Wrap(Value),
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
    let all = file.value_at(&at).unwrap_or_default();
    for (name, new) in outcome.decide(&all, choice, file.syntax()) {
        let path = [&at[..], &[name.as_str().into()]].concat();
        write_entry(file, &path, &all[&name], &new)?;
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
        } else if let Some(plain) = unwrapped_entry(&entry, &call, file.syntax()) {
            let written = write_entry(file, &path, &entry, &plain)?;
            if let (SettingsText::Toml { text, .. }, Some(SettingsText::Toml { text: was, .. })) =
                (&mut *file, &earlier)
            {
                for field in written {
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
    let ProxyDecision::Wrap(new) = decide(name, &entry, program, syntax) else { return false };
    let mut again = SettingsText::Json(earlier.clone());
    write_entry(&mut again, path, &entry, &new).is_ok()
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
    let plain =
        clients::proxy_in_server(entry).and_then(|call| unwrapped_entry(entry, &call, syntax));
    let mut plain = plain.unwrap_or_else(|| entry.clone());
    if let Some(fields) = plain.as_object_mut() {
        fields.retain(|_, value| !is_empty_container(value));
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
    /// Decides about all servers. Returns the new entries of those that are put behind the proxy.
    fn decide(
        &mut self,
        all: &Value,
        choice: ProxyChoice<'_>,
        syntax: SettingsSyntax,
    ) -> Vec<(String, Value)> {
        let mut entries = Vec::new();
        for (name, entry) in all.as_object().into_iter().flatten() {
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
                ProxyDecision::Wrap(new) => {
                    self.done.said.push(format!("server “{name}” behind the proxy"));
                    for odd in variable_names(entry).filter(|it| !is_variable_name(it)) {
                        self.done.add_note(format!(
                            "the server “{name}” has “{odd}”, which is not a valid name of a \
                             variable: it is left out of --cred-env, and the cache does not tell \
                             its values apart"
                        ));
                    }
                    if entry.get("command").is_none() && header_names(entry).is_empty() {
                        self.done.add_note(format!(
                            "the server “{name}” has no headers: if its client logs in there \
                             itself (OAuth), the proxy can't, and the server will refuse it; \
                             `recoup mcp unwrap` takes the proxy away again"
                        ));
                    }
                    self.proxied.push(name.clone());
                    entries.push((name.clone(), new));
                }
                ProxyDecision::Proxied => self.proxied.push(name.clone()),
                ProxyDecision::Leave(_) if !is_named => {}
                ProxyDecision::Leave(why) | ProxyDecision::Unfit(why) => {
                    self.done.add_note(format!("the server “{name}” is left alone: {why}"));
                }
            }
        }
        entries
    }
}

/// Writes the fields in which an entry differs, and returns the names of those that were set.
/// Objects are written by member: the others of their members keep their bytes.
fn write_entry<'a>(
    file: &mut SettingsText,
    path: &[JsonPathStep],
    old: &Value,
    new: &'a Value,
) -> Result<Vec<&'a str>, SettingsSyntaxError> {
    let none = Map::new();
    let [old, fields] = [old, new].map(|it| it.as_object().unwrap_or(&none));
    let mut changed: Vec<_> = new
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, it)| old.get(*name) != Some(it))
        .collect();
    changed.sort_by_key(|(name, value)| {
        let place = FIRST_FIELDS.iter().position(|it| it == name);
        (value.is_object(), place.unwrap_or(FIRST_FIELDS.len()))
    });
    let step = |name: &str| JsonPathStep::from(name);
    let mut written = Vec::new();
    for (name, value) in changed {
        let Some(members) = value.as_object() else {
            file.set(path, name, &NewValue::plain(value.clone()))?;
            written.push(name.as_str());
            continue;
        };
        let object = [path, &[step(name)]].concat();
        let was = old.get(name).and_then(Value::as_object).unwrap_or(&none);
        for (member, value) in members.iter().filter(|(member, it)| was.get(*member) != Some(it)) {
            file.set(&object, member, &NewValue::plain(value.clone()))?;
        }
        for member in was.keys().filter(|member| !members.contains_key(*member)) {
            file.remove(&[&object[..], &[step(member)]].concat(), EmptiedContainers::Any)?;
        }
    }
    for name in old.keys().filter(|name| !fields.contains_key(*name)) {
        file.remove(&[path, &[step(name)]].concat(), EmptiedContainers::Any)?;
    }
    Ok(written)
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
    let new = match (entry.get("command"), url) {
        (None, None) => return ProxyDecision::Leave("it has neither a command nor a URL"),
        (Some(_), Some(_)) => Err("it has both a command and a URL"),
        (Some(_), None) => wrap_command(entry, program, proxy),
        (None, Some((field, url))) => wrap_url(entry, field, url, program, proxy, syntax),
    };
    new.map_or_else(ProxyDecision::Unfit, ProxyDecision::Wrap)
}

fn wrap_command(
    entry: &Value,
    program: &str,
    mut proxy: Vec<String>,
) -> Result<Value, &'static str> {
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
    let mut new = entry.as_object().cloned().unwrap_or_default();
    set_start(&mut new, program, &proxy, command.is_array());
    Ok(new.into())
}

/// Sets the fields that start a program: opencode has one list for both.
fn set_start(entry: &mut Map<String, Value>, program: &str, args: &[String], is_list: bool) {
    if is_list {
        let words = std::iter::once(program).chain(args.iter().map(String::as_str));
        entry.insert("command".to_owned(), words.collect());
    } else {
        entry.insert("command".to_owned(), program.into());
        entry.insert("args".to_owned(), args.into());
    }
}

fn wrap_url(
    entry: &Value,
    field: &'static str,
    url: &str,
    program: &str,
    mut proxy: Vec<String>,
    syntax: SettingsSyntax,
) -> Result<Value, &'static str> {
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
    let mut new = entry.as_object().cloned().unwrap_or_default();
    new.remove(field);
    let mut take_texts = |field: &str| {
        let Some(table) = new.remove(field) else { return Ok(Vec::new()) };
        let texts = table.as_object().ok_or(HEADERS)?.iter();
        let text =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        texts.map(|it| text(it).ok_or(HEADERS)).collect::<Result<Vec<(String, String)>, _>>()
    };
    let is_codex = syntax == SettingsSyntax::Toml;
    let headers = take_texts(if is_codex { CODEX_HEADERS } else { "headers" })?;
    let named = if is_codex { take_texts(CODEX_VARIABLE_HEADERS)? } else { Vec::new() };
    let bearer = if is_codex { new.remove(CODEX_BEARER) } else { None };
    let table = new.entry(variables).or_insert_with(|| json!({}));
    let table =
        table.as_object_mut().ok_or("its variables are not in a form that is known here")?;
    for (number, (name, value)) in (1..).zip(headers) {
        let variable = format!("{HEADER_VARIABLE}{number}");
        proxy.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
        table.insert(variable, value.into());
    }
    table.insert(URL_VARIABLE.to_owned(), url.into());
    if !is_codex {
        let was = kind.map_or_else(|| field.to_owned(), |kind| format!("{field} {kind}"));
        table.insert(ENTRY_VARIABLE.to_owned(), was.into());
    }
    let mut passed = Vec::new();
    if let Some(bearer) = bearer {
        let variable = bearer.as_str().ok_or(HEADERS)?.to_owned();
        proxy.extend(["--header".to_owned(), format!("Authorization: Bearer ${{{variable}}}")]);
        passed.push(variable);
    }
    for (name, variable) in named {
        proxy.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
        passed.push(variable);
    }
    if !passed.is_empty() {
        new.insert(CODEX_PASSED.to_owned(), passed.into());
    }
    if kind.is_some() {
        new.insert("type".to_owned(), if is_list { "local" } else { "stdio" }.into());
    }
    proxy.extend(["--url-env", URL_VARIABLE].map(str::to_owned));
    set_start(&mut new, program, &proxy, is_list);
    Ok(new.into())
}

/// Returns an entry without our proxy, from what its arguments say; none if these are not as we write
/// them.
fn unwrapped_entry(entry: &Value, call: &RecoupCall, syntax: SettingsSyntax) -> Option<Value> {
    let arguments = ProxyArguments::parse(&call.args).filter(|_| !call.wrapped)?;
    let mut plain = entry.as_object()?.clone();
    let is_list = entry.get("command").is_some_and(Value::is_array);
    let variables = if is_list { "environment" } else { "env" };
    let value_of = |name: &str| entry.get(variables)?.get(name)?.as_str();
    let url = match (arguments.url_variable, arguments.words) {
        (Some(name), _) => value_of(name)?,
        (None, [url]) if is_web_url(url) => url,
        (None, words) => {
            let (first, rest) = words.split_first()?;
            set_start(&mut plain, first, rest, is_list);
            if rest.is_empty() && !is_list {
                plain.remove("args");
            }
            return Some(plain.into());
        }
    };
    plain.remove("command");
    if !is_list {
        plain.remove("args");
    }
    let was = value_of(ENTRY_VARIABLE).unwrap_or("url");
    let (field, kind) =
        was.split_once(' ').map_or((was, None), |(field, kind)| (field, Some(kind)));
    let field = URL_FIELDS.into_iter().find(|it| *it == field).unwrap_or(URL_FIELDS[0]);
    let usual = entry.get("type").map(|_| if is_list { "remote" } else { "http" });
    plain.extend(kind.or(usual).map(|kind| ("type".to_owned(), kind.into())));
    plain.insert(field.to_owned(), url.into());
    for (name, value) in &arguments.headers {
        let variable = value.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
        let moved = variable.filter(|it| it.starts_with(HEADER_VARIABLE)).and_then(value_of);
        let bearer = value.strip_prefix("Bearer ${").and_then(|it| it.strip_suffix('}'));
        let (table, text) = match (syntax, moved, variable, bearer) {
            (SettingsSyntax::Json(_), moved, ..) => ("headers", moved.unwrap_or(value)),
            (SettingsSyntax::Toml, None, None, Some(it)) if *name == "Authorization" => {
                plain.insert(CODEX_BEARER.to_owned(), it.into());
                continue;
            }
            (SettingsSyntax::Toml, None, Some(it), _) => (CODEX_VARIABLE_HEADERS, it),
            (SettingsSyntax::Toml, moved, ..) => (CODEX_HEADERS, moved.unwrap_or(value)),
        };
        let table = plain.entry(table).or_insert_with(|| json!({}));
        table.as_object_mut()?.insert((*name).to_owned(), text.into());
    }
    if syntax == SettingsSyntax::Toml {
        plain.remove(CODEX_PASSED);
    }
    if let Some(table) = plain.get_mut(variables).and_then(Value::as_object_mut) {
        table.retain(|name, _| !name.starts_with(OUR_VARIABLES));
    }
    Some(plain.into())
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
