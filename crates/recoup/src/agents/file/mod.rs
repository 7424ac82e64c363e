//! Agent files: four dialects, each read by its own table of keys, with everything that they refer to.
//!
//! The dialect follows from the extension, and each has one table of keys. All problems of all
//! files are collected, each with its file, line and key. Nothing is started or called.

mod agent_md_keys;
mod ai_keys;
mod model_names;
mod prompt_includes;
mod prompt_sections;
mod prompt_variables;
mod reader;

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};
use serde::Serialize;

pub(crate) use ai_keys::AgentKey;
pub(super) use prompt_sections::split_sections;
pub(crate) use prompt_variables::{expand_variables, variable_names};

use self::model_names::parse_model;
use self::reader::{AgentFileReader, AgentReference, ReferenceRole};
use super::agent_file::{AgentDialect, AgentFile};
use crate::app::App;
use crate::config::trust::{TrustStore, TrustVerdict};
use crate::config::{AgentSettings, GatheredConfig, SensitiveFile};
use crate::human::printable;
use crate::llm::ModelName;

/// Lists all keys of agent files.
const ALL_KEYS: &str = "recoup agents keys";

/// Depth of agents that refer to agents, and of included files.
const MAX_DEPTH: usize = 8;

/// Larger than any real agent file.
const MAX_FILE: u64 = 1 << 20;

/// A problem in an agent file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AgentProblem {
    pub(crate) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) message: String,
}

/// `FILE:LINE: KEY: what was expected`, on one line.
impl fmt::Display for AgentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key, message } = self;
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        let key = key.as_ref().map(|key| format!(": {key}")).unwrap_or_default();
        f.write_str(&printable(&format!("{file}{line}{key}: {message}")))
    }
}

/// Settings and directories with which agent files are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentContext<'a> {
    home: &'a Path,
    cwd: &'a Path,
    settings: &'a AgentSettings,
}

impl<'a> AgentContext<'a> {
    pub(crate) fn of_app(app: &'a App) -> Self {
        let settings = &app.settings;
        Self { home: &settings.home, cwd: &settings.cwd, settings: &settings.agents }
    }

    pub(crate) fn of_config(gathered: &'a GatheredConfig, settings: &'a AgentSettings) -> Self {
        Self { home: &gathered.places.home, cwd: &gathered.places.cwd, settings }
    }

    /// The agent that a life cycle means by `name`: the extension may be left out.
    fn base_path(self, file: &Path, name: &str) -> PathBuf {
        let beside = relative_path(file, name);
        if self.cwd.join(&beside).is_file() {
            return beside;
        }
        PathBuf::from(format!("{}.agent.md", beside.display()))
    }
}

/// An agent as far as it could be read, and all problems of all files.
#[derive(Debug)]
pub(crate) struct AgentCheck {
    pub(crate) agent: Option<Arc<AgentFile>>,
    pub(crate) problems: Vec<AgentProblem>,
}

/// Loads an agent with everything that it refers to. The error has all problems, one on each line.
pub(crate) fn load_agent(app: &App, path: &Path) -> Result<Arc<AgentFile>> {
    let AgentCheck { agent, problems } = check_agent(AgentContext::of_app(app), path);
    match agent {
        Some(agent) if problems.is_empty() => Ok(agent),
        _ => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Err(Error::usage(lines.join("\n")))
        }
    }
}

/// Parses the name of a model that the user gives in place of a file's own.
pub(crate) fn parse_model_name(app: &App, name: &str) -> Result<ModelName> {
    parse_model(name, AgentDialect::Own, None, &app.settings.agents)
        .map_err(|why| Error::usage(format!("--model: {why}")))
}

/// Reads an agent with everything that it refers to, and collects all problems.
pub(crate) fn check_agent(context: AgentContext<'_>, path: &Path) -> AgentCheck {
    let mut loader = AgentLoader::new(context);
    let agent = loader.load(path, None).inspect(|agent| loader.demand_model(agent));
    let mut problems = loader.problems;
    // Files in the order in which they were read, and each by its lines.
    let mut files: Vec<String> = Vec::new();
    for AgentProblem { file, .. } in &problems {
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    problems.sort_by_key(|it| (files.iter().position(|file| *file == it.file), it.line));
    AgentCheck { agent, problems }
}

/// A file of the repository at `root`, if it needs the user's trust.
pub(crate) fn find_trust_request(
    context: AgentContext<'_>,
    root: &Path,
    path: &Path,
) -> Result<Option<SensitiveFile>> {
    let path = path.strip_prefix(context.cwd).unwrap_or(path);
    let place = FilePlace::find(&context.cwd.join(path))?
        .ok_or_else(|| Error::usage(format!("there is no file {}", path.display())))?;
    if place.name_in_repository.is_some() && place.root != root {
        let (path, other) = (path.display(), place.root.display());
        return Err(Error::usage(format!(
            "{path} is in another project: run `recoup trust` in {other}"
        )));
    }
    let Some(name) = &place.name_in_repository else { return Ok(None) };
    let text = read_text(&place.real)
        .map_err(|message| Error::usage(format!("{}: {message}", path.display())))?;
    let mut loader = AgentLoader::new(context);
    let reader = loader.read_file(path, &place, &text);
    if reader.demands.is_empty() {
        // A file that cannot be read whole may need trust once it can.
        let problem = reader.problems.first();
        return problem.map_or(Ok(None), |problem| Err(Error::usage(problem.to_string())));
    }
    let says = reader.demands;
    let verdict = place.verdict(context.home, &text)?;
    Ok(Some(SensitiveFile { name: name.clone(), text, verdict, says }))
}

/// Dialect of a file, by its name.
pub(crate) fn dialect_of(path: &Path) -> AgentDialect {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let mut ends = name.rsplit('.');
    match (ends.next(), ends.next()) {
        (Some("ai"), Some(_)) => AgentDialect::Ai,
        (Some("md"), Some("agent")) => AgentDialect::AgentMd,
        (Some("yaml" | "yml"), Some("lifecycle")) => AgentDialect::Lifecycle,
        _ => AgentDialect::Own,
    }
}

/// The keys of a dialect.
pub(crate) fn keys_of(dialect: AgentDialect) -> Vec<(String, &'static AgentKey)> {
    let named = |key: &'static AgentKey| (key.name.to_owned(), key);
    match dialect {
        AgentDialect::Ai => ai_keys::AI_KEYS.iter().map(named).collect(),
        AgentDialect::AgentMd => agent_md_keys::AGENT_MD_KEYS.iter().map(named).collect(),
        AgentDialect::Lifecycle => agent_md_keys::LIFECYCLE_KEYS.iter().map(named).collect(),
        AgentDialect::Own => {
            let shared = ai_keys::AI_KEYS.iter();
            let shared = shared.map(|key| (crate::config::snake_case(key.name), key));
            shared.chain(ai_keys::OWN_KEYS.iter().map(named)).collect()
        }
    }
}

/// A file's place: its repository, if it is in one.
#[derive(Debug)]
struct FilePlace {
    real: PathBuf,
    /// Root of its project.
    root: PathBuf,
    /// Path below the root; none outside of any repository, where files are the user's own.
    name_in_repository: Option<String>,
}

impl FilePlace {
    /// None if there is no such file.
    fn find(path: &Path) -> Result<Option<Self>> {
        let real = match path.canonicalize() {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            real => real.with_context(|| format!("cannot open {}", path.display()))?,
        };
        let root = Project::find(fsx::parent(&real))?.root().to_owned();
        let is_marked = |name: &&str| root.join(name).symlink_metadata().is_ok();
        let is_repository =
            [".git", "recoup.toml", ".ai-agent.json", ".loa.config.yaml"].iter().any(is_marked);
        let below = real.strip_prefix(&root).ok().filter(|_| is_repository);
        let name_in_repository = below.map(|below| below.to_string_lossy().into_owned());
        Ok(Some(Self { real, root, name_in_repository }))
    }

    fn verdict(&self, home: &Path, text: &str) -> Result<TrustVerdict> {
        let Some(name) = &self.name_in_repository else { return Ok(TrustVerdict::Trusted) };
        let digest = Sha256Digest::of(text.as_bytes());
        Ok(TrustStore::read(home)?.verdict(&self.root, name, digest))
    }
}

/// Loads agents, each once.
struct AgentLoader<'a> {
    context: AgentContext<'a>,
    problems: Vec<AgentProblem>,
    /// By canonical path; none for those that could not be read.
    loaded: BTreeMap<PathBuf, Option<Arc<AgentFile>>>,
    /// Canonical paths of the files that lead to the current one.
    chain: Vec<PathBuf>,
}

impl<'a> AgentLoader<'a> {
    fn new(context: AgentContext<'a>) -> Self {
        Self { context, problems: Vec::new(), loaded: BTreeMap::new(), chain: Vec::new() }
    }

    /// Loads the agent at `path`. Problems with the path itself are those of `site`, the file, line
    /// and key that name it.
    fn load(&mut self, path: &Path, site: Option<&AgentProblem>) -> Option<Arc<AgentFile>> {
        let full = self.context.cwd.join(path);
        let refused = |message: String| {
            let file = path.display().to_string();
            let alone = AgentProblem { file, line: None, key: None, message: String::new() };
            AgentProblem { message, ..site.cloned().unwrap_or(alone) }
        };
        let place = match FilePlace::find(&full) {
            Ok(Some(place)) => place,
            missing => {
                let message = match missing {
                    Err(error) => error.to_string(),
                    Ok(_) if site.is_none() => "there is no such file".to_owned(),
                    Ok(_) => format!("there is no file {}", path.display()),
                };
                self.problems.push(refused(message));
                return None;
            }
        };
        if let Some(cycle) = describe_cycle(&self.chain, &place.real) {
            self.problems.push(refused(format!("agents refer to each other in a circle: {cycle}")));
            return None;
        }
        if let Some(known) = self.loaded.get(&place.real) {
            return known.clone();
        }
        if self.chain.len() >= MAX_DEPTH {
            let message = format!("agents are nested more than {MAX_DEPTH} deep");
            self.problems.push(refused(message));
            return None;
        }
        let text = match read_text(&full) {
            Ok(text) => text,
            Err(message) => {
                self.problems.push(refused(message));
                return None;
            }
        };
        self.chain.push(place.real.clone());
        let agent = self.load_text(path, &place, &text);
        self.chain.pop();
        self.loaded.insert(place.real, agent.clone());
        agent
    }

    fn load_text(&mut self, path: &Path, place: &FilePlace, text: &str) -> Option<Arc<AgentFile>> {
        let before = self.problems.len();
        let AgentFileReader { mut agent, references, demands, problems, .. } =
            self.read_file(path, place, text);
        self.problems.extend(problems);
        let verdict = if demands.is_empty() {
            Ok(TrustVerdict::Trusted)
        } else {
            place.verdict(self.context.home, text)
        };
        if !matches!(verdict, Ok(TrustVerdict::Trusted)) {
            let mut names: Vec<&str> = demands.iter().map(|(key, _)| key.as_str()).collect();
            names.dedup();
            let (file, names) = (path.display().to_string(), names.join(", "));
            let message = match verdict {
                Ok(_) => format!("needs your trust, because of {names}: run `recoup trust {file}`"),
                Err(error) => format!("needs your trust, because of {names}: {error}"),
            };
            self.problems.push(AgentProblem { file, line: None, key: None, message });
        }
        for AgentReference { role, path: target, line, key } in references {
            let file = path.display().to_string();
            let site = AgentProblem { file, line, key: Some(key), message: String::new() };
            let Some(other) = self.load(&relative_path(path, &target), Some(&site)) else {
                continue;
            };
            self.demand_model(&other);
            match role {
                ReferenceRole::Agent => agent.agents.push(other),
                ReferenceRole::Advisor => agent.advisors.push(other),
                ReferenceRole::Handoff => agent.handoff = Some(other),
                ReferenceRole::Destination => agent.router.push(other),
            }
        }
        let mut names: BTreeMap<&str, &Path> = BTreeMap::new();
        for other in agent.agents.iter().chain(&agent.router) {
            if let Some(first) = names.insert(&other.tool_name, &other.path) {
                let message = format!(
                    "{} and {} have the same name for tools, {:?}: give one of them another",
                    first.display(),
                    other.path.display(),
                    other.tool_name
                );
                let file = path.display().to_string();
                self.problems.push(AgentProblem { file, line: None, key: None, message });
            }
        }
        (self.problems.len() == before).then(|| Arc::new(agent))
    }

    /// An `.agent.md` may leave its model to a `.lifecycle.yaml`, but to nobody else.
    fn demand_model(&mut self, agent: &AgentFile) {
        if agent.models.is_empty() {
            let (file, key) = (agent.path.display().to_string(), Some("model".to_owned()));
            let message = "missing; expected a model, such as claude-sonnet-4-5".to_owned();
            self.problems.push(AgentProblem { file, line: Some(1), key, message });
        }
    }

    /// Reads one file by itself.
    fn read_file<'f>(
        &mut self,
        path: &'f Path,
        place: &'f FilePlace,
        text: &'f str,
    ) -> AgentFileReader<'f>
    where
        'a: 'f,
    {
        let dialect = dialect_of(path);
        // A life cycle is that of an agent, whose file comes first.
        let base = match dialect {
            AgentDialect::Lifecycle => agent_md_keys::lifecycle_agent(text).and_then(
                |AgentReference { path: target, line, key, .. }| {
                    let file = path.display().to_string();
                    let site = AgentProblem { file, line, key: Some(key), message: String::new() };
                    let base = self.context.base_path(path, &target);
                    self.load(&base, Some(&site))
                },
            ),
            _ => None,
        };
        let mut reader = AgentFileReader::new(self.context, path, place, text, base.as_deref());
        reader.read();
        reader
    }
}

/// The path that a file means by `name`, without needless dots.
fn relative_path(file: &Path, name: &str) -> PathBuf {
    let joined = file.parent().unwrap_or(Path::new("")).join(name);
    joined.components().filter(|part| *part != Component::CurDir).collect()
}

/// `a → b → a`, if `next` is in the chain already.
fn describe_cycle(chain: &[PathBuf], next: &Path) -> Option<String> {
    let start = chain.iter().position(|path| path == next)?;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = chain[start..].iter().map(|path| name(path)).chain([name(next)]);
    Some(names.collect::<Vec<_>>().join(" → "))
}

/// The text of a file, or why it can't be had.
fn read_text(path: &Path) -> Result<String, String> {
    let bytes = match fsx::read_regular(path, MAX_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(format!("there is no file {}", path.display())),
        Err(error) => return Err(error.to_string()),
    };
    let text = String::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned())?;
    Ok(text.replace("\r\n", "\n"))
}
