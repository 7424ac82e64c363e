//! The configuration files, each with its shape. A missing file costs one failed open; an existing
//! one is read once.

use std::path::Path;
use std::rc::Rc;

use memchr::memmem;
use recoup_core::base::fsx;

use super::commands::COMMANDS;
use super::configured_value::RedisBlock;
use super::configured_value::{ConfiguredValue, RawSetting, ValueStanding};
use super::document::{self, ConfigNode, ConfigValue, DocumentError, YamlSource};
use super::gateway::{self, GATEWAY, GatewaySettings};
use super::keys::{
    self, ENABLED, KEYS, KeyInfo, MAX_ENTRIES, MAX_SIZE_MB, RepositoryPermission, STORE, TTL,
};
use super::node_reader::{NodeProblem, NodeReader};
use super::origin::{ConfigFile, ValueOrigin};
use super::places::BaseDirs;
use super::prices::{self, TokenPrice};
use super::problem::ConfigProblem;
use super::providers::PROVIDERS;
use super::tools::{self, ToolSetting};

/// Larger than any real configuration.
const MAX_LEN: u64 = 1 << 20;

/// Values of a file, and its problems.
#[derive(Debug, Default)]
pub(super) struct ConfigFileContents {
    pub(super) text: String,
    pub(super) givens: Vec<ConfiguredValue>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) prices: Vec<(String, TokenPrice)>,
    pub(super) tools: Vec<ToolSetting>,
    pub(super) gateway: Option<GatewaySettings>,
}

/// Reads `file` at `path`, which messages call `shown`; none if there is no file.
pub(super) fn read(file: ConfigFile, path: &Path, shown: &str) -> Option<ConfigFileContents> {
    let bytes = match fsx::read_regular(path, MAX_LEN) {
        Ok(found) => found?,
        Err(error) => {
            return Some(contents_with_problem(ConfigProblem::of_file(
                file,
                shown,
                without_path(&error.to_string(), path),
            )));
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Some(contents_with_problem(ConfigProblem::of_file(file, shown, "not valid UTF-8")));
    };
    Some(read_text(file, text, shown))
}

/// True if a file may name commands of agents: hooks ask before each command whether it is worth
/// reading the settings.
pub(crate) fn mentions_commands(places: &BaseDirs, root: &Path) -> bool {
    let files = [places.user_file(), root.join(ConfigFile::Project.name())];
    files.iter().any(|file| {
        let text = fsx::read_regular(file, MAX_LEN).ok().flatten();
        text.is_some_and(|text| memmem::find(&text, COMMANDS.as_bytes()).is_some())
    })
}

/// Reads a text that is, or would be, in the file.
pub(super) fn read_text(file: ConfigFile, text: String, shown: &str) -> ConfigFileContents {
    let document = match file {
        ConfigFile::User | ConfigFile::Project => document::read_toml(&text),
        ConfigFile::Loa => document::read_yaml(&text, YamlSource::OtherProgram),
        ConfigFile::AiAgent => document::read_json(&text),
    };
    let document = match document {
        Ok(document) => document,
        Err(DocumentError { position, message }) => {
            let place = match position {
                Some(at) => format!("{shown}:{}:{}", at.line, at.column),
                None => shown.to_owned(),
            };
            return contents_with_problem(ConfigProblem::of_file(file, &place, message));
        }
    };
    let mut reader = SectionReader::new(file, shown);
    match file {
        // Our own files have only names in the table of keys.
        ConfigFile::User | ConfigFile::Project => read_table("", &document, &mut reader),
        ConfigFile::Loa => walk_loa(&document, &mut reader),
        ConfigFile::AiAgent => walk_ai_agent(&document, &mut reader),
    }
    let SectionReader { givens, problems, prices, tools, gateway, .. } = reader;
    ConfigFileContents { text, givens, problems, prices, tools, gateway }
}

/// Removes the path from an error: a problem has a place, which names the file.
fn without_path(message: &str, path: &Path) -> String {
    let path = path.display();
    message.replace(&format!("{path} "), "").replace(&format!(" {path}"), "")
}

fn contents_with_problem(problem: ConfigProblem) -> ConfigFileContents {
    ConfigFileContents { problems: vec![problem], ..ConfigFileContents::default() }
}

/// Collects the values and problems of a file.
#[derive(Debug)]
pub(super) struct SectionReader {
    file: ConfigFile,
    shown: Rc<str>,
    givens: Vec<ConfiguredValue>,
    pub(super) problems: Vec<ConfigProblem>,
    prices: Vec<(String, TokenPrice)>,
    pub(super) tools: Vec<ToolSetting>,
    gateway: Option<GatewaySettings>,
}

impl SectionReader {
    fn new(file: ConfigFile, shown: &str) -> Self {
        Self {
            file,
            shown: shown.into(),
            givens: Vec::new(),
            problems: Vec::new(),
            prices: Vec::new(),
            tools: Vec::new(),
            gateway: None,
        }
    }

    /// Adds a value of `key`, which this file calls `name`.
    fn add_value(&mut self, key: &'static KeyInfo, name: &str, node: &ConfigNode) {
        match RawSetting::from_file(&node.value) {
            Some(raw) => self.add_raw_value(key, name, node, raw),
            None => self.add_type_problem(name, node, key.expected),
        }
    }

    fn add_raw_value(
        &mut self,
        key: &'static KeyInfo,
        name: &str,
        node: &ConfigNode,
        raw: RawSetting,
    ) {
        let origin = self.origin(name, node);
        self.givens.push(ConfiguredValue { key, raw, origin, standing: ValueStanding::Counts });
    }

    /// Adds a problem: the value is not what `expected` says.
    pub(super) fn add_type_problem(&mut self, name: &str, node: &ConfigNode, expected: &str) {
        let message = format!("expected {expected} (got {})", node.value);
        self.add_problem(name, node, message);
    }

    pub(super) fn add_problem(
        &mut self,
        name: &str,
        node: &ConfigNode,
        message: impl Into<String>,
    ) {
        self.problems.push(ConfigProblem::at(&self.origin(name, node), message));
    }

    /// Adds what a reader of values found wrong.
    pub(super) fn add_node_problems(&mut self, values: NodeReader) {
        for NodeProblem { key, line, message } in values.problems {
            let (file, shown) = (self.file, Rc::clone(&self.shown));
            let origin = ValueOrigin::File { file, shown, key, line };
            self.problems.push(ConfigProblem::at(&origin, message));
        }
    }

    pub(super) fn add_unknown_name<'a>(
        &mut self,
        name: &str,
        node: &ConfigNode,
        known: impl Iterator<Item = &'a str> + Clone,
    ) {
        self.problems.push(ConfigProblem::unknown(&self.origin(name, node), name, known));
    }

    /// The entries of the table `name`, all of which are in `known`. Null counts as an empty table.
    pub(super) fn table<'n>(
        &mut self,
        name: &str,
        node: &'n ConfigNode,
        known: &'static [&'static str],
    ) -> Vec<(&'static str, String, &'n ConfigNode)> {
        let entries = match &node.value {
            ConfigValue::Table(entries) => entries.as_slice(),
            ConfigValue::Null => &[],
            _ => {
                self.add_type_problem(name, node, "a table");
                &[]
            }
        };
        let mut found: Vec<(&str, String, &ConfigNode)> = Vec::new();
        for (entry, node) in entries {
            let full = format!("{name}.{entry}");
            match known.iter().find(|known| *known == entry) {
                None => {
                    let known: Vec<_> = known.iter().map(|k| format!("{name}.{k}")).collect();
                    self.add_unknown_name(&full, node, known.iter().map(String::as_str));
                }
                Some(entry) if found.iter().any(|(earlier, ..)| earlier == entry) => {
                    self.add_problem(&full, node, "given twice");
                }
                Some(entry) => found.push((entry, full, node)),
            }
        }
        found
    }

    /// True if the file is the user's own, not a repository's.
    fn is_user_file(&self) -> bool {
        self.file == ConfigFile::User
    }

    /// True if the file has our own format.
    pub(super) fn is_our_file(&self) -> bool {
        matches!(self.file, ConfigFile::User | ConfigFile::Project)
    }

    pub(super) fn origin(&self, name: &str, node: &ConfigNode) -> ValueOrigin {
        let (file, shown) = (self.file, Rc::clone(&self.shown));
        ValueOrigin::File { file, shown, key: name.to_owned(), line: node.line }
    }
}

fn read_table(above: &str, node: &ConfigNode, reader: &mut SectionReader) {
    let ConfigValue::Table(entries) = &node.value else {
        return reader.add_type_problem(above, node, "a table");
    };
    for (name, node) in entries {
        match name.as_str() {
            "prices" if above.is_empty() => {
                read_prices(node, reader);
                continue;
            }
            tools::SERVERS | tools::REST_TOOLS | tools::OPENAPI | PROVIDERS if above.is_empty() => {
                tools::read_tools(name, node, reader);
                continue;
            }
            "agents" if above.is_empty() => {
                tools::read_agents(node, reader);
                continue;
            }
            COMMANDS if above.is_empty() => {
                tools::read_commands(node, reader);
                continue;
            }
            GATEWAY if above.is_empty() => {
                read_gateway_table(node, reader);
                continue;
            }
            _ => {}
        }
        // `"cache.ttl"` is one name with a dot in it, and no key has one.
        let name = if name.contains('.') { format!("{name:?}") } else { name.clone() };
        let full = if above.is_empty() { name } else { format!("{above}.{name}") };
        read_entry(&full, node, reader);
    }
}

/// Reads `[prices."MODEL"]`, from the user's file only: with a repository's prices, costs of
/// projects would not be comparable.
fn read_prices(node: &ConfigNode, reader: &mut SectionReader) {
    if !reader.is_user_file() {
        let message =
            "prices can only be set in your own configuration file (`recoup config path`)";
        return reader.add_problem("prices", node, message);
    }
    let ConfigValue::Table(entries) = &node.value else {
        return reader.add_type_problem("prices", node, "a table for each model");
    };
    for (model, node) in entries {
        match prices::read_price(node) {
            Ok(price) => reader.prices.push((model.clone(), price)),
            Err((entry, why)) => reader.add_problem(&format!("prices.{model:?}{entry}"), node, why),
        }
    }
}

/// Reads `[gateway]`, from the user's file only.
fn read_gateway_table(node: &ConfigNode, reader: &mut SectionReader) {
    if !reader.is_user_file() {
        let message =
            "the gateway can only be set up in your own configuration file (`recoup config path`)";
        return reader.add_problem(GATEWAY, node, message);
    }
    let mut values = NodeReader::default();
    reader.gateway = Some(gateway::read_gateway(node, &mut values));
    reader.add_node_problems(values);
}

fn read_entry(full: &str, node: &ConfigNode, reader: &mut SectionReader) {
    let is_below = |name: &str| name.strip_prefix(full).is_some_and(|rest| rest.starts_with('.'));
    match keys::find_key(full) {
        Some(key) if reader.is_user_file() => reader.add_value(key, full, node),
        // Some values a repository's file may not set, with trust or without.
        Some(key) => match (key.repository, &node.value) {
            (
                RepositoryPermission::May
                | RepositoryPermission::MayForItself
                | RepositoryPermission::AfterTrust,
                _,
            )
            | (RepositoryPermission::MaySwitchOff, ConfigValue::Bool(false)) => {
                reader.add_value(key, full, node);
            }
            (RepositoryPermission::MaySwitchOff, _) => {
                let message = "a repository may only switch this off (false)";
                reader.add_problem(full, node, message);
            }
            (RepositoryPermission::MayNot, _) => {
                let message =
                    "this can only be set in your own configuration file (`recoup config path`)";
                reader.add_problem(full, node, message);
            }
        },
        None if KEYS.iter().any(|key| is_below(key.info().name)) => read_table(full, node, reader),
        None => {
            let tables = [
                "prices",
                "agents.variables",
                tools::SERVERS,
                tools::REST_TOOLS,
                tools::OPENAPI,
                PROVIDERS,
                COMMANDS,
                GATEWAY,
            ];
            let known = KEYS.iter().map(|key| key.info().name).chain(tables);
            reader.add_unknown_name(full, node, known);
        }
    }
}

const AI_AGENT_BLOCK: &str = "cache";

/// Reads `.ai-agent.json`: its block `cache`, and what it says about caching tool calls.
fn walk_ai_agent(document: &ConfigNode, reader: &mut SectionReader) {
    for table in [tools::SERVERS, tools::REST_TOOLS, tools::OPENAPI_SPECS, PROVIDERS] {
        if let Some(node) = document.at(&[table]) {
            tools::read_tools(table, node, reader);
        }
    }
    let Some(block) = document.at(&[AI_AGENT_BLOCK]) else { return };
    let entries =
        reader.table(AI_AGENT_BLOCK, block, &["backend", "sqlite", "redis", "maxEntries"]);
    let mut redis_backend = None;
    if let Some((_, full, node)) = entries.iter().find(|(name, ..)| *name == "backend") {
        match &node.value {
            ConfigValue::Text(backend) if backend == "sqlite" => {}
            ConfigValue::Text(backend) if backend == "redis" => redis_backend = Some((full, node)),
            _ => reader.add_type_problem(full, node, "\"sqlite\" or \"redis\""),
        }
    }
    let mut server = RedisBlock::default();
    for (name, full, node) in &entries {
        match *name {
            "sqlite" => sqlite(full, node, reader, redis_backend.is_none()),
            "redis" => server = redis(full, node, reader),
            "maxEntries" => reader.add_value(&MAX_ENTRIES.info, full, node),
            _ => {}
        }
    }
    if let Some((full, node)) = redis_backend {
        reader.add_raw_value(&STORE.info, full, node, RawSetting::Redis(Box::new(server)));
    }
}

/// The path counts only if SQLite is the backend; it is checked either way.
fn sqlite(block: &str, node: &ConfigNode, reader: &mut SectionReader, counts: bool) {
    for (_, full, node) in reader.table(block, node, &["path"]) {
        match &node.value {
            ConfigValue::Text(path) if counts && !path.is_empty() => {
                let url = RawSetting::Text(format!("sqlite:{path}"));
                reader.add_raw_value(&STORE.info, &full, node, url);
            }
            ConfigValue::Text(path) if !path.is_empty() => {}
            _ => reader.add_type_problem(&full, node, "a path"),
        }
    }
}

/// Messages name the key and never the value, which may be a password.
fn redis(block: &str, node: &ConfigNode, reader: &mut SectionReader) -> RedisBlock {
    let known = &["url", "username", "password", "database", "keyPrefix"];
    let mut server = RedisBlock::default();
    for (name, full, node) in reader.table(block, node, known) {
        let (text, expected) = match (name, &node.value) {
            ("database", ConfigValue::Number(number)) => {
                (number.as_u64().map(|number| number.to_string()), "a whole number")
            }
            ("database", ConfigValue::Text(text)) => {
                // A variable is checked once it is expanded.
                let may_be_whole = text.parse::<u32>().is_ok() || text.contains("${");
                (may_be_whole.then(|| text.clone()), "a whole number")
            }
            ("database", _) => (None, "a whole number"),
            (_, ConfigValue::Text(text)) => (Some(text.clone()), "a string"),
            (_, _) => (None, "a string"),
        };
        if text.is_none() {
            reader.add_problem(&full, node, format!("expected {expected}"));
        }
        *match name {
            "url" => &mut server.url,
            "username" => &mut server.username,
            "password" => &mut server.password,
            "database" => &mut server.database,
            _ => &mut server.key_prefix,
        } = text;
    }
    server
}

const LOA_BLOCK: [&str; 2] = ["recursive_jit", "cache"];

/// Reads `.loa.config.yaml`: only its block `recursive_jit.cache`.
fn walk_loa(document: &ConfigNode, reader: &mut SectionReader) {
    let Some(block) = document.at(&LOA_BLOCK) else { return };
    let known = &["enabled", "max_size_mb", "ttl_days"];
    for (name, full, node) in reader.table(&LOA_BLOCK.join("."), block, known) {
        match name {
            "enabled" => reader.add_value(&ENABLED.info, &full, node),
            "max_size_mb" => reader.add_value(&MAX_SIZE_MB.info, &full, node),
            _ => {
                let days = match &node.value {
                    ConfigValue::Number(days) => Some(days.to_string()),
                    ConfigValue::Text(days) => Some(days.clone()),
                    _ => None,
                };
                match days.map(RawSetting::Days) {
                    Some(days) => reader.add_raw_value(&TTL.info, &full, node, days),
                    None => reader.add_type_problem(&full, node, "a number of days"),
                }
            }
        }
    }
}
